// SPDX-License-Identifier: GPL-2.0-only
//
// The benchmarks. Each is a function that measures and gives a table; bench.cpp lists them.

#pragma once

#include "tests/bench/table.h"

namespace responder::bench {

struct Settings {
    unsigned rounds = 40; // of frame_cost, stream_cost and reflect_cost; a figure is made of all of them
};

// Nanoseconds that the sink's program takes for a frame, beside a program that does nothing (frame_cost.cpp).
Table frame_cost(const Settings& settings);

// The same for frames that carry our signature, beside one reading of the clock (stream_cost.cpp).
Table stream_cost(const Settings& settings);

// What the reflector takes for a frame, beside the shortest reflector (reflect_cost.cpp).
Table reflect_cost(const Settings& settings);

// Frames a second that come back, beside the shortest reflector and DPDK's testpmd (reflect_lab.cpp).
Table reflect_rate(const Settings& settings);

// How long one frame is under way, beside a UDP echo server (reflect_lab.cpp).
Table reflect_delay(const Settings& settings);

// Frames a second from end to end, beside an empty program and beside what receives without XDP (lab_rate.cpp).
Table lab_rate(const Settings& settings);

// Whether 2.5 GbE's rate of small frames is held, and nothing of it lost (lab_rate.cpp).
Table line_rate(const Settings& settings);

// Frames a second out of AF_XDP sockets, beside the simplest receiver (socket_rate.cpp).
Table socket_rate(const Settings& settings);

// What --pcap keeps of large frames, beside tcpdump (capture_rate.cpp).
Table capture_rate(const Settings& settings);

// Memory and CPU time of xdp-sink while nothing arrives (lab_rate.cpp).
Table process_cost(const Settings& settings);

} // namespace responder::bench
