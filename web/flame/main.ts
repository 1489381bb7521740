/* main -- unpack the profile, and put the parts of the page together. */
import {h} from "../report/dom";
import {begin} from "../report/plain";
import {startTheme, themeSwitch} from "../report/theme";
import {duration, moment} from "../report/units";
import {Controls} from "./controls";
import {amount, Kind, Profile, unpack, whole} from "./data";
import {Graph} from "./graph";
import {Model} from "./model";
import {Side} from "./side";
import {Strip} from "./strip";

function facts(p: Profile): string {
    const total = whole(p);
    const named = (k: Kind) => k.name === k.unit ? "" : ` ${k.name}`;
    const sums = p.shown.map((i) => amount(p.kinds[i], total(i)) + named(p.kinds[i]));
    return [...sums, ...p.duration_ns > 0 ? [`over ${duration(p.duration_ns)}`] : [],
        ...p.start_ns > 0 ? [moment(p.start_ns)] : [],
        ...p.sampling === null ? [] : [p.sampling]].join(" · ");
}

function header(p: Profile): HTMLElement {
    const key = p.before < 0 ? null : h("p", {class: "key"}, h("i", {class: "less-now"}),
        "less than before", h("i", {class: "more-now"}), "more than before");
    return h("header", {}, h("div", {class: "title"}, h("h1", {}, p.title ?? "Flame graph"),
        h("span", {class: "grow"}), themeSwitch()), h("p", {class: "facts"}, facts(p)), key);
}

void begin(async (packed, page) => {
    const p = await unpack(packed), m = new Model(p);
    startTheme();
    const graph = new Graph(m);
    const side = new Side(m, (frame) => {
        m.choose(frame);
        graph.zoomFrame(frame);
    });
    const strip = p.slice_ns > 0 && p.slices > 1 ? [new Strip(m).root] : [];
    const picture = h("section", {id: "flame"}, new Controls(m, graph).root, graph.root);
    page.append(header(p), ...strip, h("main", {}, picture, side.root));
    await new Promise<void>((done) => {
        m.onTree(done);
        m.grow();
    });
});
