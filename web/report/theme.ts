/*
 * theme -- light or dark: as the system says until the reader says otherwise;
 * paper is always light. Canvases ask here for the colours of the style sheet.
 */
import {h} from "./dom";

type Choice = "auto" | "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];
let choice: Choice = "auto", paper = false;
let style: CSSStyleDeclaration | null = null;

export function colour(name: string): string {
    style ??= getComputedStyle(document.documentElement);
    return style.getPropertyValue(`--${name}`).trim();
}

export function onTheme(l: () => void): void {
    listeners.push(l);
}

function apply(): void {
    const night = choice === "dark" || (choice === "auto" && dark.matches);
    document.documentElement.dataset.theme = night && !paper ? "dark" : "light";
    style = null;
    listeners.forEach((l) => l());
}

/* While the page is printed; layout follows the paper, so everything is drawn anew. */
function printing(on: boolean): void {
    paper = on;
    document.documentElement.classList.toggle("paper", on);
    apply();
}

export function onPaper(): boolean {
    return paper;
}

export function themeSwitch(): HTMLElement {
    const select = h("select", {id: "theme", "aria-label": "Colours"},
        h("option", {value: "auto"}, "System colours"), h("option", {value: "light"}, "Light"),
        h("option", {value: "dark"}, "Dark"));
    select.addEventListener("change", () => {
        choice = select.value as Choice;
        apply();
    });
    return select;
}

export function startTheme(): void {
    dark.addEventListener("change", apply);
    addEventListener("beforeprint", () => printing(true));
    addEventListener("afterprint", () => printing(false));
    apply();
}
