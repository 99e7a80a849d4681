// SPDX-License-Identifier: GPL-2.0-only
//
// The key that both ends of authenticated STAMP share (RFC 8762 section 4.4): HMAC-SHA-256, of which 128 bits are sent.

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct gcry_mac_handle;

namespace responder {

using StampMac = std::array<std::uint8_t, 16>;

// The octets of a file, without a newline at the end. Throws Error(usage): nothing is in it, or everybody may read it.
std::vector<std::uint8_t> read_stamp_key(const std::string& file);

// For one thread at a time.
class StampKey {
  public:
    explicit StampKey(std::span<const std::uint8_t> octets); // throws Error

    // Of the parts, one behind the other.
    StampMac mac(std::initializer_list<std::span<const std::uint8_t>> parts) noexcept;
    bool holds(std::span<const std::uint8_t> mac, std::initializer_list<std::span<const std::uint8_t>> parts) noexcept;

  private:
    struct Close {
        void operator()(gcry_mac_handle* handle) const noexcept;
    };
    std::unique_ptr<gcry_mac_handle, Close> handle_;
};

} // namespace responder
