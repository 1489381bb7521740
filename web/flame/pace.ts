/*
 * pace -- long work in short frames: what is left after BUDGET milliseconds is
 * done in the next frame, so the page answers however large the profile is.
 */
export const BUDGET = 8;

/* Runs one piece of work at a time; a new one ends the one before it. */
export class Pace {
    private round = 0;

    stop(): void {
        this.round++;
    }

    run<T>(work: Generator<void, T>, done: (result: T) => void): void {
        const mine = ++this.round;
        const frame = () => {
            if (mine !== this.round)
                return;
            const end = performance.now() + BUDGET;
            for (;;) {
                const step = work.next();
                if (step.done) {
                    done(step.value);
                    return;
                }
                if (performance.now() >= end)
                    break;
            }
            requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    }
}
