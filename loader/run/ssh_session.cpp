// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/ssh_session.h"

#include "loader/ip_address.h"
#include "loader/netlink.h"

#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace responder {

namespace {

int parent_of(int pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    for (std::string word; status >> word;) {
        int parent = 0;
        if (word == "PPid:" && status >> parent)
            return parent;
    }
    return 0;
}

// "client-address client-port server-address server-port" (ssh(1)); empty where there is none.
std::string ssh_connection_of(int pid) {
    constexpr std::string_view key = "SSH_CONNECTION=";
    std::ifstream environment(fmt::format("/proc/{}/environ", pid));
    for (std::string variable; std::getline(environment, variable, '\0');) {
        if (variable.starts_with(key))
            return variable.substr(key.size());
    }
    return {};
}

} // namespace

std::set<int> interfaces_of_ssh_session() {
    std::string connection;
    for (int pid = getpid(); pid > 0 && connection.empty(); pid = parent_of(pid))
        connection = ssh_connection_of(pid);
    std::string client;
    std::istringstream(connection) >> client;
    std::set<int> interfaces;
    if (const auto percent = client.find('%'); percent != client.npos) {
        // A link-local address names its interface itself.
        if (const unsigned zone = if_nametoindex(client.c_str() + percent + 1); zone != 0)
            interfaces.insert(static_cast<int>(zone));
        client.erase(percent);
    }
    if (client.starts_with("::ffff:") && client.find('.') != client.npos)
        client.erase(0, 7); // an IPv4 client of a server that listens on IPv6
    const auto address = IpAddress::parse(client);
    if (!address)
        return {};

    NetlinkSocket netlink;
    if (const int leaves_by = interfaces.empty() ? netlink.route_interface(address->family, address->bytes.data()) : 0;
        leaves_by != 0)
        interfaces.insert(leaves_by);
    std::vector<LinkState> links;
    netlink.for_each_link([&](const LinkState& link) { links.push_back(link); });
    for (std::size_t before = 0; before != interfaces.size();) {
        before = interfaces.size();
        for (const LinkState& link : links) {
            if (interfaces.contains(link.master))
                interfaces.insert(link.index);
            if (interfaces.contains(link.index) && link.lower != 0)
                interfaces.insert(link.lower);
        }
    }
    return interfaces;
}

} // namespace responder
