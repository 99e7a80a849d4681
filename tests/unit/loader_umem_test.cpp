// SPDX-License-Identifier: GPL-2.0-only
//
// A socket's memory: each chunk is in one place.

#include "loader/umem.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

constexpr unsigned chunks = 8, chunk_size = 2048;

TEST(Umem, KnowsWhoseEachChunkIs) {
    Umem umem(chunks, chunk_size);
    EXPECT_EQ(umem.size(), 16384U);
    EXPECT_TRUE(umem.is_sound(0));
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
        umem.give(chunk * chunk_size);
    EXPECT_TRUE(umem.is_sound(chunks));
    umem.take(3 * chunk_size + 256); // anywhere in it
    EXPECT_TRUE(umem.is_sound(chunks - 1));
    umem.give(3 * chunk_size);
    EXPECT_TRUE(umem.is_sound(chunks));
}

TEST(Umem, FindsOneThatIsLost) {
    Umem umem(chunks, chunk_size);
    umem.give(0);
    EXPECT_FALSE(umem.is_sound(2));
}

TEST(Umem, FindsOneThatIsInTwoPlaces) {
    Umem twice_taken(chunks, chunk_size);
    twice_taken.give(0);
    twice_taken.take(0);
    twice_taken.take(100);
    EXPECT_FALSE(twice_taken.is_sound(0));
    Umem twice_given(chunks, chunk_size);
    twice_given.give(chunk_size);
    twice_given.give(chunk_size);
    EXPECT_FALSE(twice_given.is_sound(1));
}

} // namespace
} // namespace responder::test
