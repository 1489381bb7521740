#include "stack/elf.h"

#include <fcntl.h>

#include "base/cleanup.h"
#include "os/maps.h"
#include "utest.h"

/* A variable of this program, looked up in its own file. */
int as_test_landmark = 42;

static struct as_map map_of(const void *p, struct as_buf *text)
{
	struct as_env env;
	struct as_err err;
	struct as_map m;
	size_t at = 0;

	EXPECT_OK(as_env_open(&env, &err), err);
	EXPECT_OK(as_maps_read(&env, getpid(), text, &err), err);
	as_env_close(&env);
	while (as_maps_next(text->p, text->len, &at, &m))
		if ((uintptr_t)p >= m.start && (uintptr_t)p < m.end)
			return m;
	UTEST_FAIL("%p is mapped nowhere", p);
}

static void t_finds_a_symbol_where_it_is(void)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_map m = map_of(&as_test_landmark, &text);
	as_auto_fd int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	as_cleanup(as_elf_close) struct as_elf e;
	uint64_t symbol = 0, here = 0, at = 0, size = 0;
	struct as_err err;

	EXPECT_OK(as_elf_open(fd, &e, &err), err);
	EXPECT(as_elf_symbol(&e, "as_test_landmark", &symbol));
	EXPECT(as_elf_address(&e, m.offset, &here));
	EXPECT_U64(m.start - here + symbol, (uintptr_t)&as_test_landmark);
	EXPECT(as_elf_section(&e, ".data", &at, &size) && symbol >= at && symbol < at + size);
	EXPECT(!as_elf_symbol(&e, "as_test_landmar", &symbol));
	EXPECT(!as_elf_section(&e, ".nowhere", &at, &size));
}

static void t_what_is_no_program(void)
{
	static const char *const files[] = {"/dev/null", "/etc/passwd", "/"};
	struct as_elf e;
	struct as_err err;

	for (size_t i = 0; i < AS_LEN(files); i++) {
		as_auto_fd int fd = open(files[i], O_RDONLY | O_CLOEXEC);

		EXPECT_I64(as_elf_open(fd, &e, &err), AS_EFORMAT);
	}
}

static bool ends_with(const struct as_map *m, const char *end)
{
	size_t n = strlen(end);

	return m->path_len >= n && !memcmp(m->path + m->path_len - n, end, n);
}

static void t_maps(void)
{
	static const char text[] = "7f00-8000 rw-p 00001000 fe:01 123    /usr/lib/a b.so\n"
				   "nonsense\n"
				   "9000-a000 r-xp 00000000 00:00 0 \n"
				   "b000-a000 r-xp 00000000 00:00 0 \n"
				   "c000-d000 ---p 00000000 00:00 0      [stack]";
	struct as_map m;
	size_t at = 0;

	EXPECT(as_maps_next(text, sizeof text - 1, &at, &m));
	EXPECT(m.start == 0x7f00 && m.end == 0x8000 && m.offset == 0x1000 && m.inode == 123);
	EXPECT(m.write && !m.exec && ends_with(&m, "/a b.so"));
	EXPECT(as_maps_next(text, sizeof text - 1, &at, &m));
	EXPECT(m.start == 0x9000 && m.exec && !m.path_len);
	EXPECT(as_maps_next(text, sizeof text - 1, &at, &m));
	EXPECT(ends_with(&m, "[stack]"));
	EXPECT(!as_maps_next(text, sizeof text - 1, &at, &m));
}

UTEST_MAIN(T(t_finds_a_symbol_where_it_is), T(t_what_is_no_program), T(t_maps))
