#include "stack/trial.h"

#include "os/remote.h"
#include "stack/pytext.h"
#include "stack/snapshot.h"

enum { THREADS_MOST = 64, FRAMES_MOST = 64 };

static bool follow(const struct as_python *py, uint64_t at, uint64_t *ret)
{
	return !as_remote_read(py->pid, at, ret, sizeof *ret) && *ret;
}

static bool first_thread(const struct as_python *py, uint64_t *ret_interp, uint64_t *ret)
{
	return follow(py, py->runtime + py->at.runtime.interpreters, ret_interp) &&
	       follow(py, *ret_interp + py->at.interp.threads, ret);
}

static bool knows(const struct as_python *py, uint64_t thread, uint64_t interp)
{
	uint64_t back;

	return follow(py, thread + py->at.thread.interp, &back) && back == interp;
}

bool as_trial_threads(const struct as_python *py)
{
	uint64_t interp, thread;

	return first_thread(py, &interp, &thread) && knows(py, thread, interp);
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
	uint64_t interp, thread;

	if (!first_thread(py, &interp, &thread))
		return false;
	for (int i = 0; i < THREADS_MOST && knows(py, thread, interp); i++) {
		if (runs_code(py, thread))
			return true;
		if (!follow(py, thread + py->at.thread.next, &thread))
			return false;
	}
	return false;
}
