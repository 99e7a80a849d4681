// SPDX-License-Identifier: GPL-2.0-only

#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace responder::test {

namespace {

std::uint64_t sum_of_values(const Json& object) {
    return std::accumulate(object.begin(), object.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Json& value) { return sum + value.get<std::uint64_t>(); });
}

std::uint64_t sum_of(const Json& array, const char* key) {
    return std::accumulate(array.begin(), array.end(), std::uint64_t{0}, [&](std::uint64_t sum, const Json& item) {
        return sum + item.at(key).get<std::uint64_t>();
    });
}

} // namespace

Sink::Sink(const Lab& lab, Arguments arguments, Options options) : interfaces_(std::move(options.interfaces)) {
    if (interfaces_.empty())
        interfaces_.push_back(lab.to().name);
    Arguments argv = std::move(options.prefix);
    argv.push_back(options.command);
    argv.insert(argv.end(), interfaces_.begin(), interfaces_.end());
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    if (options.json)
        argv.emplace_back("--json");
    options.process.network_namespace = (options.where != nullptr ? *options.where : lab.responder).fd();
    process_ = std::make_unique<Process>(std::move(argv), options.process);
    if (options.ready) {
        EXPECT_TRUE(wait_ready()) << process_->err();
    }
}

bool Sink::wait_ready() { return process_->wait_for_err(interfaces_.back() + ": type into the tester"); }

Json Sink::end(int signal, int code) {
    process_->signal(signal);
    return wait(code);
}

Json Sink::wait(int code, std::chrono::milliseconds timeout) {
    EXPECT_EQ(process_->wait(timeout).code, code) << process_->err();
    EXPECT_FALSE(contains(process_->err(), "in two places at once")) << process_->err();
    Json summary = Json::parse(process_->out(), nullptr, false);
    if (summary.is_discarded())
        throw std::runtime_error("its stdout is no JSON document: " + process_->out());
    EXPECT_EQ(summary.at("exit_code"), code);
    for (const Json& port : summary.at("ports"))
        expect_balanced(port);
    return summary;
}

const Json& streams_of(const Json& summary) { return summary.at("ports").at(0).at("streams").at("list"); }
std::uint64_t test_frames(const Json& summary, std::size_t port) {
    return summary.at("ports").at(port).at("test").at("frames");
}
std::uint64_t answered(const Json& summary, const std::string& kind) {
    return summary.at("ports").at(0).at("answered").at(kind);
}
std::uint64_t passed(const Json& summary, const std::string& reason) {
    return summary.at("ports").at(0).at("passed").at(reason);
}

std::uint64_t refused(const Json& summary, const std::string& reason) {
    return summary.at("ports").at(0).at("refused").at(reason);
}

Reasons passed(const Json& summary, std::size_t port) {
    Reasons reasons;
    for (const auto& [reason, frames] : summary.at("ports").at(port).at("passed").items()) {
        if (frames != 0)
            reasons[reason] = frames;
    }
    return reasons;
}

std::map<std::string, std::uint64_t> sizes(const Json& summary, std::size_t port) {
    std::map<std::string, std::uint64_t> result;
    for (const Json& bin : summary.at("ports").at(port).at("test").at("sizes")) {
        if (bin.at("frames") != 0)
            result[bin.at("first").dump() + "-" + (bin.contains("last") ? bin.at("last").dump() : "")] =
                bin.at("frames");
    }
    return result;
}

void expect_balanced(const Json& port) {
    const std::uint64_t test = port.at("test").at("frames");
    const std::uint64_t passed_frames = sum_of_values(port.at("passed")),
                        answered_frames = sum_of_values(port.at("answered"));
    const std::uint64_t refused_frames = port.contains("refused") ? sum_of_values(port.at("refused")) : 0;
    const Json& balance = port.at("balance");
    EXPECT_EQ(sum_of(port.at("test").at("sizes"), "frames"), test);
    EXPECT_EQ(sum_of(port.at("by_queue"), "test_frames"), test);
    EXPECT_EQ(sum_of(port.at("by_queue"), "passed_frames"), passed_frames);
    EXPECT_EQ(sum_of(port.at("by_queue"), "answered_frames"), answered_frames);
    const std::uint64_t late = balance.at("after_the_end");
    EXPECT_EQ(balance.at("program_saw"), test + passed_frames + answered_frames + refused_frames + late);
    if (!balance.at("nic_known").get<bool>())
        return;
    if (balance.at("in_flight") == 0)
        EXPECT_EQ(balance.at("left_over"), 0) << port.dump();
    else
        EXPECT_LE(std::abs(balance.at("left_over").get<std::int64_t>()), balance.at("in_flight").get<std::int64_t>())
            << port.dump();
}

Json summary_of_stream(const std::string& out) {
    const Json last = Json::parse(out.substr(out.rfind('\n', out.size() - 2) + 1));
    EXPECT_EQ(last.at("event"), "summary");
    return last;
}

Json generate(const Lab& lab, Arguments arguments, std::size_t port) {
    Arguments argv{TEST_XDP_GEN, lab.tester_ports.at(port).name, "--json", "--quiet"};
    if (std::ranges::find(arguments, "--dst-mac") == arguments.end()) {
        argv.emplace_back("--dst-mac");
        argv.push_back(to_string(lab.responder_ports.at(port).mac));
    }
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    Process process(argv, {.network_namespace = lab.tester.fd()});
    EXPECT_EQ(process.wait(60s).code, 0) << process.err();
    Json generated = Json::parse(process.out(), nullptr, false);
    if (generated.is_discarded())
        throw std::runtime_error("xdp-gen's stdout is no JSON document: " + process.out());
    return generated;
}

std::uint64_t frames_sent(const Json& generated) { return generated.at("frames_sent"); }

namespace {
Arguments traffic_argv(const Lab& lab, const Arguments& arguments) {
    Arguments argv{TEST_XDP_GEN, lab.from().name, "--dst-mac", to_string(lab.to().mac), "--json"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
}
} // namespace

Traffic::Traffic(const Lab& lab, Arguments arguments)
    : process_(traffic_argv(lab, arguments), {.network_namespace = lab.tester.fd()}) {
    EXPECT_TRUE(process_.wait_for_err("sending frames"));
}

std::uint64_t Traffic::end() {
    process_.signal(SIGINT);
    EXPECT_EQ(process_.wait().code, 0);
    return frames_sent(Json::parse(process_.out()));
}

FrameSpec spec_of(const Lab& lab, const std::string& source, const std::string& destination) {
    FrameSpec spec;
    spec.source_mac = lab.from().mac;
    spec.destination_mac = lab.to().mac;
    spec.source = *IpAddress::parse(source);
    spec.destination = *IpAddress::parse(destination);
    return spec;
}

void expect_refused(const Lab& lab, Arguments arguments, int code, std::initializer_list<std::string> words,
                    Sink::Options options) {
    std::vector<XdpPrograms> before;
    for (const Port& port : lab.responder_ports)
        before.push_back(xdp_programs(lab.responder, port.name));
    options.ready = false;
    Sink sink(lab, std::move(arguments), std::move(options));
    EXPECT_EQ(sink.process().wait().code, code);
    EXPECT_EQ(sink.process().out(), "");
    const std::string err = sink.process().err();
    EXPECT_EQ(std::ranges::count(err, '\n'), 1) << "not one sentence: " << err;
    for (const std::string& word : words)
        EXPECT_TRUE(contains(err, word)) << "no \"" << word << "\" in: " << err;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const XdpPrograms now = xdp_programs(lab.responder, lab.responder_ports[i].name);
        EXPECT_EQ(now.native, before[i].native);
        EXPECT_EQ(now.generic, before[i].generic);
    }
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
        ++count;
    return count;
}

Json link_of(const Namespace& where, const std::string& interface) {
    return Json::parse(where.run({"ip", "-d", "-s", "-j", "link", "show", "dev", interface})).at(0);
}

std::uint64_t received(const Lab& lab) {
    return link_of(lab.responder, lab.to().name).at("stats64").at("rx").at("packets");
}

bool receives(const Lab& lab, std::uint64_t frames) {
    const std::uint64_t before = received(lab);
    return eventually([&] { return received(lab) >= before + frames; });
}

bool feature_on(const Namespace& where, const std::string& interface, const std::string& feature) {
    const std::string text = where.run({"ethtool", "-k", interface});
    const auto at = text.find(feature + ": ");
    return at != std::string::npos && text.substr(at + feature.size() + 2, 2) == "on";
}

} // namespace responder::test
