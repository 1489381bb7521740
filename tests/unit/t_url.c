/* url, address -- what people type, and where it leads. */
#include "net/url.h"

#include "base/cleanup.h"
#include "net/address.h"
#include "utest.h"

static struct as_url parsed(const char *text)
{
	struct as_err err = {0};
	struct as_url u;

	EXPECT_OK(as_url_parse(text, &u, &err), err);
	return u;
}

static void t_http(void)
{
	struct as_url u = parsed("HTTP://example.org:8080/a/b?c=d#e");

	EXPECT_STR(u.host, "example.org");
	EXPECT_I64(u.port, 8080);
	EXPECT_STR(u.target, "/a/b?c=d");
	EXPECT_STR(u.authority, "example.org:8080");
	u = parsed("http://h?q");
	EXPECT_STR(u.target, "/?q");
	EXPECT_I64(u.port, 80);
	EXPECT_STR(parsed("http://[::1]:81").host, "::1");
	EXPECT_STR(parsed("http://[::1]:81").authority, "[::1]:81");
}

static void t_unix(void)
{
	struct as_url u = parsed("unix:/run/app.sock:/status?x");

	EXPECT(u.local);
	EXPECT_STR(u.socket, "/run/app.sock");
	EXPECT_STR(u.target, "/status?x");
	EXPECT_STR(parsed("unix:/run/app.sock").target, "/");
}

static void t_wrong(void)
{
	static const char *const wrong[] = {
		"",           "example.org",    "http://",       "http://:80/", "http://h:0/",
		"http://h:x", "http://h:70000", "http://[::1/",  "http://a b/", "http://h/\xc3\xa4",
		"unix:x",     "ftp://h/",       "http://u:p@h/", "http://[]/",
	};

	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		struct as_err err = {0};
		struct as_url u;

		if (as_url_parse(wrong[i], &u, &err) != AS_EUSAGE)
			UTEST_FAIL("'%s' was taken", wrong[i]);
	}
	struct as_err err = {0};
	struct as_url u;
	EXPECT_I64(as_url_parse_plain("https://h/", &u, &err), AS_EUNSUP);
}

static void t_tls(void)
{
	struct as_err err = {0};
	struct as_url u;

	EXPECT_I64(as_url_parse("HTTPS://h/x", &u, &err), AS_OK);
	EXPECT(u.tls);
	EXPECT_I64(u.port, 443);
	EXPECT_I64(as_url_parse("https://h:8443", &u, &err), AS_OK);
	EXPECT_I64(u.port, 8443);
	EXPECT_STR(u.authority, "h:8443");
	EXPECT_I64(as_url_parse_plain("http://h/", &u, &err), AS_OK);
	EXPECT(!u.tls);
}

static void t_near(void)
{
	static const struct {
		const char *url;
		bool near;
	} cases[] = {
		{"http://127.0.0.1/", true},
		{"http://127.9.9.9/", true},
		{"http://10.1.2.3/", true},
		{"http://172.31.0.1/", true},
		{"http://172.32.0.1/", false},
		{"http://192.168.1.1/", true},
		{"http://192.169.1.1/", false},
		{"http://8.8.8.8/", false},
		{"http://100.64.0.1/", false},
		{"http://[::1]/", true},
		{"http://[fd00::1]/", true},
		{"http://[2001:db8::1]/", false},
		{"http://[fe80::1]/", true},
		{"http://[::ffff:10.0.0.1]/", true},
		{"http://[::ffff:9.9.9.9]/", false},
		{"http://169.254.1.1/", true},
		{"unix:/x", true},
	};

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		struct as_url u = parsed(cases[i].url);
		struct as_addresses a;
		struct as_err err = {0};

		EXPECT_OK(as_resolve(&u, &a, &err), err);
		if (as_address_is_near(&a.at[0]) != cases[i].near)
			UTEST_FAIL("%s (%s) is thought %s", cases[i].url, a.at[0].text,
				   cases[i].near ? "far" : "near");
	}
}

UTEST_MAIN(T(t_http), T(t_unix), T(t_wrong), T(t_tls), T(t_near))
