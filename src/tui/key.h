#pragma once
/*
 * key -- what was typed: a byte of text, or one of these; and what keys do on
 * every screen.
 */
#include <stdbool.h>
#include <stddef.h>

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

/* A line that is typed, to be searched for: false when it is done, by Enter or (empty) Esc. */
bool as_key_type(char *text, size_t size, int key);
/* Moves *at, up to `last`, by a line or by a page: false when the key does no such thing. */
bool as_key_move(size_t *at, size_t last, size_t page, int key);
