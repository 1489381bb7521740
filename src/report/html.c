/*
 * The HTML report: one file that needs nothing else, now or in ten years.
 *
 * The page is a shell with three things in it: the style, the script (both
 * from web/, built in) and the run, packed. Its policy forbids every request
 * and every script but that one, so a hostile name in a command line has two
 * walls before it: the data are base64, and what is not ours does not run.
 * Without a script the reader sees the text of `assay show`.
 */
#include <limits.h>
#include <string.h>

#include "report/asset.h"
#include "report/document.h"
#include "report/glyph.h"
#include "report/gzip64.h"
#include "report/moments.h"
#include "report/report.h"

static void put_escaped(struct as_buf *out, const char *text, size_t n)
{
	static const char *const escapes[UCHAR_MAX + 1] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};

	for (size_t i = 0; i < n; i++) {
		const char *escape = escapes[(unsigned char)text[i]];

		if (escape)
			as_buf_str(out, escape);
		else
			as_buf_byte(out, text[i]);
	}
}

/* ── the data ─────────────────────────────────────────────────────────── */

/* What the tables of the program say of every metric, and where this run had it from. */
static void put_fields(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "fields", '[');
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		const struct as_field *x = &as_fields[f];

		as_json_open(j, NULL, '{');
		as_json_str(j, "key", x->key);
		as_json_str(j, "scope", as_scope_info(x->scope)->name);
		as_json_str(j, "title", x->title);
		as_json_str(j, "help", x->help);
		as_json_str(j, "unit", as_unit_name(x->unit));
		as_json_str(j, "kind", x->kind == AS_COUNTER ? "counter" : "gauge");
		as_json_str(j, "provenance", as_provenance_name(run->origins[f].how));
		as_json_str(j, "source", run->origins[f].source);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_scopes(struct as_json *j)
{
	as_json_open(j, "scopes", '[');
	for (int i = 0; i < AS_NSCOPES; i++) {
		const struct as_scope_info *s = as_scope_info((enum as_scope)i);

		as_json_open(j, NULL, '{');
		as_json_str(j, "name", s->name);
		as_json_str(j, "plural", s->plural);
		as_json_str(j, "title", s->title);
		as_json_bool(j, "single", s->single);
		as_json_str(j, "number", s->number);
		as_json_str(j, "detail", s->detail);
		as_json_str(j, "rank", s->single ? NULL : as_fields[s->rank[0]].key);
		as_json_close(j);
	}
	as_json_close(j);
}

/*
 * Which moments of the timeline are points of this scope. Elsewhere an unknown
 * value is no gap: the scope was not asked.
 */
static void put_points(struct as_json *j, const struct as_run *run, enum as_scope scope)
{
	struct as_moments m = {.run = run};

	if (!run->series[scope])
		return;
	as_json_open(j, as_scope_info(scope)->name, '[');
	for (int64_t i = 0; as_moments_next(&m); i++)
		if (as_moments_has(&m, scope))
			as_json_i64(j, NULL, i);
	as_json_close(j);
}

static void put_totals(struct as_json *j)
{
	as_json_open(j, "totals", '{');
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		as_json_open(j, as_totals[t].key, '{');
		as_json_str(j, "title", as_totals[t].title);
		as_json_str(j, "help", as_totals[t].help);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_data(struct as_buf *out, const struct as_run *run)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	struct as_json j = as_json(&text);

	as_json_open(&j, NULL, '{');
	as_put_document(&j, "run", run, AS_LISTS_COLUMNS);
	put_fields(&j, run);
	put_scopes(&j);
	put_totals(&j);
	as_json_open(&j, "points", '{');
	for (int s = 0; s < AS_NSCOPES; s++)
		put_points(&j, run, (enum as_scope)s);
	as_json_close(&j);
	as_json_close(&j);
	out->bad |= text.bad;
	as_put_gzip64(out, as_buf_text(&text), text.len);
}

/* ── the shell ────────────────────────────────────────────────────────── */

static void put_title(struct as_buf *out, const struct as_run *run)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	const char *text = run->who.name ? run->who.name : run->who.id;

	(void)as_put_clean(&name, text, strlen(text), 60);
	put_escaped(out, as_buf_text(&name), name.len);
	out->bad |= name.bad;
}

static void put_text(struct as_buf *out, const struct as_run *run)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_look look = {.width = 100, .utf8 = true};

	as_report_show(&text, &look, run);
	put_escaped(out, as_buf_text(&text), text.len);
	out->bad |= text.bad;
}

static void put_head(struct as_buf *out, const struct as_run *run)
{
	as_buf_str(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	as_buf_fmt(out,
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; "
		   "form-action 'none'\">\n",
		   as_page_script_hash, as_page_style_hash);
	as_buf_str(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"generator\" content=\"assay " ASSAY_VERSION "\">\n<title>");
	put_title(out, run);
	as_buf_str(out, " · assay</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
	as_buf_str(out, as_page_style);
	as_buf_str(out, "</style>\n</head>\n");
}

void as_report_html(struct as_buf *out, const struct as_run *run)
{
	put_head(out, run);
	as_buf_str(out, "<body>\n<noscript><pre>");
	put_text(out, run);
	as_buf_str(out, "</pre></noscript>\n<div id=\"page\"></div>\n"
			"<script type=\"application/gzip\" id=\"data\">");
	put_data(out, run);
	as_buf_str(out, "</script>\n<script>");
	as_buf_str(out, as_page_script);
	as_buf_str(out, "</script>\n</body>\n</html>\n");
}
