/*
 * pyself -- is this Python as we think it is?
 *
 * It is tried twice. At the first frame that we see, everything on the way to
 * names and lines must be what it should be: codes are of the type of codes,
 * names are texts, instructions are inside of their code. That is read by the
 * kernel for us, so whatever stands there, nobody crashes. Then the interpreter
 * is asked to call us when it can be asked: between two instructions of its
 * main thread, with the GIL. There it says itself which frames it sees.
 *
 * The second trial makes objects of a few frames. They are made like those of
 * an allocator inside of another: they are in nobody's account.
 */
#include "preload/pyhost.h"

#include <sys/uio.h>

#include "preload/sys.h"

enum {
	FRAMES_MOST = 64, /* that are tried                   */
	OBJECTS_MOST = 3, /* of them that are made objects of */
	OFFSET_MOST = 1 << AS_WIRE_CODE_SHIFT,
};

/* ── are things where they should be? ─────────────────────────────────── */

/* Bytes of our own memory, if they are there. */
static bool copy(const void *from, void *to, size_t n)
{
	struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};
	long pid = as_sys3(SYS_getpid, 0, 0, 0);

	return as_sys6(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0) == (long)n;
}

static bool is_of(const unsigned char *object, const unsigned char *type)
{
	unsigned char head[40];

	return object && copy(object, head, sizeof head) && as_pytype(&as_pyhost.at, head) == type;
}

static bool is_inside(int64_t offset, uint64_t units)
{
	const struct as_py_layout *l = &as_pyhost.at;

	if (offset < -2 || offset >= OFFSET_MOST)
		return false;
	return l->lines != AS_PY_LOCATIONS || offset <= (int64_t)units * 2;
}

static bool is_code(const unsigned char *at, const unsigned char *frame)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const struct as_pyhost_api *api = &as_pyhost.api;
	unsigned char code[AS_PY_CODE_MOST];

	return is_of(at, api->code_type) && copy(at, code, l->code.size) &&
	       is_of(as_pypointer(code, l->code.name), api->text_type) &&
	       is_of(as_pypointer(code, l->code.file), api->text_type) &&
	       is_of(as_pypointer(code, l->code.lines), api->bytes_type) &&
	       is_inside(as_pyframe_offset(l, frame, at), as_pysize(l, code));
}

/* How many frames from the leaf on have code; -1: something is not a frame. */
static int count_frames(const unsigned char *at)
{
	const struct as_py_layout *l = &as_pyhost.at;
	unsigned char frame[AS_PY_FRAME_MOST];
	int codes = 0;

	for (int i = 0; at && i < FRAMES_MOST; i++, at = as_pyframe_back(l, frame)) {
		if (!copy(at, frame, l->frame.size))
			return -1;
		if (as_pyframe_is_shim(l, frame))
			continue;
		if (!is_code(as_pyframe_code(l, frame), frame))
			return -1;
		codes++;
	}
	return codes;
}

static bool leaf_of(const void *thread, const unsigned char **ret)
{
	const struct as_py_layout *l = &as_pyhost.at;
	unsigned char copied[AS_PY_THREAD_MOST];

	if (!copy(thread, copied, l->thread.size))
		return false;
	*ret = as_pypointer(copied, l->thread.frame);
	if (l->thread.via == AS_PY_NO)
		return true;
	return copy(*ret, copied, l->thread.via + sizeof *ret) &&
	       (*ret = as_pypointer(copied, l->thread.via));
}

/* ── what does the interpreter say? ───────────────────────────────────── */

/* The next frame from this one on that the interpreter shows. */
static const unsigned char *shown(const unsigned char *f)
{
	const struct as_py_layout *l = &as_pyhost.at;

	for (; f; f = as_pyframe_back(l, f)) {
		const unsigned char *code;

		if (as_pyframe_is_shim(l, f))
			continue;
		code = as_pyframe_code(l, f);
		if (!as_pyframe_is_incomplete(l, f, code, as_pyframe_offset(l, f, code)))
			break;
	}
	return f;
}

/* Until 3.10 its objects are the frames; then they stand for them. */
static bool is_same(const unsigned char *f, void *object)
{
	const struct as_py_layout *l = &as_pyhost.at;
	const struct as_pyhost_api *api = &as_pyhost.api;
	int64_t offset;

	if (l->frame.owner == AS_PY_NO)
		return f == object;
	if (!api->frame_code || !api->frame_lasti || !api->decref)
		return true;
	void *code = api->frame_code(object);
	api->decref(code);
	offset = as_pyframe_offset(l, f, code);
	return as_pyframe_code(l, f) == code &&
	       api->frame_lasti(object) == (offset < 0 ? -1 : offset);
}

static bool agrees(const unsigned char *f)
{
	const struct as_pyhost_api *api = &as_pyhost.api;
	void *object = api->eval_frame();
	bool same = true, owned = false;

	for (int i = 0; same && object && i < OBJECTS_MOST; i++) {
		f = shown(f);
		same = f && is_same(f, object);
		void *back = api->frame_back && api->decref ? api->frame_back(object) : NULL;
		if (owned)
			api->decref(object);
		owned = back != NULL;
		object = back;
		f = same ? as_pyframe_back(&as_pyhost.at, f) : f;
	}
	if (owned)
		api->decref(object);
	return same && (object || !api->frame_back || !shown(f));
}

static void compare(void)
{
	const void *thread = as_pyhost.api.thread_state();

	if (thread && !agrees(as_pyframe_leaf(&as_pyhost.at, thread)))
		as_pyhost_refuse(AS_WIRE_WHY_SELFTEST);
}

/*
 * Called by the interpreter, with the GIL. A collection now would be the host's, and unseen. Its
 * main thread may have slept since we asked, and nothing be recorded any more: then nothing is
 * put in place, as nobody would take it out again.
 */
static int asked(void *unused)
{
	struct as_guest_thread *t = as_this_thread();
	const struct as_pyhost_api *api = &as_pyhost.api;

	(void)unused;
	as_inside(t);
	int collects = api->gc_disable && api->gc_enable ? api->gc_disable() : 0;
	if (atomic_load_explicit(&as_pyhost.state, memory_order_relaxed) == AS_PYHOST_TRUSTED)
		compare();
	if (atomic_load(&as_guest.phase) != AS_GUEST_OFF)
		as_pymem_install();
	if (collects)
		(void)api->gc_enable();
	as_outside(t);
	return 0;
}

bool as_pyself_try(const void *thread)
{
	const struct as_pyhost_api *api = &as_pyhost.api;
	const unsigned char *leaf;
	int codes = leaf_of(thread, &leaf) ? count_frames(leaf) : -1;

	if (codes < 0)
		as_pyhost_refuse(AS_WIRE_WHY_SELFTEST);
	if (codes <= 0)
		return false; /* without code nothing is proved */
	atomic_store_explicit(&as_pyhost.state, AS_PYHOST_TRUSTED, memory_order_release);
	if (api->add_pending && api->eval_frame)
		(void)api->add_pending(asked, NULL);
	return true;
}
