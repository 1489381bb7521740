"""Names of peers, from the caches of the machine's own resolvers, and never from the network.

Everything happens in a network and a mount namespace of its own: a name server that knows one
name and writes down what it is asked, and a real nscd, or systemd-resolved, that asks it.
"""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import threading

from harness import *
from jobs import *

NAME, IP, STRANGER = "db.example.com", "127.0.0.7", "127.0.0.8"

# What a program does that knows its server by name; and one that knows the number of another.
JOB = f"""
import socket, sys, time
for host in ("{NAME}", "{STRANGER}"):
    with socket.create_connection((host, int(sys.argv[1]))) as c:
        c.sendall(b"q")
        c.recv(1)
        time.sleep(0.3)
"""


# --- inside the namespaces ------------------------------------------------------------------

def answer_names(at, asked):
    """A name server: NAME is IP, nobody else is anybody."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((at, 53))
    while True:
        q, who = s.recvfrom(4096)
        name, i = [], 12
        while q[i]:
            name.append(q[i + 1:i + 1 + q[i]].decode())
            i += q[i] + 1
        kind = struct.unpack(">H", q[i + 1:i + 3])[0]
        name = ".".join(name).lower()
        asked.append(f"{name} {kind}")
        known, found = name == NAME, name == NAME and kind == 1
        reply = q[:2] + (b"\x81\x80" if known else b"\x81\x83") + b"\0\1\0" + bytes([found])
        reply += b"\0\0\0\0" + q[12:i + 5]
        if found:
            reply += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 300, 4) + socket.inet_aton(IP)
        s.sendto(reply, who)


def echo(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("0.0.0.0", port))
    s.listen(8)
    while True:
        with s.accept()[0] as c:
            c.sendall(c.recv(1))
            c.recv(1)


def in_background(fn, *args):
    threading.Thread(target=fn, args=args, daemon=True).start()


def mount(*args):
    subprocess.run(["mount", *map(str, args)], check=True)


def start_nscd(folder, program):
    """nscd with a table of hosts only, that it shares; it keeps all it has below /run."""
    mount("-t", "tmpfs", "tmpfs", "/run")
    os.mkdir("/run/nscd")
    conf = folder / "nscd.conf"
    conf.write_text("".join(f"enable-cache {x} {'yes' if x == 'hosts' else 'no'}\n" for x in
                            ("passwd", "group", "hosts", "services", "netgroup")) +
                    "positive-time-to-live hosts 600\nnegative-time-to-live hosts 20\n"
                    "persistent hosts no\nshared hosts yes\n")
    p = subprocess.Popen([program, "-F", "-f", conf])
    wait_for(lambda: os.path.exists("/run/nscd/socket"))
    return p, "10.9.9.1"


def start_resolved(folder, root):
    """systemd-resolved of another Debian, in its folder."""
    root = pathlib.Path(root)
    mount("-t", "proc", "proc", root / "proc")
    mount("--rbind", "/dev", root / "dev")
    mount("-t", "tmpfs", "tmpfs", root / "run")
    (root / "run/systemd/resolve").mkdir(parents=True)
    subprocess.run(["chroot", root, "chown", "systemd-resolve:", "/run/systemd/resolve"],
                   check=True)
    conf = folder / "resolved.conf"
    conf.write_text("[Resolve]\nDNS=10.9.9.1\nDNSSEC=no\nLLMNR=no\nMulticastDNS=no\n")
    (root / "etc/systemd").mkdir(exist_ok=True)
    (root / "etc/systemd/resolved.conf").touch()
    mount("--bind", conf, root / "etc/systemd/resolved.conf")
    p = subprocess.Popen(["chroot", root, "/usr/lib/systemd/systemd-resolved"],
                         stderr=subprocess.DEVNULL)
    wait_for(lambda: (root / "run/systemd/resolve/io.systemd.Resolve.Monitor").exists())
    mount("-t", "tmpfs", "tmpfs", "/run")
    os.makedirs("/run/systemd/resolve")
    mount("--bind", root / "run/systemd/resolve", "/run/systemd/resolve")
    return p, "127.0.0.53"


def inside(kind, what, folder):
    """Run the job under assay; print what the name server was asked, and the peers."""
    folder = pathlib.Path(folder)
    for command in ("ip link set lo up", "ip link add one type veth peer name other",
                    "ip addr add 10.9.9.1/24 dev one", "ip link set one up",
                    "ip link set other up"):
        subprocess.run(command.split(), check=True)
    asked = []
    in_background(answer_names, "10.9.9.1", asked)
    in_background(echo, 7777)
    daemon, server = (start_nscd if kind == "nscd" else start_resolved)(folder, what)
    (folder / "resolv.conf").write_text(f"nameserver {server}\n")
    mount("--bind", folder / "resolv.conf", "/etc/resolv.conf")
    # The daemon may think that there is no network yet: until it finds the name.
    wait_for(lambda: subprocess.run(["getent", "ahostsv4", NAME], capture_output=True,
                                    check=False).returncode == 0)
    out = folder / "run.json"
    before = list(asked)
    r = subprocess.run([ASSAY, "run", "--no-store", "--quiet", "--json", "-o", out, "--",
                        sys.executable, "-c", JOB, "7777"], check=False)
    daemon.terminate()
    daemon.wait()
    peers = {p["name"]: p.get("host") for p in json.loads(out.read_text())["assay"]["peers"]}
    print(json.dumps({"rc": r.returncode, "peers": peers, "before": before,
                      "during": asked[len(before):]}))


# --- outside --------------------------------------------------------------------------------

def expect_names(kind, what):
    if not is_root() or run("unshare", "-n", "-m", "true").rc != 0 or not shutil.which("ip"):
        skip("needs root, unshare and ip")
    r = run("unshare", "-n", "-m", "--propagation", "private", sys.executable, __file__,
            "inside", kind, what, tmp(), timeout=90).ok()
    seen = json.loads(r.out.splitlines()[-1])
    expect_eq(seen["rc"], 0, "exit status of the job")
    expect_eq(seen["peers"].get(f"{IP}:7777"), NAME, f"name of the peer, in {seen['peers']}")
    expect(f"{STRANGER}:7777" in seen["peers"], f"peers {seen['peers']}")
    expect_eq(seen["peers"].get(f"{STRANGER}:7777"), None, "name of one that nobody looked up")
    expect(f"{NAME} 1" in seen["before"], f"the name server was not asked: {seen['before']}")
    strange = [q for q in seen["before"] + seen["during"] if not q.startswith(f"{NAME} ")]
    expect_eq(strange, [], "questions that the job did not ask")


if sys.argv[1:2] == ["inside"]:
    inside(*sys.argv[2:])
