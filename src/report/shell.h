#pragma once
/*
 * shell -- a page of HTML that needs nothing else, now or in ten years.
 *
 * Three things are in it: the style, the script (both from web/, built in) and
 * the data, packed. Its policy forbids every request and every script but that
 * one, so a hostile name has two walls before it: the data are base64, and
 * what is not ours does not run. Without a script the reader sees a text.
 */
#include "base/buf.h"
#include "report/asset.h"

struct as_shell {
	const char *title; /* outside text */
	const struct as_asset *style, *script;
	const struct as_buf *text; /* for readers without a script */
	const struct as_buf *data; /* JSON */
};

void as_put_shell(struct as_buf *out, const struct as_shell *s);
