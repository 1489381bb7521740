#include "store/blob.h"

#include "same_run.h"
#include "sample_run.h"
#include "base/squeeze.h"
#include "run/series.h"

static void pack(const struct as_run *run, struct as_buf *b, size_t *ret_description)
{
	struct as_err err;

	EXPECT_OK(as_blob_pack(run, NULL, b, ret_description, &err), err);
}

static void round_trip(const struct as_run *run)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	as_auto_run struct as_run *back = NULL;
	struct as_err err;
	size_t description;

	pack(run, &b, &description);
	EXPECT(description > 0 && description < b.len);
	EXPECT_OK(as_blob_unpack(utest_edge(b.p, b.len), b.len, &back, &err), err);
	same_run(back, run);
}

static void t_short_run(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s);

	round_trip(run);
}

/* Its points were joined: tallies do not follow from the series, minima and maxima exist. */
static void t_long_run(void)
{
	struct sample s = SAMPLE_SHORT;

	s.ticks = 3 * AS_SERIES_CAP + 17;
	as_auto_run struct as_run *run = sample_run(&s);
	EXPECT(run->series[AS_JOB]->min && run->series[AS_JOB]->joined > 0);
	round_trip(run);
}

static void t_empty_run(void)
{
	struct sample s = {.seed = 3, .status = AS_FAILED};
	as_auto_run struct as_run *run = sample_run(&s);

	EXPECT_U64(run->ninstances, 0);
	round_trip(run);
}

static void t_run_with_everything(void)
{
	struct as_pair labels[] = {{(char[]){"env"}, (char[]){"prod"}},
				   {(char[]){"k"}, (char[]){""}}};
	struct sample s = SAMPLE_SHORT;

	s.labels = labels;
	s.nlabels = 2;
	s.version = "1.2.3";
	as_auto_run struct as_run *run = sample_run(&s);
	run->end.error = strdup("it \xff went wrong\n");
	run->end.signal = 9;
	run->end.exit_code = -1;
	run->end.survivors = 3;
	run->end.unmeasured = 2;
	run->who.parent = strdup("abcdefghijkl");
	run->who.git = strdup("0123456789abcdef");
	run->unlisted = 12345;
	run->verdict = (struct as_verdict){.kind = "cpu-one-thread",
					   .sentence = "one thread was busy 98 % of the time",
					   .advice = "use more threads",
					   .confidence = 0.9,
					   .nevidence = 1,
					   .evidence = {{"busiest thread", "98 %"}}};
	round_trip(run);
}

/* What it allocated comes back to the byte, and where the capture is. */
static void t_run_with_a_heap(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s), *back = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	size_t description;
	struct as_err err;

	run->heap = calloc(1, sizeof *run->heap);
	*run->heap = (struct as_heap_note){
		.capture = "/tmp/a b.heap",
		.sample = 4096,
		.cut = 1,
		.peak_ns = 5,
		.made = {70, 7000, 12.5},
		.peak = {60, 6000, 0},
		.left = {0, 0, 3 * 4096},
		.n = 2,
		.owner = {{"f", "/x.c", 7, {40, 4000, 1}}, {"", "", 0, {20, 2000, 2}}},
	};
	pack(run, &b, &description);
	EXPECT_OK(as_blob_unpack(b.p, b.len, &back, &err), err);
	EXPECT(back->heap && !memcmp(back->heap, run->heap, sizeof *run->heap));
}

/* An imported run: instances without tallies, one that is not in the list of singles. */
static void t_run_without_tallies(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s);

	for (size_t i = 0; i < run->ninstances; i++) {
		free(run->instances[i].tally);
		free(run->instances[i].last);
		run->instances[i].tally = NULL;
		run->instances[i].last = NULL;
	}
	round_trip(run);
}

/* A process that had one row only: its values come back, and no tallies. */
static void t_only_row(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s);
	struct as_instance *i = as_run_instance(run, AS_PROCESS, 0);

	free(i->tally);
	i->tally = NULL;
	i->last[0] = AS_NA;
	i->last[1] = INT64_MAX;
	i->last[2] = -5;
	round_trip(run);
}

/* Samples of the same moment are in the tallies but not in the series: both must come back. */
static void t_tallies_that_do_not_follow(void)
{
	struct as_builder *b = NULL;
	struct as_frame f = {0};
	struct as_err err;
	struct sample s = SAMPLE_SHORT;

	EXPECT_OK(as_builder_new(&b, &err), err);
	struct as_sink sink = as_builder_sink(b);
	struct as_tee tee = {&sink, 1};
	sample_begin(&s, &tee);
	for (int64_t t = 0; t < 6; t++) {
		as_frame_start(&f, t / 2 * AS_SECOND);
		as_row_set(as_frame_row(&f, AS_JOB, 0), AS_F_JOB_MEMORY, 100 + t * t);
		as_tee_frame(&tee, &f);
	}
	as_frame_done(&f);
	sample_end(&s, &tee);
	as_auto_run struct as_run *run = as_builder_take(b);
	EXPECT_U64(run->series[AS_JOB]->n, 3);
	EXPECT_U64(as_run_tally(run, AS_F_JOB_MEMORY, 0)->n, 6);
	round_trip(run);
}

/* With and without a memory of the run before, whatever that was: the same bytes. */
static void t_memory_of_the_run_before(void)
{
	struct as_blob_memo memo = {0};
	struct sample s = SAMPLE_SHORT;
	struct as_err err;

	for (s.seed = 0; s.seed < 12; s.seed++) {
		as_auto_buf struct as_buf a = AS_BUF(AS_BLOB_MAX), b = AS_BUF(AS_BLOB_MAX);
		as_auto_run struct as_run *run = sample_run(&s);
		size_t na, nb;

		if (s.seed == 4)
			run->origins[7].source[0] ^= 1;
		if (s.seed == 8)
			run->totals[3].how = AS_MODELLED;
		EXPECT_OK(as_blob_pack(run, &memo, &a, &na, &err), err);
		EXPECT_OK(as_blob_pack(run, NULL, &b, &nb, &err), err);
		EXPECT_U64(na, nb);
		EXPECT_U64(a.len, b.len);
		EXPECT(!memcmp(a.p, b.p, a.len));
	}
	as_blob_memo_done(&memo);
}

/* ── damage ── */

static void read_any(const char *p, size_t n)
{
	as_auto_run struct as_run *run = NULL;
	struct as_err err;
	int r = as_blob_unpack(p, n, &run, &err);

	EXPECT(r == AS_OK || r == AS_EFORMAT || r == AS_EUNSUP);
	EXPECT_I64(r == AS_OK, run != NULL);
}

static void t_every_prefix(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	size_t description;

	pack(run, &b, &description);
	char *edge = utest_edge(b.p, b.len);
	for (size_t n = 0; n < b.len; n++) {
		memmove(edge + b.len - n, b.p, n);
		read_any(edge + b.len - n, n);
	}
}

static void t_every_flipped_byte(void)
{
	struct sample s = {.seed = 5,
			   .procs = 2,
			   .cores = 1,
			   .ticks = 4,
			   .step_ns = AS_SECOND,
			   .status = AS_SUCCESS};
	as_auto_run struct as_run *run = sample_run(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	size_t description;

	pack(run, &b, &description);
	char *edge = utest_edge(b.p, b.len);
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			edge[i] = (char)(b.p[i] ^ 1 << bit);
			read_any(edge, b.len);
			edge[i] = b.p[i];
		}
}

static void t_newer_format_is_refused(void)
{
	as_auto_run struct as_run *run = NULL;
	struct as_err err;

	EXPECT_I64(as_blob_unpack("\x04", 1, &run, &err), AS_EUNSUP);
	EXPECT(strstr(err.msg, "format 4") && strstr(err.msg, "up to 3"));
}

static void read_old(const char *path, struct as_run **ret)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	FILE *f = fopen(path, "rb");

	if (!f)
		SKIP("%s is not here: run me in the source tree", path);
	char *at = as_buf_room(&b, 64 << 10);
	EXPECT(at);
	b.len = fread(at, 1, 64 << 10, f);
	(void)fclose(f);
	EXPECT_OK(as_blob_unpack(b.p, b.len, ret, &err), err);
}

/* Runs of all formats there ever were are read; the numbers are those that their assay read. */
static void t_older_formats(void)
{
	as_auto_run struct as_run *one = NULL, *two = NULL;

	read_old("tests/fuzz/corpus/blob/format1-failed", &one);
	read_old("tests/fuzz/corpus/blob/format2-failed", &two);
	EXPECT_STR(one->who.version, "1.2");
	EXPECT_STR(two->who.version, "1.2");
	const struct as_tally *a = as_run_tally(one, AS_F_PROC_USER, 1),
			      *b = as_run_tally(two, AS_F_PROC_USER, 1),
			      *c = as_run_tally(two, AS_F_PROC_RSS, 1);
	EXPECT(a->mean == 0x1.47ae9495d7aaep-7 && a->max == 0x1.47b4eeec97a9ap-7);
	EXPECT(b->mean == 0x1.47ac87eed893ap-7 && b->last == 0x1.47aadce31e793p-7);
	EXPECT(c->mean == 0x1.908aaad344b2cp+25 && c->min == 0x1.9028p+25);
}

/* A newer assay may add sections: they are skipped. */
static void t_unknown_section_is_skipped(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s), *back = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	struct as_err err;
	size_t description;

	pack(run, &b, &description);
	as_buf_str(&b, "Z\x03new");
	EXPECT_OK(as_blob_unpack(b.p, b.len, &back, &err), err);
	same_run(back, run);
}

/*
 * The keys of the blob say what its columns are: rename one, as a newer assay
 * might, and just that metric is unknown; nothing else moves.
 */
static void t_unknown_key_is_dropped(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s), *back = NULL;
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX);
	struct as_err err;
	size_t description;

	pack(run, &b, &description);
	char *key = memmem(b.p, description, "job.memory.used", 15);
	EXPECT(key);
	key[4] = 'X';
	EXPECT_OK(as_blob_unpack(b.p, b.len, &back, &err), err);
	EXPECT(!as_run_tally(back, AS_F_JOB_MEMORY, 0));
	EXPECT(as_run_tally(back, AS_F_JOB_RSS, 0)->mean ==
	       as_run_tally(run, AS_F_JOB_RSS, 0)->mean);
	EXPECT(as_run_tally(back, AS_F_JOB_THREADS, 0)->max ==
	       as_run_tally(run, AS_F_JOB_THREADS, 0)->max);
}

/* ── size ── */

/* In a hurry, what begins with the dictionary is kept without it, and comes back. */
static void t_rest_of_the_dictionary(void)
{
	struct sample s = SAMPLE_SHORT;
	as_auto_run struct as_run *run = sample_run(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOB_MAX), packed = AS_BUF(AS_BLOB_MAX),
				  plain = AS_BUF(AS_BLOB_MAX), lost = AS_BUF(AS_BLOB_MAX);
	struct as_squeeze *z = NULL;
	struct as_err err;
	size_t n;

	pack(run, &b, &n);
	EXPECT_OK(as_squeeze_new(&z, &err), err);
	EXPECT_OK(as_squeeze_dictionary(z, b.p, n, &err), err);
	as_squeeze_hurry(z, true);
	EXPECT_OK(as_squeeze(z, b.p, b.len, &packed, &err), err);
	EXPECT_U64(packed.len, b.len - n + 1);
	EXPECT_OK(as_unsqueeze(z, packed.p, packed.len, &plain, &err), err);
	EXPECT_U64(plain.len, b.len);
	EXPECT(!memcmp(plain.p, b.p, b.len));

	/* Without its dictionary it is no run, and nothing worse. */
	as_auto_run struct as_run *back = NULL;
	EXPECT_OK(as_squeeze_dictionary(z, NULL, 0, &err), err);
	EXPECT_OK(as_unsqueeze(z, packed.p, packed.len, &lost, &err), err);
	EXPECT_I64(as_blob_unpack(lost.p, lost.len, &back, &err), AS_EUNSUP);
	as_squeeze_free(z);
}

static void t_squeezed_and_back(void)
{
	struct sample s = SAMPLE_SHORT, other = SAMPLE_SHORT;
	as_auto_run struct as_run *first = sample_run(&s), *run, *back = NULL;
	as_auto_buf struct as_buf dict = AS_BUF(AS_BLOB_MAX), b = AS_BUF(AS_BLOB_MAX);
	as_auto_buf struct as_buf packed = AS_BUF(AS_BLOB_MAX), plain = AS_BUF(AS_BLOB_MAX);
	struct as_squeeze *z = NULL;
	struct as_err err;
	size_t n;

	other.seed = 99;
	run = sample_run(&other);
	pack(first, &dict, &n);
	EXPECT_OK(as_squeeze_new(&z, &err), err);
	EXPECT_OK(as_squeeze_dictionary(z, dict.p, n, &err), err);
	pack(run, &b, &n);
	EXPECT_OK(as_squeeze(z, b.p, b.len, &packed, &err), err);
	printf("# %zu bytes plain, %zu packed\n", b.len, packed.len);
	EXPECT(packed.len < 4096);
	EXPECT_OK(as_unsqueeze(z, packed.p, packed.len, &plain, &err), err);
	EXPECT_OK(as_blob_unpack(plain.p, plain.len, &back, &err), err);
	same_run(back, run);
	as_squeeze_free(z);
}

/* Eight bytes that promise a gigabyte. */
static void t_squeezed_bomb_is_refused(void)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BLOB_MAX);
	struct as_squeeze *z = NULL;
	struct as_err err;
	static const unsigned char bomb[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
					     0,    1,    0,    0,    0,    1, 0, 0};

	EXPECT_OK(as_squeeze_new(&z, &err), err);
	EXPECT_I64(as_unsqueeze(z, bomb, sizeof bomb, &out, &err), AS_EFORMAT);
	EXPECT_I64(as_unsqueeze(z, "nonsense", 8, &out, &err), AS_EFORMAT);
	EXPECT_U64(out.cap, 0);
	as_squeeze_free(z);
}

UTEST_MAIN(T(t_short_run), T(t_long_run), T(t_empty_run), T(t_run_with_everything),
	   T(t_run_with_a_heap), T(t_run_without_tallies), T(t_only_row),
	   T(t_tallies_that_do_not_follow), T(t_memory_of_the_run_before), T(t_every_prefix),
	   T(t_every_flipped_byte), T(t_newer_format_is_refused), T(t_older_formats),
	   T(t_unknown_section_is_skipped), T(t_unknown_key_is_dropped), T(t_squeezed_and_back),
	   T(t_rest_of_the_dictionary), T(t_squeezed_bomb_is_refused))
