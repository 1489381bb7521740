/* main -- unpack the run, and put the sections of the page below each other. */
import {capacitySection} from "./capacity";
import {Data, instances, unpack} from "./data";
import {h} from "./dom";
import {flowSection} from "./flow";
import {header, headline, verdict} from "./head";
import {heapSection} from "./heap";
import {lists} from "./lists";
import {about, numbers} from "./numbers";
import {phaseSection} from "./phases";
import {begin} from "./plain";
import {Plots} from "./plots";
import {ProcessSection} from "./processes";
import {Timeline} from "./series";
import {startTheme} from "./theme";
import {TimelineSection} from "./timeline";
import {Processes} from "./tree";
import {View} from "./view";

function timeSection(data: Data, view: View): HTMLElement[] {
    if (data.run.timeline.t_ns.length < 2) /* of one moment there is nothing over time */
        return [];
    const cores = instances(data, "core")?.id.length ?? 0;
    const plots = new Plots(data, new Timeline(data), cores);
    const all = plots.all();
    return all.length ? [new TimelineSection(data, all, plots.flat, view).root] : [];
}

function processSection(data: Data, view: View): HTMLElement[] {
    const c = instances(data, "process");
    return c ? [new ProcessSection(data, new Processes(c, data.span), view).root] : [];
}

function navigation(sections: HTMLElement[]): HTMLElement {
    const all = sections.flatMap((s) => s.id ? [s] : [...s.querySelectorAll("section")]);
    const links = all.filter((s) => s.querySelector("h2")).map((s) =>
        h("a", {href: `#${s.id}`}, s.dataset.short ?? s.querySelector("h2")!.textContent));
    return h("nav", {"aria-label": "Sections"}, ...links);
}

function build(data: Data): HTMLElement[] {
    const view = new View(data.span);
    const sections = [verdict(data), headline(data), ...capacitySection(data),
        ...flowSection(data), ...timeSection(data, view), ...phaseSection(data),
        ...heapSection(data), ...processSection(data, view), ...lists(data), numbers(data),
        about(data)];
    return [header(data), navigation(sections), h("main", {}, ...sections)];
}

void begin(async (packed, page) => {
    const data = await unpack(packed);
    startTheme();
    page.append(...build(data));
});
