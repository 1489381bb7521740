#include "fake_python.h"

static uint32_t walk(void)
{
	return as_pywalk(&as_guest_thread, false);
}

static uint32_t caller_of(uint32_t node)
{
	return as_guest.nodes[node].caller;
}

static uint64_t offset_of(uint32_t node)
{
	return as_guest.nodes[node].key & AS_WIRE_OFFSET_MASK;
}

static uint64_t number_of(uint32_t node)
{
	return (as_guest.nodes[node].key & ~(AS_WIRE_PYTHON | AS_WIRE_ENTRY)) >> AS_WIRE_CODE_SHIFT;
}

static bool is_entry(uint32_t node)
{
	return as_guest.nodes[node].key & AS_WIRE_ENTRY;
}

static unsigned depth_of(uint32_t node)
{
	unsigned n = 0;

	for (; node; node = caller_of(node))
		n++;
	return n;
}

/* A stack: shim, main, then frames of `code` at `offset`. */
struct stack {
	unsigned char *frame[8192];
	size_t n;
};

static struct stack stack;

static void push(unsigned char *at, const unsigned char *code, int32_t offset)
{
	fake_call(at, stack.n ? stack.frame[stack.n - 1] : NULL, code, offset);
	stack.frame[stack.n++] = at;
	fake_leaf(at);
}

static void pop(void)
{
	fake_leaf(stack.frame[--stack.n - 1]);
}

static unsigned char *in_chunk(unsigned char *chunk, size_t i)
{
	return chunk + FAKE_HEAD + i * FAKE_FRAME;
}

static void t_nothing_runs(void)
{
	fake_python(12);
	EXPECT_U64(walk(), 0);
	fake_leaf(NULL);
	EXPECT_U64(walk(), 0);
}

static void t_frames_become_nodes(void)
{
	unsigned char *a, *b, *chunk;

	fake_python(12);
	a = fake_code("a", 1), b = fake_code("b", 9), chunk = fake_chunk(NULL);
	push(rig_pages(FAKE_FRAME), NULL, 0);
	push(in_chunk(chunk, 0), a, 10);
	push(in_chunk(chunk, 1), b, 20);
	uint32_t node = walk();

	EXPECT_U64(depth_of(node), 2);
	EXPECT_U64(offset_of(node), 20);
	EXPECT_U64(offset_of(caller_of(node)), 10);
	EXPECT(number_of(node) != number_of(caller_of(node)));
	EXPECT(!is_entry(node) && is_entry(caller_of(node)));
	EXPECT_U64(walk(), node);
	EXPECT_U64(as_guest.heap->nnodes, 3);
}

static void t_only_what_moved_is_new(void)
{
	unsigned char *a, *chunk;

	fake_python(12);
	a = fake_code("a", 1), chunk = fake_chunk(NULL);
	for (size_t i = 0; i < 5; i++)
		push(in_chunk(chunk, i), a, 10 + 2 * (int32_t)i);
	uint32_t first = walk();
	fake_at(stack.frame[4], 40);
	uint32_t leaf = walk();

	EXPECT_U64(offset_of(leaf), 40);
	EXPECT_U64(caller_of(leaf), caller_of(first));
	fake_at(stack.frame[4], 18);
	EXPECT_U64(walk(), first);
	fake_at(stack.frame[1], 30); /* it returned and called the same again, from elsewhere */
	uint32_t other = walk();
	EXPECT(other != first);
	EXPECT_U64(depth_of(other), 5);
	EXPECT_U64(offset_of(caller_of(caller_of(caller_of(other)))), 30);
	fake_at(stack.frame[1], 12);
	EXPECT_U64(walk(), first);
}

static void t_calls_and_returns(void)
{
	unsigned char *a, *chunk;

	fake_python(12);
	a = fake_code("a", 1), chunk = fake_chunk(NULL);
	push(in_chunk(chunk, 0), a, 10);
	uint32_t one = walk();
	push(in_chunk(chunk, 1), a, 10);
	push(in_chunk(chunk, 2), a, 10);
	uint32_t three = walk();
	EXPECT_U64(caller_of(caller_of(three)), one);
	pop();
	EXPECT_U64(walk(), caller_of(three));
	pop();
	EXPECT_U64(walk(), one);
	push(in_chunk(chunk, 1), a, 10);
	push(in_chunk(chunk, 2), a, 10);
	EXPECT_U64(walk(), three);
}

/* The height of a frame's stack: -1 is one that runs. */
static void fake_height(unsigned char *frame, int32_t height)
{
	fake_int(frame, as_pyhost.at.frame.stack, height);
}

static void set_height(int32_t height)
{
	if (stack.n && as_pyhost.at.frame.stack != AS_PY_NO)
		fake_height(stack.frame[stack.n - 1], height);
}

/* As the interpreter calls and returns. */
static void begin(unsigned char *at, const unsigned char *code, int32_t offset)
{
	set_height(3);
	push(at, code, offset);
	set_height(-1);
}

static void end(void)
{
	set_height(1);
	pop();
	set_height(-1);
}

/* Who has been called runs; where that cannot be seen any frame may move on between two looks. */
static unsigned char *one_that_moves(uint32_t x)
{
	return stack.frame[as_pyhost.at.frame.stack == AS_PY_NO ? x % stack.n : stack.n - 1];
}

/* Whatever happens between two looks, the stack is what it is. */
static void any_calls_and_returns(bool with_heights)
{
	uint32_t x = 2463534242u;
	unsigned char *a, *chunk;

	stack.n = 0;
	fake_python(12);
	if (!with_heights)
		as_pyhost.at.frame.stack = AS_PY_NO;
	a = fake_code("a", 1), chunk = fake_chunk(NULL);
	begin(in_chunk(chunk, 0), a, 10);
	for (size_t look = 0; look < 3000; look++) {
		for (uint32_t n = x >> 20 & 3; n; n--) {
			x ^= x << 13, x ^= x >> 17, x ^= x << 5;
			if (x & 1 && stack.n < 40)
				begin(in_chunk(chunk, 2 * stack.n + (x >> 1 & 1)), a,
				      10 + (x >> 2 & 6));
			else if (x & 2 && stack.n > 1)
				end();
			else
				fake_at(one_that_moves(x >> 8), 10 + (x >> 2 & 6));
		}
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		uint32_t node = walk();
		EXPECT_U64(depth_of(node), stack.n);
		for (size_t i = stack.n; i-- > 0; node = caller_of(node))
			EXPECT_U64(offset_of(node),
				   as_pyframe_offset(&as_pyhost.at, stack.frame[i], a));
	}
}

static void t_any_calls_and_returns(void)
{
	any_calls_and_returns(false);
	any_calls_and_returns(true);
}

static void t_a_leaf_that_stays(void)
{
	for (unsigned minor = 11; minor <= 12; minor++) {
		unsigned char *a, *chunk;

		stack.n = 0;
		fake_python(minor);
		a = fake_code("a", 1), chunk = fake_chunk(NULL);
		for (size_t i = 0; i < 5; i++)
			push(in_chunk(chunk, i), a, 10 + 2 * (int32_t)i);
		fake_height(stack.frame[4], -1);
		uint32_t first = walk();
		EXPECT(as_pyint(stack.frame[4], as_pyhost.at.frame.stack) < -1);
		fake_at(stack.frame[1], 30); /* cannot be, while the leaf runs: nobody looks */
		EXPECT_U64(walk(), first);
		fake_height(stack.frame[4], -1); /* it has returned, and was called again */
		uint32_t second = walk();
		EXPECT(caller_of(second) != caller_of(first));
		EXPECT_U64(depth_of(second), 5);
		EXPECT_U64(walk(), second);
		fake_height(stack.frame[4], -1); /* it has called: all else is as it was */
		EXPECT_U64(walk(), second);
		EXPECT(as_pyint(stack.frame[4], as_pyhost.at.frame.stack) < -1);
	}
}

/* The height of a stack is the interpreter's, and so is what another version has there. */
static void t_heights_are_left_alone(void)
{
	for (unsigned minor = 8; minor <= 12; minor++) {
		unsigned char *chunk;

		stack.n = 0;
		fake_python(minor);
		chunk = fake_chunk(NULL);
		push(in_chunk(chunk, 0), fake_code("a", 1), 10);
		for (int32_t height = minor < 11 ? -1 : 0; height < 3; height++) {
			fake_int(stack.frame[0], minor < 11 ? 64 : as_pyhost.at.frame.stack,
				 height);
			EXPECT_U64(depth_of(walk()), 1);
			EXPECT_I64(as_pyint(stack.frame[0],
					    minor < 11 ? 64 : as_pyhost.at.frame.stack),
				   height);
		}
	}
}

/* A generator's frame is where it was, but another has called it. */
static void t_other_callers(void)
{
	unsigned char *a, *b, *chunk;

	fake_python(12);
	a = fake_code("a", 1), b = fake_code("b", 2), chunk = fake_chunk(NULL);
	push(in_chunk(chunk, 0), a, 10);
	push(in_chunk(chunk, 1), a, 12);
	push(in_chunk(chunk, 90), b, 4);
	uint32_t first = walk();
	fake_call(in_chunk(chunk, 91), NULL, b, 6);
	fake_pointer(in_chunk(chunk, 90), as_pyhost.at.frame.back, in_chunk(chunk, 91));
	uint32_t second = walk();
	EXPECT_U64(depth_of(second), 2);
	EXPECT_U64(offset_of(caller_of(second)), 6);
	EXPECT_U64(number_of(second), number_of(first));
}

static void t_frames_that_have_not_begun(void)
{
	unsigned char *a, *b, *chunk;

	fake_python(12);
	a = fake_code("a", 1), b = fake_code("b", 2), chunk = fake_chunk(NULL);
	fake_int(b, as_pyhost.at.code.traceable, 4);
	push(in_chunk(chunk, 0), a, 10);
	uint32_t caller = walk();
	push(in_chunk(chunk, 1), b, -2);
	EXPECT_U64(walk(), caller);
	fake_at(stack.frame[1], 6);
	EXPECT_U64(walk(), caller);
	fake_at(stack.frame[1], 8);
	EXPECT_U64(offset_of(walk()), 8);
	fake_at(stack.frame[1], 6);
	stack.frame[1][as_pyhost.at.frame.owner] = AS_PY_OWNED_BY_GENERATOR;
	EXPECT_U64(offset_of(walk()), 6);
}

static void t_a_code_that_died(void)
{
	unsigned char *a, *chunk;

	fake_python(12);
	a = fake_code("a", 1), chunk = fake_chunk(NULL);
	push(in_chunk(chunk, 0), a, 10);
	uint32_t first = walk();
	fake_die(a);
	EXPECT_I64(fake_died, 1);
	EXPECT_U64(walk(), 0); /* not even its names are there */
	fake_fill(a, fake_ascii("other"), 5);
	uint32_t second = walk();
	EXPECT(second && second != first);
	EXPECT(number_of(second) != number_of(first));
	EXPECT_U64(as_guest.noted[AS_WIRE_NOTE_CODE], 2);
}

static void t_many_codes_live_and_die(void)
{
	unsigned char *code[300], *chunk;

	fake_python(12);
	chunk = fake_chunk(NULL);
	for (int i = 0; i < 300; i++)
		code[i] = fake_code("x", i);
	for (uint64_t round = 0; round < 20; round++)
		for (int i = 0; i < 300; i++) {
			stack.n = 0;
			push(in_chunk(chunk, 0), code[i], 10);
			EXPECT_U64(number_of(walk()), round * 300 + (uint64_t)i);
			EXPECT_U64(number_of(walk()), round * 300 + (uint64_t)i);
			if (i)
				fake_die(code[i - 1]);
			if (i)
				fake_word(code[i - 1], 0, 1);
			if (i == 299)
				fake_die(code[i]), fake_word(code[i], 0, 1);
		}
}

enum { IN_CHUNK = (FAKE_CHUNK - FAKE_HEAD) / FAKE_FRAME };

/* Frames up to a depth, in chunks; the newest of them comes back. */
static unsigned char *deep(const unsigned char *code, size_t depth)
{
	unsigned char *chunk = NULL;

	for (size_t i = 0; i < depth; i++) {
		if (i % IN_CHUNK == 0)
			chunk = fake_chunk(chunk);
		push(in_chunk(chunk, i % IN_CHUNK), code, 10 + 2 * (int32_t)(i % 3));
	}
	return chunk;
}

static void t_deep_frames_are_not_compared(void)
{
	unsigned char *chunk;

	fake_python(12);
	chunk = deep(fake_code("a", 1), 500);
	uint32_t first = walk();
	EXPECT_U64(depth_of(first), 500);
	EXPECT_U64(walk(), first);
	fake_at(stack.frame[3], 50); /* cannot be, while the chunk is the same: nobody looks */
	EXPECT_U64(walk(), first);
	fake_word(chunk, 16, 0); /* the chunk was given back, and made again */
	uint32_t second = walk();
	EXPECT(second != first);
	EXPECT_U64(depth_of(second), 500);
	fake_at(stack.frame[499], 60);
	EXPECT_U64(caller_of(walk()), caller_of(second));
	fake_at(stack.frame[3], 10);
	fake_word(chunk, 16, 99); /* another chunk was on top of it for a while */
	EXPECT_U64(offset_of(walk()), 60);
	fake_at(stack.frame[499], 10 + 2 * (499 % 3));
	fake_at(stack.frame[3], 10);
	EXPECT_U64(walk(), first);
}

/* The newest chunk goes, and what it was on is the newest again. */
static void t_deep_stacks_return(void)
{
	unsigned char *chunk;

	fake_python(12);
	chunk = deep(fake_code("a", 1), 3 * IN_CHUNK + 1);
	uint32_t first = walk();
	fake_pointer(fake_thread, as_pyhost.at.thread.chunk, as_pypointer(chunk, 0));
	pop();
	EXPECT_U64(walk(), caller_of(first));
	EXPECT_U64(walk(), caller_of(first));
	fake_at(stack.frame[3 * IN_CHUNK - 1], 50);
	EXPECT_U64(caller_of(walk()), caller_of(caller_of(first)));
}

static void t_too_deep_keeps_the_innermost(void)
{
	fake_python(12);
	deep(fake_code("a", 1), 3000);
	uint32_t node = walk();

	EXPECT(depth_of(node) <= AS_WIRE_HEAP_DEPTH && depth_of(node) > AS_WIRE_HEAP_DEPTH / 2);
	EXPECT_U64(as_guest.heap->clipped, 1);
	EXPECT_U64(offset_of(node), 10 + 2 * (2999 % 3));
	EXPECT_U64(walk(), node);
	while (stack.n > 1000)
		pop();
	node = walk();
	EXPECT_U64(depth_of(node), 1000);
	EXPECT_U64(as_guest.heap->clipped, 2);
	EXPECT(as_guest.heap->nnodes < 4500);
}

static void t_the_oldest_layout(void)
{
	unsigned char *a, *b, *chunk;

	fake_python(8);
	a = fake_code("a", 1), b = fake_code("b", 9), chunk = fake_chunk(NULL);
	push(in_chunk(chunk, 0), a, 10);
	push(in_chunk(chunk, 1), b, -1);
	uint32_t node = walk();
	EXPECT_U64(depth_of(node), 2);
	EXPECT_U64(offset_of(node), 0);
	EXPECT_U64(offset_of(caller_of(node)), 10);
	EXPECT(is_entry(node) && is_entry(caller_of(node)));
	pop();
	push(in_chunk(chunk, 1), a, -1); /* the same frame, the same instruction, another code */
	EXPECT(walk() != node);
	EXPECT_U64(number_of(walk()), number_of(caller_of(walk())));
}

/* Frames as objects, each as it begins; frame `i` may be used again. */
static void begin_again(size_t i)
{
	stack.frame[i][as_pyhost.at.frame.trace] = 1;
}

static void deep_objects(const unsigned char *code, size_t depth)
{
	deep(code, depth);
	for (size_t i = 0; i < depth; i++)
		begin_again(i);
}

static void t_deep_frames_that_are_objects(void)
{
	for (unsigned minor = 8; minor <= 10; minor++) {
		unsigned char *code;

		stack.n = 0;
		fake_python(minor);
		code = fake_code("a", 1);
		fake_int(code, as_pyhost.at.code.flags, 3);
		deep_objects(code, 500);
		uint32_t first = walk();
		EXPECT_U64(depth_of(first), 500);
		fake_at(stack.frame[3], 50); /* cannot be, while those above it run: nobody looks */
		EXPECT_U64(walk(), first);
		pop(), pop();
		EXPECT_U64(walk(), caller_of(caller_of(first)));
		stack.n += 2;
		fake_leaf(stack.frame[499]);
		for (size_t i = 4; i < 500; i++)
			begin_again(i); /* all have returned, and were called again */
		uint32_t second = walk();
		EXPECT(second != first);
		EXPECT_U64(depth_of(second), 500);
		fake_at(stack.frame[3], 10 + 2 * (3 % 3));
		EXPECT_U64(walk(), second);
		for (size_t i = 470; i < 500; i++)
			begin_again(i); /* a few of them: the mark below these is found */
		fake_at(stack.frame[470], 60);
		EXPECT(walk() != second);
		EXPECT_U64(depth_of(walk()), 500);
		begin_again(448), begin_again(480);
		fake_at(stack.frame[440], 70);
		uint32_t third = walk();
		for (int i = 499; i > 440; i--)
			third = caller_of(third);
		EXPECT_U64(offset_of(third), 70);
	}
}

/* What waits in a generator may be called by another, and none has a mark. */
static void t_deep_generators(void)
{
	unsigned char *code;

	fake_python(9);
	code = fake_code("a", 1);
	fake_int(code, as_pyhost.at.code.flags, 0x20);
	deep_objects(code, 100);
	uint32_t first = walk();
	fake_at(stack.frame[3], 50);
	EXPECT(walk() != first);
	for (size_t i = 0; i < 100; i++)
		EXPECT_U64(stack.frame[i][as_pyhost.at.frame.trace], 1);
}

static void t_units_of_two_bytes(void)
{
	fake_python(10);
	push(in_chunk(fake_chunk(NULL), 0), fake_code("a", 1), 10);
	EXPECT_U64(offset_of(walk()), 10);
}

static void t_a_forked_child_begins_anew(void)
{
	fake_python(12);
	push(in_chunk(fake_chunk(NULL), 0), fake_code("a", 1), 10);
	(void)walk();
	rig_guest();
	memset(as_guest.noted, 0, sizeof as_guest.noted);
	as_pywalk_begin(&as_guest_thread);
	uint32_t node = walk();
	EXPECT_U64(node, 1);
	EXPECT_U64(number_of(node), 0);
	EXPECT_U64(as_guest.heap->python, 12);
	EXPECT_U64(as_guest.noted[AS_WIRE_NOTE_CODE], 1);
}

/* The note of the only code: what it says, as name and file. */
static const char *noted(const unsigned char *name, size_t *n)
{
	unsigned char *code = fake_code("", 42);
	struct as_wire_code head;

	fake_fill(code, name, 42);
	push(in_chunk(fake_chunk(NULL), 0), code, 10);
	(void)walk();
	memcpy(&head, as_guest.notes + sizeof(struct as_wire_note), sizeof head);
	EXPECT_I64(head.first_line, 42);
	EXPECT_U64(head.flags, 0x83);
	EXPECT_U64(head.lines, AS_PY_LOCATIONS);
	EXPECT_U64(head.table, 3);
	*n = head.name;
	const char *text = (const char *)as_guest.notes + sizeof(struct as_wire_note) + sizeof head;
	EXPECT(!memcmp(text + head.name, "f.py\1\2\3", 7));
	return text;
}

static void expect_name(const void *chars, size_t n, unsigned kind, bool ascii, const char *want)
{
	size_t len;

	fake_python(12);
	const char *got = noted(fake_text(chars, n, kind, ascii), &len);
	EXPECT_U64(len, strlen(want));
	EXPECT(!memcmp(got, want, len));
}

static void t_a_name_in_ascii(void)
{
	expect_name("f.<locals>.g", 12, 1, true, "f.<locals>.g");
}

static void t_a_name_of_small_characters(void)
{
	expect_name("\xe4x", 2, 1, false, "\xc3\xa4x");
}

static void t_a_name_of_wide_characters(void)
{
	expect_name((uint16_t[]){0x20ac, 'x', 0xd800}, 3, 2, false, "\xe2\x82\xacx\xef\xbf\xbd");
}

static void t_a_name_of_the_widest_characters(void)
{
	expect_name((uint32_t[]){0x1f600, 'x'}, 2, 4, false, "\xf0\x9f\x98\x80x");
}

UTEST_MAIN(T(t_nothing_runs), T(t_frames_become_nodes), T(t_only_what_moved_is_new),
	   T(t_calls_and_returns), T(t_any_calls_and_returns), T(t_other_callers),
	   T(t_frames_that_have_not_begun), T(t_a_code_that_died), T(t_many_codes_live_and_die),
	   T(t_a_leaf_that_stays), T(t_heights_are_left_alone), T(t_deep_frames_are_not_compared),
	   T(t_deep_stacks_return), T(t_too_deep_keeps_the_innermost), T(t_the_oldest_layout),
	   T(t_deep_frames_that_are_objects), T(t_deep_generators), T(t_units_of_two_bytes),
	   T(t_a_forked_child_begins_anew), T(t_a_name_in_ascii), T(t_a_name_of_small_characters),
	   T(t_a_name_of_wide_characters), T(t_a_name_of_the_widest_characters))
