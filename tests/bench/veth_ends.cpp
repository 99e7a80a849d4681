// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bench/veth_ends.h"

#include "floor.skel.h"
#include "loader/error.h"
#include "loader/netdev.h"
#include "loader/skeleton.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <csignal>
#include <utility>
#include <variant>

namespace responder::bench {

using namespace test;

void fail(const std::string& what, const std::string& why) { throw Error(ExitCode::internal, what, why); }

Json send(const Lab& lab, const std::vector<std::string>& options) {
    std::vector<std::string> argv{"taskset", "-c",     "0",         BENCH_XDP_GEN,          lab.from().name,
                                  "--quiet", "--json", "--dst-mac", to_string(lab.to().mac)};
    argv.insert(argv.end(), options.begin(), options.end());
    Process sender(argv, {.network_namespace = lab.tester.fd()});
    if (sender.wait(60s).code != 0)
        fail("xdp-gen", sender.err());
    return Json::parse(sender.out());
}

Attachment attach(const Namespace& where, const std::string& interface, BareProgram program) {
    return where.in([&] {
        Skeleton<floor_bpf> floor;
        floor.load();
        const bpf_program* const chosen =
            program == BareProgram::drop ? floor->progs.xdp_drop : floor->progs.xdp_swap_macs;
        auto outcome = Attachment::attach(Netdev::find(interface), bpf_program__fd(chosen), XdpMode::native);
        if (const auto* refused = std::get_if<AttachRefused>(&outcome))
            fail("attach a bare program", error_text(refused->error));
        return std::get<Attachment>(std::move(outcome));
    });
}

std::vector<std::string> off_the_senders_cpu(std::vector<std::string> argv) {
    argv.insert(argv.begin(), {"taskset", "-c", "1-255"});
    return argv;
}

FarEnd::FarEnd(const Lab& lab, std::vector<std::string> argv, std::string_view ready)
    : process_(argv, {.network_namespace = lab.responder.fd()}) {
    if (!process_.wait_for_err(ready))
        fail(fmt::format("{}", fmt::join(argv, " ")), process_.err());
}

std::string FarEnd::end() {
    if (process_.running())
        process_.signal(SIGINT);
    process_.wait();
    return process_.out();
}

} // namespace responder::bench
