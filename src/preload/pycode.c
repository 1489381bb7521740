/*
 * pycode -- codes of Python are noted once, and known by their address.
 *
 * An address may be another code's later. So we must know when one dies: the
 * type of codes says what is called then, and we put ourselves before it. That
 * is the only place where all of them pass, in every version, and it costs the
 * others nothing.
 *
 * Names are the interpreter's own texts, read where they are.
 */
#include "preload/pyhost.h"

enum {
	FIRST_SLOTS = 1 << 10,
	CHARS_MOST = 2048, /* of a name */
	TABLE_MOST = 1 << 20,
	TP_DEALLOC = 48, /* of PyTypeObject, from 3.8 on; 64 without a GIL */
	TP_DEALLOC_FREE = 64,
};

#define EMPTY 0
#define DEAD  1 /* no address: somebody died here */

struct slot {
	_Atomic uint64_t code;
	uint32_t number;
};

struct table {
	size_t slots; /* a power of 2 */
	size_t taken; /* that are not empty */
	char name[CHARS_MOST * 4], file[CHARS_MOST * 4];
	struct slot slot[];
};

static struct table *_Atomic as_pycode_table;
static void (*as_pycode_dealloc)(void *code);

/* ── the table ────────────────────────────────────────────────────────── */

static size_t table_bytes(size_t slots)
{
	return sizeof(struct table) + slots * sizeof(struct slot);
}

static struct table *table_new(size_t slots)
{
	struct table *t = as_guest_pages(table_bytes(slots));

	if (t)
		t->slots = slots;
	return t;
}

static struct table *the_table(void)
{
	return atomic_load_explicit(&as_pycode_table, memory_order_acquire);
}

void as_pycode_begin(void)
{
	struct table *old = the_table();

	atomic_store_explicit(&as_pycode_table, table_new(FIRST_SLOTS), memory_order_release);
	if (old && !as_guest.attached)
		as_guest_pages_back(old, table_bytes(old->slots));
}

/* The slot of a code; NULL: it has none. */
static struct slot *look(struct table *t, uint64_t code)
{
	size_t i = (code >> 4) * 0x9e3779b97f4a7c15ull >> 32;

	for (;; i++) {
		struct slot *s = &t->slot[i & (t->slots - 1)];
		uint64_t at = atomic_load_explicit(&s->code, memory_order_acquire);

		if (at == code)
			return s;
		if (at == EMPTY)
			return NULL;
	}
}

/* Under the lock. A code that is not there; there is an empty slot. */
static void insert(struct table *t, uint64_t code, uint32_t number)
{
	size_t i = (code >> 4) * 0x9e3779b97f4a7c15ull >> 32;
	struct slot *s = &t->slot[i & (t->slots - 1)];

	while (atomic_load_explicit(&s->code, memory_order_relaxed) > DEAD)
		s = &t->slot[++i & (t->slots - 1)];
	t->taken += atomic_load_explicit(&s->code, memory_order_relaxed) == EMPTY;
	s->number = number;
	atomic_store_explicit(&s->code, code, memory_order_release);
}

static size_t living(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->slots; i++)
		n += atomic_load_explicit(&t->slot[i].code, memory_order_relaxed) > DEAD;
	return n;
}

/* Under the lock. The old one stays, as somebody may read in it. NULL: no room. */
static struct table *with_room(struct table *t)
{
	if (t->taken * 2 < t->slots)
		return t;
	struct table *wide = table_new(living(t) * 4 < t->slots ? t->slots : t->slots * 2);
	if (!wide)
		return t->taken * 8 < t->slots * 7 ? t : NULL;
	for (size_t i = 0; i < t->slots; i++) {
		uint64_t code = atomic_load_explicit(&t->slot[i].code, memory_order_relaxed);

		if (code > DEAD)
			insert(wide, code, t->slot[i].number);
	}
	atomic_store_explicit(&as_pycode_table, wide, memory_order_release);
	return wide;
}

/* ── one note ─────────────────────────────────────────────────────────── */

static size_t put_utf8(char *to, uint32_t c)
{
	if (c >> 11 == 0x1b || c > 0x10ffff)
		c = 0xfffd; /* half a character, as names of files may have */
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* As UTF-8, at most CHARS_MOST * 4 bytes. What is no text that we can read is "?". */
static size_t read_text(const unsigned char *text, char *to)
{
	const struct as_py_layout *l = &as_pyhost.at;
	uint32_t state = (uint32_t)as_pyint(text, l->text.state) >> l->text.kind;
	unsigned kind = state & 7;
	bool compact = state >> 3 & 1, ascii = state >> 4 & 1;
	uint64_t n = as_pyword(text, l->text.length);
	size_t len = 0;

	if (!compact || (kind != 1 && kind != 2 && kind != 4)) {
		to[0] = '?';
		return 1;
	}
	text += ascii ? l->text.ascii : l->text.compact;
	for (uint64_t i = 0; i < n && i < CHARS_MOST; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * kind, kind);
		len += put_utf8(to + len, c);
	}
	return len;
}

static uint64_t note(struct table *t, const unsigned char *code)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const unsigned char *lines = as_pypointer(code, l->code.lines);
	uint64_t n = as_pyword(lines, l->text.length);
	struct as_wire_code head = {
		.lines = l->lines,
		.first_line = as_pyint(code, l->code.first_line),
		.name = (uint32_t)read_text(as_pypointer(code, l->code.name), t->name),
		.file = (uint32_t)read_text(as_pypointer(code, l->code.file), t->file),
		.table = n <= TABLE_MOST ? (uint32_t)n : 0,
		.flags = (uint32_t)as_pyint(code, l->code.flags),
	};
	const struct as_note_part part[] = {
		{&head, sizeof head},
		{t->name, head.name},
		{t->file, head.file},
		{lines + l->bytes, head.table},
	};

	return as_note(AS_WIRE_NOTE_CODE, part, sizeof part / sizeof *part);
}

/* Is it a code that is not about to die? Its names may be gone before it is. */
static bool lives(const unsigned char *code)
{
	return as_pytype(&as_pyhost.at, code) == as_pyhost.api.code_type &&
	       (as_pyhost.at.free_threaded || as_pyint(code, 0));
}

/* Under the lock. */
static uint32_t add(const unsigned char *code)
{
	struct table *t = with_room(the_table());
	const struct slot *s = t ? look(t, (uintptr_t)code) : NULL;
	uint64_t number;

	if (s)
		return s->number;
	if (!t || !lives(code))
		return AS_PYCODE_NONE;
	number = note(t, code);
	if (number >= AS_PYCODE_NONE)
		return AS_PYCODE_NONE;
	insert(t, (uintptr_t)code, (uint32_t)number);
	return (uint32_t)number;
}

uint32_t as_pycode_number(const unsigned char *code)
{
	struct table *t = the_table();
	const struct slot *s = t ? look(t, (uintptr_t)code) : NULL;
	uint32_t number;

	if (s || !t)
		return s ? s->number : AS_PYCODE_NONE;
	as_lock(&as_guest.code_lock);
	number = add(code);
	as_unlock(&as_guest.code_lock);
	return number;
}

/* ── their end ────────────────────────────────────────────────────────── */

static void forget(uint64_t code)
{
	as_lock(&as_guest.code_lock);
	struct slot *s = look(the_table(), code);
	if (s) {
		atomic_store_explicit(&s->code, DEAD, memory_order_release);
		atomic_fetch_add_explicit(&as_pyhost.age, 1, memory_order_release);
	}
	as_unlock(&as_guest.code_lock);
}

static void code_dies(void *code)
{
	struct as_guest_thread *t = as_this_thread();

	t->busy++;
	atomic_signal_fence(memory_order_seq_cst);
	if (the_table())
		forget((uintptr_t)code);
	atomic_signal_fence(memory_order_seq_cst);
	t->busy--;
	as_pycode_dealloc(code);
}

static void (**dealloc_of_codes(void))(void *)
{
	return (void (**)(void *))(void *)(as_pyhost.api.code_type + (as_pyhost.at.free_threaded
									      ? TP_DEALLOC_FREE
									      : TP_DEALLOC));
}

void as_pycode_watch(void)
{
	void (**slot)(void *) = dealloc_of_codes();

	if (*slot == code_dies)
		return;
	as_pycode_dealloc = *slot;
	__atomic_store_n(slot, code_dies, __ATOMIC_RELEASE);
}

/* Who has put himself before us keeps us: then we go on to pass on. */
void as_pycode_unwatch(void)
{
	void (**slot)(void *) = dealloc_of_codes();

	if (as_pycode_dealloc && *slot == code_dies)
		__atomic_store_n(slot, as_pycode_dealloc, __ATOMIC_RELEASE);
}
