// SPDX-License-Identifier: GPL-2.0-only

#include "loader/ethtool.h"

#include "loader/fd.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace responder::ethtool {

namespace {

// The kernel keeps bit numbers, ethtool the speeds behind them. Only the fastest counts, so one mode of a speed is
// enough; all media of a speed are listed, since a port supports only its own.
struct ModeSpeed {
    unsigned bit;
    unsigned mbps;
};
constexpr ModeSpeed mode_speeds[] = {
    {ETHTOOL_LINK_MODE_10baseT_Half_BIT, 10},           {ETHTOOL_LINK_MODE_10baseT_Full_BIT, 10},
    {ETHTOOL_LINK_MODE_100baseT_Half_BIT, 100},         {ETHTOOL_LINK_MODE_100baseT_Full_BIT, 100},
    {ETHTOOL_LINK_MODE_100baseT1_Full_BIT, 100},        {ETHTOOL_LINK_MODE_1000baseT_Half_BIT, 1000},
    {ETHTOOL_LINK_MODE_1000baseT_Full_BIT, 1000},       {ETHTOOL_LINK_MODE_1000baseX_Full_BIT, 1000},
    {ETHTOOL_LINK_MODE_1000baseKX_Full_BIT, 1000},      {ETHTOOL_LINK_MODE_2500baseX_Full_BIT, 2500},
    {ETHTOOL_LINK_MODE_2500baseT_Full_BIT, 2500},       {ETHTOOL_LINK_MODE_5000baseT_Full_BIT, 5000},
    {ETHTOOL_LINK_MODE_10000baseT_Full_BIT, 10000},     {ETHTOOL_LINK_MODE_10000baseCR_Full_BIT, 10000},
    {ETHTOOL_LINK_MODE_10000baseSR_Full_BIT, 10000},    {ETHTOOL_LINK_MODE_10000baseLR_Full_BIT, 10000},
    {ETHTOOL_LINK_MODE_25000baseCR_Full_BIT, 25000},    {ETHTOOL_LINK_MODE_25000baseSR_Full_BIT, 25000},
    {ETHTOOL_LINK_MODE_40000baseCR4_Full_BIT, 40000},   {ETHTOOL_LINK_MODE_40000baseSR4_Full_BIT, 40000},
    {ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT, 100000}, {ETHTOOL_LINK_MODE_100000baseSR4_Full_BIT, 100000},
};

bool call(int ifindex, void* command) {
    UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    if (!socket || if_indextoname(static_cast<unsigned>(ifindex), request.ifr_name) == nullptr)
        return false;
    request.ifr_data = static_cast<char*>(command);
    return ioctl(socket.get(), SIOCETHTOOL, &request) == 0;
}

// An ethtool command whose answer is as long as the driver says: header, then `count` items.
template <class Header>
class Sized {
  public:
    Sized(std::size_t item_size, std::size_t count) : bytes_(sizeof(Header) + item_size * count) {}
    Header* operator->() { return reinterpret_cast<Header*>(bytes_.data()); }
    void* get() { return bytes_.data(); }
    template <class Item>
    Item* items() {
        return reinterpret_cast<Item*>(bytes_.data() + sizeof(Header));
    }

  private:
    std::vector<std::byte> bytes_;
};

// Older kernels fill in as many items as the driver has by now, not as many as were asked for: room for a driver that
// has been given more queues in between.
constexpr std::size_t with_slack(std::size_t count) { return 2 * count + 64; }

std::vector<std::string> string_set(int ifindex, ethtool_stringset set) {
    Sized<ethtool_sset_info> info(sizeof(std::uint32_t), 1);
    info->cmd = ETHTOOL_GSSET_INFO;
    info->sset_mask = std::uint64_t{1} << set;
    if (!call(ifindex, info.get()) || info->sset_mask == 0)
        return {};
    const std::uint32_t count = *info.items<std::uint32_t>();
    Sized<ethtool_gstrings> strings(ETH_GSTRING_LEN, with_slack(count));
    strings->cmd = ETHTOOL_GSTRINGS;
    strings->string_set = set;
    strings->len = count;
    if (!call(ifindex, strings.get()))
        return {};
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < std::min(strings->len, count); ++i) {
        const char* name = strings.items<char>() + std::size_t{i} * ETH_GSTRING_LEN;
        names.emplace_back(name, strnlen(name, ETH_GSTRING_LEN));
    }
    return names;
}

} // namespace

DriverInfo driver_info(int ifindex) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (!call(ifindex, &info))
        return {};
    return {.driver = info.driver, .firmware = info.fw_version};
}

LinkSettings link_settings(int ifindex) {
    // The driver says in link_mode_masks_nwords, negated, how many words it needs; the second call gets them.
    constexpr std::size_t most_words = 127;
    Sized<ethtool_link_settings> settings(sizeof(std::uint32_t), 3 * most_words);
    settings->cmd = ETHTOOL_GLINKSETTINGS;
    if (!call(ifindex, settings.get()) || settings->link_mode_masks_nwords >= 0)
        return {};
    settings->link_mode_masks_nwords = static_cast<std::int8_t>(-settings->link_mode_masks_nwords);
    settings->cmd = ETHTOOL_GLINKSETTINGS;
    if (!call(ifindex, settings.get()))
        return {};

    LinkSettings result;
    if (settings->speed != 0 && settings->speed != static_cast<std::uint32_t>(SPEED_UNKNOWN))
        result.speed_bps = std::uint64_t{settings->speed} * 1'000'000;
    result.half_duplex = settings->duplex == DUPLEX_HALF;
    const auto* supported = settings.items<std::uint32_t>(); // the first of three masks
    const unsigned words = static_cast<unsigned>(settings->link_mode_masks_nwords);
    for (const auto& [bit, mbps] : mode_speeds) {
        if (bit / 32 < words && (supported[bit / 32] >> (bit % 32) & 1) != 0)
            result.max_speed_bps = std::max(result.max_speed_bps, std::uint64_t{mbps} * 1'000'000);
    }
    return result;
}

unsigned receive_ring_size(int ifindex) {
    ethtool_ringparam rings{};
    rings.cmd = ETHTOOL_GRINGPARAM;
    return call(ifindex, &rings) ? rings.rx_pending : 0;
}

std::optional<unsigned> receive_queues(int ifindex) {
    ethtool_channels channels{};
    channels.cmd = ETHTOOL_GCHANNELS;
    if (!call(ifindex, &channels))
        return std::nullopt;
    return std::max(channels.rx_count + channels.combined_count, 1U);
}

std::vector<std::pair<std::string, std::uint64_t>> statistics(int ifindex) {
    std::vector<std::string> names = string_set(ifindex, ETH_SS_STATS);
    Sized<ethtool_stats> stats(sizeof(std::uint64_t), with_slack(names.size()));
    stats->cmd = ETHTOOL_GSTATS;
    stats->n_stats = static_cast<std::uint32_t>(names.size());
    if (names.empty() || !call(ifindex, stats.get()))
        return {};
    std::vector<std::pair<std::string, std::uint64_t>> result;
    for (std::size_t i = 0; i < names.size() && i < stats->n_stats; ++i)
        result.emplace_back(std::move(names[i]), stats.items<std::uint64_t>()[i]);
    return result;
}

std::vector<Feature> features(int ifindex) {
    std::vector<std::string> names = string_set(ifindex, ETH_SS_FEATURES);
    const std::size_t blocks = (names.size() + 31) / 32;
    Sized<ethtool_gfeatures> got(sizeof(ethtool_get_features_block), blocks);
    got->cmd = ETHTOOL_GFEATURES;
    got->size = static_cast<std::uint32_t>(blocks);
    if (names.empty() || !call(ifindex, got.get()))
        return {};
    std::vector<Feature> result;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& block = got.items<ethtool_get_features_block>()[i / 32];
        const std::uint32_t bit = std::uint32_t{1} << (i % 32);
        result.push_back({.name = std::move(names[i]),
                          .active = (block.active & bit) != 0,
                          .changeable = (block.available & bit) != 0 && (block.never_changed & bit) == 0});
    }
    return result;
}

bool set_feature(int ifindex, const std::string& name, bool on) {
    const std::vector<std::string> names = string_set(ifindex, ETH_SS_FEATURES);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        return false;
    const auto i = static_cast<std::size_t>(found - names.begin());
    const std::size_t blocks = (names.size() + 31) / 32;
    Sized<ethtool_sfeatures> set(sizeof(ethtool_set_features_block), blocks);
    set->cmd = ETHTOOL_SFEATURES;
    set->size = static_cast<std::uint32_t>(blocks);
    auto& block = set.items<ethtool_set_features_block>()[i / 32];
    block.valid = std::uint32_t{1} << (i % 32);
    block.requested = on ? block.valid : 0;
    if (!call(ifindex, set.get()))
        return false;
    for (const Feature& feature : features(ifindex)) {
        if (feature.name == name)
            return feature.active == on;
    }
    return false;
}

} // namespace responder::ethtool
