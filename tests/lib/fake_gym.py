"""fake_gym -- what of NeMo Gym a collector of rollouts meets: a head server, agents, a
resources server with sessions. Each row says in "fake" how it wants to be treated:

    {"fail": 2, "status": 503}     the first 2 attempts are answered with that status
    {"drop": 1}                    … get no answer: the connection is closed
    {"delay": 0.2}                 the answer takes so long
    {"answer": "text"}             instead of a result, and of what tells a failure; its letters
                                   are bytes with {"encoding": "latin-1"}
    {"add": {"_ng_failure_class": "x"}}   added to the result
    {"tools": [12.5, 80]}          durations in its trajectory, ms

    g = Gym("simple_agent", "other_agent")
    g.head        "127.0.0.1:PORT"
    g.runs        the rows that /run got, in order
    g.most        how many it had at once, at most
    g.pid         of all servers, but for those in g.pids, by their names; 0: nobody says

    Gym(path=PATH)                 an agent at that unix socket too
"""
import collections
import http.server
import json
import socket
import threading
import time

__all__ = ["Gym", "row"]


def row(i, **more):
    return {"responses_create_params": {"input": [{"role": "user", "content": f"question {i}"}]},
            "verifier_metadata": {"i": i}, **more}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.disable_nagle_algorithm = self.request.family == socket.AF_INET
        super().setup()

    def log_message(self, *_):
        pass

    def address_string(self):
        return ""

    def answer(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.server.gym.on_get(self)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.handle_post(self, self.path, json.loads(body))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, gym, post, path=None):
        self.address_family = socket.AF_UNIX if path else socket.AF_INET
        self.gym, self.handle_post = gym, post
        super().__init__(path or ("127.0.0.1", 0), Handler)
        self.port = self.server_address[1] if not path else 0
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


    def handle_error(self, *_):
        """Who was killed does not read its answer: no news."""


class Gym:
    def __init__(self, *agents, path=None):
        self.lock = threading.Lock()
        self.runs, self.bodies, self.sessions = [], [], {}
        self.tries = collections.Counter()
        self.at_once = self.most = 0
        self.aggregated = []
        self.resources = Server(self, self.on_resources)
        self.agents = {name: Server(self, self.on_agent) for name in agents or ("simple_agent",)}
        if path:
            Server(self, self.on_agent, str(path))
        self.server = Server(self, None)
        self.head = f"127.0.0.1:{self.server.port}"
        self.pid = 0
        self.pids = {}

    # --- the head server -------------------------------------------------------

    def yaml(self):
        lines = ["config_paths:", "- a.yaml", "- b: c.yaml", "default_host: 127.0.0.1"]
        for name, s in self.agents.items():
            lines += [f"{name}:", "  responses_api_agents:", "    simple_agent:",
                      "      entrypoint: app.py", "      datasets:", "      - name: example",
                      "        port: 1", "      resources_server:", "        name: weather",
                      "        port: 2", "      host: 127.0.0.1", f"      port: {s.port}"]
        lines += ["weather:", "  resources_servers:", "    weather:", "      entrypoint: 'app.py'",
                  '      host: "127.0.0.1"', f"      port: {self.resources.port}", "dry_run: false"]
        return "\n".join(lines) + "\n"

    def instances(self):
        return [{"name": name, "process_name": name, "server_type": "responses_api_agents",
                 "host": "127.0.0.1", "port": s.port, "status": "success",
                 "pid": self.pids.get(name, self.pid) or None,
                 "url": f"http://127.0.0.1:{s.port}"} for name, s in self.agents.items()]

    def on_get(self, h):
        pages = {"/": lambda: {"status": "ok"}, "/global_config_dict_yaml": self.yaml,
                 "/server_instances": self.instances}
        if h.path in pages:
            h.answer(200, pages[h.path]())
        else:
            h.answer(404, {"detail": "Not Found"})

    # --- agents ----------------------------------------------------------------

    def count(self, step):
        with self.lock:
            self.at_once += step
            self.most = max(self.most, self.at_once)

    def on_agent(self, h, path, body):
        if path == "/aggregate_metrics":
            self.aggregated.append(body)
            rewards = [r["reward"] for r in body["verify_responses"]]
            h.answer(200, {"agent_metrics": {"mean/reward": sum(rewards) / len(rewards)},
                           "key_metrics": {"mean/reward": 1.0}, "group_level_metrics": []})
            return
        self.count(1)
        try:
            self.on_run(h, body)
        finally:
            self.count(-1)

    def on_run(self, h, body):
        fake = body.get("fake", {})
        key = (body["_ng_task_index"], body["_ng_rollout_index"])
        with self.lock:
            self.runs.append(body)
            self.tries[key] += 1
            n = self.tries[key]
        time.sleep(fake.get("delay", 0))
        if n <= fake.get("drop", 0):
            h.close_connection = True
            h.connection.shutdown(socket.SHUT_RDWR)
        elif n <= fake.get("fail", 0):
            h.answer(fake.get("status", 500), self.words(fake) or "it failed")
        elif "answer" in fake:
            h.answer(200, self.words(fake))
        else:
            self.before_answer(key)
            h.answer(200, self.result(body, fake))

    def words(self, fake):
        return fake.get("answer", "").encode(fake.get("encoding", "utf-8"))

    def before_answer(self, key):
        """For tests that look at a moment."""

    def result(self, body, fake):
        calls = [{"tool_name": "get_weather", "duration_ms": ms, "status": "completed"}
                 for ms in fake.get("tools", [])]
        more = {"ng_trajectory": {"schema_version": "1.0", "tool_calls": calls}} if calls else {}
        kept = {k: v for k, v in body.items() if k not in ("_ng_task_index", "_ng_rollout_index",
                                                           "agent_ref", "fake")}
        return {**kept, "response": {"id": "resp", "output": [], "usage": {"total_tokens": 12}},
                "reward": 0.25, "unknown_field": {"z": 1, "a": [1.0, 2.50, "é"]}, **more,
                **fake.get("add", {})}

    # --- the resources server --------------------------------------------------

    def on_resources(self, h, path, body):
        if path == "/seed_session":
            with self.lock:
                sid = f"s{len(self.sessions)}"
                self.sessions[sid] = []
            h.answer(200, {}, [("Set-Cookie", f"Weather___weather={sid}; path=/; httponly"),
                               ("set-cookie", "other=1")])
            return
        jar = dict(p.split("=", 1) for p in h.headers.get("Cookie", "").split("; ") if "=" in p)
        session = self.sessions.get(jar.get("Weather___weather"))
        if session is None:
            h.answer(500, "no session")
            return
        session.append((path, body))
        if path == "/verify":
            h.answer(200, {**body, "reward": 0.5})
        elif path == "/get_weather":
            h.answer(200, {"city": body["city"], "weather": "cold"},
                     [("Set-Cookie", "other=2; path=/")])
        else:
            h.answer(404, {"detail": "Not Found"})
