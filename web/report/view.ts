/*
 * view -- the stretch of time that is looked at, and the moment under the
 * cursor: one of each for the whole page, so that all plots agree.
 */
type Listener = () => void;

export class View {
    from = 0;
    to: number;
    cursor: number | null = null;
    private readonly zoomers: Listener[] = [];
    private readonly pointers: Listener[] = [];

    constructor(readonly span: number) {
        this.to = span;
    }

    onZoom(l: Listener): void {
        this.zoomers.push(l);
    }

    onCursor(l: Listener): void {
        this.pointers.push(l);
    }

    get width(): number {
        return this.to - this.from;
    }

    get zoomed(): boolean {
        return this.from > 0 || this.to < this.span;
    }

    /* Never outside the run, and never less than a millionth of it or a microsecond. */
    zoom(from: number, to: number): void {
        const least = Math.min(this.span, Math.max(1e3, this.span / 1e6));
        const width = Math.min(this.span, Math.max(least, to - from));
        const middle = (from + to) / 2;
        this.from = Math.max(0, Math.min(this.span - width, middle - width / 2));
        this.to = this.from + width;
        this.zoomers.forEach((l) => l());
        this.point(this.cursor);
    }

    reset(): void {
        this.zoom(0, this.span);
    }

    /* By a factor, around a moment that keeps its place. */
    scale(factor: number, around = this.cursor ?? (this.from + this.to) / 2): void {
        this.zoom(around - (around - this.from) * factor, around + (this.to - around) * factor);
    }

    pan(share: number): void {
        const by = Math.max(-this.from, Math.min(this.span - this.to, this.width * share));
        this.zoom(this.from + by, this.to + by);
    }

    point(t: number | null): void {
        this.cursor = t === null ? null : Math.max(this.from, Math.min(this.to, t));
        this.pointers.forEach((l) => l());
    }
}
