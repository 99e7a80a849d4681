// SPDX-License-Identifier: GPL-2.0-only

#include "loader/stamp/key.h"

#include "loader/error.h"
#include "loader/fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gcrypt.h>
#include <sys/stat.h>

#include <cerrno>

namespace responder {

namespace {

constexpr std::size_t longest_key = 1024; // octets; what is longer is some other file

void check(gcry_error_t error, const char* what) {
    if (error != 0)
        throw Error(ExitCode::internal, what, gcry_strerror(error));
}

// Once a process, before anything else of it. A key of a measurement needs no locked memory, which is scarce.
void begin_libgcrypt() {
    static const bool begun = [] {
        if (gcry_check_version(nullptr) == nullptr)
            throw Error(ExitCode::internal, "libgcrypt", "it does not start");
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        return true;
    }();
    static_cast<void>(begun);
}

} // namespace

std::vector<std::uint8_t> read_stamp_key(const std::string& file) {
    const std::string what = "--stamp-key " + file;
    const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a pipe would wait
    struct stat state {};
    if (!fd || fstat(fd.get(), &state) != 0)
        throw Error::from_errno(ExitCode::usage, what, errno);
    if (!S_ISREG(state.st_mode))
        throw Error(ExitCode::usage, what, "not a file");
    if ((state.st_mode & (S_IROTH | S_IWOTH)) != 0)
        throw Error(ExitCode::usage, what, "every user of this machine may read or write this file", "chmod 600 it");
    std::vector<std::uint8_t> octets(longest_key + 2);
    std::size_t length = 0;
    ssize_t got = 0;
    while (length < octets.size() && (got = read(fd.get(), octets.data() + length, octets.size() - length)) > 0)
        length += static_cast<std::size_t>(got);
    if (got < 0)
        throw Error::from_errno(ExitCode::usage, what, errno);
    if (length != 0 && octets[length - 1] == '\n')
        --length;
    if (length == 0)
        throw Error(ExitCode::usage, what, "there is no key in this file");
    if (length > longest_key)
        throw Error(ExitCode::usage, what, fmt::format("longer than {} octets: this is no key", longest_key));
    octets.resize(length);
    return octets;
}

StampKey::StampKey(std::span<const std::uint8_t> octets) {
    begin_libgcrypt();
    gcry_mac_hd_t handle = nullptr;
    check(gcry_mac_open(&handle, GCRY_MAC_HMAC_SHA256, 0, nullptr), "HMAC-SHA-256");
    handle_.reset(handle);
    check(gcry_mac_setkey(handle, octets.data(), octets.size()), "the key of HMAC-SHA-256");
}

void StampKey::Close::operator()(gcry_mac_handle* handle) const noexcept { gcry_mac_close(handle); }

StampMac StampKey::mac(std::initializer_list<std::span<const std::uint8_t>> parts) noexcept {
    StampMac mac{};
    std::size_t length = mac.size();
    gcry_mac_reset(handle_.get()); // the key stays
    for (const std::span<const std::uint8_t> part : parts)
        gcry_mac_write(handle_.get(), part.data(), part.size());
    gcry_mac_read(handle_.get(), mac.data(), &length);
    return mac;
}

bool StampKey::holds(std::span<const std::uint8_t> mac,
                     std::initializer_list<std::span<const std::uint8_t>> parts) noexcept {
    gcry_mac_reset(handle_.get());
    for (const std::span<const std::uint8_t> part : parts)
        gcry_mac_write(handle_.get(), part.data(), part.size());
    return gcry_mac_verify(handle_.get(), mac.data(), mac.size()) == 0; // takes as long for each wrong one
}

} // namespace responder
