#pragma once
/*
 * hdr -- a histogram as the text that HdrHistogram's own tools read: its format
 * V2, compressed, in base64. Three digits, values from 1 to the largest there is.
 *
 * Its buckets are ours, one for one, so nothing is rounded a second time.
 */
#include "base/buf.h"
#include "stat/histogram.h"

void as_put_hdr(struct as_buf *out, const struct as_histogram *h);
