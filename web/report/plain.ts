/* plain -- a page begins: what it is made of, or else the text for readers without a script. */
import {h} from "./dom";

function plainText(): string {
    const held = document.querySelector("noscript")?.textContent ?? "";
    return new DOMParser().parseFromString(held, "text/html").body.textContent ?? "";
}

/* `make` gets the packed data and fills the page. */
export async function begin(make: (packed: string, page: HTMLElement) => Promise<void>):
    Promise<void> {
    const page = document.getElementById("page")!;
    try {
        await make(document.getElementById("data")!.textContent ?? "", page);
    } catch (e) {
        const why = `This browser cannot draw the page (${String(e)}); here is its text.`;
        page.replaceChildren(h("p", {class: "failed"}, why), h("pre", {}, plainText()));
    }
    page.dataset.ready = "true";
}
