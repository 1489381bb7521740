#include "report/shell.h"

#include <string.h>

#include "report/gzip64.h"
#include "report/markup.h"

static void put_head(struct as_buf *out, const struct as_shell *s)
{
	enum { TITLE = 60 };

	as_buf_str(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	as_buf_fmt(out,
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; "
		   "form-action 'none'\">\n",
		   s->script->hash, s->style->hash);
	as_buf_str(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"generator\" content=\"assay " ASSAY_VERSION "\">\n<title>");
	as_put_clean_markup(out, s->title, strlen(s->title), TITLE);
	as_buf_str(out, " · assay</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
	as_buf_str(out, s->style->text);
	as_buf_str(out, "</style>\n</head>\n");
}

void as_put_shell(struct as_buf *out, const struct as_shell *s)
{
	put_head(out, s);
	as_buf_str(out, "<body>\n<noscript><pre>");
	as_put_markup(out, as_buf_text(s->text), s->text->len);
	as_buf_str(out, "</pre></noscript>\n<div id=\"page\"></div>\n"
			"<script type=\"application/gzip\" id=\"data\">");
	as_put_gzip64(out, as_buf_text(s->data), s->data->len);
	as_buf_str(out, "</script>\n<script>");
	as_buf_str(out, s->script->text);
	as_buf_str(out, "</script>\n</body>\n</html>\n");
	out->bad |= s->text->bad || s->data->bad;
}
