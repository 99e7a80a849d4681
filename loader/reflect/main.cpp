// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect: sends test frames back by XDP, and answers measurement protocols.

#include "loader/command.h"
#include "loader/libbpf_log.h"
#include "loader/reflect/options.h"
#include "loader/reflect/session.h"

int main(int argc, char** argv) {
    using namespace responder;
    return run_command("xdp-reflect", [&] {
        const auto options = parse_reflect_options(argc, argv);
        if (!options)
            return ExitCode::ok;
        if (options->show) {
            show_reflector(*options);
            return ExitCode::ok;
        }
        capture_libbpf_log(options->verbose);
        return ReflectSession(*options).run();
    });
}
