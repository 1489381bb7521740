#include "os/inject.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/clock.h"
#include "os/microstop.h"
#include "os/remote.h"

enum {
	PAGE = 4096,
	STACK = 64 << 10, /* that the borrowed thread gets                    */
	REGION = 2 * PAGE + sizeof(struct as_wire_attach) / PAGE * PAGE + PAGE + STACK,
	RED_ZONE = 128,
	XSTATE_MOST = 16 << 10,
	RESTART = -512, /* ERESTARTSYS; the kernel's own, as are those below  */
	RESTART_NOINTR = -513,
	RESTART_NOHAND = -514,
	RESTART_BLOCK = -516,
};

static const int64_t patience = AS_SECOND; /* with what the thread was made to do */

static bool put(const struct as_inject *i, uint64_t at, const void *from, size_t n)
{
	return !as_remote_write(i->pid, at, from, n);
}

/* ── what is done there ───────────────────────────────────────────────── */

/*
 * Position-independent, and complete: rbx is the struct. The first part is the
 * borrowed thread's. When the new thread is there it waits a moment for us, and
 * returns as from a signal if we do not come. The second part is the new
 * thread's: what it leads to must not return here.
 */
extern const char as_inject_code[], as_inject_code_end[];

__asm__(".pushsection .rodata\n"
	".globl as_inject_code, as_inject_code_end\n"
	".hidden as_inject_code, as_inject_code_end\n"
	"as_inject_code:\n"
	"	lea 80(%rbx), %rdi\n"
	"	xor %esi, %esi\n"
	"	lea 1f(%rip), %rdx\n"
	"	mov %rbx, %rcx\n"
	"	call *16(%rbx)\n" /* thread_create(&thread, NULL, 1f, struct) */
	"	inc %eax\n"
	"	mov %eax, 88(%rbx)\n"
	"	mov $2000, %ebp\n"
	"0:	mov $24, %eax\n" /* sched_yield */
	"	syscall\n"
	"	dec %ebp\n"
	"	jne 0b\n"
	"	mov 56(%rbx), %rsp\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	"	ud2\n"
	"1:	push %rbx\n"
	"	mov %rdi, %rbx\n"
	"	mov 80(%rbx), %rdi\n"
	"	call *48(%rbx)\n" /* detach(thread) */
	"	cmpq $0, 8(%rbx)\n"
	"	jne 3f\n"
	"	lea 504(%rbx), %rdi\n"
	"	mov $2, %esi\n" /* RTLD_NOW */
	"	call *24(%rbx)\n"
	"	test %rax, %rax\n"
	"	je 4f\n"
	"	mov %rax, %rdi\n"
	"	lea 104(%rbx), %rsi\n"
	"	call *32(%rbx)\n"
	"	test %rax, %rax\n"
	"	je 4f\n"
	"	mov %rax, 8(%rbx)\n"
	"	movl $1, 92(%rbx)\n" /* LOADED */
	"3:	mov %rbx, %rdi\n"
	"	mov 8(%rbx), %rax\n"
	"	pop %rbx\n"
	"	jmp *%rax\n"
	"4:	call *40(%rbx)\n" /* the loader says why */
	"	test %rax, %rax\n"
	"	je 6f\n"
	"	xor %ecx, %ecx\n"
	"5:	mov (%rax,%rcx), %dl\n"
	"	mov %dl, 248(%rbx,%rcx)\n"
	"	test %dl, %dl\n"
	"	je 6f\n"
	"	inc %ecx\n"
	"	cmp $255, %ecx\n"
	"	jb 5b\n"
	"6:	mov %rbx, %rcx\n"
	"	pop %rbx\n"
	"	xor %eax, %eax\n"
	"	movl $3, 92(%rcx)\n" /* ERROR */
	"	ret\n"
	"as_inject_code_end:\n"
	".popsection\n");

/* ── the thread, stopped ──────────────────────────────────────────────── */

struct kept {
	struct user_regs_struct regs;
	uint64_t mask;
	size_t xsize;
	_Alignas(64) unsigned char xstate[XSTATE_MOST];
};

/* The kernel's frame of a signal: what its return reads. */
struct frame {
	uint64_t return_at;
	struct {
		uint64_t flags, link;
		stack_t stack;
		mcontext_t machine;
		uint64_t mask;
	} context;
};

struct work {
	struct as_inject *is;
	struct kept kept;
	uint64_t frame_at, region;
	uint64_t steps;
	bool runs; /* it is not stopped                */
	int late;  /* a signal that is to be sent again */
	enum as_inject_result result;
};

/* Whoever is killed at any of these must leave the process unharmed. */
static void step(struct work *w)
{
	if (++w->steps == w->is->die_at)
		(void)kill(getpid(), SIGKILL);
}

static bool get_xstate(pid_t tid, struct kept *k)
{
	struct iovec io = {k->xstate, sizeof k->xstate};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &io) < 0 ||
	    io.iov_len > sizeof k->xstate - 64)
		return false;
	k->xsize = io.iov_len;
	return true;
}

static bool keep(pid_t tid, struct kept *k)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, &k->regs) == 0 &&
	       ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof k->mask, &k->mask) == 0 &&
	       get_xstate(tid, k);
}

static void give_back(pid_t tid, struct kept *k)
{
	struct iovec io = {k->xstate, k->xsize};

	(void)ptrace(PTRACE_SETREGSET, tid, (void *)NT_X86_XSTATE, &io);
	(void)ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof k->mask, &k->mask);
	(void)ptrace(PTRACE_SETREGS, tid, NULL, &k->regs);
}

/* The next stop of a thread that was told to go on, as ptrace has it; 0: none in time. */
static int next_stop(pid_t tid, int64_t until)
{
	const int how = WSTOPPED | WNOHANG | __WALL | __WNOTHREAD;
	siginfo_t info = {0};
	int r;

	while (!(r = waitid(P_PID, (id_t)tid, &info, how)) && !info.si_pid && as_now() < until)
		(void)sched_yield();
	return r < 0 || info.si_pid != tid ? 0 : info.si_status;
}

enum { CALL_STOP = SIGTRAP | 0x80 };

/* A signal that comes meanwhile is sent again; not one that what we made it do has caused. */
static bool put_off(struct work *w, int stop)
{
	if (stop == SIGSEGV || stop == SIGBUS || stop == SIGILL || stop == SIGFPE ||
	    stop == SIGTRAP)
		return false;
	w->late = stop;
	return true;
}

/* Up to the beginning or the end of its next call. A signal meanwhile is put off. */
static bool to_next_call(struct work *w, int64_t until)
{
	pid_t tid = w->is->tid;

	for (;;) {
		step(w);
		if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL) < 0)
			return false;
		int stop = next_stop(tid, until);
		if (stop == CALL_STOP)
			return true;
		if (!stop || (!(stop >> 8) && !put_off(w, stop)))
			return false;
	}
}

/* Stopped where the kernel thinks of signals and of calls to be made again. */
static bool to_event(struct work *w, int64_t until)
{
	pid_t tid = w->is->tid;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return false;
	for (bool runs = w->runs;; runs = false) {
		if (!runs && ptrace(PTRACE_CONT, tid, NULL, NULL) < 0)
			return false;
		int stop = next_stop(tid, until);
		if (stop >> 8)
			return true;
		if (!stop)
			return false;
		(void)put_off(w, stop);
	}
}

/* ── the frame ────────────────────────────────────────────────────────── */

static void set_machine(mcontext_t *m, const struct user_regs_struct *r)
{
	const uint64_t values[] = {
		[REG_R8] = r->r8,
		[REG_R9] = r->r9,
		[REG_R10] = r->r10,
		[REG_R11] = r->r11,
		[REG_R12] = r->r12,
		[REG_R13] = r->r13,
		[REG_R14] = r->r14,
		[REG_R15] = r->r15,
		[REG_RDI] = r->rdi,
		[REG_RSI] = r->rsi,
		[REG_RBP] = r->rbp,
		[REG_RBX] = r->rbx,
		[REG_RDX] = r->rdx,
		[REG_RAX] = r->rax,
		[REG_RCX] = r->rcx,
		[REG_RSP] = r->rsp,
		[REG_RIP] = r->rip,
		[REG_EFL] = r->eflags,
		[REG_CSGSFS] = (r->cs & 0xffff) | (r->ss & 0xffff) << 48,
	};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		m->gregs[i] = (greg_t)values[i];
}

/* A call that was interrupted is made again: by the kernel, or as it would. */
static struct user_regs_struct as_after_signal(struct user_regs_struct r)
{
	int64_t result = (int64_t)r.rax;

	if ((int64_t)r.orig_rax < 0)
		return r;
	if (result == RESTART || result == RESTART_NOINTR || result == RESTART_NOHAND)
		r.rax = r.orig_rax;
	else if (result == RESTART_BLOCK)
		r.rax = SYS_restart_syscall;
	else
		return r;
	r.rip -= 2;
	return r;
}

enum {
	XFEATURES = 512,            /* of the state: which parts of it are in use       */
	XTILES = 1 << 17 | 1 << 18, /* AMX: a thread that never used it has no room for it */
};

static uint64_t word_at(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Bytes of the state with these parts, each where it always is. */
static uint32_t size_of(uint64_t features)
{
	uint32_t most = 576, size, offset, c, d;

	for (uint32_t i = 2; i < 63; i++) {
		if (!(features >> i & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, c, d);
		most = offset + size > most ? offset + size : most;
	}
	return most;
}

/* What the kernel writes beside the state, to recognize it. How many bytes it all is. */
static size_t seal_xstate(struct kept *k)
{
	const uint32_t first = 0x46505853, last = 0x46505845;
	unsigned char *sw = k->xstate + 464; /* magic, size with the last, features, size */
	uint64_t features = word_at(sw);     /* ptrace has them at the beginning */

	if (!(word_at(k->xstate + XFEATURES) & XTILES))
		features &= ~(uint64_t)XTILES;
	uint32_t size = size_of(features);
	if (size > k->xsize)
		return 0;
	memcpy(sw, &first, 4);
	memcpy(sw + 4, &(uint32_t){size + 4}, 4);
	memcpy(sw + 8, &features, 8);
	memcpy(sw + 16, &size, 4);
	memcpy(k->xstate + size, &last, 4);
	return size + 4;
}

static bool put_frame(struct work *w)
{
	struct kept x = w->kept;
	struct user_regs_struct r = as_after_signal(x.regs);
	size_t n = seal_xstate(&x);
	uint64_t state = (x.regs.rsp - RED_ZONE - n) & ~UINT64_C(63);
	struct frame f = {.return_at = w->is->return_at, .context = {.flags = 7, .mask = x.mask}};

	w->frame_at = ((state - sizeof f) & ~UINT64_C(15)) - 8;
	set_machine(&f.context.machine, &r);
	f.context.machine.fpregs = (fpregset_t)(uintptr_t)state;
	return n && put(w->is, state, x.xstate, n) && put(w->is, w->frame_at, &f, sizeof f);
}

/* ── what it is made to do ────────────────────────────────────────────── */

static bool set_regs(pid_t tid, struct user_regs_struct r)
{
	r.orig_rax = UINT64_MAX; /* no call is to be made again */
	r.eflags &= ~UINT64_C(0x400);
	return ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0;
}

/* One system call; its result. It returns through the frame. */
static int64_t call(struct work *w, int64_t number, const uint64_t arg[6], int64_t until)
{
	struct user_regs_struct r = w->kept.regs;

	r.rax = (uint64_t)number;
	r.rdi = arg[0];
	r.rsi = arg[1];
	r.rdx = arg[2];
	r.r10 = arg[3];
	r.r8 = arg[4];
	r.r9 = arg[5];
	r.rip = w->is->call_at;
	r.rsp = w->frame_at;
	if (!set_regs(w->is->tid, r) || !to_next_call(w, until) || !to_next_call(w, until) ||
	    ptrace(PTRACE_GETREGS, w->is->tid, NULL, &r) < 0)
		return -EIO;
	return (int64_t)r.rax;
}

static uint64_t struct_at(const struct work *w)
{
	return w->region + PAGE;
}

static bool fill_region(struct work *w)
{
	struct as_wire_attach a = w->is->with;

	a.magic = AS_WIRE_ATTACH_MAGIC;
	a.frame = w->frame_at + 8;
	a.region = w->region;
	a.bytes = REGION;
	return put(w->is, struct_at(w), &a, sizeof a) &&
	       put(w->is, w->region, as_inject_code, (size_t)(as_inject_code_end - as_inject_code));
}

static int64_t make_region(struct work *w, int64_t until)
{
	const uint64_t want[6] = {0, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  UINT64_MAX};
	int64_t r = call(w, SYS_mmap, want, until);

	if (r < 0)
		return r;
	w->region = (uint64_t)r;
	if (!fill_region(w))
		return -EFAULT;
	return call(w, SYS_mprotect, (uint64_t[6]){w->region, PAGE, PROT_READ | PROT_EXEC}, until);
}

/* A stop that it was not told to make, while it runs: it goes on. False: it cannot. */
static bool goes_on(struct work *w)
{
	int stop = next_stop(w->is->tid, 0);

	if (!stop)
		return true;
	w->runs = ((stop >> 8) || put_off(w, stop)) &&
		  ptrace(PTRACE_CONT, w->is->tid, NULL, NULL) == 0;
	return w->runs;
}

/* What thread_create returned, less one; 0: it is not over in time, or is gone. */
static int32_t wait_created(struct work *w, int64_t until)
{
	uint64_t at = struct_at(w) + offsetof(struct as_wire_attach, created);
	int32_t created = 0;

	while (!as_remote_read(w->is->pid, at, &created, sizeof created) && !created &&
	       as_now() < until && goes_on(w))
		(void)sched_yield();
	return created;
}

/* Nothing is asked of it meanwhile: each stop would take as long as we take to come. */
static bool run_code(struct work *w, int64_t until)
{
	struct user_regs_struct r = w->kept.regs;

	r.rip = w->region;
	r.rbx = struct_at(w);
	r.rsp = w->region + REGION;
	if (!set_regs(w->is->tid, r) || ptrace(PTRACE_CONT, w->is->tid, NULL, NULL) < 0)
		return false;
	w->runs = true;
	step(w);
	int32_t created = wait_created(w, until);
	step(w);

	w->is->os = created ? created - 1 : 0;
	return created == 1;
}

/* ── is it a moment for it? ───────────────────────────────────────────── */

/* A restartable sequence would not be, if it were left in the middle. */
static bool in_sequence(const struct as_inject *i)
{
	struct __ptrace_rseq_configuration c;
	uint64_t where = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, i->tid, (void *)sizeof c, &c) != sizeof c ||
	    !c.rseq_abi_pointer)
		return false;
	return as_remote_read(i->pid, c.rseq_abi_pointer + 8, &where, sizeof where) || where;
}

static bool is_event(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	       info.si_code >> 8 == PTRACE_EVENT_STOP;
}

static bool good_moment(const struct work *w)
{
	const struct user_regs_struct *r = &w->kept.regs;
	struct as_borrowed b = {r->rip, r->rsp, (int64_t)r->orig_rax, {r->rdi, r->rsi}};

	if (b.call < 0)
		b.call = -1;
	return r->cs == 0x33 && !in_sequence(w->is) && w->is->safe(w->is->arg, &b);
}

/* ── all of it ────────────────────────────────────────────────────────── */

static bool unmap_region(struct work *w, int64_t until)
{
	int64_t r = call(w, SYS_munmap, (uint64_t[6]){w->region, REGION}, until);

	w->region = 0;
	return r == 0;
}

static bool start_thread(struct work *w, int64_t until)
{
	int64_t r = make_region(w, until);

	if (r >= 0)
		return run_code(w, until);
	w->is->os = (int)-r;
	if (w->region)
		(void)unmap_region(w, until);
	return false;
}

/* Was it tired of waiting for us? Then it is where it was. */
static bool returned(const struct work *w)
{
	struct user_regs_struct r;

	return w->runs && ptrace(PTRACE_GETREGS, w->is->tid, NULL, &r) == 0 &&
	       r.rip - w->region >= PAGE;
}

static enum as_inject_result borrow(struct work *w, bool (*what)(struct work *, int64_t),
				    int64_t until)
{
	const uint64_t all = UINT64_MAX;
	pid_t tid = w->is->tid;

	if (!is_event(tid) || !keep(tid, &w->kept))
		return AS_INJECT_ELSEWHERE;
	if (!good_moment(w) || !put_frame(w))
		return AS_INJECT_UNSAFE;
	if (ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACESYSGOOD) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof all, &all) < 0)
		return AS_INJECT_ELSEWHERE;
	bool done = what(w, until);

	bool stopped = to_event(w, until);

	step(w);
	if (stopped && !returned(w))
		give_back(tid, &w->kept);
	if (done)
		return AS_INJECT_DONE;
	return stopped && (!w->runs || w->is->os) ? AS_INJECT_FAILED : AS_INJECT_LEFT;
}

static void work(void *arg)
{
	struct work *w = arg;

	w->result = borrow(w, start_thread, as_now() + patience);
}

bool as_inject_can(void)
{
	return true;
}

static enum as_inject_result stop_and(struct as_inject *i, void (*what)(void *), struct work *w)
{
	if (!as_microstop(i->tid, what, w, &i->stopped_ns))
		w->result = AS_INJECT_ELSEWHERE;
	if (w->late)
		(void)syscall(SYS_tgkill, i->pid, i->tid, w->late);
	return w->result;
}

enum as_inject_result as_inject(struct as_inject *i)
{
	struct work w = {.is = i, .result = AS_INJECT_ELSEWHERE};

	(void)stop_and(i, work, &w);
	i->at = w.region ? struct_at(&w) : 0;
	return w.result;
}

void as_inject_release(const struct as_inject *i)
{
	uint32_t yes = 1;

	(void)put(i, i->at + offsetof(struct as_wire_attach, released), &yes, sizeof yes);
}

static void unmap(void *arg)
{
	struct work *w = arg;

	w->result = borrow(w, unmap_region, as_now() + patience);
}

enum as_inject_result as_inject_undo(struct as_inject *i)
{
	struct work w = {.is = i, .region = i->at - PAGE, .result = AS_INJECT_ELSEWHERE};

	return stop_and(i, unmap, &w);
}
