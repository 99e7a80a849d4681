// SPDX-License-Identifier: GPL-2.0-only

#include "loader/libbpf_log.h"

#include "loader/fd.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

namespace responder {

namespace {

bool verbose_log = false;
std::string kernel_message;

// libbpf has no other way to hand out the kernel's extended acknowledgement than this line of its log.
constexpr std::string_view kernel_message_mark = "Kernel error message: ";

int keep(const char* format, va_list arguments) {
    char line[1024];
    va_list copy;
    va_copy(copy, arguments);
    std::vsnprintf(line, sizeof(line), format, copy);
    va_end(copy);

    const std::string_view text(line);
    if (const auto at = text.find(kernel_message_mark); at != text.npos) {
        kernel_message = text.substr(at + kernel_message_mark.size());
        while (!kernel_message.empty() && kernel_message.back() == '\n')
            kernel_message.pop_back();
    }
    // A verifier log is one line of the library's and many of its own: printed whole, not cut to `line`.
    return verbose_log ? std::vfprintf(stderr, format, arguments) : 0;
}

int keep_libbpf(libbpf_print_level, const char* format, va_list arguments) { return keep(format, arguments); }
int keep_libxdp(libxdp_print_level, const char* format, va_list arguments) { return keep(format, arguments); }

// Of the few descriptors that loading takes for a moment, are there still so many?
bool descriptors_are_left() {
    std::array<UniqueFd, 16> spare;
    return std::ranges::all_of(spare, [](UniqueFd& each) {
        each = UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
        return each || errno != EMFILE;
    });
}

} // namespace

void capture_libbpf_log(bool verbose) {
    verbose_log = verbose;
    libbpf_set_print(keep_libbpf);
    libxdp_set_print(keep_libxdp);
}

std::string take_kernel_message() { return std::exchange(kernel_message, {}); }

Error load_error(int error) {
    error = error < 0 ? -error : error;
    const char* what = "load the XDP program";
    if (error == ENOSYS)
        return Error(ExitCode::os, what, "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
    if (error == ENOMEM)
        return Error::from_errno(ExitCode::os, what, error,
                                 "what it counts in must fit into memory: fewer --streams take less");
    if (error == EINVAL && libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, nullptr) == 0)
        return Error(ExitCode::os, what, "this kernel does not know XDP");
    // Without a descriptor for its probes libbpf takes the kernel for one without global variables, and the program
    // then refers to a map that was not made.
    if (error == EINVAL && !descriptors_are_left())
        error = EMFILE;
    if (error == EMFILE || error == ENFILE)
        return Error::from_errno(ExitCode::os, what, error,
                                 error == EMFILE ? "`ulimit -n` is the limit of this process" : "");
    if (error == EINVAL && libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_ktime_get_tai_ns, nullptr) == 0)
        return Error(ExitCode::os, what, "this kernel is older than Linux 6.1");
    constexpr const char* cpus = "/sys/devices/system/cpu/possible"; // libbpf reads them there
    if (error == ENOENT && access(cpus, R_OK) != 0)
        return Error::from_errno(ExitCode::os, std::string(what) + ": read " + cpus, error, "is /sys mounted?");
    // The verifier's ways to say no.
    const bool refused = error == EACCES || error == EINVAL || error == E2BIG || error == ENOSPC || error == EPERM;
    return Error(ExitCode::internal, what,
                 refused ? "the kernel's verifier refuses it (" + error_text(error) + ")" : error_text(error),
                 verbose_log ? "its log stands above" : "--verbose shows its log");
}

} // namespace responder
