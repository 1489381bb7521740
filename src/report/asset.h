#pragma once
/*
 * asset -- the style sheet and the script of the HTML report, as they stand in
 * web/, built into the program by tools/embed.py; and the SHA-256 of each in
 * base64, by which the page's own policy allows these two and nothing else.
 */
extern const char as_page_style[], as_page_style_hash[];
extern const char as_page_script[], as_page_script_hash[];
