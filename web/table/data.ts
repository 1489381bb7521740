/*
 * data -- a heap by line (src/report/heap_rows.h) as the page holds it: columns,
 * a row of them for each line and what it is told apart by.
 */
export type Tag = string | number | null;

export interface Data {
    version: string;
    title: string;
    note: string;     /* how it was measured and what to doubt of it; may be empty */
    sampled: boolean; /* amounts are estimates, with a variance in KiB squared */
    texts: string[];
    bytes: number[];
    count: number[];
    variance: number[];
    function: number[]; /* of texts; 0: no stack is known */
    file: number[];
    line: number[];     /* 0: unknown */
    apart: Record<string, Tag[]>;
}

export type Grain = "line" | "function" | "file";

/* Rows that are alike in all that is looked at, as one. */
export interface Sum {
    first: number; /* a row of them */
    bytes: number;
    count: number;
    variance: number;
}

export interface Look {
    grain: Grain;
    apart: Set<string>;         /* names of tags that keep rows apart */
    only: Record<string, Tag>;  /* rows with this tag alone           */
    words: string;
}

/* The last two parts of a path say enough: "app/main.py". */
export function shortFile(path: string): string {
    return path.split("/").slice(-2).join("/");
}

export function nameOf(d: Data, row: number): string {
    return d.texts[d.function[row]] || "(no stack)";
}

export function whereOf(d: Data, row: number, grain: Grain): string {
    const file = d.texts[d.file[row]];
    return file && grain === "line" && d.line[row] > 0 ? `${file}:${d.line[row]}` : file;
}

/* Names of tags of which there are several. */
export function severalOf(d: Data): string[] {
    return Object.keys(d.apart).filter((name) => new Set(d.apart[name]).size > 1);
}

function matches(d: Data, row: number, look: Look, words: string[]): boolean {
    for (const [name, tag] of Object.entries(look.only))
        if (d.apart[name][row] !== tag)
            return false;
    const tags = Object.values(d.apart).map((v) => v[row] ?? "");
    const text = [nameOf(d, row), whereOf(d, row, "line"), ...tags].join(" ").toLowerCase();
    return words.every((w) => text.includes(w));
}

function keyOf(d: Data, row: number, look: Look): string {
    const tags = [...look.apart].map((name) => d.apart[name][row]);
    const place = look.grain === "file" ? [d.file[row]] : look.grain === "function"
        ? [d.function[row], d.file[row]] : [d.function[row], d.file[row], d.line[row]];
    return JSON.stringify([place, tags]);
}

export function sum(d: Data, look: Look): Sum[] {
    const found = new Map<string, Sum>(), words = look.words.toLowerCase().split(/\s+/);
    d.bytes.forEach((bytes, row) => {
        if (!matches(d, row, look, words))
            return;
        const key = keyOf(d, row, look), s = found.get(key);
        if (!s) {
            found.set(key, {first: row, bytes, count: d.count[row], variance: d.variance[row]});
            return;
        }
        s.bytes += bytes;
        s.count += d.count[row];
        s.variance += d.variance[row];
    });
    return [...found.values()];
}
