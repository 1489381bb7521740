#pragma once
/*
 * asset -- the style sheets and scripts of the pages that assay writes, as they
 * stand in web/, built into the program by tools/embed.py; and the SHA-256 of
 * each in base64, by which a page's own policy allows them and nothing else.
 */
struct as_asset {
	const char *text, *hash;
};

extern const struct as_asset as_report_style, as_report_script; /* the report of a run    */
extern const struct as_asset as_flame_style, as_flame_script;   /* the viewer of profiles */
extern const struct as_asset as_svg_style, as_svg_script;       /* flame graphs as SVG    */
extern const struct as_asset as_sweep_style;                    /* the page of a sweep    */
extern const struct as_asset as_table_style, as_table_script;   /* a heap by line         */
