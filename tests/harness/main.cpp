// SPDX-License-Identifier: GPL-2.0-only
//
// The main of every test program: GoogleTest's, and a line for each test that was skipped, with its reason.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

class SkipPrinter : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.skipped())
            reason_ = result.message();
    }
    void OnTestEnd(const testing::TestInfo& test) override {
        if (test.result()->Skipped())
            std::printf("SKIP: %s.%s: %s\n", test.test_suite_name(), test.name(), reason_.c_str());
        reason_.clear();
    }
    std::string reason_;
};

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new SkipPrinter); // GoogleTest owns it
    return RUN_ALL_TESTS();
}
