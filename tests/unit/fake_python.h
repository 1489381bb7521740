#pragma once
/*
 * fake_python -- an interpreter's memory, made by hand: a thread with frames in
 * chunks, codes with names. The layout is that of a version we know; what the
 * interpreter would do (call, return, die) is done by the test.
 */
#include "guest_rig.h"
#include "preload/pyhost.h"
#include "preload/record.h"

enum { FAKE_FRAME = 128, FAKE_CHUNK = 16384, FAKE_HEAD = 24, FAKE_UNITS = 1000 };

static unsigned char fake_thread[AS_PY_THREAD_MOST], fake_via[64];
static unsigned char fake_code_type[512], fake_text_type[512], fake_bytes_type[512];
static int fake_died;

/* --- what a guest would record ------------------------------------------------- */

struct fake_event {
	enum as_wire_op op;
	const void *address;
	size_t size;
	bool done;
};

static struct fake_event fake_event[64];
static size_t fake_events;

static inline void fake_record(struct as_guest_thread *t, struct fake_event e)
{
	if (!t->inside && e.address && fake_events < 64)
		fake_event[fake_events++] = e;
}

void as_record_alloc(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size, void *frame)
{
	(void)frame;
	fake_record(t, (struct fake_event){op, address, size, true});
}

void as_record_object(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		      size_t size, void *frame)
{
	as_record_alloc(t, op, address, size, frame);
}

/* Nothing is plain here (record.h): all comes to the two above. */
const char *as_record_alone = "";

void as_record_kind(struct as_writer *w, struct as_guest_kind *k, size_t slot,
		    const struct as_guest_kind *is)
{
	(void)w, (void)k, (void)slot, (void)is;
	UTEST_FAIL("a kind was told");
}

void as_record_free(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	fake_record(t, (struct fake_event){op, address, 0, true});
}

uint64_t as_guest_claim(struct as_guest_thread *t, enum as_wire_op op, const void *address,
			size_t size)
{
	(void)op, (void)size;
	return address && !t->inside;
}

void as_guest_settle(struct as_guest_thread *t, uint64_t claim, enum as_wire_op op,
		     const void *address, size_t size, bool done)
{
	if (claim)
		fake_record(t, (struct fake_event){op, address, size, done});
}

/* --- the memory of an interpreter ------------------------------------------------ */

static inline void fake_word(void *p, size_t at, uint64_t v)
{
	memcpy((unsigned char *)p + at, &v, sizeof v);
}

static inline void fake_pointer(void *p, size_t at, const void *v)
{
	fake_word(p, at, (uintptr_t)v);
}

static inline void fake_int(void *p, size_t at, int32_t v)
{
	memcpy((unsigned char *)p + at, &v, sizeof v);
}

static inline void *fake_state(void)
{
	return fake_thread;
}

static inline void fake_dealloc(void *code)
{
	(void)code;
	fake_died++;
}

/* An object: one reference, its type. */
static inline unsigned char *fake_object(const unsigned char *type, size_t n)
{
	unsigned char *o = rig_pages(n + 64);

	fake_word(o, 0, 1);
	fake_pointer(o, 8, type);
	return o;
}

/* A text of characters with `kind` bytes each; ascii: kind 1 and no more than that. */
static inline unsigned char *fake_text(const void *chars, size_t n, unsigned kind, bool ascii)
{
	const struct as_py_layout *l = &as_pyhost.at;
	unsigned char *o = fake_object(fake_text_type, l->text.compact + n * kind);

	fake_word(o, l->text.length, n);
	fake_int(o, l->text.state,
		 (int32_t)((kind | 1u << 3 | (unsigned)ascii << 4) << l->text.kind));
	memcpy(o + (ascii ? l->text.ascii : l->text.compact), chars, n * kind);
	return o;
}

static inline unsigned char *fake_ascii(const char *s)
{
	return fake_text(s, strlen(s), 1, true);
}

static inline unsigned char *fake_bytes(const void *p, size_t n)
{
	const struct as_py_layout *l = &as_pyhost.at;
	unsigned char *o = fake_object(fake_bytes_type, l->bytes + n);

	fake_word(o, l->text.length, n);
	memcpy(o + l->bytes, p, n);
	return o;
}

static inline void fake_fill(unsigned char *code, const unsigned char *name, int32_t line)
{
	const struct as_py_layout *l = &as_pyhost.at;

	fake_word(code, 0, 1);
	fake_pointer(code, 8, fake_code_type);
	fake_word(code, 16, FAKE_UNITS);
	fake_pointer(code, l->code.name, name);
	fake_pointer(code, l->code.file, fake_ascii("f.py"));
	fake_pointer(code, l->code.lines, fake_bytes("\1\2\3", 3));
	fake_int(code, l->code.first_line, line);
	fake_int(code, l->code.flags, 0x83);
}

static inline unsigned char *fake_code(const char *name, int32_t line)
{
	unsigned char *code = rig_pages(AS_PY_CODE_MOST + FAKE_UNITS * 2);

	fake_fill(code, fake_ascii(name), line);
	return code;
}

static inline unsigned char *fake_chunk(unsigned char *previous)
{
	unsigned char *chunk = rig_pages(FAKE_CHUNK);

	fake_pointer(chunk, 0, previous);
	fake_word(chunk, 8, FAKE_CHUNK);
	if (as_pyhost.at.thread.chunk != AS_PY_NO)
		fake_pointer(fake_thread, as_pyhost.at.thread.chunk, chunk);
	return chunk;
}

static inline void fake_at(unsigned char *frame, int32_t offset)
{
	const struct as_py_layout *l = &as_pyhost.at;

	if (l->lines == AS_PY_LOCATIONS)
		fake_word(frame, l->frame.instr,
			  as_pyword(frame, l->frame.code) + l->code.code +
				  (uint64_t)(int64_t)offset);
	else
		fake_int(frame, l->frame.instr, offset / (l->lines == AS_PY_PEP626 ? 2 : 1));
}

/* code NULL: a shim. */
static inline void fake_call(unsigned char *frame, const unsigned char *back,
			     const unsigned char *code, int32_t offset)
{
	const struct as_py_layout *l = &as_pyhost.at;

	memset(frame, 0, l->frame.size);
	fake_pointer(frame, l->frame.back, back);
	fake_pointer(frame, l->frame.code, code);
	if (!code)
		frame[l->frame.owner] = l->frame.shim;
	fake_at(frame, offset);
}

static inline void fake_leaf(const unsigned char *frame)
{
	const struct as_py_layout *l = &as_pyhost.at;

	if (l->thread.via == AS_PY_NO) {
		fake_pointer(fake_thread, l->thread.frame, frame);
		return;
	}
	fake_pointer(fake_thread, l->thread.frame, fake_via);
	fake_pointer(fake_via, l->thread.via, frame);
}

static inline void fake_python(unsigned minor)
{
	rig_guest();
	as_pyhost.at = *as_py_layout(minor);
	as_pyhost.minor = minor;
	as_pyhost.api = (struct as_pyhost_api){
		.thread_state = fake_state,
		.code_type = fake_code_type,
		.text_type = fake_text_type,
		.bytes_type = fake_bytes_type,
	};
	fake_pointer(fake_code_type, 48, (const void *)(uintptr_t)fake_dealloc);
	as_pywalk_begin(&as_guest_thread);
	as_pycode_watch();
	as_pyhost.state = AS_PYHOST_TRUSTED;
}

/* What the interpreter does when the last reference goes. */
static inline void fake_die(unsigned char *code)
{
	void (*dealloc)(void *);

	memcpy(&dealloc, fake_code_type + 48, sizeof dealloc);
	fake_word(code, 0, 0);
	dealloc(code);
}
