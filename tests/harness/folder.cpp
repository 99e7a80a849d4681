// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/folder.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace responder::test {

Folder::Folder(std::uint64_t octets) : is_mounted_(octets != 0) {
    std::string pattern = std::filesystem::temp_directory_path() / "xdp-responder-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
        throw std::runtime_error("mkdtemp");
    path_ = pattern;
    if (!is_mounted_)
        return;
    // In a mount namespace of this process, of which nothing is left when it ends.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", path_.c_str(), "tmpfs", 0, ("size=" + std::to_string(octets)).c_str()) != 0) {
        rmdir(path_.c_str());
        throw std::runtime_error("mount a tmpfs");
    }
}

Folder::~Folder() {
    if (is_mounted_)
        umount2(path_.c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

} // namespace responder::test
