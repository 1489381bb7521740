#include "cli/status.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/glyph.h"
#include "report/report.h"

#define FIRST_AFTER AS_SECOND /* short jobs never see it */
#define EVERY       (AS_SECOND * 4 / 10)

struct as_status_line as_status_line(int fd, struct as_builder *run)
{
	bool ours = isatty(fd) && tcgetpgrp(fd) == getpgrp();
	const char *term = getenv("TERM");

	if (!term || !*term || !strcmp(term, "dumb"))
		ours = false;
	return (struct as_status_line){.fd = ours ? fd : -1, .run = run, .look = as_look_for(fd)};
}

static void write_all(int fd, const struct as_buf *b)
{
	if (!b->bad && b->len)
		(void)!write(fd, b->p, b->len);
}

/* Is the terminal in its plain state, and the foreground still ours? */
static bool may_draw(const struct as_status_line *s)
{
	struct termios t;

	return tcgetpgrp(s->fd) == getpgrp() && tcgetattr(s->fd, &t) == 0 &&
	       (t.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

/*
 * Give all rows back to scrolling; the cursor stays where it is. Our row is
 * wiped, unless somebody else has the screen by now: then it may be theirs.
 */
static void release(struct as_status_line *s, bool wipe)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	sigset_t ttou, old;

	if (!s->rows)
		return;
	as_buf_str(&out, "\0337\033[r");
	if (wipe)
		as_buf_fmt(&out, "\033[%d;1H\033[2K", s->rows);
	as_buf_str(&out, "\0338");
	/* With `stty tostop` writing from the background would stop us. */
	(void)sigemptyset(&ttou);
	(void)sigaddset(&ttou, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &ttou, &old);
	write_all(s->fd, &out);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	s->rows = 0;
}

/* Take the last row; a line feed first, in case the cursor stands in it. */
static bool claim(struct as_status_line *s)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	struct winsize w;

	if (ioctl(s->fd, TIOCGWINSZ, &w) < 0 || w.ws_row < 3 || w.ws_col < 20)
		return false;
	s->look.width = w.ws_col < 120 ? w.ws_col : 120;
	if (s->rows == w.ws_row)
		return true;
	release(s, true);
	as_buf_fmt(&out, "\n\0337\033[1;%dr\0338\033[1A", w.ws_row - 1);
	write_all(s->fd, &out);
	s->rows = w.ws_row;
	return true;
}

static void draw(struct as_status_line *s)
{
	as_auto_buf struct as_buf out = AS_BUF(AS_BUF_LINE);
	struct as_look rest = s->look;

	as_buf_fmt(&out, "\0337\033[%d;1H\033[2K", s->rows);
	size_t from = out.len;
	if (s->words)
		s->words->put(s->words->state, &out);
	rest.width -= as_text_width(as_buf_text(&out) + from, out.len - from);
	as_report_status(&out, &rest, as_builder_run(s->run));
	as_buf_str(&out, "\0338");
	write_all(s->fd, &out);
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_status_line *s = st;

	(void)err;
	if (s->fd < 0 || f->t_ns < FIRST_AFTER || f->t_ns - s->shown_ns < EVERY)
		return AS_OK;
	s->shown_ns = f->t_ns;
	if (!may_draw(s))
		release(s, false);
	else if (claim(s))
		draw(s);
	return AS_OK;
}

static int on_pause(void *st, struct as_err *err)
{
	struct as_status_line *s = st;

	(void)err;
	if (s->fd >= 0)
		release(s, may_draw(s));
	return AS_OK;
}

static const struct as_sink_ops ops = {.name = "status line", .frame = on_frame, .pause = on_pause};

struct as_sink as_status_line_sink(struct as_status_line *s)
{
	return (struct as_sink){.ops = &ops, .state = s};
}

void as_status_line_done(struct as_status_line *s)
{
	if (s->fd >= 0)
		release(s, may_draw(s));
}
