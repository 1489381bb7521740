/*
 * tree -- the processes of a run as rows: a tree by parents, or a list.
 *
 * A build starts ten thousand compilers; nobody reads ten thousand rows. Where
 * a parent has many children of one name they are one row, and the children of
 * all of these are gathered below it by name again: the tree of who calls whom.
 */
import {cell, Columns} from "./data";

export interface Row {
    name: string;
    members: number[]; /* indices of processes; more than one: they are gathered */
    children: Row[];
    depth: number;
    open: boolean;
    cpu: number;       /* ns of all members, NaN unknown */
    peak: number;      /* bytes of the largest           */
}

export type Order = "tree" | "program" | "cpu" | "memory" | "life" | "birth";

const ALONE = 6; /* so many brothers of one name are still shown one by one */

function sum(a: number, b: number | null): number {
    return b === null ? a : (Number.isNaN(a) ? 0 : a) + b;
}

export class Processes {
    readonly n: number;
    readonly cpu: Float64Array;
    readonly peak: Float64Array;
    readonly index: Map<number, number>;
    private readonly children: number[][];
    private readonly roots: number[] = [];

    constructor(readonly c: Columns, private readonly span: number) {
        this.n = c.id.length;
        this.index = new Map(c.id.map((id, i): [number, number] => [id, i]));
        this.cpu = Float64Array.from(c.id, (_, i) => this.cpuOf(i));
        this.peak = Float64Array.from(c.id, (_, i) => this.peakOf(i));
        this.children = c.id.map(() => []);
        const order = c.id.map((_, i) => i).sort((a, b) => this.born(a) - this.born(b) || a - b);
        for (const i of order) {
            const up = c.parent[i] === null ? undefined : this.index.get(c.parent[i]!);
            (up === undefined || up === i ? this.roots : this.children[up]).push(i);
        }
    }

    private cpuOf(i: number): number {
        const user = cell(this.c, "process.cpu.user", i);
        return sum(sum(NaN, user), cell(this.c, "process.cpu.system", i));
    }

    private peakOf(i: number): number {
        const rss = cell(this.c, "process.memory.rss", i) ?? NaN;
        const mark = cell(this.c, "process.memory.peak", i) ?? NaN;
        return (mark >= rss || Number.isNaN(rss) ? mark : rss) || NaN; /* 0: it was gone already */
    }

    born(i: number): number {
        return this.c.born_ns[i] ?? 0;
    }

    /* When it was last there: its end, or the end of the run. */
    died(i: number): number {
        return Math.max(this.born(i), this.c.died_ns[i] ?? this.span);
    }

    nameOf(i: number): string {
        return this.c.name[i] || "?";
    }

    row(members: number[], depth: number): Row {
        let cpu = NaN, peak = NaN;
        for (const i of members) {
            cpu = Number.isNaN(this.cpu[i]) ? cpu : sum(cpu, this.cpu[i]);
            peak = peak >= this.peak[i] || Number.isNaN(this.peak[i]) ? peak : this.peak[i];
        }
        return {name: this.nameOf(members[0]), members, children: [], depth, open: true, cpu, peak};
    }

    /* ── shapes ──────────────────────────────────────────────────────── */

    private byName(list: number[]): number[][] {
        const groups = new Map<string, number[]>();
        for (const i of list) {
            const g = groups.get(this.nameOf(i));
            if (g)
                g.push(i);
            else
                groups.set(this.nameOf(i), [i]);
        }
        return [...groups.values()];
    }

    private gather(list: number[], depth: number): Row[] {
        const rows: Row[] = [];
        for (const g of this.byName(list))
            for (const members of g.length > ALONE ? [g] : g.map((i) => [i])) {
                const r = this.row(members, depth);
                r.children = depth < 200
                    ? this.gather(members.flatMap((i) => this.children[i]), depth + 1) : [];
                rows.push(r);
            }
        return rows.sort((a, b) => this.born(a.members[0]) - this.born(b.members[0]));
    }

    tree(): Row[] {
        return this.gather(this.roots, 0);
    }

    programs(): Row[] {
        const all = this.byName(this.c.id.map((_, i) => i)).map((m) => this.row(m, 0));
        for (const r of all.filter((x) => x.members.length > 1)) {
            r.open = false;
            r.children = r.members.map((i) => this.row([i], 1));
            r.children.sort((a, b) => (b.cpu || 0) - (a.cpu || 0));
        }
        return all.sort((a, b) => (b.cpu || 0) - (a.cpu || 0));
    }

    list(order: Order): Row[] {
        const key: Record<string, (i: number) => number> = {
            cpu: (i) => -(this.cpu[i] || 0), memory: (i) => -(this.peak[i] || 0),
            life: (i) => this.born(i) - this.died(i), birth: (i) => this.born(i)};
        const all = this.c.id.map((_, i) => i);
        return all.sort((a, b) => key[order](a) - key[order](b) || a - b)
            .map((i) => this.row([i], 0));
    }

    rows(order: Order): Row[] {
        return order === "tree" ? this.tree() : order === "program" ? this.programs()
            : this.list(order);
    }

    matches(r: Row, words: string): boolean {
        return r.members.some((i) => this.nameOf(i).toLowerCase().includes(words) ||
            (this.c.detail[i] ?? "").toLowerCase().includes(words) ||
            String(this.c.key[i]) === words);
    }
}

/* The rows that can be seen: what is open, and of a search what matches and leads to it. */
export function flatten(p: Processes, top: Row[], words: string): Row[] {
    const out: Row[] = [];
    const visit = (r: Row): boolean => {
        const at = out.length;
        out.push(r);
        let keep = !words || p.matches(r, words);
        if (r.open || words)
            for (const c of r.children)
                keep = visit(c) || keep;
        if (!keep)
            out.length = at;
        return keep;
    };
    top.forEach(visit);
    return out;
}

export function countRows(top: Row[]): number {
    return top.reduce((n, r) => n + 1 + countRows(r.children), 0);
}

export function close(top: Row[], depth: number): void {
    for (const r of top) {
        r.open = r.depth < depth;
        close(r.children, depth);
    }
}

/* "exit 3", "signal 9" of a wait status. */
export function ended(status: number): string {
    return status & 127 ? `signal ${status & 127}` : `exit ${status >> 8 & 255}`;
}
