/*
 * dom -- elements in one call: h("p", {class: "note"}, "text", child).
 *
 * Text is always a text node, never markup: a name from outside cannot become
 * an element.
 */
export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

function fill(e: Element, attributes: Attributes, children: Child[]): void {
    for (const [name, value] of Object.entries(attributes))
        if (value !== undefined && value !== false)
            e.setAttribute(name, value === true ? "" : String(value));
    for (const c of children)
        if (c !== null && c !== undefined && c !== false)
            e.append(c);
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
