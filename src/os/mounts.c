#include "os/mounts.h"

#include "base/buf.h"
#include "base/cleanup.h"

/* Those whose pages are dirtied by way of the kernel's accounts, then those without page cache. */
static const char *const counted[] = {
	"ext2",       "ext3",     "ext4",        "xfs",       "btrfs",    "f2fs",      "overlay",
	"vfat",       "nfs",      "nfs4",        "tmpfs",     "devtmpfs", "proc",      "sysfs",
	"cgroup",     "cgroup2",  "devpts",      "mqueue",    "bpf",      "debugfs",   "tracefs",
	"securityfs", "configfs", "binfmt_misc", "hugetlbfs", "pstore",   "nsfs",      "fusectl",
	"efivarfs",   "autofs",   "squashfs",    "iso9660",   "erofs",    "selinuxfs",
};

/*
 *	36 35 98:0 /root /point rw,noatime master:1 shared:2 - cgroup cgroup rw,cpu
 *	                                   any number of these ^
 */
bool as_parse_mount(struct as_span line, struct as_mount *ret)
{
	struct as_span word;

	*ret = (struct as_mount){0};
	for (size_t i = 0; i < 5; i++) {
		if (!as_span_word(&line, &word))
			return false;
		if (i == 3)
			ret->root = word;
		ret->point = word;
	}
	while (as_span_word(&line, &word) && !as_span_is(word, "-"))
		;
	if (!as_span_word(&line, &ret->type) || !as_span_word(&line, &word))
		return false;
	(void)as_span_word(&line, &ret->options);
	return true;
}

static bool is_counted(struct as_span type)
{
	for (size_t i = 0; i < AS_LEN(counted); i++)
		if (as_span_is(type, counted[i]))
			return true;
	return false;
}

bool as_mounts_count_writes(struct as_span mountinfo)
{
	struct as_span line;
	struct as_mount m;
	bool any = false;

	while (as_span_cut(&mountinfo, '\n', &line)) {
		if (!as_parse_mount(line, &m) || !is_counted(m.type))
			return false;
		any = true;
	}
	return any;
}

bool as_writes_are_counted(const struct as_env *env)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_err err;

	return as_read_all(env->proc, "self/mountinfo", &text, &err) == AS_OK &&
	       as_mounts_count_writes(as_span(as_buf_text(&text), text.len));
}
