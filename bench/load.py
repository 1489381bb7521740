"""load -- CPU time of the generator for a request, beside wrk and hey."""
import re
import resource
import shutil
import signal
import subprocess

from harness import Result, median, ratio

ABOUT = "CPU time of a generator of load for one answered request, 64 connections, a small answer."
CONNECTIONS = 64
LIMIT_WRK, LEAST_HEY = 0.85, 4.0

# How many requests were answered, as each tool says it.
COUNTS = {
    "assay": re.compile(r'"requests": (\d+)'),
    "wrk": re.compile(r"(\d+) requests in"),
    "hey": re.compile(r"\[200\]\s+(\d+) responses"),
}


def commands(b, url, seconds):
    yield "assay", [b.assay, "load", "--no-store", "--json", "-c", CONNECTIONS, "-z",
                    f"{seconds}s", url]
    if shutil.which("wrk"):
        yield "wrk", ["wrk", "-t", 1, "-c", CONNECTIONS, "-d", f"{seconds}s", url]
    if shutil.which("hey"):
        yield "hey", ["hey", "-c", CONNECTIONS, "-z", f"{seconds}s", "-cpus", 1, url]


def children_s():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def cost_us(name, command):
    """CPU time of one request, in us, all that starting the tool takes included."""
    before = children_s()
    p = subprocess.run([str(w) for w in command], capture_output=True, text=True)
    spent = children_s() - before
    count = COUNTS[name].search(p.stdout)
    return 1e6 * spent / int(count[1])


def run(b):
    rounds, seconds = (3, 1) if b.quick else (8, 5)
    server = subprocess.Popen([b.assay, "stub"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1] + "/"
        costs = {name: [] for name, _ in commands(b, url, seconds)}
        for _ in range(rounds):
            for name, command in commands(b, url, seconds):
                costs[name].append(cost_us(name, command))
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()
    return told(costs)


def told(costs):
    result = Result(["", "CPU a request, us", "assay takes of it", "budget"])
    for name, values in costs.items():
        result.keep(**{f"{name}_cpu_us": median(values)})
        row = [name, median(values).text(), "", ""]
        if name != "assay":
            share = ratio(costs["assay"], values)
            limit = LIMIT_WRK if name == "wrk" else 1 / LEAST_HEY
            row[2:] = [share.text(), result.budget(f"a request, beside {name}", share, limit, "")]
            result.keep(**{f"to_{name}": share})
        result.rows.append(row)
    return result
