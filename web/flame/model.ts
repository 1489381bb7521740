/*
 * model -- the profile and how it is looked at: one of each for the whole page.
 *
 * Whoever changes the way stacks are merged asks for a new tree, which grows
 * over as many frames as it needs; whoever only looks differently does not.
 */
import {percent} from "../report/units";
import {Line, linesOf} from "./around";
import {amount, Kind, Profile} from "./data";
import {containing, Filters, pattern, searched, Sieve} from "./filter";
import {Frames, framesOf, Grain} from "./frames";
import {Pace} from "./pace";
import {grow, How, ownOf, scaleOf, Sums, sums, Tree} from "./tree";

export interface Choice extends How {
    grain: Grain;
    filters: Filters;
}

type Listener = () => void;

export class Model {
    readonly choice: Choice;
    frames: Frames;
    tree: Tree | null = null;
    sums: Sums | null = null;
    found: Uint8Array | null = null; /* by frame: what is searched for, or highlighted */
    chosen = -1;                     /* a frame */
    icicle: boolean;
    private words = "";
    private sieve: Sieve;
    private readonly pace = new Pace();
    private readonly growers: Listener[] = [];
    private readonly lookers: Listener[] = [];

    constructor(readonly p: Profile) {
        this.icicle = p.icicle;
        this.choice = {kind: p.kind, width: "both", share: true, apart: p.apart,
            reverse: p.reverse, from: 0, to: p.slices, grain: p.lines ? "line" : "function",
            filters: {...p.filters}};
        this.frames = framesOf(p, this.choice.grain);
        this.sieve = new Sieve(p, this.choice.filters);
    }

    /* A new tree is there. */
    onTree(l: Listener): void {
        this.growers.push(l);
    }

    /* Something is to be drawn differently. */
    onLook(l: Listener): void {
        this.lookers.push(l);
    }

    get compares(): boolean {
        return this.p.before >= 0;
    }

    get kind(): Kind {
        return this.p.kinds[this.compares ? this.p.before : this.choice.kind];
    }

    amount(v: number, variance?: number): string {
        return amount(this.kind, v, variance);
    }

    /* "self 3.1 s, 40 %" */
    share(words: string, v: number, of = this.tree!.total[0], variance?: number): string {
        return `${words} ${this.amount(v, variance)}, ${percent(of ? v / of : 0)}`;
    }

    /* The same of a box or a function. */
    partOf(words: "self" | "total", of: Tree | Sums, i: number): string {
        return this.share(words, of[words][i], this.tree!.total[0], of.doubt[words][i]);
    }

    /* By how much, and by how much of the whole. */
    comparison(before: number, after: number): string[] {
        const t = this.tree!, by = after - before;
        const shares = (t.after[0] ? after / t.after[0] : 0) -
            (t.before[0] ? before / t.before[0] : 0);
        const sign = (v: number) => v > 0 ? "+" : "";
        return [this.share("before", before, t.before[0]), this.share("after", after, t.after[0]),
            `change ${sign(by)}${this.amount(by)}, ${sign(shares)}${percent(shares)} of the whole`];
    }

    /* What one of `after` counts beside one of `before`. */
    get scale(): number {
        return scaleOf(this.p, this.choice);
    }

    change(c: Partial<Choice>): void {
        const {choice, p} = this;
        const name = this.chosen >= 0 ? this.frames.name[this.chosen] : null;
        Object.assign(choice, c);
        if (c.grain) {
            this.frames = framesOf(p, choice.grain);
            this.chosen = name === null ? -1 : this.frames.name.indexOf(name);
        }
        if (c.filters)
            this.sieve = new Sieve(p, choice.filters);
        this.grow();
    }

    filter(f: Filters): void {
        this.change({filters: {...this.choice.filters, ...f}});
    }

    grow(): void {
        this.pace.run(this.make(), () => undefined);
    }

    /* Step by step, the listeners too: each may take a frame. */
    private *make(): Generator<void, void> {
        const t = yield* grow(this.p, this.frames, this.sieve, this.choice);
        yield;
        const s = sums(t, this.frames);
        this.tree = t;
        this.sums = s;
        this.mark();
        for (const l of this.growers) {
            yield;
            l();
        }
        this.look();
    }

    look(): void {
        this.lookers.forEach((l) => l());
    }

    choose(frame: number): void {
        this.chosen = frame;
        this.look();
    }

    search(words: string): void {
        this.words = words;
        this.mark();
        this.look();
    }

    get searching(): boolean {
        return this.words !== "";
    }

    /* Frames that are searched for; without a search, those that are highlighted. */
    private mark(): void {
        const places = this.words ? searched(this.p, this.words)
            : containing(this.p, this.choice.filters.highlight);
        this.found = places && new Uint8Array(this.frames.name.length);
        places?.forEach((yes, i) => {
            if (yes)
                this.found![this.frames.of[i]] = 1;
        });
        if (this.words)
            this.markTags(pattern(this.words));
    }

    /* Threads, processes and tasks, where they stand apart. */
    private markTags(re: RegExp): void {
        const {name, firstTags} = this.frames;
        for (let f = firstTags; f < name.length; f++)
            if (re.test(name[f]))
                this.found![f] = 1;
    }

    /* On which lines a function was. */
    linesOf(frame: number): Line[] {
        return linesOf(this.p, this.frames, this.sieve, ownOf(this.p, this.choice), frame);
    }

    /* The share of the whole that is in marked frames or what they called. */
    matched(): number {
        const {tree: t, found} = this;
        if (!t || !found || !t.total[0])
            return 0;
        const inside = new Uint8Array(t.n);
        let sum = 0;
        for (let i = 1; i < t.n; i++) {
            const above = inside[t.parent[i]], here = found[t.frame[i]];
            inside[i] = above | here;
            sum += here && !above ? t.total[i] : 0;
        }
        return sum / t.total[0];
    }
}
