#include "os/taskiter.h"

#include "os/life_bpf.h"

/* The record at `p`, of which `len` bytes are there; its length, 0 when it is not whole. */
static size_t tell(const char *p, size_t len, as_task_fn *fn, void *data)
{
	static const size_t lengths[] = {
		[AS_WIRE_PROCESS] = sizeof(struct as_wire_process),
		[AS_WIRE_THREAD] = sizeof(struct as_wire_thread),
		[AS_WIRE_BRIEF] = AS_WIRE_BRIEF_LEN,
	};
	const struct as_wire_process *r = (const void *)p;
	size_t n = len >= sizeof r->first && r->first.kind < AS_LEN(lengths)
			   ? lengths[r->first.kind]
			   : 0;

	if (!n || n > len)
		return 0;
	fn(data, &r->first, r->first.kind == AS_WIRE_THREAD ? NULL : &r->group);
	return n;
}

int as_taskiter_pass(struct as_life_source *bpf, bool all, as_task_fn *fn, void *data,
		     uint64_t *ret_quiet, struct as_err *err)
{
	const char *records;
	size_t len = 0;
	int r = as_life_bpf_pass(bpf, all, err);

	while (r == AS_OK && (r = as_life_bpf_part(bpf, &records, &len, err)) == AS_OK && len)
		for (size_t n; (n = tell(records, len, fn, data)) > 0; len -= n)
			records += n;
	*ret_quiet = as_life_bpf_quiet(bpf);
	return r;
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
