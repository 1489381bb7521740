#!/usr/bin/env python3
"""A flow against FastAPI: a login that sets a cookie, a token, a job that takes its time."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from harness import *
from schemas import *

APP = '''
import secrets
import time

import fastapi
import uvicorn

app = fastapi.FastAPI()
users, jobs = {}, {}


@app.post("/login")
async def login(request: fastapi.Request, response: fastapi.Response):
    user = (await request.json())["user"]
    sid = secrets.token_hex(4)
    users[sid] = user
    response.set_cookie("sid", sid, httponly=True, samesite="lax", max_age=60)
    return {"token": {"value": f"{user}/{sid}"}}


@app.post("/jobs", status_code=202)
async def start(request: fastapi.Request, response: fastapi.Response):
    sid = request.cookies.get("sid", "")
    if request.headers.get("authorization") != f"Bearer {users.get(sid)}/{sid}":
        raise fastapi.HTTPException(401)
    jobs[len(jobs)] = time.monotonic() + 0.03
    response.headers["Location"] = str(request.url_for("ask", number=len(jobs) - 1))
    return {"id": len(jobs) - 1}


@app.get("/jobs/{number}")
async def ask(number: int):
    return {"state": "done" if time.monotonic() > jobs[number] else "running", "id": number}


@app.get("/count")
async def count():
    return {"users": len(users), "jobs": len(jobs)}


server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))


@app.on_event("startup")
async def tell():
    import asyncio

    async def later():
        while not server.started:
            await asyncio.sleep(0.01)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    asyncio.create_task(later())

server.run()
'''

FLOW = '''{
 "base": "{{env.TARGET}}",
 "rows": "users.jsonl",
 "steps": [
  {"name": "login", "url": "/login", "json": {"user": "{{row.user}}"}, "check": {"status": 200},
   "capture": {"token": {"json": "token.value"}, "sid": {"cookie": "sid"}}},
  {"name": "start", "url": "/jobs", "json": {}, "headers": {"Authorization": "Bearer {{token}}"},
   "capture": {"where": {"header": "location"}, "id": {"json": "/id"}}, "check": {"status": 202}},
  {"name": "wait", "url": "{{where}}",
   "until": {"json": {"/state": "done"}, "every": "5ms", "within": "30s"},
   "check": {"json": {"/id": "{{id}}"}}}]}'''


@test("a session of FastAPI's: cookie, token, Location, a job that is done at last")
def _():
    modules = ["/usr/bin/python3", "-c", "import fastapi, uvicorn"]
    if subprocess.run(modules, capture_output=True).returncode:
        skip("Debian's Python has no fastapi")
    (tmp() / "app.py").write_text(APP)
    (tmp() / "flow.json").write_text(FLOW)
    (tmp() / "users.jsonl").write_text('{"user": "ann"}\n{"user": "bob"}\n')
    p = start("/usr/bin/python3", "app.py", stdout=subprocess.PIPE, text=True)
    os.environ["TARGET"] = f"http://127.0.0.1:{p.stdout.readline().strip()}"
    for how in (["-c", "4"], ["-R", "40", "-c", "20"]):
        r = assay("load", "--json", "-n", 40, *how, "flow.json", timeout=120)
        expect(r.rc in (0, 6), r.err)
        d = valid(r.json(), "load-1")
        steps = {s["name"]: s for s in d["steps"]}
        expect_eq((d["failed"], d["checks"]["failed"]), (0, 0), "all is well")
        expect_eq(d["sessions"]["ended"], 40, "sessions")
        expect_eq((steps["login"]["requests"], steps["start"]["requests"]), (40, 40), "one of each")
        expect(steps["wait"]["requests"] >= 80, "a job is not done at once")
        expect(d["sessions"]["duration_ms"]["p50"] >= 30, "nor before its time")
    p.send_signal(signal.SIGINT)


main()
