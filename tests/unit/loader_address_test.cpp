// SPDX-License-Identifier: GPL-2.0-only
//
// MacAddress, IpAddress and Prefix: what they read, what they refuse, what they say.

#include "loader/ip_address.h"
#include "loader/mac_address.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace responder::test {
namespace {

TEST(MacAddress, ReadsPairsBetweenColonsOrDashes) {
    const MacAddress expected{{0x02, 0x00, 0x5e, 0xab, 0xCD, 0xff}};
    for (const char* text : {"02:00:5e:ab:cd:ff", "02:00:5E:AB:CD:FF", "02-00-5e-ab-cd-ff"})
        EXPECT_EQ(MacAddress::parse(text), expected) << text;
    EXPECT_EQ(to_string(expected), "02:00:5e:ab:cd:ff");
    EXPECT_EQ(MacAddress::parse(to_string(expected)), expected);
}

TEST(MacAddress, RefusesAnythingElse) {
    for (const char* text : {"", "02", "02:00:00:00:00", "02:00:00:00:00:0", "02:00:00:00:00:011",
                             "02:00:00:00:00:01:02", "02.00.00.00.00.01", "0200:00:00:00:001", "g2:00:00:00:00:01",
                             "02:00:00:00:00:0g", " 2:00:00:00:00:01", "+2:00:00:00:00:01", "-2:00:00:00:00:01",
                             "0x:00:00:00:00:01", "02:00:00:00:00:01 ", "020000000001", "02::00:00:00:00:1"})
        EXPECT_EQ(MacAddress::parse(text), std::nullopt) << text;
}

TEST(MacAddress, KnowsGroupAddresses) {
    EXPECT_TRUE(MacAddress::parse("01:80:c2:00:00:00")->is_group());
    EXPECT_TRUE(MacAddress::parse("ff:ff:ff:ff:ff:ff")->is_group());
    EXPECT_FALSE(MacAddress::parse("02:00:00:00:00:01")->is_group());
}

TEST(IpAddress, ReadsBothFamiliesAndNothingElse) {
    EXPECT_FALSE(IpAddress::parse("198.18.0.1")->v6());
    EXPECT_TRUE(IpAddress::parse("2001:2::1")->v6());
    for (const char* text : {"", "198.18.0", "198.18.0.1/24", "2001:2::1%eth0", "example.org"})
        EXPECT_FALSE(IpAddress::parse(text)) << text;
}

TEST(IpAddress, KnowsItsKind) {
    for (const char* text : {"0.0.0.0", "::"})
        EXPECT_TRUE(IpAddress::parse(text)->is_unspecified()) << text;
    for (const char* text : {"224.0.0.0", "239.255.255.255", "ff02::1"})
        EXPECT_TRUE(IpAddress::parse(text)->is_multicast()) << text;
    EXPECT_TRUE(IpAddress::parse("255.255.255.255")->is_broadcast());
    for (const char* text :
         {"0.0.0.1", "198.18.0.1", "223.255.255.255", "240.0.0.1", "::1", "fe80::1", "e000::1", "ffff::1"}) {
        const IpAddress address = *IpAddress::parse(text);
        EXPECT_FALSE(address.is_unspecified() || address.is_broadcast()) << text;
        EXPECT_EQ(address.is_multicast(), std::string_view(text) == "ffff::1") << text;
    }
}

TEST(Prefix, KnowsTheFirstAndTheLastOfItsNetwork) {
    for (const char* text : {"198.18.0.0/24", "10.0.0.0/8", "10.0.0.4/30", "198.18.1.128/25", "2001:2::/64", "::4/126"})
        EXPECT_TRUE(Prefix::parse(text)->is_first() && !Prefix::parse(text)->is_last()) << text;
    for (const char* text : {"198.18.0.255/24", "10.255.255.255/8", "10.0.0.7/30", "198.18.1.127/25", "::7/126"})
        EXPECT_TRUE(Prefix::parse(text)->is_last() && !Prefix::parse(text)->is_first()) << text;
    for (const char* text : {"198.18.0.1/24", "10.0.0.4/31", "10.0.0.5/31", "10.0.0.0/32", "198.18.0.255/23",
                             "198.18.1.0/23", "2001:2::/127", "2001:2::1/127", "2001:2::/128", "2001:2::1/64"})
        EXPECT_FALSE(Prefix::parse(text)->is_last() || Prefix::parse(text)->is_first()) << text;
}

TEST(Prefix, ReadsBothFamiliesWithAndWithoutLength) {
    struct Row {
        const char* text;
        int family;
        unsigned length;
        const char* again;
    };
    for (const Row& row :
         {Row{"198.18.0.0/15", AF_INET, 15, "198.18.0.0/15"}, Row{"10.0.0.1", AF_INET, 32, "10.0.0.1/32"},
          Row{"0.0.0.0/0", AF_INET, 0, "0.0.0.0/0"}, Row{"198.18.1.2/24", AF_INET, 24, "198.18.1.2/24"},
          Row{"2001:2::/48", AF_INET6, 48, "2001:2::/48"}, Row{"2001:DB8::1", AF_INET6, 128, "2001:db8::1/128"},
          Row{"::/0", AF_INET6, 0, "::/0"}, Row{"::ffff:1.2.3.4/128", AF_INET6, 128, "::ffff:1.2.3.4/128"}}) {
        const auto prefix = Prefix::parse(row.text);
        ASSERT_TRUE(prefix) << row.text;
        EXPECT_EQ(prefix->family, row.family) << row.text;
        EXPECT_EQ(prefix->length, row.length) << row.text;
        EXPECT_EQ(prefix->text(), row.again) << row.text;
    }
    EXPECT_EQ(Prefix::parse("198.18.1.2/24")->address_text(), "198.18.1.2");
}

TEST(Prefix, RefusesAnythingElse) {
    for (const char* text : {"",
                             "/",
                             "/24",
                             "10.0.0",
                             "10.0.0.0.0",
                             "256.0.0.1",
                             "10.0.0.1/",
                             "10.0.0.1/33",
                             "10.0.0.1/-1",
                             "10.0.0.1/+1",
                             "10.0.0.1/ 8",
                             "10.0.0.1/8 ",
                             "10.0.0.1/8/8",
                             "10.0.0.1/0x8",
                             "10.0.0.1/4294967297",
                             "::1/129",
                             ":::",
                             "2001:2",
                             "2001:2::1%eth0",
                             "example.org",
                             "10.0.0.1 ",
                             " 10.0.0.1"})
        EXPECT_EQ(Prefix::parse(text), std::nullopt) << text;
}

TEST(Prefix, KnowsWhatAHostCanHave) {
    for (const char* text : {"198.18.1.2", "1.0.0.1", "223.255.255.254", "2001:2::2", "fe80::1", "198.18.1.2/1"})
        EXPECT_TRUE(Prefix::parse(text)->is_host()) << text;
    for (const char* text : {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::1",
                             "::ffff:198.18.1.2", "198.18.1.2/0", "2001:2::2/0"})
        EXPECT_FALSE(Prefix::parse(text)->is_host()) << text;
}

} // namespace
} // namespace responder::test
