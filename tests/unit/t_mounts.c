/* mounts -- the file systems that are mounted here. */
#include "os/mounts.h"

#include "utest.h"

static void t_line(void)
{
	struct as_mount m;

	EXPECT(as_parse_mount(as_span_of("28 1 8:2 /r /mnt/a rw shared:1 - ext4 /dev/sda2 rw,x"),
			      &m));
	EXPECT(as_span_is(m.root, "/r") && as_span_is(m.point, "/mnt/a"));
	EXPECT(as_span_is(m.type, "ext4") && as_span_is(m.options, "rw,x"));
	EXPECT(!as_parse_mount(as_span_of("28 1 8:2 / / rw shared:1"), &m));
	EXPECT(!as_parse_mount(as_span_of(""), &m));
}

#define ROOT "28 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n"
#define SHM  "29 28 0:5 / /dev/shm rw - tmpfs tmpfs rw\n"

static void t_writes(void)
{
	EXPECT(as_mounts_count_writes(as_span_of(ROOT SHM)));
	EXPECT(!as_mounts_count_writes(
		as_span_of(ROOT SHM "30 28 0:9 / /f rw - fuse.sshfs a:b rw\n")));
	EXPECT(!as_mounts_count_writes(as_span_of(ROOT "what is this")));
	EXPECT(!as_mounts_count_writes(as_span_of("")));
}

UTEST_MAIN(T(t_line), T(t_writes))
