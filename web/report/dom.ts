/*
 * dom -- elements in one call: h("p", {class: "note"}, "text", child).
 *
 * Text is always a text node, never markup: a name from outside cannot become
 * an element, nor turn the direction in which it is read.
 */
export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

/* Without what turns letters around, as the terminal shows it (src/report/glyph.c). */
export function upright(text: string): string {
    return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
}

function fill(e: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes))
        if (value !== undefined && value !== false)
            e.setAttribute(name, value === true ? "" : upright(String(value)));
    for (const c of children)
        if (c !== null && c !== undefined && c !== false)
            e.append(typeof c === "string" ? upright(c) : c);
}

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const e = document.createElement(tag);
    fill(e, attributes, children);
    return e;
}

export function button(label: string, title: string, act: () => void): HTMLButtonElement {
    const b = h("button", {type: "button", title}, label);
    b.addEventListener("click", act);
    return b;
}

/* At most once a frame, however often it is asked for. */
export function eachFrame(act: () => void): () => void {
    let asked = false;
    return () => {
        if (asked)
            return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            act();
        });
    };
}
