/*
 * graph -- the picture and what is done with it: pointing, zooming, moving,
 * by mouse, finger and key.
 *
 * The canvas is as large as what is seen and stays in place while the rows
 * scroll below it, so a recursion of ten thousand calls costs no more.
 */
import {eachFrame, h} from "../report/dom";
import {onTheme} from "../report/theme";
import {Painter, Picture, ROW} from "./draw";
import {boxAt, View} from "./layout";
import type {Model} from "./model";
import {Tip} from "./tip";
import type {Tree} from "./tree";

const GLIDE = 180; /* ms from one view to another */
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Graph {
    readonly root: HTMLElement;
    private readonly canvas = h("canvas", {role: "img", tabindex: 0,
        "aria-label": "Flame graph; arrows move, Enter zooms, Escape shows all"});
    private readonly space = h("div", {class: "space"});
    private readonly said = h("div", {class: "aside", "aria-live": "polite"});
    private readonly painter: Painter;
    private readonly tip: Tip;
    private readonly pic: Picture;
    private readonly redraw: () => void;
    private zoomed = 0; /* the box that is as wide as the picture */
    private glide = 0;
    private opened = false;
    private readonly viewers: (() => void)[] = [];
    private trail: string[] = []; /* of the zoomed box, to find it in the next tree */

    constructor(private readonly m: Model) {
        this.space.append(this.canvas);
        this.tip = new Tip(m);
        this.root = h("div", {class: "graph"}, this.space, this.said);
        this.painter = new Painter(m, this.canvas);
        this.pic = {view: {from: 0, to: 1}, scroll: 0, height: 0, hover: -1, cursor: -1};
        this.redraw = eachFrame(() => this.draw());
        m.onTree(() => this.newTree());
        m.onLook(this.redraw);
        onTheme(() => this.anew());
        this.listen();
        new ResizeObserver(() => this.resize()).observe(this.root);
    }

    /* ── what is shown ── */

    private pathOf(t: Tree, i: number): string[] {
        const path: string[] = [];
        for (; i; i = t.parent[i])
            path.unshift(this.m.frames.name[t.frame[i]]);
        return path;
    }

    /* The same box in another tree, or the nearest below it that is there. */
    private again(t: Tree): number {
        const {first, child} = t;
        let at = 0;
        for (const name of this.trail) {
            const kids = child.subarray(first[at], first[at + 1]);
            const next = kids.find((c) => t.total[c] > 0 &&
                this.m.frames.name[t.frame[c]] === name);
            if (next === undefined)
                break;
            at = next;
        }
        return at;
    }

    private newTree(): void {
        const t = this.m.tree!;
        this.zoomed = this.again(t);
        this.pic.hover = this.pic.cursor = -1;
        this.tip.hide();
        this.pic.view = this.viewOf(t, this.zoomed);
        this.resize();
        if (!this.opened)
            this.open();
        this.settleScroll();
    }

    /* Flames whose root is below the window hang from the top, unless somebody turns them. */
    private open(): void {
        this.opened = true;
        if (this.root.getBoundingClientRect().bottom + scrollY > innerHeight)
            this.m.icicle = true;
    }

    private viewOf(t: Tree, i: number): View {
        return {from: t.x[i], to: t.x[i] + Math.max(t.total[i], 1e-9)};
    }

    resize(): void {
        const t = this.m.tree;
        if (!t)
            return;
        this.pic.height = t.level.length * ROW;
        this.space.style.height = `${this.pic.height}px`;
        this.painter.size(this.space.clientWidth, this.root.clientHeight);
        this.redraw();
    }

    /* Paper has a width and colours of its own, and waits for no frame. */
    private anew(): void {
        this.resize();
        this.draw();
    }

    /* Flames grow from the bottom: begin there. */
    settleScroll(): void {
        this.root.scrollTop = this.m.icicle ? 0 : this.pic.height;
        this.redraw();
    }

    private draw(): void {
        this.pic.scroll = this.root.scrollTop;
        this.painter.paint(this.pic);
        this.root.dataset.rows = String(this.painter.rowsDrawn);
        this.viewers.forEach((l) => l());
    }

    /* It was drawn, maybe from somewhere else. */
    onView(l: () => void): void {
        this.viewers.push(l);
    }

    /* ── zoom ── */

    get isZoomed(): boolean {
        const t = this.m.tree;
        return t !== null && this.pic.view.to - this.pic.view.from < t.total[0] * 0.999999;
    }

    zoom(i: number): void {
        const t = this.m.tree;
        if (!t)
            return;
        this.zoomed = i;
        this.trail = this.pathOf(t, i);
        this.glideTo(this.viewOf(t, i));
        this.say(i);
    }

    /* To the widest box of a frame. */
    zoomFrame(frame: number): void {
        const t = this.m.tree;
        let best = 0;
        for (let i = 1; t && i < t.n; i++)
            if (t.frame[i] === frame && (!best || t.total[i] > t.total[best]))
                best = i;
        this.zoom(best);
        this.reveal(best);
    }

    private reveal(i: number): void {
        const t = this.m.tree!, depth = t.depth[i];
        const y = this.m.icicle ? depth * ROW : this.pic.height - (depth + 1) * ROW;
        if (y < this.root.scrollTop || y > this.root.scrollTop + this.root.clientHeight - ROW)
            this.root.scrollTop = y - this.root.clientHeight / 2;
    }

    private glideTo(to: View): void {
        const from = {...this.pic.view}, start = performance.now(), mine = ++this.glide;
        const step = (now: number) => {
            if (mine !== this.glide)
                return;
            const k = still.matches ? 1 : Math.min(1, Math.max(0, (now - start) / GLIDE));
            const ease = 1 - (1 - k) ** 3;
            this.pic.view = {from: from.from + (to.from - from.from) * ease,
                to: from.to + (to.to - from.to) * ease};
            this.draw();
            if (k < 1)
                requestAnimationFrame(step);
            else
                this.m.look();
        };
        requestAnimationFrame(step);
    }

    /* By a factor, around a place of the picture (0 to 1). */
    scale(factor: number, around = 0.5): void {
        const t = this.m.tree, {from, to} = this.pic.view;
        if (!t)
            return;
        const width = Math.min(t.total[0], Math.max(t.total[0] / 1e7, (to - from) * factor));
        this.moveTo(from + (to - from - width) * around, width);
    }

    private moveTo(from: number, width: number): void {
        const all = this.m.tree!.total[0];
        from = Math.max(0, Math.min(all - width, from));
        this.glide++;
        this.pic.view = {from, to: from + width};
        this.redraw();
    }

    /* ── where the pointer is ── */

    private at(e: MouseEvent): number {
        const t = this.m.tree, r = this.canvas.getBoundingClientRect();
        if (!t)
            return -1;
        const y = e.clientY - r.top + this.root.scrollTop;
        const depth = Math.floor((this.m.icicle ? y : this.pic.height - y) / ROW);
        const {from, to} = this.pic.view;
        return boxAt(t, depth, from + (e.clientX - r.left) / r.width * (to - from));
    }

    private point(e: MouseEvent): void {
        const i = this.at(e);
        if (i !== this.pic.hover) {
            this.pic.hover = i;
            this.canvas.style.cursor = i >= 0 ? "pointer" : "default";
            this.redraw();
        }
        if (i >= 0)
            this.tip.show(i, e.clientX, e.clientY);
        else
            this.tip.hide();
    }

    private leave(): void {
        this.pic.hover = -1;
        this.tip.hide();
        this.redraw();
    }

    private choose(i: number): void {
        if (i < 0)
            return;
        this.pic.cursor = i;
        this.m.chosen = this.m.tree!.frame[i];
        this.zoom(i);
    }

    private listen(): void {
        const c = this.canvas;
        let drag: {x: number; from: number; moved: boolean} | null = null;
        this.root.addEventListener("scroll", this.redraw);
        c.addEventListener("pointerdown", (e) => {
            drag = {x: e.clientX, from: this.pic.view.from, moved: false};
        });
        c.addEventListener("pointermove", (e) => {
            if (drag && e.buttons && Math.abs(e.clientX - drag.x) > 4)
                drag.moved = true;
            if (!drag?.moved || !e.buttons) {
                this.point(e);
                return;
            }
            const width = this.pic.view.to - this.pic.view.from;
            this.moveTo(drag.from - (e.clientX - drag.x) / c.clientWidth * width, width);
        });
        c.addEventListener("click", (e) => {
            if (!drag?.moved)
                this.choose(this.at(e));
        });
        c.addEventListener("pointerleave", () => this.leave());
        c.addEventListener("dblclick", () => this.zoom(0));
        c.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
        c.addEventListener("keydown", (e) => {
            if (this.key(e.key))
                e.preventDefault();
        });
    }

    /* Turning scrolls; with Ctrl (and by pinching) it zooms, with Shift it moves. */
    private wheel(e: WheelEvent): void {
        const r = this.canvas.getBoundingClientRect(), {from, to} = this.pic.view;
        if (e.ctrlKey || e.metaKey)
            this.scale(Math.exp(e.deltaY * 0.004), (e.clientX - r.left) / r.width);
        else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
            this.moveTo(from + (to - from) * (e.deltaX || e.deltaY) / r.width, to - from);
        else
            return;
        e.preventDefault();
    }

    /* ── keys ── */

    private say(i: number): void {
        this.said.textContent = i >= 0 ? this.tip.words(i) : "";
    }

    private move(to: number | undefined): void {
        if (to === undefined || to < 0)
            return;
        this.pic.cursor = to;
        this.reveal(to);
        this.say(to);
        this.redraw();
    }

    private sibling(i: number, by: number): number | undefined {
        const t = this.m.tree!, level = t.level[t.depth[i]];
        return level[level.indexOf(i) + by];
    }

    private key(name: string): boolean {
        const t = this.m.tree, at = Math.max(0, this.pic.cursor);
        if (!t)
            return false;
        const inner = this.m.icicle ? "ArrowDown" : "ArrowUp";
        const outer = this.m.icicle ? "ArrowUp" : "ArrowDown";
        const acts: Record<string, () => void> = {
            [inner]: () => this.move(t.level[t.depth[at] + 1]?.find((i) => t.parent[i] === at)),
            [outer]: () => this.move(t.parent[at]),
            ArrowLeft: () => this.move(this.sibling(at, -1)),
            ArrowRight: () => this.move(this.sibling(at, 1)),
            Enter: () => this.choose(at),
            Escape: () => this.zoom(0),
            "0": () => this.zoom(0),
            "+": () => this.scale(0.7),
            "-": () => this.scale(1 / 0.7),
        };
        acts[name]?.();
        return name in acts;
    }
}
