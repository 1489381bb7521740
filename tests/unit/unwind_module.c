/* A module that is loaded while t_unwind runs, and calls back. */
extern int as_test_call(int (*fn)(void *), void *arg);

__attribute__((noinline)) int as_test_call(int (*fn)(void *), void *arg)
{
	volatile char room[512];

	room[0] = 1;
	return fn(arg) + room[0] - 1;
}
