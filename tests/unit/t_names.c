/* names -- what nscd and systemd-resolved remember, written here by hand. */
#include "utest.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/nscd.h"
#include "os/resolved.h"

static struct as_sock_addr addr(const char *ip)
{
	struct as_sock_addr a;

	EXPECT(as_sock_addr_scan(ip, strlen(ip), &a));
	return a;
}

/* ── nscd ─────────────────────────────────────────────────────────────── */

/*
 * A table with one bucket. Places of numbers, in bytes, are those of nscd's own
 * structures: a head of 120, buckets padded to 16, then records.
 */
enum { HEAD = 120, RECORDS = HEAD + 16, ENTRY = 32, PACKET = 24, NONE = -1 };

struct table {
	char p[2048];
	size_t n;
};

static void put32(struct table *t, size_t at, uint32_t v)
{
	memcpy(t->p + at, &v, sizeof v);
}

static uint32_t get32(const struct table *t, size_t at)
{
	uint32_t v;

	memcpy(&v, t->p + at, sizeof v);
	return v;
}

static struct table empty(void)
{
	struct table t = {.n = RECORDS};

	put32(&t, 0, 2);
	put32(&t, 4, HEAD);
	put32(&t, 40, 1);
	put32(&t, HEAD, (uint32_t)NONE);
	return t;
}

static size_t append(struct table *t, const void *p, size_t n)
{
	size_t at = t->n;

	memcpy(t->p + at, p, n);
	t->n += n;
	put32(t, 48, (uint32_t)(t->n - RECORDS));
	return at - RECORDS;
}

/* An entry in front of the others, with its key; where it stands in the table. */
static size_t add(struct table *t, uint8_t asked, const void *key, size_t key_len)
{
	char e[ENTRY] = {(char)asked}, p[PACKET] = {[18] = 1};
	size_t key_at = append(t, key, key_len);
	size_t at = append(t, e, sizeof e);

	put32(t, RECORDS + at + 4, (uint32_t)key_len);
	put32(t, RECORDS + at + 8, (uint32_t)key_at);
	put32(t, RECORDS + at + 16, get32(t, HEAD));
	put32(t, RECORDS + at + 20, (uint32_t)append(t, p, sizeof p));
	put32(t, HEAD, (uint32_t)at);
	return RECORDS + at;
}

static void add_numbers(struct table *t, const uint32_t *v, size_t n)
{
	append(t, v, n * sizeof *v);
}

/* What getaddrinfo() is answered with: 10.0.0.7 and ::1. */
static size_t add_info(struct table *t, const char *name)
{
	static const uint32_t head[] = {2, 1, 2, 20, 0, 0};
	static const char addresses[20] = {10, 0, 0, 7, [19] = 1}, families[2] = {2, 10};
	size_t at = add(t, 14, name, strlen(name) + 1);

	add_numbers(t, head, 6);
	append(t, addresses, sizeof addresses);
	append(t, families, sizeof families);
	return at;
}

/* What gethostbyname() and gethostbyaddr() are answered with: 10.0.0.8, and one other name. */
static size_t add_host(struct table *t, uint8_t asked, const char *key, size_t key_len)
{
	static const uint32_t head[] = {2, 1, 5, 1, 2, 4, 1, 0}, lengths[] = {6};
	static const char ip[] = {10, 0, 0, 8};
	size_t at = add(t, asked, key, key_len);

	add_numbers(t, head, 8);
	append(t, "real", 5);
	add_numbers(t, lengths, 1);
	append(t, ip, sizeof ip);
	append(t, "other", 6);
	return at;
}

static void expect_name(const struct table *t, const char *ip, const char *want)
{
	struct as_sock_addr a = addr(ip);
	char name[16] = "";
	bool found = as_nscd_find(utest_edge(t->p, t->n), t->n, &a, name, sizeof name);

	EXPECT(found == (want != NULL));
	if (want)
		EXPECT_STR(name, want);
}

static void t_what_was_asked_for(void)
{
	struct table t = empty();
	static const char ip[] = {10, 0, 0, 8};

	expect_name(&t, "10.0.0.7", NULL);
	add_info(&t, "db.example");
	expect_name(&t, "10.0.0.7", "db.example");
	expect_name(&t, "::1", "db.example");
	expect_name(&t, "10.0.0.8", NULL);
	expect_name(&t, "::a00:7", NULL); /* the same bytes, another family */
	add_host(&t, 6, ip, sizeof ip);
	expect_name(&t, "10.0.0.8", "real");
	add_host(&t, 4, "alias", 6);
	expect_name(&t, "10.0.0.8", "alias");
	expect_name(&t, "10.0.0.7", "db.example");
}

static void t_what_is_no_name(void)
{
	struct table t = empty();
	size_t at = add_info(&t, "db.example");
	size_t packet = RECORDS + get32(&t, at + 20);

	t.p[packet + 16] = 1; /* nobody was found */
	expect_name(&t, "10.0.0.7", NULL);
	t.p[packet + 16] = 0;
	t.p[packet + 18] = 0; /* it is about to go */
	expect_name(&t, "10.0.0.7", NULL);
	t = empty();
	add_info(&t, "a name that has no room");
	expect_name(&t, "10.0.0.7", NULL);
	t = empty();
	add_info(&t, "\033[2Jx");
	expect_name(&t, "10.0.0.7", NULL);
	t = empty();
	add(&t, 0, "root", 5); /* of people, not of hosts */
	expect_name(&t, "10.0.0.7", NULL);
}

/* Cut off anywhere, or with any number changed, it is read without harm. */
static void t_broken_tables(void)
{
	struct table whole = empty(), t;
	struct as_sock_addr a = addr("10.0.0.9");
	char name[16];

	add_info(&whole, "db.example");
	add_host(&whole, 4, "alias", 6);
	for (size_t n = 0; n < whole.n; n++)
		(void)as_nscd_find(utest_edge(whole.p, n), n, &a, name, sizeof name);
	for (size_t at = 0; at + 4 <= whole.n; at += 4)
		for (uint32_t v = 0; v < 4; v++) {
			t = whole;
			put32(&t, at, v == 3 ? UINT32_MAX - 1 : v << 30);
			EXPECT(!as_nscd_find(utest_edge(t.p, t.n), t.n, &a, name, sizeof name));
		}
}

static void t_a_list_that_never_ends(void)
{
	struct table t = empty();
	size_t at = add_info(&t, "db.example");

	put32(&t, at + 16, (uint32_t)(at - RECORDS));
	expect_name(&t, "10.0.0.9", NULL);
	expect_name(&t, "10.0.0.7", "db.example");
}

/* ── a copy of it ─────────────────────────────────────────────────────── */

static void t_a_copy(void)
{
	as_auto_fd int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	as_auto_buf struct as_buf copy = AS_BUF(4096), small = AS_BUF(64);
	struct table t = empty();
	struct as_sock_addr a = addr("10.0.0.7");
	char name[16];

	if (fd < 0)
		SKIP("no nameless files here");
	add_info(&t, "db.example");
	EXPECT(pwrite(fd, t.p, sizeof t.p, 0) == (ssize_t)sizeof t.p);
	EXPECT(as_nscd_read(fd, &copy));
	EXPECT_U64(copy.len, t.n);
	EXPECT(as_nscd_find(copy.p, copy.len, &a, name, sizeof name));
	EXPECT(!as_nscd_read(fd, &small));
	put32(&t, 8, 1); /* things are being moved */
	EXPECT(pwrite(fd, t.p, sizeof t.p, 0) == (ssize_t)sizeof t.p);
	EXPECT(!as_nscd_read(fd, &copy));
}

/* ── systemd-resolved ─────────────────────────────────────────────────── */

#define RR(name, list)                                                                             \
	"{\"rr\":{\"key\":{\"type\":1,\"name\":\"" name "\"},\"address\":[" list "]}}"

static void expect_remembered(const char *text, const char *ip, const char *want)
{
	struct as_sock_addr a = addr(ip);
	size_t n = strlen(text);
	char name[16] = "";

	EXPECT(as_resolved_find(utest_edge(text, n), n, &a, name, sizeof name) == (want != NULL));
	if (want)
		EXPECT_STR(name, want);
}

static void t_what_resolved_remembers(void)
{
	static const char two[] = RR("one.example", "10,0,0,7") "," RR("two.example", "10,0,0,70");

	expect_remembered(two, "10.0.0.7", "one.example");
	expect_remembered(two, "10.0.0.70", "two.example");
	expect_remembered(two, "10.0.0.77", NULL);
	expect_remembered(RR("six", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1"), "::1", "six");
	expect_remembered(RR("six", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1"), "0.0.0.0", NULL);
	expect_remembered(RR("long.example.com", "10,0,0,7"), "10.0.0.7", NULL);
	expect_remembered(RR("\\u001b[2J", "10,0,0,7"), "10.0.0.7", NULL);
	expect_remembered("\"address\":[10,0,0,7]", "10.0.0.7", NULL);
	expect_remembered("\"name\":\"x,\"address\":[10,0,0,7", "10.0.0.7", NULL);
	expect_remembered("", "10.0.0.7", NULL);
}

UTEST_MAIN(T(t_what_was_asked_for), T(t_what_is_no_name), T(t_broken_tables),
	   T(t_a_list_that_never_ends), T(t_a_copy), T(t_what_resolved_remembers))
