// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/impairment.h"

#include <gtest/gtest.h>
#include <linux/if_ether.h>

#include <netinet/in.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace responder::test {

namespace {

constexpr std::uint64_t overtaken_by = 16;
constexpr std::size_t signature_length = 14, damaged_octet = 6;
constexpr auto look_interval = 20ms; // at the request to stop

// Of a UDP datagram. None of a fragment: only what is whole has a number.
std::optional<std::span<std::uint8_t>> udp_payload(Octets& frame) {
    const auto word = [&](std::size_t at) { return at + 2 <= frame.size() ? frame[at] << 8U | frame[at + 1] : 0; };
    std::size_t at = 2 * ETH_ALEN;
    while (word(at) == ETH_P_8021Q || word(at) == ETH_P_8021AD)
        at += 4;
    const int type = word(at);
    at += 2;
    if (type == ETH_P_IP && at + 20 <= frame.size() && frame[at + 9] == IPPROTO_UDP && (word(at + 6) & 0x3FFF) == 0)
        at += (frame[at] & 0xFU) * 4U;
    else if (type == ETH_P_IPV6 && at + 40 <= frame.size() && frame[at + 6] == IPPROTO_UDP)
        at += 40;
    else
        return std::nullopt;
    const auto length = static_cast<std::size_t>(word(at + 4));
    if (length < 8 || at + length > frame.size())
        return std::nullopt;
    return std::span(frame).subspan(at + 8, length - 8);
}

void damage(std::span<std::uint8_t> payload, Fate fate, std::uint64_t number) {
    if (payload.size() <= signature_length)
        throw std::runtime_error("datagram " + std::to_string(number) + " is too short to be damaged");
    const std::size_t octet = fate == Fate::damage_signature
                                  ? damaged_octet
                                  : signature_length + number % (payload.size() - signature_length);
    payload[octet] ^= static_cast<std::uint8_t>(1U << number / 8 % 8);
}

} // namespace

Impairment::Impairment(const Lab& lab, std::function<Fate(std::uint64_t)> fate)
    : fate_(std::move(fate)), in_(lab.middle.value(), "in1"), out_(lab.middle.value(), "out1"),
      forward_([this](const std::stop_token& stop) { forward(stop); }),
      back_([this](const std::stop_token& stop) { back(stop); }) {}

void Impairment::forward(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        Octets frame = in_.receive(look_interval);
        if (frame.empty())
            continue;
        if (const auto payload = udp_payload(frame))
            impair(frame, *payload);
        else
            out_.send(frame);
    }
}

void Impairment::back(const std::stop_token& stop) {
    while (!stop.stop_requested())
        if (const Octets frame = out_.receive(look_interval); !frame.empty())
            in_.send(frame);
}

void Impairment::impair(Octets& frame, std::span<std::uint8_t> payload) {
    const std::uint64_t number = datagrams_;
    const Departure departure{number, fate_(number)};
    if (departure.fate == Fate::damage_signature || departure.fate == Fate::damage_payload)
        damage(payload, departure.fate, number);
    if (departure.fate == Fate::delay)
        held_.push_back({departure, std::move(frame)});
    else if (departure.fate != Fate::drop)
        depart(departure, frame);
    if (departure.fate == Fate::duplicate)
        depart(departure, frame);
    if (number >= overtaken_by)
        release(number - overtaken_by);
    ++datagrams_;
}

// What is held back of the datagrams up to this number.
void Impairment::release(std::uint64_t last) {
    while (!held_.empty() && held_.front().departure.number <= last) {
        depart(held_.front().departure, held_.front().datagram);
        held_.erase(held_.begin());
    }
}

void Impairment::depart(const Departure& departure, const Octets& frame) {
    out_.send(frame);
    departures_.push_back(departure);
}

std::vector<Departure> Impairment::end(std::uint64_t datagrams) {
    EXPECT_TRUE(eventually([&] { return datagrams_ >= datagrams; }, 60s))
        << datagrams_ << " of " << datagrams << " datagrams came";
    forward_.request_stop();
    forward_.join();
    release(datagrams_);
    EXPECT_EQ(datagrams_, datagrams);
    EXPECT_EQ(in_.overflowed(), 0U);
    EXPECT_EQ(out_.overflowed(), 0U);
    return std::move(departures_);
}

} // namespace responder::test
