// SPDX-License-Identifier: GPL-2.0-only
//
// Two network namespaces joined by veth pairs:
//
//     tester                                  responder
//     tx1 02:00:00:00:00:02  --- veth ---  eth1 02:00:00:00:00:01   <- the ports under test
//     tx2 02:00:00:00:01:02  --- veth ---  eth2 02:00:00:00:01:01
//
// The namespaces have no names: they live as long as the test holds them open or a child runs in them. So tests run
// side by side, and of a test that is killed nothing is left. The tester's ports run a program that passes everything,
// without which native XDP_TX would not leave the far end of a veth.
//
// With Options::middle each pair of ports is joined through a third namespace, which forwards nothing by itself:
//
//     tester             middle                    responder
//     tx1  --- veth ---  in1   out1  --- veth ---  eth1
//
// The first pair has the MAC addresses that packet.h fills in. (tools/lab, for people, numbers its two the other way.)
//
// Without Options::ipv6 the kernel sends nothing of its own accord, so that every frame a port sees is the test's.

#pragma once

#include "loader/fd.h"
#include "loader/mac_address.h"
#include "tests/harness/octets.h"
#include "tests/harness/process.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder::test {

class Namespace {
  public:
    Namespace(); // new and empty; lo is up

    int fd() const noexcept { return fd_.get(); }

    // Runs a function with the calling thread in this namespace: sockets that it opens belong to it for good.
    template <class Function>
    auto in(Function function) const {
        const Entered entered(fd());
        return function();
    }

    std::string run(std::vector<std::string> argv) const;                 // as run() in process.h
    void ip(const std::string& lines) const;                              // `ip -batch`
    void sysctl(const std::string& path, const std::string& value) const; // below /proc/sys/net
    std::string name() const;                                             // to name it to `ip link ... netns`

  private:
    class Entered {
      public:
        explicit Entered(int fd);
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;
        ~Entered();

      private:
        UniqueFd before_;
    };
    UniqueFd fd_;
};

// XDP programs on an interface: their ids, 0 where there is none or no such interface.
struct XdpPrograms {
    std::uint32_t native = 0, generic = 0;
    bool none() const noexcept { return native == 0 && generic == 0; }
};
XdpPrograms xdp_programs(const Namespace& where, const std::string& interface);

// build/bpf/pass.bpf.o on an interface: held by a bpf_link for as long as the object lives, or attached through
// netlink, as `ip link set ... xdp` does it, for as long as the interface lives. Throws std::runtime_error.
class PassProgram {
  public:
    enum class Mode { native, generic };
    enum class Hold { link, netlink };
    PassProgram(const Namespace& where, const std::string& interface, Mode mode = Mode::native, bool frags = false,
                Hold hold = Hold::link);
    PassProgram(PassProgram&&) noexcept;
    PassProgram& operator=(PassProgram&&) = delete;
    ~PassProgram();
    std::uint32_t id() const noexcept { return id_; }

  private:
    struct Object;
    std::unique_ptr<Object> object_;
    UniqueFd link_;
    std::uint32_t id_ = 0;
};

struct Port {
    std::string name;
    MacAddress mac;
};

class Lab {
  public:
    struct Options {
        unsigned pairs = 1;
        unsigned mtu = 1500;
        unsigned queues = 1;
        bool addresses = false; // 192.0.2.1/24 and 192.0.2.2/24 on the first pair
        bool ipv6 = false;      // also 2001:db8::1/64 and 2001:db8::2/64
        bool pass = true;       // the program on the tester's ports
        bool middle = false;
    };
    Lab() : Lab(Options{}) {}
    explicit Lab(const Options& options);

    Namespace tester, responder;
    std::optional<Namespace> middle;
    std::vector<Port> tester_ports, responder_ports;

    // Of the first pair.
    const Port& from() const { return tester_ports.front(); }
    const Port& to() const { return responder_ports.front(); }

  private:
    std::vector<PassProgram> pass_programs_;
};

// Raw frames out of and into an interface. What arrives is kept by the kernel from the construction on.
class PacketSocket {
  public:
    PacketSocket(const Namespace& where, const std::string& interface);

    // `times` frames, slowly enough for a veth's ring, in this order with all that was sent before. Throws
    // std::runtime_error.
    void send(const Octets& frame, unsigned times = 1);

    // The next frame that came in (not one that went out); empty after the timeout.
    Octets receive(std::chrono::milliseconds timeout = 2s);
    // All frames that come in until none has come for a while.
    std::vector<Octets> receive_all(std::chrono::milliseconds silence = 200ms);

    // Frames that came in and found no room. Counts from 0 again each time that it is asked.
    std::uint64_t overflowed();

  private:
    unsigned cpu_; // from which all is sent
    UniqueFd socket_;
    Octets room_ = Octets(65536); // for the frame that is being received
};

} // namespace responder::test
