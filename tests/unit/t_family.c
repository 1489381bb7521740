/* family -- what a file may claim of parents; how trees look is in t_report. */
#include "utest.h"

#include "report/family.h"

enum { MOST = 8 };

struct one {
	uint32_t id, parent;
	int64_t born, died;
};

/* Its rows as "depth:count", in their order. */
static const char *rows_of(const struct one *v, size_t n)
{
	static char text[128];
	struct as_instance all[MOST] = {0};
	struct as_run run = {.instances = all, .ninstances = n, .end.duration_ns = 1000};
	struct as_family f;
	struct as_err err;
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		all[i] = (struct as_instance){.scope = AS_PROCESS,
					      .id = v[i].id,
					      .parent = v[i].parent,
					      .name = (char[]){"sh"},
					      .born_ns = v[i].born,
					      .died_ns = v[i].died,
					      .ended_by = AS_NA};
	EXPECT_OK(as_family_of(&run, &f, &err), err);
	text[0] = '\0';
	for (size_t i = 0; i < f.n; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d:%zu", i ? " " : "",
					f.rows[i].depth, f.rows[i].count);
	as_family_done(&f);
	return text;
}

/* A file that was tampered with: nobody is their own ancestor. */
static void t_ring(void)
{
	const struct one v[] = {{0, 2, 100, 900}, {1, 0, 100, 800}, {2, 1, 100, 700}};

	EXPECT_STR(rows_of(v, AS_LEN(v)), "0:1 1:1 2:1");
}

UTEST_MAIN(T(t_ring))
