/*
 * asked -- the guest was loaded by an interpreter of Python that was asked to.
 *
 * It takes us for an extension and calls us once, with its lock; the rest is
 * done by a thread of our own, as ever (attach.c). There is no module to be
 * had: so nothing of us stays among its modules.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "preload/guest.h"
#include "preload/hook.h"
#include "preload/oldlibc.h"
#include "preload/sys.h"
#include "wire/attach.h"

AS_OLDLIBC(pthread_create, AS_OLDEST);
AS_OLDLIBC(pthread_detach, AS_OLDEST);

extern void *PySys_GetObject(const char *name) __attribute__((weak, visibility("default")));
extern const char *PyUnicode_AsUTF8(void *text) __attribute__((weak, visibility("default")));

void *PyInit_assay_heap(void);
void *assay_heap_attach(void *arg);

/* Where it is told what we are to do; NULL: nowhere. */
static struct as_wire_attach *map_place(const char *path)
{
	const size_t bytes = sizeof(struct as_wire_attach);
	struct as_wire_attach *a;
	long fd = as_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0), p;

	if (as_sys_failed(fd))
		return NULL;
	p = as_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	as_sys3(SYS_close, fd, 0, 0);
	if (as_sys_failed(p))
		return NULL;
	a = (struct as_wire_attach *)p;
	a->region = (uint64_t)p;
	a->bytes = bytes;
	atomic_store(&a->released, 1); /* nobody else is in it */
	return a;
}

static bool start_thread(struct as_wire_attach *a)
{
	uint64_t all = UINT64_MAX, was = 0;
	pthread_t thread;
	int e;

	as_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&was, sizeof all, 0, 0);
	e = pthread_create(&thread, NULL, assay_heap_attach, a);
	as_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&was, 0, sizeof all, 0, 0);
	return !e && !pthread_detach(thread);
}

static void begin(struct as_guest_thread *t)
{
	void *place = PySys_GetObject ? PySys_GetObject(AS_WIRE_ATTACH_PLACE) : NULL;
	const char *path = place && PyUnicode_AsUTF8 ? PyUnicode_AsUTF8(place) : NULL;
	struct as_wire_attach *a = path ? map_place(path) : NULL;

	if (!a)
		return;
	atomic_store(&a->status, AS_WIRE_ATTACH_LOADED);
	as_inside(t);
	if (!start_thread(a))
		atomic_store(&a->status, AS_WIRE_ATTACH_REFUSED);
	as_outside(t);
}

AS_HOOK void *PyInit_assay_heap(void)
{
	begin(as_this_thread());
	return NULL;
}
