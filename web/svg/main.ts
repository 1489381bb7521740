/*
 * main -- what a flame graph as SVG can do where scripts run: a click on a box
 * makes it as wide as the picture, a search marks boxes and tells their share.
 *
 * The picture is complete without it. A box is <g><title/><rect/><text/></g>,
 * and all that is known of it is what stands there.
 */
const PAD = 12, WIDTH = 1200, INDENT = 4, COLUMN = 7.25;
const SVG = "http://www.w3.org/2000/svg";

interface Box {
    group: SVGGElement;
    rect: SVGRectElement;
    text: SVGTextElement;
    label: string;
    x: number;
    width: number;
}

function make<K extends keyof SVGElementTagNameMap>(tag: K): SVGElementTagNameMap[K] {
    return document.createElementNS(SVG, tag);
}

function number(e: Element, name: string): number {
    return Number(e.getAttribute(name));
}

function read(group: SVGGElement): Box {
    const rect = group.querySelector("rect")!;
    let text = group.querySelector("text");
    if (!text) {
        text = make("text");
        text.setAttribute("y", String(number(rect, "y") + 13));
        group.append(text);
    }
    const label = (group.querySelector("title")!.textContent ?? "").split("\n")[0];
    return {group, rect, text, label, x: number(rect, "x"), width: number(rect, "width")};
}

const root = document.documentElement;
const boxes = [...document.querySelectorAll<SVGGElement>("#boxes > g")].map(read);
const told = document.querySelector<SVGTextElement>("#told")!;
const first = told.textContent ?? "";

/* ── zoom ──────────────────────────────────────────────────────────────── */

function fit(b: Box, width: number): string {
    const columns = Math.floor((width - 2 * INDENT) / COLUMN);
    if (columns < 3)
        return "";
    let used = 0, whole = ""; /* what leaves room for "…" */
    for (const letter of b.label) {
        used += letter >= "\u1100" ? 2 : 1; /* those of Chinese and the like are wide */
        if (used > columns)
            return `${whole}…`;
        whole += used < columns ? letter : "";
    }
    return b.label;
}

/* So that `to` is as wide as the picture; what is beside it is hidden. */
function zoom(to: Box): void {
    const scale = (WIDTH - 2 * PAD) / to.width;
    for (const b of boxes) {
        const from = Math.max(PAD, PAD + (b.x - to.x) * scale);
        const end = Math.min(WIDTH - PAD, PAD + (b.x + b.width - to.x) * scale);
        b.group.style.display = end - from > 0.3 ? "" : "none";
        b.rect.setAttribute("x", String(from));
        b.rect.setAttribute("width", String(Math.max(0, end - from)));
        b.text.setAttribute("x", String(from + INDENT));
        b.text.textContent = fit(b, end - from);
    }
}

/* ── search ────────────────────────────────────────────────────────────── */

function pattern(words: string): RegExp {
    try {
        return new RegExp(words, "i");
    } catch {
        return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
    }
}

/* How much of the width stands under marked boxes, each part counted once. */
function covered(found: Box[]): number {
    let end = 0, sum = 0;
    for (const b of [...found].sort((p, q) => p.x - q.x)) {
        sum += Math.max(0, b.x + b.width - Math.max(end, b.x));
        end = Math.max(end, b.x + b.width);
    }
    return sum / (WIDTH - 2 * PAD);
}

function search(words: string): void {
    const re = words ? pattern(words) : null;
    const found = new Set(re ? boxes.filter((b) => re.test(b.label)) : []);
    for (const b of boxes)
        b.group.classList.toggle("found", found.has(b));
    root.classList.toggle("searched", found.size > 0);
    told.textContent = re ? `“${words}”: ${(covered([...found]) * 100).toFixed(1)} %` : first;
}

/* ── what is told of a box ─────────────────────────────────────────────── */

/* The numbers first: of a long name and a long path the end may not fit. */
function tell(b: Box): void {
    const lines = (b.group.querySelector("title")!.textContent ?? "").split("\n");
    const words = [...[lines[lines.length - 1], ...lines.slice(0, -1)].join("   ")];
    told.textContent = words.join("");
    const room = (WIDTH - 2 * PAD) / told.getComputedTextLength();
    if (room < 1)
        told.textContent = `${words.slice(0, Math.floor(words.length * room) - 1).join("")}…`;
}

/* ── buttons ───────────────────────────────────────────────────────────── */

function act(words: string, x: number, what: () => void): void {
    const t = make("text");
    t.setAttribute("class", "words act");
    t.setAttribute("x", String(x));
    t.setAttribute("y", "28");
    t.setAttribute("text-anchor", "end");
    t.textContent = words;
    t.addEventListener("click", what);
    root.append(t);
}

function ask(): void {
    search(prompt("Search for (a regular expression)") ?? "");
}

for (const b of boxes) {
    b.group.addEventListener("click", () => zoom(b));
    b.group.addEventListener("mouseenter", () => tell(b));
}
act("Search", WIDTH - PAD, ask);
act("All", WIDTH - PAD - 62, () => zoom(boxes[0]));
addEventListener("keydown", (e) => {
    if (e.key === "/") {
        e.preventDefault();
        ask();
    } else if (e.key === "Escape") {
        zoom(boxes[0]);
        search("");
    }
});

export {};
