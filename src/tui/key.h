#pragma once
/*
 * key -- what was typed: a byte of text, or one of these.
 */
enum as_key {
	AS_KEY_NONE = -1,
	AS_KEY_BACKSPACE = 8,
	AS_KEY_ENTER = 10,
	AS_KEY_ESCAPE = 27,
	AS_KEY_UP = 256, /* from here on no bytes */
	AS_KEY_DOWN,
	AS_KEY_PAGE_UP,
	AS_KEY_PAGE_DOWN,
	AS_KEY_HOME,
	AS_KEY_END,
};
