#pragma once
/*
 * field -- the table of metrics: the only place where a metric is described.
 *
 * A metric is one row of as_fields[]. The terminal column, the JSON key, the
 * CSV head, the stored column and docs/metrics.md are all printed from it.
 * To add one: add a row here, and one as_row_set() in the collector that
 * reads it. Nothing else in the tree names it.
 *
 * Values are int64_t in the unit of the field: nanoseconds, bytes, a count, or
 * a ratio in millionths. AS_NA is "unknown": never 0, never the last value.
 *
 * A gauge is what it is at the moment of the sample. A counter only grows
 * while the run lasts (it starts at 0 with the run); people see its rate, and
 * its rate is what mean, min, max and last are taken of: bytes or events a
 * second, and for nanoseconds the plain ratio (1.0 is one core busy).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define AS_NA INT64_MIN

/* Who a row of numbers is about. An instance is one of them: a core, a pid, a tid. */
enum as_scope {
	AS_SYSTEM,    /* the machine                            */
	AS_CORE,      /* one CPU of it                          */
	AS_JOB,       /* the command and everything it started  */
	AS_PROCESS,   /* one process of the job                 */
	AS_THREAD,    /* one thread of the job                  */
	AS_CGROUP,    /* the control group of the job           */
	AS_PEER,      /* somebody the job had connections with  */
	AS_INTERFACE, /* a network interface that it could use */
	AS_COLLECTOR, /* a part of assay itself */
	AS_DEVICE,    /* one block device of the machine        */
	AS_FILE,      /* one file that the job read or wrote    */
	AS_LOAD,      /* the load that was sent to the job      */
	AS_SOCKET,    /* one socket of the job, with its peer   */
	AS_NSCOPES
};

enum as_unit { AS_NS, AS_BYTES, AS_COUNT, AS_RATIO };

#define AS_RATIO_ONE INT64_C(1000000)

enum as_kind { AS_GAUGE, AS_COUNTER };

/* What must be read to know a field: `--metrics` pays only for what is asked. */
enum as_group {
	AS_G_CPU,     /* CPU time of the job                  */
	AS_G_MEMORY,  /* memory of the job                    */
	AS_G_IO,      /* bytes and operations of the job      */
	AS_G_SCHED,   /* context switches and waiting         */
	AS_G_FAULTS,  /* page faults                          */
	AS_G_FDS,     /* open files                           */
	AS_G_THREADS, /* every thread by itself               */
	AS_G_CGROUP,  /* the control group's own accounts     */
	AS_G_SYSTEM,  /* the whole machine                    */
	AS_G_CORES,   /* every core by itself                 */
	AS_G_PSI,     /* pressure stall information           */
	AS_G_NET,     /* connections, and bytes over them     */
	AS_G_SELF,    /* what measuring costs; always known   */
	AS_G_PATHS,   /* every file by itself; opt-in         */
	AS_G_PSS,     /* shared memory in shares              */
	AS_G_LOAD,    /* requests sent and their latencies; of a load */
	AS_NGROUPS
};

/* clang-format off */
/*
 * X(id, key, scope, unit, kind, group, title, help)
 * Rows of one scope stand together; a key is never renamed once released.
 */
#define AS_FIELDS(X)                                                                                                     \
	X(SYS_USER,      "system.cpu.user",          SYSTEM,  NS,    COUNTER, SYSTEM,  "user",     "CPU time in user code, all cores, guests included")   \
	X(SYS_SYSTEM,    "system.cpu.system",        SYSTEM,  NS,    COUNTER, SYSTEM,  "system",   "CPU time in the kernel, interrupts included")         \
	X(SYS_IOWAIT,    "system.cpu.iowait",        SYSTEM,  NS,    COUNTER, SYSTEM,  "iowait",   "idle time with disk I/O outstanding")                 \
	X(SYS_STEAL,     "system.cpu.steal",         SYSTEM,  NS,    COUNTER, SYSTEM,  "steal",    "time taken by the hypervisor for others")             \
	X(SYS_IDLE,      "system.cpu.idle",          SYSTEM,  NS,    COUNTER, SYSTEM,  "idle",     "idle time, iowait not included")                      \
	X(SYS_MEM_USED,  "system.memory.used",       SYSTEM,  BYTES, GAUGE,   SYSTEM,  "used",     "memory in use: total less available")                 \
	X(SYS_MEM_AVAIL, "system.memory.available",  SYSTEM,  BYTES, GAUGE,   SYSTEM,  "available","memory that new work could get without swapping")     \
	X(SYS_MEM_CACHE, "system.memory.cache",      SYSTEM,  BYTES, GAUGE,   SYSTEM,  "cache",    "page cache, buffers and reclaimable slab")            \
	X(SYS_SWAP,      "system.memory.swap",       SYSTEM,  BYTES, GAUGE,   SYSTEM,  "swap",     "swap space in use")                                   \
	X(SYS_LOAD1,     "system.load.1m",           SYSTEM,  RATIO, GAUGE,   SYSTEM,  "load",     "load average over one minute")                        \
	X(SYS_LOAD5,     "system.load.5m",           SYSTEM,  RATIO, GAUGE,   SYSTEM,  "load 5m",  "load average over five minutes")                      \
	X(SYS_LOAD15,    "system.load.15m",          SYSTEM,  RATIO, GAUGE,   SYSTEM,  "load 15m", "load average over fifteen minutes")                   \
	X(PSI_CPU,       "system.psi.cpu",           SYSTEM,  NS,    COUNTER, PSI,     "psi cpu",  "time in which some task waited for a CPU")            \
	X(PSI_MEM,       "system.psi.memory",        SYSTEM,  NS,    COUNTER, PSI,     "psi mem",  "time in which some task waited for memory")           \
	X(PSI_MEM_FULL,  "system.psi.memory_full",   SYSTEM,  NS,    COUNTER, PSI,     "psi mem!", "time in which every task waited for memory")          \
	X(PSI_IO,        "system.psi.io",            SYSTEM,  NS,    COUNTER, PSI,     "psi io",   "time in which some task waited for I/O")              \
	X(PSI_IO_FULL,   "system.psi.io_full",       SYSTEM,  NS,    COUNTER, PSI,     "psi io!",  "time in which every task waited for I/O")             \
	X(CORE_USER,     "core.cpu.user",            CORE,    NS,    COUNTER, CORES,   "user",     "CPU time of this core in user code")                  \
	X(CORE_SYSTEM,   "core.cpu.system",          CORE,    NS,    COUNTER, CORES,   "system",   "CPU time of this core in the kernel")                 \
	X(CORE_IOWAIT,   "core.cpu.iowait",          CORE,    NS,    COUNTER, CORES,   "iowait",   "idle time of this core with disk I/O outstanding")    \
	X(CORE_STEAL,    "core.cpu.steal",           CORE,    NS,    COUNTER, CORES,   "steal",    "time of this core taken by the hypervisor")           \
	X(JOB_CPU,       "job.cpu.total",            JOB,     NS,    COUNTER, CPU,     "cpu",      "CPU time of the job, ended processes included")       \
	X(JOB_USER,      "job.cpu.user",             JOB,     NS,    COUNTER, CPU,     "user",     "CPU time in user code, ended processes included")     \
	X(JOB_SYSTEM,    "job.cpu.system",           JOB,     NS,    COUNTER, CPU,     "system",   "CPU time in the kernel, ended processes included")    \
	X(JOB_WAIT,      "job.cpu.wait",             JOB,     NS,    COUNTER, SCHED,   "cpu wait", "time that ready threads waited for a CPU")            \
	X(JOB_PROCS,     "job.processes",            JOB,     COUNT, GAUGE,   CPU,     "procs",    "processes alive")                                     \
	X(JOB_THREADS,   "job.threads",              JOB,     COUNT, GAUGE,   CPU,     "threads",  "threads alive")                                       \
	X(JOB_MEMORY,    "job.memory.used",          JOB,     BYTES, GAUGE,   MEMORY,  "memory",   "anonymous and shared memory, page cache left out")    \
	X(JOB_RSS,       "job.memory.rss_sum",       JOB,     BYTES, GAUGE,   MEMORY,  "rss sum",  "resident sizes added up: shared pages count again")   \
	X(JOB_VMS,       "job.memory.vms",           JOB,     BYTES, GAUGE,   MEMORY,  "vms",      "address space of all processes")                      \
	X(JOB_SWAP,      "job.memory.swap",          JOB,     BYTES, GAUGE,   MEMORY,  "swap",     "memory that was moved to swap")                       \
	X(JOB_PSS,       "job.memory.pss",           JOB,     BYTES, GAUGE,   PSS,     "pss",      "resident memory, files too, each page shared out among its users") \
	X(JOB_USS,       "job.memory.uss",           JOB,     BYTES, GAUGE,   PSS,     "uss",      "resident memory that only one process has")            \
	X(JOB_PSS_AGE,   "job.memory.pss_age",       JOB,     NS,    GAUGE,   PSS,     "pss age",  "how old the oldest reading behind these two is")       \
	X(JOB_MINFLT,    "job.faults.minor",         JOB,     COUNT, COUNTER, FAULTS,  "faults",   "page faults answered from memory")                    \
	X(JOB_MAJFLT,    "job.faults.major",         JOB,     COUNT, COUNTER, FAULTS,  "major",    "page faults that had to read from a disk")            \
	X(JOB_CTX_VOL,   "job.switches.voluntary",   JOB,     COUNT, COUNTER, SCHED,   "switches", "context switches because a thread had to wait")       \
	X(JOB_CTX_INV,   "job.switches.forced",      JOB,     COUNT, COUNTER, SCHED,   "forced",   "context switches because the time slice was over")    \
	X(JOB_FDS,       "job.files.open",           JOB,     COUNT, GAUGE,   FDS,     "files",    "open file descriptors of all processes")              \
	X(JOB_READ,      "job.io.read",              JOB,     BYTES, COUNTER, IO,      "read",     "bytes fetched from block devices")                    \
	X(JOB_WRITE,     "job.io.write",             JOB,     BYTES, COUNTER, IO,      "write",    "bytes sent, or to be sent, to block devices")         \
	X(JOB_CANCELLED, "job.io.write_cancelled",   JOB,     BYTES, COUNTER, IO,      "cancelled", "bytes of io.write that were deleted before a disk got them") \
	X(JOB_RCHAR,     "job.io.read_calls_bytes",  JOB,     BYTES, COUNTER, IO,      "rchar",    "bytes asked for by read calls: cache, pipes, sockets too") \
	X(JOB_WCHAR,     "job.io.write_calls_bytes", JOB,     BYTES, COUNTER, IO,      "wchar",    "bytes handed to write calls: cache, pipes, sockets too")   \
	X(JOB_SYSCR,     "job.io.read_calls",        JOB,     COUNT, COUNTER, IO,      "reads",    "read calls")                                          \
	X(JOB_SYSCW,     "job.io.write_calls",       JOB,     COUNT, COUNTER, IO,      "writes",   "write calls")                                         \
	X(JOB_DISK_READ, "job.disk.read",            JOB,     BYTES, COUNTER, IO,      "from disk", "bytes its processes asked block devices for")        \
	X(JOB_DISK_WRITE, "job.disk.write",          JOB,     BYTES, COUNTER, IO,      "to disk",  "bytes its processes sent to block devices by themselves")    \
	X(JOB_DISK_READS, "job.disk.reads",          JOB,     COUNT, COUNTER, IO,      "dsk reads", "reads that block devices got from its processes")     \
	X(JOB_DISK_WRITES, "job.disk.writes",        JOB,     COUNT, COUNTER, IO,      "dsk wrts", "writes that block devices got from its processes")     \
	X(JOB_NET_SENT,  "job.net.sent",             JOB,     BYTES, COUNTER, NET,     "sent",     "payload sent: TCP, repeats left out; UDP if BPF counts it") \
	X(JOB_NET_RECV,  "job.net.received",         JOB,     BYTES, COUNTER, NET,     "received", "payload received: TCP, and UDP if BPF counts it")     \
	X(JOB_NET_RETRANS, "job.net.retransmits",    JOB,     COUNT, COUNTER, NET,     "again",    "TCP segments that had to be sent again")              \
	X(JOB_NET_CONNS, "job.net.connections",      JOB,     COUNT, COUNTER, NET,     "conns",    "TCP connections, opened and accepted, each once")      \
	X(JOB_NET_SOCKETS, "job.net.sockets",        JOB,     COUNT, GAUGE,   NET,     "sockets",  "TCP and UDP sockets that its processes hold")         \
	X(JOB_NET_UNIX,  "job.net.unix",             JOB,     COUNT, GAUGE,   NET,     "unix",     "unix sockets that its processes hold")                \
	X(JOB_NET_OUT,   "job.net.ip.sent",          JOB,     BYTES, COUNTER, NET,     "ip out",   "IP packets sent, headers and all protocols")          \
	X(JOB_NET_IN,    "job.net.ip.received",      JOB,     BYTES, COUNTER, NET,     "ip in",    "IP packets received, headers and all protocols")      \
	X(JOB_NET_OUTS,  "job.net.packets.sent",     JOB,     COUNT, COUNTER, NET,     "packets",  "IP packets sent, as the kernel hands them on")        \
	X(JOB_NET_INS,   "job.net.packets.received", JOB,     COUNT, COUNTER, NET,     "in",       "IP packets received, as the kernel hands them on")    \
	X(PROC_USER,     "process.cpu.user",         PROCESS, NS,    COUNTER, CPU,     "user",     "CPU time in user code")                               \
	X(PROC_SYSTEM,   "process.cpu.system",       PROCESS, NS,    COUNTER, CPU,     "system",   "CPU time in the kernel")                              \
	X(PROC_WAIT,     "process.cpu.wait",         PROCESS, NS,    COUNTER, SCHED,   "cpu wait", "time that its ready threads waited for a CPU")        \
	X(PROC_THREADS,  "process.threads",          PROCESS, COUNT, GAUGE,   CPU,     "threads",  "threads alive")                                       \
	X(PROC_RSS,      "process.memory.rss",       PROCESS, BYTES, GAUGE,   MEMORY,  "rss",      "resident memory, shared pages counted whole")         \
	X(PROC_ANON,     "process.memory.anonymous", PROCESS, BYTES, GAUGE,   MEMORY,  "anon",     "resident memory that no file backs")                  \
	X(PROC_HWM,      "process.memory.peak",      PROCESS, BYTES, GAUGE,   MEMORY,  "peak",     "largest resident size so far, as the kernel keeps it") \
	X(PROC_VMS,      "process.memory.vms",       PROCESS, BYTES, GAUGE,   MEMORY,  "vms",      "address space")                                       \
	X(PROC_SWAP,     "process.memory.swap",      PROCESS, BYTES, GAUGE,   MEMORY,  "swap",     "memory that was moved to swap")                       \
	X(PROC_PSS,      "process.memory.pss",       PROCESS, BYTES, GAUGE,   PSS,     "pss",      "resident memory, each page shared out among its users") \
	X(PROC_USS,      "process.memory.uss",       PROCESS, BYTES, GAUGE,   PSS,     "uss",      "resident memory that nobody else has")                 \
	X(PROC_PSS_AGE,  "process.memory.pss_age",   PROCESS, NS,    GAUGE,   PSS,     "pss age",  "how old the reading is that these two are told from")  \
	X(PROC_MINFLT,   "process.faults.minor",     PROCESS, COUNT, COUNTER, FAULTS,  "faults",   "page faults answered from memory")                    \
	X(PROC_MAJFLT,   "process.faults.major",     PROCESS, COUNT, COUNTER, FAULTS,  "major",    "page faults that had to read from a disk")            \
	X(PROC_CTX_VOL,  "process.switches.voluntary", PROCESS, COUNT, COUNTER, SCHED, "switches", "context switches, waiting; while it lives, of its first thread")       \
	X(PROC_CTX_INV,  "process.switches.forced",  PROCESS, COUNT, COUNTER, SCHED,   "forced",   "context switches, forced; while it lives, of its first thread") \
	X(PROC_FDS,      "process.files.open",       PROCESS, COUNT, GAUGE,   FDS,     "files",    "open file descriptors")                               \
	X(PROC_READ,     "process.io.read",          PROCESS, BYTES, COUNTER, IO,      "read",     "bytes fetched from block devices, by itself") \
	X(PROC_WRITE,    "process.io.write",         PROCESS, BYTES, COUNTER, IO,      "write",    "bytes sent to block devices, by itself")  \
	X(PROC_CANCELLED, "process.io.write_cancelled", PROCESS, BYTES, COUNTER, IO,   "cancelled", "bytes it deleted before a disk got them, by itself") \
	X(PROC_RCHAR,    "process.io.read_calls_bytes",  PROCESS, BYTES, COUNTER, IO,  "rchar",    "bytes asked for by read calls, by itself") \
	X(PROC_WCHAR,    "process.io.write_calls_bytes", PROCESS, BYTES, COUNTER, IO,  "wchar",    "bytes handed to write calls, by itself")  \
	X(PROC_SYSCR,    "process.io.read_calls",    PROCESS, COUNT, COUNTER, IO,      "reads",    "read calls, by itself")                      \
	X(PROC_SYSCW,    "process.io.write_calls",   PROCESS, COUNT, COUNTER, IO,      "writes",   "write calls, by itself")                     \
	X(THR_CPU,       "thread.cpu",               THREAD,  NS,    COUNTER, THREADS, "cpu",      "CPU time; of one that ended beside others, to the last look")\
	X(THR_WAIT,      "thread.wait",              THREAD,  NS,    COUNTER, THREADS, "cpu wait", "time spent ready, waiting for a CPU")                 \
	X(CG_CPU,        "cgroup.cpu.total",         CGROUP,  NS,    COUNTER, CGROUP,  "cpu",      "CPU time of the group")                               \
	X(CG_USER,       "cgroup.cpu.user",          CGROUP,  NS,    COUNTER, CGROUP,  "user",     "CPU time of the group in user code")                  \
	X(CG_SYSTEM,     "cgroup.cpu.system",        CGROUP,  NS,    COUNTER, CGROUP,  "system",   "CPU time of the group in the kernel")                 \
	X(CG_PERIODS,    "cgroup.cpu.periods",       CGROUP,  COUNT, COUNTER, CGROUP,  "periods",  "quota periods in which the group wanted to run")      \
	X(CG_THROTTLES,  "cgroup.cpu.throttles",     CGROUP,  COUNT, COUNTER, CGROUP,  "throttles","quota periods in which the group was stopped")        \
	X(CG_THROTTLED,  "cgroup.cpu.throttled",     CGROUP,  NS,    COUNTER, CGROUP,  "throttled","time the group's run queues were stopped by the quota") \
	X(CG_MEM,        "cgroup.memory.total",      CGROUP,  BYTES, GAUGE,   CGROUP,  "total",    "all memory charged to the group, page cache too")     \
	X(CG_ANON,       "cgroup.memory.anonymous",  CGROUP,  BYTES, GAUGE,   CGROUP,  "anon",     "anonymous memory")                                    \
	X(CG_SHMEM,      "cgroup.memory.shared",     CGROUP,  BYTES, GAUGE,   CGROUP,  "shmem",    "shared memory and tmpfs")                             \
	X(CG_FILE,       "cgroup.memory.cache",      CGROUP,  BYTES, GAUGE,   CGROUP,  "cache",    "page cache of files, shared memory left out")         \
	X(CG_SWAP,       "cgroup.memory.swap",       CGROUP,  BYTES, GAUGE,   CGROUP,  "swap",     "swap space used by the group")                        \
	X(CG_PEAK,       "cgroup.memory.peak",       CGROUP,  BYTES, GAUGE,   CGROUP,  "peak",     "largest total so far, as the kernel keeps it")        \
	X(CG_OOM,        "cgroup.memory.oom_kills",  CGROUP,  COUNT, COUNTER, CGROUP,  "oom",      "processes killed because memory ran out")             \
	X(CG_READ,       "cgroup.io.read",           CGROUP,  BYTES, COUNTER, CGROUP,  "read",     "bytes read from block devices by the group")          \
	X(CG_WRITE,      "cgroup.io.write",          CGROUP,  BYTES, COUNTER, CGROUP,  "write",    "bytes written to block devices by the group")         \
	X(CG_PSI_CPU,    "cgroup.psi.cpu",           CGROUP,  NS,    COUNTER, CGROUP,  "psi cpu",  "time in which some task of the group waited for a CPU") \
	X(CG_PSI_MEM,    "cgroup.psi.memory",        CGROUP,  NS,    COUNTER, CGROUP,  "psi mem",  "time in which some task of the group waited for memory") \
	X(CG_PSI_IO,     "cgroup.psi.io",            CGROUP,  NS,    COUNTER, CGROUP,  "psi io",   "time in which some task of the group waited for I/O") \
	X(PEER_CONNS,    "peer.connections",         PEER,    COUNT, COUNTER, NET,     "conns",    "connections opened to it, or accepted from it")       \
	X(PEER_REUSED,   "peer.reused",              PEER,    COUNT, COUNTER, NET,     "reused",   "connections that had more than one exchange")         \
	X(PEER_EXCHANGES, "peer.exchanges",          PEER,    COUNT, COUNTER, NET,     "turns",    "questions answered over them, greetings of TLS left out") \
	X(PEER_OPEN,     "peer.open",                PEER,    COUNT, GAUGE,   NET,     "open",     "connections at the moment")                           \
	X(PEER_SENT,     "peer.bytes.sent",          PEER,    BYTES, COUNTER, NET,     "sent",     "payload sent to it, repeats not counted")             \
	X(PEER_RECV,     "peer.bytes.received",      PEER,    BYTES, COUNTER, NET,     "received", "payload received from it")                            \
	X(PEER_RETRANS,  "peer.retransmits",         PEER,    COUNT, COUNTER, NET,     "again",    "segments that had to be sent again")                  \
	X(PEER_RTT,      "peer.rtt",                 PEER,    NS,    GAUGE,   NET,     "rtt",      "round trip time, mean of its connections")            \
	X(PEER_WAIT,     "peer.wait",                PEER,    NS,    COUNTER, NET,     "waited",   "time with data out and nothing come back yet, at least") \
	X(NIC_RECV,      "interface.bytes.received", INTERFACE, BYTES, COUNTER, NET,   "received", "bytes that came in over it")                          \
	X(NIC_SENT,      "interface.bytes.sent",     INTERFACE, BYTES, COUNTER, NET,   "sent",     "bytes that went out over it")                         \
	X(NIC_INS,       "interface.packets.received", INTERFACE, COUNT, COUNTER, NET, "in",       "packets that came in over it")                        \
	X(NIC_OUTS,      "interface.packets.sent",   INTERFACE, COUNT, COUNTER, NET,   "out",      "packets that went out over it")                       \
	X(NIC_ERRORS,    "interface.errors",         INTERFACE, COUNT, COUNTER, NET,   "errors",   "packets that were broken, both ways")                 \
	X(NIC_DROPS,     "interface.drops",          INTERFACE, COUNT, COUNTER, NET,   "drops",    "packets for which there was no room, both ways") \
	X(COLL_CPU,      "collector.cpu",            COLLECTOR, NS,  COUNTER, SELF,    "cpu",      "CPU time of its samples")                             \
	X(COLL_CALLS,    "collector.calls",          COLLECTOR, COUNT, COUNTER, SELF,  "calls",    "system calls of its samples")                         \
	X(COLL_OPEN,     "collector.open",           COLLECTOR, NS,  GAUGE,   SELF,    "open",     "CPU time to open it, before the command started") \
	X(DEV_READ,      "device.read",              DEVICE,  BYTES, COUNTER, SYSTEM,  "read",     "bytes that it read, for everybody on the machine")    \
	X(DEV_WRITE,     "device.write",             DEVICE,  BYTES, COUNTER, SYSTEM,  "written",  "bytes that it wrote, for everybody on the machine")   \
	X(DEV_READS,     "device.reads",             DEVICE,  COUNT, COUNTER, SYSTEM,  "reads",    "reads that it completed")                             \
	X(DEV_WRITES,    "device.writes",            DEVICE,  COUNT, COUNTER, SYSTEM,  "writes",   "writes that it completed")                            \
	X(DEV_BUSY,      "device.busy",              DEVICE,  NS,    COUNTER, SYSTEM,  "busy",     "time in which it had something to do") \
	X(FILE_READ,     "file.read",                FILE,    BYTES, COUNTER, PATHS,   "read",     "bytes that read calls returned, from the page cache too") \
	X(FILE_WRITE,    "file.write",               FILE,    BYTES, COUNTER, PATHS,   "written",  "bytes that write calls took")                         \
	X(FILE_READS,    "file.read_calls",          FILE,    COUNT, COUNTER, PATHS,   "reads",    "read calls")                                          \
	X(FILE_WRITES,   "file.write_calls",         FILE,    COUNT, COUNTER, PATHS,   "writes",   "write calls")                                         \
	X(FILE_READ_TIME, "file.read_time",          FILE,    NS,    COUNTER, PATHS,   "reading",  "time that threads spent in read calls, added up")     \
	X(FILE_WRITE_TIME, "file.write_time",        FILE,    NS,    COUNTER, PATHS,   "writing",  "time that threads spent in write calls, added up")    \
	X(LOAD_REQUESTS, "load.requests",            LOAD,    COUNT, COUNTER, LOAD,    "requests", "requests that ended, however they did, warm-up too")  \
	X(LOAD_ERRORS,   "load.errors",              LOAD,    COUNT, COUNTER, LOAD,    "errors",   "those of them that failed")                           \
	X(LOAD_GOOD,     "load.good",                LOAD,    COUNT, COUNTER, LOAD,    "good",     "those of them that kept to all bounds of a good answer") \
	X(LOAD_FLIGHT,   "load.under_way",           LOAD,    COUNT, GAUGE,   LOAD,    "under way", "requests that were sent and not answered yet")       \
	X(LOAD_P50,      "load.latency.p50",         LOAD,    NS,    GAUGE,   LOAD,    "p50",      "median latency of what ended since the sample before") \
	X(LOAD_P99,      "load.latency.p99",         LOAD,    NS,    GAUGE,   LOAD,    "p99",      "99th percentile of the same")                         \
	X(LOAD_MAX,      "load.latency.max",         LOAD,    NS,    GAUGE,   LOAD,    "max",      "largest of the same")                                 \
	X(LOAD_WIRE_P50, "load.wire.p50",            LOAD,    NS,    GAUGE,   LOAD,    "wire p50", "median of the time between sending and the answer")   \
	X(LOAD_WIRE_P99, "load.wire.p99",            LOAD,    NS,    GAUGE,   LOAD,    "wire p99", "99th percentile of the same")                         \
	X(LOAD_CPU,      "load.generator.cpu",       LOAD,    NS,    COUNTER, LOAD,    "generator", "CPU time of the generator's thread")                  \
	X(SOCK_PROTOCOL, "socket.protocol",          SOCKET,  COUNT, GAUGE,   NET,     "protocol", "number of its protocol: 6 is TCP, 17 UDP")            \
	X(SOCK_ACCEPTED, "socket.accepted",          SOCKET,  COUNT, GAUGE,   NET,     "accepted", "1 where the peer called, 0 where the job did")        \
	X(SOCK_LOCAL,    "socket.local_port",        SOCKET,  COUNT, GAUGE,   NET,     "local",    "its own port")                                        \
	X(SOCK_PORT,     "socket.peer_port",         SOCKET,  COUNT, GAUGE,   NET,     "port",     "its peer's port")                                     \
	X(SOCK_STATE,    "socket.state",             SOCKET,  COUNT, GAUGE,   NET,     "state",    "of TCP: the last one known, as the kernel numbers them") \
	X(SOCK_SENT,     "socket.bytes.sent",        SOCKET,  BYTES, COUNTER, NET,     "sent",     "payload sent, repeats not counted")                   \
	X(SOCK_RECV,     "socket.bytes.received",    SOCKET,  BYTES, COUNTER, NET,     "received", "payload received")                                    \
	X(SOCK_RETRANS,  "socket.retransmits",       SOCKET,  COUNT, COUNTER, NET,     "again",    "segments that had to be sent again")                  \
	X(SOCK_RTT,      "socket.rtt",               SOCKET,  NS,    GAUGE,   NET,     "rtt",      "round trip time, smoothed, at the end")               \
	X(SOCK_RTT_MIN,  "socket.rtt_min",           SOCKET,  NS,    GAUGE,   NET,     "rtt min",  "smallest round trip time")                            \
	X(SOCK_OTHERS,   "socket.others",            SOCKET,  COUNT, COUNTER, NET,     "others",   "how many more there were, with fewer bytes")
/* clang-format on */

enum as_field_id {
#define X(id, key, scope, unit, kind, group, title, help) AS_F_##id,
	AS_FIELDS(X)
#undef X
		AS_NFIELDS
};

struct as_field {
	const char *key;
	const char *title; /* a word or two, for tables and plots   */
	const char *help;  /* one sentence without its full stop    */
	enum as_scope scope;
	enum as_unit unit;
	enum as_kind kind;
	enum as_group group;
};

struct as_scope_info {
	const char *name;   /* "system", also the first word of its keys */
	const char *plural; /* "threads": its list in JSON               */
	const char *title;  /* "Each core", a heading of the docs        */
	uint16_t first;     /* its fields are [first, first + n)         */
	uint16_t n;
	bool single;        /* a run has one of it, with a timeline      */
	const char *number; /* what an instance's key is: "pid", or NULL */
	const char *detail; /* what its detail is: "command", or NULL   */
	/* The field that ranks its instances, or two that do so together; in a list. */
	enum as_field_id rank[2];
};

extern const struct as_field as_fields[AS_NFIELDS];

extern const struct as_scope_info as_scopes[AS_NSCOPES];
/* Asked for of every row and cell of every sample. */
static inline const struct as_scope_info *as_scope_info(enum as_scope scope)
{
	return &as_scopes[scope];
}
const char *as_group_name(enum as_group group);
const char *as_group_help(enum as_group group);
const char *as_group_reads(enum as_group group); /* the files, for the list of prices */
const char *as_unit_name(enum as_unit unit);
/* The field with this key, or AS_NFIELDS. */
enum as_field_id as_field_find(const char *key, size_t len);

/* Put a value in a row of the field's own scope, and look one up. */
static inline void as_row_set(int64_t *row, enum as_field_id f, int64_t v)
{
	row[f - as_scope_info(as_fields[f].scope)->first] = v;
}

static inline int64_t as_row_at(const int64_t *row, enum as_field_id f)
{
	return row[f - as_scope_info(as_fields[f].scope)->first];
}

/*
 * want -- the set of fields that somebody will look at. A collector reads only
 * the files that some wanted field needs.
 */
struct as_want {
	bool field[AS_NFIELDS];
	uint32_t groups; /* 1 << group of every field that is set */
	uint32_t asked;  /* likewise, where one was named and not only "all": worth a price */
};

/* All but the groups that are opt-in, because they cost the machine or the target something. */
struct as_want as_want_all(void);
struct as_want as_want_none(void);
static inline bool as_wants_group(const struct as_want *w, enum as_group group)
{
	return w->groups >> group & 1;
}
void as_want_add(struct as_want *w, enum as_group group);
/* "cpu,memory,job.io": groups, keys, or beginnings of keys that end at a dot. */
int as_want_parse(const char *list, struct as_want *ret, struct as_err *err);
