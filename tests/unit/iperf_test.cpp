// SPDX-License-Identifier: GPL-2.0-only
//
// bpf/iperf.h against a receiver in floating point, and against what networks and senders do to numbers.

#include "bpf/iperf.h"
#include "tests/harness/iperf_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace responder::test {
namespace {

constexpr std::uint64_t start_ns = 1'790'000'000'123'456'789;

class Receiver {
  public:
    explicit Receiver(iperf_kind kind)
        : kind_(kind), reference_(kind == IPERF_2 ? IperfReference::Kind::iperf2 : IperfReference::Kind::iperf3) {}

    // On the wire of iperf3: `width` bits, and behind 32 of them the sender's buffer.
    void take(std::uint64_t number, std::uint64_t transit_ns = 100'000, unsigned width = 32) {
        const std::uint64_t sent_us = (now_ += 10'000) / 1000, arrived = now_ + transit_ns;
        std::uint64_t words = number;
        if (kind_ != IPERF_2 && width == 32)
            words = number << 32 | 0x30313233;
        const iperf_datagram datagram{.number = words, .sent_us = sent_us, .arrived_ns = arrived};
        take(state_, sequence_, head_, datagram, kind_);
        reference_.take(width == 32 ? number & 0xffffffff : number, Microseconds::of_ns(sent_us * 1000),
                        Microseconds::of_ns(arrived));
    }
    void take_last(std::uint64_t number) {
        const std::uint64_t sent_us = (now_ += 10'000) / 1000;
        const iperf_datagram datagram{.number = number, .sent_us = sent_us, .arrived_ns = now_ + 500'000};
        iperf_last(&state_, &datagram);
        if (!over_)
            reference_.take(number, Microseconds::of_ns(sent_us * 1000), Microseconds::of_ns(now_ + 500'000));
        over_ = true;
    }
    void pass(std::uint64_t ns) { now_ += ns; }

    const iperf_figures& figures() const { return *iperf_settled(&state_); }
    bool is_wide() const { return state_.is_wide != 0; }
    const sequence& numbers() const { return sequence_; }
    std::uint64_t lost() const { return sequence_.lost_before + sequence_.missing; }
    double jitter_ms() const { return static_cast<double>(figures().jitter) / (1 << IPERF_JITTER_BITS) / 1e3; }

    void expect_as_reference() const {
        EXPECT_EQ(figures().highest, reference_.packets());
        EXPECT_EQ(static_cast<std::int64_t>(figures().out_of_order), reference_.out_of_order());
        const auto lost = static_cast<std::int64_t>(figures().lost);
        const auto late = static_cast<std::int64_t>(figures().out_of_order);
        EXPECT_EQ(kind_ == IPERF_2 ? std::max<std::int64_t>(lost - late, 0) : lost, reference_.lost());
        EXPECT_NEAR(jitter_ms(), reference_.jitter_ms(), 1e-9);
    }

    static void take(iperf& state, sequence& numbers, sequence_head& head, const iperf_datagram& datagram,
                     iperf_kind kind) {
        iperf_read(&state, &numbers, &datagram, kind);
        sequence_hold(&numbers, &head);
        const int taken = sequence_take(&numbers, &head, static_cast<std::uint32_t>(state.wire), datagram.arrived_ns);
        iperf_taken(&state, &numbers, static_cast<std::uint64_t>(taken), kind);
    }

  private:
    iperf_kind kind_;
    std::uint64_t now_ = start_ns;
    bool over_ = false;
    iperf state_{};
    sequence sequence_{};
    sequence_head head_{};
    IperfReference reference_;
};

class Iperf : public testing::TestWithParam<iperf_kind> {};

TEST_P(Iperf, AgreesWithTheReceiverOnWhateverComes) {
    std::mt19937_64 random(11);
    for (unsigned round = 0; round < 50; ++round) {
        Receiver receiver(GetParam());
        const unsigned width = GetParam() == IPERF_3_32 || GetParam() == IPERF_3_GUESS ? 32 : 64;
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t number = 1; number < 2000; ++number) {
            if (random() % 50 == 0)
                continue;
            numbers.push_back(number);
            if (random() % 100 == 0)
                numbers.push_back(number);
            if (random() % 30 == 0 && numbers.size() > 8)
                std::swap(numbers.back(), numbers[numbers.size() - 1 - random() % 8]);
        }
        for (const std::uint64_t number : numbers)
            receiver.take(number, random() % 3'000'000, width);
        receiver.expect_as_reference();
    }
}

// With the fault that iperf3 has there: all that follow are out of order. Ours goes on counting.
TEST_P(Iperf, WrapsAsIperfDoes) {
    const unsigned width = GetParam() == IPERF_3_32 || GetParam() == IPERF_3_GUESS ? 32 : 64;
    Receiver receiver(GetParam());
    constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
    for (std::uint64_t number = wrap - 500; number < wrap + 500; ++number)
        if (number % 100 != 50)
            receiver.take(width == 32 ? number & 0xffffffff : number, number % 7 * 1000, width);
    EXPECT_EQ(receiver.lost(), 10U);
    EXPECT_EQ(receiver.numbers().restarts + receiver.numbers().stray + receiver.numbers().late, 0U);
    EXPECT_EQ(receiver.figures().out_of_order, width == 32 ? 495U : 0U);
    EXPECT_EQ(receiver.figures().highest, width == 32 ? wrap - 1 : wrap + 499);
    EXPECT_EQ(receiver.figures().lost, width == 32 ? 0U : 10U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Iperf, testing::Values(IPERF_2, IPERF_3_GUESS, IPERF_3_32, IPERF_3_64));

// What is missing from the first number on is lost, as iperf has it; who comes in later knows nothing of what was
// before.
TEST(Iperf, FirstNumbersAreKnown) {
    Receiver early(IPERF_3_32), late(IPERF_3_32);
    for (const std::uint64_t number : {4U, 5U, 2U, 6U})
        early.take(number);
    EXPECT_EQ(early.lost(), 2U);
    EXPECT_EQ(early.numbers().late, 1U);
    EXPECT_EQ(early.numbers().extent_max, 2U);
    early.expect_as_reference();
    for (const std::uint64_t number : {1000U, 1001U, 1003U})
        late.take(number);
    EXPECT_EQ(late.lost(), 1U);
    EXPECT_EQ(late.figures().lost, 1U);
    EXPECT_EQ(late.figures().highest, 1003U);
}

TEST(Iperf, OldIperf2BeginsWithZero) {
    Receiver receiver(IPERF_2);
    for (std::uint64_t number = 0; number < 10; ++number)
        receiver.take(number);
    EXPECT_EQ(receiver.lost(), 0U);
    EXPECT_EQ(receiver.numbers().stray, 0U);
    EXPECT_EQ(receiver.figures().highest, 9U);
    EXPECT_EQ(receiver.figures().lost, 0U);
}

TEST(Iperf, TheLastOfIperf2CountsForItOnce) {
    Receiver receiver(IPERF_2);
    for (std::uint64_t number = 1; number <= 98; ++number)
        if (number != 50)
            receiver.take(number);
    for (std::uint64_t number = 101; number < 200; ++number) // and two that were data are lost
        receiver.take_last(number);
    receiver.expect_as_reference();
    EXPECT_EQ(receiver.figures().highest, 101U);
    EXPECT_EQ(receiver.figures().lost, 3U);
    EXPECT_EQ(receiver.lost(), 1U);
}

TEST(Iperf, WidthIsSeenByTheSecondDatagram) {
    struct Row {
        unsigned width;
        std::uint64_t first;
    };
    for (const Row& row :
         {Row{32, 1}, Row{64, 1}, Row{32, 0}, Row{32, 77}, Row{64, 0x1'0000'0005}, Row{64, 0x4'0000'0000}}) {
        SCOPED_TRACE(testing::Message() << row.width << " bits from " << row.first << " on");
        Receiver receiver(IPERF_3_GUESS);
        for (std::uint64_t number = 0; number < 300; ++number)
            if (number != 100)
                receiver.take(row.first + number, 100'000, row.width);
        EXPECT_EQ(receiver.is_wide(), row.width == 64);
        EXPECT_EQ(receiver.lost(), 1U);
        EXPECT_EQ(receiver.numbers().restarts + receiver.numbers().stray + receiver.numbers().duplicate, 0U);
        EXPECT_EQ(receiver.figures().highest, row.first + 299);
        EXPECT_EQ(receiver.figures().lost, 1U);
    }
}

TEST(Iperf, TheNextTestOnTheSamePortsBeginsAnew) {
    for (const unsigned next_width : {32U, 64U}) {
        Receiver receiver(IPERF_3_GUESS);
        for (std::uint64_t number = 1; number <= 500; ++number)
            if (number != 7)
                receiver.take(number);
        receiver.pass(1'000'000'000);
        for (std::uint64_t number = 1; number <= 300; ++number)
            if (number % 100 != 50)
                receiver.take(number, 100'000, next_width);
        EXPECT_EQ(receiver.numbers().restarts, 1U);
        EXPECT_EQ(receiver.lost(), 4U);
        EXPECT_EQ(receiver.figures().highest, 300U);
        EXPECT_EQ(receiver.figures().lost, 3U) << "of the second test alone";
        EXPECT_EQ(receiver.figures().out_of_order, 0U);
    }
}

// It has a wrong checksum, so that no receiver ever saw it.
TEST(Iperf, OneDamagedNumberIsNoLossOfBillions) {
    for (const iperf_kind kind : {IPERF_2, IPERF_3_GUESS}) {
        Receiver receiver(kind);
        for (std::uint64_t number = 1; number <= 1000; ++number)
            receiver.take(number == 500 ? 0x8000'01f4 : number);
        EXPECT_EQ(receiver.lost(), 1U);
        EXPECT_EQ(receiver.figures().highest, 1000U);
        EXPECT_EQ(receiver.figures().lost, 1U);
        EXPECT_EQ(receiver.figures().out_of_order, 0U);
    }
}

// The lower half of the number goes on as if nothing were.
TEST(Iperf, ADamagedUpperHalfIsOneStray) {
    for (const iperf_kind kind : {IPERF_2, IPERF_3_GUESS, IPERF_3_64}) {
        for (const std::uint64_t bit : {std::uint64_t{1} << 40, std::uint64_t{1} << 32, std::uint64_t{1} << 62}) {
            Receiver receiver(kind);
            for (std::uint64_t number = 1; number < 100; ++number)
                receiver.take(number == 50 ? number | bit : number, 100'000, 64);
            EXPECT_EQ(receiver.figures().highest, 99U);
            EXPECT_EQ(receiver.figures().lost, 1U);
            EXPECT_EQ(receiver.figures().out_of_order, 0U);
            EXPECT_EQ(receiver.lost(), 1U);
            EXPECT_EQ(receiver.numbers().stray, 1U);
            EXPECT_EQ(receiver.numbers().restarts, 0U);
        }
    }
}

// The one behind confirms what is far off.
TEST(Iperf, TheNextTestBehindMoreThan32BitsBeginsAnew) {
    Receiver receiver(IPERF_3_64);
    for (std::uint64_t number = 0x5'0000'0000; number < 0x5'0000'0000 + 200; ++number)
        receiver.take(number, 100'000, 64);
    for (std::uint64_t number = 1; number < 100; ++number)
        receiver.take(number, 100'000, 64);
    EXPECT_EQ(receiver.numbers().restarts, 1U);
    EXPECT_EQ(receiver.numbers().stray, 0U);
    EXPECT_EQ(receiver.lost(), 0U);
    EXPECT_EQ(sequence_packets(&receiver.numbers()), 299U);
    EXPECT_EQ(receiver.figures().highest, 99U);
    EXPECT_EQ(receiver.figures().lost, 0U);
}

TEST(Iperf, AFirstNumberThatIsDamagedIsOneStray) {
    for (const std::uint64_t first : {std::uint64_t{5512}, std::uint64_t{5001} | std::uint64_t{1} << 40}) {
        Receiver receiver(IPERF_3_64);
        receiver.take(first, 100'000, 64);
        for (std::uint64_t number = 5002; number < 7000; ++number)
            receiver.take(number, 100'000, 64);
        EXPECT_EQ(receiver.lost(), 0U);
        EXPECT_EQ(receiver.numbers().stray, 1U);
        EXPECT_EQ(receiver.numbers().restarts, 0U);
        EXPECT_EQ(receiver.figures().highest, 6999U);
        EXPECT_EQ(receiver.figures().before, 5001U);
        EXPECT_EQ(receiver.figures().lost, 0U);
        EXPECT_EQ(receiver.figures().out_of_order, 0U);
    }
}

TEST(Iperf, AnotherWidthOnTheSamePortsCountsEachOnce) {
    for (const unsigned first_width : {32U, 64U}) {
        for (const std::uint64_t first : {1U, 3000U}) {
            Receiver receiver(IPERF_3_GUESS);
            for (std::uint64_t number = 0; number < 99; ++number)
                receiver.take(first + number, 100'000, first_width);
            for (std::uint64_t number = 1; number <= 99; ++number)
                receiver.take(number, 100'000, 96 - first_width);
            EXPECT_EQ(sequence_packets(&receiver.numbers()), 198U) << first_width << " bits from " << first << " on";
            EXPECT_EQ(receiver.numbers().restarts, 1U);
            EXPECT_EQ(receiver.lost(), 0U);
            EXPECT_EQ(receiver.numbers().stray + receiver.numbers().duplicate, 0U);
            EXPECT_EQ(receiver.figures().highest, 99U);
        }
    }
}

// Nothing follows that would tell what it was.
TEST(Iperf, OneDamagedNumberAtTheEndIsNoLossOfBillions) {
    for (const iperf_kind kind : {IPERF_2, IPERF_3_GUESS}) {
        Receiver receiver(kind);
        for (std::uint64_t number = 1; number <= 1000; ++number)
            receiver.take(number);
        receiver.take(kind == IPERF_2 ? 2'000'000'000 : 4'000'000'000);
        EXPECT_EQ(receiver.figures().highest, 1000U);
        EXPECT_EQ(receiver.figures().lost, 0U);
        EXPECT_EQ(receiver.figures().out_of_order, 0U);
    }
}

TEST(Iperf, ADamagedLastOneIsNoLossOfBillions) {
    for (const std::uint64_t last :
         {std::uint64_t{2'000'000'000}, std::uint64_t{0x8000'0000}, std::uint64_t{1} << 63}) {
        Receiver receiver(IPERF_2);
        for (std::uint64_t number = 1; number <= 1000; ++number)
            if (number != 7)
                receiver.take(number);
        receiver.take(2'000'000'000); // data, and damaged too
        receiver.take_last(last);
        EXPECT_EQ(receiver.figures().highest, 1000U);
        EXPECT_EQ(receiver.figures().lost, 1U);
        receiver.take_last(1001);
        EXPECT_EQ(receiver.figures().highest, 1001U) << "the next copy of it";
        EXPECT_EQ(receiver.figures().lost, 1U);
    }
}

// An outage up to the end: all of it can have been sent in that time.
TEST(Iperf, TheLastOfIperf2BehindALongGapIsLoss) {
    Receiver receiver(IPERF_2);
    for (std::uint64_t number = 1; number <= 1000; ++number)
        receiver.take(number);
    receiver.pass(10'000'000'000);
    receiver.take_last(1'000'001);
    receiver.expect_as_reference();
    EXPECT_EQ(receiver.figures().lost, 999'000U);
}

// A long gap is confirmed by the datagram behind it, and nothing of it is forgotten.
TEST(Iperf, ALongGapIsLoss) {
    Receiver receiver(IPERF_3_32);
    for (std::uint64_t number = 1; number <= 10'000; ++number) {
        if (number <= 3000 || number > 8000)
            receiver.take(number);
        else
            receiver.pass(10'000);
    }
    EXPECT_EQ(receiver.lost(), 5000U);
    receiver.expect_as_reference();
}

TEST(Iperf, ATimeFromAnotherWorldFitsIn) {
    iperf state{};
    sequence numbers{};
    sequence_head head{};
    for (std::uint64_t number = 1; number < 100; ++number) {
        const iperf_datagram datagram{
            .number = number, .sent_us = number == 50 ? ~std::uint64_t{0} >> 1 : 1000, .arrived_ns = start_ns + number};
        Receiver::take(state, numbers, head, datagram, IPERF_2);
    }
    const double most_us = static_cast<double>(IPERF_MOST_DIFFERENCE);
    EXPECT_LT(static_cast<double>(state.figures.jitter) / (1 << IPERF_JITTER_BITS), most_us / 8);
}

} // namespace
} // namespace responder::test
