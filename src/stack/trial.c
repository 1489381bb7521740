#include "stack/trial.h"

#include "os/remote.h"
#include "stack/pytext.h"
#include "stack/snapshot.h"

enum { INTERPS_MOST = 256, THREADS_MOST = 64, FRAMES_MOST = 64 };

static bool follow(const struct as_python *py, uint64_t at, uint64_t *ret)
{
	return !as_remote_read(py->pid, at, ret, sizeof *ret) && *ret;
}

static bool knows(const struct as_python *py, uint64_t thread, uint64_t interp)
{
	uint64_t back;

	return follow(py, thread + py->at.thread.interp, &back) && back == interp;
}

/* Is one of its threads so? From 3.13 on an interpreter that nobody is in has none. */
static bool any_thread(const struct as_python *py,
		       bool (*so)(const struct as_python *py, uint64_t thread))
{
	uint64_t interp, thread, at = py->runtime + py->at.runtime.interpreters;

	for (int i = 0; i < INTERPS_MOST && follow(py, at, &interp); i++) {
		at = interp + py->at.interp.threads;
		for (int k = 0; k < THREADS_MOST && follow(py, at, &thread); k++) {
			if (!knows(py, thread, interp))
				break;
			if (so(py, thread))
				return true;
			at = thread + py->at.thread.next;
		}
		at = interp + py->at.interp.next;
	}
	return false;
}

static bool is_one(const struct as_python *py, uint64_t thread)
{
	(void)py;
	return thread;
}

bool as_trial_threads(const struct as_python *py)
{
	return any_thread(py, is_one);
}

/* A name is a text, not empty, and of printable characters. */
static bool is_name(const struct as_python *py, uint64_t at)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!as_pytext_read(py, at, &b) || !b.len)
		return false;
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.p[i] < ' ')
			return false;
	return true;
}

static bool is_code(const struct as_python *py, uint64_t at)
{
	unsigned char code[AS_PY_CODE_MOST];

	return !as_remote_read(py->pid, at, code, py->at.code.size) &&
	       is_name(py, as_word(code, py->at.code.file)) &&
	       is_name(py, as_word(code, py->at.code.name));
}

/* The first frame from the leaf on that has code. */
static bool has_code(const struct as_python *py, uint64_t frame)
{
	const struct as_py_layout *l = &py->at;
	unsigned char copy[AS_PY_FRAME_MOST];

	for (int i = 0; frame && i < FRAMES_MOST; i++) {
		if (as_remote_read(py->pid, frame, copy, l->frame.size))
			return false;
		if (!as_pyframe_is_shim(l, copy))
			return is_code(py, as_pyframe_code(l, copy));
		frame = as_word(copy, l->frame.back);
	}
	return false;
}

static bool runs_code(const struct as_python *py, uint64_t thread)
{
	const struct as_py_layout *l = &py->at;
	uint64_t frame;

	if (!follow(py, thread + l->thread.frame, &frame))
		return false;
	if (l->thread.via != AS_PY_NO && !follow(py, frame + l->thread.via, &frame))
		return false;
	return has_code(py, frame);
}

bool as_trial_names(const struct as_python *py)
{
	return any_thread(py, runs_code);
}
