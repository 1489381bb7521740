/* cmd_convert -- a profile of one format as another. */
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/source.h"
#include "profile/write.h"

struct opts {
	const char *format, *from;
	bool functions, full_names, tags;
};

/* clang-format off */
static const struct as_opt opts[] = {
	{ .name = "format", .letter = 'f', .type = AS_OPT_CHOICE, .at = offsetof(struct opts, format), .arg = "FORMAT", .choices = AS_PROFILE_WRITTEN, .help = "of OUT (default: by its ending)" },
	{ .name = "from", .type = AS_OPT_CHOICE, .at = offsetof(struct opts, from), .arg = "FORMAT", .choices = AS_PROFILE_READ, .help = "of IN (default: told by its bytes)" },
	{ .name = "threads", .letter = 't', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, tags), .help = "threads and other labels become frames, where a format has no labels" },
	{ .name = "function", .letter = 'F', .type = AS_OPT_SWITCH, .at = offsetof(struct opts, functions), .help = "by function, not by line" },
	{ .name = "full-filenames", .type = AS_OPT_SWITCH, .at = offsetof(struct opts, full_names), .help = "files with their whole path" },
	{ 0 }
};
/* clang-format on */

static int format_of(const struct opts *o, const char *out, const struct as_profile_format **ret,
		     struct as_err *err)
{
	bool standard = !strcmp(out, "-");

	*ret = o->format ? as_profile_format(o->format) : as_profile_format_of(out);
	if (!*ret || !(*ret)->write) {
		(void)as_fail(err, AS_EUSAGE, "'%s' does not say which format it shall have", out);
		return as_hint(err, "--format is one of %s", AS_PROFILE_WRITTEN);
	}
	if (standard && (*ret)->binary && isatty(STDOUT_FILENO))
		return as_fail(err, AS_EUSAGE, "%s is nothing for a terminal: give it a file",
			       (*ret)->name);
	return AS_OK;
}

static int convert(const struct opts *o, char **args, struct as_io *io, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_profile struct as_profile *p = NULL;
	as_auto_file FILE *file = NULL;
	const struct as_profile_format *format = NULL;
	struct as_spelling how = {o->functions, o->full_names, o->tags, 0};
	int r = format_of(o, args[1], &format, err);

	if (r == AS_OK)
		r = as_source_profile_of(args[0], o->from, &p, err);
	if (r == AS_OK)
		r = as_output_open(args[1], &file, err);
	if (r < 0)
		return r;
	format->write(p, &how, &b);
	return as_output_write(&b, file, args[1], io->out, err);
}

static int run(const void *opts_, char **args, char **tail, struct as_io *io, struct as_err *err)
{
	(void)tail;
	return convert(opts_, args, io, err);
}

const struct as_cmd as_cmd_convert = {
	.name = "convert",
	.synopsis = "[options] IN OUT",
	.about = "a profile of one format as another",
	.group = "profiles",
	.manual =
		"Reads the profile IN and writes it as OUT; `-` is standard input or output. What "
		"IN is, its bytes tell; what OUT shall be, its ending or `--format`.\n\n"
		"pprof carries everything that a profile holds. Folded stacks have one value: the "
		"first of the profile.",
	.examples = "assay convert profile.pb.gz stacks.folded\tfor makers of flame graphs\n",
	.min_args = 2,
	.max_args = 2,
	.opts = opts,
	.opts_size = sizeof(struct opts),
	.run = run,
};
