/* heap -- what the job allocated and who held the peak; present when that was recorded. */
import type {Data, Heap, HeapOwner, Num} from "./data";
import {h} from "./dom";
import {Column, Table} from "./tables";
import * as units from "./units";

function amount(bytes: number, spread: Num): string {
    return spread === null ? units.bytes(bytes) : `${units.bytes(bytes)} ± ${units.bytes(spread)}`;
}

function sentences(p: Heap): string[] {
    const when = p.peak_at_ns === null ? "" : `, ${units.duration(p.peak_at_ns)} after the start`;
    return [`Peak ${amount(p.peak_bytes, p.peak_bytes_95)}${when}; allocated ` +
        `${amount(p.total_allocated_bytes, p.total_allocated_bytes_95)} in ` +
        `${units.some(p.total_allocations, "allocation")}; left at the end ` +
        `${amount(p.leaked_bytes, p.leaked_bytes_95)} in ${units.count(p.leaked_allocations)}.`,
    ...p.complete ? [] : ["Not all is in the capture."],
    `The capture: ${p.capture}`];
}

function place(o: HeapOwner): string {
    return o.line === null ? o.file ?? "" : `${o.file}:${o.line}`;
}

function table(owners: HeapOwner[]): HTMLElement {
    const columns: Column[] = [
        {title: "at the peak", numeric: true, sort: (i) => owners[i].bytes,
            show: (i) => amount(owners[i].bytes, owners[i].bytes_95)},
        {title: "function", sort: (i) => owners[i].function ?? "",
            show: (i) => owners[i].function ?? "(no stack)"},
        {title: "where", sort: (i) => place(owners[i]), show: (i) => place(owners[i])}];
    return new Table(columns, owners.length, 0, true, owners.length).root;
}

export function heapSection(data: Data): HTMLElement[] {
    const p = data.run.heap;
    if (!p)
        return [];
    return [h("section", {id: "heap"}, h("h2", {}, "Memory that it allocated"),
        ...sentences(p).map((text) => h("p", {}, text)),
        ...p.peak_by_line.length ? [table(p.peak_by_line)] : [])];
}
