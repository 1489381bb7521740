#!/usr/bin/env python3
"""`assay load https://…`: whom it trusts, what it counts when it does not, what TLS costs.

The other side is `assay stub` or Python's own ssl.
"""
import os
import socket
import ssl
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from certificates import *
from harness import *
from jobs import *
from stubs import *

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s\r\nhi"


def need_tls():
    if not (BUILD / "assay-tls.so").exists():
        skip("this build has no OpenSSL")


def secured(c, *options, host="127.0.0.1", days=(-1, 9)):
    """A stub with a certificate that c issues."""
    cert, key = c.issue(host, days)
    return stub("--tls-cert", cert, "--tls-key", key, *options)


class Server:
    """Python's TLS: answers each connection `each` times, then closes; notes what it was told."""
    def __init__(self, cert, key, each=1, protocols=None):
        self.ssl = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ssl.load_cert_chain(cert, key)
        self.ssl.sni_callback = lambda sock, name, ctx: self.names.append(name)
        if protocols:
            self.ssl.set_alpn_protocols(protocols)
        self.names, self.spoken, self.reused, self.each = [], [], [], each
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            raw, _ = self.listener.accept()
            try:
                with self.ssl.wrap_socket(raw, server_side=True) as c:
                    self.spoken.append(c.selected_alpn_protocol())
                    self.reused.append(c.session_reused)
                    self.answer(c)
            except OSError:
                raw.close()

    def answer(self, c):
        for i in range(self.each):
            data = b""
            while not data.endswith(b"\r\n\r\n"):
                part = c.recv(4096)
                if not part:
                    return
                data += part
            c.sendall(ANSWER % (b"Connection: close\r\n" if i + 1 == self.each else b""))


# --- what is trusted ------------------------------------------------------------

@test("a server whose issuer is trusted: the same counts as without TLS")
def _():
    need_tls()
    c = Certificates()
    s = secured(c, "--listen", "https://127.0.0.1:0")
    expect(s.url.startswith("https://"), s.url)
    d = load(s.url + "/some?size=100", "-n", 500, "-c", 5, "--cacert", c.ca)
    n = s.end()
    expect_eq((d["requests"], d["failed"], d["statuses"]), (500, 0, {"2xx": 500}), "counts")
    expect_eq((n["requests"], n["answers"], n["connections"]), (500, 500, 5), "the stub's")
    expect_eq((d["bytes_out"], d["bytes_in"]), (n["bytes_in"], n["bytes_out"]), "bytes")
    expect_eq((d["tls"]["handshakes"], d["connections_opened"]), (5, 5), "handshakes")
    expect_in("TLSv1.3", d["tls"]["agreed"])
    expect(0 < d["tls"]["handshake_ms"]["p50"] <= d["tls"]["handshake_ms"]["max"], "its time")


@test("a certificate that will not do fails every request, by its kind; --insecure takes it")
def _():
    need_tls()
    c, other = Certificates(), Certificates("other")
    for kind, how, ca in (("tls_expired", {"days": (-9, -2)}, c.ca),
                          ("tls_expired", {"days": (2, 9)}, c.ca),
                          ("tls_host", {"host": "example.org"}, c.ca),
                          ("tls_host", {"host": "127.0.0.2"}, c.ca),
                          ("tls_issuer", {}, other.ca)):
        s = secured(c, **how)
        d = load(s.url, "-n", 3, "-c", 2, "--cacert", ca, rc=(6,))
        expect_eq((d["requests"], d["errors"], d["statuses"]), (3, {kind: 3}, {}), how)
        done = d["tls"]["handshakes"], d["tls"]["handshake_ms"]["p50"]
        expect_eq(done, (0, None), "handshakes")
        expect(d["tls"]["agreed"], "why")
        d = load(s.url, "-n", 3, "-c", 1, "--insecure")
        expect_eq((d["requests"], d["failed"]), (3, 0), "--insecure")
        expect_eq(s.end()["requests"], 3, "nothing was asked of whom we do not trust")
    d = load(secured(c).url, "-n", 1, rc=(6,))
    expect_eq(d["errors"], {"tls_issuer": 1}, "the system does not trust it either")


@test("a name is told to the server, an address is not; the version by ALPN")
def _():
    need_tls()
    c = Certificates()
    s = Server(*c.issue("localhost"), each=2, protocols=["http/1.1"])
    d = load(f"https://localhost:{s.port}/", "-n", 2, "-c", 1, "--cacert", c.ca)
    expect_eq((d["failed"], s.names, s.spoken), (0, ["localhost"], ["http/1.1"]), "told")
    s = Server(*c.issue("127.0.0.1"), each=2)
    d = load(f"https://127.0.0.1:{s.port}/", "-n", 2, "-c", 1, "--cacert", c.ca)
    expect_eq((d["failed"], s.names, s.spoken), (0, [None], [None]), "no name, no ALPN")


@test("who closes is dialled again, with a short handshake")
def _():
    need_tls()
    c = Certificates()
    s = Server(*c.issue("127.0.0.1"))
    d = load(f"https://127.0.0.1:{s.port}/", "-n", 10, "-c", 1, "--cacert", c.ca)
    expect_eq((d["requests"], d["failed"]), (10, 0), "requests")
    again = sum(map(bool, s.reused))
    expect_eq(d["tls"]["resumed"], again, "both say how often")
    expect(again >= 8, f"{again} of {len(s.reused)} were short")


# --- what goes wrong -------------------------------------------------------------

@test("no TLS, half a handshake, silence, garbage in the middle: each by its kind")
def _():
    need_tls()
    c = Certificates()
    s = stub()
    d = load(s.url.replace("http:", "https:"), "-n", 2, "-c", 1, "--insecure", rc=(6,))
    expect(set(d["errors"]) <= {"closed", "reset"} and d["failed"] == 2, d["errors"])
    expect_in("does it speak TLS?", d["tls"]["agreed"], "who hangs up")
    s.end()
    with socket.create_server(("127.0.0.1", 0)) as plain:
        def refuse():
            while True:
                k, _ = plain.accept()
                with k:
                    k.recv(4096)
                    k.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        threading.Thread(target=refuse, daemon=True).start()
        url = f"https://127.0.0.1:{plain.getsockname()[1]}/"
        d = load(url, "-n", 2, "-c", 1, "--insecure", rc=(6,))
        expect_eq((d["errors"], d["tls"]["agreed"]),
                  ({"no_tls": 2}, "the server answered without TLS"), "clear text")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        d = load(f"https://127.0.0.1:{port}/", "-n", 2, "-c", 1, "--timeout", "0.3s", rc=(6,))
        expect_eq(d["errors"], {"timeout": 2}, "silence")
    s = secured(c)
    d = load(s.url + "/?end=drop", "-n", 3, "-c", 1, "--cacert", c.ca, rc=(6,))
    expect_eq(d["errors"], {"closed": 3}, "closed")
    d = load(s.url + "/?end=short&size=300KiB", "-n", 3, "-c", 1, "--cacert", c.ca, rc=(6,))
    expect_eq(d["errors"], {"closed": 3}, "short")
    d = load(s.url + "/?size=1MiB", "-n", 20, "-c", 2, "--cacert", c.ca)
    expect_eq((d["failed"], d["bytes_in"] > 20 << 20), (0, True), "large answers")
    s.end()
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            while True:
                k, _ = server.accept()
                with k:
                    k.recv(4096)
                    k.sendall(b"\x16\x03\x03\x00\x05hello")
        threading.Thread(target=serve, daemon=True).start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        d = load(url, "-n", 2, "-c", 1, rc=(6,))
        expect(set(d["errors"]) <= {"tls", "reset"} and d["failed"] == 2, d["errors"])


@test("large bodies go through it, both ways, and streams")
def _():
    need_tls()
    c = Certificates()
    s = secured(c)
    (tmp() / "body").write_bytes(os.urandom(3 << 20))
    d = load(s.url + "/?size=2MiB", "-n", 4, "-c", 2, "--body-file", "body", "--cacert", c.ca)
    expect_eq((d["failed"], d["statuses"]), (0, {"2xx": 4}), "large")
    d = load(s.url + "/?sse=20&every=1ms", "-n", 3, "-c", 3, "--cacert", c.ca)
    expect_eq((d["failed"], d["stream"]["events"]), (0, 60), "events")
    n = s.end()
    expect(n["bytes_in"] > 4 * (3 << 20), "bodies arrived")


@test("what makes no sense is refused with a sentence")
def _():
    r = assay("load", "--insecure", "-n", 1, "http://127.0.0.1:1/")
    expect_eq(r.rc, 2, "exit status")
    expect_in("https://", r.err)
    need_tls()
    (tmp() / "none.pem").write_text("nothing\n")
    r = assay("load", "--cacert", "none.pem", "-n", 1, "https://127.0.0.1:1/")
    expect_eq(r.rc, 2, "exit status")
    expect_in("no certificates in 'none.pem'", r.err)
    r = assay("stub", "--listen", "https://127.0.0.1:0")
    expect_eq(r.rc, 2, "https without a certificate")
    expect_in("--tls-cert FILE and --tls-key FILE name it", r.err, "stderr")
    r = assay("stub", "--listen", "ws://127.0.0.1:0")
    expect_eq(r.rc, 2, "ws is no address to listen at")
    r = assay("stub", "--tls-cert", "none.pem")
    expect_in("belong together", r.err)
    r = assay("stub", "--tls-cert", "none.pem", "--tls-key", "none.pem")
    expect_in("no certificate in 'none.pem'", r.err)
    r = assay("load", "-n", 1, "https://127.0.0.1:1/", env={"ASSAY_LIBDIR": str(tmp())})
    expect_in("TLS cannot be spoken", r.err)


main()
