#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A STAMP session-sender, unauthenticated, written from RFC 8762 section 4.2 and RFC 8972 section 3, and nothing of ours.

stamp_sender.py ADDRESS PORT COUNT [stateful]: prints how many replies came that are right in every field.
"""
import socket
import struct
import sys
import time

NTP_EPOCH = 2208988800
SENDER = struct.Struct("!I Q H H 28x")
REFLECTOR = struct.Struct("!I Q H H Q I Q H 2s B 3s")


def ntp(seconds):
    return int((seconds + NTP_EPOCH) * 2**32)


def main():
    address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    stateful = sys.argv[4:] == ["stateful"]
    v6 = ":" in address
    sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    if v6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        sock.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL, which Python has no name for
    sock.settimeout(2)
    right = 0
    for number in range(count):
        padding = bytes([0x80, 1]) + struct.pack("!H", number) + bytes(number) if number % 2 else b""
        sent = ntp(time.time())
        request = SENDER.pack(1000 + number, sent, 0x8A01, 4242) + padding
        sock.sendto(request, (address, port))
        try:
            reply, controls, _, peer = sock.recvmsg(65536, 256)
        except socket.timeout:
            print(f"no reply to {number}", file=sys.stderr)
            continue
        came = ntp(time.time())
        ttl = [struct.unpack("=i", data)[0] for _, _, data in controls]
        sequence, t3, error, session, t2, sender_sequence, t1, sender_error, mbz, sender_ttl, mbz3 = REFLECTOR.unpack(
            reply[: REFLECTOR.size]
        )
        checks = {
            "peer": (peer[0], peer[1]) == (address, port),
            "length": len(reply) == len(request),
            "sequence": sequence == (number if stateful else 1000 + number),
            "copied": (sender_sequence, t1, sender_error, session) == (1000 + number, sent, 0x8A01, 4242),
            "zero": mbz == bytes(2) and mbz3 == bytes(3),
            "sender ttl": sender_ttl == 255,
            "ttl": ttl == [255],
            "times": sent <= t2 <= t3 <= came,
            "error": error & 0xFF != 0 and not error & 0x4000,
            "padding": reply[REFLECTOR.size :] == (bytes([0]) + padding[1:] if padding else b""),
        }
        wrong = [name for name, holds in checks.items() if not holds]
        if wrong:
            print(f"reply {number}: wrong {wrong}: {reply[:44].hex()}", file=sys.stderr)
        else:
            right += 1
    print(right)


main()
