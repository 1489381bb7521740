#!/usr/bin/env python3
"""The network: bytes, connections, peers. Bytes that went over a connection must be exact."""
import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from jobs import *
from rungs import need, on

NETLINK = {"ASSAY_RUNG": "netlink"}     # root, but without BPF
RUNGS = ({}, {"options": ("--metrics", "net")}, {"env": NETLINK}, {"nobody": True})


def peers(p):
    return {x["name"]: x for x in p.doc["assay"]["peers"]}


def counted(peer, key):
    """The total of a peer's counter; None when it is unknown."""
    return peer["metrics"].get(f"peer.{key}", {}).get("total")


def expect_traffic(p, what):
    expect_eq(p.rc, 0, f"{what}: exit status, {p.err}")
    for total, truth in (("net_sent", "sent"), ("net_received", "received"),
                         ("net_connections", "connections")):
        expect_eq(p.total(total), p.truth[truth], f"{what}: {total}")


@contextlib.contextmanager
def server(answer, family=socket.AF_INET, connections=1):
    """Somebody else, not of the job: `answer(connection)` for each; yields the port."""
    with socket.socket(family) as s:
        s.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        s.listen(256)
        s.settimeout(60)

        def serve():
            for _ in range(connections):
                try:
                    c, _ = s.accept()
                except OSError:
                    return
                with c:
                    answer(c)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield s.getsockname()[1]
        thread.join(10)


def take(c, n):
    while n > 0:
        got = len(c.recv(min(n, 1 << 16)))
        if not got:
            return
        n -= got


def take_and_give(out, back, delay=0.0):
    def answer(c):
        take(c, out)
        time.sleep(delay)
        c.sendall(b"x" * back)
        take(c, 1)
    return answer


def sockets(p):
    """(accepted, sent, received) of each socket that is listed, the most bytes first."""
    return [(x["accepted"], x["sent_bytes"], x["received_bytes"])
            for x in p.doc["assay"]["sockets"]]


SIZES = ((300001, 17), (200003, 19), (100003, 23))


def talk_to(port):
    """A Python that opens a connection for each of SIZES, one after the other."""
    return f"""
import socket, time
for out, back in {SIZES!r}:
    c = socket.create_connection(("127.0.0.1", {port}))
    c.sendall(b"x" * out)
    while back:
        back -= len(c.recv(back))
    time.sleep(0.6)
    c.close()
    time.sleep(0.1)
"""


def answer_sizes():
    sizes = iter(SIZES)

    def answer(c):
        out, back = next(sizes)
        take(c, out)
        c.sendall(b"y" * back)
        take(c, 1)                  # until the one who called closes it
    return answer


def talked(port, **how):
    out = tmp() / "run.json"
    r = run(ASSAY, "run", "--quiet", "-o", out, "--interval", "0.05", "--", sys.executable, "-c",
            talk_to(port), **how)
    expect_eq(r.rc, 0, r.err)
    return Profile(json.loads(out.read_text()), {}, r.rc, r.err)


@job_test("each socket is told with its own bytes, exactly, by BPF and by sock_diag")
def _():
    for rung in ("bpf", "netlink"):
        need(rung)
        with server(answer_sizes(), connections=len(SIZES)) as port:
            p = talked(port, env={"ASSAY_RUNG": rung})
        want = [(False, *size) for size in SIZES]
        if rung == "bpf":
            expect_eq(sockets(p), want, "sockets by BPF")
        else:                           # those that a look saw; looks have a budget
            expect(sockets(p) and set(sockets(p)) <= set(want), f"{sockets(p)} by sock_diag")
        python = p.doc["assay"]["processes"][0]
        for x in p.doc["assay"]["sockets"]:
            expect_eq((x["pid"], x["process"], x["peer_port"], x["peer"], x["protocol"]),
                      (python["pid"], python["name"], port, "127.0.0.1", "tcp"), rung)
            expect(x["rtt_min_ns"] is not None and x["retransmits"] == 0, f"{x} by {rung}")
        expect_eq(len({x["local_port"] for x in p.doc["assay"]["sockets"]}), len(sockets(p)),
                  "ports")
        times = [(x["opened_ns"], x["closed_ns"]) for x in p.doc["assay"]["sockets"]]
        if rung == "bpf":               # opened and closed one after the other
            flat = [t for pair in times for t in pair]
            expect(None not in flat and 0 < flat[0] and flat == sorted(flat), f"{times}")
        else:
            expect_eq(set(times), {(None, None)}, "nobody saw when")


@job_test("both ends of a connection are two sockets; a hundred are listed, the others counted")
def _():
    need("bpf")
    p = profile("net", "tcp4", 1000, 77, 2, 0.1, env={"ASSAY_RUNG": "bpf"})
    expect_eq(sorted(sockets(p)), 2 * [(False, 1000, 77)] + 2 * [(True, 77, 1000)], "both ends")
    expect_eq(len({x["pid"] for x in p.doc["assay"]["sockets"]}), 2, "of two processes")
    lines = assay("show", "--sockets").ok().out.splitlines()
    expect_eq(sum("1.0 KiB" in line and "77 B" in line for line in lines), 4, f"rows of {lines}")
    expect(all(len(line) <= 80 for line in lines), f"too wide: {lines}")
    p = profile("net", "tcp6", 10, 20, 80, 0, env={"ASSAY_RUNG": "bpf"})
    expect_eq(len(p.doc["assay"]["sockets"]), 100, "listed")
    expect_eq(p.doc["assay"]["sockets_unlisted"], 60, "not listed")


@job_test("datagrams between two ports are a socket by BPF, and not told otherwise")
def _():
    need("bpf")
    p = profile("net", "udp4", 20000, 777, 1, 0.2, env={"ASSAY_RUNG": "bpf"})
    told = [(x["protocol"], x["sent_bytes"], x["received_bytes"], x["state"], x["retransmits"])
            for x in p.doc["assay"]["sockets"]]
    expect_eq(sorted(told), [("udp", 777, 20000, None, None), ("udp", 20000, 777, None, None)],
              "sockets")
    expect_eq(profile("net", "udp4", 20000, 777, 1, 0.2, env=NETLINK).doc["assay"]["sockets"], [],
              "sockets by sock_diag")


@job_test("bytes over a connection are exact, IPv4 and IPv6, both ends in the job")
def _():
    for how in RUNGS:
        for kind in ("tcp4", "tcp6"):
            p = profile("net", kind, 1_000_003, 500_009, 2, 0.8, **how)
            expect_traffic(p, f"{kind} {how}")
            ip = "127.0.0.1" if kind == "tcp4" else "::1"
            port = p.truth["port"]
            mine = peers(p)[f"{ip}:{port}" if kind == "tcp4" else f"[{ip}]:{port}"]
            theirs = peers(p)[f"port {port} from {ip}"]
            for peer, sent, received in ((mine, 2_000_006, 1_000_018),
                                         (theirs, 1_000_018, 2_000_006)):
                expect_eq(counted(peer, "bytes.sent"), sent, f"{peer['name']} sent {how}")
                expect_eq(counted(peer, "bytes.received"), received, f"{peer['name']} received")
                expect_eq(counted(peer, "connections"), 2, f"{peer['name']} connections")
                expect(peer["metrics"]["peer.rtt"]["max"] > 0, "no round trip time")


@job_test("only the job's own end of a connection is counted")
def _():
    for how in RUNGS:
        with server(take_and_give(70_001, 30_011)) as port:
            p = profile("net", "tcp4", 70_001, 30_011, 1, 1.0, port, **how)
        expect_traffic(p, f"a server elsewhere {how}")
        expect_eq(list(peers(p)), [f"127.0.0.1:{port}"], f"peers {how}")
        expect_eq(peers(p)[f"127.0.0.1:{port}"]["host"], "localhost", "its name")


@job_test("two jobs at once are not mixed")
def _():
    results = {}
    with server(take_and_give(10_007, 3), connections=2) as port:
        def one(name, seconds):
            r = run(ASSAY, "run", "--quiet", "--json", "-o", tmp() / name, "--", work("net"),
                    "tcp4", 10_007, 3, 1, seconds, port, timeout=60)
            results[name] = (r, json.loads((tmp() / name).read_text()))

        # One connection after the other is served: the second waits for the first.
        threads = [threading.Thread(target=one, args=(f"{i}.json", 0.7)) for i in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for name, (r, doc) in results.items():
        expect_eq(r.rc, 0, f"{name}: {r.err}")
        p = Profile(doc, json.loads(r.out), r.rc, r.err)
        expect_traffic(p, name)


@job_test("connections that a job accepts are all counted, however short")
def _():
    for prefix in ([], as_nobody()) if is_root() else ([],):
        folder = public() if prefix else tmp()
        program = folder / "net" if prefix else work("net")
        if prefix:
            shutil.copy(work("net"), program)
        assay = folder / "assay" if prefix else ASSAY
        out = folder / "r.json"
        job = start(*prefix, assay, "run", "--quiet", "--json", "-o", out, "--", program, "serve",
                    "tcp4", 101, 7, 200, cwd=folder, stdout=subprocess.PIPE, text=True,
                    env={"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)})
        port = int(job.stdout.readline())
        time.sleep(1.2)     # until a sample has seen where it listens
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", port)) as c:
                c.sendall(b"x" * 101)
                take(c, 7)
        expect_eq(job.wait(30), 0, "exit status")
        p = Profile(json.loads(out.read_text()), {}, 0, "")
        expect_eq(p.total("net_connections"), 200, f"connections, {prefix}")
        expect_eq(p.total("net_sent"), 200 * 7, f"sent, {prefix}")
        # The mark at the end of a stream may be counted as one byte: see docs/truth.md.
        expect_between(p.total("net_received"), 200 * 101, 200 * 102, f"received, {prefix}")
        expect_eq(list(peers(p)), [f"port {port} from 127.0.0.1"], f"peers, {prefix}")


@job_test("unix and UDP sockets are counted, and their peers named")
def _():
    for how in RUNGS:
        p = profile("net", "unix", 1000, 10, 1, 0.8, **how)
        expect_eq(p.metric("job.net.unix")["max"], 3, f"unix sockets {how}")
        expect_eq(sorted(peers(p)), ["unix net.sock", "unix net.sock, accepted"], f"peers {how}")
        expect_eq(counted(peers(p)["unix net.sock"], "bytes.sent"), None, "bytes are unknown")
        (tmp() / "net.sock").unlink(missing_ok=True)
        for kind, ip in (("udp4", "127.0.0.1"), ("udp6", "[::1]")):
            p = profile("net", kind, 1000, 10, 1, 0.8, **how)
            expect_eq(p.metric("job.net.sockets")["max"], 2, f"UDP sockets {how}")
            expect(f"udp {ip}:{p.truth['port']}" in peers(p), f"peers {list(peers(p))} {how}")


def with_bpf(*args):
    """The workload watched by BPF from the start; skipped where the kernel refuses that."""
    need("bpf")
    p = profile("net", *args, options=("--metrics", "net"))
    expect_eq(p.source("net_sent"), "BPF", "who tells of the network")
    return p


@job_test("a thousand connections of a millisecond are all counted, with BPF")
def _():
    for kind in ("tcp4", "tcp6"):
        p = with_bpf(kind, 1009, 7, 1000, 0)
        expect_traffic(p, kind)
        expect_eq(len(peers(p)), 2, f"peers {list(peers(p))}")
        for peer in peers(p).values():
            expect_eq(counted(peer, "connections"), 1000, peer["name"])


@job_test("bytes of datagrams are exact, with BPF")
def _():
    for kind, head in (("udp4", 28), ("udp6", 48)):
        p = with_bpf(kind, 1009, 7, 100, 0)
        expect_eq(p.total("net_sent"), p.truth["sent"], f"{kind} sent")
        expect_eq(p.total("net_received"), p.truth["received"], f"{kind} received")
        last = {k: p.column(f"job.net.{k}")[-1] for k in ("ip.sent", "ip.received", "packets.sent",
                                                         "packets.received")}
        expect_eq(last["packets.sent"], 200, f"{kind} packets")
        expect_eq(last["ip.sent"], p.truth["sent"] + 200 * head, f"{kind} bytes with their heads")
        expect_eq(last["ip.received"], last["ip.sent"], f"{kind} bytes that came in")


@job_test("without asking, BPF watches a job that is some milliseconds old")
def _():
    with_bpf("tcp4", 1, 1, 1, 0)
    out = tmp() / "r.json"
    r = run(ASSAY, "run", "--quiet", "--json", "-o", out, "--", "sh", "-c",
            'sleep 0.5; exec "$@"', "sh", work("net"), "tcp4", 101, 7, 300, 0).ok()
    p = Profile(json.loads(out.read_text()), json.loads(r.out), r.rc, r.err)
    expect_traffic(p, "after half a second")
    expect(p.source("net_sent").startswith("BPF; what was over by "), p.source("net_sent"))


@job_test("the time spent waiting for an answer is known")
def _():
    for how in RUNGS:
        with server(take_and_give(1000, 1000, delay=1.6)) as port:
            p = profile("net", "tcp4", 1000, 1000, 1, 0.6, port, **how)
        waited = counted(peers(p)[f"127.0.0.1:{port}"], "wait") / 1e9
        expect_near(waited, 1.6, 0.05, f"waited {how}", slack=0.06)


# --- exchanges ----------------------------------------------------------------

# Its own greeting first, then as many questions over each connection.
TLS_CLIENT = """
import socket, ssl, sys
port, connections, exchanges = map(int, sys.argv[1:])
for _ in range(connections):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    c = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
    for _ in range(exchanges):
        c.sendall(b"q" * 100)
        n = 10
        while n:
            n -= len(c.recv(n))
    c.close()
"""


class Answers:
    """Answers questions of 100 bytes with 10, and knows how long it took over them."""

    def __init__(self, delay=0.0, tls=None):
        self.delay, self.tls, self.took = delay, tls, 0

    def __call__(self, c):
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            c = self.tls.wrap_socket(c, server_side=True)
        while True:
            first = c.recv(1)
            t = time.monotonic_ns()
            if not first:
                return
            take(c, 99)
            time.sleep(self.delay)
            self.took += time.monotonic_ns() - t
            c.sendall(b"a" * 10)


def tls_client(*args):
    out = tmp() / "tls.json"
    run(ASSAY, "run", "--quiet", "--metrics", "net", "--json", "-o", out, "--", sys.executable,
        "-c", TLS_CLIENT, *args, timeout=60).ok()
    return Profile(json.loads(out.read_text()), {}, 0, "")


def server_context():
    pem = tmp() / "own.pem"
    if not shutil.which("openssl"):
        skip("needs openssl")
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
        "-keyout", pem, "-out", tmp() / "own.crt").ok()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp() / "own.crt", pem)
    return context


@job_test("exchanges, connections that had several, and the time until answers came, with BPF")
def _():
    with_bpf("tcp4", 1, 1, 1, 0)
    for connections, exchanges, delay in ((5, 1, 0.002), (3, 20, 0.004), (2, 2, 0.1)):
        answers = Answers(delay)
        with server(answers, connections=connections) as port:
            p = with_bpf("chat", port, connections, exchanges)
        what = f"{exchanges} exchanges over each of {connections}"
        peer = peers(p)[f"127.0.0.1:{port}"]
        expect_eq(counted(peer, "connections"), connections, f"opened, {what}")
        expect_eq(counted(peer, "exchanges"), connections * exchanges, what)
        expect_eq(counted(peer, "reused"), connections if exchanges > 1 else 0, f"reused, {what}")
        # Packets leave after the client began, and are here before it has read them.
        expect_between(counted(peer, "wait"), answers.took, p.truth["spent"], f"waited, {what}")
        expect_eq(p.doc["assay"]["origins"]["peer.wait"]["provenance"], "measured", "how")


@job_test("a connection that outlives the job is counted, though no sample saw it, with BPF")
def _():
    hold, served = threading.Event(), []

    def slow(c):
        Answers()(c)
        if served:
            hold.wait(20)       # the end of the second connection comes after the job's
        served.append(c)

    with server(slow, connections=2) as port:
        p = with_bpf("chat", port, 2, 1)
        hold.set()
    peer = peers(p)[f"127.0.0.1:{port}"]
    expect_eq(counted(peer, "connections"), 2, "connections")
    expect_eq(counted(peer, "exchanges"), 2, "exchanges")
    expect_eq(counted(peer, "bytes.sent"), 200, "sent")
    expect_eq(counted(peer, "bytes.received"), 20, "received")


@job_test("of a connection that is older than BPF, exchanges and waiting are known from then on")
def _():
    with_bpf("tcp4", 1, 1, 1, 0)
    answers = Answers(0.2)
    with server(answers) as port:
        p = profile("net", "chat", port, 1, 8)
    peer = peers(p)[f"127.0.0.1:{port}"]
    expect(p.source("net_sent").startswith("BPF; what was over by "), p.source("net_sent"))
    watched = 1 - float(p.source("net_sent").split()[5]) * 1e6 / p.truth["spent"]
    # One exchange may have ended before BPF was there for each 0.2 s that it took to be there.
    expect_between(counted(peer, "exchanges"), 8 * watched - 1, 8, "exchanges")
    expect_eq(counted(peer, "reused"), 1, "reused")
    expect_between(counted(peer, "wait"), answers.took * watched - 1e8, p.truth["spent"], "waited")


@job_test("the greeting of TLS is no exchange, with BPF")
def _():
    with_bpf("tcp4", 1, 1, 1, 0)
    context = server_context()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context.minimum_version = context.maximum_version = version
        for exchanges in (1, 3):
            with server(Answers(tls=context), connections=4) as port:
                p = tls_client(port, 4, exchanges)
            peer = peers(p)[f"127.0.0.1:{port}"]
            expect_eq(counted(peer, "exchanges"), 4 * exchanges, f"exchanges, {version.name}")
            expect_eq(counted(peer, "reused"), 4 if exchanges > 1 else 0, f"reused, {version.name}")


@job_test("a server's exchanges are the questions that it answered, with BPF")
def _():
    p = with_bpf("tcp4", 101, 7, 10, 0)
    for peer in peers(p).values():
        expect_eq(counted(peer, "exchanges"), 10, peer["name"])
        expect_eq(counted(peer, "reused"), 0, peer["name"])


@job_test("without BPF exchanges are unknown, and said to be; waiting is at least what was seen")
def _():
    for how in ({"env": NETLINK}, {"nobody": True}):
        answers = Answers(0.3)
        with server(answers) as port:
            p = profile("net", "chat", port, 1, 5, **how)
        peer = peers(p)[f"127.0.0.1:{port}"]
        origins = p.doc["assay"]["origins"]
        for key in ("exchanges", "reused"):
            expect_eq(counted(peer, key), None, f"{key} {how}")
            expect_eq(origins[f"peer.{key}"]["provenance"], "unavailable", f"{key} {how}")
            expect("BPF" in origins[f"peer.{key}"]["source"], f"{key}: {origins[f'peer.{key}']}")
        expect_eq(origins["peer.wait"]["provenance"], "attributed", f"waiting {how}")
        # Clocks of the kernel's own counters tick in milliseconds: 4 of them at worst.
        expect_between(counted(peer, "wait"), 1, p.truth["spent"] + 5 * 8_000_000, f"wait {how}")


@job_test("a process that is attached to has only what it sends from then on")
def _():
    def talk(c):
        for _ in range(4):
            take(c, 1000)
            c.sendall(b"x" * 10)
        take(c, 1)

    code = ("import socket,sys,time\n"
            "c=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
            "for i in range(4):\n"
            "  c.sendall(b'x'*1000); c.recv(10, socket.MSG_WAITALL)\n"
            "  if not i: print('ready',flush=True)\n"
            "  time.sleep(0.9)\n")
    with server(talk) as port:
        q = start(sys.executable, "-c", code, str(port), stdout=subprocess.PIPE, text=True)
        read_line(q, "ready")
        r = run(ASSAY, "attach", q.pid, "--json", "--quiet", "-o", tmp() / "a.json", timeout=30)
        q.wait()
    p = Profile(json.loads((tmp() / "a.json").read_text()), {}, r.rc, r.err)
    expect_eq(p.total("net_sent"), 3000, "sent since")
    expect_eq(p.total("net_received"), 30, "received since")
    expect_eq(p.total("net_connections"), 0, "connections opened since")


# --- namespaces ---------------------------------------------------------------

def need_namespaces():
    if not is_root() or run("unshare", "-n", "true").rc != 0 or not shutil.which("ip"):
        skip("needs root, unshare -n and ip")


def through(enter, script, *args):
    """The workload as the arguments of `script`, a shell's that `enter` brings somewhere else."""
    out = tmp() / "r.json"
    r = run(ASSAY, "run", "--quiet", "--wait-all", "--json", "-o", out, "--", *enter, "sh", "-c",
            script, "sh", work("net"), *args, timeout=60)
    expect_eq(r.rc, 0, r.err)
    return Profile(json.loads(out.read_text()), json.loads(r.out.splitlines()[-1]), r.rc, r.err)


def in_namespace(command, *args):
    """The workload in a network namespace of its own, with `command` before it."""
    need_namespaces()
    return through(("unshare", "-n"), f'ip link set lo up && {command} exec "$@"', *args)


@job_test("a job with a network namespace of its own is seen there")
def _():
    p = in_namespace("", "tcp6", 1_000_003, 500_009, 2, 0.8)
    expect_traffic(p, "own namespace")
    nics = [x for x in p.doc["assay"]["interfaces"] if x["whose"] == "job"]
    expect_eq([x["name"] for x in nics], ["lo"], "interfaces of its own")
    sent = nics[0]["metrics"]["interface.bytes.sent"]["total"]
    packets = nics[0]["metrics"]["interface.packets.sent"]["total"]
    # Every packet has heads of 40 and 32 bytes; those that open a connection 8 more. On a
    # machine that is slow for a moment, up to 64 KiB may be sent again.
    least = p.truth["sent"] + 72 * packets
    expect_between(sent, least, least + 64 + 65536 * p.total("net_retransmits"),
                   "bytes over its lo")


@job_test("a namespace is known for good, also when the process that showed it is gone")
def _():
    need_namespaces()
    p = through(("unshare", "-n"), 'ip link set lo up; sleep 0.7; (sleep 0.7; exec "$@") &',
                "tcp4", 1_000_003, 500_009, 2, 0.8)
    expect_traffic(p, "a namespace whose first process is gone")


@contextlib.contextmanager
def old_namespace():
    """How to enter a namespace that is older than the job; 3 MB went over its lo."""
    with subprocess.Popen(("unshare", "-n", "sleep", "60")) as holder:
        try:
            mine, space = os.stat("/proc/self/ns/net").st_ino, f"/proc/{holder.pid}/ns/net"
            wait_for(lambda: os.stat(space).st_ino != mine, what="a namespace of its own")
            with open(space):   # as who makes namespaces for others holds them, ip or a container's
                enter = ("nsenter", "-t", str(holder.pid), "-n")
                run(*enter, "ip", "link", "set", "lo", "up").ok()
                run(*enter, work("net"), "tcp4", 3_000_000, 10, 1, 0).ok()
                yield enter
        finally:
            holder.kill()


@job_test("what went over an interface before the job came to its namespace is not the job's")
def _():
    need_namespaces()
    with old_namespace() as enter:
        p = through(enter, 'sleep 0.5; exec "$@"', "tcp4", 100_000, 10, 1, 0.8)
    lo = next(x for x in p.doc["assay"]["interfaces"] if x["whose"] == "job")
    expect_between(lo["metrics"]["interface.bytes.sent"]["total"], p.truth["sent"],
                   p.truth["sent"] + 200_000, "bytes over lo")


SWAP = """
import os, socket, sys, time
held = os.open("/dev/null", os.O_RDONLY)    # as many descriptors before the connection as with it
time.sleep(0.3)
os.close(held)
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
    s.sendall(b"x" * 1000)
    time.sleep(0.7)
"""


@job_test("a connection that took a closed file's place is seen, on every rung")
def _():
    folder = public()
    for who, env in ((), {}), ((), NETLINK), (as_nobody(), {}):
        with server(lambda c: take(c, 1000)) as port:
            out = run(*who, folder / "assay", "run", "--quiet", "--no-store", "--json", "-o", "-",
                      "--", "/usr/bin/python3", "-S", "-c", SWAP, port, timeout=60, env=env).ok()
            totals = json.loads(out.out)["assay"]["totals"]
            expect_eq(totals["net_sent"]["value"], 1000, f"bytes sent, {who} {env}")


LINGER = """
import ctypes, socket, time
libc = ctypes.CDLL(None)
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    s.listen()
    one = socket.create_connection(s.getsockname())
    two, _ = s.accept()
    one.sendall(b"x" * 1000)
    time.sleep(0.5)
    two.recv(1000)
for _ in range(100):                # the kernel takes some milliseconds to close each
    libc.inotify_add_watch(libc.inotify_init1(0), b"/tmp", 0x100)
"""


@job_test("a process that takes long to end hides nothing, as it has given its memory back")
def _():
    folder = public()
    for env in {}, on("proc"):
        out = run(*as_nobody(), folder / "assay", "run", "--quiet", "--no-store", "--json", "-o",
                  "-", "--interval", "0.05", "--", "/usr/bin/python3", "-S", "-c", LINGER,
                  timeout=60, env=env).ok()
        totals = json.loads(out.out)["assay"]["totals"]
        for key in ("net_sent", "net_received"):
            expect_eq(totals[key]["value"], 1000, f"{key}, {env}, {totals[key]['source']}")


FIRST_GONE = """
import ctypes, os, platform, socket, threading, time
def work():
    time.sleep(0.2)
    much = b"x" * (60 << 20)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        one = socket.create_connection(s.getsockname())
        two, _ = s.accept()
        for _ in range(10):
            one.sendall(b"x" * 100)
            two.recv(100)
            time.sleep(0.1)
    os._exit(0)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)    # exit
"""


@job_test("a process whose first thread has ended has its memory, its files and its connections")
def _():
    folder = public()
    for who, env in ((), {}), ((), NETLINK), ((), on("proc")), (as_nobody(), {}):
        out = run(*who, folder / "assay", "run", "--quiet", "--no-store", "--json", "-o", "-", "--",
                  "/usr/bin/python3", "-S", "-c", FIRST_GONE, timeout=60, env=env).ok()
        p = Profile(json.loads(out.out), {}, 0, "")
        for total in "net_sent", "net_received":
            expect_eq(p.total(total), 1000, f"{total}, {who} {env}, {p.source(total)}")
        middle = [i for i, t in enumerate(p.times()) if 0.6 < t < 0.9]
        for i in middle:
            expect_between(p.column("job.memory.used")[i], 60 << 20, 90 << 20, "memory used")
            expect_between(p.column("job.memory.rss_sum")[i], 60 << 20, 90 << 20, "resident")
            expect_eq(p.column("job.processes")[i], 1, f"processes, {who} {env}")
            expect_between(p.column("job.files.open")[i], 6, 12, f"open files, {who} {env}")
        expect(middle, "samples in the middle")


@job_test("of a network namespace that we may not enter nothing is known, and nothing is 0")
def _():
    folder = public()
    if run(*as_nobody(), "unshare", "-r", "-n", "true").rc != 0 or not shutil.which("ip"):
        skip("needs unshare -r -n for everybody, and ip")
    shutil.copy(work("net"), folder / "net")
    run(*as_nobody(), folder / "assay", "run", "--quiet", "--json", "-o", folder / "r.json", "--",
        "unshare", "-r", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", folder / "net",
        "tcp4", 1000, 10, 1, 0.8, cwd=folder, timeout=60,
        env={"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}).ok()
    p = Profile(json.loads((folder / "r.json").read_text()), {}, 0, "")
    for total in ("net_sent", "net_received", "net_connections", "net_retransmits"):
        expect_eq(p.total(total), None, total)
        expect("namespace" in p.source(total), f"{total}: {p.source(total)}")
    for key in ("sent", "received", "connections", "sockets", "unix"):
        expect_eq(p.metric(f"job.net.{key}")["last"], None, f"job.net.{key}")
        expect_eq(set(p.column(f"job.net.{key}")), {None}, f"timeline of job.net.{key}")
    expect_eq(peers(p), {}, "peers")
    listed = run(*as_nobody(), folder / "assay", "show", "--sockets", cwd=folder,
                 env={"ASSAY_STORE": f"{folder}/store", "HOME": str(folder)}).ok().out
    expect("not known: its network namespace" in listed, listed)
    nics = {x["name"]: x for x in p.doc["assay"]["interfaces"] if x["whose"] == "job"}
    expect(nics["lo"]["metrics"]["interface.bytes.sent"]["total"] > 1010, "its own lo")


@job_test("a job that nobody could watch for long has no traffic of 0")
def _():
    for _ in range(6):
        p = profile("net", "tcp4", 1000, 10, 1, 0)
        for total, truth in (("net_sent", "sent"), ("net_connections", "connections")):
            expect(p.total(total) != 0, f"{total} is 0, {p.source(total)}: {p.truth[truth]}")
        known = p.total("net_sent") is not None
        expect_eq(p.metric("job.net.sent")["last"] is not None, known, "the timeline knows it")
        expect(known or "BPF" in p.source("net_sent"), p.source("net_sent"))


@job_test("interfaces that the job shares are told as the machine's")
def _():
    p = profile("net", "tcp4", 1_000_003, 500_009, 1, 0.8)
    nics = {x["name"]: x for x in p.doc["assay"]["interfaces"]}
    expect_eq({x["whose"] for x in nics.values()}, {"machine"}, "whose they are")
    expect(nics["lo"]["metrics"]["interface.bytes.sent"]["total"] > p.truth["sent"],
           "less than the job sent went over lo")


@job_test("segments that had to be sent again are counted")
def _():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)      # room for one: what comes after it is not answered
        port = full.getsockname()[1]
        ends = []

        def make_room():
            time.sleep(1.5)     # the first repeat, after a second, is not answered either
            for _ in range(2):
                ends.append(full.accept()[0])
            take(ends[-1], 10)
            take(ends[-1], 1)

        first = socket.create_connection(("127.0.0.1", port))
        thread = threading.Thread(target=make_room, daemon=True)
        thread.start()
        p = profile("net", "tcp4", 10, 0, 1, 0.6, port)
        thread.join(10)
        for end in (first, *ends):
            end.close()
    expect_eq(p.total("net_retransmits"), 2, "calls that were repeated, after 1 s and 3 s")
    expect_eq(counted(peers(p)[f"127.0.0.1:{port}"], "retransmits"), 2, "of the peer")
    waited = counted(peers(p)[f"127.0.0.1:{port}"], "wait") / 1e9
    expect_between(waited, 2.2, 3.2, "waited to be connected, at least")


@job_test("bytes are exact where segments are lost")
def _():
    if not shutil.which("tc"):
        skip("needs tc")
    if run("unshare", "-n", "sh", "-c", "ip link set lo up && tc qdisc add dev lo root netem "
           "loss 5%").rc != 0:
        skip("no netem in this kernel")
    p = in_namespace("tc qdisc add dev lo root netem loss 5% &&", "tcp4", 3_000_000, 10, 1, 1.0)
    expect_eq(p.total("net_sent"), p.truth["sent"], "repeats are not counted as sent")
    expect(p.total("net_retransmits") > 0, "nothing was sent again")


# --- own cost -----------------------------------------------------------------

@job_test("a thousand idle sockets of others cost next to nothing")
def _():
    if sanitized():
        skip("a sanitizer's own cost is not ours")

    def cost():
        with server(take_and_give(10, 10)) as port:
            p = profile("net", "tcp4", 10, 10, 1, 6, port)
        net = next(x for x in p.doc["assay"]["collectors"] if x["name"] == "net")
        return net["metrics"]["collector.cpu"]["total"] / 1e6

    before = min(cost() for _ in range(2))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1000)
    ends = []
    for _ in range(500):
        ends.append(socket.create_connection(listener.getsockname()))
        ends.append(listener.accept()[0])
    after = min(cost() for _ in range(2))
    print(f"# CPU of the collector in 6 s: {before:.1f} ms, with 1,000 sockets {after:.1f} ms")
    expect(after - before < 6, f"{before} ms became {after} ms in 6 s")
    for end in ends:
        end.close()
    listener.close()


main()
