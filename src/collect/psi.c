/*
 * psi -- pressure stall information: for how long tasks of the machine waited
 * for a CPU, for memory or for I/O although they had work to do.
 *
 * The totals are counters, so their rate is the share of any interval; the
 * averages that the kernel also prints are of its own three windows.
 */
#include "collect/source.h"
#include "os/machine.h"

enum { CPU, MEMORY, IO, NFILES };

static const struct as_source files[NFILES] = {
	[CPU] = {"pressure/cpu", AS_F_PSI_CPU, AS_F_PSI_CPU},
	[MEMORY] = {"pressure/memory", AS_F_PSI_MEM, AS_F_PSI_MEM_FULL},
	[IO] = {"pressure/io", AS_F_PSI_IO, AS_F_PSI_IO_FULL},
};

struct state {
	int fd[NFILES];
	struct as_counter some[NFILES], full[NFILES];
};

static bool look(struct state *s, const struct as_collect *c, size_t i, int fd, int64_t *row)
{
	struct as_pressure p;
	char text[256];
	size_t n = 0;

	if (!as_source_read(fd, text, sizeof text, &n) || !as_parse_pressure(text, n, &p))
		return false;
	as_put(c, row, files[i].first, as_counter_at(&s->some[i], p.some));
	if (files[i].last != files[i].first)
		as_put(c, row, files[i].last, as_counter_at(&s->full[i], p.full));
	return true;
}

static bool psi_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_PSI);
}

static int psi_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	(void)err;
	for (size_t i = 0; i < NFILES; i++)
		s->fd[i] = -1;
	for (size_t i = 0; i < NFILES; i++) {
		as_auto_fd int fd = as_source_open(&files[i], c);
		int64_t row[AS_NFIELDS];

		if (fd < 0)
			continue;
		as_row_clear(row);
		bool ok = look(s, c, i, fd, row);
		as_source_tell(&files[i], c, ok ? row : NULL);
		if (ok)
			s->fd[i] = as_take_fd(fd);
	}
	return AS_OK;
}

static int psi_sample(void *st, const struct as_collect *c, struct as_frame *frame,
		      struct as_err *err)
{
	struct state *s = st;
	int64_t *row = as_frame_row(frame, AS_SYSTEM, 0); /* shared with system.c */

	(void)err;
	for (size_t i = 0; i < NFILES; i++)
		if (s->fd[i] >= 0)
			(void)look(s, c, i, s->fd[i], row);
	return AS_OK;
}

static void psi_close(void *st)
{
	struct state *s = st;

	for (size_t i = 0; i < NFILES; i++)
		as_close_(&s->fd[i]);
}

const struct as_collector as_collect_psi = {
	.name = "psi",
	.about = "pressure: time lost waiting for CPU, memory and I/O",
	.reads = "/proc/pressure/{cpu,memory,io}",
	.state_size = sizeof(struct state),
	.wanted = psi_wanted,
	.open = psi_open,
	.sample = psi_sample,
	.close = psi_close,
};
