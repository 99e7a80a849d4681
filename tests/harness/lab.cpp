// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/lab.h"

#include "tests/harness/one_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace responder::test {

namespace {

[[noreturn]] void fail(const std::string& what, int error = errno) {
    throw std::runtime_error(what + ": " + std::strerror(error));
}

UniqueFd this_threads_namespace() {
    UniqueFd fd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd)
        fail("open this thread's network namespace");
    return fd;
}

// The kernel takes the outermost VLAN tag out of a frame and hands it over beside it.
void put_back_tag(Octets& frame, msghdr& message) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
        tpacket_auxdata aux{};
        if (item->cmsg_level != SOL_PACKET || item->cmsg_type != PACKET_AUXDATA)
            continue;
        std::memcpy(&aux, CMSG_DATA(item), sizeof(aux));
        if ((aux.tp_status & TP_STATUS_VLAN_VALID) == 0)
            return;
        const std::uint16_t tag[] = {htons(aux.tp_vlan_tpid), htons(aux.tp_vlan_tci)};
        const auto* octets = reinterpret_cast<const std::uint8_t*>(tag);
        frame.insert(frame.begin() + 2 * ETH_ALEN, octets, octets + sizeof(tag));
        return;
    }
}

} // namespace

Namespace::Entered::Entered(int fd) : before_(this_threads_namespace()) {
    if (setns(fd, CLONE_NEWNET) != 0)
        fail("enter a network namespace");
}

Namespace::Entered::~Entered() {
    if (setns(before_.get(), CLONE_NEWNET) != 0)
        std::terminate(); // nothing that follows would happen where it should
}

Namespace::Namespace() {
    const UniqueFd before = this_threads_namespace();
    if (unshare(CLONE_NEWNET) != 0)
        fail("make a network namespace");
    fd_ = this_threads_namespace();
    if (setns(before.get(), CLONE_NEWNET) != 0)
        std::terminate();
    ip("link set lo up");
}

std::string Namespace::run(std::vector<std::string> argv) const {
    return test::run(std::move(argv), {.network_namespace = fd()});
}

void Namespace::ip(const std::string& lines) const { run({"sh", "-c", "printf '%s\n' \"$0\" | ip -batch -", lines}); }

void Namespace::sysctl(const std::string& path, const std::string& value) const {
    in([&] {
        std::ofstream file("/proc/sys/net/" + path);
        if (!(file << value << std::flush))
            fail("write " + path);
    });
}

std::string Namespace::name() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd()); }

XdpPrograms xdp_programs(const Namespace& where, const std::string& interface) {
    return where.in([&]() -> XdpPrograms {
        LIBBPF_OPTS(bpf_xdp_query_opts, query);
        const unsigned index = if_nametoindex(interface.c_str());
        if (index == 0 || bpf_xdp_query(static_cast<int>(index), 0, &query) != 0)
            return {};
        return {.native = query.drv_prog_id, .generic = query.skb_prog_id};
    });
}

struct PassProgram::Object {
    bpf_object* object = nullptr;
    ~Object() { bpf_object__close(object); }
};

PassProgram::PassProgram(const Namespace& where, const std::string& interface, Mode mode, bool frags, Hold hold)
    : object_(std::make_unique<Object>()) {
    object_->object = bpf_object__open_file(TEST_PASS_OBJECT, nullptr);
    if (object_->object == nullptr || bpf_object__load(object_->object) != 0)
        fail("load " TEST_PASS_OBJECT);
    const bpf_program* program =
        bpf_object__find_program_by_name(object_->object, frags ? "xdp_pass_frags" : "xdp_pass");
    const int fd = bpf_program__fd(program);
    bpf_prog_info info{};
    std::uint32_t length = sizeof(info);
    if (bpf_obj_get_info_by_fd(fd, &info, &length) != 0)
        fail("ask for the pass program's id");
    id_ = info.id;
    where.in([&] {
        const int index = static_cast<int>(if_nametoindex(interface.c_str()));
        const std::uint32_t flag = mode == Mode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
        LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flag);
        if (hold == Hold::link)
            link_.reset(bpf_link_create(fd, index, BPF_XDP, &options));
        const bool attached = hold == Hold::link
                                  ? link_.get() >= 0
                                  : bpf_xdp_attach(index, fd, flag | XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr) == 0;
        if (!attached)
            fail("attach the pass program to " + interface);
    });
}

PassProgram::PassProgram(PassProgram&&) noexcept = default;
PassProgram::~PassProgram() = default;

namespace {

struct End { // of a veth pair
    const Namespace& where;
    const Port& port;
    std::string addresses = {}; // more lines for `ip -batch`
};

void join(const Lab::Options& options, const End& near, const End& far) {
    const std::string queues = std::to_string(options.queues);
    const std::string common =
        " mtu " + std::to_string(options.mtu) + " numtxqueues " + queues + " numrxqueues " + queues;
    near.where.ip("link add " + near.port.name + " address " + to_string(near.port.mac) + common +
                  " type veth peer name " + far.port.name + " netns " + far.where.name() + " address " +
                  to_string(far.port.mac) + common);
    for (const auto& [where, port, addresses] : {near, far}) {
        // A veth uses one queue, however many it has, until it is told otherwise.
        if (options.queues > 1)
            where.run({"ethtool", "-L", port.name, "rx", queues, "tx", queues});
        // A checksum left to hardware that a veth does not have would go out wrong in a reply that a program turns
        // round. Without it there is no TSO either, so that frames are as long as on a cable.
        where.run({"ethtool", "-K", port.name, "tx", "off"});
        if (options.ipv6) {
            for (const char* name : {"/accept_dad", "/accept_ra", "/router_solicitations"})
                where.sysctl("ipv6/conf/" + port.name + name, "0");
        }
        where.ip("link set " + port.name + " up" + addresses);
    }
    // The kernel may take a second to say that the carrier is there; ethtool's question makes it do so now.
    near.where.run({"ethtool", near.port.name});
    far.where.run({"ethtool", far.port.name});
}

} // namespace

Lab::Lab(const Options& options) {
    if (options.middle)
        middle.emplace();
    if (!options.ipv6)
        for (const Namespace* each : {&tester, &responder, middle ? &*middle : nullptr})
            if (each != nullptr)
                each->sysctl("ipv6/conf/default/disable_ipv6", "1");
    for (unsigned i = 1; i <= options.pairs; ++i) {
        const auto number = static_cast<std::uint8_t>(i - 1);
        const auto addresses = [&](const Port& port, const std::string& host) {
            std::string lines;
            if (i == 1 && options.addresses)
                lines += "\naddress add 192.0.2." + host + "/24 dev " + port.name;
            if (i == 1 && options.addresses && options.ipv6)
                lines += "\naddress add 2001:db8::" + host + "/64 nodad dev " + port.name;
            return lines;
        };
        tester_ports.push_back({"tx" + std::to_string(i), {{2, 0, 0, 0, number, 2}}});
        responder_ports.push_back({"eth" + std::to_string(i), {{2, 0, 0, 0, number, 1}}});
        const End near{tester, tester_ports.back(), addresses(tester_ports.back(), "1")};
        const End far{responder, responder_ports.back(), addresses(responder_ports.back(), "2")};
        const auto pass = [&](const End& end) {
            if (options.pass)
                pass_programs_.emplace_back(end.where, end.port.name, PassProgram::Mode::native, options.mtu > 3500);
        };
        if (!middle) {
            join(options, near, far);
        } else {
            const Port in{"in" + std::to_string(i), {{2, 0, 0, 0, number, 3}}};
            const Port out{"out" + std::to_string(i), {{2, 0, 0, 0, number, 4}}};
            join(options, near, {*middle, in});
            join(options, {*middle, out}, far);
            for (const Port* port : {&in, &out}) {
                pass({*middle, *port});
                // It would make one frame of several, longer than what the next link takes.
                middle->run({"ethtool", "-K", port->name, "gro", "off"});
            }
        }
        pass(near);
    }
}

PacketSocket::PacketSocket(const Namespace& where, const std::string& interface)
    : cpu_(static_cast<unsigned>(sched_getcpu())) {
    where.in([&] {
        socket_.reset(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
        const int room = 1 << 30; // a limit: a frame takes a page or two, for as long as nobody fetches it
        setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
        const int on = 1;
        setsockopt(socket_.get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on));
        if (!socket_ || bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
            fail("open a packet socket on " + interface);
    });
}

void PacketSocket::send(const Octets& frame, unsigned times) {
    const OnOneCpu pinned(cpu_); // two CPUs' frames may overtake each other, and are copied for a capture separately
    for (unsigned i = 0; i < times; ++i) {
        while (::send(socket_.get(), frame.data(), frame.size(), 0) != static_cast<ssize_t>(frame.size())) {
            if (errno != ENOBUFS) // the ring at the far end is full: it will be served
                fail("send a raw frame of " + std::to_string(frame.size()) + " bytes");
            std::this_thread::sleep_for(1ms);
        }
        if (i % 128 == 127) // half a veth's ring
            std::this_thread::sleep_for(1ms);
    }
}

Octets PacketSocket::receive(std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        sockaddr_ll from{};
        alignas(cmsghdr) char control[256];
        iovec data{.iov_base = room_.data(), .iov_len = room_.size()};
        msghdr message{};
        message.msg_name = &from;
        message.msg_namelen = sizeof(from);
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        const ssize_t length = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
        if (length > 0) {
            if (from.sll_pkttype == PACKET_OUTGOING)
                continue;
            Octets frame(room_.begin(), room_.begin() + length);
            put_back_tag(frame, message);
            return frame;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        if (poll(&readable, 1, static_cast<int>(std::max(left, 0ms).count())) <= 0)
            return {};
    }
}

std::uint64_t PacketSocket::overflowed() {
    tpacket_stats counted{};
    socklen_t length = sizeof(counted);
    if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &length) != 0)
        fail("ask a packet socket what it lost");
    return counted.tp_drops;
}

std::vector<Octets> PacketSocket::receive_all(std::chrono::milliseconds silence) {
    std::vector<Octets> frames;
    for (Octets frame = receive(silence); !frame.empty(); frame = receive(silence))
        frames.push_back(std::move(frame));
    return frames;
}

} // namespace responder::test
