// SPDX-License-Identifier: GPL-2.0-only
//
// The pattern behind our signature, and that damage to it is found.

#include "bpf/signature/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace responder::test {
namespace {

using Octets = std::vector<std::uint8_t>;

// As its documentation says it. The signature's place is left empty.
Octets payload_of(std::uint64_t stream, std::uint64_t sequence, std::size_t length) {
    Octets payload(OURS_LENGTH);
    const std::uint64_t step = 0x9E3779B97F4A7C15ULL, m = ((stream << 32) + sequence + 1) * step;
    for (std::uint64_t x = (m ^ m >> 32) * 0xBF58476D1CE4E5B9ULL; payload.size() < length; x += step)
        for (const std::uint64_t word : {x ^ x >> 32, ~(x ^ x >> 32)})
            for (unsigned bits = 0; bits < 64; bits += 8)
                payload.push_back(static_cast<std::uint8_t>(word >> bits));
    payload.resize(length);
    return payload;
}

unsigned wrong(std::uint32_t stream, std::uint32_t sequence, const Octets& payload) {
    return pattern_check(stream, sequence, payload.data(), static_cast<std::uint32_t>(payload.size()));
}

// What another implementation can be held against.
TEST(Pattern, OctetsOfSomeFrames) {
    const auto begins = [](std::uint64_t x, Octets expected) {
        for (std::uint32_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(pattern_octet(x, i), expected[i]) << i;
    };
    begins(pattern_begin(0, 0), {0x70, 0x29, 0x85, 0x0C, 0x3C, 0xDC, 0x1E, 0xAA, 0x8F, 0xD6, 0x7A, 0xF3,
                                 0xC3, 0x23, 0xE1, 0x55, 0x97, 0x24, 0xB0, 0x6D, 0xF6, 0x55, 0x56, 0x48});
    begins(pattern_begin(65535, 0xFFFFFFFF), {0x0C, 0x3E, 0x32, 0x5E, 0x0C, 0x3E, 0x1F, 0x2A, 0xF3, 0xC1, 0xCD, 0xA1,
                                              0xF3, 0xC1, 0xE0, 0xD5, 0xD0, 0xCB, 0x21, 0x3B, 0xC5, 0xB7, 0x56, 0xC8});
}

TEST(Pattern, SoundPayloadsOfAllLengthsAre) {
    for (std::size_t length = 0; length <= 1500; ++length)
        for (const auto& [stream, sequence] : {std::pair{0U, 0U}, {7U, 0xFFFFFFFFU}, {65535U, 123456789U}})
            ASSERT_EQ(wrong(stream, sequence, payload_of(stream, sequence, length)), 0U) << length;
}

TEST(Pattern, EveryFlippedBitIsFound) {
    for (std::size_t length = OURS_LENGTH; length <= 1500; length += length < 80 ? 1 : 157) {
        Octets payload = payload_of(3, 1000, length);
        for (std::size_t octet = OURS_LENGTH; octet < length; ++octet)
            for (unsigned bit = 0; bit < 8; ++bit) {
                payload[octet] ^= 1U << bit;
                ASSERT_EQ(wrong(3, 1000, payload), 1U) << "bit " << bit << " of octet " << octet << " of " << length;
                payload[octet] ^= 1U << bit;
            }
    }
}

TEST(Pattern, EveryOtherLastOctetIsFound) {
    for (std::size_t length = OURS_LENGTH + 1; length <= 50; ++length) {
        Octets payload = payload_of(3, 1000, length);
        for (std::uint8_t change = 1; change != 0; ++change) {
            payload.back() ^= change;
            ASSERT_EQ(wrong(3, 1000, payload), 1U) << int{change} << ", " << length << " octets";
            payload.back() ^= change;
        }
    }
}

TEST(Pattern, WrongOctetsAreCounted) {
    Octets payload = payload_of(1, 2, 100);
    for (const std::size_t octet : {14U, 15U, 22U, 60U, 98U, 99U})
        payload[octet] = static_cast<std::uint8_t>(~payload[octet]);
    EXPECT_EQ(wrong(1, 2, payload), 6U);
    EXPECT_GT(wrong(1, 2, Octets(1472)), 1400U);
}

// Of two patterns that have nothing to do with each other, one octet in 256 is the same.
TEST(Pattern, AnotherFramesPayloadIsFound) {
    for (const auto& [stream, sequence] : {std::pair{0U, 1U}, {1U, 0U}, {0U, 0x80000000U}, {0U, 1U << 16U}, {1U, 1U}})
        EXPECT_GT(wrong(0, 0, payload_of(stream, sequence, 1472)), 1400U) << stream << ", " << sequence;
    for (std::uint32_t sequence = 1; sequence < 1000; ++sequence) // what a frame of 64 octets has room for
        EXPECT_GT(wrong(0, sequence, payload_of(0, sequence - 1, 18)), 0U) << sequence;
}

TEST(Pattern, AShiftedPayloadIsFound) {
    const Octets payload = payload_of(0, 0, 1472);
    for (std::ptrdiff_t octets = 1; octets < 64; ++octets) {
        Octets shifted = payload;
        std::rotate(shifted.begin() + OURS_LENGTH, shifted.begin() + OURS_LENGTH + octets, shifted.end());
        EXPECT_GT(wrong(0, 0, shifted), 1400U) << octets;
    }
}

} // namespace
} // namespace responder::test
