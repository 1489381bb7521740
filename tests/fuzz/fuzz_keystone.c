/* One line of jobs_history.jsonl: whatever it holds, it is a run or a reason why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/keystone.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_run *run = NULL;
	struct as_err err = {0};
	int r = as_keystone_read((const char *)data, size, &run, &err);

	if (r < 0) {
		must(r == AS_EFORMAT && !run && err.msg[0]);
		return 0;
	}
	must(strlen(run->who.id) == AS_ID_LEN && run->who.name[0]);
	must(run->end.duration_ns >= 0 && run->end.status != AS_RUNNING);
	as_run_free(run);
	return 0;
}
