// SPDX-License-Identifier: GPL-2.0-only
//
// Runs the benchmarks: tables on stdout, and with --json FILE all of them in one document.

#include "loader/command.h"
#include "loader/error.h"
#include "loader/json.h"
#include "tests/bench/benchmarks.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace responder::bench {
namespace {

struct Benchmark {
    std::string_view key;
    Table (*measure)(const Settings&);
};
constexpr Benchmark benchmarks[] = {
    {"frame_cost", frame_cost},     {"stream_cost", stream_cost},     {"reflect_cost", reflect_cost},
    {"reflect_rate", reflect_rate}, {"reflect_delay", reflect_delay}, {"lab_rate", lab_rate},
    {"line_rate", line_rate},       {"socket_rate", socket_rate},     {"capture_rate", capture_rate},
    {"process_cost", process_cost},
};

void write_document(const std::string& path, const std::vector<std::string>& argv, const std::vector<Table>& tables) {
    char time[32];
    JsonWriter json;
    json.begin_object();
    json.member("schema", "xdp-responder.bench/1");
    json.begin_array("argv");
    for (const std::string& argument : argv)
        json.value(argument);
    json.end_array();
    json.member("time", rfc3339(std::chrono::system_clock::now(), time));
    json.member("kernel", kernel_description());
    json.member("cpus", sysconf(_SC_NPROCESSORS_ONLN));
    json.begin_array("tables");
    for (const Table& table : tables)
        write(json, table);
    json.end_array();
    json.end_object();

    std::ofstream file(path);
    file << json.text() << '\n';
    if (!file.flush())
        throw Error(ExitCode::io, path, "cannot be written");
}

ExitCode run(int argc, char** argv) {
    CLI::App app("Benchmarks of xdp-responder. Figures are of this machine; what travels is their relation.", "bench");
    std::string json_file;
    std::vector<std::string> only;
    Settings settings;
    bool strict = false;
    app.add_option("--json", json_file, "also write all tables to a file")->type_name("FILE");
    std::string names;
    for (const Benchmark& each : benchmarks)
        names += " " + std::string(each.key);
    app.add_option("--only", only, "these only, of:" + names)->type_name("NAME")->check([](const std::string& name) {
        return std::ranges::any_of(benchmarks, [&](const Benchmark& each) { return each.key == name; })
                   ? ""
                   : "no such benchmark";
    });
    app.add_option("--rounds", settings.rounds, "rounds of frame_cost, stream_cost and reflect_cost")
        ->check(CLI::Range(1u, 10'000u));
    app.add_flag("--strict", strict, "exit with 1 if a figure misses what is demanded");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ExitCode::ok : ExitCode::usage;
    }

    std::vector<Table> tables;
    unsigned missed = 0;
    for (const Benchmark& each : benchmarks) {
        if (!only.empty() && std::ranges::find(only, each.key) == only.end())
            continue;
        tables.push_back(each.measure(settings));
        print(stdout, tables.back());
        std::fflush(stdout);
        missed += misses(tables.back());
    }
    if (!json_file.empty())
        write_document(json_file, std::vector<std::string>(argv, argv + argc), tables);
    return strict && missed != 0 ? ExitCode::verdict_fail : ExitCode::ok;
}

} // namespace
} // namespace responder::bench

int main(int argc, char** argv) {
    return responder::run_command("bench", [&] { return responder::bench::run(argc, argv); });
}
