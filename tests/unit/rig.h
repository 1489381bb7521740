#pragma once
/*
 * rig -- one collector on a bench: a copy of a fixture that the test may
 * change between two samples, and a sink that remembers what it was told.
 *
 *	struct rig r;
 *	rig_fixture(&r, "v2");
 *	rig_start(&r, &as_collect_psi);
 *	rig_write(&r, "proc/pressure/cpu", "some … total=5\n");
 *	rig_sample(&r);
 *	EXPECT_I64(rig_cell(&r, AS_F_PSI_CPU, 0), …);
 *	rig_done(&r);
 */
#include "utest.h"

#include "base/cleanup.h"
#include "collect/collector.h"

enum { RIG_INSTANCES = 64 };

struct rig {
	struct as_env env;
	struct as_want want;
	struct as_cgroup cgroup;
	struct as_sink sink;
	struct as_tee tee;
	struct as_collect c;
	const struct as_members *members;
	struct as_frame frame;
	const struct as_collector *collector;
	void *state;
	struct as_origin origins[AS_NFIELDS];
	bool told[AS_NFIELDS];
	struct {
		enum as_scope scope;
		uint32_t id;
		int64_t key;
		char name[16];
	} instances[RIG_INSTANCES];
	size_t ninstances;
	char root[300];
};

static inline int rig_origin(void *st, enum as_field_id f, const struct as_origin *o,
			     struct as_err *err)
{
	struct rig *r = st;

	(void)err;
	r->origins[f] = *o;
	r->told[f] = true;
	return AS_OK;
}

static inline int rig_instance(void *st, const struct as_instance *i, struct as_err *err)
{
	struct rig *r = st;

	(void)err;
	EXPECT(r->ninstances < RIG_INSTANCES);
	r->instances[r->ninstances].scope = i->scope;
	r->instances[r->ninstances].id = i->id;
	r->instances[r->ninstances].key = i->key;
	(void)snprintf(r->instances[r->ninstances].name, 16, "%s", i->name);
	r->ninstances++;
	return AS_OK;
}

static const struct as_sink_ops rig_ops = {.name = "rig",
					   .origin = rig_origin,
					   .instance = rig_instance};

/* Everything wanted, no job yet; `env` must be open. */
static inline void rig_init(struct rig *r)
{
	r->want = as_want_all();
	r->sink = (struct as_sink){.ops = &rig_ops, .state = r};
	r->tee = (struct as_tee){&r->sink, 1};
	r->c = (struct as_collect){.env = &r->env,
				   .want = &r->want,
				   .sink = &r->tee,
				   .members = &r->members};
}

static inline void rig_machine(struct rig *r)
{
	struct as_err err;

	memset(r, 0, sizeof *r);
	(void)unsetenv("ASSAY_ROOT");
	EXPECT_OK(as_env_open(&r->env, &err), err);
	rig_init(r);
}

static inline void rig_fixture(struct rig *r, const char *name)
{
	struct as_err err;
	char command[700];

	memset(r, 0, sizeof *r);
	(void)snprintf(r->root, sizeof r->root, "%s/%s", utest_dir(), name);
	(void)snprintf(command, sizeof command, "cp -r tests/fixtures/%s '%s'", name, r->root);
	if (system(command) != 0)
		UTEST_FAIL("no tests/fixtures/%s: run this from the top of the tree", name);
	(void)setenv("ASSAY_ROOT", r->root, 1);
	EXPECT_OK(as_env_open(&r->env, &err), err);
	rig_init(r);
}

/* Change a file in place: a descriptor that is open sees it. NULL removes it. */
static inline void rig_write(const struct rig *r, const char *path, const char *text)
{
	char full[600];

	(void)snprintf(full, sizeof full, "%s/%s", r->root, path);
	if (!text) {
		EXPECT(unlink(full) == 0);
		return;
	}
	FILE *f = fopen(full, "w");
	EXPECT(f != NULL);
	EXPECT(fputs(text, f) >= 0 && fclose(f) == 0);
}

static inline void rig_start(struct rig *r, const struct as_collector *collector)
{
	struct as_err err;

	r->collector = collector;
	r->state = calloc(1, collector->state_size);
	EXPECT_OK(collector->open(r->state, &r->c, &err), err);
}

static inline void rig_sample(struct rig *r)
{
	struct as_err err;

	as_frame_start(&r->frame, 0);
	EXPECT_OK(r->collector->sample(r->state, &r->c, &r->frame, &err), err);
}

/* A cell of the last sample; AS_NA also when there is no such row. Rows must be unique. */
static inline int64_t rig_cell(const struct rig *r, enum as_field_id f, uint32_t instance)
{
	int64_t v = AS_NA;
	int rows = 0;

	for (size_t i = 0; i < r->frame.n; i++) {
		const struct as_row *row = &r->frame.rows[i];

		if (row->scope != as_fields[f].scope || row->instance != instance)
			continue;
		v = as_row_at(as_frame_cells(&r->frame, row), f);
		rows++;
	}
	EXPECT(rows <= 1);
	return v;
}

static inline void rig_expect_origin(const struct rig *r, enum as_field_id f,
				     enum as_provenance how, const char *source)
{
	if (!r->told[f])
		UTEST_FAIL("nothing was told about the source of %s", as_fields[f].key);
	if (r->origins[f].how != how)
		UTEST_FAIL("%s is %d, want %d (%s)", as_fields[f].key, r->origins[f].how, how,
			   r->origins[f].source);
	EXPECT_STR(r->origins[f].source, source);
}

/* What the collector knows at the end, where nobody before it knew anything. */
static inline void rig_finish(struct rig *r, struct as_total totals[AS_NTOTALS])
{
	for (size_t i = 0; i < AS_NTOTALS; i++)
		totals[i] = (struct as_total){.value = AS_NA, .how = AS_UNAVAILABLE};
	r->collector->finish(r->state, &r->c, totals);
}

static inline void rig_stop(struct rig *r)
{
	if (r->collector && r->collector->close)
		r->collector->close(r->state);
	free(as_take(r->state));
	r->collector = NULL;
}

static inline void rig_done(struct rig *r)
{
	rig_stop(r);
	as_frame_done(&r->frame);
	as_cgroup_done(&r->env, &r->cgroup);
	as_env_close(&r->env);
}
