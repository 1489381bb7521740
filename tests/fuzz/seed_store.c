/*
 * seed_store -- write the first inputs of fuzz_live and fuzz_blob.
 *
 *	seed_store tests/fuzz/corpus
 *
 * Run it again when a format gets a new version; the files are committed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../unit/sample_run.h"
#include "base/squeeze.h"
#include "store/blob.h"
#include "store/live.h"
#include "store/store.h"

static const struct {
	const char *name;
	struct sample s;
} seeds[] = {
	{"empty", {.seed = 1, .status = AS_SUCCESS}},
	{"running", {.seed = 2, .procs = 1, .cores = 1, .ticks = 2, .step_ns = AS_SECOND}},
	{"failed",
	 {.seed = 3,
	  .procs = 2,
	  .cores = 1,
	  .ticks = 4,
	  .step_ns = AS_SECOND,
	  .status = AS_FAILED,
	  .version = "1.2"}},
	{"idle",
	 {.seed = 4,
	  .procs = 4,
	  .idle = 3,
	  .cores = 0,
	  .ticks = 5,
	  .step_ns = AS_MSEC,
	  .status = AS_TIMEOUT}},
};

static void fail(const char *doing)
{
	perror(doing);
	exit(1);
}

static void write_file(const char *dir, const char *kind, const char *name, const struct as_buf *b)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", dir, kind);
	(void)mkdir(path, 0777);
	(void)snprintf(path, sizeof path, "%s/%s/%s", dir, kind, name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(b->p, 1, b->len, f) != b->len || fclose(f) != 0)
		fail(path);
}

static void seed_blob(const char *dir, const char *name, const struct sample *s)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX), z = AS_BUF(AS_BLOB_MAX);
	as_auto_run struct as_run *run = sample_run(s);
	struct as_squeeze *squeeze = NULL;
	struct as_err err;
	char packed[64];
	size_t description;

	if (!run || as_blob_pack(run, NULL, &b, &description, &err) < 0 ||
	    as_squeeze_new(&squeeze, &err) < 0 || as_squeeze(squeeze, b.p, b.len, &z, &err) < 0)
		fail("pack");
	write_file(dir, "blob", name, &b);
	(void)snprintf(packed, sizeof packed, "%s.zst", name);
	write_file(dir, "blob", packed, &z);
	as_squeeze_free(squeeze);
}

/* A committed file says nothing about the machine that made it. */
static void blank(struct as_buf *b, const char *text)
{
	char *at = *text ? memmem(b->p, b->len, text, strlen(text)) : NULL;

	if (at)
		memset(at, 'x', strlen(text));
}

static void anonymise(struct as_buf *b)
{
	struct as_writer self;
	char *hello = b->p + AS_LIVE_MAGIC_LEN;
	struct as_bytes head = as_bytes(hello, 4);
	uint32_t len = as_dec_u32le(&head);

	as_writer_self(&self);
	blank(b, self.boot_id);
	blank(b, self.host);
	uint32_t crc = as_crc32(as_crc32(0, hello, 4), hello + AS_LIVE_HEAD_LEN, len);
	for (int i = 0; i < 4; i++)
		hello[4 + i] = (char)(crc >> 8 * i);
}

static void slurp(const char *path, struct as_buf *b)
{
	as_auto_file FILE *f = fopen(path, "rb");
	char *at = as_buf_room(b, 1 << 20);

	if (!f || !at)
		fail(path);
	b->len = fread(at, 1, 1 << 20, f);
}

static void seed_live(const char *dir, const char *name, const struct sample *s)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	char store[] = "/tmp/seed-XXXXXX", path[64];
	struct as_live *l = NULL;
	struct as_err err;

	if (!mkdtemp(store) || as_live_create(store, "abcdefghijkl", &l, &err) < 0)
		fail("live file");
	struct as_sink sink = as_live_sink(l);
	struct as_tee tee = {&sink, 1};
	sample_tell(s, &tee, NULL, NULL);
	(void)snprintf(path, sizeof path, "%s/live/abcdefghijkl", store);
	slurp(path, &b);
	as_live_discard(l);
	(void)snprintf(path, sizeof path, "%s/live", store);
	if (sink.failed || rmdir(path) < 0 || rmdir(store) < 0)
		fail(path);
	anonymise(&b);
	write_file(dir, "live", name, &b);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fprintf(stderr, "usage: seed_store FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < AS_LEN(seeds); i++) {
		seed_blob(argv[1], seeds[i].name, &seeds[i].s);
		seed_live(argv[1], seeds[i].name, &seeds[i].s);
	}
	return 0;
}
