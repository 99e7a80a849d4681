// SPDX-License-Identifier: GPL-2.0-only
//
// Folder owns a new folder for temporary files, which goes with everything in it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace responder::test {

class Folder {
  public:
    // `octets`: it is a file system of its own, with so much room. Throws std::runtime_error.
    explicit Folder(std::uint64_t octets = 0);
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    const std::filesystem::path& path() const noexcept { return path_; }
    std::string operator/(const std::string& name) const { return path_ / name; }
    std::vector<std::string> files() const; // their names, sorted

  private:
    std::filesystem::path path_;
    bool is_mounted_;
};

} // namespace responder::test
