#include "os/call.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/num.h"

/* ── names ────────────────────────────────────────────────────────────── */

struct known {
	int32_t nr;
	const char *name;
	bool idles;
};

#define CALL(name)                                                                                 \
	{                                                                                          \
		SYS_##name, #name, false                                                           \
	}
#define IDLE(name)                                                                                 \
	{                                                                                          \
		SYS_##name, #name, true                                                            \
	}

/* The calls in which a thread may be seen. */
/* clang-format off */
static const struct known calls[] = {
	IDLE(epoll_pwait), IDLE(epoll_pwait2), IDLE(ppoll), IDLE(pselect6), IDLE(futex),
	IDLE(nanosleep), IDLE(clock_nanosleep), IDLE(rt_sigtimedwait), IDLE(rt_sigsuspend),
	IDLE(wait4), IDLE(waitid), IDLE(accept), IDLE(accept4), IDLE(semop), IDLE(semtimedop),
	IDLE(io_getevents), IDLE(io_pgetevents), IDLE(io_uring_enter), IDLE(mq_timedreceive),
	IDLE(msgrcv), IDLE(restart_syscall),
#ifdef SYS_epoll_wait /* not where they came later than their successors */
	IDLE(epoll_wait), IDLE(poll), IDLE(select), IDLE(pause), CALL(open), CALL(stat), CALL(lstat),
	CALL(access), CALL(mkdir), CALL(rmdir), CALL(unlink), CALL(rename), CALL(getdents),
	CALL(fork), CALL(vfork), CALL(sendfile), CALL(readlink), CALL(creat), CALL(dup2),
#endif
	CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(pwrite64),
	CALL(preadv), CALL(pwritev), CALL(preadv2), CALL(pwritev2), CALL(connect), CALL(sendto),
	CALL(recvfrom), CALL(sendmsg), CALL(recvmsg), CALL(sendmmsg), CALL(recvmmsg),
	CALL(shutdown), CALL(openat), CALL(close), CALL(fsync), CALL(fdatasync), CALL(sync),
	CALL(syncfs), CALL(sync_file_range), CALL(fallocate), CALL(truncate), CALL(ftruncate),
	CALL(lseek), CALL(fstat), CALL(newfstatat), CALL(statx), CALL(statfs), CALL(fstatfs),
	CALL(getdents64), CALL(unlinkat), CALL(renameat2), CALL(mkdirat), CALL(linkat),
	CALL(readlinkat), CALL(faccessat), CALL(fcntl), CALL(flock), CALL(ioctl), CALL(splice),
	CALL(tee), CALL(vmsplice), CALL(copy_file_range), CALL(mmap), CALL(munmap), CALL(mremap),
	CALL(mprotect), CALL(madvise), CALL(msync), CALL(brk), CALL(clone), CALL(clone3),
	CALL(execve), CALL(execveat), CALL(exit), CALL(exit_group), CALL(kill), CALL(tgkill),
	CALL(ptrace), CALL(sched_yield), CALL(membarrier), CALL(getrandom), CALL(mount),
	CALL(umount2), CALL(process_vm_readv), CALL(mq_timedsend), CALL(msgsnd), CALL(dup3),
};
/* clang-format on */

static const struct known *find(int32_t nr)
{
	for (size_t i = 0; i < AS_LEN(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

const char *as_call_name(int32_t nr)
{
	const struct known *k = find(nr);

	return k ? k->name : NULL;
}

bool as_call_idles(int32_t nr)
{
	const struct known *k = find(nr);

	return k && k->idles;
}

bool as_call_locks(int32_t nr)
{
	return nr == SYS_futex;
}

bool as_call_ends(int32_t nr)
{
	return nr == SYS_exit || nr == SYS_exit_group;
}

/* ── the line ─────────────────────────────────────────────────────────── */

/* " 0x7f00": how many bytes it takes, 0 when it is not there. */
static size_t scan_arg(const char *p, size_t n, uint64_t *ret)
{
	size_t used;

	if (n < 4 || memcmp(p, " 0x", 3) != 0)
		return 0;
	used = as_scan_hex(p + 3, n - 3, ret);
	return used ? used + 3 : 0;
}

/* "202 0x7f00 0x80 … SP PC", "-1 SP PC" or "running". */
bool as_parse_call(const char *p, size_t n, struct as_call *ret)
{
	struct as_call c = {.nr = -1};
	int64_t nr;
	size_t at = as_scan_i64(p, n, &nr);

	if (n >= 7 && !memcmp(p, "running", 7)) {
		*ret = (struct as_call){.runs = true, .nr = -1};
		return true;
	}
	if (!at || nr < -1 || nr > INT32_MAX)
		return false;
	c.nr = (int32_t)nr;
	for (size_t i = 0; nr >= 0 && i < AS_CALL_ARGS; i++) {
		size_t used = scan_arg(p + at, n - at, &c.arg[i]);

		if (!used)
			return false;
		at += used;
	}
	*ret = c;
	return true;
}
