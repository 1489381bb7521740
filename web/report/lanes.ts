/*
 * lanes -- what shares the time axis stands in lanes: at the left what it is,
 * with numbers; at the right a picture over time. Here the pointer and the keys
 * move the cursor and the stretch that is looked at, for all lanes at once.
 */
import {h} from "./dom";
import {begin, GUTTER, MARGIN, timeAt, timeTicks, xOf} from "./draw";
import {colour} from "./theme";
import * as units from "./units";
import type {View} from "./view";

export interface Lane {
    root: HTMLElement;
    side: HTMLElement;
    picture: HTMLElement;
}

export function lane(kind: string): Lane {
    const side = h("div", {class: "side"}), picture = h("div", {class: "picture"});
    return {root: h("div", {class: `lane ${kind}`}, side, picture), side, picture};
}

/* The axis, with the cursor's moment on it. */
export class TimeAxis {
    readonly lane = lane("axis");
    private readonly canvas = h("canvas", {"aria-hidden": "true"});
    private readonly moment = h("output", {class: "moment"});

    constructor(private readonly view: View, private readonly startNs: number | null) {
        this.lane.picture.append(this.canvas, this.moment);
        view.onCursor(() => this.point());
    }

    draw(): void {
        const p = begin(this.canvas);
        if (!p)
            return;
        p.g.fillStyle = colour("faint");
        p.g.textBaseline = "middle";
        for (const {at, text} of timeTicks(this.view, p.width)) {
            const x = xOf(this.view, p.width, at);
            const half = p.g.measureText(text).width / 2;
            p.g.textAlign = x + half > p.width ? "right" : "center";
            p.g.fillText(text, x + half > p.width ? p.width : x, p.height / 2);
        }
    }

    private point(): void {
        const {cursor, from, width} = this.view;
        this.moment.hidden = cursor === null;
        if (cursor === null)
            return;
        const clock = units.clock(this.startNs, cursor, this.view.span);
        const since = units.place(cursor, width / 1000);
        this.moment.textContent = clock ? `${since} · ${clock}` : since;
        const room = this.lane.picture.clientWidth - GUTTER - MARGIN;
        const half = this.moment.offsetWidth / 2;
        const x = GUTTER + (cursor - from) / width * room;
        const most = this.lane.picture.clientWidth - half;
        this.moment.style.left = `${Math.max(half, Math.min(most, x))}px`;
    }
}

/* ── pointer and keys ──────────────────────────────────────────────────── */

const DRAG = 5; /* px before a press becomes a selection */

export class Pointer {
    readonly line = h("div", {class: "cursor", hidden: true});
    private readonly chosen = h("div", {class: "chosen", hidden: true});
    private press: number | null = null; /* x where the button went down */

    /* `ruler`: an element as wide as every picture. */
    constructor(private readonly field: HTMLElement, private readonly ruler: () => HTMLElement,
        private readonly view: View, private readonly moments: number[]) {
        field.append(this.line, this.chosen);
        field.addEventListener("pointermove", (e) => this.move(e));
        field.addEventListener("pointerdown", (e) => this.down(e));
        field.addEventListener("pointerup", (e) => this.up(e));
        field.addEventListener("pointercancel", () => this.cancel());
        field.addEventListener("pointerleave", (e) => this.leave(e));
        field.addEventListener("dblclick", (e) => this.inside(e) && view.reset());
        field.addEventListener("wheel", (e) => this.wheel(e), {passive: false});
        field.addEventListener("keydown", (e) => this.key(e));
        view.onCursor(() => this.show());
    }

    private box(): {left: number; width: number} {
        const r = this.ruler().getBoundingClientRect();
        return {left: r.left, width: r.width};
    }

    private inside(e: MouseEvent): boolean {
        const {left, width} = this.box();
        const x = e.clientX - left;
        return x >= GUTTER - 8 && x <= width && (e.target as Element).closest(".picture") !== null;
    }

    private timeOf(e: MouseEvent): number {
        const {left, width} = this.box();
        return timeAt(this.view, width, e.clientX - left);
    }

    private move(e: PointerEvent): void {
        if (this.press !== null && e.pointerType === "mouse")
            this.choose(e);
        if (this.inside(e) || this.press !== null)
            this.view.point(this.timeOf(e));
        else
            this.view.point(null);
    }

    private down(e: PointerEvent): void {
        if (e.button !== 0 || !this.inside(e))
            return;
        this.press = e.clientX;
        this.view.point(this.timeOf(e));
    }

    /* A finger that is lifted leaves the cursor where it was. */
    private leave(e: PointerEvent): void {
        if (this.press === null && e.pointerType === "mouse")
            this.view.point(null);
    }

    private choose(e: PointerEvent): void {
        const {left, width} = this.box(), origin = this.field.getBoundingClientRect().left;
        const clamp = (x: number) => Math.max(left + GUTTER, Math.min(left + width - MARGIN, x));
        const a = clamp(Math.min(this.press!, e.clientX));
        const b = clamp(Math.max(this.press!, e.clientX));
        this.chosen.hidden = b - a < DRAG;
        this.chosen.style.left = `${a - origin}px`;
        this.chosen.style.width = `${b - a}px`;
        if (!this.chosen.hidden)
            this.field.setPointerCapture(e.pointerId);
    }

    private up(e: PointerEvent): void {
        if (this.press === null)
            return;
        const {left, width} = this.box();
        const a = timeAt(this.view, width, Math.min(this.press, e.clientX) - left);
        const b = timeAt(this.view, width, Math.max(this.press, e.clientX) - left);
        const selected = !this.chosen.hidden;
        this.cancel();
        if (selected && b > a)
            this.view.zoom(a, b);
    }

    private cancel(): void {
        this.press = null;
        this.chosen.hidden = true;
    }

    /* The wheel alone scrolls the page; with Ctrl it zooms, sideways it pans. */
    private wheel(e: WheelEvent): void {
        if (!this.inside(e))
            return;
        if (e.ctrlKey || e.metaKey) {
            e.preventDefault();
            this.view.scale(Math.exp(e.deltaY / 300), this.timeOf(e));
        } else if (this.view.zoomed && Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
            e.preventDefault();
            this.view.pan(e.deltaX / 800);
        }
    }

    private key(e: KeyboardEvent): void {
        if (e.target !== this.field || e.ctrlKey || e.metaKey || e.altKey)
            return;
        const acts: Record<string, () => void> = {
            ArrowLeft: () => e.shiftKey ? this.view.pan(-0.25) : this.step(-1),
            ArrowRight: () => e.shiftKey ? this.view.pan(0.25) : this.step(1),
            "+": () => this.view.scale(0.5), "=": () => this.view.scale(0.5),
            "-": () => this.view.scale(2), "0": () => this.view.reset(),
            Escape: () => this.view.zoomed ? this.view.reset() : this.view.point(null),
        };
        const act = acts[e.key];
        if (act) {
            e.preventDefault();
            act();
        }
    }

    /* To the next sample; by as many as make a visible step when they stand close. */
    private step(by: number): void {
        const t = this.moments.filter((x) => x >= this.view.from && x <= this.view.to);
        if (!t.length)
            return;
        const stride = Math.max(1, Math.round(t.length / 200));
        const c = this.view.cursor ?? (by > 0 ? -Infinity : Infinity);
        const here = by > 0 ? t.findIndex((x) => x > c)
            : t.length - 1 - [...t].reverse().findIndex((x) => x < c);
        const next = here < 0 || here >= t.length ? (by > 0 ? t.length - 1 : 0)
            : Math.max(0, Math.min(t.length - 1, here + (stride - 1) * by));
        this.view.point(t[next]);
    }

    private show(): void {
        const {cursor} = this.view;
        this.line.hidden = cursor === null;
        if (cursor === null)
            return;
        const {left, width} = this.box();
        const x = left - this.field.getBoundingClientRect().left + xOf(this.view, width, cursor);
        this.line.style.transform = `translateX(${x}px)`;
    }
}
