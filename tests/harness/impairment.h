// SPDX-License-Identifier: GPL-2.0-only
//
// A link that loses, doubles, delays and damages, and keeps a book of it. It stands in the middle of a Lab and hands on
// what comes in at in1 to out1 and the other way round. Every UDP datagram on its way from the tester to the responder
// has a number, from 0 on, and a function of the test's says what becomes of it. All else goes through as it is, in
// both directions: ARP, ping, TCP, and so the control connection of iperf3, and replies.
//
//     const Lab lab({.middle = true});                   // with .addresses for stacks that are to talk to each other
//     Impairment link(lab, [](std::uint64_t n) { return n % 100 == 50 ? Fate::drop : Fate::pass; });
//     ... send 1000 datagrams ...
//     const std::vector<Departure> arrived = link.end(1000);
//
// (iperf3 first sends one datagram a stream, of 4 octets, that is not numbered: let them pass.)
//
// It works on packet sockets and not in XDP, which can hold no frame back. It loses nothing by itself: what the sockets
// had no room for would fail the test in end().

#pragma once

#include "tests/harness/lab.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace responder::test {

enum class Fate {
    pass,
    drop,
    duplicate,        // a second one right behind it
    delay,            // held back until sixteen more have come, whatever becomes of them
    damage_signature, // a bit of the seventh octet of the payload, which is the sequence number's first in ours
    damage_payload,   // a bit behind the first 14 octets, each time another one
};

struct Departure {
    std::uint64_t number = 0;
    Fate fate = Fate::pass;
};

class Impairment {
  public:
    Impairment(const Lab& lab, std::function<Fate(std::uint64_t number)> fate);

    // Waits until so many datagrams have come in, sends what is still held back, and ends. Says what went out to the
    // responder, in that order. Once.
    std::vector<Departure> end(std::uint64_t datagrams);

  private:
    struct Held {
        Departure departure;
        Octets datagram;
    };

    void forward(const std::stop_token& stop);
    void back(const std::stop_token& stop);
    void impair(Octets& frame, std::span<std::uint8_t> payload);
    void release(std::uint64_t last);
    void depart(const Departure& departure, const Octets& frame);

    std::function<Fate(std::uint64_t)> fate_;
    PacketSocket in_, out_;
    // Of the thread that forwards, until it has ended.
    std::vector<Departure> departures_;
    std::vector<Held> held_;
    std::atomic<std::uint64_t> datagrams_ = 0;
    // Last: they end before what they use.
    std::jthread forward_, back_;
};

} // namespace responder::test
