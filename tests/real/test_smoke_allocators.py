#!/usr/bin/env python3
"""assay-heap.so in programs that bring an allocator of their own."""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from guests import *
from harness import *
from heaps import *
from jobs import *

ALLOCATORS = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"]
MALLOCS = ("malloc", "calloc", "realloc", "aligned", "new")


def recorded(library, *command):
    """(what the program told of itself, its allocations and frees as told by the guest)"""
    both = {"LD_PRELOAD": f"{BUILD / 'assay-heap.so'}:{library}"}
    r, (host,) = hosts([work(command[0]), *command[1:]], 0, env=both)
    expect_eq((host.lost, host.nested), (0, 0), f"{library}: lost, nested")
    expect_eq(host.numbers, list(range(len(host.numbers))), f"{library}: numbers")
    return lines_of_json(r.ok().out)[0], host


def sums(host, ops):
    mine = [a.size for a in host.allocs if a.op in ops]
    return len(mine), len(host.frees), sum(mine)


@job_test("allocations are told once, and not what the allocator maps for them")
def _():
    for name in ALLOCATORS:
        found = glob.glob(f"/usr/lib/*/{name}")
        expect(found, f"{name} is not installed")
        _, nothing = recorded(found[0], "allocs")        # what its library does by itself
        for command, ops in ((("allocs", "malloc"), MALLOCS), (("allocs", "aligned"), MALLOCS),
                             (("allocs", "peak"), MALLOCS), (("allocs_new",), ("new",)),
                             (("host", "churn", "20011"), MALLOCS)):
            told, host = recorded(found[0], *command)
            more = tuple(a - b for a, b in zip(sums(host, ops), sums(nothing, ops)))
            expect_eq(more, (told["allocations"], told["frees"], told["bytes"]),
                      f"{name}: {command}")
            expect_eq(sum(a.op == "mmap" for a in host.allocs),
                      sum(a.op == "mmap" for a in nothing.allocs), f"{name}: mappings")


@job_test("a program that is linked with one: as if it were libc's, also in a recording")
def _():
    for name in ALLOCATORS:
        library, = glob.glob(f"/usr/lib/*/{name}")
        for source in ("allocs", "host"):
            run("cc", "-g", "-fno-builtin", "-o", source, ROOT / f"tests/workloads/{source}.c",
                "-Wl,--no-as-needed", library, "-pthread", "-ldl", timeout=120).ok()
        expect_in(name.split(".so")[0], run("ldd", "./allocs").ok().out)
        nothing = heap("./allocs")                       # what its library does by itself
        for command in (("allocs", "malloc", "calloc", "aligned", "peak", "leak"),
                        ("host", "churn", "20011")):
            h = heap(f"./{command[0]}", *command[1:])
            more = tuple(a - b for a, b in zip(h.allocated(*MALLOCS), nothing.allocated(*MALLOCS)))
            expect_eq(more, (h.truth[0]["allocations"], h.truth[0]["bytes"]), f"{name}: {command}")
            expect_eq(h.allocated("mmap"), nothing.allocated("mmap"), f"{name}: mappings")
            expect_eq(h.doc["processes"][0]["problem"], None, f"{name}: problem")
        h = heap("./allocs", "threads")                  # libc makes something for each of them too
        h.expect_sites(h.truth[0]["sites"])


APIS = {
    "libjemalloc.so.2": """
void *mallocx(size_t, int), *rallocx(void *, size_t, int);
size_t xallocx(void *, size_t, size_t, int);
void dallocx(void *, int), sdallocx(void *, size_t, int);
static void take(void)
{
	for (int i = 0; i < 31; i++)
		dallocx(mallocx(1009, 0), 0);
	for (int i = 0; i < 17; i++)
		keep = rallocx(mallocx(2003, 0), 5003, 0);
	sdallocx(mallocx(3001, 0), 3001, 0);
	void *p = mallocx(4001, 0);
	(void)xallocx(p, 4002, 0, 0);
	free(p);
}
""", "libmimalloc.so.2": """
void *mi_malloc(size_t), *mi_calloc(size_t, size_t), *mi_realloc(void *, size_t);
void *mi_malloc_aligned(size_t, size_t), mi_free(void *), *mi_new(size_t);
static void take(void)
{
	for (int i = 0; i < 31; i++)
		mi_free(mi_malloc(1009));
	for (int i = 0; i < 17; i++)
		keep = mi_realloc(mi_calloc(1, 2003), 5003);
	mi_free(mi_malloc_aligned(3001, 64));
	void *p = mi_new(4001);
	p = mi_realloc(p, 4002);
	free(p);
}
""", "libtcmalloc_minimal.so.4": """
void *tc_malloc(size_t), *tc_calloc(size_t, size_t), *tc_realloc(void *, size_t);
void *tc_memalign(size_t, size_t), tc_free(void *), *tc_new(size_t);
static void take(void)
{
	for (int i = 0; i < 31; i++)
		tc_free(tc_malloc(1009));
	for (int i = 0; i < 17; i++)
		keep = tc_realloc(tc_calloc(1, 2003), 5003);
	tc_free(tc_memalign(64, 3001));
	void *p = tc_new(4001);
	p = tc_realloc(p, 4002);
	free(p);
}
"""}
LATE = """#include <dlfcn.h>
int main(void) { return ((int (*)(void))dlsym(dlopen("./late.so", RTLD_NOW), "late"))(); }
"""
API_MADE = (31 + 17 * 2 + 1 + 2, 31 * 1009 + 17 * (2003 + 5003) + 3001 + 4001 + 4002)


@job_test("what they offer besides malloc is told once, and nobody finds what is not there")
def _():
    for name, text in APIS.items():
        library, = glob.glob(f"/usr/lib/*/{name}")
        (tmp() / "api.c").write_text("#include <stdlib.h>\nstatic void *volatile keep;\n" + text +
                                     "int main(void) { take(); return 0; }\n")
        for binding in ("lazy", "now"):
            run("cc", "-g", "-O0", "-fno-builtin", "-o", "api", tmp() / "api.c",
                f"-Wl,-z,{binding}", "-Wl,--no-as-needed", library, timeout=120).ok()
            h = heap("./api")
            expect_eq(h.by_function("top_by_size").get("take"), tuple(reversed(API_MADE)),
                      f"{name}, {binding}: bytes and count")
            expect_eq(h.by_function("leaked_by_line").get("take"), (17 * 5003, 17),
                      f"{name}, {binding}: left")
        run("cc", "-g", "-O0", "-fno-builtin", "-shared", "-fPIC", "-Dmain=late", "-o", "late.so",
            tmp() / "api.c").ok()
        (tmp() / "late.c").write_text(LATE)
        run("cc", "-g", "-o", "late", tmp() / "late.c", "-Wl,--no-as-needed", library, "-ldl").ok()
        expect_eq(heap("./late").by_function("top_by_size").get("take"), tuple(reversed(API_MADE)),
                  f"{name}, loaded late: bytes and count")
    (tmp() / "none.c").write_text("""extern void *mallocx(unsigned long, int) __attribute__((weak));
extern void *mi_malloc(unsigned long) __attribute__((weak));
int main(void) { return mallocx || mi_malloc; }
""")
    run("cc", "-o", "none", tmp() / "none.c").ok()
    heap("./none")


main()
