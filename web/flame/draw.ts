/*
 * draw -- the boxes that can be seen, row by row, on a canvas.
 *
 * Each row clears its own stretch, so a picture that takes longer than a frame
 * may (pace.ts) goes on in the next one where it stopped, without a flicker.
 */
import {upright} from "../report/dom";
import {colour, onPaper} from "../report/theme";
import {Inks} from "./ink";
import {look, View} from "./layout";
import type {Model} from "./model";
import {BUDGET} from "./pace";
import type {Tree} from "./tree";

export const ROW = 19;
const INDENT = 4, FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const INK = "#14171c"; /* of text on boxes, which are light in every theme */

export interface Picture {
    view: View;
    scroll: number; /* pixels above what is seen          */
    height: number; /* of all rows                        */
    hover: number;  /* boxes, or -1                       */
    cursor: number;
}

/* The letters, or as many as `columns` have room for; those of Chinese and the like need two. */
export function fitted(letters: string[], columns: number): string {
    let used = 0, whole = 0; /* letters that leave room for "…" */
    for (const l of letters) {
        used += l >= "\u1100" ? 2 : 1;
        if (used > columns)
            return `${letters.slice(0, whole).join("")}…`;
        whole += used < columns ? 1 : 0;
    }
    return letters.join("");
}

export class Painter {
    readonly inks: Inks;
    private readonly g: CanvasRenderingContext2D;
    private readonly labels = new Map<string, string[]>();
    private column = 7.2;
    private round = 0;
    private width = 0;
    private height = 0;
    rowsDrawn = 0;

    constructor(private readonly m: Model, private readonly canvas: HTMLCanvasElement) {
        this.g = canvas.getContext("2d", {alpha: false})!;
        this.inks = new Inks(m);
    }

    size(width: number, height: number): void {
        const dots = onPaper() ? 3 : Math.min(3, devicePixelRatio || 1);
        if (this.canvas.width !== Math.round(width * dots) ||
            this.canvas.height !== Math.round(height * dots)) {
            this.canvas.width = Math.round(width * dots);
            this.canvas.height = Math.round(height * dots);
            this.blank();
        }
        this.width = width;
        this.height = height;
        this.g.setTransform(dots, 0, 0, dots, 0, 0);
        this.g.font = FONT;
        this.g.textBaseline = "middle";
        this.column = this.g.measureText("M").width;
    }

    /* A canvas without transparency is black when its size changes, and rows come one by one. */
    private blank(): void {
        this.g.setTransform(1, 0, 0, 1, 0, 0);
        this.g.globalAlpha = 1;
        this.g.fillStyle = colour("card");
        this.g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    }

    /* Rows that are to be seen, the outermost first. */
    private rows(t: Tree, pic: Picture): number[] {
        const found: number[] = [];
        for (let d = 0; d < t.level.length; d++) {
            const y = this.top(d, pic);
            if (y > -ROW && y < this.height)
                found.push(d);
        }
        return found;
    }

    top(depth: number, pic: Picture): number {
        return (this.m.icicle ? depth * ROW : pic.height - (depth + 1) * ROW) - pic.scroll;
    }

    paint(pic: Picture): void {
        const t = this.m.tree, mine = ++this.round;
        if (!t || !this.width)
            return;
        const rows = this.rows(t, pic);
        let next = 0;
        this.clear(rows, pic);
        const frame = () => {
            const end = performance.now() + (onPaper() ? Infinity : BUDGET);
            while (mine === this.round && next < rows.length) {
                this.row(t, rows[next++], pic);
                if (performance.now() >= end && next < rows.length) {
                    requestAnimationFrame(frame);
                    return;
                }
            }
            this.rowsDrawn = next;
        };
        frame();
    }

    /* Above and below all rows. */
    private clear(rows: number[], pic: Picture): void {
        const tops = rows.map((d) => this.top(d, pic));
        const first = Math.min(this.height, ...tops), last = Math.max(0, ...tops) + ROW;
        this.g.fillStyle = colour("card");
        this.g.fillRect(0, 0, this.width, first);
        this.g.fillRect(0, last, this.width, Math.max(0, this.height - last));
    }

    private row(t: Tree, depth: number, pic: Picture): void {
        const {g, width, m} = this, y = this.top(depth, pic);
        g.globalAlpha = 1;
        g.fillStyle = colour("card");
        g.fillRect(0, y, width, ROW);
        const dim = m.found !== null && m.searching;
        look(t, t.level[depth], pic.view, width, {
            box: (i, left, right) => {
                const from = Math.max(0, left), to = Math.min(width, right);
                const pale = dim && !m.found![t.frame[i]];
                g.globalAlpha = pale ? 0.35 : 1;
                g.fillStyle = this.inks.of(t, i);
                g.fillRect(from, y, Math.max(0.5, to - from - (to - from > 3 ? 1 : 0)), ROW - 1);
                if (i === pic.hover || i === pic.cursor ||
                    (m.chosen >= 0 && t.frame[i] === m.chosen))
                    this.outline(from, to, y, i === pic.hover || i === pic.cursor);
                if (to - from > 3 * this.column)
                    this.label(t, i, from, to, y, pale ? colour("muted") : INK);
            },
            dust: (left, right) => {
                g.globalAlpha = dim ? 0.4 : 1;
                g.fillStyle = colour("axis");
                g.fillRect(Math.max(0, left), y + 4, Math.min(width, right) - Math.max(0, left),
                    ROW - 9);
            },
        });
    }

    private outline(from: number, to: number, y: number, strong: boolean): void {
        if (to - from < 3)
            return;
        this.g.strokeStyle = strong ? colour("text") : INK;
        this.g.lineWidth = strong ? 2 : 1;
        const in_ = strong ? 1 : 0.5;
        this.g.strokeRect(from + in_, y + in_, to - from - 1 - 2 * in_, ROW - 1 - 2 * in_);
    }

    /* Letters of a name, once. */
    private letters(name: string): string[] {
        let l = this.labels.get(name);
        if (!l)
            this.labels.set(name, l = [...upright(name).replace(/[\u0000-\u001f]/g, "?")]);
        return l;
    }

    private label(t: Tree, i: number, from: number, to: number, y: number, ink: string): void {
        const name = t.frame[i] < 0 ? "all" : this.m.frames.name[t.frame[i]];
        const letters = this.letters(name);
        const room = Math.floor((to - from - 2 * INDENT) / this.column);
        if (room < 2)
            return;
        this.g.globalAlpha = 1;
        this.g.fillStyle = ink;
        this.g.fillText(fitted(letters, room), from + INDENT, y + ROW / 2);
    }
}
