// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/report_parts.h"

#include "loader/command.h"
#include "loader/wire.h"

#include <algorithm>
#include <string>
#include <vector>

namespace responder {

namespace {

constexpr std::size_t column_width(std::string_view heading) { return std::max<std::size_t>(heading.size(), 10) + 2; }

std::string size_text(const SizeBin& bin) {
    if (bin.first == 0)
        return fmt::format("under {}", bin.last + 1);
    if (bin.last == 0)
        return fmt::format("{} and more", bin.first);
    return bin.first == bin.last ? fmt::format("{}", bin.first) : fmt::format("{}-{}", bin.first, bin.last);
}

void print_rates(Buffer& buffer, std::string_view label, std::string_view bound, const Traffic& traffic,
                 std::chrono::duration<double> time, std::uint64_t speed_bps) {
    const Rates average = rates(traffic, time);
    print(buffer, "  {:<17}{}{} frames/s", label, bound, Grouped(average.fps, 0));
    for (const RateField& field : rate_fields) {
        if (field.value == &Rates::fps)
            continue;
        print(buffer, ", {} {}", field.heading.substr(0, field.heading.find(' ')),
              Grouped(average.*field.value * field.scale, field.precision));
        if (field.value == &Rates::l1_bps && speed_bps != 0)
            print(buffer, " ({:.2f} % of line rate)", line_rate_percent(average, speed_bps));
    }
    print(buffer, " Mb/s\n");
}

} // namespace

void print_sockets(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view more) {
    if (!port.sockets_obtained() || !books.sockets)
        return;
    print(buffer, "  {:<17}{}{}{}; read {}, lost {}\n", "AF_XDP sockets",
          port.sockets_obtained()->zero_copy ? "zero-copy" : "copy", more.empty() ? "" : ", ", more,
          Grouped(books.sockets->received), Grouped(books.sockets->lost()));
    print_list(buffer, "sockets lost", socket_fields,
               [&](const SocketField& field) { return *books.sockets.*field.value; });
    if (books.sockets->not_sent() != 0)
        print(buffer, "  {:<17}{} that the driver did not take\n", "not sent", Grouped(books.sockets->not_sent()));
    if (books.not_delivered != 0)
        print(buffer, "  {:<17}{} test frames that {}\n", "not delivered", Grouped(books.not_delivered),
              books.so_far ? "are on their way to a socket, or were given to none" : "the kernel gave to no socket");
}

void print_counted(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view test_frames) {
    const SlotCounts& slots = port.now().total;
    const Traffic test = test_traffic(slots);
    const auto& o = port.obtained();
    print(buffer, "\n{}: {:.1f} s{}, {} XDP{} on {}, {} queue{}, {}\n  {:<17}{}, {}", port.netdev().name(),
          port.elapsed().count(), books.so_far ? " so far" : "", to_string(o.mode),
          o.dispatcher ? " (shared through libxdp)" : "", port.driver_text(), port.queues(),
          port.queues() == 1 ? "" : "s", port.speed_bps() == 0 ? "no line speed" : speed_text(port.speed_bps()),
          test_frames, Grouped(test.frames), Grouped(test.l2_bytes_with_fcs()));
    const BusyTime::Result busy = port.busy();
    print(buffer, " bytes with FCS; traffic flowed for {}{:.2f} s\n", busy.at_most ? "at most " : "",
          busy.time.count());
    if (test.frames != 0) {
        print_rates(buffer, "while it flowed", busy.at_most ? "at least " : "", test, busy.time, port.speed_bps());
        print_rates(buffer, "over the run", "", test, port.elapsed(), port.speed_bps());
        struct NamedBin {
            std::string text;
            count_slot slot;
        };
        std::vector<NamedBin> bins;
        for (const SizeBin& bin : size_bins)
            bins.push_back({size_text(bin) + ":", bin.slot});
        print_list(buffer, "sizes with FCS", bins, [&](const NamedBin& bin) { return slots[bin.slot].frames; });
    }
}

void print_slots(Buffer& buffer, const CountingPort& port) {
    const SlotCounts& slots = port.now().total;
    const auto used = std::ranges::count_if(port.now().queues,
                                            [](const SlotCounts& queue) { return all_traffic(queue).frames != 0; });
    if (port.queues() > 1 || used > 1) {
        for (std::size_t queue = 0; queue < port.now().queues.size(); ++queue) {
            const SlotCounts& counts = port.now().queues[queue];
            if (all_traffic(counts).frames == 0)
                continue;
            print(buffer, "  {:<17}test {}, passed {}\n", fmt::format("queue {}", queue),
                  Grouped(test_traffic(counts).frames), Grouped(passed_traffic(counts).frames));
        }
    }
    print_list(buffer, "answered", answer_names, [&](const SlotName& name) { return slots[name.slot].frames; });
    print_list(buffer, "passed up", reason_names, [&](const SlotName& name) { return slots[name.slot].frames; });
    print_list(buffer, "refused", drop_names, [&](const SlotName& name) { return slots[name.slot].frames; });
}

void print_nic(Buffer& buffer, const Books& books, std::string_view dropped_too) {
    if (books.nic_known)
        print_list(buffer, "NIC lost", nic_loss_fields, [&](const NicField& field) { return books.nic.*field.value; });
    if (books.nic_known && books.nic.rx_dropped != 0)
        print(buffer, "  {:<17}{} by the driver{}, or by the stack of what passed up\n", "dropped",
              Grouped(books.nic.rx_dropped), dropped_too);
    for (const auto& [name, rise] : books.driver)
        print(buffer, "  {:<17}{} {}\n", "driver says", name, Grouped(rise));
}

void print_outages(Buffer& buffer, const Port& port) {
    for (const Outage& outage : port.outages()) {
        char room[32];
        print(buffer, "  {:<17}from {}", "link down", rfc3339(outage.began, room));
        if (outage.lasted)
            print(buffer, " for {:.1f} s", outage.lasted->count());
        else
            print(buffer, ", still down");
        print(buffer, "{}\n",
              outage.cause == Outage::Cause::absent_at_start ? ", from the start"
              : outage.cause == Outage::Cause::attach        ? ", taken down by the driver for the program"
                                                             : "");
    }
}

void print_books(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view test) {
    const SlotCounts& slots = port.now().total;
    print(buffer, "  {:<17}program saw {} = {} {}", "balance", Grouped(books.program_saw), test,
          Grouped(test_traffic(slots).frames));
    if (const auto answered = answered_traffic(slots).frames; answered != 0)
        print(buffer, " + answered {}", Grouped(answered));
    print(buffer, " + passed {}", Grouped(passed_traffic(slots).frames));
    if (const auto dropped = dropped_traffic(slots).frames; dropped != 0)
        print(buffer, " + refused {}", Grouped(dropped));
    if (books.after_the_end != 0)
        print(buffer, " + after the end {}", Grouped(books.after_the_end));
    if (!books.nic_known) {
        print(buffer, "; the NIC's counters went away with the interface\n");
        return;
    }
    print(buffer, "; NIC received {}", Grouped(books.nic_received));
    if (books.nic_leaves_out_dropped)
        print(buffer, " (this driver leaves out what a program dropped: compared with passed)");
    print(buffer, "; left over {} (", Grouped(books.left_over));
    if (!port.is_attached()) {
        print(buffer, "with what came after the program was taken off");
    } else if (books.in_flight != 0) {
        print(buffer, "up to {} can have been in flight between the two readings", Grouped(books.in_flight));
    } else {
        print(buffer, "nothing was in flight");
    }
    print(buffer, "{})\n",
          books.settled  ? ""
          : books.so_far ? "; test frames came between them"
                         : "; the traffic had not settled");
}

void print_rate_headings(Buffer& buffer) {
    for (const RateField& field : rate_fields) {
        print(buffer, "{:>{}}", field.heading, column_width(field.heading));
        if (field.value == &Rates::l1_bps)
            print(buffer, "{:>8}", "line %");
    }
}

void print_rate_columns(Buffer& buffer, const Rates& rates, std::uint64_t speed_bps) {
    for (const RateField& field : rate_fields) {
        print(buffer, "{:>{}}", Grouped(rates.*field.value * field.scale, field.precision),
              column_width(field.heading));
        if (field.value != &Rates::l1_bps)
            continue;
        const double percent = line_rate_percent(rates, speed_bps);
        if (percent < 0)
            print(buffer, "{:>8}", "-");
        else
            print(buffer, "{:>8}", Grouped(percent, 1));
    }
}

} // namespace responder
