/* cookies -- what a jar keeps, where it is sent, and when it is over: as RFC 6265 has it. */
#include "net/cookies.h"

#include "utest.h"

static struct as_cookies jar;

static struct as_cookie_place at(const char *target, bool secure, int64_t now)
{
	return (struct as_cookie_place){"a.example.org", target, secure, now};
}

static void take(const char *target, const char *header)
{
	struct as_cookie_place p = at(target, true, 1000);

	EXPECT(as_cookies_take(&jar, &p, header, strlen(header)));
}

static void expect_sent(const char *target, bool secure, int64_t now, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	struct as_cookie_place p = at(target, secure, now);

	as_cookies_put(&jar, &p, &b);
	EXPECT_STR(as_buf_text(&b), want);
}

static void t_names_and_paths(void)
{
	take("/a/b?x=/y/", "sid=1; HttpOnly"); /* of the folder /a */
	take("/", "all = two words ; Path=/"); /* blanks at the ends go */
	take("/", "deep=3; Path=/a/b");
	take("/", "odd=4; path=relative"); /* as if there were none */
	take("/", "empty=; Path=/z");
	expect_sent("/a/b/c", false, 1000, "deep=3; sid=1; all=two words; odd=4");
	expect_sent("/a/bc", false, 1000, "sid=1; all=two words; odd=4");
	expect_sent("/ab", false, 1000, "all=two words; odd=4");
	expect_sent("/z?q", false, 1000, "empty=; all=two words; odd=4");
	take("/", "all=new; Path=/"); /* the same one keeps its place */
	expect_sent("/", false, 1000, "all=new; odd=4");
	EXPECT_STR(as_cookies_find(&jar, "sid"), "1");
	EXPECT(!as_cookies_find(&jar, "si"));
	as_cookies_done(&jar);
	expect_sent("/", false, 1000, "");
}

static void t_no_cookies(void)
{
	static const char *const none[] = {"",
					   "=1",
					   "x",
					   ";a=1",
					   "; Path=/",
					   "a=1; Domain=other.org",
					   "a=1; Domain=org",
					   "a=1; Domain=b.example.org",
					   "a=1; Domain=ample.org"};

	for (size_t i = 0; i < AS_LEN(none); i++)
		take("/", none[i]);
	expect_sent("/", true, 1000, "");
	take("/", "a=1; Domain=.example.org");
	take("/", "b=2; domain=A.EXAMPLE.ORG");
	take("/", "c=3; Domain=");
	expect_sent("/", true, 1000, "a=1; b=2; c=3");
	as_cookies_done(&jar);
}

/* One of the host and one of its domain are two, and both are sent. */
static void t_domains_are_told_apart(void)
{
	take("/", "a=1");
	take("/", "a=2; Domain=.example.org");
	expect_sent("/", true, 1000, "a=1; a=2");
	take("/", "a=3; Domain=EXAMPLE.org");
	take("/", "a=4; Domain=a.example.org");
	expect_sent("/", true, 1000, "a=4; a=3");
	take("/", "a=; Max-Age=0");
	expect_sent("/", true, 1000, "a=3");
	as_cookies_done(&jar);
}

static void t_numbers_have_no_domains(void)
{
	struct as_cookie_place p = {"127.0.0.1", "/", false, 5};

	EXPECT(as_cookies_take(&jar, &p, "a=1; Domain=0.0.1", 17));
	EXPECT_U64(jar.n, 0);
	EXPECT(as_cookies_take(&jar, &p, "a=1; Domain=127.0.0.1", 21));
	EXPECT_U64(jar.n, 1);
	as_cookies_done(&jar);
}

static void t_ends(void)
{
	take("/", "short=1; Max-Age=10");
	take("/", "long=2; Max-Age=99999999999999999999");
	take("/", "dated=3; Expires=Thu, 01 Jan 1970 00:20:00 GMT"); /* 1200 */
	take("/", "both=4; Max-Age=500; Expires=Thu, 01 Jan 1970 00:00:01 GMT");
	take("/", "wrong=5; Max-Age=soon; Expires=never");
	take("/", "sure=6; Secure");
	expect_sent("/", false, 1009, "short=1; long=2; dated=3; both=4; wrong=5");
	expect_sent("/", true, 1010, "long=2; dated=3; both=4; wrong=5; sure=6");
	expect_sent("/", false, 1200, "long=2; both=4; wrong=5");
	expect_sent("/", false, 1500, "long=2; wrong=5");
	take("/", "long=; Max-Age=0");
	take("/", "wrong=; Expires=Thu, 01-Jan-70 00:00:00 GMT");
	take("/", "sure=; Max-Age=-5; Secure");
	expect_sent("/", true, 1000, "short=1; dated=3; both=4");
	as_cookies_done(&jar);
}

static void t_dates(void)
{
	static const struct {
		const char *text;
		int64_t want; /* -1: no date */
	} dates[] = {{"Wed, 09 Jun 2021 10:18:14 GMT", 1623233894},
		     {"Wed, 09-Jun-21 10:18:14 GMT", 1623233894},
		     {"Wed Jun  9 10:18:14 2021", 1623233894},
		     {"9 jUNe 2021 10:18:14", 1623233894},
		     {"09 Jun 2021", -1},
		     {"10:18:14", -1},
		     {"32 Jun 2021 10:18:14", -1},
		     {"09 Jun 2021 24:00:00", -1},
		     {"09 Jun 1600 10:18:14", -1},
		     {"", -1}};

	for (size_t i = 0; i < AS_LEN(dates); i++) {
		int64_t got = -1;

		EXPECT(as_cookie_date(dates[i].text, strlen(dates[i].text), &got) ==
		       (dates[i].want >= 0));
		EXPECT_I64(got, dates[i].want);
	}
}

static void t_bounded(void)
{
	char text[AS_COOKIE_MOST + 8] = "big=";

	memset(text + 4, 'x', sizeof text - 5);
	take("/", text);
	EXPECT_U64(jar.n, 0);
	for (unsigned i = 0; i < AS_COOKIES_MOST + 5; i++) {
		(void)snprintf(text, sizeof text, "c%u=1", i);
		take("/", text);
	}
	EXPECT_U64(jar.n, AS_COOKIES_MOST);
	as_cookies_done(&jar);
}

UTEST_MAIN(T(t_names_and_paths), T(t_no_cookies), T(t_domains_are_told_apart),
	   T(t_numbers_have_no_domains), T(t_ends), T(t_dates), T(t_bounded))
