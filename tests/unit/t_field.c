/* field -- the table of metrics is well-formed, and lists pick from it. */
#include "utest.h"

#include "run/field.h"

static void t_scopes_cover_the_table(void)
{
	size_t at = 0;

	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_scope_info *info = as_scope_info((enum as_scope)s);

		EXPECT_U64(info->first, at);
		for (size_t f = info->first; f < (size_t)info->first + info->n; f++)
			EXPECT_I64(as_fields[f].scope, s);
		at += info->n;
	}
	EXPECT_U64(at, AS_NFIELDS);
}

static void t_rows_are_well_formed(void)
{
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		const struct as_field *a = &as_fields[f];
		const char *scope = as_scope_info(a->scope)->name;

		EXPECT(a->key && a->title && a->help);
		EXPECT(!strncmp(a->key, scope, strlen(scope)) && a->key[strlen(scope)] == '.');
		EXPECT_U64(strspn(a->key, "abcdefghijklmnopqrstuvwxyz0123456789._"),
			   strlen(a->key));
		EXPECT(strlen(a->title) <= 9 && strlen(a->help) <= 64);
		EXPECT(a->help[strlen(a->help) - 1] != '.');
		EXPECT_U64(as_field_find(a->key, strlen(a->key)), f); /* no key stands twice */
	}
	EXPECT_U64(as_field_find("nothing", 7), AS_NFIELDS);
}

static void t_want(void)
{
	struct as_want w;
	struct as_err err;

	EXPECT_OK(as_want_parse("memory,job.io", &w, &err), err);
	EXPECT(w.field[AS_F_JOB_RSS] && w.field[AS_F_PROC_HWM] && w.field[AS_F_JOB_READ]);
	EXPECT(!w.field[AS_F_PROC_READ] && !w.field[AS_F_JOB_USER]);
	EXPECT(as_wants_group(&w, AS_G_MEMORY) && as_wants_group(&w, AS_G_IO));
	EXPECT(!as_wants_group(&w, AS_G_CPU));
	EXPECT_OK(as_want_parse("thread.cpu", &w, &err), err);
	EXPECT(w.field[AS_F_THR_CPU] && !w.field[AS_F_THR_WAIT]);
	EXPECT_OK(as_want_parse("all", &w, &err), err);
	EXPECT(w.field[0] && w.field[AS_F_CG_PSI_IO] && as_wants_group(&w, AS_G_PSI));
	EXPECT(!w.field[AS_F_FILE_READ] && !as_wants_group(&w, AS_G_PATHS)); /* opt-in */
	as_want_add(&w, AS_G_PATHS);
	EXPECT(w.field[AS_F_FILE_READ] && as_wants_group(&w, AS_G_PATHS));
	EXPECT_I64(as_want_parse("cpu,memroy", &w, &err), AS_EUSAGE);
	EXPECT(strstr(err.msg, "memroy"));
	EXPECT_I64(as_want_parse("job.i", &w, &err), AS_EUSAGE); /* not at a dot */
}

UTEST_MAIN(T(t_scopes_cover_the_table), T(t_rows_are_well_formed), T(t_want))
