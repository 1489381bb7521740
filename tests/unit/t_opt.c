/* opt -- command lines, taken apart; and what is said about the wrong ones. */
#include "utest.h"

#include "cli/cmd.h"

struct opts {
	bool json, quiet;
	const char *name, *sort;
	uint64_t limit, size;
	double ratio, rate;
	int64_t interval, timeout;
	struct as_opt_list labels, words;
};

#define AT(m) offsetof(struct opts, m)
/* clang-format off */
static const struct as_opt rows[] = {
	AS_OPT_HEAD("what to measure"),
	{.name = "interval", .letter = 'i', .type = AS_OPT_DURATION, .at = AT(interval), .arg = "TIME",
	 .initial = "0.5s", .positive = true},
	{.name = "timeout",  .type = AS_OPT_DURATION, .at = AT(timeout), .arg = "TIME"},
	{.name = "name",     .letter = 'n', .type = AS_OPT_TEXT, .at = AT(name), .arg = "NAME"},
	{.name = "limit",    .letter = 'l', .type = AS_OPT_UINT, .at = AT(limit), .arg = "N",
	 .initial = "20"},
	{.name = "size",     .type = AS_OPT_BYTES, .at = AT(size), .arg = "SIZE", .positive = true},
	{.name = "ratio",    .type = AS_OPT_NUMBER, .at = AT(ratio), .arg = "X", .positive = true},
	{.name = "rate",     .type = AS_OPT_RATE, .at = AT(rate), .arg = "N/s"},
	{.name = "label",    .type = AS_OPT_PAIRS, .at = AT(labels), .arg = "K=V"},
	{.name = "word",     .letter = 'w', .type = AS_OPT_LIST, .at = AT(words), .arg = "W"},
	AS_OPT_HEAD("output"),
	{.name = "sort",     .type = AS_OPT_CHOICE, .at = AT(sort), .choices = "start|duration|cpu",
	 .initial = "start", .arg = "KEY"},
	{.name = "json",     .letter = 'j', .type = AS_OPT_SWITCH, .at = AT(json)},
	{.name = "quiet",    .letter = 'q', .type = AS_OPT_SWITCH, .at = AT(quiet)},
	{0},
};
/* clang-format on */

#define CMD(n, f, least, most)                                                                     \
	{                                                                                          \
		.name = (n), .synopsis = "[options] X", .flags = (f), .min_args = (least),         \
		.max_args = (most), .opts = rows, .opts_size = sizeof(struct opts)                 \
	}

static const struct as_cmd run = CMD("run", AS_CMD_COMMAND, 0, 0);
static const struct as_cmd attach = CMD("attach", AS_CMD_TAIL, 1, 1);
static const struct as_cmd rm = CMD("rm", 0, 1, -1);
static const struct as_cmd show = CMD("show", 0, 0, 1);
static const struct as_opt_habit habits[] = {{'d', "-i says how often"}, {'q', "ask less"}, {0}};
static const struct as_cmd used = {.name = "used",
				   .synopsis = "[options] X",
				   .max_args = 1,
				   .opts = rows,
				   .opts_size = sizeof(struct opts),
				   .habits = habits};
static const struct as_cmd bare = {.name = "bare", .synopsis = "", .max_args = 0};

enum { WORDS_MAX = 128 };

/* "a b  c" as an argv; '_' stands for an empty word. */
struct line {
	char text[4096];
	char *argv[WORDS_MAX + 1];
	int argc;
};

static void split(struct line *l, const char *text)
{
	EXPECT(strlen(text) < sizeof l->text);
	(void)snprintf(l->text, sizeof l->text, "%s", text);
	l->argc = 0;
	for (char *save = NULL, *w = strtok_r(l->text, " ", &save); w;
	     w = strtok_r(NULL, " ", &save)) {
		EXPECT(l->argc < WORDS_MAX);
		l->argv[l->argc++] = strcmp(w, "_") ? w : w + 1;
	}
	l->argv[l->argc] = NULL;
}

static int parse(const struct as_cmd *cmd, const char *text, struct line *l, struct as_parsed *ret,
		 struct as_err *err)
{
	split(l, text);
	return as_opt_parse(cmd, l->argc, l->argv, ret, err);
}

/* ── what is wrong is said, and how ───────────────────────────────────── */

static const struct {
	const struct as_cmd *cmd;
	const char *line, *msg, *hint;
} wrong[] = {
	{&run, "--interval abc -- true",
	 "--interval: 'abc' is not a duration; write 0.5s, 200ms, 5m or 2h", ""},
	{&run, "--interval=abc true",
	 "--interval: 'abc' is not a duration; write 0.5s, 200ms, 5m or 2h", ""},
	{&run, "--interval 0 true", "--interval: '0' must be greater than zero", ""},
	{&run, "--interval 0ms true", "--interval: '0ms' must be greater than zero", ""},
	{&run, "--interval -1 true", "--interval: '-1' must be greater than zero", ""},
	{&run, "-i-2.5s true", "--interval: '-2.5s' must be greater than zero", ""},
	{&run, "--interval -x true",
	 "--interval: '-x' is not a duration; write 0.5s, 200ms, 5m or 2h", ""},
	{&run, "--interval= true", "--interval: '' is not a duration; write 0.5s, 200ms, 5m or 2h",
	 ""},
	{&run, "--timeout -3 true",
	 "--timeout: '-3' is not a duration; write 0.5s, 200ms, 5m or 2h", ""},
	{&run, "--interval 99999999999999d true",
	 "--interval: '99999999999999d' is not a duration; write 0.5s, 200ms, 5m or 2h", ""},
	{&run, "--interval", "--interval: needs a value; write --interval TIME",
	 "'assay run --help' shows its options"},
	{&run, "--name -- true", "--name: needs a value; write --name NAME",
	 "'assay run --help' shows its options"},
	{&run, "-i -- true", "--interval: needs a value; write --interval TIME",
	 "'assay run --help' shows its options"},
	{&run, "--intervl 1 true", "no option '--intervl'; did you mean '--interval'?",
	 "'assay run --help' shows its options"},
	{&run, "--inter=1 true", "no option '--inter'; did you mean '--interval'?",
	 "'assay run --help' shows its options"},
	{&run, "--hlep", "no option '--hlep'; did you mean '--help'?",
	 "'assay run --help' shows its options"},
	{&run, "--zzzzzz true", "no option '--zzzzzz'", "'assay run --help' shows its options"},
	{&run, "--lamp 5 true", "no option '--lamp'", "'assay run --help' shows its options"},
	{&run, "--=x true", "no option '--'", "'assay run --help' shows its options"},
	{&run, "-json true", "no option '-json'; did you mean '--json'?",
	 "'assay run --help' shows its options"},
	{&run, "-qz true", "no option '-z'", "'assay run --help' shows its options"},
	{&run, "--json=yes true", "--json: takes no value, but 'yes' was given", ""},
	{&run, "--label foo true", "--label: 'foo' is not of the form KEY=VALUE", ""},
	{&run, "--label =v true", "--label: '=v' is not of the form KEY=VALUE", ""},
	{&run, "--sort strat true",
	 "--sort: 'strat' is not one of start|duration|cpu; did you mean 'start'?", ""},
	{&run, "--sort xyzzy true", "--sort: 'xyzzy' is not one of start|duration|cpu", ""},
	{&run, "--sort star true",
	 "--sort: 'star' is not one of start|duration|cpu; did you mean 'start'?", ""},
	{&run, "--sort _ true", "--sort: '' is not one of start|duration|cpu", ""},
	{&run, "--limit 1.5 true", "--limit: '1.5' is not a whole number", ""},
	{&run, "--limit 18446744073709551616 true",
	 "--limit: '18446744073709551616' is not a whole number", ""},
	{&run, "--size 0 true", "--size: '0' must be greater than zero", ""},
	{&run, "--size 1XB true", "--size: '1XB' is not a size; write 4096, 64KiB, 200MB or 2GiB",
	 ""},
	{&run, "--ratio 0 true", "--ratio: '0' must be greater than zero", ""},
	{&run, "--rate 5/x true", "--rate: '5/x' is not a rate; write 50, 50/s or 3000/m", ""},
	{&run, "", "no command was given to run", "usage: assay run [options] X"},
	{&run, "--json --", "no command was given to run", "usage: assay run [options] X"},
	{&attach, "", "a word is missing", "usage: assay attach [options] X"},
	{&attach, "1 2", "'2' is one word too many", "usage: assay attach [options] X"},
	{&attach, "1 --", "no command was given to run", "usage: assay attach [options] X"},
	{&rm, "", "a word is missing", "usage: assay rm [options] X"},
	{&show, "a b", "'b' is one word too many", "usage: assay show [options] X"},
	{&show, "-- a -b", "'-b' is one word too many", "usage: assay show [options] X"},
	{&used, "-d 5s a", "no option '-d'; -i says how often",
	 "'assay used --help' shows its options"},
	{&used, "-jd5s a", "no option '-d'; -i says how often",
	 "'assay used --help' shows its options"},
	{&used, "-q 100 a", "-q takes no value; ask less", "usage: assay used [options] X"},
	{&used, "a b", "'b' is one word too many", "usage: assay used [options] X"},
	{&used, "-x a", "no option '-x'", "'assay used --help' shows its options"},
	{&bare, "--json", "no option '--json'", "'assay bare --help' shows its options"},
	{&bare, "-j", "no option '-j'", "'assay bare --help' shows its options"},
};

static void t_wrong(void)
{
	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		struct as_parsed p;
		struct as_err err = {0};
		struct line l;

		EXPECT_I64(parse(wrong[i].cmd, wrong[i].line, &l, &p, &err), AS_EUSAGE);
		EXPECT_STR(err.msg, wrong[i].msg);
		EXPECT_STR(err.hint, wrong[i].hint);
		EXPECT(!p.opts && !p.args);
	}
}

/* ── values and places ────────────────────────────────────────────────── */

static void t_defaults(void)
{
	struct as_parsed p;
	struct as_err err = {0};
	struct line l;

	EXPECT_OK(parse(&show, "", &l, &p, &err), err);
	const struct opts *o = p.opts;
	EXPECT_I64(o->interval, 500000000);
	EXPECT_U64(o->limit, 20);
	EXPECT_STR(o->sort, "start");
	EXPECT_STR(o->name, NULL);
	EXPECT_I64(o->timeout, 0);
	EXPECT(!o->json && !o->quiet && !p.help && !p.tail && p.nargs == 0 && !p.args[0]);
	as_parsed_done(&p);
}

static void t_values(void)
{
	struct as_parsed p;
	struct as_err err = {0};
	struct line l;

	EXPECT_OK(parse(&rm,
			"a --interval 200ms -n x --name=y=z -l7 --size=2KiB --ratio 0.25 -qj "
			"--rate 30/m b --label k=v --label e= --label u=a=b -w 1 -w2 "
			"--sort cpu --timeout 0 - _ -- -c --json",
			&l, &p, &err),
		  err);
	const struct opts *o = p.opts;
	EXPECT_I64(o->interval, 200000000);
	EXPECT_STR(o->name, "y=z"); /* the last one counts */
	EXPECT_U64(o->limit, 7);
	EXPECT_U64(o->size, 2048);
	EXPECT_NEAR(o->ratio, 0.25, 1e-12);
	EXPECT_NEAR(o->rate, 0.5, 1e-12);
	EXPECT(o->quiet && o->json);
	EXPECT_STR(o->sort, "cpu");
	EXPECT_U64(o->labels.n, 3);
	EXPECT_STR(o->labels.v[1], "e=");
	EXPECT_STR(o->labels.v[2], "u=a=b");
	EXPECT_U64(o->words.n, 2);
	EXPECT_STR(o->words.v[1], "2");
	EXPECT_I64(p.nargs, 6);
	EXPECT_STR(p.args[0], "a");
	EXPECT_STR(p.args[1], "b");
	EXPECT_STR(p.args[2], "-");
	EXPECT_STR(p.args[3], "");
	EXPECT_STR(p.args[4], "-c");
	EXPECT_STR(p.args[5], "--json");
	EXPECT(!p.args[6] && !p.tail);
	as_parsed_done(&p);
}

/* Options after the command's first word belong to the command. */
static const struct {
	const struct as_cmd *cmd;
	const char *line, *arg, *first, *second;
	bool json, help;
} places[] = {
	{&run, "true", NULL, "true", NULL, false, false},
	{&run, "-- true", NULL, "true", NULL, false, false},
	{&run, "--json ls --json", NULL, "ls", "--json", true, false},
	{&run, "ls --help", NULL, "ls", "--help", false, false},
	{&run, "-j -- --help", NULL, "--help", NULL, true, false},
	{&run, "ls -- x", NULL, "ls", "--", false, false},
	{&run, "-- -- x", NULL, "--", "x", false, false},
	{&run, "--name --help ls", NULL, "ls", NULL, false, false},
	{&run, "--interval bogus --help", NULL, NULL, NULL, false, true},
	{&run, "--bogus -h ls", NULL, NULL, NULL, false, true},
	{&run, "-qh", NULL, NULL, NULL, false, true},
	{&attach, "7", "7", NULL, NULL, false, false},
	{&attach, "7 --json -- k6 run", "7", "k6", "run", true, false},
	{&attach, "--json 7 -- k6 --json", "7", "k6", "--json", true, false},
	{&show, "--help a b c", NULL, NULL, NULL, false, true},
	{&show, "-- --help", "--help", NULL, NULL, false, false},
	{&bare, "-h", NULL, NULL, NULL, false, true},
};

static void t_places(void)
{
	for (size_t i = 0; i < AS_LEN(places); i++) {
		struct as_parsed p;
		struct as_err err = {0};
		struct line l;

		EXPECT_OK(parse(places[i].cmd, places[i].line, &l, &p, &err), err);
		EXPECT_STR(p.args[0], places[i].arg);
		EXPECT_STR(p.tail ? p.tail[0] : NULL, places[i].first);
		EXPECT_STR(p.tail && p.tail[0] ? p.tail[1] : NULL, places[i].second);
		EXPECT_I64(p.help, places[i].help);
		if (places[i].cmd->opts)
			EXPECT_I64(((const struct opts *)p.opts)->json, places[i].json);
		as_parsed_done(&p);
	}
}

static void t_too_many_repeats(void)
{
	char text[1024] = "";
	struct as_parsed p;
	struct as_err err = {0};
	struct line l;

	for (int i = 0; i <= AS_OPT_REPEATS; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "-w%d ", i);
	EXPECT_I64(parse(&show, text, &l, &p, &err), AS_EUSAGE);
	EXPECT_STR(err.msg, "--word: given more than 64 times");

	*strrchr(text, '-') = '\0'; /* exactly as many as there is room for */
	EXPECT_OK(parse(&show, text, &l, &p, &err), err);
	EXPECT_U64(((const struct opts *)p.opts)->words.n, AS_OPT_REPEATS);
	EXPECT_STR(((const struct opts *)p.opts)->words.v[63], "63");
	as_parsed_done(&p);
}

static void t_bad_default_is_our_bug(void)
{
	static const struct as_opt bad[] = {
		{.name = "x", .type = AS_OPT_UINT, .at = 0, .initial = "many"}, {0}};
	const struct as_cmd cmd = {.name = "c", .opts = bad, .opts_size = 8, .max_args = 0};
	struct as_parsed p;
	struct as_err err = {0};
	char *none[] = {NULL};

	EXPECT_I64(as_opt_parse(&cmd, 0, none, &p, &err), AS_EBUG);
	EXPECT_STR(err.msg, "default of 'c': --x: 'many' is not a whole number");
}

static void t_given(void)
{
	static const struct {
		const char *line;
		bool given;
	} cases[] = {
		{"--json", true},
		{"--bogus 1 --json", false}, /* 1 starts the command */
		{"--bogus=1 --json", true},
		{"--interval x --json", true},
		{"--name --json", false},
		{"-qj", true},
		{"-zj", false},
		{"ls --json", false},
		{"-- --json", false},
		{"", false},
	};
	struct line l;

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		split(&l, cases[i].line);
		EXPECT_I64(as_opt_given(&run, l.argc, l.argv, "json"), cases[i].given);
	}
}

/* ── near misses ──────────────────────────────────────────────────────── */

static void t_nearest(void)
{
	static const char *const names[] = {"run", "attach", "jobs",   "show",   "stats", "rm",
					    "gc",  "export", "import", "doctor", "help",  NULL};
	static const struct {
		const char *word, *near;
	} cases[] = {
		{"rnu", "run"},
		{"ru", "run"},
		{"runn", "run"},
		{"job", "jobs"},
		{"jbos", "jobs"},
		{"sohw", "show"},
		{"stat", "stats"},
		{"exprot", "export"},
		{"doc", "doctor"},
		{"x", NULL},
		{"", NULL},
		{"zzz", NULL},
		{"mr", "rm"},
		{"attahc", "attach"},
		{"ab", NULL},
		{"hepl", "help"},
		{"exporting", NULL},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
	};

	for (size_t i = 0; i < AS_LEN(cases); i++)
		EXPECT_STR(as_opt_nearest(cases[i].word, names), cases[i].near);
}

static void t_pair(void)
{
	const char *value = NULL;
	size_t len = 0;
	struct as_err err = {0};

	EXPECT_OK(as_opt_pair("key=a=b", &value, &len, &err), err);
	EXPECT_U64(len, 3);
	EXPECT_STR(value, "a=b");
	EXPECT_I64(as_opt_pair("key", &value, &len, &err), AS_EUSAGE);
	EXPECT_I64(as_opt_pair("", &value, &len, &err), AS_EUSAGE);
}

UTEST_MAIN(T(t_wrong), T(t_defaults), T(t_values), T(t_places), T(t_too_many_repeats),
	   T(t_bad_default_is_our_bug), T(t_given), T(t_nearest), T(t_pair))
