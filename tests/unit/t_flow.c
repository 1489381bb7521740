/* flow -- what a file says, what is wrong with one, and the bytes that a session sends. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "load/session.h"
#include "utest.h"

#define BASE      "{\"base\": \"http://h:1\", "
#define ONE(step) BASE "\"steps\": [" step "]}"

static char told[200]; /* of rows that are left out */

static void tell(void *arg, const char *file, size_t line, const char *why)
{
	size_t n = strlen(told);

	(void)arg;
	(void)snprintf(told + n, sizeof told - n, "%s:%zu: %s\n", file, line, why);
}

static int parse(const char *text, struct as_flow_plan **ret, struct as_err *err)
{
	as_auto_fd int here = open(".", O_PATH | O_CLOEXEC);
	const struct as_flow_source from = {"f.json", here, tell, NULL};

	*err = (struct as_err){0};
	return as_flow_parse(&from, text, strlen(text), ret, err);
}

static struct as_flow_plan *read_flow(const char *text)
{
	struct as_flow_plan *p = NULL;
	struct as_err err;

	EXPECT_OK(parse(text, &p, &err), err);
	return p;
}

/* ── what is wrong, and where ─────────────────────────────────────────── */

static void t_wrong(void)
{
	static const struct {
		const char *text, *where;
	} wrong[] = {
		{"", "f.json:1:1: "},
		{"[]", "f.json:1:1: a flow is an object"},
		{"{}", "f.json:1:1: no \"base\""},
		{"{\"base\": \"http://h\",\n \"steps\": [}", "f.json:2:12: not JSON"},
		{"{\"base\": 3}", "f.json:1:10: "},
		{"{\"base\": \"http://{{session}}\"}", "f.json:1:10: the base is the same"},
		{"{\"base\": \"ftp://h\"}", "f.json:1:10: "},
		{"{\"base\": \"{{env.NOT_THERE_AT_ALL}}\"}", "f.json:1:11: no environment"},
		{BASE "\"stpes\": []}", "f.json:1:24: a flow has no \"stpes\""},
		{BASE "\"steps\": []}", "f.json:1:1: no \"steps\""},
		{BASE "\"steps\": {}}", "f.json:1:33: steps are a list"},
		{BASE "\"vars\": {\"session\": 1}}", "f.json:1:33: there is a 'session' already"},
		{BASE "\"vars\": {\"a b\": 1}}", "f.json:1:33: 'a b' is no name"},
		{BASE "\"cookies\": 1}", "f.json:1:35: cookies are true or false"},
		{BASE "\"rows\": \"/not/there\"}", "f.json:1:32: "},
		{ONE("3"), "f.json:1:34: a step is an object"},
		{ONE("{}"), "f.json:1:34: a step without a \"url\""},
		{ONE("{\"url\": \"x\"}"), "f.json:1:42: the url of a step begins"},
		{ONE("{\"url\": \"/a b\"}"), "f.json:1:42: write spaces"},
		{ONE("{\"url\": \"/{{x}}\"}"), "f.json:1:44: nothing is called 'x' here"},
		{ONE("{\"url\": \"/{{x\"}"), "f.json:1:44: '{{' without"},
		{ONE("{\"url\": \"/{{row.x}}\"}"), "f.json:1:44: nothing is called 'row.x'"},
		{ONE("{\"url\": \"/\", \"json\": {\"a\": [1, \"b {{y}}\"]}}"),
		 "f.json:1:68: nothing is called 'y' here"},
		{ONE("{\"url\": \"/\", \"json\": 1, \"body\": \"\"}"), "f.json:1:66: one of json"},
		{ONE("{\"url\": \"/\", \"form\": 1}"), "f.json:1:55: a form is an object"},
		{ONE("{\"url\": \"/\", \"think\": \"x\"}"), "f.json:1:56: "},
		{ONE("{\"url\": \"/\", \"method\": \"G T\"}"), "f.json:1:34: 'G T' is no method"},
		{ONE("{\"url\": \"/\", \"headers\": {\"a b\": 1}}"), "f.json:1:59: 'a b: 1' is no"},
		{ONE("{\"url\": \"/\", \"headers\": {\"Content-Length\": 1}}"),
		 "f.json:1:59: the length follows"},
		{ONE("{\"url\": \"/\", \"check\": {\"stat\": 1}}"), "f.json:1:57: a check has no"},
		{ONE("{\"url\": \"/\", \"check\": {\"status\": 99}}"), "f.json:1:67: a status is"},
		{ONE("{\"url\": \"/\", \"check\": {\"status\": \"204-200\"}}"), "f.json:1:67: "},
		{ONE("{\"url\": \"/\", \"check\": {\"latency\": \"-\"}}"), "f.json:1:68: "},
		{ONE("{\"url\": \"/\", \"check\": {\"json\": 1}}"), "f.json:1:65: an object is"},
		{ONE("{\"url\": \"/\", \"until\": {\"most\": 3}}"),
		 "f.json:1:56: what is waited for"},
		{ONE("{\"url\": \"/\", \"until\": {\"status\": 200, \"most\": 0}}"),
		 "f.json:1:80: "},
		{ONE("{\"url\": \"/\", \"capture\": {\"a\": {}}}"), "f.json:1:64: where is it?"},
		{ONE("{\"url\": \"/\", \"capture\": {\"a\": {\"jsn\": 1}}}"),
		 "f.json:1:65: a capture"},
		{ONE("{\"url\": \"/\", \"capture\": {\"a\": {\"between\": [\"x\"]}}}"),
		 "f.json:1:76: two texts"},
		{ONE("{\"url\": \"/\", \"capture\": {\"vu\": {\"status\": true}}}"),
		 "f.json:1:59: "},
		{ONE("{\"url\": \"/\", \"name\": \"a\"}, {\"url\": \"/\", \"name\": \"a\"}"),
		 "f.json:1:82: there is a step 'a' already"},
		{"{\"base\": \"ws://h\", \"steps\": [{\"url\": \"/\"}]}",
		 "f.json:1:38: the base is a WebSocket's"},
		{ONE("{\"websocket\": 1}"), "f.json:1:48: a WebSocket is a path, or it is true"},
		{ONE("{\"websocket\": false}"), "f.json:1:34: a step without a \"url\""},
		{ONE("{\"websocket\": true}"), "f.json:1:48: no WebSocket is open here"},
		{ONE("{\"websocket\": \"/\", \"close\": true}, {\"websocket\": true}"),
		 "f.json:1:83: no WebSocket is open here"},
		{ONE("{\"url\": \"/\", \"close\": true}"), "f.json:1:56: a step without"},
		{ONE("{\"websocket\": \"/\", \"url\": \"/\"}"),
		 "f.json:1:60: a message has no \"url\""},
		{ONE("{\"websocket\": \"/\", \"form\": {}}"), "f.json:1:61: a message has no"},
		{ONE("{\"url\": \"/\", \"receive\": 1}"),
		 "f.json:1:58: a step without a \"websocket\" receives"},
		{ONE("{\"websocket\": \"/\", \"receive\": -1}"),
		 "f.json:1:64: it is a number of messages: 0 to 1000000"},
		{ONE("{\"websocket\": \"/\", \"receive\": \"3\"}"),
		 "f.json:1:64: it is a number of messages: 0 to 1000000"},
		{ONE("{\"websocket\": \"/\", \"receive\": 2, \"until\": {\"contains\": \"x\"}}"),
		 "f.json:1:64: \"until\" is of a message that may come any time"},
		{ONE("{\"websocket\": \"/\", \"receive\": 0, \"check\": {\"contains\": \"x\"}}"),
		 "f.json:1:64: \"check\" is of a message, and none is waited for"},
		{ONE("{\"websocket\": \"/\"}, {\"websocket\": true, \"receive\": 0}"),
		 "f.json:1:85: it sends nothing, and waits for nothing"},
		{ONE("{\"websocket\": \"/\"}, {\"websocket\": true, \"headers\": {}}"),
		 "f.json:1:85: a message has no \"headers\""},
		{ONE("{\"websocket\": \"/\", \"headers\": {\"upgrade\": 1}}"),
		 "f.json:1:65: the upgrade"},
		{ONE("{\"websocket\": \"/\", \"check\": {\"status\": 200}}"),
		 "f.json:1:73: a message has no status"},
		{ONE("{\"websocket\": \"/\", \"until\": {\"every\": \"1s\"}}"),
		 "f.json:1:72: messages come"},
		{ONE("{\"websocket\": \"/\", \"capture\": {\"a\": {\"header\": \"x\"}}}"),
		 "f.json:1:81: a message has no header"},
		{ONE("{\"url\": \"/\", \"check\": {\"one_of\": {\"/a\": 1}}}"),
		 "f.json:1:74: a list is wanted"},
	};

	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		struct as_flow_plan *p = NULL;
		struct as_err err;
		int r = parse(wrong[i].text, &p, &err);

		if (r != AS_EFORMAT ||
		    strncmp(err.msg, wrong[i].where, strlen(wrong[i].where)) != 0)
			UTEST_FAIL("%s\n  says %s\n  not  %s", wrong[i].text, err.msg,
				   wrong[i].where);
		as_flow_free(p);
	}
}

/* ── what is sent ─────────────────────────────────────────────────────── */

struct visit {
	struct as_flow_plan *plan;
	struct as_session s;
	struct as_load *load;
	int64_t now;
};

static struct visit visit(const char *text)
{
	struct visit v = {.plan = read_flow(text), .load = calloc(1, sizeof(struct as_load))};

	EXPECT(v.load != NULL);
	return v;
}

static void begin(struct visit *v)
{
	as_session_init(&v->s, v->plan, 3, 1);
	as_session_begin(&v->s, 12, v->now);
}

static void done(struct visit *v)
{
	as_session_done(&v->s);
	as_flow_free(v->plan);
	free(v->load);
}

/* The request of the step, without the line that says who we are. */
static void expect_request(struct visit *v, const char *want)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	EXPECT(as_session_write(&v->s));
	const char *p = as_buf_text(&v->s.request), *who = strstr(p, "User-Agent: ");
	EXPECT(who != NULL);
	as_buf_add(&b, p, (size_t)(who - p));
	as_buf_str(&b, strchr(who, '\n') + 1);
	EXPECT_STR(as_buf_text(&b), want);
}

static enum as_load_error answer(struct visit *v, const char *text)
{
	struct as_http http;
	struct as_span piece;
	size_t n = strlen(text), used = 0;

	as_http_response(&http, false);
	while (used < n && !as_http_over(&http)) {
		bool head = http.state == AS_HTTP_START || http.state == AS_HTTP_HEADER;
		size_t took = as_http_step(&http, text + used, n - used, &piece);

		as_session_keep(&v->s, text + used, took, head, &piece);
		used += took;
	}
	EXPECT_I64(http.state, AS_HTTP_DONE);
	v->now += AS_MSEC;
	return as_session_answer(&v->s, &http, v->now - AS_MSEC, v->now, v->load);
}

#define OK(head, len, body) "HTTP/1.1 200 OK\r\n" head "Content-Length: " #len "\r\n\r\n" body

static void t_requests(void)
{
	EXPECT(!setenv("FLOW_WORD", "a \"b\"", 1));
	struct visit v = visit(
		"{\"base\": \"http://h:1/api/\", \"headers\": {\"X-A\": \"{{vu}}\", \"X-B\": 2},"
		"\"vars\": {\"who\": \"u{{session}}\", \"all\": {\"n\": \"{{session}}\"}},"
		"\"steps\": [{\"url\": \"/x?{{who}}\"},"
		"{\"url\": \"/y\", \"headers\": {\"x-b\": \"{{who}} {{iteration}}\"}, \"json\": "
		"{\"a\": \"{{all}}\", \"b\": \"<{{all}}>\", \"c\": \"{{env.FLOW_WORD}}\", \"d\": "
		"\"{{vu}}\"}},"
		"{\"url\": \"/z\", \"method\": \"PUT\", \"form\": {\"a b\": \"{{who}}&\", \"c\": "
		"\"{{env.FLOW_NONE:-d/e}}\"}},"
		"{\"url\": \"/w\", \"body\": \"{{all}}\\n{{who}}\"}]}");

	begin(&v);
	expect_request(&v, "GET /api/x?u12 HTTP/1.1\r\nHost: h:1\r\nX-A: 3\r\nX-B: 2\r\n\r\n");
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	expect_request(&v, "POST /api/y HTTP/1.1\r\nHost: h:1\r\nx-b: u12 1\r\nX-A: 3\r\n"
			   "Content-Type: application/json\r\nContent-Length: 53\r\n\r\n"
			   "{\"a\":{\"n\":12},\"b\":\"<{\\\"n\\\":12}>\",\"c\":\"a \\\"b\\\"\","
			   "\"d\":3}");
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	expect_request(&v, "PUT /api/z HTTP/1.1\r\nHost: h:1\r\nX-A: 3\r\nX-B: 2\r\n"
			   "Content-Type: application/x-www-form-urlencoded\r\n"
			   "Content-Length: 20\r\n\r\na%20b=u12%26&c=d%2Fe");
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	expect_request(&v, "POST /api/w HTTP/1.1\r\nHost: h:1\r\nX-A: 3\r\nX-B: 2\r\n"
			   "Content-Length: 12\r\n\r\n{\"n\":12}\nu12");
	EXPECT(v.s.at_work);
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	EXPECT(!v.s.at_work);
	done(&v);
}

static void t_captures(void)
{
	struct visit v = visit(ONE(
		"{\"url\": \"/\", \"capture\": {\"t\": {\"json\": \"/a/1\"},"
		"\"o\": {\"json\": \"b\"},"
		"\"h\": {\"header\": \"x-place\"}, \"c\": {\"cookie\": \"sid\"},"
		"\"s\": {\"status\": true},"
		"\"m\": {\"between\": [\"<\", \">\"]},"
		"\"d\": {\"json\": \"/no\", \"default\": [1]}}},"
		"{\"url\": \"{{h}}?{{t}}&{{t|url}}\", \"json\": [\"{{o}}\", \"{{c}}\", \"{{s}}\","
		" \"{{m}}\", \"{{d}}\"]}"));

	begin(&v);
	expect_request(&v, "GET / HTTP/1.1\r\nHost: h:1\r\n\r\n");
	EXPECT_I64(answer(&v,
			  "HTTP/1.1 103 Early Hints\r\nX-Place: /not/yet\r\n\r\n" OK(
				  "X-Place:  http://h:1/jobs \t\r\nset-cookie: sid=s1; Path=/\r\n"
				  "Set-Cookie: other=o; Path=/elsewhere\r\n",
				  39, "{\"a\": [0, \"x/ y\"], \"b\": {\"k\": \"<mid>\"}}")),
		   AS_LOAD_FINE);
	expect_request(&v, "POST /jobs?x/%20y&x%2F%20y HTTP/1.1\r\nHost: h:1\r\n"
			   "Content-Type: application/json\r\nCookie: sid=s1\r\n"
			   "Content-Length: 34\r\n\r\n"
			   "[{\"k\":\"<mid>\"},\"s1\",200,\"mid\",[1]]");
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	as_session_begin(&v.s, 13, 0); /* a new visitor has no cookies */
	expect_request(&v, "GET / HTTP/1.1\r\nHost: h:1\r\n\r\n");
	EXPECT_I64(answer(&v, OK("", 2, "{}")), AS_LOAD_CAPTURE);
	EXPECT(!v.s.at_work);
	done(&v);
}

static void t_no_way_out(void)
{
	struct visit v = visit(ONE("{\"url\": \"/\", \"capture\": {\"h\": {\"header\": \"l\"}, "
				   "\"w\": {\"header\": \"w\"}}},"
				   "{\"url\": \"/\", \"headers\": {\"X\": \"{{w}}\"}}, {\"url\": "
				   "\"{{h}}\"}"));

	begin(&v);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, OK("L: http://other/\r\nW: a\tb\r\n", 0, "")), AS_LOAD_FINE);
	expect_request(&v, "GET / HTTP/1.1\r\nHost: h:1\r\nX: a b\r\n\r\n");
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_FINE);
	EXPECT(!as_session_write(&v.s)); /* another server */
	done(&v);
}

static void t_starved(void)
{
	struct visit v = visit(ONE("{\"url\": \"/{{vu}}\", \"check\": {\"json\": {\"/a\": 1}}}"));

	begin(&v);
	EXPECT(as_session_write(&v.s));
	EXPECT(!v.s.starved);
	v.s.body.bad = true; /* as if there had been no memory */
	EXPECT_I64(answer(&v, OK("", 0, "")), AS_LOAD_DESCRIPTORS);
	EXPECT(v.s.starved && !v.s.at_work);
	EXPECT_I64(v.load->check[0].passed + v.load->check[0].failed, 0);
	as_session_begin(&v.s, 13, v.now);
	for (size_t i = 0; i < v.plan->nslots; i++)
		v.s.values[i].bad = true;
	EXPECT(!as_session_write(&v.s));
	EXPECT(v.s.starved);
	done(&v);
}

static void t_checks(void)
{
	struct visit v = visit(
		ONE("{\"url\": \"/\", \"check\": {\"status\": \"200-202\", "
		    "\"latency\": \"1ms\", \"contains\": "
		    "[\"b{{vu}}\", \"none\"], "
		    "\"header\": {\"X-A\": \"{{vu}}\"}, \"json\": {\"/n\": 1.0, "
		    "\"/t\": \"A\", \"/o\": {\"a\": [1]}, \"/z\": null, \"/not\": 1}}},"
		    "{\"url\": \"/\", \"check\": {\"status\": 404}}, {\"url\": \"/\", \"check\": "
		    "{\"status\": 200}}"));
	size_t passed = 0;

	begin(&v);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v,
			  OK("X-A: 3\r\n", 62,
			     "{\"n\": 1, \"t\": \"\\u0041\", \"o\": {\"a\": [ 1 ]}, \"z\": null, "
			     "\"b3\": 0}")),
		   AS_LOAD_FINE);
	for (size_t i = 0; i < 10; i++) {
		EXPECT_U64(v.load->check[i].passed + v.load->check[i].failed, 1);
		passed += v.load->check[i].passed;
	}
	EXPECT_U64(passed, 8);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), AS_LOAD_FINE);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), AS_LOAD_STATUS_4XX);
	EXPECT_U64(v.load->check[10].passed, 1);
	EXPECT_U64(v.load->check[11].failed, 1);
	done(&v);
}

static void t_until(void)
{
	struct visit v = visit(ONE("{\"url\": \"/\", \"until\": {\"json\": {\"/s\": \"done\"}, "
				   "\"every\": \"10ms\", \"most\": 3, "
				   "\"within\": \"1s\"}, "
				   "\"capture\": {\"r\": {\"json\": \"/r\"}}, \"think\": \"5ms\"},"
				   "{\"url\": \"/{{r}}\", \"until\": {\"status\": 200, "
				   "\"every\": \"400ms\", \"within\": \"1s\"}}"));

	begin(&v);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, OK("", 9, "{\"s\":\"x\"}")), AS_LOAD_FINE);
	EXPECT_I64(v.s.next_ns, v.now + 10 * AS_MSEC);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, OK("", 20, "{\"s\":\"done\",\"r\":7}  ")), AS_LOAD_FINE);
	EXPECT_I64(v.s.next_ns, v.now + 5 * AS_MSEC);
	expect_request(&v, "GET /7 HTTP/1.1\r\nHost: h:1\r\n\r\n");
	v.now = v.s.next_ns;
	for (int i = 0; i < 2; i++) { /* not yet, says a status that is waited for */
		EXPECT_I64(answer(&v, "HTTP/1.1 425 Early\r\nContent-Length: 0\r\n\r\n"),
			   AS_LOAD_FINE);
		v.now = v.s.next_ns;
		EXPECT(as_session_write(&v.s));
	}
	EXPECT_I64(answer(&v, "HTTP/1.1 425 Early\r\nContent-Length: 0\r\n\r\n"), AS_LOAD_UNTIL);
	as_session_begin(&v.s, 1, v.now);
	for (int i = 0; i < 3; i++) {
		EXPECT(as_session_write(&v.s));
		EXPECT_I64(answer(&v, OK("", 2, "{}")), i < 2 ? AS_LOAD_FINE : AS_LOAD_UNTIL);
	}
	EXPECT(!v.s.at_work);
	done(&v);
}

static void t_one_of(void)
{
	struct visit v = visit(ONE("{\"url\": \"/\", \"until\": {\"one_of\": {\"/s\": "
				   "[\"a\", 2.0, \"{{vu}}\"]}, \"most\": 9}}"));
	static const char *const not_yet[] = {"[\"s\"]", "{\"s\":null}", "{\"s\":\"2\"}"};
	char text[120];

	begin(&v);
	for (size_t i = 0; i < AS_LEN(not_yet); i++) {
		EXPECT(as_session_write(&v.s));
		(void)snprintf(text, sizeof text,
			       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
			       strlen(not_yet[i]), not_yet[i]);
		EXPECT_I64(answer(&v, text), AS_LOAD_FINE);
		EXPECT(v.s.at_work);
	}
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, OK("", 7, "{\"s\":2}")), AS_LOAD_FINE);
	EXPECT(!v.s.at_work);
	done(&v);
}

static enum as_load_error hear(struct visit *v, const char *text)
{
	struct as_http http = {.status = 101};

	as_buf_clear(&v->s.heard);
	as_buf_str(&v->s.heard, text);
	if (!as_session_heard(&v->s, v->now, v->now))
		return AS_LOAD_UNTIL;
	return as_session_answer(&v->s, &http, v->now, v->now, v->load);
}

static void miss(struct visit *v, const char *text)
{
	as_buf_clear(&v->s.heard);
	as_buf_str(&v->s.heard, text);
	as_session_miss(&v->s);
}

static void t_messages(void)
{
	struct visit v = visit(
		"{\"base\": \"http://h:1/api\", \"headers\": {\"X\": \"{{vu}}\"}, \"steps\": ["
		"{\"url\": \"/\", \"capture\": {\"p\": {\"json\": \"p\"}}},"
		"{\"websocket\": \"/ws?{{session}}\", \"json\": {\"a\": \"{{p}}\"}, \"until\": "
		"{\"json\": {\"/s\": 1}}, \"capture\": {\"t\": {\"json\": \"/t\"}}},"
		"{\"websocket\": true, \"check\": {\"contains\": \"{{t}}\"}},"
		"{\"websocket\": \"{{p}}\"}]}");

	begin(&v);
	EXPECT(as_session_write(&v.s));
	EXPECT_I64(answer(&v, OK("Set-Cookie: c=1; Path=/\r\n", 17, "{\"p\":\"ws://h:1/\"}")),
		   AS_LOAD_FINE);
	expect_request(&v, "GET /api/ws?12 HTTP/1.1\r\nHost: h:1\r\nX: 3\r\n"
			   "Connection: Upgrade\r\nUpgrade: websocket\r\n"
			   "Sec-WebSocket-Version: 13\r\nCookie: c=1\r\n");
	EXPECT_STR(as_buf_text(&v.s.message), "{\"a\":\"ws://h:1/\"}");
	EXPECT(v.plan->step[1].waits && v.plan->step[2].waits && !v.plan->step[3].waits);
	EXPECT_I64(hear(&v, "not JSON"), AS_LOAD_UNTIL);
	EXPECT_I64(hear(&v, "{\"s\":1,\"t\":\"w\"}"), AS_LOAD_FINE);
	EXPECT(as_session_write(&v.s));
	miss(&v, "one"); /* nobody waits yet, but a step will */
	miss(&v, "w");
	EXPECT(as_session_recall(&v.s));
	EXPECT_STR(as_buf_text(&v.s.heard), "one");
	EXPECT(as_session_recall(&v.s));
	EXPECT_STR(as_buf_text(&v.s.heard), "w");
	EXPECT(!as_session_recall(&v.s));
	EXPECT_I64(hear(&v, "w"), AS_LOAD_FINE);
	EXPECT_U64(v.load->check[0].passed, 1);
	EXPECT(as_session_write(&v.s));
	EXPECT(!strncmp(as_buf_text(&v.s.request), "GET / HTTP", 10));
	miss(&v, "late"); /* the last one opens another: it is nobody's */
	EXPECT(!as_session_recall(&v.s));
	done(&v);
}

static void t_rows(void)
{
	char path[] = "/tmp/flow_rows_XXXXXX", text[300];
	as_auto_fd int fd = mkstemp(path);
	static const char rows[] =
		"{\"a\": {\"b\": 1}}\n\nx\n[1]\n{\"a\": 2}\n{\"a\": {\"b\": \"z\"}}";

	EXPECT(fd >= 0 && write(fd, rows, sizeof rows - 1) == (ssize_t)sizeof rows - 1);
	(void)snprintf(text, sizeof text,
		       BASE "\"rows\": {\"file\": \"%s\", \"once\": true}, \"steps\": [{\"url\": "
			    "\"/{{row.a.b}}\"}]}",
		       path);
	struct visit v = visit(text);
	EXPECT_U64(v.plan->rows.n, 2);
	EXPECT(v.plan->rows.once && v.plan->rows.left_out == 4);
	EXPECT(strstr(told, ":2: empty") && strstr(told, ":3: not JSON") &&
	       strstr(told, ":4: no object") && strstr(told, ":5: it has no 'a.b'"));
	as_session_init(&v.s, v.plan, 1, 1);
	as_session_begin(&v.s, 2, 0);
	expect_request(&v, "GET /z HTTP/1.1\r\nHost: h:1\r\n\r\n");
	as_session_begin(&v.s, 3, 0);
	expect_request(&v, "GET /1 HTTP/1.1\r\nHost: h:1\r\n\r\n");
	done(&v);
	EXPECT(!unlink(path));
}

UTEST_MAIN(T(t_wrong), T(t_requests), T(t_captures), T(t_no_way_out), T(t_starved), T(t_checks),
	   T(t_until), T(t_one_of), T(t_messages), T(t_rows))
