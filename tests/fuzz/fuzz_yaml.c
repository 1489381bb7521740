/*
 * YAML of any bytes: what comes of it is JSON, no longer than it may be, and as
 * JSON is YAML in brackets it is read again as the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "load/yaml.h"

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_auto_buf struct as_buf json = AS_BUF(AS_BUF_LINE), again = AS_BUF(AS_BUF_LINE);
	struct as_json_text t;
	struct as_err err = {0}, why = {0};
	char *tight = malloc(size ? size : 1); /* who reads on is caught */

	must(tight != NULL);
	memcpy(tight, data, size);
	int r = as_yaml_json(tight, size, &json, &err);
	free(tight);
	must(r == AS_OK || err.msg[0]);
	must(json.len <= AS_BUF_LINE);
	if (r < 0)
		return 0;
	must(as_json_text_check(as_buf_text(&json), json.len, &t, &err) == AS_OK);
	r = as_yaml_json(as_buf_text(&json), json.len, &again, &why);
	if (r < 0) /* aliases made it deeper than anybody writes */
		must(strstr(why.msg, "too deep") != NULL);
	else if (!strstr(json.p, "\\ufffd")) /* a stray byte, which then is a letter */
		must(again.len == json.len && !memcmp(again.p, json.p, json.len));
	return 0;
}
