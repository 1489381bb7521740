"""rooms -- the rooms of src/ and the only doors between them, as data.

tools/lint.py holds every #include to these tables. A better table is welcome;
a way around it is not. Run as a program it prints the rooms as Markdown.
"""

# room: (what lives there, what it may include besides itself)
ROOMS = {
    "base":    ("errors, cleanup, bounded buffers, spans of text, numbers, clocks, JSON, faults",
                ""),
    "wire":    ("bytes shared with guests and BPF: layouts and asserts only", ""),
    "bpf":     ("BPF programs", "wire"),
    "pyabi":   ("CPython layouts as data; freestanding", "wire"),
    "unwind":  ("`.eh_frame` rows and walking; freestanding, no libc heap", "wire"),
    "preload": ("the allocation hooks: a guest in someone's process", "wire pyabi unwind"),
    "stat":    ("histograms, sketches, tests, change points", "base"),
    "os":      ("/proc, cgroup v1+v2, netlink, perf_event, ptrace, BPF loading, through one `env` "
                "handle", "base wire bpf"),
    "net":     ("connections, HTTP/1, HTTP/2, TLS, SSE", "base os"),
    "profile": ("the stack profile: intern, merge, diff, filter; formats in and out", "base stat"),
    "run":     ("the model: fields, rows, steps, sinks", "base stat profile"),
    "collect": ("one file a source: system proc thread cgroup docker gpu_* net energy psi",
                "base wire os net run"),
    "stack":   ("remote Python frames, native stacks, merging, symbols, loop lag",
                "base stat wire os pyabi unwind profile"),
    "heap":    ("reading and judging what preload wrote", "base wire os pyabi stat profile stack"),
    "judge":   ("verdict, compare, regress, plan, cost, predict", "base stat profile run"),
    "engine":  ("spawn or attach, tick, exits, feed a sink",
                "base wire os stat profile run collect stack heap"),
    "load":    ("schedules, flows, rollouts, capacity",
                "base os net stat profile run judge engine"),
    "store":   ("the only room that knows SQL; implements the run's sink", "base profile run"),
    "report":  ("rows in, bytes out: text, json, csv, svg, html",
                "base stat profile run judge heap"),
    "tui":     ("live screens", "base profile run heap report"),
    "cli":     ("main.c with the table of commands, one file each; wires engine to store",
                "base wire pyabi unwind stat os net profile run collect stack heap judge engine "
                "load store report tui api queue http"),
    "api":     ("`include/assay.h` and what implements it",
                "base profile run judge engine store report assay.h"),
    "python":  ("what binds `include/assay.h` to Python", "assay.h"),
    "queue":   ("later: job submission", ""),
    "http":    ("later: the server", ""),
}

# external header (with * and ?): the rooms that may include it
ONLY_IN = {
    "sqlite3.h":          "store",
    "libpq-fe.h":         "store",
    "zstd.h":             "base",
    "zlib.h":             "profile report",
    "jansson.h":          "base store",
    "sys/ptrace.h":       "os",
    "linux/bpf.h":        "os bpf",
    "linux/cn_proc.h":    "os",
    "linux/connector.h":  "os",
    "linux/genetlink.h":  "os",
    "linux/netlink.h":    "os",
    "linux/perf_event.h": "os",
    "linux/taskstats.h":  "os",
    "bpf/*":              "os bpf",
    "sys/socket.h":       "os net preload",  # a guest knows no env, and goes to its collector
    "openssl/*":          "net",
    "nghttp2/*":          "net",
    "elfutils/*":         "stack",
    "gelf.h":             "stack",
    "libelf.h":           "stack",
    "dwarf.h":            "stack",
    "ncurses.h":          "tui",
    "curses.h":           "tui",
    "microhttpd.h":       "http",
    "Python.h":           "python",
}


def may_use(room):
    return ROOMS[room][1].split()


def markdown():
    lines = ["| room | what lives there | may include, besides itself |", "|---|---|---|"]
    for room, (about, doors) in ROOMS.items():
        lines.append(f"| {room} | {about} | {doors or '–'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown())
