// SPDX-License-Identifier: GPL-2.0-only
//
// bpf/sequence.h against the RFCs' own examples, against a plain implementation that keeps everything, and against what
// networks and senders do to sequence numbers.

#include "bpf/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace responder::test {
namespace {

using Numbers = std::vector<std::uint32_t>;

// A stream that sends a packet every microsecond unless told otherwise.
class Stream {
  public:
    ~Stream() {
        const sequence all = followed();
        EXPECT_EQ(sequence_packets(&all), taken_) << "each is counted as one thing";
    }
    int take(std::uint32_t number, std::uint64_t after_ns = 1000) {
        ++taken_;
        return sequence_take(&state_, &head_, number, now_ += after_ns);
    }
    void take_all(const Numbers& numbers) {
        for (const std::uint32_t number : numbers)
            take(number);
    }
    void take_range(std::uint32_t first, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i)
            take(static_cast<std::uint32_t>(first + i));
    }
    std::uint64_t lost() const { return state_.lost_before + state_.missing; }
    const sequence* operator->() const { return &state_; }
    sequence settled() const {
        sequence copy = followed();
        sequence_flush(&copy);
        return copy;
    }

  private:
    sequence followed() const {
        sequence copy = state_;
        sequence_follow(&copy, &head_);
        return copy;
    }

    sequence state_{};
    sequence_head head_{};
    std::uint64_t taken_ = 0;
    std::uint64_t now_ = 1'000'000'000;
};

// A number in the usual order is marked in the window later, and with others: wherever such a row begins and ends.
TEST(Sequence, WhatCameInOrderIsInTheWindow) {
    constexpr std::uint32_t longest = 600;
    for (const std::uint32_t first : {0U, 1U, 63U, 64U, 200U, 255U, 256U, 257U, 1000U}) {
        for (std::uint32_t length = 1; length <= longest; length += 61) {
            Stream stream;
            stream.take_range(first, length);
            stream.take(first + length + 1); // one is lost behind them
            for (std::uint32_t number = first + 1; number < first + length; number += 7)
                EXPECT_EQ(stream.take(number), SEQUENCE_DUPLICATE) << first << "+" << length << ": " << number;
            EXPECT_EQ(stream.lost(), 1U);
            stream.take_range(first + length + 2, SEQUENCE_WINDOW + 100);
            EXPECT_EQ(stream.lost(), 1U);
            const sequence settled = stream.settled();
            EXPECT_EQ(settled.period_count, 1U) << first << "+" << length;
            EXPECT_EQ(settled.period_max, 1U);
            EXPECT_EQ(settled.restarts + settled.stray, 0U);
        }
    }
}

TEST(Sequence, Rfc4737ReorderedWithExtentFour) { // section 7.2: packet 4 arrives behind 8
    Stream stream;
    stream.take_all({1, 2, 3, 5, 6, 7, 8, 4, 9, 10});
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->late, 1U);
    EXPECT_EQ(stream->extent_max, 4U);
    EXPECT_EQ(stream->extent_sum, 4U);
    EXPECT_EQ(stream.settled().period_count, 0U);
}

TEST(Sequence, Rfc4737ThreeReordered) { // section 7.3: 4, 5 and 6 behind 9, each three too late
    Stream stream;
    stream.take_all({1, 2, 3, 7, 8, 9, 4, 5, 6});
    EXPECT_EQ(stream->late, 3U);
    EXPECT_EQ(stream->extent_known, 3U);
    EXPECT_EQ(stream->extent_sum, 3U + 4U + 5U);
    EXPECT_EQ(stream->extent_max, 5U);
}

TEST(Sequence, Rfc3357LossPeriods) { // section 5.3's kind of sample: lost are 2, 5, 7, 9 and 10
    Stream stream;
    stream.take_all({1, 3, 4, 6, 8, 11});
    EXPECT_EQ(stream.lost(), 5U);
    const sequence settled = stream.settled();
    EXPECT_EQ(settled.period_count, 4U);
    EXPECT_EQ(settled.period_max, 2U);
    EXPECT_EQ(settled.period[0], 3U);
    EXPECT_EQ(settled.period[1], 1U);
}

TEST(Sequence, Rfc5236DuplicatesAreNoArrivals) { // section 4.2: 1 4 3 5 3 8 7 6, 2 is lost, 3 comes twice
    Stream stream;
    stream.take_all({1, 4, 3, 5, 3, 8, 7, 6});
    EXPECT_EQ(stream.lost(), 1U);
    EXPECT_EQ(stream->duplicate, 1U);
    EXPECT_EQ(stream->late, 3U);
    EXPECT_EQ(stream->extent_sum, 1U + 1U + 2U);
}

// All arrivals are kept, and every figure is computed from its definition.
struct Plain {
    std::uint64_t lost = 0, late = 0, duplicate = 0, extent_sum = 0, extent_max = 0;
    std::uint64_t periods = 0, longest = 0;
};

Plain plain(const Numbers& numbers) {
    Plain result;
    std::set<std::uint32_t> seen;
    Numbers arrivals;
    std::uint64_t next = numbers.front();
    for (const std::uint32_t number : numbers) {
        if (!seen.insert(number).second) {
            ++result.duplicate;
            continue;
        }
        arrivals.push_back(number);
        if (number >= next) {
            next = number + 1ULL;
            continue;
        }
        ++result.late;
        const auto first_higher =
            std::ranges::find_if(arrivals, [&](std::uint32_t other) { return other > number; }) - arrivals.begin();
        const std::uint64_t extent = arrivals.size() - 1 - static_cast<std::uint64_t>(first_higher);
        result.extent_sum += extent;
        result.extent_max = std::max(result.extent_max, extent);
    }
    std::uint64_t run = 0;
    for (std::uint64_t number = numbers.front(); number <= next; ++number) {
        if (number < next && !seen.contains(static_cast<std::uint32_t>(number))) {
            ++run;
            ++result.lost;
        } else if (run != 0) {
            ++result.periods;
            result.longest = std::max(result.longest, run);
            run = 0;
        }
    }
    return result;
}

TEST(Sequence, AgreesWithAPlainImplementationOnRandomNetworks) {
    std::mt19937 random(1);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    const auto one_in = [&](unsigned n) { return n != 0 && below(n) == 0; };
    std::uint64_t lost = 0, late = 0, extents = 0;
    for (int network = 0; network < 3000; ++network) {
        const unsigned loses_one_in = below(4) * 10, doubles_one_in = below(3) * 25, delays = below(3) * 20;
        std::vector<std::pair<double, std::uint32_t>> sent; // when it arrives, and its number
        std::uint32_t number = below(1000);
        for (unsigned i = 0, count = 1 + below(3000); i < count; ++i, ++number) {
            if (one_in(2000))
                number += below(900);
            const bool is_first = sent.empty();
            if (!is_first && one_in(loses_one_in))
                continue;
            const double arrives = number + (!is_first && delays != 0 && one_in(10) ? below(delays) : 0U);
            sent.emplace_back(arrives, number);
            if (one_in(doubles_one_in))
                sent.emplace_back(arrives + below(5) + 0.5, number);
        }
        std::ranges::stable_sort(sent, {}, &std::pair<double, std::uint32_t>::first);
        Numbers numbers;
        for (const auto& [arrives, each] : sent)
            numbers.push_back(each);
        if (numbers.front() != sent.front().second)
            continue;
        Stream stream;
        for (const std::uint32_t each : numbers)
            stream.take(each, 1'000'000); // slow enough for every gap to be one
        const Plain expected = plain(numbers);
        const sequence settled = stream.settled();
        ASSERT_EQ(stream.lost(), expected.lost) << network;
        ASSERT_EQ(settled.late, expected.late) << network;
        ASSERT_EQ(settled.duplicate, expected.duplicate) << network;
        ASSERT_EQ(settled.stray + settled.restarts, 0U) << network;
        ASSERT_EQ(settled.period_count, expected.periods) << network;
        ASSERT_EQ(settled.period_max, expected.longest) << network;
        if (settled.extent_known == settled.late) {
            ASSERT_EQ(settled.extent_sum, expected.extent_sum) << network;
            ASSERT_EQ(settled.extent_max, expected.extent_max) << network;
            extents += settled.late;
        }
        lost += expected.lost;
        late += expected.late;
    }
    EXPECT_GT(lost, 100'000U);
    EXPECT_GT(extents, late * 9 / 10) << "the extent of nearly all late packets is known";
}

TEST(Sequence, WhatComesInTheWindowIsLateAndWhatComesBehindItIsLost) {
    Stream stream;
    stream.take_range(0, 10);
    stream.take_range(11, SEQUENCE_WINDOW - 64);
    EXPECT_EQ(stream.lost(), 1U);
    EXPECT_EQ(stream.take(10), SEQUENCE_LATE);
    EXPECT_EQ(stream.lost(), 0U);
    stream.take_range(SEQUENCE_WINDOW - 64 + 11, 1);
    stream.take_range(SEQUENCE_WINDOW - 64 + 13, SEQUENCE_WINDOW + 64);
    EXPECT_EQ(stream.take(SEQUENCE_WINDOW - 64 + 12), SEQUENCE_STRAY);
    EXPECT_EQ(stream.lost(), 1U);
    EXPECT_EQ(stream->stray, 1U);
}

TEST(Sequence, OneDamagedNumberIsOneStray) {
    for (const std::uint32_t wild : {0xdeadbeefU, 0x7fffffffU, 0x80000005U, 500'000U}) {
        Stream stream;
        stream.take_range(100'000, 1000);
        EXPECT_EQ(stream.take(wild), SEQUENCE_STRAY);
        stream.take_range(101'001, 1000); // 101,000 was the damaged one
        EXPECT_EQ(stream.lost(), 1U) << wild;
        EXPECT_EQ(stream->stray, 1U);
        EXPECT_EQ(stream->restarts, 0U);
        EXPECT_EQ(stream->late + stream->duplicate, 0U);
    }
}

TEST(Sequence, SeveralDamagedNumbersInARowAreStrays) {
    Stream stream;
    stream.take_range(0, 1000);
    stream.take_all({0xdeadbeef, 0x12345678, 0xcafef00d});
    stream.take_range(1003, 1000);
    EXPECT_EQ(stream.lost(), 3U);
    EXPECT_EQ(stream->stray, 3U);
    EXPECT_EQ(stream->restarts, 0U);
}

TEST(Sequence, ALongOutageIsLoss) {
    Stream stream;
    stream.take_range(0, 1000);
    EXPECT_EQ(stream.take(3'000'000, 1'000'000'000), SEQUENCE_STRAY) << "until the next one confirms it";
    stream.take_range(3'000'001, 100);
    EXPECT_EQ(stream.lost(), 2'999'000U);
    EXPECT_EQ(stream->stray, 0U);
    EXPECT_EQ(stream->restarts, 0U);
    const sequence settled = stream.settled();
    EXPECT_EQ(settled.period_count, 1U);
    EXPECT_EQ(settled.period_max, 2'999'000U);
}

TEST(Sequence, AJumpThatNoSenderIsFastEnoughForIsANewBeginning) {
    Stream stream;
    stream.take_range(0, 1000);
    stream.take_range(0x40000000, 1000);
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->restarts, 1U);
    EXPECT_EQ(stream->stray, 0U);
}

TEST(Sequence, ASenderThatBeginsAnewAfterALongRun) {
    Stream stream;
    stream.take_range(0, 5000);
    stream.take_range(5010, 5000);
    stream.take_range(0, 5000);
    stream.take_range(5001, 10);
    EXPECT_EQ(stream.lost(), 10U + 1U);
    EXPECT_EQ(stream->restarts, 1U);
    EXPECT_EQ(stream->late + stream->duplicate + stream->stray, 0U);
}

TEST(Sequence, ASenderThatBeginsAnewAfterAShortRunAndAPause) {
    Stream stream;
    for (int run = 0; run < 3; ++run) {
        stream.take(0, 500'000'000);
        stream.take_range(1, 499);
    }
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->restarts, 2U);
    EXPECT_EQ(stream->late + stream->duplicate + stream->stray, 0U);
}

TEST(Sequence, ASenderThatBeginsAnewAfterAPauseBelowWhereWeCameIn) {
    Stream stream;
    stream.take_range(500, 100);
    stream.take(0, 500'000'000);
    stream.take_range(1, 99);
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->restarts, 1U);
    EXPECT_EQ(stream->late + stream->duplicate + stream->stray, 0U);
}

// Each gap is larger than the window.
TEST(Sequence, NearlyEverythingLost) {
    Stream stream;
    for (std::uint32_t number = 0; number <= 1'000'000; number += 2000)
        stream.take(number, 100'000);
    EXPECT_GE(stream.lost(), 500U * 1999 - 1999) << "of the last gap it is still in doubt";
    EXPECT_LE(stream.lost(), 500U * 1999);
    EXPECT_LE(stream->stray, 1U);
    EXPECT_EQ(stream->restarts, 0U);
}

// Later than the window is long is lost for good, and nothing else is made of it.
TEST(Sequence, FramesThatAreFarTooLateAreStrays) {
    for (const std::uint32_t together : {1U, 2U, 100U}) {
        Stream stream;
        stream.take_range(0, 5000);
        stream.take_range(5000 + together, 2000);
        stream.take_range(5000, together);
        stream.take_range(7000 + together, 1000);
        EXPECT_EQ(stream.lost(), together);
        EXPECT_EQ(stream->stray, together);
        EXPECT_EQ(stream->restarts + stream->late + stream->duplicate, 0U);
    }
}

TEST(Sequence, ShuffledFartherThanTheWindowEveryNumberIsCountedOnce) {
    std::mt19937 random(3);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
    for (std::uint32_t number = 0; number < 9000; ++number)
        order.emplace_back(number + static_cast<std::uint32_t>(random() % 3000), number);
    std::ranges::sort(order);
    Stream stream;
    for (const auto& [place, number] : order)
        stream.take(number);
    EXPECT_EQ(stream->restarts, 0U);
    EXPECT_EQ(stream->duplicate, 0U);
    EXPECT_LE(stream.lost(), stream->stray) << "a stray is missing, or was below the first";
}

TEST(Sequence, ADuplicateAfterAPauseIsADuplicate) {
    Stream stream;
    stream.take_range(0, 500);
    EXPECT_EQ(stream.take(499, 500'000'000), SEQUENCE_DUPLICATE);
    stream.take_range(500, 500);
    EXPECT_EQ(stream->duplicate, 1U);
    EXPECT_EQ(stream->restarts, 0U);
    EXPECT_EQ(stream.lost(), 0U);
}

TEST(Sequence, ASenderThatBeginsAnewAtOnceWithTheNumberItBeganWith) {
    Stream stream;
    for (int run = 0; run < 3; ++run)
        stream.take_range(0, 400);
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->restarts, 2U);
    EXPECT_EQ(stream->late + stream->duplicate + stream->stray, 0U);
}

// A burst that comes a second time, later: no sender begins in the middle.
TEST(Sequence, ABurstTwiceIsDuplicates) {
    Stream stream;
    stream.take_range(0, 500);
    stream.take(400, 500'000'000);
    stream.take_range(401, 99);
    stream.take_range(500, 100);
    EXPECT_EQ(stream->duplicate, 100U);
    EXPECT_EQ(stream->restarts, 0U);
    EXPECT_EQ(stream.lost(), 0U);
}

TEST(Sequence, EverythingTwice) {
    Stream stream;
    for (std::uint32_t number = 0; number < 10'000; ++number)
        stream.take_all({number, number});
    EXPECT_EQ(stream->duplicate, 10'000U);
    EXPECT_EQ(stream.lost() + stream->late + stream->stray + stream->restarts, 0U);
}

TEST(Sequence, TwoAndThirtyBitsWrap) {
    Stream stream;
    stream.take_range(0xffffff00, 256);
    stream.take_range(3, 1000); // 0, 1 and 2 are lost
    EXPECT_EQ(stream.take(1), SEQUENCE_LATE);
    EXPECT_EQ(stream.lost(), 2U);
    EXPECT_EQ(stream->restarts + stream->stray, 0U);
}

TEST(Sequence, WrapsMoreThanOnce) {
    Stream stream;
    // In strides as an outage each, which their time makes plausible, and the packet behind confirms.
    std::uint64_t lost = 0;
    std::uint32_t number = 0;
    stream.take(number);
    for (int stride = 0; stride < 50; ++stride) {
        number += 1'000'000'000;
        stream.take(number, 60'000'000'000);
        stream.take(++number);
        lost += 999'999'999;
    }
    EXPECT_EQ(stream.lost(), lost);
    EXPECT_EQ(stream->restarts + stream->stray, 0U);
}

// It confirms nothing; the two behind it do, wherever they are.
TEST(Sequence, AFirstNumberThatIsDamagedIsOneStray) {
    constexpr std::uint64_t slow_ns = 20'000'000;
    for (const std::uint64_t after_ns : {std::uint64_t{1000}, slow_ns}) {
        for (const auto& [first, second] : {std::pair{512U, 1U},
                                            {5'001'000U, 1'001'000U},
                                            {0xdeadbeefU, 1U},
                                            {3U, 0xffffff00U},
                                            {1001U, 500U},
                                            {70U, 0xfffffff5U}}) {
            Stream stream;
            stream.take(first);
            for (std::uint32_t i = 0; i < 2000; ++i)
                stream.take(second + i, after_ns);
            EXPECT_EQ(stream.lost(), 0U) << first;
            EXPECT_EQ(stream->stray, 1U) << first;
            EXPECT_EQ(stream->restarts + stream->duplicate + stream->late, 0U) << first;
        }
    }
}

// RFC 4737: what comes behind a higher number is late. Of low numbers it is known that they were sent.
TEST(Sequence, ReorderedAtTheStartIsLate) {
    struct Row {
        Numbers numbers;
        std::uint64_t late, extent_sum, lost;
    };
    for (const Row& row : {Row{{3, 0, 1, 2, 4}, 3, 1 + 2 + 3, 0}, Row{{1, 0, 2, 3}, 1, 1, 0},
                           Row{{3, 2, 0, 4}, 2, 1 + 2, 1}, Row{{1003, 1000, 1001, 1002, 1004}, 3, 1 + 2 + 3, 0},
                           Row{{1026, 1022, 1023, 1024, 1025, 1027}, 4, 1 + 2 + 3 + 4, 0}}) {
        Stream stream;
        stream.take_all(row.numbers);
        stream.take_range(row.numbers.back() + 1, 2000);
        SCOPED_TRACE(testing::PrintToString(row.numbers));
        EXPECT_EQ(stream.lost(), row.lost);
        EXPECT_EQ(stream->late, row.late);
        EXPECT_EQ(stream->extent_sum, row.extent_sum);
        EXPECT_EQ(stream->extent_known, row.late);
        EXPECT_EQ(stream->stray + stream->restarts + stream->duplicate, 0U);
        EXPECT_EQ(stream.settled().period_count, row.lost);
    }
}

TEST(Sequence, BeforeTheFirstIsAStray) { // late, but of what, nobody knows
    Stream stream;
    stream.take_range(1000, 10);
    stream.take_all({998, 997, 998, 999});
    stream.take_range(1010, 10);
    EXPECT_EQ(stream.lost(), 0U);
    EXPECT_EQ(stream->stray, 4U);
    EXPECT_EQ(stream->restarts + stream->late + stream->duplicate, 0U);
}

} // namespace
} // namespace responder::test
