/*
 * frames -- what is one box: a function, a line of it, or a file. Behind the
 * frames of places stand those of tags ("thread 7"), one for each set of them.
 */
import {Profile, shortFile} from "./data";

export type Grain = "function" | "line" | "file";

export interface Frames {
    of: Int32Array;   /* by place */
    place: number[];  /* the first that is in it; -1: none */
    name: string[];
    where: string[];  /* "app/main.py:42" */
    ink: number[];
    firstTags: number;
}

export function lineOf(p: Profile, place: number): string {
    const file = shortFile(p.texts[p.place.file[place]]), line = p.place.line[place];
    return line > 0 ? `${file}:${line}` : file;
}

/* "handle (app/main.py:42)": what filters and searches look at. */
export function spelled(p: Profile, place: number): string {
    const name = p.texts[p.place.function[place]];
    return p.place.file[place] ? `${name} (${lineOf(p, place)})` : name;
}

function nameOf(p: Profile, place: number, grain: Grain): string {
    if (grain === "file")
        return shortFile(p.texts[p.place.file[place]]) || p.texts[p.place.function[place]];
    return grain === "line" ? spelled(p, place) : p.texts[p.place.function[place]];
}

function whereOf(p: Profile, place: number, grain: Grain): string {
    const path = p.texts[p.place.file[place]];
    const line = grain === "line" ? p.place.line[place] : p.place.begin[place];
    return path && line > 0 && grain !== "file" ? `${path}:${line}` : path;
}

function keyOf(p: Profile, place: number, grain: Grain): string {
    const {function: f, file, line, begin} = p.place;
    if (grain === "file" && file[place])
        return String(file[place]);
    const last = grain === "line" ? line[place] : begin[place];
    return `${f[place]} ${file[place]} ${last}`;
}

function tagsName(p: Profile, tags: [number, number | string][]): string {
    return tags.map(([key, value]) => `${p.texts[key]} ${value}`).join(", ");
}

export function framesOf(p: Profile, grain: Grain): Frames {
    const n = p.place.function.length, seen = new Map<string, number>();
    const f: Frames = {of: new Int32Array(n), place: [], name: [], where: [], ink: [],
        firstTags: 0};
    for (let i = 0; i < n; i++) {
        const key = keyOf(p, i, grain);
        let at = seen.get(key);
        if (at === undefined) {
            at = f.name.length;
            seen.set(key, at);
            f.place.push(i);
            f.name.push(nameOf(p, i, grain));
            f.where.push(whereOf(p, i, grain));
            f.ink.push(p.place.ink[i]);
        }
        f.of[i] = at;
    }
    f.firstTags = f.name.length;
    for (const tags of p.tags) {
        f.place.push(-1);
        f.name.push(tagsName(p, tags));
        f.where.push("");
        f.ink.push(p.inks.length - 1);
    }
    return f;
}
