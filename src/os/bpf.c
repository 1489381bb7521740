#include "os/bpf.h"

#include <errno.h>
#include <sys/stat.h>

enum { INIT_PID_NAMESPACE = 0xEFFFFFFC }; /* its inode, a constant of the kernel */

int as_bpf_check(const struct as_env *env, struct as_err *err)
{
	struct stat st;

	if (env->fixture)
		return as_fail(err, AS_EUNSUP, "BPF watches this machine, not a captured one");
	if (fstatat(env->proc, "self/ns/pid", &st, 0) == 0 && st.st_ino != INIT_PID_NAMESPACE)
		return as_fail(err, AS_EUNSUP, "pids in this container are not those of BPF");
	return AS_OK;
}

int as_bpf_refused(struct as_err *err, int os)
{
	as_fail_errno(err, os, "load BPF programs");
	return os == EPERM || os == EACCES
		       ? as_hint(err, "needs root, or CAP_BPF and CAP_PERFMON")
		       : as_hint(err, "needs Linux 5.17 with CONFIG_DEBUG_INFO_BTF=y");
}

int as_bpf_missing(struct as_err *err)
{
	as_fail(err, AS_EUNSUP, "this assay was built without BPF");
	return as_hint(err, "build with clang, bpftool and libbpf-dev: meson setup -Dbpf=enabled");
}
