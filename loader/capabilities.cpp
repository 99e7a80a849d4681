// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capabilities.h"

#include "loader/error.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace responder {

namespace {

std::uint64_t effective_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (syscall(SYS_capget, &header, data) != 0)
        return ~std::uint64_t{0}; // cannot tell: let the call that needs one say so
    return data[0].effective | std::uint64_t{data[1].effective} << 32;
}

bool has(std::uint64_t set, unsigned capability) { return (set >> capability & 1) != 0; }

// "CAP_BPF and CAP_NET_RAW are missing"; empty where nothing is.
std::string missing_capabilities(bool packet_sockets) {
    const std::uint64_t set = effective_capabilities();
    const bool admin = has(set, CAP_SYS_ADMIN);
    std::vector<const char*> missing;
    if (!admin && !has(set, CAP_BPF))
        missing.push_back("CAP_BPF");
    if (!has(set, CAP_NET_ADMIN))
        missing.push_back("CAP_NET_ADMIN");
    if (packet_sockets && !has(set, CAP_NET_RAW))
        missing.push_back("CAP_NET_RAW");
    if (!admin && !has(set, CAP_PERFMON))
        missing.push_back("CAP_PERFMON");

    std::string text;
    for (std::size_t i = 0; i < missing.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
    if (!missing.empty())
        text += missing.size() == 1 ? " is missing" : " are missing";
    return text;
}

} // namespace

void require_capabilities(bool packet_sockets) {
    if (std::string missing = missing_capabilities(packet_sockets); !missing.empty())
        throw Error(ExitCode::no_permission, "no permission", std::move(missing),
                    "run it as root, or give it these capabilities");
}

bool may_look_up_programs() { return has(effective_capabilities(), CAP_SYS_ADMIN); }

} // namespace responder
