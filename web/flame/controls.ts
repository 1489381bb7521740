/*
 * controls -- above the picture: what is counted, how stacks are merged, the
 * search, and the filters.
 */
import {button, Child, h} from "../report/dom";
import {percent} from "../report/units";
import {FilterName, FILTERS} from "./filter";
import type {Grain} from "./frames";
import type {Graph} from "./graph";
import type {Model} from "./model";
import type {Width} from "./tree";

const PAUSE = 200; /* ms without a key before a filter is applied */

function select(label: string, options: [string, string][], value: string,
    act: (value: string) => void): HTMLSelectElement {
    const s = h("select", {"aria-label": label, title: label},
        ...options.map(([v, text]) => h("option", {value: v, selected: v === value}, text)));
    s.addEventListener("change", () => act(s.value));
    return s;
}

function toggle(label: string, title: string, on: boolean, act: (on: boolean) => void):
    HTMLButtonElement {
    const b = button(label, title, () => {
        const now = b.getAttribute("aria-pressed") !== "true";
        b.setAttribute("aria-pressed", String(now));
        act(now);
    });
    b.className = "chip";
    b.setAttribute("aria-pressed", String(on));
    return b;
}

export class Controls {
    readonly root: HTMLElement;
    private readonly find = h("input", {type: "text", role: "searchbox", spellcheck: "false",
        placeholder: "Search ( / )", "aria-label": "Search functions"});
    private readonly matched = h("output", {class: "matched"});
    private readonly panel: HTMLElement;
    private readonly more: HTMLButtonElement;
    private readonly inputs = new Map<FilterName, HTMLInputElement>();
    private readonly typing = new Set<HTMLInputElement>();
    private callers!: HTMLButtonElement;
    private readonly draw: HTMLSelectElement;
    private readonly all: HTMLButtonElement;

    constructor(private readonly m: Model, graph: Graph) {
        this.panel = this.filters();
        this.more = toggle("Filters", "Show and hide stacks and frames", this.filtered(), (on) => {
            this.panel.hidden = !on;
        });
        this.draw = select("Draw", [["flame", "Flame"], ["icicle", "Icicle"]],
            m.icicle ? "icicle" : "flame", (v) => {
                m.icicle = v === "icicle";
                graph.resize();
                graph.settleScroll();
            });
        this.all = button("All", "Show the whole width (Escape)", () => graph.zoom(0));
        this.find.addEventListener("input", () => m.search(this.find.value));
        this.root = h("div", {}, h("div", {class: "tools"}, ...this.choices(), this.all,
            h("span", {class: "search"}, this.find, this.matched)), this.panel);
        m.onLook(() => this.refresh());
        m.onTree(() => this.showFilters());
        graph.onView(() => this.all.disabled = !graph.isZoomed);
        document.addEventListener("keydown", (e) => this.key(e));
    }

    private choices(): Child[] {
        const {m} = this;
        return [this.metric(), this.draw,
        select("A box for each", [["function", "By function"], ["line", "By line"],
            ["file", "By file"]], m.choice.grain, (v) => m.change({grain: v as Grain})),
        toggle("Reversed", "From the innermost frame: who called it", m.choice.reverse,
            (on) => m.change({reverse: on})),
        m.p.tags.length > 1 && toggle("Apart", "Threads, processes and tasks apart",
            m.choice.apart, (on) => m.change({apart: on})),
        this.more];
    }

    /* Of a comparison: whose widths, and whether both sides count alike. */
    private metric(): Child {
        const {m} = this;
        if (!m.compares)
            return select("Metric", m.p.shown.map((i) => [String(i), m.p.kinds[i].name]),
                String(m.choice.kind), (v) => m.change({kind: Number(v)}));
        return h("span", {class: "chips"}, select("Width", [["both", "Before and after"],
            ["before", "Before"], ["after", "After"]], m.choice.width,
        (v) => m.change({width: v as Width})),
        toggle("Shares", "Both sides as shares of their own whole", m.choice.share,
            (on) => m.change({share: on})));
    }

    /* ── filters ── */

    private filtered(): boolean {
        return Object.values(this.m.choice.filters).some((v) => v);
    }

    private filter(name: FilterName): HTMLElement {
        const [label, help] = FILTERS[name], {m} = this;
        const input = h("input", {type: "text", name, title: help, placeholder: help,
            spellcheck: "false"});
        let pause = 0;
        input.addEventListener("input", () => {
            clearTimeout(pause);
            this.typing.add(input);
            pause = setTimeout(() => {
                this.typing.delete(input);
                m.filter({[name]: input.value});
            }, PAUSE);
        });
        this.inputs.set(name, input);
        return h("label", {}, h("span", {}, label), input);
    }

    private filters(): HTMLElement {
        const names = Object.keys(FILTERS) as FilterName[], {m} = this;
        const clear = button("Clear", "No filters", () => {
            const none = Object.fromEntries(names.map((n) => [n, ""]));
            m.filter({...none, callers: false});
        });
        this.callers = toggle("Callers of the focus", "What called it, not what it calls",
            m.choice.filters.callers === true, (on) => m.filter({callers: on}));
        return h("div", {class: "filters", hidden: !this.filtered()},
            ...names.map((n) => this.filter(n)),
            h("div", {class: "chips"}, this.callers, clear));
    }

    /* Filters may be set elsewhere too. */
    private showFilters(): void {
        const {filters} = this.m.choice;
        for (const [name, input] of this.inputs)
            if (!this.typing.has(input))
                input.value = filters[name] ?? "";
        this.callers.setAttribute("aria-pressed", String(filters.callers === true));
        if (this.filtered()) {
            this.panel.hidden = false;
            this.more.setAttribute("aria-pressed", "true");
        }
    }

    /* ── what changes ── */

    private refresh(): void {
        this.draw.value = this.m.icicle ? "icicle" : "flame";
        const marked = this.m.found !== null;
        this.matched.hidden = !marked;
        this.matched.textContent = marked ? `${percent(this.m.matched())} matched` : "";
    }

    private key(e: KeyboardEvent): void {
        const typing = e.target instanceof HTMLInputElement;
        if (e.key === "/" && !typing) {
            e.preventDefault();
            this.find.focus();
        } else if (e.key === "Escape" && e.target === this.find) {
            this.find.value = "";
            this.m.search("");
            this.find.blur();
        }
    }
}
