/* psi -- pressure totals of the machine, in the row that it shares with system. */
#include "rig.h"

#include "os/machine.h"

extern const struct as_collector as_collect_psi;

static void t_parse(void)
{
	static const char text[] = "some avg10=1.25 avg60=0.50 avg300=0.10 total=1000003\n"
				   "full avg10=0.75 avg60=0.25 avg300=0.05 total=17\n";
	struct as_pressure p;

	EXPECT(as_parse_pressure(text, sizeof text - 1, &p));
	EXPECT_I64(p.some, INT64_C(1000003000));
	EXPECT_I64(p.full, 17000);
}

/* Linux before 5.13 has no `full` line for the CPU. */
static void t_parse_some_only(void)
{
	static const char text[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
	struct as_pressure p;

	EXPECT(as_parse_pressure(text, sizeof text - 1, &p));
	EXPECT_I64(p.some, 0);
	EXPECT_I64(p.full, AS_TEXT_NA);
}

static void t_parse_bad(void)
{
	static const char *const bad[] = {"",
					  "some",
					  "some total=",
					  "some total=x\n",
					  "full total=5\n",
					  "some total=99999999999999999999\n",
					  "some total=9223372036854775807\n"};
	struct as_pressure p;

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		size_t n = strlen(bad[i]);

		if (as_parse_pressure(utest_edge(bad[i], n), n, &p))
			UTEST_FAIL("'%s' was taken for a pressure file", bad[i]);
	}
}

static void t_totals_since_the_start(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	rig_start(&r, &as_collect_psi);
	rig_sample(&r);
	for (enum as_field_id f = AS_F_PSI_CPU; f <= AS_F_PSI_IO_FULL; f++)
		EXPECT_I64(rig_cell(&r, f, 0), 0);
	rig_write(&r, "proc/pressure/cpu", "some avg10=0 avg60=0 avg300=0 total=1000010\n");
	rig_write(&r, "proc/pressure/memory",
		  "some avg10=0 total=20022\nfull avg10=0 total=10020\n");
	rig_write(&r, "proc/pressure/io",
		  "some avg10=0 total=3000034\nfull avg10=0 total=2000022\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_CPU, 0), 7000);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_MEM, 0), 11000);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_MEM_FULL, 0), 13000);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_IO, 0), 17000);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_IO_FULL, 0), 19000);
	EXPECT_U64(r.frame.n, 1);
	rig_expect_origin(&r, AS_F_PSI_MEM_FULL, AS_MEASURED, "/proc/pressure/memory");
	rig_done(&r);
}

static void t_old_kernel(void)
{
	struct rig r;

	rig_fixture(&r, "old-kernel");
	rig_start(&r, &as_collect_psi);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_CPU, 0), AS_NA);
	rig_expect_origin(&r, AS_F_PSI_CPU, AS_UNAVAILABLE,
			  "/proc/pressure/cpu: No such file or directory");
	rig_expect_origin(&r, AS_F_PSI_IO_FULL, AS_UNAVAILABLE,
			  "/proc/pressure/io: No such file or directory");
	rig_done(&r);
}

static void t_only_what_is_wanted(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	r.want = as_want_none();
	r.want.field[AS_F_PSI_MEM_FULL] = true;
	rig_start(&r, &as_collect_psi);
	rig_write(&r, "proc/pressure/memory", "some total=30000\nfull total=10008\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_MEM, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_MEM_FULL, 0), 1000);
	EXPECT(!r.told[AS_F_PSI_IO]);
	rig_done(&r);
}

UTEST_MAIN(T(t_parse), T(t_parse_some_only), T(t_parse_bad), T(t_totals_since_the_start),
	   T(t_old_kernel), T(t_only_what_is_wanted))
