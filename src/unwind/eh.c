#include "unwind/eh.h"

#include "unwind/cursor.h"
#include "unwind/program.h"

enum { PE_OMIT = 0xff, PE_TABLE = 0x3b /* of pairs, four bytes each, relative to the header */ };

struct entry { /* an FDE */
	uint64_t start, size;
	struct as_unwind_common common;
	struct as_cursor program;
};

/* From an address to the end of the bytes. */
static struct as_cursor cursor_at(const struct as_eh *e, uint64_t address)
{
	uint64_t off = address - e->address;

	if (off >= e->size)
		return (struct as_cursor){.bad = true};
	return (struct as_cursor){e->bytes + off, e->bytes + e->size, address, false};
}

/* ── the sorted table ─────────────────────────────────────────────────── */

struct pairs {
	const uint8_t *p;
	uint64_t n, header;
};

static bool open_table(const struct as_eh *e, struct pairs *ret)
{
	struct as_cursor c = cursor_at(e, e->header);
	uint8_t version = as_cursor_byte(&c), eh = as_cursor_byte(&c), count = as_cursor_byte(&c);
	uint8_t table = as_cursor_byte(&c);

	if (version != 1 || table != PE_TABLE || eh == PE_OMIT || count == PE_OMIT)
		return false;
	(void)as_unwind_pointer(&c, eh, e->header);
	ret->n = as_unwind_pointer(&c, count, e->header);
	ret->p = c.p;
	ret->header = e->header;
	return !c.bad && ret->n && ret->n <= (uint64_t)(c.end - c.p) / 8;
}

static uint64_t half(const struct pairs *t, uint64_t i, size_t which)
{
	int32_t v;

	memcpy(&v, t->p + 8 * i + 4 * which, sizeof v);
	return t->header + (uint64_t)(int64_t)v;
}

/* The entry of the last function that begins at or before pc; 0: none does. */
static uint64_t search(const struct pairs *t, uint64_t pc)
{
	uint64_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (half(t, mid, 0) <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? half(t, lo - 1, 1) : 0;
}

/* ── entries ──────────────────────────────────────────────────────────── */

/* Opens one, of whatever kind: its id, and a cursor on what comes after that. */
static bool open_entry(const struct as_eh *e, uint64_t address, uint64_t *ret_id_at,
		       uint64_t *ret_id, struct as_cursor *ret)
{
	struct as_cursor c = cursor_at(e, address);
	uint64_t n = as_cursor_int(&c, 4);

	if (n == UINT32_MAX)
		n = as_cursor_int(&c, 8);
	if (c.bad || n > (uint64_t)(c.end - c.p))
		return false;
	c.end = c.p + n;
	*ret_id_at = c.address;
	*ret_id = as_cursor_int(&c, 4);
	*ret = c;
	return !c.bad;
}

/* The letters after 'z' say what its data are. */
static void read_letters(struct as_cursor *c, const char *letter, struct as_unwind_common *ret)
{
	uint64_t n = as_cursor_leb(c, false);
	struct as_cursor d = *c;

	(void)as_cursor_skip(c, n);
	for (; *letter && !d.bad; letter++)
		if (*letter == 'R')
			ret->pointers = as_cursor_byte(&d);
		else if (*letter == 'S')
			ret->signal = true;
		else if (*letter == 'L')
			(void)as_cursor_byte(&d);
		else if (*letter == 'P')
			(void)as_unwind_pointer(&d, as_cursor_byte(&d) & 0x0f, 0);
		else if (*letter != 'B')
			c->bad = true;
	c->bad |= d.bad;
}

static const char *read_text(struct as_cursor *c)
{
	const uint8_t *p = c->p;
	const uint8_t *nul = c->bad ? NULL : memchr(p, 0, (size_t)(c->end - p));

	(void)as_cursor_skip(c, nul ? (uint64_t)(nul - p) + 1 : UINT64_MAX);
	return nul ? (const char *)p : "";
}

static bool read_common(const struct as_eh *e, uint64_t address, struct as_unwind_common *ret)
{
	struct as_cursor c;
	uint64_t id_at, id;

	*ret = (struct as_unwind_common){0};
	if (!open_entry(e, address, &id_at, &id, &c) || id)
		return false;
	uint8_t version = as_cursor_byte(&c);
	const char *letters = read_text(&c);
	if (version == 4)
		(void)as_cursor_skip(&c, 2);
	ret->code_unit = as_cursor_leb(&c, false);
	ret->data_unit = (int64_t)as_cursor_leb(&c, true);
	(void)(version == 1 ? as_cursor_byte(&c) : as_cursor_leb(&c, false));
	ret->sized = *letters == 'z';
	if (ret->sized)
		read_letters(&c, letters + 1, ret);
	ret->first = c;
	return !c.bad && (ret->sized || !*letters);
}

static bool read_entry(const struct as_eh *e, uint64_t address, struct entry *ret)
{
	struct as_cursor c;
	uint64_t id_at, id;

	if (!open_entry(e, address, &id_at, &id, &c) || !id ||
	    !read_common(e, id_at - id, &ret->common))
		return false;
	uint8_t how = ret->common.pointers;
	ret->start = as_unwind_pointer(&c, how, e->header);
	ret->size = as_unwind_pointer(&c, how & 0x0f, 0);
	if (ret->common.sized) {
		uint64_t n = as_cursor_leb(&c, false);

		(void)as_cursor_skip(&c, n);
	}
	ret->program = c;
	return !c.bad;
}

bool as_eh_rule(const struct as_eh *e, const struct as_unwind_machine *m, uint64_t pc,
		struct as_unwind_rule *ret)
{
	struct pairs table;
	struct entry f;

	if (!open_table(e, &table))
		return false;
	uint64_t at = search(&table, pc);
	if (!at || !read_entry(e, at, &f) || pc - f.start >= f.size)
		return false;
	return as_unwind_run(&f.common, f.program, m, f.start, pc, ret);
}
