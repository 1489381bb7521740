#include "stack/symbols.h"

#include <dlfcn.h>
#include <link.h>

#include "base/cleanup.h"
#include "heap/symbolize.h"
#include "stack/demangle.h"
#include "utest.h"

/* ── functions of this very program, whose names and lines are known ──── */

__attribute__((noinline)) static uint64_t here(void)
{
	return (uintptr_t)__builtin_return_address(0) - 1;
}

enum { AT_INLINED = __LINE__ + 5 };
__attribute__((always_inline)) static inline uint64_t as_test_inlined(volatile uint64_t *ret)
{
	uint64_t at;

	at = here();
	*ret = at;
	return at;
}

enum { AT_OUTER = __LINE__ + 5 };
__attribute__((noinline)) static uint64_t as_test_outer(volatile uint64_t *ret)
{
	uint64_t at;

	at = as_test_inlined(ret);
	*ret = at + 1;
	return at;
}

static uint64_t known_address(void)
{
	volatile uint64_t at = 0;

	return as_test_outer(&at);
}

/* ── what is told ─────────────────────────────────────────────────────── */

struct told {
	char text[1024];
	int32_t line[8];
	int n;
};

static void tell(void *arg, const struct as_symbol *s)
{
	struct told *t = arg;
	size_t len = strlen(t->text);

	(void)snprintf(t->text + len, sizeof t->text - len, "%s%s", len ? " " : "", s->function);
	if (t->n < 8)
		t->line[t->n++] = s->line;
}

static const struct as_symbols *load(void)
{
	const struct as_symbols *s = NULL;
	struct as_err err;

	/* the module is two folders up from a test program */
	char dir[4096] = {0};
	EXPECT(readlink("/proc/self/exe", dir, sizeof dir - 1) > 0);
	for (int i = 0; i < 3; i++)
		*strrchr(dir, '/') = '\0';
	EXPECT(!setenv("ASSAY_LIBDIR", dir, 1));
	if (as_symbols_load(&s, &err) == AS_EUNSUP)
		SKIP("%s", err.msg);
	return s;
}

static uint64_t bias_of(const void *p)
{
	struct link_map *map = NULL;
	Dl_info info;

	EXPECT(dladdr1(p, &info, (void **)&map, RTLD_DL_LINKMAP));
	return map->l_addr;
}

static void t_functions_and_what_was_inlined(void)
{
	as_cleanup(as_symbol_file_close) struct as_symbol_file f;
	uint64_t at = known_address();
	struct told t = {.n = 0};

	as_symbol_file_open(&f, load(), "/proc/self/exe", "");
	EXPECT_I64(as_symbol_file_find(&f, at - bias_of((void *)(uintptr_t)at), tell, &t), 2);
	EXPECT_STR(t.text, "as_test_inlined as_test_outer");
	EXPECT_I64(t.line[0], AT_INLINED);
	EXPECT_I64(t.line[1], AT_OUTER);
	t = (struct told){.n = 0}; /* and again, when the function is known */
	EXPECT_I64(as_symbol_file_find(&f, at - bias_of((void *)(uintptr_t)at), tell, &t), 2);
	EXPECT_STR(t.text, "as_test_inlined as_test_outer");
}

static void t_a_function_of_a_library_without_dwarf(void)
{
	as_cleanup(as_symbol_file_close) struct as_symbol_file f;
	void *at = dlsym(RTLD_DEFAULT, "a64l");
	struct told t = {.n = 0};
	Dl_info info;

	EXPECT(at && dladdr(at, &info));
	as_symbol_file_open(&f, load(), info.dli_fname, "");
	EXPECT_I64(as_symbol_file_find(&f, (uintptr_t)at - bias_of(at) + 1, tell, &t), 1);
	EXPECT_STR(t.text, "a64l");
}

static void expect_nothing(const char *path, const char *build_id, uint64_t address)
{
	as_cleanup(as_symbol_file_close) struct as_symbol_file f;
	struct told t = {.n = 0};

	as_symbol_file_open(&f, load(), path, build_id);
	EXPECT_I64(as_symbol_file_find(&f, address, tell, &t), 0);
	EXPECT_I64(t.n, 0);
}

static void t_what_cannot_be_told(void)
{
	expect_nothing("/etc/passwd", "", 4096);
	expect_nothing("/no such file", "", 4096);
	expect_nothing("/proc/self/exe", "", 1);
	expect_nothing("/proc/self/exe", "", UINT64_MAX);
	expect_nothing("/proc/self/exe", "00112233",
		       known_address() - bias_of((void *)(uintptr_t)known_address()));
}

/* ── a table of symbols ───────────────────────────────────────────────── */

static void *open_any(const char *path, const char *build_id)
{
	static int any;

	(void)path, (void)build_id;
	return &any;
}

static int find_none(void *file, uint64_t address, struct as_symbol_hint *hint,
		     as_symbol_tell tell_, void *arg)
{
	(void)file, (void)address, (void)hint, (void)tell_, (void)arg;
	return 0;
}

static void each_row(void *file,
		     void (*tell_)(void *arg, const char *name, uint64_t at, uint64_t size,
				   int rank),
		     void *arg)
{
	(void)file;
	tell_(arg, "label", 0x120, 4, 0);
	tell_(arg, "worse", 0x100, 0x40, 0);
	tell_(arg, "better", 0x100, 0x40, 4);
	tell_(arg, "open_end", 0x200, 0, 4);
	tell_(arg, "last", 0x300, 8, 4);
	tell_(arg, "endless", 0x400, 0, 4);
}

static void close_any(void *file)
{
	(void)file;
}

static void t_a_table_of_symbols(void)
{
	static const struct as_symbols table = {.open = open_any,
						.find = find_none,
						.each = each_row,
						.close = close_any};
	static const struct {
		uint64_t address;
		const char *want;
	} cases[] = {
		{0xff, ""},      {0x100, "better"},   {0x121, "label"},    {0x130, "better"},
		{0x140, ""},     {0x200, "open_end"}, {0x2ff, "open_end"}, {0x99999, ""},
		{0x300, "last"}, {0x307, "last"},     {0x308, ""},
	};
	as_cleanup(as_symbol_file_close) struct as_symbol_file f;

	as_symbol_file_open(&f, &table, "", "");
	for (size_t i = 0; i < AS_LEN(cases); i++) {
		struct told t = {.n = 0};

		(void)as_symbol_file_find(&f, cases[i].address, tell, &t);
		EXPECT_STR(t.text, cases[i].want);
	}
}

/* ── readable names ───────────────────────────────────────────────────── */

static void t_names_as_their_authors_wrote_them(void)
{
	static const struct {
		const char *theirs, *want;
	} names[] = {
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$4drop"
		 "17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as core::Drop>::drop"},
		{"main", NULL},
		{"_Z", NULL},
		{"_ZN3foo", NULL},
	};
	struct as_demangler d;

	as_demangler_init(&d);
	if (!d.cxa)
		SKIP("there is no C++ runtime");
	for (size_t i = 0; i < AS_LEN(names); i++) {
		as_auto_free char *got = as_demangle(&d, names[i].theirs);

		EXPECT_STR(got, names[i].want);
	}
}

static void t_without_a_runtime_names_stay(void)
{
	struct as_demangler d = {NULL};

	EXPECT(!as_demangle(&d, "_ZN3foo3barEi"));
}

/* ── all of a process ─────────────────────────────────────────────────── */

static void forget(struct as_heap_names *n)
{
	for (size_t i = 0; i < n->nsymbols; i++) {
		free(n->symbol[i].function);
		free(n->symbol[i].file);
	}
	free(n->symbol);
}

static void t_all_addresses_of_a_process(void)
{
	uint64_t at = known_address(), bias = bias_of((void *)(uintptr_t)at);
	char exe[4096] = {0}, gone[] = "/gone/libgone.so";
	struct as_heap_module module[] = {
		{.path = gone, .start = at - 16, .end = at + 16, .bias = bias, .until = 9},
		{.path = exe, .start = bias, .end = at + (1 << 20), .bias = bias},
		{.path = gone, .start = 0x1000, .end = 0x2000, .bias = 0x1000},
	};
	struct as_heap_node node[] = {
		{0}, {at, 0}, {0x1234, 1}, {at, 2}, {1ull << 63, 1}, {0x5678, 0},
	};
	struct as_heap_names n = {.node = node, .nnodes = 6, .module = module, .nmodules = 3};
	struct as_err err;

	(void)load();
	as_auto_symbolizer struct as_heap_symbolizer *y = as_heap_symbolizer_new(&err);
	EXPECT(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	EXPECT_OK(as_heap_symbolize(y, &n, &err), err);
	EXPECT_U64(n.nsymbols, 4);
	EXPECT_STR(n.symbol[0].function, "libgone.so+0x234");
	EXPECT_STR(n.symbol[1].function, "0x5678");
	EXPECT_U64(n.symbol[2].address, at);
	EXPECT_U64(n.symbol[2].node, 1);
	EXPECT_STR(n.symbol[2].function, "as_test_inlined");
	EXPECT_STR(n.symbol[3].function, "as_test_outer");
	EXPECT_U64(n.symbol[3].depth, 1);
	EXPECT(strstr(n.symbol[3].file, "t_symbols.c") != NULL);
	struct as_heap_names again = {.node = node, .nnodes = 6, .module = module, .nmodules = 3};
	EXPECT_OK(as_heap_symbolize(y, &again, &err), err); /* from what was found */
	EXPECT_U64(again.nsymbols, 4);
	for (size_t i = 0; i < 4; i++)
		EXPECT_STR(again.symbol[i].function, n.symbol[i].function);
	EXPECT_I64(again.symbol[3].line, AT_OUTER);
	forget(&again);
	forget(&n);
}

UTEST_MAIN(T(t_functions_and_what_was_inlined), T(t_a_function_of_a_library_without_dwarf),
	   T(t_what_cannot_be_told), T(t_a_table_of_symbols),
	   T(t_names_as_their_authors_wrote_them), T(t_without_a_runtime_names_stay),
	   T(t_all_addresses_of_a_process))
