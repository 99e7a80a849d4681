// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/options.h"

#include "loader/command_line.h"
#include "loader/error.h"
#include "loader/stamp/key.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace responder {

namespace {

// RFC 862, and the test frame of RFC 2544 appendix C.2.6.4.
constexpr UsualMatch echo_match{
    .port = 7,
    .benchmark_networks = false,
    .in_help = "7, --signature, and xdp-gen's own signature on any port below the one that it is sent from",
    .promiscuous = "--any-mac"};
constexpr std::uint16_t peer_port = 3842; // of testers that look for a peer of their maker
constexpr const char* usual_signatures[] = {"udp/3842@5:PROBEOT", "udp/3842@5:DATA:OT", "udp/3842@5:LATENCY"};
constexpr std::uint16_t stamp_port = 862;     // RFC 8762 section 4.1
constexpr std::chrono::hours usual_expire{1}; // where a loop cannot be told from a test

struct ReflectArguments {
    std::string swap = "auto", oam = "any", stamp_format = "ntp";
    std::vector<std::string> signatures, stamp_ports;
    std::optional<std::string> expire, loop_probe, max_fps, max_bps, mep, stamp_key;
    bool stateful = false, icmp = false;

    void add_to(CLI::App& app, ReflectOptions& options);
    void build(ReflectOptions& options) const;

  private:
    void build_signatures(ReflectOptions& options) const;
    void build_stamp(ReflectOptions& options) const;
    void build_oam(reflect_cfg& cfg) const;
    void build_caps(ReflectOptions& options) const;
    static void build_sources(ReflectOptions& options);
};

// "900M", in bits a second.
double parse_bits(std::string_view option, const std::string& text) {
    constexpr double lowest = 1e3, highest = 1e12;
    const auto number = split_number(text);
    const std::string_view unit = number ? number->second : "?";
    const double scale = unit.empty() ? 1 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0;
    if (scale == 0 || number->first * scale < lowest || number->first * scale > highest)
        refuse_value(option, text, "not a number from 1k to 1000G");
    return number->first * scale;
}

void ReflectArguments::add_to(CLI::App& app, ReflectOptions& options) {
    constexpr const char* what = "What is sent back";
    app.add_option(
           "--swap", swap,
           "which addresses change places: auto or port (down to the deepest that a frame has), mac, or ip (MAC and "
           "IP)")
        ->type_name("LAYER")
        ->group(what);
    add_list(app, "--signature", signatures,
             "also UDP to this port whose payload has these characters, or octets after 0x, at this place (those of "
             "testers that look for a peer on UDP 3842); none: nobody's but xdp-gen's",
             "udp/PORT@OFFSET:TEXT")
        ->group(what);
    add_list(app, "--tester", options.testers,
             "send back everything but link control, ARP, ND and DHCP from this MAC or IP address", "ADDRESS")
        ->group(what);
    add_list(app, "--allow", options.allowed,
             "answer these sources too, which are not on the port's own links; also where they send from a reflector's "
             "port",
             "PREFIX")
        ->group(what);
    app.add_option("--expire", expire,
                   "answer test traffic for this time only, then drop it (1h with --tester, --any-mac or --all; "
                   "otherwise never); 0: never")
        ->type_name("TIME")
        ->group(what);

    app.add_option(
           "--loop-probe", loop_probe,
           "when test traffic has come for this time without a pause, drop it for 10 ms: a loop ends by that, a "
           "tester loses frames")
        ->type_name("TIME")
        ->group(what);
    app.add_option("--max-fps", max_fps,
                   "answer no more frames a second than this; what is over it is dropped, which falsifies RFC 2544")
        ->type_name("FRAMES")
        ->group(what);
    app.add_option("--max-bps", max_bps, "the same in bits a second, L2 with FCS (900M)")
        ->type_name("BITS")
        ->group(what);

    constexpr const char* protocols = "Protocols";
    add_list(app, "--stamp", stamp_ports, "answer STAMP and TWAMP-Light on this UDP port (862); none: nowhere", "PORT")
        ->group(protocols);
    app.add_flag("--stamp-stateful", stateful, "number the replies of each session (RFC 8762 section 4.3)")
        ->group(protocols);
    app.add_option("--stamp-format", stamp_format, "of our time stamps: ntp, or ptp (RFC 8762 section 4.2.1)")
        ->type_name("FORMAT")
        ->group(protocols);
    app.add_option("--stamp-key", stamp_key,
                   "answer authenticated STAMP only, by the key in this file (RFC 8762 section 4.4)")
        ->type_name("FILE")
        ->group(protocols);
    app.add_option(
           "--oam", oam,
           "answer Ethernet OAM loopback, delay and synthetic loss (802.1ag, Y.1731) of any level, of one (0 to "
           "7), or none")
        ->type_name("LEVEL")
        ->group(protocols);
    app.add_option("--mep", mep, "our MEP id in synthetic loss replies (1)")->type_name("ID")->group(protocols);
    app.add_flag("--icmp", icmp, "answer ping, whatever the address")->group(protocols);
}

void ReflectArguments::build_signatures(ReflectOptions& options) const {
    reflect_cfg& cfg = options.program;
    std::vector<std::string> wanted = signatures;
    if (signatures.empty() && options.match.is_usual())
        wanted.assign(std::begin(usual_signatures), std::end(usual_signatures));
    if (signatures.size() == 1 && signatures.front() == "none")
        wanted.clear();
    for (const std::string& text : wanted) {
        if (cfg.signature_count == REFLECT_SIGNATURES)
            throw Error(ExitCode::usage, "--signature", fmt::format("more than {} values", int{REFLECT_SIGNATURES}));
        cfg.signature[cfg.signature_count++] = parse_signature(text);
        options.signatures.push_back(text);
    }
}

void ReflectArguments::build_stamp(ReflectOptions& options) const {
    reflect_cfg& cfg = options.program;
    if (stamp_format == "ptp")
        options.format = STAMP_PTP;
    else if (stamp_format != "ntp")
        refuse_value("--stamp-format", stamp_format, "not ntp or ptp");
    cfg.stamp_stateful = stateful;
    if (stamp_ports.empty())
        cfg.stamp_port[cfg.stamp_count++] = stamp_port;
    const bool nowhere = stamp_ports.size() == 1 && stamp_ports.front() == "none";
    if (stamp_key) {
        if (nowhere)
            throw Error(ExitCode::usage, "--stamp-key", "with --stamp none there is nothing to authenticate");
        options.stamp_key = read_stamp_key(*stamp_key);
        cfg.stamp_authenticated = 1;
    }
    if (nowhere)
        return;
    for (const std::string& text : stamp_ports) {
        if (cfg.stamp_count == REFLECT_STAMP_PORTS)
            throw Error(ExitCode::usage, "--stamp", fmt::format("more than {} values", int{REFLECT_STAMP_PORTS}));
        cfg.stamp_port[cfg.stamp_count++] = static_cast<__u16>(parse_count("--stamp", text, 1, 65535));
    }
}

void ReflectArguments::build_oam(reflect_cfg& cfg) const {
    cfg.oam = oam != "none";
    cfg.oam_level = OAM_ANY_LEVEL;
    if (oam.size() == 1 && oam[0] >= '0' && oam[0] <= '7')
        cfg.oam_level = static_cast<__u8>(oam[0] - '0');
    else if (oam != "any" && oam != "none")
        refuse_value("--oam", oam, "not a level from 0 to 7, any or none");
    cfg.oam_mep = static_cast<__u16>(mep ? parse_count("--mep", *mep, 1, 8191) : 1);
}

void ReflectArguments::build_sources(ReflectOptions& options) {
    reflect_cfg& cfg = options.program;
    for (const std::string& text : options.testers) {
        if (MacAddress::parse(text))
            append_source_mac("--tester", text, cfg.tester_mac, cfg.tester_mac_count);
        else
            append_prefix("--tester", text, cfg.tester4, cfg.tester4_count, cfg.tester6, cfg.tester6_count);
    }
    for (const std::string& text : options.allowed)
        append_prefix("--allow", text, cfg.allow4, cfg.allow4_count, cfg.allow6, cfg.allow6_count);
}

void ReflectArguments::build_caps(ReflectOptions& options) const {
    constexpr double ns = 1e9, octet = 8;
    if (max_fps) {
        options.program.frame_cost = static_cast<__u64>(
            ns * (1U << CAP_UNIT_BITS) / static_cast<double>(parse_count("--max-fps", *max_fps, 1, 100'000'000)));
        options.caps.push_back(*max_fps + " frames/s");
    }
    if (max_bps) {
        options.program.octet_cost =
            static_cast<__u64>(octet * ns * (1U << CAP_OCTET_BITS) / parse_bits("--max-bps", *max_bps));
        options.caps.push_back(*max_bps + " bit/s (L2)");
    }
}

// A frame from a port above it comes from no reflector.
std::uint16_t highest_reflector_port(const reflect_cfg& cfg, const match_cfg& match) {
    std::uint16_t highest = peer_port;
    for (unsigned i = 0; i < cfg.stamp_count; ++i)
        highest = std::max(highest, cfg.stamp_port[i]);
    for (unsigned i = 0; i < cfg.signature_count; ++i)
        highest = std::max(highest, cfg.signature[i].port);
    for (unsigned i = 0; i < match.port_count; ++i)
        highest = std::max(highest, match.port[i].last);
    return highest;
}

void ReflectArguments::build(ReflectOptions& options) const {
    reflect_cfg& cfg = options.program;
    constexpr std::pair<std::string_view, reflect_swap> layers[] = {
        {"auto", REFLECT_SWAP_AUTO}, {"mac", REFLECT_SWAP_MAC}, {"ip", REFLECT_SWAP_IP}, {"port", REFLECT_SWAP_AUTO}};
    const auto found = std::ranges::find(layers, swap, &std::pair<std::string_view, reflect_swap>::first);
    if (found == std::end(layers))
        refuse_value("--swap", swap, "not auto, mac, ip or port");
    cfg.swap = static_cast<__u8>(found->second);
    cfg.ours = options.match.is_usual();
    cfg.icmp = icmp;
    build_signatures(options);
    build_stamp(options);
    build_oam(cfg);
    build_sources(options);
    cfg.match = options.match.build({});
    cfg.highest_port = highest_reflector_port(cfg, cfg.match);
    build_caps(options);
    options.may_loop = !options.testers.empty() || options.match.promiscuous || options.match.all;
    if (expire && *expire != "0")
        options.expire = parse_duration("--expire", *expire);
    else if (!expire && options.may_loop)
        options.expire = usual_expire;
    if (loop_probe)
        options.loop_probe = parse_duration("--loop-probe", *loop_probe);
}

std::vector<std::uint8_t> parse_octets(const std::string& text, std::string_view octets) {
    if (!octets.starts_with("0x"))
        return {octets.begin(), octets.end()};
    std::vector<std::uint8_t> result;
    octets.remove_prefix(2);
    for (std::size_t i = 0; i < octets.size(); i += 2) {
        unsigned value = 0;
        const std::string_view pair = octets.substr(i, 2);
        const auto [end, error] = std::from_chars(pair.data(), pair.data() + pair.size(), value, 16);
        if (error != std::errc() || end != pair.data() + 2)
            refuse_value("--signature", text, "octets after 0x are two hexadecimal digits each");
        result.push_back(static_cast<std::uint8_t>(value));
    }
    return result;
}

// All others are of a run.
void refuse_beside_show(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = option->get_name();
        if (option->count() != 0 && name != "INTERFACE" && name != "--show" && name != "--json")
            throw Error(ExitCode::usage, "--show with " + name,
                        "it starts no run, and asks one that has its own options",
                        name == "--json-stream" ? "with --json it gives one JSON document"
                                                : "beside --show only --json and interfaces mean something");
    }
}

} // namespace

std::string describe_test_traffic(const ReflectOptions& options, const match_cfg& match) {
    std::vector<std::string> parts{describe(match)};
    if (options.program.ours)
        parts.emplace_back("xdp-gen's signature on any lower UDP port");
    if (!options.signatures.empty())
        parts.push_back(fmt::format("{}", fmt::join(options.signatures, ", ")));
    if (!options.testers.empty())
        parts.push_back(fmt::format("everything from {}", fmt::join(options.testers, ", ")));
    return fmt::format("{}", fmt::join(parts, "; "));
}

reflect_signature parse_signature(const std::string& text) {
    constexpr std::string_view form = "not udp/PORT@OFFSET:TEXT, like udp/3842@5:PROBEOT";
    constexpr std::string_view front = "udp/";
    const std::size_t at = text.find('@'), colon = text.find(':', at == text.npos ? 0 : at);
    if (!text.starts_with(front) || at == text.npos || colon == text.npos)
        refuse_value("--signature", text, std::string(form));
    reflect_signature signature{};
    signature.port =
        static_cast<__u16>(parse_count("--signature", text.substr(front.size(), at - front.size()), 1, 65535));
    signature.offset = static_cast<__u8>(parse_count("--signature", text.substr(at + 1, colon - at - 1), 0, 255));
    const std::vector<std::uint8_t> octets = parse_octets(text, std::string_view(text).substr(colon + 1));
    if (octets.empty() || octets.size() > REFLECT_SIGNATURE_OCTETS)
        refuse_value("--signature", text, fmt::format("not 1 to {} octets", int{REFLECT_SIGNATURE_OCTETS}));
    signature.length = static_cast<__u8>(octets.size());
    std::ranges::copy(octets, signature.octets);
    return signature;
}

std::optional<ReflectOptions> parse_reflect_options(int argc, const char* const* argv) {
    ReflectOptions options;
    options.argv.assign(argv, argv + argc);
    options.match.usual = echo_match;
    RunArguments run;
    ReflectArguments reflect;

    CLI::App app("Sends test frames back by XDP, and answers STAMP and Ethernet OAM, without the network stack. "
                 "Everything else on the port goes up the stack as before.\n",
                 "xdp-reflect");
    app.set_version_flag("--version", "xdp-reflect " RESPONDER_VERSION);
    run.add_to(app, options,
               "who sends test frames back: xdp (the program in the kernel) or af_xdp (sockets, and a thread for each "
               "queue); all else is answered by the program");
    reflect.add_to(app, options);
    app.add_flag("--show", options.show,
                 "start nothing: what the xdp-reflect that runs on this port has counted so far, with --json as JSON; "
                 "no other option beside it")
        ->group("The run");
    app.footer(
        "Exit codes: 0 done, 64 wrong option, 66 no such interface, 69 port taken by another program, 70 internal,\n"
        "71 kernel, 74 output, 75 no carrier, or interface or program gone, 77 no permission.\n"
        "man xdp-reflect has examples.");

    if (!parse_command_line(app, argc, argv))
        return std::nullopt;
    if (options.show)
        refuse_beside_show(app);
    run.build(options, Engine::xdp);
    reflect.build(options);
    return options;
}

} // namespace responder
