-- SPDX-License-Identifier: GPL-2.0-only
--
-- Wireshark dissector (4.0 and later) for the signature that xdp-gen writes into its test frames, on any UDP port, and for
-- the pattern behind it: bpf/signature/ours.h and pattern.h say what they are. It takes what begins with the magic: with a
-- wrong check as well, as xdp-sink does, for then it was most likely damaged on its way.
--
-- Filters: xdp_responder.stream == 5, xdp_responder.check.status == "Bad", xdp_responder.pattern.wrong > 0, ..

local magic, signature_length = 0x7852, 14

local proto = Proto("xdp_responder", "xdp-responder test frame")

local statuses = { [0] = "Bad", [1] = "Good", [2] = "Unverified" }
local bad, good, unverified = 0, 1, 2

local fields = {
    magic = ProtoField.uint16("xdp_responder.magic", "Magic", base.HEX),
    check = ProtoField.uint16("xdp_responder.check", "Check", base.HEX),
    check_status = ProtoField.uint8("xdp_responder.check.status", "Check Status", base.DEC, statuses),
    stream = ProtoField.uint16("xdp_responder.stream", "Stream"),
    sequence = ProtoField.uint32("xdp_responder.sequence", "Sequence Number"),
    time = ProtoField.uint32("xdp_responder.time", "Time of Sending", base.DEC, nil, nil,
                             "Nanoseconds of CLOCK_TAI, modulo 2^32; 0: none given"),
    pattern = ProtoField.bytes("xdp_responder.pattern", "Pattern"),
    pattern_status = ProtoField.uint8("xdp_responder.pattern.status", "Pattern Status", base.DEC, statuses),
    pattern_wrong = ProtoField.uint32("xdp_responder.pattern.wrong", "Wrong Octets"),
}
proto.fields = fields

local experts = {
    check = ProtoExpert.new("xdp_responder.check.bad", "Wrong check: the signature was damaged", expert.group.CHECKSUM,
                            expert.severity.ERROR),
    pattern = ProtoExpert.new("xdp_responder.pattern.bad", "Not the pattern of this stream and sequence number",
                              expert.group.CHECKSUM, expert.severity.ERROR),
}
proto.experts = experts

-- UInt64(lower half, upper half). Lua 5.2 has no integers of its own.
local step = UInt64(0x7f4a7c15, 0x9e3779b9)

local function check_of(stream, sequence, time)
    local fields64 = UInt64(time, sequence):bxor(UInt64(stream + 1) * UInt64(0x84caa73b, 0xbb67ae85))
    return (fields64 * step):rshift(48):lower()
end

local function pattern_of(stream, sequence, length)
    local m = (UInt64(sequence, stream) + UInt64(1)) * step
    local x = m:bxor(m:rshift(32)) * UInt64(0x1ce4e5b9, 0xbf58476d)
    local pairs_of_words = {}
    for i = 1, math.ceil(length / 16) do
        local word = x:bxor(x:rshift(32))
        local lower, upper = word:lower(), word:higher()
        pairs_of_words[i] = Struct.pack("<I4I4I4I4", lower, upper, 0xffffffff - lower, 0xffffffff - upper)
        x = x + step
    end
    return table.concat(pairs_of_words):sub(1, length)
end

local function count_different(a, b)
    local different = 0
    for i = 1, #a do
        if a:byte(i) ~= b:byte(i) then
            different = different + 1
        end
    end
    return different
end

local function add_pattern(tree, tvb, stream, sequence)
    local length = tvb:captured_len() - signature_length
    if length <= 0 then
        return
    end
    local range = tvb(signature_length, length)
    local item = tree:add(fields.pattern, range)
    local wrong = count_different(tvb:raw(signature_length, length), pattern_of(stream, sequence, length))
    if wrong > 0 then
        item:append_text(" [" .. wrong .. " wrong octets]")
        item:add(fields.pattern_status, range, bad):set_generated()
        item:add(fields.pattern_wrong, range, wrong):set_generated()
        item:add_proto_expert_info(experts.pattern)
    else
        local whole = tvb:captured_len() == tvb:reported_len()
        item:append_text(whole and " [correct]" or " [correct as far as it was captured]")
        item:add(fields.pattern_status, range, whole and good or unverified):set_generated()
    end
end

function proto.dissector(tvb, pinfo, root)
    if tvb:captured_len() < signature_length or tvb(0, 2):uint() ~= magic then
        return 0
    end
    local check, stream = tvb(2, 2):uint(), tvb(4, 2):uint()
    local sequence, time = tvb(6, 4):uint(), tvb(10, 4):uint()
    local check_right = check == check_of(stream, sequence, time)

    pinfo.cols.protocol = "xdp-responder"
    pinfo.cols.info = string.format("Stream %.0f, sequence number %.0f%s", stream, sequence,
                                    check_right and "" or " [wrong check]")
    local tree = root:add(proto, tvb(), string.format("xdp-responder, stream %.0f, sequence number %.0f", stream, sequence))
    tree:add(fields.magic, tvb(0, 2))
    local item = tree:add(fields.check, tvb(2, 2))
    item:append_text(check_right and " [correct]" or " [wrong]")
    item:add(fields.check_status, tvb(2, 2), check_right and good or bad):set_generated()
    if not check_right then
        item:add_proto_expert_info(experts.check)
    end
    tree:add(fields.stream, tvb(4, 2))
    tree:add(fields.sequence, tvb(6, 4))
    item = tree:add(fields.time, tvb(10, 4))
    item:append_text(time == 0 and " (none given)" or " ns (modulo 2^32)")
    -- Of a damaged signature nobody knows which pattern belongs to it.
    if check_right then
        add_pattern(tree, tvb, stream, sequence)
    end
    return tvb:captured_len()
end

proto:register_heuristic("udp", function(tvb, pinfo, root)
    return proto.dissector(tvb, pinfo, root) > 0
end)
DissectorTable.get("udp.port"):add_for_decode_as(proto)
