#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Requests built by scapy, and their replies taken apart by it: STAMP, and Ethernet OAM (802.1Q, Y.1731).

scapy_peer.py INTERFACE MAC: MAC is the reflector's, whose addresses are 192.0.2.2 and 2001:db8::2. Prints how many
exchanges were right. Debian's scapy has STAMP, and no CFM: its messages are described here.
"""
import select
import sys
import time

from scapy.config import conf
from scapy.contrib.stamp import (
    ErrorEstimate,
    STAMPSessionReflectorTestUnauthenticated,
    STAMPSessionSenderTestUnauthenticated,
    STAMPTestTLV,
)
from scapy.fields import BitField, ByteField, IntField, LongField, ShortField, StrField
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, bind_layers, split_layers


class Cfm(Packet):
    name = "CFM"
    fields_desc = [BitField("level", 5, 3), BitField("version", 1, 5), ByteField("opcode", 0), ByteField("flags", 0),
                   ByteField("first_tlv", 4)]


class Loopback(Packet):
    name = "CFM loopback"
    fields_desc = [IntField("transaction", 0), StrField("tlvs", b"\x03\x00\x04data\x00")]


class Delay(Packet):
    name = "Y.1731 delay"
    fields_desc = [LongField(name, 0) for name in ("tx_forward", "rx_forward", "tx_back", "rx_back")]
    fields_desc += [ByteField("end", 0)]


class Loss(Packet):
    name = "Y.1731 synthetic loss"
    fields_desc = [ShortField("source_mep", 5), ShortField("responder_mep", 0), IntField("test", 77),
                   IntField("tx_forward", 0), IntField("tx_back", 0), ByteField("end", 0)]


bind_layers(Ether, Cfm, type=0x8902)
bind_layers(Dot1Q, Cfm, type=0x8902)
for opcodes, message in (((3, 2), Loopback), ((47, 46), Delay), ((55, 54), Loss)):
    for opcode in opcodes:
        bind_layers(Cfm, message, opcode=opcode)
# scapy 2.5 looks for the length of the TLVs in `parent`, which it sets for no payload: then it finds no STAMP at all.
for layer in (STAMPSessionSenderTestUnauthenticated, STAMPSessionReflectorTestUnauthenticated):
    split_layers(UDP, layer)


def stamp_in(layer, frame):
    return layer(bytes(frame[UDP].payload), _parent=frame[UDP])


def exchange(sock, request, own_mac):
    sock.send(request)
    until = time.monotonic() + 2
    while select.select([sock.ins], [], [], max(0, until - time.monotonic()))[0]:
        frame = sock.recv_raw(65536)[1]
        if frame and frame[:6] == bytes.fromhex(own_mac.replace(":", "")) and frame != bytes(request):
            reply = Ether(frame)
            if reply.haslayer(Cfm) or (reply.haslayer(UDP) and reply[UDP].sport == 862):
                return reply
    return None


def with_own_sums(reply):
    """The same, but for checksums and lengths, which scapy computes anew."""
    again = reply.copy()
    for layer, fields in ((IP, ("chksum", "len")), (IPv6, ("plen",)), (UDP, ("chksum", "len"))):
        if again.haslayer(layer):
            for field in fields:
                again[layer].delfieldval(field)
    return bytes(again)


def stamp_checks(request, reply, tlvs):
    sent = stamp_in(STAMPSessionSenderTestUnauthenticated, request)
    back = stamp_in(STAMPSessionReflectorTestUnauthenticated, reply)
    network, network_back = request[UDP].underlayer, reply[UDP].underlayer
    hops = "ttl" if isinstance(network, IP) else "hlim"
    return {
        "addresses": (network_back.src, network_back.dst) == (network.dst, network.src),
        "ports": (reply[UDP].sport, reply[UDP].dport) == (862, request[UDP].sport),
        "hops": getattr(network_back, hops) == 255,
        "sequence": (back.seq, back.seq_sender) == (sent.seq, sent.seq),
        "sender time": abs(back.ts_sender - sent.ts) < 1e-6,
        "sender error": bytes(back.err_estimate_sender) == bytes(sent.err_estimate),
        "session": back.ssid == sent.ssid,
        "sender ttl": back.ttl_sender == getattr(network, hops),
        "zero": back.mbz1 == back.mbz2 == 0,
        "times": back.ts_rx <= back.ts <= back.ts_rx + 2,
        "clock": abs(back.ts - time.time() - 2208988800) < 5,
        "error": back.err_estimate.multiplier != 0 and back.err_estimate.Z == 0,
        "tlvs": [(int(tlv.flags), tlv.type, bytes(tlv.value)) for tlv in back.tlv_objects] == tlvs,
    }


def oam_checks(request, reply, number):
    sent, back = request[Cfm], reply[Cfm]
    checks = {
        "opcode": back.opcode == sent.opcode - 1,
        "header": (back.level, back.version, back.flags, back.first_tlv) == (sent.level, 1, 0, sent.first_tlv),
        "tag": bytes(reply)[12 : -len(back)] == bytes(request)[12 : -len(sent)],
        "length": len(reply) == len(request),
    }
    if sent.opcode == 3:
        checks["body"] = bytes(back[Loopback]) == bytes(sent[Loopback])
    elif sent.opcode == 47:
        one, other = sent[Delay], back[Delay]
        checks["sender's"] = (other.tx_forward, other.rx_back) == (one.tx_forward, 0)
        checks["times"] = abs((other.rx_forward >> 32) - time.time()) < 60 and other.rx_forward <= other.tx_back
    else:
        one, other = sent[Loss], back[Loss]
        checks["meps"] = (other.source_mep, other.responder_mep) == (5, 1)
        checks["counts"] = (other.test, other.tx_forward, other.tx_back) == (77, one.tx_forward, number)
    return checks


def main():
    interface, mac = sys.argv[1:]
    conf.verb = 0
    sock = conf.L2socket(iface=interface)
    own_mac = "02:00:00:00:00:02"
    ether = Ether(src=own_mac, dst=mac)
    requests = []

    def add(request, checks, *arguments):
        requests.append((Ether(bytes(request)), checks, arguments))

    for network in (IP(src="192.0.2.1", dst="192.0.2.2", ttl=61), IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=61)):
        for tlvs, back in (
            ([], []),
            ([(0x80, 1, b"pad")], [(0, 1, b"pad")]),
            ([(0x80, 3, bytes(4)), (0x80, 77, b"?")], [(0, 3, None), (0x80, 77, b"?")]),
        ):
            packet = STAMPSessionSenderTestUnauthenticated(
                seq=0xDEADBEEF, ts=time.time() + 2208988800, ssid=4242, err_estimate=ErrorEstimate(S=1, scale=3, multiplier=9),
                tlv_objects=[STAMPTestTLV(flags=flags, type=kind, len=len(value), value=value) for flags, kind, value in tlvs],
            )
            add(ether / network / UDP(sport=50000, dport=862) / packet, stamp_checks, back)
    for tag in ([], [Dot1Q(vlan=5, prio=6)]):
        below = ether / tag[0] if tag else ether
        number = 2 if tag else 1
        add(below / Cfm(opcode=3, first_tlv=4) / Loopback(transaction=99), oam_checks, number)
        add(below / Cfm(opcode=47, first_tlv=32) / Delay(tx_forward=7 << 32 | 8), oam_checks, number)
        add(below / Cfm(opcode=55, first_tlv=16) / Loss(tx_forward=3), oam_checks, number)

    right = 0
    for request, checks, arguments in requests:
        reply = exchange(sock, request, own_mac)
        if reply is None:
            print(f"no reply to {request.summary()}", file=sys.stderr)
            continue
        if checks is stamp_checks and arguments[0] and arguments[0][0][2] is None:
            # What a clock is kept by stands in the error estimate too.
            back = stamp_in(STAMPSessionReflectorTestUnauthenticated, reply)
            source = 1 if back.err_estimate.S else 5
            arguments = ([(0, 3, bytes([source, 2, source, 2]))] + arguments[0][1:],)
        found = checks(request, reply, *arguments)
        found["macs"] = (reply.src, reply.dst) == (mac, own_mac)
        found["sums"] = with_own_sums(reply) == bytes(reply)
        wrong = [name for name, holds in found.items() if not holds]
        if wrong:
            print(f"wrong {wrong} in the reply to {request.summary()}: {bytes(reply).hex()}", file=sys.stderr)
        else:
            right += 1
    print(f"{right} of {len(requests)}")
    return right != len(requests)


sys.exit(main())
