#include "fake_python.h"

static unsigned char *chunk, *code, *outer, *inner;

/* main calls f, and neither has been looked at. */
static void two_frames(unsigned minor)
{
	fake_python(minor);
	as_pyhost.state = AS_PYHOST_FOUND;
	chunk = fake_chunk(NULL), code = fake_code("f", 3);
	outer = chunk + FAKE_HEAD, inner = outer + FAKE_FRAME;
	fake_call(outer, NULL, fake_code("main", 1), 10);
	fake_call(inner, outer, code, 20);
	fake_leaf(inner);
}

static void expect_refused(void)
{
	EXPECT_U64(as_pywalk(&as_guest_thread, false), 0);
	EXPECT_U64(as_pyhost.state, AS_PYHOST_REFUSED);
	EXPECT_U64(as_guest.heap->why, AS_WIRE_WHY_SELFTEST);
	EXPECT_U64(as_pywalk(&as_guest_thread, false), 0);
}

static void t_what_is_right_is_trusted(void)
{
	static const unsigned minor[] = {8, 9, 10, 11, 12};

	for (size_t i = 0; i < sizeof minor / sizeof *minor; i++) {
		two_frames(minor[i]);
		EXPECT(as_pywalk(&as_guest_thread, false));
		EXPECT_U64(as_pyhost.state, AS_PYHOST_TRUSTED);
		EXPECT_U64(as_guest.heap->why, AS_WIRE_WHY_NONE);
	}
}

static void t_frames_at_an_address_that_is_not(void)
{
	two_frames(12);
	fake_pointer(inner, as_pyhost.at.frame.back, (void *)16);
	expect_refused();
}

static void t_a_leaf_at_an_address_that_is_not(void)
{
	two_frames(12);
	fake_pointer(fake_thread, as_pyhost.at.thread.frame, fake_via);
	fake_pointer(fake_via, as_pyhost.at.thread.via, (void *)4096);
	expect_refused();
}

static void t_a_code_of_another_type(void)
{
	two_frames(12);
	fake_pointer(code, 8, fake_bytes_type);
	expect_refused();
}

static void t_a_name_that_is_no_text(void)
{
	two_frames(11);
	fake_pointer(code, as_pyhost.at.code.name, (void *)(uintptr_t)77);
	expect_refused();
}

static void t_an_instruction_of_another_code(void)
{
	two_frames(11);
	fake_at(outer, FAKE_UNITS * 2 + 2);
	expect_refused();
}

static void t_shims_alone_prove_nothing(void)
{
	two_frames(12);
	fake_call(inner, NULL, NULL, 0);
	EXPECT_U64(as_pywalk(&as_guest_thread, false), 0);
	EXPECT_U64(as_pyhost.state, AS_PYHOST_FOUND);
	fake_call(inner, outer, code, 20);
	EXPECT(as_pywalk(&as_guest_thread, false));
}

/* --- what the interpreter says ---------------------------------------------------- */

static int (*pending)(void *);
static int fake_refs, fake_gc = 1, gc_off_in_frame;

static int fake_pending(int (*call)(void *), void *arg)
{
	(void)arg;
	pending = call;
	return 0;
}

/* Objects of frames: the frames themselves will do. */
static void *fake_eval_frame(void)
{
	EXPECT_U64(as_guest_thread.inside, 1);
	gc_off_in_frame = !fake_gc;
	return inner;
}

static void *fake_back(void *frame)
{
	fake_refs += frame == inner;
	return frame == inner ? outer : NULL;
}

static void *fake_frame_code(void *frame)
{
	fake_refs++;
	return (void *)(uintptr_t)as_pyframe_code(&as_pyhost.at, frame);
}

static int fake_lasti(void *frame)
{
	return frame == inner ? 20 : 10;
}

static void fake_decref(void *object)
{
	EXPECT(object);
	fake_refs--;
}

static int fake_disable(void)
{
	int was = fake_gc;

	fake_gc = 0;
	return was;
}

static int fake_enable(void)
{
	fake_gc = 1;
	return 0;
}

static void interpreter_that_talks(unsigned minor)
{
	two_frames(minor);
	as_pyhost.api.add_pending = fake_pending;
	as_pyhost.api.eval_frame = fake_eval_frame;
	as_pyhost.api.frame_back = fake_back;
	as_pyhost.api.frame_code = fake_frame_code;
	as_pyhost.api.frame_lasti = fake_lasti;
	as_pyhost.api.decref = fake_decref;
	as_pyhost.api.gc_disable = fake_disable;
	as_pyhost.api.gc_enable = fake_enable;
	EXPECT(as_pywalk(&as_guest_thread, false));
	EXPECT(pending);
}

static void t_it_agrees(void)
{
	static const unsigned minor[] = {8, 9, 10, 11, 12};

	for (size_t i = 0; i < sizeof minor / sizeof *minor; i++) {
		interpreter_that_talks(minor[i]);
		EXPECT_I64(pending(NULL), 0);
		EXPECT_U64(as_pyhost.state, AS_PYHOST_TRUSTED);
		EXPECT_I64(fake_refs, 0);
		EXPECT(fake_gc && gc_off_in_frame);
		EXPECT_U64(as_guest_thread.inside, 0);
	}
}

static void t_it_is_elsewhere(void)
{
	interpreter_that_talks(12);
	fake_at(outer, 12);
	EXPECT_I64(pending(NULL), 0);
	EXPECT_I64(fake_refs, 0);
	expect_refused();
}

static void t_it_knows_a_caller_more(void)
{
	interpreter_that_talks(12);
	fake_pointer(inner, as_pyhost.at.frame.back, NULL);
	EXPECT_I64(pending(NULL), 0);
	EXPECT_I64(fake_refs, 0);
	expect_refused();
}

static void t_it_is_silent(void)
{
	two_frames(12);
	EXPECT(as_pywalk(&as_guest_thread, false));
	EXPECT_U64(as_pyhost.state, AS_PYHOST_TRUSTED);
}

UTEST_MAIN(T(t_what_is_right_is_trusted), T(t_frames_at_an_address_that_is_not),
	   T(t_a_leaf_at_an_address_that_is_not), T(t_a_code_of_another_type),
	   T(t_a_name_that_is_no_text), T(t_an_instruction_of_another_code),
	   T(t_shims_alone_prove_nothing), T(t_it_agrees), T(t_it_is_elsewhere),
	   T(t_it_knows_a_caller_more), T(t_it_is_silent))
