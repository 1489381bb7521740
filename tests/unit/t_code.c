/* code -- names of code by address: what was freed and used again is not what it was. */
#include "stack/code.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pyabi/layout.h"
#include "utest.h"

/* Codes of a Python that is this process, and the profile that they become. */
static struct as_profile *profile;
static struct as_python py;
static struct as_codes codes;
static unsigned char code_memory[2][AS_PY_CODE_MOST], text_memory[8][256];
static size_t ntexts;

static void put_word(unsigned char *p, size_t at, uint64_t v)
{
	memcpy(p + at, &v, sizeof v);
}

static uint64_t make_text(const char *s)
{
	unsigned char *o = text_memory[ntexts++];
	uint32_t state = (1u | 1u << 3 | 1u << 4) << py.at.text.kind; /* ASCII, as it is read */

	put_word(o, py.at.text.length, strlen(s));
	memcpy(o + py.at.text.state, &state, sizeof state);
	memcpy(o + py.at.text.ascii, s, strlen(s));
	return (uintptr_t)o;
}

static unsigned char *make_code(size_t where, const char *name, int32_t line)
{
	unsigned char *code = code_memory[where];

	put_word(code, py.at.code.name, make_text(name));
	put_word(code, py.at.code.file, make_text("f.py"));
	memcpy(code + py.at.code.first_line, &line, sizeof line);
	return code;
}

static void begin(void)
{
	static const struct as_value_kind kind = {"samples", "count"};
	struct as_err err;

	ntexts = 0;
	py = (struct as_python){.pid = getpid(), .at = *as_py_layout(8)};
	profile = as_profile_new(&kind, 1, &err);
	as_codes_init(&codes, &py, profile);
}

static void end(void)
{
	as_codes_done(&codes);
	as_profile_free(profile);
}

/* What the leaf is called, of a stack from the root on. */
static const char *leaf_of(const unsigned char *const code[], size_t n)
{
	static struct as_pystack s;

	s.n = n;
	for (size_t i = 0; i < n; i++)
		s.at[n - 1 - i] = (struct as_pyframe){.code = (uintptr_t)code[i], .instr = 2};
	uint32_t stack = as_codes_stack(&codes, &s);
	return profile->text[profile->place[profile->stack[stack].place].function];
}

/* A module's code is freed when it has run, and a function's may come to lie there. */
static void t_other_code_at_an_address_that_was_seen(void)
{
	begin();
	unsigned char *gen = make_code(0, "gen", 1), *reused = make_code(1, "<module>", 1);

	EXPECT_STR(leaf_of((const unsigned char *[]){reused}, 1), "<module>");
	make_code(1, "three", 7);
	EXPECT_STR(leaf_of((const unsigned char *[]){gen, reused}, 2), "three");
	EXPECT_STR(leaf_of((const unsigned char *[]){gen, reused, reused}, 3), "three");
	end();
}

static void t_code_that_is_what_it_was_is_not_read_again(void)
{
	begin();
	unsigned char *gen = make_code(0, "gen", 1), *three = make_code(1, "three", 7);

	EXPECT_STR(leaf_of((const unsigned char *[]){three}, 1), "three");
	EXPECT_STR(leaf_of((const unsigned char *[]){gen, three}, 2), "three");
	EXPECT_U64(codes.ncodes, 2);
	EXPECT_U64(codes.age, 0);
	end();
}

/* Two units at the first line, two five lines on. */
static void make_lines(unsigned char *code)
{
	static const unsigned char table[] = {0xe9, 0, 0xe9, 10};
	unsigned char *o = text_memory[ntexts++];

	put_word(o, py.at.text.length, sizeof table);
	memcpy(o + py.at.bytes, table, sizeof table);
	put_word(code, py.at.code.lines, (uintptr_t)o);
	put_word(code, py.at.text.length, 4); /* units of instructions */
}

static int32_t line_at(const unsigned char *code, const void *instr)
{
	struct as_pyframe f = {.code = (uintptr_t)code, .instr = (uintptr_t)instr};

	codes.look++;
	return profile->place[as_codes_place(&codes, &f)].line;
}

/* Without the GIL a thread has its own copy of the instructions, somewhere else. */
static void t_lines_in_a_copy_of_the_instructions(void)
{
	static unsigned char other[8];
	static uint64_t copies[1 + 64] = {3};

	begin();
	py.at = *as_py_layout(12);
	py.at.code.copies = py.at.code.code - 8;
	unsigned char *code = make_code(0, "f", 7), *own = code + py.at.code.code;

	make_lines(code);
	copies[1] = (uintptr_t)own;
	copies[3] = (uintptr_t)other;
	put_word(code, py.at.code.copies, (uintptr_t)copies);
	EXPECT(line_at(code, own) == 7 && line_at(code, own + 4) == 12);
	EXPECT(line_at(code, other) == 7 && line_at(code, other + 6) == 12);
	EXPECT(line_at(code, other + 8) == 0 && line_at(code, copies) == 0);
	copies[0] = UINT64_MAX; /* lies */
	EXPECT(line_at(code, other + 4) == 12);
	copies[0] = 2;
	EXPECT(line_at(code, other + 4) == 0);
	put_word(code, py.at.code.copies, 8);
	EXPECT(line_at(code, other + 4) == 0 && line_at(code, own + 4) == 12);
	end();
}

UTEST_MAIN(T(t_other_code_at_an_address_that_was_seen),
	   T(t_code_that_is_what_it_was_is_not_read_again),
	   T(t_lines_in_a_copy_of_the_instructions))
