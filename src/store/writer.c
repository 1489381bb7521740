#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "store/record.h"

/* clang-format off */
/* Append rows, never change a tag. */
static const struct as_slot slots[] = {
	AS_SLOT(1, I32, struct as_writer, pid),
	AS_SLOT(2, U64, struct as_writer, started),
	AS_SLOT(3, U64, struct as_writer, pidns),
	AS_SLOT(4, CHARS, struct as_writer, boot_id),
	AS_SLOT(5, CHARS, struct as_writer, host),
	AS_SLOT(6, CHARS, struct as_writer, assay),
};
/* clang-format on */

void as_enc_writer(struct as_buf *b, const struct as_writer *w)
{
	as_record_enc(b, slots, AS_LEN(slots), w);
}

void as_dec_writer(struct as_bytes *b, struct as_writer *ret)
{
	*ret = (struct as_writer){0};
	as_record_dec(b, slots, AS_LEN(slots), ret);
}

/* A whole small file; 0 when it cannot be read. */
static size_t slurp(const char *path, char *text, size_t size)
{
	as_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size);

	return n > 0 ? (size_t)n : 0;
}

/*
 * State and start time out of /proc/PID/stat. The name stands in parentheses
 * and may hold anything, so what counts begins after the last ')'.
 */
static bool proc_stat(int32_t pid, char *ret_state, uint64_t *ret_started)
{
	enum { STATE = 3, STARTED = 22 };
	char path[32], text[1024];

	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	size_t n = slurp(path, text, sizeof text);
	const char *end = text + n, *name_end = n ? memrchr(text, ')', n) : NULL;

	if (!name_end || end - name_end < 4)
		return false;
	const char *p = name_end + 2;
	*ret_state = *p;
	for (int field = STATE; field < STARTED; field++) {
		p = memchr(p, ' ', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	return as_scan_u64(p, (size_t)(end - p), ret_started) > 0;
}

void as_writer_self(struct as_writer *ret)
{
	char state;
	struct stat st;

	*ret = (struct as_writer){.pid = (int32_t)getpid(), .assay = ASSAY_VERSION};
	if (!proc_stat(ret->pid, &state, &ret->started))
		ret->started = 0;
	if (stat("/proc/self/ns/pid", &st) == 0)
		ret->pidns = st.st_ino;
	(void)slurp("/proc/sys/kernel/random/boot_id", ret->boot_id, sizeof ret->boot_id - 1);
	ret->boot_id[strcspn(ret->boot_id, "\n")] = '\0';
	(void)gethostname(ret->host, sizeof ret->host - 1);
}

/* Ask the kernel, which is his and ours. */
static bool process_gone(const struct as_writer *w)
{
	char state = 0;
	uint64_t started = 0;

	if (w->pid <= 0 || (kill(w->pid, 0) < 0 && errno == ESRCH))
		return true;
	if (!proc_stat(w->pid, &state, &started))
		return false; /* hidden from us (hidepid), but it is there */
	return state == 'Z' || state == 'X' || (w->started && started != w->started);
}

bool as_writer_gone(const struct as_writer *w, const struct as_writer *self, int64_t idle_ns)
{
	bool same_boot = w->boot_id[0] && !strcmp(w->boot_id, self->boot_id);

	if (same_boot && w->pidns == self->pidns)
		return process_gone(w);
	if (!same_boot && w->boot_id[0] && self->boot_id[0] && !strcmp(w->host, self->host))
		return true; /* this machine was started again since */
	return idle_ns > AS_WRITER_IDLE;
}
