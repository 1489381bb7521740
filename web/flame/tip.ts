/* tip -- what is known of a box, beside the pointer. */
import {h} from "../report/dom";
import type {Model} from "./model";

export class Tip {
    private readonly root = h("div", {class: "tip", hidden: true});

    constructor(private readonly m: Model) {
        document.body.append(this.root);
    }

    private name(i: number): string {
        const {tree, frames} = this.m, f = tree!.frame[i];
        return f < 0 ? "all" : frames.name[f];
    }

    private numbers(i: number): string[] {
        const t = this.m.tree!;
        return this.m.compares ? this.m.comparison(t.before[i], t.after[i])
            : [this.m.partOf("total", t, i), this.m.partOf("self", t, i)];
    }

    words(i: number): string {
        return [this.name(i), ...this.numbers(i)].join("; ");
    }

    show(i: number, x: number, y: number): void {
        const {tree, frames} = this.m, f = tree!.frame[i];
        const where = f < 0 ? "" : frames.where[f];
        this.root.replaceChildren(h("b", {}, this.name(i)),
            where ? h("span", {class: "where"}, where) : "",
            ...this.numbers(i).map((n) => h("span", {}, n)));
        this.root.hidden = false;
        const {offsetWidth: w, offsetHeight: t} = this.root;
        const left = Math.max(4, Math.min(innerWidth - w - 8, x + 14));
        this.root.style.left = `${left}px`;
        this.root.style.top = `${y + 18 + t > innerHeight ? Math.max(4, y - t - 12) : y + 18}px`;
    }

    hide(): void {
        this.root.hidden = true;
    }
}
