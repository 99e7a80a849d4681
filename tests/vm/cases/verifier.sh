# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1
# program: sink_tests reflect_tests generate_tests
# timeout: 300
#
# The tests of tests/bpf on the oldest kernel that is served: its verifier takes the programs with every match, and
# its BPF_PROG_TEST_RUN says the same of each frame. Without the tests that run for minutes under TCG.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

for program in sink_tests reflect_tests generate_tests; do
    SECONDS=0
    "$program" --gtest_brief=1 --gtest_filter='-*Random*:*EveryLength*:*EverySum*:*EveryTruncation*' | tee result
    echo "$program: $SECONDS s"
    expect "skipped in $program" 0 "$(grep -c '^SKIP' result || true)"
    expect "passed in $program, some" yes "$(grep -Eq '^\[  PASSED  \] [1-9]' result && echo yes)"
done
