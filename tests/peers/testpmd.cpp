// SPDX-License-Identifier: GPL-2.0-only

#include "tests/peers/testpmd.h"

#include <unistd.h>

#include <csignal>

namespace responder::test {

bool Testpmd::is_there() { return access(TEST_TESTPMD, X_OK) == 0; }

Testpmd::Testpmd(const Namespace& where, const std::string& interface, const std::string& forwarding)
    : process_(
          {
              TEST_TESTPMD,
              "--no-shconf",
              "--no-huge",
              "-m",
              "64",
              "--no-pci",
              "--no-telemetry",
              "-l",
              "0,1",
              "--vdev=net_af_xdp0,iface=" + interface,
              "--",
              "--forward-mode=" + forwarding,
              "--port-topology=loop",
              "--auto-start",
              "--stats-period=3600", // otherwise it ends with its standard input
              "--total-num-mbufs=10240",
          },
          {.network_namespace = where.fd()}) {}

bool Testpmd::wait_ready(PacketSocket& tester, const Octets& frame) {
    const bool answered = eventually([&] {
        tester.send(frame);
        return !process_.running() || !tester.receive(50ms).empty();
    });
    tester.receive_all();
    return answered && process_.running();
}

void Testpmd::end() {
    process_.signal(SIGINT);
    process_.wait();
}

} // namespace responder::test
