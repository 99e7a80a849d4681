#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A STAMP session-sender, written from RFC 8762 section 4 and RFC 8972 sections 3 and 4, and nothing of ours.

stamp_sender.py ADDRESS PORT COUNT [stateful] [before=N] [KIND]: prints how many replies came that are right in
every field. Before it N test frames went through the reflector. KIND is what is sent: "padding" (base packets, and such with Extra Padding), "short" (under the size of the
reply, as TWAMP-Light), "tlvs" (each TLV in turn), "options" (IP options), "authentic=KEY" (authenticated mode, with and
without TLVs), "forged=KEY" (the same with a wrong HMAC in each), "mixed" (short ones and base packets in turn).
"""
import hashlib
import hmac
import socket
import struct
import sys
import time

NTP_EPOCH = 2208988800
SENDER = struct.Struct("!I Q H H 28x")
REFLECTOR = struct.Struct("!I Q H H Q I Q H 2s B 3s")
AUTHENTIC_SENDER = struct.Struct("!I 12x Q H H 68x")
AUTHENTIC_REFLECTOR = struct.Struct("!I 12s Q H H 4s Q 8s I 12s Q H 6s B 15s")
DSCP = 10  # AF11
WANTED_DSCP = 46  # EF


def ntp(seconds):
    return int((seconds + NTP_EPOCH) * 2**32)


def tlv(kind, value=b"", flags=0x80):
    return struct.pack("!BBH", flags, kind, len(value)) + value


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()[:16]


def split_tlvs(octets):
    found = []
    while octets:
        flags, kind, length = struct.unpack("!BBH", octets[:4])
        found.append((flags, kind, octets[4 : 4 + length]))
        octets = octets[4 + length :]
    return found


class Sender:
    def __init__(self, address, port, words):
        self.address, self.port = address, port
        self.stateful = "stateful" in words
        self.before = next((int(word[7:]) for word in words if word.startswith("before=")), 0)
        kinds = [word for word in words if word != "stateful" and not word.startswith("before=")]
        self.kind, _, key = (kinds or ["padding"])[0].partition("=")
        self.key = key.encode()
        self.last = None  # number and T3 of the reply before
        self.v6 = ":" in address
        self.sock = socket.socket(socket.AF_INET6 if self.v6 else socket.AF_INET, socket.SOCK_DGRAM)
        if self.v6:
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, DSCP << 2)
            if self.kind == "options":
                self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, bytes([0, 0, 1, 4, 0, 0, 0, 0]))
        else:
            self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
            self.sock.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL, which Python has no name for
            self.sock.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
            self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DSCP << 2)
            if self.kind == "options":
                self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1, 1, 1, 0]))
        self.sock.settimeout(2)

    def request(self, number):
        """What is sent behind the base packet, and what must come back there; None: sizes only, or looked at apart."""
        padding = tlv(1, bytes(number))
        if self.kind in ("padding", "options"):
            return (padding, tlv(1, bytes(number), 0)) if number % 2 else (b"", b"")
        if self.kind in ("short", "mixed"):
            return b"", b""
        unknown = [2, 6, 9, 77, 240, 255][number % 6]
        return [
            # The former comes after a base packet.
            (tlv(7, bytes(16)), None) if number % 20 else (tlv(3, bytes(4)), None),
            (tlv(4, bytes([WANTED_DSCP << 2, 0, 0, 0])), None),
            (tlv(5, struct.pack("!III", number, 0, 0)), None),
            (tlv(7, bytes(16)), None),
            (tlv(unknown, b"abc"), tlv(unknown, b"abc")),
            (tlv(unknown, b"abc") + padding, tlv(unknown, b"abc") + tlv(1, bytes(number), 0)),
            # Too short for its type, and longer than the packet: what comes after is left alone.
            (tlv(5, b"abc") + tlv(4, bytes(4)), tlv(5, b"abc", 0x40) + tlv(4, bytes(4))),
            (bytes([0x80, 3, 0, 5, 0, 0, 0, 0]), bytes([0x40, 3, 0, 5, 0, 0, 0, 0])),
            (b"", b""),
            (padding, tlv(1, bytes(number), 0)),
        ][number % 10]

    def seen_in(self, tlvs, synchronised):
        """The values of TLVs that no one can know before."""
        checks = {}
        for flags, kind, value in tlvs:
            if kind == 3:
                source = 1 if synchronised else 5
                checks["timestamp information"] = (flags, value) == (0, bytes([source, 2, source, 2]))
            elif kind == 4:
                bits = int.from_bytes(value, "big")
                checks["class of service"] = (flags, bits) == (0, WANTED_DSCP << 26 | DSCP << 20)
            elif kind == 5:
                sent, accepted, returned = struct.unpack("!III", value)
                checks["direct measurement"] = flags == 0 and accepted == returned == self.count and sent == self.number
            elif kind == 7:
                number, t3, how, reserved = struct.unpack("!IQB3s", value)
                # A base packet the program answers, which keeps no time: zeros.
                known = self.stateful and self.last and (self.number % 10 != 0 or self.kind == "authentic")
                expected = (self.last[0], self.last[1], 2) if known else (0, 0, 0)
                checks["follow-up"] = (flags, (number, t3, how), reserved) == (0, expected, bytes(3))
        return checks

    def exchange(self, number):
        self.number = number
        authentic = self.kind in ("authentic", "forged")
        behind, expected = self.request(number)
        sent = ntp(time.time())
        sequence = 1000 + number
        if authentic:
            request = AUTHENTIC_SENDER.pack(sequence, sent, 0x8A01, 4242)
            request += mac(self.key, request)
            if self.kind == "forged":
                request = request[:-1] + bytes([request[-1] ^ 1])
            walkable = number % 10 not in (6, 7)
            if behind and behind[1] != 1 and walkable:
                behind += tlv(8, mac(self.key, struct.pack("!I", sequence) + behind))
            request += behind
        else:
            request = SENDER.pack(sequence, sent, 0x8A01, 4242) + behind
            if self.kind == "short":
                request = request[: 14 + number % 30]
            elif self.kind == "mixed" and number % 2:
                request = request[: 16 + number % 28]  # with its session id
        self.sock.sendto(request, (self.address, self.port))
        try:
            reply, controls, _, peer = self.sock.recvmsg(65536, 256)
        except socket.timeout:
            return ["no reply"]
        came = ntp(time.time())
        control = {kind: int.from_bytes(data[:4], sys.byteorder) for _, kind, data in controls}
        hops, tos = (52, 67) if self.v6 else (2, 1)  # IPV6_HOPLIMIT, IPV6_TCLASS; IP_TTL, IP_TOS
        base = 112 if authentic else 44
        if authentic:
            (got, z1, t3, error, session, z2, t2, z3, sender_sequence, z4, t1, sender_error, z5, ttl, z6) = (
                AUTHENTIC_REFLECTOR.unpack(reply[:96])
            )
            zeros = z1 + z2 + z3 + z4 + z5 + z6
        else:
            got, t3, error, session, t2, sender_sequence, t1, sender_error, z1, ttl, z2 = REFLECTOR.unpack(reply[:44])
            zeros = z1 + z2
        wanted_dscp = WANTED_DSCP if behind[1:2] == b"\x04" else DSCP
        checks = {
            "peer": (peer[0], peer[1]) == (self.address, self.port),
            "length": len(reply) == max(len(request), base),
            "sequence": got == (number if self.stateful else sequence),
            "copied": (sender_sequence, t1, sender_error) == (sequence, sent, 0x8A01),
            "session": session == (4242 if len(request) >= 16 else 0),
            "zero": not any(zeros),
            "sender ttl": ttl == 255,
            "ttl": control.get(hops) == 255,
            "dscp": control.get(tos) == wanted_dscp << 2,
            "times": sent <= t2 <= t3 <= came,
            "error": error & 0xFF != 0 and not error & 0x4000,
        }
        rest = reply[base:]
        if authentic:
            checks["hmac"] = reply[96:112] == mac(self.key, reply[:96])
            if behind and not walkable:
                # No HMAC TLV can be found behind those: nothing may be looked at, and each TLV says so.
                wrong = bytearray(behind)
                for at in [0, 7] if number % 10 == 6 else [0]:
                    wrong[at] |= 0x20
                expected = bytes(wrong)
            elif behind and behind[1] != 1:
                place = len(behind) - 20
                checks["hmac tlv"] = rest[place:] == tlv(8, mac(self.key, struct.pack("!I", got) + rest[:place]), 0)
                rest = rest[:place]
        if expected is None:
            checks.update(self.seen_in(split_tlvs(rest), error & 0x8000))
        else:
            checks["behind it"] = rest == expected
        self.last = (got, t3)
        return [name for name, holds in checks.items() if not holds]

    def run(self, count):
        right = 0
        for number in range(count):
            self.count = self.before + number + 1  # test frames that came and went, this one included
            wrong = self.exchange(number)
            if wrong:
                print(f"{self.kind} {number}: wrong {wrong}", file=sys.stderr)
            else:
                right += 1
            if wrong == ["no reply"]:
                self.sock.settimeout(0.2)  # something is wrong already, or none is expected
        return right


print(Sender(sys.argv[1], int(sys.argv[2]), sys.argv[4:]).run(int(sys.argv[3])))
