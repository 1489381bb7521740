/*
 * The plain bytes of a run: what can be read can be written, and comes out the
 * same the second time. The same bytes as zstd must be refused or read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/squeeze.h"
#include "store/blob.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

/* Packed bytes of the run that these bytes are; false when they are none. */
static bool repack(const void *p, size_t n, struct as_buf *out)
{
	struct as_run *run = NULL;
	struct as_err err = {0};
	size_t description;
	int r = as_blob_unpack(p, n, &run, &err);

	must(r == AS_OK || r == AS_EFORMAT || r == AS_EUNSUP);
	must((r == AS_OK) == (run != NULL));
	if (r == AS_OK)
		must(as_blob_pack(run, NULL, out, &description, &err) == AS_OK);
	as_run_free(run);
	return r == AS_OK;
}

static void unsqueeze(const void *p, size_t n)
{
	struct as_buf out = AS_BUF(1 << 20);
	struct as_squeeze *z = NULL;
	struct as_err err = {0};

	must(as_squeeze_new(&z, &err) == AS_OK);
	(void)as_unsqueeze(z, p, n, &out, &err);
	as_squeeze_free(z);
	as_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_buf once = AS_BUF(AS_BLOB_MAX), twice = AS_BUF(AS_BLOB_MAX);

	if (repack(data, size, &once)) {
		must(repack(once.p, once.len, &twice));
		must(once.len == twice.len && !memcmp(once.p, twice.p, once.len));
	}
	unsqueeze(data, size);
	as_buf_done(&once);
	as_buf_done(&twice);
	return 0;
}
