#include "cli/docs.h"

#include "base/cleanup.h"

struct as_docs_page as_docs_page(const struct as_cmd *cmd)
{
	struct as_docs_page p;

	(void)snprintf(p.name, sizeof p.name, "%s", cmd->name);
	for (char *c = p.name; *c; c++)
		*c = *c == ' ' ? '-' : *c;
	return p;
}

const char as_docs_about[] =
	"assay measures a job or a process from outside, without changing it: CPU time, memory, "
	"I/O, waiting, of the whole tree of processes, to the last child. It keeps every "
	"measurement as a run, and tells what limited it.\n\n"
	"`assay run -- COMMAND…` is the way in. What it found is shown at the end; `assay show` "
	"tells everything about it, `assay jobs` lists the runs, `assay stats` adds them up, and "
	"`assay doctor` says what this machine lets you measure.\n\n"
	"Options stand behind the command and before `--`, as `--name value` or `--name=value`. "
	"Durations are written 0.5s, 200ms, 5m, 2h or 7d, sizes 64KiB, 200MB or 2GiB. What is not "
	"known is shown as `-`, and as null in JSON; it is never shown as 0.";

const struct as_docs_term as_docs_environment[] = {
	{"ASSAY_STORE", "the folder where runs are kept, unless `--store` says otherwise"},
	{"XDG_DATA_HOME",
	 "the store is its folder `assay` if ASSAY_STORE is not set; without both it "
	 "is `~/.local/share/assay`"},
	{"ASSAY_ROOT",
	 "a folder with a captured `proc` and `sys` to read instead of this machine's; "
	 "for tests"},
	{"NO_COLOR", "if it is set and not empty, nothing is coloured"},
	{"COLUMNS", "the width to write for, instead of the terminal's"},
	{"LC_ALL, LC_CTYPE, LANG", "the first that is set decides between UTF-8 and ASCII"},
	{"TZ", "the time zone in which moments are shown"},
	{0},
};

const struct as_docs_term as_docs_files[] = {
	{"~/.local/share/assay/catalogue.db", "the runs that have ended, in SQLite"},
	{"~/.local/share/assay/live/", "one file for each run that is still going on"},
	{0},
};

#define TEXT(x)  #x
#define TEXT2(x) TEXT(x)

const struct as_docs_term as_docs_exits[] = {
	{"0", "all went well"},
#define X(name, exit, help) {TEXT2(exit), help},
	AS_ERRORS(X)
#undef X
		{"124", "`assay run`: the job was ended by `--timeout`"},
	{"125", "`assay run`: assay itself failed"},
	{"126", "the command that was to be started cannot be run"},
	{"127", "the command that was to be started was not found"},
	{0},
};
