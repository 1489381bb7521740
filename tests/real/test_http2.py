#!/usr/bin/env python3
"""`assay load --http2` against others: nghttpd, nginx, and a server of python3-h2 that errs."""
import os
import shutil
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from certificates import *
from harness import *
from jobs import *
from stubs import *

try:
    import h2.config
    import h2.connection
    import h2.errors
    import h2.events
    import h2.settings
except ImportError:
    h2 = None


def need_http2():
    if not (BUILD / "assay-http2.so").exists():
        skip("this build has no nghttp2")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def nghttpd(*options, tls=None):
    if not shutil.which("nghttpd"):
        skip("nghttpd is not installed")
    (tmp() / "www").mkdir()
    (tmp() / "www/index.html").write_text("hello")
    (tmp() / "www/large").write_bytes(os.urandom(1 << 20))
    port = free_port()
    words = [*options, "-a", "127.0.0.1", "-d", tmp() / "www", port]
    words += [tls[1], tls[0]] if tls else ["--no-tls"]
    start("nghttpd", *words)
    wait_for(lambda: answers(port), what="nghttpd")
    return port


@test("nghttpd on clear text: streams share connections, bodies go both ways")
def _():
    need_http2()
    port = nghttpd("--echo-upload")
    url = f"http://127.0.0.1:{port}/index.html"
    d = load(url, "--http2", "-n", 2000, "-c", 20, "--streams-per-connection", 10)
    expect_eq((d["requests"], d["failed"], d["statuses"]), (2000, 0, {"2xx": 2000}), "counts")
    expect_eq((d["connections"], d["connections_opened"]), (20, 2), "two connections for twenty")
    d = load(f"http://127.0.0.1:{port}/large", "--http2", "-n", 30, "-c", 5)
    expect_eq((d["failed"], d["bytes_in"] > 30 << 20), (0, True), "large answers")
    (tmp() / "body").write_bytes(os.urandom(300000))
    d = load(f"http://127.0.0.1:{port}/", "--http2", "-n", 20, "-c", 4, "--body-file", "body")
    expect_eq((d["failed"], d["bytes_out"] > 20 * 300000), (0, True), "uploads")
    expect(d["bytes_in"] > 20 * 300000, "and they came back")
    d = load(f"http://127.0.0.1:{port}/none", "--http2", "-n", 10, "-c", 2)
    expect_eq(d["errors"], {"status_4xx": 10}, "statuses")
    d = load(url, "--http2", "-R", "500", "-n", 200, "-c", 10)
    expect_eq((d["requests"], d["failed"]), (200, 0), "an open loop")
    d = load(url, "--http2", "-n", 100, "-c", 50, "-m", "HEAD")
    expect_eq((d["failed"], d["statuses"]), (0, {"2xx": 100}), "HEAD")


@test("fewer streams allowed than are asked for: they wait, and none fails")
def _():
    need_http2()
    port = nghttpd("-m", "3")
    d = load(f"http://127.0.0.1:{port}/", "--http2", "-n", 500, "-c", 30)
    expect_eq((d["requests"], d["failed"], d["connections_opened"]), (500, 0, 1), "counts")


@test("nghttpd over TLS: agreed by ALPN")
def _():
    need_http2()
    c = Certificates()
    port = nghttpd(tls=c.issue("127.0.0.1"))
    d = load(f"https://127.0.0.1:{port}/", "--http2", "-n", 500, "-c", 10, "--cacert", c.ca)
    expect_eq((d["requests"], d["failed"], d["statuses"]), (500, 0, {"2xx": 500}), "counts")
    expect_eq((d["connections_opened"], d["tls"]["handshakes"]), (1, 1), "one connection")
    cert, key = c.issue("127.0.0.1")
    s = stub("--tls-cert", cert, "--tls-key", key)
    d = load(s.url, "--http2", "-n", 2, "-c", 1, "--cacert", c.ca, rc=(6,))
    expect_eq(d["errors"], {"alpn": 2}, "a server that speaks HTTP/1.1 only")
    s.end()


@test("nginx says goodbye after some requests: nothing is lost, nothing asked twice")
def _():
    need_http2()
    if not shutil.which("nginx"):
        skip("nginx is not installed")
    port = free_port()
    log = tmp() / "access.log"
    (tmp() / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {tmp()}/pid; error_log {tmp()}/error.log;
        events {{ }}
        http {{ access_log {log}; client_body_temp_path {tmp()}/b; proxy_temp_path {tmp()}/p;
            fastcgi_temp_path {tmp()}/f; uwsgi_temp_path {tmp()}/u; scgi_temp_path {tmp()}/s;
            keepalive_requests 40;
            server {{ listen 127.0.0.1:{port} http2; location / {{ return 200 fine; }} }} }}""")
    start("nginx", "-c", tmp() / "nginx.conf", "-e", tmp() / "error.log")
    wait_for(lambda: answers(port), what="nginx")
    d = load(f"http://127.0.0.1:{port}/", "--http2", "-n", 1000, "-c", 10)
    expect_eq((d["requests"], d["failed"], d["statuses"]), (1000, 0, {"2xx": 1000}), "counts")
    expect(d["connections_opened"] >= 20, f"{d['connections_opened']} connections")
    wait_for(lambda: log.read_text().count("\n") >= 1000, what="the log")
    expect_eq(log.read_text().count("GET / HTTP/2.0\" 200"), 1000, "asked as often as counted")


class Peer:
    """A server of python3-h2: script(connection, stream) for each request."""
    def __init__(self, script):
        if not h2:
            skip("python3-h2 is not installed")
        self.script = script
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            c, _ = self.listener.accept()
            threading.Thread(target=self.one, args=(c,), daemon=True).start()

    def one(self, c):
        k = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        k.initiate_connection()
        with c:
            try:
                c.sendall(k.data_to_send())
                while data := c.recv(65536):
                    for e in k.receive_data(data):
                        if isinstance(e, h2.events.RequestReceived):
                            self.script(k, e.stream_id, c)
                    c.sendall(k.data_to_send())
            except (OSError, h2.exceptions.ProtocolError):
                pass


@test("reset streams, silence, a lie about the length, a cut stream, garbage: by their kinds")
def _():
    need_http2()
    ok = [(":status", "200")]

    def lie(k, s, c):
        k.send_headers(s, ok + [("content-length", "10")])
        k.send_data(s, b"four", end_stream=True)

    def cut(k, s, c):
        k.send_headers(s, ok + [("content-type", "text/event-stream")])
        k.send_data(s, b"data: 1\n\n")
        k.reset_stream(s, h2.errors.ErrorCodes.INTERNAL_ERROR)

    def events(k, s, c):
        k.send_headers(s, ok + [("content-type", "text/event-stream; charset=utf-8")])
        k.send_data(s, b"data: 1\n\ndata: 2\n\n", end_stream=True)

    def garbage(k, s, c):
        c.sendall(b"\x00\x00\x04\x03\x00\x00\x00\x00\x00oops")  # RST_STREAM of no stream
    refused = h2 and h2.errors.ErrorCodes.REFUSED_STREAM
    for kind, script in (("stream", lambda k, s, c: k.reset_stream(s, refused)), ("protocol", lie),
                         ("cut", cut), ("timeout", lambda k, s, c: None), ("protocol", garbage),
                         ("closed", lambda k, s, c: c.shutdown(socket.SHUT_RDWR))):
        patience = "0.5s" if kind == "timeout" else "30s"
        d = load(Peer(script).url, "--http2", "-n", 4, "-c", 2, "--timeout", patience, rc=(6,))
        expect_eq((d["requests"], d["errors"]), (4, {kind: 4}), kind)
    d = load(Peer(events).url, "--http2", "-n", 4, "-c", 2)
    expect_eq((d["failed"], d["stream"]["events"]), (0, 8), "events")
    expect(d["stream"]["first_byte_ms"]["p50"] is not None, "first byte")
    s = stub()
    d = load(s.url, "--http2", "-n", 2, "-c", 1, rc=(6,))
    expect(set(d["errors"]) <= {"protocol", "closed", "reset"} and d["failed"] == 2, d["errors"])
    s.end()


@test("what breaks the rules on a connection where nobody asked fails no request")
def _():
    need_http2()

    def later(k, s, c):
        k.send_headers(s, [(":status", "200")], end_stream=True)
        c.sendall(k.data_to_send())
        time.sleep(0.02)        # the next is due in a quarter of a second
        c.sendall(b"\x00\x00\x04\x03\x00\x00\x00\x00\x00oops")
    d = load(Peer(later).url, "--http2", "-R", 4, "-n", 4, "-c", 1)
    expect_eq((d["requests"], d["failed"], d["unasked"]), (4, 0, 3), "beside the requests")
    expect_eq(d["connections_opened"], 4, "each was left")


@test("several servers have connections of their own")
def _():
    need_http2()
    seen = []

    def script(k, s, c):
        seen.append(c.getsockname()[1])
        k.send_headers(s, [(":status", "204")], end_stream=True)
    a, b = Peer(script), Peer(script)
    both = ",".join(p.url[len("http://"):-1] for p in (a, b))
    d = load("http://any/", "--http2", "--targets", both, "-n", 40, "-c", 4)
    expect_eq((d["requests"], d["failed"]), (40, 0), "requests")
    expect_eq((len(set(seen)), seen.count(seen[0])), (2, 20), "each had half")


@test("a GOAWAY that took half of what was asked: the other half is asked again")
def _():
    need_http2()
    left = []

    def script(k, s, c):
        if k in left:
            return
        if not left:  # only the first connection, right after its first request
            left.append(k)
            c.sendall(k.data_to_send() + b"\0\0\x08\x07\0" + bytes(4) +
                      s.to_bytes(4, "big") + bytes(4))
        k.send_headers(s, [(":status", "200")], end_stream=True)
    def goodbye(k, s, c):
        c.sendall(k.data_to_send() + b"\0\0\x08\x07\0" + bytes(12))

    d = load(Peer(goodbye).url, "--http2", "-n", 4, "-c", 2)
    expect_eq((d["requests"], d["errors"]), (4, {"closed": 4}), "who only leaves is left alone")
    d = load(Peer(script).url, "--http2", "-n", 6, "-c", 3, "--timeout", "5s")
    expect_eq((d["requests"], d["failed"], d["connections_opened"]), (6, 0, 2), d["errors"])


main()
