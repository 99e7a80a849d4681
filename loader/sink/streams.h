// SPDX-License-Identifier: GPL-2.0-only
//
// What the sequence numbers of each stream came to. The program follows them (bpf/streams.h, bpf/sequence.h); here its
// table is read, what still hangs in the windows is settled, and a stream that came by several queues is put together.

#pragma once

#include "bpf/abi.h"
#include "loader/mapping.h"
#include "loader/run/histogram.h"
#include "loader/sink/follow.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace responder {

// RFC 3357: rows of consecutive lost frames.
struct LossPeriods {
    std::uint64_t count = 0;
    std::uint64_t longest = 0;
    std::array<std::uint64_t, SEQUENCE_BURSTS> by_length{}; // 1, 2, 3-4, 5-8, ...
};

// RFC 4737: behind a frame with a higher number. The extent is how many frames it came too late.
struct LateFrames {
    std::uint64_t count = 0;
    std::uint64_t extent_known = 0; // of so many the extent is known
    std::uint64_t extent_sum = 0;
    std::uint64_t extent_max = 0;
};

struct Spread {
    double least = 0, mean = 0, most = 0;
};

// Of frames that say when they were sent, from when the sender's program made them to when ours saw them. In ns.
struct DelayFigures {
    std::uint64_t frames = 0;
    double jitter = 0;                             // RFC 3550
    double variation_mean = 0, variation_most = 0; // above the fastest frame (RFC 5481, PDV)
    Spread transit;                                // by two clocks: a delay only where they are in step
    std::uint64_t pairs = 0;                       // of successive frames, which have an IPDV (RFC 5481)
    Spread ipdv;                                   // the mean is that of the absolute values
    std::uint64_t clock_steps = 0;
    bool of_tai = true;                   // others than ours stamp by another clock
    std::uint64_t wild = 0;               // frames with a time that fits nowhere
    bool histogram_is_of_transit = false; // where clocks are in step; otherwise of the variation
    std::optional<Histogram> histogram{};
};

// From one frame to the next, in ns. Of frames whose arrival was read from an exact clock.
struct GapFigures {
    std::uint64_t count = 0;
    Spread gap;
    std::optional<Histogram> histogram{};
};

// What iperf would print of the same datagrams, by its own formulas (bpf/iperf.h).
struct IperfFigures {
    std::uint64_t packets = 0; // the highest number
    std::uint64_t lost = 0;
    std::uint64_t out_of_order = 0;
    double jitter_ms = 0;
    std::uint64_t fragmented = 0; // datagrams of which the first fragment came: of the others iperf may miss some
};

struct StreamFigures {
    stream_key key{};
    unsigned queues = 1; // more than one: order was lost on the way through the NIC, not on the wire
    std::uint64_t frames = 0;
    bool left_out = false;             // too much of it fits nowhere: its octets are no numbers, and it is in no sum
    std::optional<std::uint64_t> lost; // unknown where it is left out, and maybe of a stream on several queues
    std::uint64_t duplicate = 0;
    std::uint64_t stray = 0; // fit nowhere: later than the window is long, or damaged
    std::uint64_t restarts = 0;
    // Unknown for a stream on several queues or left out.
    std::optional<LateFrames> late;
    std::optional<LossPeriods> periods;
    std::optional<DelayFigures> delay; // also unknown where frames do not say when they were sent
    std::optional<GapFigures> gaps;
    stream_payload payload{};
    std::optional<IperfFigures> iperf; // of iperf's formats, since its last restart

    // From the first frame that came to the last. Both need `lost` to be known.
    std::uint64_t sent() const noexcept { return *lost + frames - duplicate - stray; }
    double loss_ratio() const noexcept;
};

// "stream 3 from 198.18.0.1", "iperf3 198.18.0.1:40000 to 198.18.0.2:5201", "trex stream 3"
std::string stream_name(const stream_key& key);

struct StreamReport {
    std::vector<StreamFigures> streams; // by source and number
    std::uint64_t damaged = 0;          // frames with our magic and a wrong check
    std::uint64_t no_room = 0;          // frames of streams beyond those that the table holds

    // Which stream has no delay figures, and why; empty where all have some.
    std::string delay_unknown() const;
    std::size_t left_out() const noexcept;
    StreamFigures sum() const; // of all that are not left out, and of delays the worst; its key says nothing
};

// What the program's maps have at one place; settled.
struct StreamAtPlace {
    stream head{};
    sequence numbers{};
    stream_payload payload{};
    struct iperf iperf {};
    const stream_histograms* histograms = nullptr; // may be none
    bool clocks_in_step = false;                   // then the delays in them are of our own streams' transit
};

// One stream as it was found on each of its queues. The last frames count as arrived in order: what is missing is lost.
StreamFigures stream_figures(std::span<const StreamAtPlace> on_queues);

class StreamTable {
  public:
    // The program's maps (bpf/stream_maps.h). Throws Error.
    struct Maps {
        int streams, rests, unplaced;
        int histograms = -1; // there may be none
        bool clocks_in_step = false;
    };
    StreamTable(const Maps& maps, unsigned slots, unsigned tables);

    // One table, for whoever follows streams in it in the program's place.
    follow_table table(unsigned index) const noexcept;

    StreamReport read();
    bool empty() const noexcept;
    // By now, of all streams whose losses are known; some of them may still come. Allocates nothing.
    std::uint64_t missing() noexcept;

  private:
    // With a copy of the key: the program may just be writing it, and what is being sorted must not change.
    struct Found {
        stream_key key;
        const stream* place;
    };

    // What each stream is on its queues. Allocates nothing.
    template <class Function>
    void for_each_stream(Function function);
    StreamAtPlace copy_of(const stream& place) const noexcept;

    Mapping<stream> streams_;
    Mapping<stream_rest> rests_;
    Mapping<stream_unplaced> unplaced_;
    unsigned slots_;
    bool clocks_in_step_;
    std::optional<Mapping<stream_histograms>> histograms_;
    // for_each_stream()'s own
    std::vector<Found> found_;
    std::vector<StreamAtPlace> on_queues_;
};

} // namespace responder
