#include "tui/key.h"

#include <string.h>

/* The last character goes, with all its bytes. */
static void rub_out(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

bool as_key_type(char *text, size_t size, int key)
{
	size_t n = strlen(text);

	if (key == AS_KEY_ESCAPE)
		text[0] = '\0';
	else if (key == AS_KEY_BACKSPACE)
		rub_out(text);
	else if (key >= ' ' && key <= 0xff && n + 1 < size) {
		text[n] = (char)key;
		text[n + 1] = '\0';
	}
	return key != AS_KEY_ENTER && key != AS_KEY_ESCAPE;
}

bool as_key_move(size_t *at, size_t last, size_t page, int key)
{
	size_t step = page > 1 ? page - 1 : 1;

	if (key == AS_KEY_UP)
		*at -= *at > 0;
	else if (key == AS_KEY_DOWN)
		*at += *at < last;
	else if (key == AS_KEY_PAGE_UP)
		*at = *at > step ? *at - step : 0;
	else if (key == AS_KEY_PAGE_DOWN)
		*at = *at + step < last ? *at + step : last;
	else if (key == AS_KEY_HOME)
		*at = 0;
	else if (key == AS_KEY_END)
		*at = last;
	else
		return false;
	return true;
}
