#include "os/taskiter.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "os/life_bpf.h"

enum { CHUNK = 64 << 10 }; /* twice what the kernel hands out at once */

struct as_taskiter {
	const struct as_life_source *source;
	size_t len; /* of what was read and not told yet */
	_Alignas(8) char buf[CHUNK];
};

int as_taskiter_open(struct as_taskiter **ret, const struct as_life_source *bpf, struct as_err *err)
{
	struct as_taskiter *it = as_zalloc(sizeof *it);

	if (!it)
		return as_fail(err, AS_ENOMEM, "out of memory");
	it->source = bpf;
	*ret = it;
	return AS_OK;
}

void as_taskiter_close(struct as_taskiter *it)
{
	free(it);
}

/* The record at `p`, of which `len` bytes are there; its length, 0 when it is not whole. */
static size_t tell(const char *p, size_t len, as_task_fn *fn, void *data)
{
	const struct as_wire_process *r = (const void *)p;

	if (len < sizeof r->first)
		return 0;
	if (r->first.kind != AS_WIRE_PROCESS) {
		fn(data, &r->first, NULL);
		return sizeof r->first;
	}
	if (len < sizeof *r)
		return 0;
	fn(data, &r->first, &r->group);
	return sizeof *r;
}

/* Tell what is whole, keep the rest for the next read. */
static void tell_all(struct as_taskiter *it, as_task_fn *fn, void *data)
{
	size_t at = 0;

	for (size_t n; (n = tell(it->buf + at, it->len - at, fn, data)) > 0;)
		at += n;
	memmove(it->buf, it->buf + at, it->len - at);
	it->len -= at;
}

int as_taskiter_pass(struct as_taskiter *it, bool all, as_task_fn *fn, void *data,
		     uint64_t *ret_quiet, struct as_err *err)
{
	as_auto_fd int fd = as_life_bpf_pass(it->source, all, err);

	if (fd < 0)
		return err->code;
	it->len = 0;
	for (;;) {
		ssize_t n = as_read(fd, it->buf + it->len, CHUNK - it->len);

		if (n < 0 && errno == EAGAIN)
			continue; /* the kernel lets others run in between */
		if (n < 0)
			return as_fail_errno(err, errno, "read the BPF task iterator");
		if (n == 0)
			break;
		it->len += (size_t)n;
		tell_all(it, fn, data);
	}
	*ret_quiet = as_life_bpf_quiet(it->source);
	return AS_OK;
}

char as_task_state(const struct as_wire_group *g)
{
	static const struct {
		uint32_t bit;
		char letter;
	} states[] = {{0x40, 'P'}, {0x20, 'Z'}, {0x10, 'X'}, {0x08, 't'},
		      {0x04, 'T'}, {0x02, 'D'}, {0x01, 'S'}};
	enum { IDLE = 0x402 }; /* asleep and not counted as load */
	uint32_t state = g->state | g->exit_state;

	if ((state & IDLE) == IDLE)
		return 'I';
	for (size_t i = 0; i < AS_LEN(states); i++)
		if (state & states[i].bit)
			return states[i].letter;
	return 'R';
}
