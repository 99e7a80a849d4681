// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-sink: receives test traffic by XDP and says what arrived.

#include "loader/command.h"
#include "loader/libbpf_log.h"
#include "loader/sink/options.h"
#include "loader/sink/session.h"

int main(int argc, char** argv) {
    using namespace responder;
    return run_command("xdp-sink", [&] {
        const auto options = parse_sink_options(argc, argv);
        if (!options)
            return ExitCode::ok;
        capture_libbpf_log(options->verbose);
        return SinkSession(*options).run();
    });
}
