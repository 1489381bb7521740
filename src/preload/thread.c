#include <pthread.h>

#include "preload/begin.h"
#include "preload/oldlibc.h"

AS_OLDLIBC(pthread_key_create, AS_OLDEST);
AS_OLDLIBC(pthread_setspecific, AS_OLDEST);
AS_OLDLIBC(pthread_once, AS_OLDEST);

/*
 * pthread_setspecific() may allocate (from the 33rd key on): it is called as if
 * it were the next allocator.
 */
static pthread_key_t key;
static pthread_once_t once;

enum { ROUNDS = 3 }; /* of destructors; PTHREAD_DESTRUCTOR_ITERATIONS is 4 */

static void remind(struct as_guest_thread *t)
{
	as_inside(t);
	pthread_setspecific(key, t);
	as_outside(t);
}

/* Other keys' destructors may still free: come again, as late as possible. */
static void end(void *arg)
{
	struct as_guest_thread *t = arg;

	if (atomic_load(&as_guest.phase) != AS_GUEST_RECORDS || t->era != as_guest.era)
		return; /* its ring is none of these */
	t->busy = 1;
	if (++t->rounds < ROUNDS) {
		remind(t);
	} else {
		t->ended = true;
		as_pywalk_end(t);
		as_native_end(t);
		as_ring_give_back(t);
	}
	t->busy = 0;
}

static void make_key(void)
{
	if (pthread_key_create(&key, end))
		key = (pthread_key_t)-1;
}

void as_thread_known(struct as_guest_thread *t)
{
	if (!pthread_once || !pthread_key_create || !pthread_setspecific)
		return; /* a program without threads */
	pthread_once(&once, make_key);
	if (key != (pthread_key_t)-1)
		remind(t);
}
