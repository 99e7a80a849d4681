// SPDX-License-Identifier: GPL-2.0-only
//
// STAMP replies by the octets: base packets of both modes, every TLV, and requests that lie about their lengths.

#include "loader/error.h"
#include "loader/stamp/reply.h"
#include "tests/harness/folder.h"
#include "tests/harness/octets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <random>
#include <string_view>

namespace responder::test {
namespace {

constexpr std::size_t page = 4096;

// Octets that end where memory ends: reading one more is a fault.
class Guarded {
  public:
    explicit Guarded(const Octets& octets) : size_(octets.size()) {
        room_ = static_cast<std::uint8_t*>(
            mmap(nullptr, pages() + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(room_ + pages(), page, PROT_NONE);
        std::ranges::copy(octets, room_ + pages() - size_);
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    ~Guarded() { munmap(room_, pages() + page); }
    std::span<const std::uint8_t> span() const { return {room_ + pages() - size_, size_}; }

  private:
    std::size_t pages() const { return size_ / page * page + page; }
    std::size_t size_;
    std::uint8_t* room_;
};

std::string hex(const Octets& octets) {
    std::string text;
    for (const std::uint8_t octet : octets)
        text += fmt::format("{:02x}", octet);
    return text;
}

Octets of_text(std::string_view text) { return {text.begin(), text.end()}; }

Octets joined(std::initializer_list<Octets> parts) {
    Octets all;
    for (const Octets& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

Octets tlv(std::uint8_t type, const Octets& value, std::uint8_t flags = 0x80) {
    return joined(
        {{flags, type, static_cast<std::uint8_t>(value.size() >> 8), static_cast<std::uint8_t>(value.size())}, value});
}

Octets tail(const Octets& octets, std::size_t from) {
    return {octets.begin() + static_cast<std::ptrdiff_t>(from), octets.end()};
}

Octets part(const Octets& octets, std::size_t from, std::size_t length) {
    return {octets.begin() + static_cast<std::ptrdiff_t>(from),
            octets.begin() + static_cast<std::ptrdiff_t>(from + length)};
}

// Sequence 0x01020304, time 11..18, error estimate 0x8a01, session id 0x5566; what is to be zero is not.
Octets request_packet(bool authenticated = false) {
    Octets octets(authenticated ? 112 : 44, 0xee);
    const std::size_t sent = authenticated ? 16 : 4;
    std::ranges::copy(Octets{1, 2, 3, 4}, octets.begin());
    std::ranges::copy(Octets{11, 12, 13, 14, 15, 16, 17, 18, 0x8a, 1, 0x55, 0x66},
                      octets.begin() + static_cast<std::ptrdiff_t>(sent));
    return octets;
}

// T2 is second 5 of PTP's time and 6 ns, T3 is second 7 and 8 ns.
constexpr std::uint64_t second = 1'000'000'000;
StampContext context_of() {
    StampContext context;
    context.clock = {
        .from_tai_s = 0, .error_estimate = 0x34c2 /* 0xc234 on the wire */, .format = STAMP_PTP, .zero = 0};
    context.received_ns = 5 * second + 6;
    context.ttl = 61;
    context.traffic_class = 0xb9; // EF, ECT(1)
    context.accepted = 0x0a0b0c0d;
    context.returned = 0x0a0b0c0c;
    return context;
}

struct Answer {
    Octets octets;
    std::uint8_t traffic_class;
};

Answer answer(const Octets& request, const StampContext& context = context_of(), StampKey* key = nullptr) {
    const Guarded guarded(request);
    Octets room(stamp_room, 0x77);
    EXPECT_EQ(judge_stamp(guarded.span(), key), StampVerdict::sound);
    const StampReply reply = write_stamp_reply(guarded.span(), context, key, std::span(room).first<stamp_room>());
    seal_stamp(std::span(room).first(reply.length), 7 * second + 8, context.clock, key);
    EXPECT_TRUE(std::all_of(room.begin() + static_cast<std::ptrdiff_t>(reply.length), room.end(),
                            [](std::uint8_t octet) { return octet == 0x77; }));
    room.resize(reply.length);
    return {room, reply.traffic_class};
}

Octets answer_tlvs(const Octets& tlvs, const StampContext& context = context_of()) {
    return tail(answer(joined({request_packet(), tlvs}), context).octets, 44);
}

const Octets base_reply{1, 2, 3, 4, 0, 0, 0,  7,  0,  0,  0,  8,  0xc2, 0x34, 0x55, 0x66, 0, 0, 0,  5, 0, 0,
                        0, 6, 1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 17,   18,   0x8a, 1,    0, 0, 61, 0, 0, 0};

TEST(StampReply, EveryFieldOfTheBasePacket) {
    const Answer got = answer(request_packet());
    EXPECT_EQ(hex(got.octets), hex(base_reply));
    EXPECT_EQ(got.traffic_class, 0xb9);
    StampContext context = context_of();
    context.number = 9;
    Octets numbered = base_reply;
    numbered[0] = numbered[1] = numbered[2] = 0;
    numbered[3] = 9;
    EXPECT_EQ(hex(answer(request_packet(), context).octets), hex(numbered));
}

TEST(StampReply, EveryLengthUpToTheBasePacketGrowsToIt) {
    const Octets whole = request_packet();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Octets request = part(whole, 0, length);
        if (length < 14) {
            EXPECT_EQ(judge_stamp(Guarded(request).span(), nullptr), StampVerdict::too_short) << length;
            continue;
        }
        Octets expected = base_reply;
        if (length < 16)
            expected[14] = expected[15] = 0; // there is no session id
        EXPECT_EQ(hex(answer(request).octets), hex(expected)) << length;
    }
}

TEST(StampReply, WhatIsNoTlvComesBackAsItCame) {
    for (const Octets& padding : {Octets{1}, Octets{9, 9, 9}, Octets{0, 0, 0, 0}, Octets{0, 0, 0, 0, 0x80, 1, 2}})
        EXPECT_EQ(hex(answer_tlvs(padding)), hex(padding));
}

TEST(StampReply, EveryTlv) {
    const Octets zeros4(4), zeros12(12), zeros16(16);
    EXPECT_EQ(hex(answer_tlvs(tlv(1, {7, 8, 9}))), hex(tlv(1, {7, 8, 9}, 0)));
    EXPECT_EQ(hex(answer_tlvs(tlv(1, {}))), hex(tlv(1, {}, 0)));
    // Synchronised, by software.
    EXPECT_EQ(hex(answer_tlvs(tlv(3, zeros4))), hex(tlv(3, {1, 2, 1, 2}, 0)));
    EXPECT_EQ(hex(answer_tlvs(tlv(3, {0, 0, 0, 0, 0x80, 1, 0, 0}))), hex(tlv(3, {1, 2, 1, 2, 0x80, 1, 0, 0}, 0)));
    StampContext free_running = context_of();
    free_running.clock.error_estimate = 0x0142; // 0x4201 on the wire
    EXPECT_EQ(hex(answer_tlvs(tlv(3, zeros4), free_running)), hex(tlv(3, {5, 2, 5, 2}, 0)));
    // DSCP1 10 (AF11) is wanted; EF and ECT(1) came.
    const Answer service = answer(joined({request_packet(), tlv(4, {10 << 2, 0, 0xff, 0xff})}));
    EXPECT_EQ(hex(tail(service.octets, 44)), hex(tlv(4, {10 << 2 | 46 >> 4, (46 & 15) << 4 | 1 << 2, 0, 0}, 0)));
    EXPECT_EQ(service.traffic_class, 10 << 2 | 1);
    EXPECT_EQ(hex(answer_tlvs(tlv(5, {1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9}))),
              hex(tlv(5, {1, 2, 3, 4, 10, 11, 12, 13, 10, 11, 12, 12}, 0)));
    // Nothing is known of a reply before; then something is.
    EXPECT_EQ(hex(answer_tlvs(tlv(7, Octets(16, 9)))), hex(tlv(7, zeros16, 0)));
    StampContext after = context_of();
    after.previous = {.number = 8, .sent_ns = 3 * second + 4};
    EXPECT_EQ(hex(answer_tlvs(tlv(7, Octets(16, 9)), after)),
              hex(tlv(7, {0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 4, 2, 0, 0, 0}, 0)));
    for (const std::uint8_t unknown : Octets{0, 2, 6, 8, 9, 240, 255}) {
        EXPECT_EQ(hex(answer_tlvs(tlv(unknown, {1, 2, 3}))), hex(tlv(unknown, {1, 2, 3}))) << +unknown;
        if (unknown != 0) { // a zero at the place of the flags and the type is padding
            EXPECT_EQ(hex(answer_tlvs(tlv(unknown, {1, 2, 3}, 0))), hex(tlv(unknown, {1, 2, 3}))) << +unknown;
        }
    }
}

TEST(StampReply, SeveralTlvsAndOneThatIsWrong) {
    const Octets first = tlv(200, {5}), last = tlv(1, Octets(30, 4));
    EXPECT_EQ(hex(answer_tlvs(joined({first, tlv(3, Octets(4)), last}))),
              hex(joined({first, tlv(3, {1, 2, 1, 2}, 0), tlv(1, Octets(30, 4), 0)})));
    const struct {
        std::uint8_t type;
        std::size_t length;
    } wrong[] = {{3, 3}, {3, 0}, {4, 3}, {4, 5}, {5, 11}, {5, 13}, {7, 15}, {7, 17}};
    for (const auto& [type, length] : wrong) {
        const Octets value(length, 6);
        EXPECT_EQ(hex(answer_tlvs(joined({first, tlv(type, value), last}))),
                  hex(joined({first, tlv(type, value, 0x40), last})))
            << +type << ' ' << length;
    }
    // Longer than what there is; of a known type and of another.
    EXPECT_EQ(hex(answer_tlvs({0x80, 5, 0, 13, 1, 2})), hex(Octets{0x40, 5, 0, 13, 1, 2}));
    EXPECT_EQ(hex(answer_tlvs({0x80, 99, 0xff, 0xff, 1})), hex(Octets{0xc0, 99, 0xff, 0xff, 1}));
}

TEST(StampReply, WhoAsksForCounters) {
    const auto asks = [](const Octets& tlvs) {
        return asks_for_counters(Guarded(joined({request_packet(), tlvs})).span(), nullptr);
    };
    EXPECT_TRUE(asks(tlv(5, Octets(12))));
    EXPECT_TRUE(asks(joined({tlv(1, Octets(7)), tlv(5, Octets(12))})));
    EXPECT_FALSE(asks({}));
    EXPECT_FALSE(asks(tlv(1, {5, 5, 5, 5})));
    EXPECT_FALSE(asks({0x80, 5, 0, 1}));
    EXPECT_FALSE(asks_for_counters(Octets(14), nullptr));
}

TEST(StampReply, EveryTruncationOfAllTlvs) {
    const Octets all =
        joined({tlv(3, Octets(4)), tlv(4, Octets(4)), tlv(5, Octets(12)), tlv(7, Octets(16)), tlv(1, Octets(5))});
    const Octets whole = answer_tlvs(all);
    for (std::size_t length = 4; length < all.size(); ++length) {
        const Octets got = answer_tlvs(part(all, 0, length));
        ASSERT_EQ(got.size(), length);
        std::size_t at = 0, of_this = 0;
        for (; at < length; at += of_this) {
            of_this = 4U + all[at + 3];
            if (at + of_this > length)
                break;
            EXPECT_EQ(hex(part(got, at, of_this)), hex(part(whole, at, of_this)));
        }
        if (at == length)
            continue;
        EXPECT_EQ(got[at], 0x40) << length;
        EXPECT_EQ(hex(tail(got, at + 1)), hex(part(all, at + 1, length - at - 1))) << length;
    }
}

// ---- authenticated mode ----

const Octets secret = of_text("a key that both know");

StampMac mac_of(const Octets& octets) { return StampKey(secret).mac({octets}); }

Octets authentic(const Octets& tlvs = {}) {
    Octets packet = request_packet(true);
    std::ranges::copy(mac_of(part(packet, 0, 96)), packet.begin() + 96);
    return joined({packet, tlvs});
}

Octets with_hmac_tlv(const Octets& tlvs, const Octets& sequence = {1, 2, 3, 4}, std::uint8_t flags = 0x80) {
    const StampMac mac = mac_of(joined({sequence, tlvs}));
    return joined({tlvs, tlv(8, {mac.begin(), mac.end()}, flags)});
}

Octets answer_authentic(const Octets& tlvs, StampContext context = context_of()) {
    StampKey key(secret);
    context.number = 9;
    return tail(answer(authentic(tlvs), context, &key).octets, 112);
}

TEST(StampReply, EveryFieldOfTheAuthenticatedPacket) {
    StampKey key(secret);
    const Octets got = answer(authentic(), context_of(), &key).octets;
    const Octets expected = joined({{1, 2, 3, 4},
                                    Octets(12),
                                    {0, 0, 0, 7, 0, 0, 0, 8},
                                    {0xc2, 0x34, 0x55, 0x66},
                                    Octets(4),
                                    {0, 0, 0, 5, 0, 0, 0, 6},
                                    Octets(8),
                                    {1, 2, 3, 4},
                                    Octets(12),
                                    {11, 12, 13, 14, 15, 16, 17, 18},
                                    {0x8a, 1},
                                    Octets(6),
                                    {61},
                                    Octets(15)});
    ASSERT_EQ(expected.size(), 96U);
    EXPECT_EQ(hex(part(got, 0, 96)), hex(expected));
    const StampMac mac = mac_of(expected);
    EXPECT_EQ(hex(tail(got, 96)), hex(Octets(mac.begin(), mac.end())));
}

TEST(StampReply, OneWrongBitOrOctetTooFewIsNotAuthentic) {
    StampKey key(secret);
    const Octets right = authentic();
    for (std::size_t bit = 0; bit < 8 * right.size(); ++bit) {
        Octets wrong = right;
        wrong[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        EXPECT_EQ(judge_stamp(Guarded(wrong).span(), &key), StampVerdict::wrong_hmac) << bit;
    }
    for (std::size_t length = 0; length < right.size(); ++length)
        EXPECT_EQ(judge_stamp(Guarded(part(right, 0, length)).span(), &key), StampVerdict::too_short);
}

TEST(StampReply, TlvsUnderAnHmac) {
    const Octets counters = tlv(5, Octets(12)), counted = tlv(5, {0, 0, 0, 0, 10, 11, 12, 13, 10, 11, 12, 12}, 0);
    const Octets padding = tlv(1, {1, 2}), padding_back = tlv(1, {1, 2}, 0);
    EXPECT_EQ(hex(answer_authentic(with_hmac_tlv(counters))), hex(with_hmac_tlv(counted, {0, 0, 0, 9}, 0)));
    EXPECT_EQ(hex(answer_authentic(joined({with_hmac_tlv(counters), padding}))),
              hex(joined({with_hmac_tlv(counted, {0, 0, 0, 9}, 0), padding_back})));
    EXPECT_EQ(hex(answer_authentic(padding)), hex(padding_back)); // needs none
}

TEST(StampReply, TlvsThatAreNotAuthenticAreNotLookedAt) {
    const Octets counters = tlv(5, Octets(12)), protected_tlvs = with_hmac_tlv(counters);
    Octets wrong_mac = protected_tlvs;
    wrong_mac.back() ^= 1;
    Octets wrong_value = protected_tlvs;
    wrong_value[7] ^= 1;
    const struct {
        Octets sent;
        std::vector<std::size_t> flags; // where those of TLVs are
    } cases[] = {
        {counters, {0}},                            // none
        {joined({tlv(1, {}), tlv(1, {})}), {0, 4}}, // two of padding
        {wrong_mac, {0, 16}},
        {wrong_value, {0, 16}},
        {joined({protected_tlvs, tlv(3, Octets(4))}), {0, 16, 36}},  // something behind it
        {joined({protected_tlvs, protected_tlvs}), {0, 16, 36, 52}}, // two of them
        {joined({counters, tlv(8, Octets(15))}), {0, 16}},
        {joined({protected_tlvs, {0x80, 1, 9, 9}}), {0, 16, 36}}, // what comes next is longer than there is
    };
    for (const auto& [sent, flags] : cases) {
        Octets expected = sent;
        for (const std::size_t at : flags)
            expected[at] |= 0x20;
        EXPECT_EQ(hex(answer_authentic(sent)), hex(expected));
    }
}

// Whatever comes: within its memory, and a reply of its length that tells the base packet's fields.
TEST(StampReply, RandomDamage) {
    std::mt19937 random(8972);
    StampKey key(secret);
    const Octets tlvs = joined({tlv(3, Octets(4)), tlv(4, Octets(4)), tlv(200, Octets(3)), tlv(5, Octets(12)),
                                tlv(7, Octets(16)), tlv(1, Octets(9))});
    for (int i = 0; i < 20'000; ++i) {
        const bool with_key = i % 2 != 0;
        Octets octets = with_key ? with_hmac_tlv(tlvs) : tlvs;
        for (auto damage = random() % 6; damage > 0; --damage)
            octets[random() % octets.size()] = static_cast<std::uint8_t>(random());
        octets.resize(random() % (octets.size() + 1));
        const Octets request = with_key ? authentic(octets) : joined({request_packet(), octets});
        const Answer got = answer(request, context_of(), with_key ? &key : nullptr);
        ASSERT_EQ(got.octets.size(), request.size());
        ASSERT_EQ(hex(part(got.octets, 0, 4)), "01020304");
    }
}

// RFC 4231 sections 4.2 to 4.8, the first 128 bits.
TEST(StampKey, VectorsOfRfc4231) {
    const struct {
        Octets key, data;
        const char* mac;
    } vectors[] = {
        {Octets(20, 0x0b), of_text("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b"},
        {of_text("Jefe"), of_text("what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c7"},
        {Octets(20, 0xaa), Octets(50, 0xdd), "773ea91e36800e46854db8ebd09181a7"},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
         Octets(50, 0xcd),
         "82558a389a443c0ea4cc819899f2083a"},
        {Octets(20, 0x0c), of_text("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b"},
        {Octets(131, 0xaa), of_text("Test Using Larger Than Block-Size Key - Hash Key First"),
         "60e431591ee0b67f0d8a26aacbf5b77f"},
        {Octets(131, 0xaa),
         of_text(
             "This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
             "be hashed before being used by the HMAC algorithm."),
         "9b09ffa71b942fcb27635fbcd5b0e944"},
    };
    for (const auto& [octets, data, expected] : vectors) {
        StampKey key(octets);
        const StampMac mac = key.mac({data});
        EXPECT_EQ(hex(Octets(mac.begin(), mac.end())), expected);
        EXPECT_TRUE(key.holds(mac, {std::span(data).first(3), std::span(data).subspan(3)}));
        EXPECT_FALSE(key.holds(mac, {std::span(data).first(3)}));
    }
}

TEST(StampKey, Files) {
    const Folder folder;
    const auto file = [&](const char* name, const std::string& content, mode_t mode) {
        const std::string path = folder / name;
        std::ofstream(path) << content;
        chmod(path.c_str(), mode);
        return path;
    };
    EXPECT_EQ(read_stamp_key(file("key", "secret\n", 0600)), of_text("secret"));
    EXPECT_EQ(read_stamp_key(file("binary", std::string("\0\n\n", 3), 0640)), (Octets{0, '\n'}));
    EXPECT_EQ(read_stamp_key(file("longest", std::string(1024, 'x'), 0600)).size(), 1024U);
    const struct {
        std::string path;
        const char* why;
    } wrong[] = {
        {folder / "none", "No such file"},
        {file("empty", "", 0600), "there is no key"},
        {file("newline", "\n", 0600), "there is no key"},
        {file("long", std::string(1025, 'x'), 0600), "longer than 1024"},
        {file("open", "secret", 0604), "every user"},
        {file("writable", "secret", 0602), "every user"},
        {folder.path(), "not a file"},
    };
    for (const auto& [path, why] : wrong) {
        try {
            read_stamp_key(path);
            ADD_FAILURE() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << error.what();
        }
    }
}

} // namespace
} // namespace responder::test
