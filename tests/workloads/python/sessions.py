"""A NeMo Gym agent whose sessions take memory that is known to the byte: on POST /run it maps
so many bytes of its own and touches each page, holds them for a time, gives them back or never.

    {"takes": {"bytes": 4194304, "hold": 0.5, "keep": false}}    says the row

Prints its port."""
import http.server
import json
import mmap
import time

KEPT = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        takes = row["takes"]
        m = mmap.mmap(-1, takes["bytes"], mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, takes["bytes"], mmap.PAGESIZE):
            m[at] = 1
        time.sleep(takes["hold"])
        if takes["keep"]:
            KEPT.append(m)
        else:
            m.close()
        body = json.dumps({**row, "reward": 1.0}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
