#pragma once
/*
 * process -- one process of the job: its open /proc files and last numbers.
 *
 * The files stay open, so a read is one pread() and a recycled pid cannot be
 * mistaken for the process (reads of a dead one fail with ESRCH). A process
 * that was not on a CPU since the last tick has nothing new to tell: one look
 * at schedstat, the cheapest file, spares the dear ones.
 *
 * Where there are more processes than we may have descriptors, the others are
 * opened anew at each look, and looked at for their birth: it is who they are.
 */
#include "base/cleanup.h"
#include "base/fault.h"
#include "collect/own.h"
#include "collect/sums.h"
#include "os/proc.h"
#include "wire/task.h"

enum as_proc_file { AS_PF_STAT, AS_PF_STATUS, AS_PF_IO, AS_PF_SCHED, AS_NPF };

struct as_thread {
	int32_t tid;
	uint32_t instance;
	int fd;                              /* its schedstat                          */
	bool seen;                           /* in the listing of this tick            */
	uint64_t pass;                       /* that told of it (collect/pass.h)       */
	struct as_proc_sched now, base, was; /* was: at the look before */
	char name[68];                       /* as the sink knows it                   */
};

/* How much of its memory is its own, as last read (collect/pss.h): parts of 1. */
struct as_share {
	int64_t read_ns; /* when; AS_PROC_NA: never                         */
	int64_t cost_ns; /* of the reading, in CPU time                     */
	int64_t rss;     /* what it read over                               */
	int64_t faults;  /* minor ones of all relatives, by then            */
	double pss, uss; /* of the resident size                            */
	double anon;     /* of anonymous memory; NaN: the kernel does not say */
	double shmem;    /* of shared memory, likewise                      */
	int64_t mapped;  /* shared memory in all processes then             */
	uint32_t crowd;  /* how many relatives there were then              */
};

/* Counters of `stat` where the run began to count. */
struct as_proc_base {
	int64_t minflt, cminflt, majflt, cmajflt;
	int64_t utime, stime, cutime, cstime;
};

struct as_process {
	/*
	 * What every tick looks at, in AS_LINE bytes: of thousands most have nothing new to
	 * tell. Of `stat` the state is still among them.
	 */
	int32_t pid;
	uint32_t instance;
	uint64_t passed; /* the last pass that told of it whole (collect/pass.h)          */
	uint32_t nthreads;
	uint32_t moves;   /* another number when it ran                                   */
	uint8_t quiet;    /* ticks since it was read in full                              */
	uint8_t standing; /* private to collect/sums.c                                    */
	bool changed;     /* it has other numbers than in its last row                    */
	bool fresh;       /* it was its turn at this tick: it has a row                   */
	bool moved;       /* it ran since it was read in full                             */
	bool grown_up;    /* it was told again after its first second, and is what it was */
	bool gone;        /* we waited for it: the kernel has added it to ours            */
	bool ended;       /* its end was told; until somebody waits, it counts in sums    */
	bool shown;       /* it ended, and its last rows are in a frame                   */
	bool missing;     /* it is not there any more: somebody waited for it             */
	bool placed;      /* its family was looked for                                    */
	bool named;       /* the witness knows that it belongs                            */
	bool leaving;     /* it was on its way out by then: see collect/census.c           */
	bool renamed;     /* its name may not be the one that was told                    */
	bool settled;     /* private to collect/pass.c                                    */
	/*
	 * Times in ns, its own CPU time by the scheduler's clock, whoever tells it: see
	 * as_process_cpu().
	 */
	struct as_proc_stat stat;
	/* What a pass touches when it ran: of thousands each line is waited for. */
	uint64_t begun; /* the last pass that told of a thread of it           */
	struct as_thread *threads;
	int64_t start_ns; /* CLOCK_BOOTTIME of its birth as it was told; AS_PROC_NA  */
	int64_t fds;
	int32_t family; /* those forked from it and not replaced by exec; -1: none known */
	uint32_t parent;
	bool midway; /* it ran before the run began                                  */
	bool newcomer, first_pass;
	bool bereaved;  /* a child ended since it was read: it may have waited for it   */
	bool args_told; /* the sink knows its command line                              */
	bool io_denied, pss_denied;
	bool ended_told; /* told_ended was                                      */
	bool ended_any;  /* and it is more than nothing                         */
	bool io_news;    /* during a pass: that, or its I/O, is new             */
	bool by_clock;   /* its CPU time is, not by ticks                       */
	struct as_proc_status status;
	struct as_proc_io io;
	int64_t wait_ended; /* cpu wait of its threads that ended       */
	int64_t run_ended;  /* their CPU time, see as_process_cpu()     */
	/* What its row and its part of the sums are made of, besides. */
	struct as_own own;         /* what it read and wrote itself            */
	int64_t pss, uss, pss_age; /* what its share makes of its size now */
	/* What stood there when the run began, where it was there before. */
	struct as_proc_base base;
	struct as_proc_status status_base;
	struct as_proc_io io_base;
	int64_t file_max;   /* the most pages of files that it was seen with   */
	union as_part part; /* of the job's sums, as it stands there    */
	/* What is seldom looked at. */
	struct as_wire_ended told_ended; /* of those that ended, as last told        */
	struct as_share share;
	struct as_wire_usage told_sum; /* during a pass, of several threads        */
	struct as_proc_sched sched;
	int dir;          /* /proc/PID; -1: not kept open, see as_process_visit() */
	int fd[AS_NPF];   /* -1: not open (not wanted, refused or no descriptors left) */
	char told[68];    /* the name that the sink knows, "" when none   */
	int64_t born_ns;  /* its birth since the run's start, once it was told; AS_NA */
	char *args;       /* its command line as last seen, or NULL                  */
	int64_t ended_by; /* its wait status; AS_NA                                  */
	int64_t died_ns;  /* since the run's start; AS_NA                            */
	size_t threads_cap;
	int32_t deputy; /* a thread that has its memory and files still, see as_process_body(); 0 */
};

_Static_assert(offsetof(struct as_process, stat.state) < AS_LINE, "every tick looks at it");

/* Births of one pid that are told to be so close are one: not all who tell look as closely. */
#define AS_BIRTH_SLACK (INT64_C(50) * 1000 * 1000)

/* What reading costs descriptors and instance numbers. */
struct as_proc_pool {
	int keep; /* descriptors that may still be kept open */
	uint32_t next_process, next_thread;
	/*
	 * Many processes take turns: those with instance % turns == turn are read
	 * at this tick. Of the others only the end is looked for.
	 */
	uint32_t turns, turn;
	bool last_looks; /* of some threads nobody told the end: see as_threads_doubt() */
};

/* All unknown, with a number of its own. */
void as_process_init(struct as_process *p, struct as_proc_pool *pool, int32_t pid);
/* Open /proc/PID. `midway`: it ran before the run began, its counters start at 0 now. */
int as_process_open(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		    bool midway, struct as_err *err);
/* Was it ever read? One that was only told of has no numbers. */
static inline bool as_process_seen(const struct as_process *p)
{
	return p->stat.pid != 0;
}
/* Can it be looked at, now? */
static inline bool as_process_there(const struct as_process *p)
{
	return as_process_seen(p) && !p->gone && !p->ended && !p->missing && p->stat.state != 'Z';
}
/* Read what is wanted if it is its turn, or nothing where nothing changed. False: it is gone. */
bool as_process_read(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		     bool in_full);
/* It was told of by a pass and never read: open its folder, and tell the sink who it is. */
void as_process_meet(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool);
void as_process_count_fds(struct as_process *p, const struct as_collect *c);
/* Its folder for a moment, kept open or not. dir is -1 when it is gone. */
struct as_visit {
	int dir;
	int opened; /* for this visit; -1: none */
};
struct as_visit as_process_visit(const struct as_process *p, const struct as_collect *c);
/*
 * The folder where its memory and its files are told: its own, or when the first thread has
 * ended before the others, that of one which lives.
 */
struct as_visit as_process_body(const struct as_process *p, const struct as_collect *c);
/* Its first thread has ended, others have not: find one. */
void as_process_depute(struct as_process *p, const struct as_collect *c);
static inline void as_visit_done(struct as_visit *v)
{
	as_close_(&v->opened);
}
#define as_auto_visit as_cleanup(as_visit_done)
/*
 * Its CPU time now, by the scheduler's clock: what its threads say of themselves and what is
 * known of those that ended. /proc tells that of all only in ticks, so of one that was there
 * before the run it is taken to be as much as fits them: what is unknown is before, and in the
 * base. BPF knows it.
 */
int64_t as_process_cpu(const struct as_process *p);
/*
 * It has used `cpu` ns, of which ticks say how it was split into user and system time. As in the
 * kernel neither part ever goes back.
 */
void as_process_split(struct as_proc_stat *s, int64_t cpu, double user_ticks, double system_ticks);
/* Put its numbers into the frame: one row, and one for each thread; or those of before again. */
void as_process_rows(struct as_process *p, const struct as_collect *c, struct as_frame *frame);
/* Tell the sink who it is and, by died_ns and ended_by, that it ended. */
void as_process_tell(struct as_process *p, const struct as_collect *c);
/* Nobody told its end: it lived at `seen_ns`, since the run's start, or was born later. */
void as_process_last_seen(struct as_process *p, const struct as_collect *c, int64_t seen_ns);
/* Its command line is this now: NUL between arguments, NULL when unknown. */
void as_process_args(struct as_process *p, const struct as_collect *c, const char *args, size_t n);
/* Release the descriptors; the numbers stay. */
void as_process_close(struct as_process *p, struct as_proc_pool *pool);
/* Release all. */
void as_process_done(struct as_process *p, struct as_proc_pool *pool);

/* Its largest resident size, if it is of the time that is measured; AS_NA: it was before that. */
int64_t as_process_hwm(const struct as_process *p);

/* Growth since `base`; AS_NA when either is unknown. */
static inline int64_t as_since(int64_t now, int64_t base)
{
	return now == AS_PROC_NA || base == AS_PROC_NA ? AS_NA : now - base;
}
