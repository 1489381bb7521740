#pragma once
/*
 * json_path -- a place in a JSON text, as people write it: "/items/0/id", a
 * pointer of RFC 6901, or "items.0.id". In an array the key is a number from 0;
 * "" is the whole text.
 */
#include "base/json_text.h"

enum { AS_JSON_PATH = 160 };

/* None where it leads nowhere. `root` is text that was checked, or a piece of it. */
struct as_json_text as_json_at(struct as_json_text root, const char *path);
