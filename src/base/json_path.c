#include "base/json_path.h"

#include <string.h>

#include "base/num.h"

/* One key, up to the separator; in a pointer ~1 is a slash and ~0 a tilde. False: too long. */
static bool take_key(const char **path, char separator, char key[AS_JSON_PATH])
{
	const char *p = *path;
	size_t n = 0;

	for (; *p && *p != separator && n + 1 < AS_JSON_PATH; p++) {
		bool escape = separator == '/' && *p == '~' && (p[1] == '0' || p[1] == '1');

		p += escape;
		key[n++] = !escape ? *p : *p == '1' ? '/' : '~';
	}
	key[n] = '\0';
	*path = *p ? p + 1 : NULL;
	return !*p || *p == separator;
}

static struct as_json_text element(struct as_json_text array, const char *key)
{
	static const struct as_json_text none = {NULL, 0};
	struct as_json_member m = {0};
	uint64_t i = 0;

	if (!*key || as_scan_u64(key, strlen(key), &i) != strlen(key))
		return none;
	while (as_json_next(array, &m))
		if (!i--)
			return m.value;
	return none;
}

struct as_json_text as_json_at(struct as_json_text root, const char *path)
{
	static const struct as_json_text none = {NULL, 0};
	char separator = *path == '/' ? '/' : '.', key[AS_JSON_PATH];
	const char *p = !*path ? NULL : *path == '/' ? path + 1 : path;

	while (p && root.p) {
		if (!take_key(&p, separator, key))
			return none;
		root = as_json_is_array(root) ? element(root, key) : as_json_of(root, key);
	}
	return root;
}
