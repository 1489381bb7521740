/* generated from web/flame/ by tools/page.py; do not edit */
/* The modules below, in the order in which they were written; the last one starts the page. */
"use strict";
const modules = {};
function define(name, needs, make) {
    const exports = {};
    make(...needs.map((n) => n === "require" ? null : n === "exports" ? exports : modules[n]));
    modules[name] = exports;
}
define("report/dom", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.eachFrame = exports.button = exports.h = exports.upright = void 0;
	function upright(text) {
		return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
	}
	exports.upright = upright;
	function fill(e, attributes, children) {
		for (const [name, value] of Object.entries(attributes))
			if (value !== undefined && value !== false)
				e.setAttribute(name, value === true ? "" : upright(String(value)));
		for (const c of children)
			if (c !== null && c !== undefined && c !== false)
				e.append(typeof c === "string" ? upright(c) : c);
	}
	function h(tag, attributes = {}, ...children) {
		const e = document.createElement(tag);
		fill(e, attributes, children);
		return e;
	}
	exports.h = h;
	function button(label, title, act) {
		const b = h("button", { type: "button", title }, label);
		b.addEventListener("click", act);
		return b;
	}
	exports.button = button;
	function eachFrame(act) {
		let asked = false;
		return () => {
			if (asked)
				return;
			asked = true;
			requestAnimationFrame(() => {
				asked = false;
				act();
			});
		};
	}
	exports.eachFrame = eachFrame;
});
define("report/plain", ["require", "exports", "report/dom"], function (require, exports, dom_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.begin = void 0;
	function plainText() {
		const held = document.querySelector("noscript")?.textContent ?? "";
		return new DOMParser().parseFromString(held, "text/html").body.textContent ?? "";
	}
	async function begin(make) {
		const page = document.getElementById("page");
		try {
			await make(document.getElementById("data").textContent ?? "", page);
		}
		catch (e) {
			const why = `This browser cannot draw the page (${String(e)}); here is its text.`;
			page.replaceChildren((0, dom_1.h)("p", { class: "failed" }, why), (0, dom_1.h)("pre", {}, plainText()));
		}
		page.dataset.ready = "true";
	}
	exports.begin = begin;
});
define("report/theme", ["require", "exports", "report/dom"], function (require, exports, dom_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.startTheme = exports.themeSwitch = exports.onPaper = exports.onTheme = exports.colour = void 0;
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const listeners = [];
	let choice = "auto", paper = false;
	let style = null;
	function colour(name) {
		style ?? (style = getComputedStyle(document.documentElement));
		return style.getPropertyValue(`--${name}`).trim();
	}
	exports.colour = colour;
	function onTheme(l) {
		listeners.push(l);
	}
	exports.onTheme = onTheme;
	function apply() {
		const night = choice === "dark" || (choice === "auto" && dark.matches);
		document.documentElement.dataset.theme = night && !paper ? "dark" : "light";
		style = null;
		listeners.forEach((l) => l());
	}
	function printing(on) {
		paper = on;
		document.documentElement.classList.toggle("paper", on);
		apply();
	}
	function onPaper() {
		return paper;
	}
	exports.onPaper = onPaper;
	function themeSwitch() {
		const select = (0, dom_2.h)("select", { id: "theme", "aria-label": "Colours" }, (0, dom_2.h)("option", { value: "auto" }, "System colours"), (0, dom_2.h)("option", { value: "light" }, "Light"), (0, dom_2.h)("option", { value: "dark" }, "Dark"));
		select.addEventListener("change", () => {
			choice = select.value;
			apply();
		});
		return select;
	}
	exports.themeSwitch = themeSwitch;
	function startTheme() {
		dark.addEventListener("change", apply);
		addEventListener("beforeprint", () => printing(true));
		addEventListener("afterprint", () => printing(false));
		apply();
	}
	exports.startTheme = startTheme;
});
define("report/inflate", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.inflate = void 0;
	async function inflate(base64) {
		const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
		const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		return JSON.parse(await new Response(plain).text());
	}
	exports.inflate = inflate;
});
define("report/data", ["require", "exports", "report/inflate"], function (require, exports, inflate_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.cell = exports.instances = exports.unpack = void 0;
	function spanOf(run) {
		const t = run.timeline.t_ns;
		return Math.max(1, run.outcome.duration_ns ?? 0, t.length ? t[t.length - 1] : 0);
	}
	function arrange(p) {
		const run = p.run.assay;
		const fields = new Map(p.fields.map((f) => [f.key, f]));
		return { ...p, run, fields, span: spanOf(run) };
	}
	async function unpack(base64) {
		return arrange(await (0, inflate_1.inflate)(base64));
	}
	exports.unpack = unpack;
	function instances(data, scope) {
		const plural = data.scopes.find((s) => s.name === scope)?.plural ?? "";
		const c = data.run[plural];
		return c && Array.isArray(c.id) && c.id.length > 0 ? c : null;
	}
	exports.instances = instances;
	function cell(c, key, i) {
		return c.metrics[key]?.[i] ?? null;
	}
	exports.cell = cell;
});
define("report/units", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.valueStep = exports.timeStep = exports.place = exports.moment = exports.clock = exports.tick = exports.inUnit = exports.number = exports.percent = exports.some = exports.count = exports.bytes = exports.ms = exports.duration = exports.spread = exports.UNKNOWN = void 0;
	exports.UNKNOWN = "–";
	const NBSP = "\u00a0";
	const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
	function bad(v) {
		return v === null || v === undefined || !Number.isFinite(v);
	}
	function decimals(v, digits) {
		if (v < 10 - (digits === 3 ? 0.005 : 0.05))
			return digits - 1;
		return v < 100 - 0.05 ? 1 : 0;
	}
	function two(n) {
		return String(n).padStart(2, "0");
	}
	function pair(v, per, large, small) {
		return `${Math.floor(v / per)}${large}${NBSP}${two(v % per)}${small}`;
	}
	function spread(variance) {
		return 1.96 * Math.sqrt(Math.max(0, variance));
	}
	exports.spread = spread;
	function duration(ns) {
		if (bad(ns))
			return exports.UNKNOWN;
		if (ns === 0)
			return `0${NBSP}s`;
		const sign = ns < 0 ? "−" : "";
		let v = Math.abs(ns);
		if (v >= 59.95 * SECOND)
			return sign + longDuration(v);
		let u = 0;
		for (; v >= 999.5 && u < 3; u++)
			v /= 1000;
		return `${sign}${v.toFixed(u ? decimals(v, 3) : 0)}${NBSP}${["ns", "µs", "ms", "s"][u]}`;
	}
	exports.duration = duration;
	function ms(v) {
		return bad(v) ? exports.UNKNOWN : duration(v * 1e6);
	}
	exports.ms = ms;
	function longDuration(v) {
		if (Math.round(v / SECOND) < 3600)
			return pair(Math.round(v / SECOND), 60, "m", "s");
		if (Math.round(v / MINUTE) < 48 * 60)
			return pair(Math.round(v / MINUTE), 60, "h", "m");
		return pair(Math.round(v / HOUR), 24, "d", "h");
	}
	const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	function bytes(v, per = "") {
		if (bad(v))
			return exports.UNKNOWN;
		let x = Math.abs(v), u = 0;
		for (; x >= 999.5 && u < 6; u++)
			x /= 1024;
		const places = u === 0 && Number.isInteger(x) ? 0 : decimals(x, 2);
		return `${v < 0 ? "−" : ""}${x.toFixed(places)}${NBSP}${BYTES[u]}${per}`;
	}
	exports.bytes = bytes;
	function grouped(n) {
		return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, NBSP);
	}
	function count(v) {
		if (bad(v))
			return exports.UNKNOWN;
		const sign = v < 0 ? "−" : "";
		let x = Math.abs(v), u = 0;
		if (!Number.isInteger(x) && x < 99.95)
			return sign + (x < 0.005 ? "<0.01" : x.toFixed(x < 0.95 ? 2 : decimals(x, 2)));
		if (x < 999999.5)
			return sign + grouped(x);
		for (x /= 1e6; x >= 999.5 && u < 4; u++)
			x /= 1000;
		return `${sign}${x.toFixed(decimals(x, 2))}${NBSP}${"MGTPE"[u]}`;
	}
	exports.count = count;
	function some(n, one, many = `${one}s`) {
		return `${count(n)} ${n === 1 ? one : many}`;
	}
	exports.some = some;
	function percent(ratio) {
		if (bad(ratio))
			return exports.UNKNOWN;
		const v = Math.abs(ratio) * 100, sign = ratio < 0 ? "−" : "";
		if (v === 0)
			return `0${NBSP}%`;
		if (v < 0.05)
			return `${sign}<0.1${NBSP}%`;
		return `${sign}${v < 9.95 ? v.toFixed(1) : grouped(v)}${NBSP}%`;
	}
	exports.percent = percent;
	function number(v) {
		if (bad(v))
			return exports.UNKNOWN;
		if (v === 0 || Math.abs(v) >= 99.95)
			return count(Math.round(v));
		if (Math.abs(v) < 0.005)
			return "<0.01";
		return v.toFixed(decimals(Math.abs(v), 3)).replace("-", "−");
	}
	exports.number = number;
	function inUnit(unit, v) {
		switch (unit) {
			case "ns":
				return duration(v);
			case "bytes":
				return bytes(v);
			case "bytes/s":
				return bytes(v, "/s");
			case "share":
				return percent(v);
			case "ratio":
				return number(v);
			case "count/s":
				return bad(v) ? exports.UNKNOWN : `${count(v)}/s`;
			default:
				return count(v);
		}
	}
	exports.inUnit = inUnit;
	function fine(v) {
		return v.toFixed(1 - Math.floor(Math.log10(v)));
	}
	function smallTick(unit, v) {
		if (unit === "share" && v < 0.0095)
			return `${fine(v * 100)}${NBSP}%`;
		if (!(unit === "ratio" || unit.startsWith("count")) || v >= 0.095)
			return null;
		return `${fine(v)}${unit === "count/s" ? "/s" : ""}`;
	}
	function tick(unit, v) {
		return v === 0 ? "0" : (smallTick(unit, v) ?? inUnit(unit, v))
			.replace(/\.(\d*?)0+(?=\D|$)/, ".$1").replace(/\.(?=\D|$)/, "");
	}
	exports.tick = tick;
	function clock(startNs, t, span) {
		if (startNs === null)
			return "";
		const d = new Date((startNs + t) / 1e6);
		const time = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
		if (span < 10 * SECOND)
			return `${time}.${String(d.getMilliseconds()).padStart(3, "0")}`;
		return span < DAY ? time : `${date(d)} ${time}`;
	}
	exports.clock = clock;
	function date(d) {
		return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
	}
	function moment(ns) {
		if (ns === null)
			return exports.UNKNOWN;
		const d = new Date(ns / 1e6);
		return `${date(d)} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
	}
	exports.moment = moment;
	function place(t, step) {
		if (t === 0)
			return "0";
		const sign = t < 0 ? "−" : "", v = Math.abs(t);
		if (v < MINUTE - 1 || step < SECOND)
			return sign + shortPlace(v, step);
		const s = Math.round(v / SECOND);
		const d = Math.floor(s / 86400), hr = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
		if (d || step >= DAY)
			return `${sign}${d}d${hr || m ? `${NBSP}${two(hr)}:${two(m)}` : ""}`;
		return hr ? `${sign}${hr}:${two(m)}:${two(s % 60)}` : `${sign}${m}:${two(s % 60)}`;
	}
	exports.place = place;
	function shortPlace(v, step) {
		const [unit, name] = v < 1e3 ? [1, "ns"] : v < 1e6 ? [1e3, "µs"] : v < 1e9 ? [1e6, "ms"]
			: [SECOND, "s"];
		const places = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / Number(unit)) - 1e-9)));
		return `${Number((v / Number(unit)).toFixed(places))}${NBSP}${name}`;
	}
	function firstAbove(steps, least) {
		return steps.find((s) => s >= least) ?? steps[steps.length - 1];
	}
	function decimalStep(least) {
		const ten = 10 ** Math.floor(Math.log10(least));
		return firstAbove([1, 2, 5, 10], least / ten * 0.999999) * ten;
	}
	function timeStep(span, ticks) {
		const least = span / Math.max(1, ticks);
		if (least < SECOND)
			return Math.max(1, decimalStep(least));
		const steps = [1, 2, 5, 10, 15, 30].map((s) => s * SECOND)
			.concat([1, 2, 5, 10, 15, 30].map((m) => m * MINUTE))
			.concat([1, 2, 3, 6, 12].map((x) => x * HOUR)).concat([1, 2, 7].map((x) => x * DAY));
		return least > 7 * DAY ? decimalStep(least / DAY) * DAY : firstAbove(steps, least);
	}
	exports.timeStep = timeStep;
	function valueStep(unit, top, ticks) {
		const least = top / Math.max(1, ticks);
		if (least <= 0)
			return 1;
		if (unit.startsWith("bytes"))
			return Math.max(1, 2 ** Math.ceil(Math.log2(least) - 1e-9));
		const step = decimalStep(least);
		return unit.startsWith("count") && !unit.endsWith("/s") ? Math.max(1, step) : step;
	}
	exports.valueStep = valueStep;
});
define("flame/data", ["require", "exports", "report/inflate", "report/units"], function (require, exports, inflate_2, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.shortFile = exports.amount = exports.unpack = exports.whole = exports.highest = exports.bySlice = exports.lasted = exports.lasts = exports.arrange = void 0;
	const VARIANCES = { bytes: ["variance", 1024], allocations: ["count variance", 1] };
	function callers(back) {
		return Int32Array.from(back, (b, i) => i - b);
	}
	function span(p, slices) {
		const { slice_ns, duration_ns } = p;
		return duration_ns > (slices - 1) * slice_ns ? Math.min(duration_ns, slices * slice_ns)
			: slices * slice_ns;
	}
	function withDoubts(kinds) {
		return kinds.map((k) => {
			const [name, root] = VARIANCES[k.name] ?? ["", 1];
			return { ...k, doubt: kinds.findIndex((d) => d.name === name), root };
		});
	}
	function arrange(p) {
		const named = (name) => p.kinds.findIndex((k) => k.name === name);
		const kinds = withDoubts(p.kinds), doubts = kinds.map((k) => k.doubt);
		const both = named("before") >= 0 && named("after") >= 0;
		const ints = (a) => Int32Array.from(a);
		const slices = p.lasting?.slices
			?? p.sample.slice.reduce((most, s) => Math.max(most, s), 0) + 1;
		return { ...p, kinds,
			shown: kinds.map((_, i) => i).filter((i) => !doubts.includes(i)),
			place: { function: ints(p.place.function), file: ints(p.place.file),
				line: ints(p.place.line), begin: ints(p.place.begin), ink: ints(p.place.ink) },
			stack: { caller: callers(p.stack.back), place: ints(p.stack.place) },
			sample: { stack: ints(p.sample.stack), tags: ints(p.sample.tags),
				slice: ints(p.sample.slice), values: p.sample.values.map((v) => Float64Array.from(v)) },
			before: both ? named("before") : -1,
			after: both ? named("after") : -1,
			until: p.lasting && Int32Array.from(p.lasting.until, (s) => s || slices),
			slices, span_ns: span(p, slices) };
	}
	exports.arrange = arrange;
	function heldBySlice(p, until, v) {
		const by = new Float64Array(p.slices + 1);
		p.sample.slice.forEach((s, i) => {
			by[s] += v[i];
			by[until[i]] -= v[i];
		});
		for (let s = 1; s < p.slices; s++)
			by[s] += by[s - 1];
		return by.subarray(0, p.slices);
	}
	function lasts(p, until, from, to) {
		const { slice } = p.sample;
		return (i) => slice[i] >= from && slice[i] < to && until[i] >= to;
	}
	exports.lasts = lasts;
	function lasted(p, kind, from, to) {
		const counts = p.until && lasts(p, p.until, from, to);
		return p.sample.values[kind].reduce((sum, v, i) => sum + (counts?.(i) ? v : 0), 0);
	}
	exports.lasted = lasted;
	function bySlice(p, kind) {
		const sums = new Float64Array(p.slices), v = p.sample.values[kind];
		if (p.until)
			return heldBySlice(p, p.until, v);
		p.sample.slice.forEach((s, i) => sums[s] += Math.max(0, v[i]));
		return sums;
	}
	exports.bySlice = bySlice;
	function highest(sums, from, to) {
		let best = from;
		for (let s = from; s < to; s++)
			best = sums[s] > sums[best] ? s : best;
		return best;
	}
	exports.highest = highest;
	function whole(p) {
		if (p.until)
			return (i) => lasted(p, i, 0, p.slices);
		if (!p.levels)
			return (i) => p.sample.values[i].reduce((a, b) => a + b, 0);
		const top = highest(bySlice(p, p.kind), 0, p.slices);
		return (i) => bySlice(p, i)[top];
	}
	exports.whole = whole;
	async function unpack(base64) {
		return arrange(await (0, inflate_2.inflate)(base64));
	}
	exports.unpack = unpack;
	function amount(kind, v, variance) {
		const text = (n) => units.inUnit(kind.shown, n * kind.each);
		return variance === undefined ? text(v)
			: `${text(v)} ± ${text(units.spread(variance) * kind.root)}`;
	}
	exports.amount = amount;
	function shortFile(path) {
		return path.split("/").slice(-2).join("/");
	}
	exports.shortFile = shortFile;
});
define("flame/frames", ["require", "exports", "flame/data"], function (require, exports, data_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.framesOf = exports.spelled = exports.lineOf = void 0;
	function lineOf(p, place) {
		const file = (0, data_1.shortFile)(p.texts[p.place.file[place]]), line = p.place.line[place];
		return line > 0 ? `${file}:${line}` : file;
	}
	exports.lineOf = lineOf;
	function spelled(p, place) {
		const name = p.texts[p.place.function[place]];
		return p.place.file[place] ? `${name} (${lineOf(p, place)})` : name;
	}
	exports.spelled = spelled;
	function nameOf(p, place, grain) {
		if (grain === "file")
			return (0, data_1.shortFile)(p.texts[p.place.file[place]]) || p.texts[p.place.function[place]];
		return grain === "line" ? spelled(p, place) : p.texts[p.place.function[place]];
	}
	function whereOf(p, place, grain) {
		const path = p.texts[p.place.file[place]];
		const line = grain === "line" ? p.place.line[place] : p.place.begin[place];
		return path && line > 0 && grain !== "file" ? `${path}:${line}` : path;
	}
	function keyOf(p, place, grain) {
		const { function: f, file, line, begin } = p.place;
		if (grain === "file" && file[place])
			return String(file[place]);
		const last = grain === "line" ? line[place] : begin[place];
		return `${f[place]} ${file[place]} ${last}`;
	}
	function tagsName(p, tags) {
		return tags.map(([key, value]) => `${p.texts[key]} ${value}`).join(", ");
	}
	function framesOf(p, grain) {
		const n = p.place.function.length, seen = new Map();
		const f = { of: new Int32Array(n), place: [], name: [], where: [], ink: [],
			firstTags: 0 };
		for (let i = 0; i < n; i++) {
			const key = keyOf(p, i, grain);
			let at = seen.get(key);
			if (at === undefined) {
				at = f.name.length;
				seen.set(key, at);
				f.place.push(i);
				f.name.push(nameOf(p, i, grain));
				f.where.push(whereOf(p, i, grain));
				f.ink.push(p.place.ink[i]);
			}
			f.of[i] = at;
		}
		f.firstTags = f.name.length;
		for (const tags of p.tags) {
			f.place.push(-1);
			f.name.push(tagsName(p, tags));
			f.where.push("");
			f.ink.push(p.inks.length - 1);
		}
		return f;
	}
	exports.framesOf = framesOf;
});
define("flame/filter", ["require", "exports", "flame/frames"], function (require, exports, frames_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Sieve = exports.searched = exports.pattern = exports.containing = exports.FILTERS = void 0;
	exports.FILTERS = {
		"focus": ["Focus", "stacks through this function, from it on"],
		"show-from-frame": ["Show from frame", "stacks with such a frame, from it on"],
		"show-stacks": ["Show stacks", "only stacks with such a frame, whole"],
		"hide-stacks": ["Hide stacks", "no stack with such a frame"],
		"hide-frames": ["Hide frames", "stacks without such frames"],
		"highlight": ["Highlight", "such frames are marked"],
	};
	function each(p, meant) {
		const found = new Uint8Array(p.place.function.length);
		for (let i = 1; i < found.length; i++)
			found[i] = meant(i) ? 1 : 0;
		return found;
	}
	function containing(p, words) {
		const all = (words ?? "").split(",").map((w) => w.trim()).filter((w) => w);
		const { function: f, file } = p.place;
		return all.length ? each(p, (i) => all.some((w) => p.texts[f[i]].includes(w) ||
			p.texts[file[i]].includes(w))) : null;
	}
	exports.containing = containing;
	function pattern(words) {
		try {
			return new RegExp(words, "i");
		}
		catch {
			return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
		}
	}
	exports.pattern = pattern;
	function searched(p, words) {
		const re = pattern(words);
		return each(p, (i) => re.test((0, frames_1.spelled)(p, i)));
	}
	exports.searched = searched;
	const FOCUS = 1, FROM = 2, SHOW = 4, HIDE = 8;
	class Sieve {
		constructor(p, filters) {
			const focus = (filters.focus ?? "").trim();
			const found = [
				[focus ? each(p, (i) => p.texts[p.place.function[i]] === focus) : null, FOCUS],
				[containing(p, filters["show-from-frame"]), FROM],
				[containing(p, filters["show-stacks"]), SHOW],
				[containing(p, filters["hide-stacks"]), HIDE]
			];
			const { caller, place } = p.stack, bits = new Uint8Array(p.place.function.length);
			let need = 0;
			for (const [marks, bit] of found) {
				need |= marks && bit !== HIDE ? bit : 0;
				marks?.forEach((yes, i) => bits[i] |= yes ? bit : 0);
			}
			this.seen = new Uint8Array(place.length);
			this.first = new Int32Array(place.length);
			for (let i = 1; i < place.length; i++) {
				this.seen[i] = this.seen[caller[i]] | bits[place[i]];
				this.first[i] = this.first[caller[i]] || (bits[place[i]] & FOCUS ? i : 0);
			}
			this.need = need;
			this.callers = focus !== "" && filters.callers === true;
			this.gone = containing(p, filters["hide-frames"]);
		}
		keeps(stack) {
			return (this.seen[stack] & this.need) === this.need && !(this.seen[stack] & HIDE);
		}
		end(stack) {
			return this.callers ? this.first[stack] : stack;
		}
		draws(stack, place) {
			const begun = this.need & (FOCUS | FROM);
			return !(this.gone && this.gone[place]) &&
				(this.callers || (this.seen[stack] & begun) === begun);
		}
	}
	exports.Sieve = Sieve;
});
define("flame/tree", ["require", "exports", "flame/data"], function (require, exports, data_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.sums = exports.changed = exports.grow = exports.ownOf = exports.scaleOf = void 0;
	const STEP = 1024;
	function scaleOf(p, how) {
		if (p.before < 0 || !how.share)
			return 1;
		const sum = (v) => v.reduce((a, b) => a + Math.max(0, b), 0);
		const a = sum(p.sample.values[p.before]), b = sum(p.sample.values[p.after]);
		return a > 0 && b > 0 ? a / b : 1;
	}
	exports.scaleOf = scaleOf;
	function doubtOf(p, how) {
		return p.before >= 0 ? -1 : p.kinds[how.kind].doubt;
	}
	class Values {
		constructor(p, how) {
			this.p = p;
			this.how = how;
			const n = p.stack.place.length;
			this.compares = p.before >= 0;
			this.width = new Float64Array(n);
			this.before = new Float64Array(this.compares ? n : 0);
			this.after = new Float64Array(this.compares ? n : 0);
			this.doubt = new Float64Array(doubtOf(p, how) < 0 ? 0 : n);
			this.scale = scaleOf(p, how);
		}
		clear() {
			for (const a of [this.width, this.before, this.after, this.doubt])
				a.fill(0);
		}
		add(sample) {
			const { p, how } = this, s = p.sample.stack[sample];
			if (!this.compares) {
				this.width[s] += Math.max(0, p.sample.values[how.kind][sample]);
				if (this.doubt.length)
					this.doubt[s] += p.sample.values[doubtOf(p, how)][sample];
				return;
			}
			const a = Math.max(0, p.sample.values[p.before][sample]);
			const b = Math.max(0, p.sample.values[p.after][sample]);
			this.before[s] += a;
			this.after[s] += b;
			this.width[s] += (how.width === "after" ? 0 : a) + (how.width === "before" ? 0
				: b * this.scale);
		}
	}
	function counted(p, how) {
		const { slice } = p.sample;
		if (p.until)
			return (0, data_2.lasts)(p, p.until, how.from, how.to);
		if (!p.levels)
			return (i) => slice[i] >= how.from && slice[i] < how.to;
		const top = (0, data_2.highest)((0, data_2.bySlice)(p, how.kind), how.from, how.to);
		return (i) => slice[i] === top;
	}
	function ownOf(p, how) {
		const v = new Values(p, how), counts = counted(p, how);
		for (let i = 0; i < p.sample.slice.length; i++)
			if (counts(i))
				v.add(i);
		return v.width;
	}
	exports.ownOf = ownOf;
	function groups(p, how) {
		const found = new Map();
		const { slice, tags } = p.sample, counts = counted(p, how);
		for (let i = 0; i < slice.length; i++) {
			if (!counts(i))
				continue;
			const key = how.apart ? tags[i] : 0, list = found.get(key);
			if (list)
				list.push(i);
			else
				found.set(key, [i]);
		}
		return found;
	}
	class Grower {
		constructor(p, frames, sieve, how) {
			this.p = p;
			this.frames = frames;
			this.sieve = sieve;
			this.how = how;
			this.parent = [0];
			this.frame = [-1];
			this.self = [0];
			this.before = [0];
			this.after = [0];
			this.doubt = [0];
			this.children = new Map();
			this.chain = [];
			this.node = new Int32Array(p.stack.place.length);
		}
		get backwards() {
			return this.how.reverse !== this.sieve.callers;
		}
		child(of, frame) {
			const key = of * this.frames.name.length + frame;
			let at = this.children.get(key);
			if (at === undefined) {
				at = this.parent.length;
				this.children.set(key, at);
				this.parent.push(of);
				this.frame.push(frame);
				this.self.push(0);
				this.before.push(0);
				this.after.push(0);
				this.doubt.push(0);
			}
			return at;
		}
		step(on, stack) {
			const place = this.p.stack.place[stack];
			return this.sieve.draws(stack, place) ? this.child(on, this.frames.of[place]) : on;
		}
		outward(stack) {
			const { caller } = this.p.stack, { chain, node } = this;
			chain.length = 0;
			for (; node[stack] < 0; stack = caller[stack])
				chain.push(stack);
			for (let at = node[stack]; chain.length; node[stack] = at) {
				stack = chain.pop();
				at = this.step(at, stack);
			}
			return node[stack];
		}
		inward(root, stack) {
			let at = root;
			for (; stack; stack = this.p.stack.caller[stack])
				at = this.step(at, stack);
			return at;
		}
		add(root, stack, v) {
			const end = this.sieve.end(stack);
			const at = this.backwards ? this.inward(root, end) : this.outward(end);
			this.self[at] += v.width[stack];
			if (v.doubt.length)
				this.doubt[at] += v.doubt[stack];
			if (v.before.length) {
				this.before[at] += v.before[stack];
				this.after[at] += v.after[stack];
			}
		}
		*group(tags, samples, v) {
			const root = tags ? this.child(0, this.frames.firstTags + tags) : 0;
			v.clear();
			this.node.fill(-1);
			this.node[0] = root;
			for (let i = 0; i < samples.length; i++) {
				v.add(samples[i]);
				if (i % (STEP * 4) === 0)
					yield;
			}
			for (let s = 0; s < v.width.length; s++) {
				if (v.width[s] > 0 && this.sieve.keeps(s))
					this.add(root, s, v);
				if (s % STEP === 0)
					yield;
			}
		}
		doubts() {
			const some = doubtOf(this.p, this.how) < 0 ? [] : this.doubt;
			return { self: new Float64Array(some), total: new Float64Array(some) };
		}
		*finish() {
			const n = this.parent.length, compares = this.p.before >= 0;
			const numbers = (v) => new Float64Array(compares ? v : []);
			const t = { n, parent: new Int32Array(this.parent), depth: new Int32Array(n),
				frame: new Int32Array(this.frame), self: new Float64Array(this.self),
				total: new Float64Array(this.self), before: numbers(this.before),
				after: numbers(this.after), doubt: this.doubts(), x: new Float64Array(n), level: [],
				outer: new Uint8Array(n), first: new Int32Array(n + 1),
				child: new Int32Array(n - 1), reverse: this.backwards };
			yield;
			addUp(t);
			if (t.reverse)
				ofInnermost(t, this.frames);
			yield;
			yield* arrange(t, this.frames);
			return t;
		}
	}
	function addUp(t) {
		for (let i = t.n - 1; i > 0; i--) {
			const p = t.parent[i];
			t.total[p] += t.total[i];
			if (t.doubt.total.length)
				t.doubt.total[p] += t.doubt.total[i];
			if (t.before.length) {
				t.before[p] += t.before[i];
				t.after[p] += t.after[i];
			}
		}
		for (let i = 1; i < t.n; i++)
			t.depth[i] = t.depth[t.parent[i]] + 1;
	}
	function ofInnermost(t, frames) {
		for (let i = 1; i < t.n; i++) {
			const on = t.parent[i], inner = !on || t.frame[on] >= frames.firstTags;
			if (t.frame[i] >= frames.firstTags)
				continue;
			t.self[i] = inner ? t.total[i] : 0;
			if (t.doubt.self.length)
				t.doubt.self[i] = inner ? t.doubt.total[i] : 0;
		}
	}
	function families(t) {
		const { first, child } = t;
		for (let i = 1; i < t.n; i++)
			first[t.parent[i] + 1]++;
		for (let i = 0; i < t.n; i++)
			first[i + 1] += first[i];
		const next = first.slice();
		for (let i = 1; i < t.n; i++)
			child[next[t.parent[i]]++] = i;
	}
	function* arrange(t, frames) {
		const { first, child } = t;
		families(t);
		const name = (i) => frames.name[t.frame[i]];
		const wider = (a, b) => t.total[b] - t.total[a] ||
			(name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b);
		yield;
		for (let row = [0], steps = 0; row.length;) {
			t.level.push(new Int32Array(row));
			const next = [];
			for (const i of row) {
				let x = t.x[i];
				if (first[i + 1] - first[i] > 1)
					child.subarray(first[i], first[i + 1]).sort(wider);
				for (let k = first[i]; k < first[i + 1] && t.total[child[k]] > 0; k++) {
					t.x[child[k]] = x;
					x += t.total[child[k]];
					next.push(child[k]);
				}
				if (++steps % STEP === 0)
					yield;
			}
			row = next;
		}
		yield* outermost(t, frames.name.length);
	}
	function* outermost(t, frames) {
		const { first, child } = t, open = new Int32Array(frames), at = first.slice(0, t.n);
		t.outer[0] = 1;
		for (let i = 0, steps = 1;; steps++) {
			if (steps % (STEP * 4) === 0)
				yield;
			if (at[i] < first[i + 1]) {
				i = child[at[i]++];
				t.outer[i] = open[t.frame[i]]++ ? 0 : 1;
			}
			else if (i) {
				open[t.frame[i]]--;
				i = t.parent[i];
			}
			else {
				return;
			}
		}
	}
	function* grow(p, frames, sieve, how) {
		const g = new Grower(p, frames, sieve, how), v = new Values(p, how);
		for (const [tags, samples] of groups(p, how))
			yield* g.group(tags, samples, v);
		return yield* g.finish();
	}
	exports.grow = grow;
	function changed(t, i, share) {
		const MUCH = 0.005;
		const whole = Math.max(t.before[0], t.after[0]);
		const of = (v) => share ? (v[0] ? v[i] / v[0] : 0) : v[i] / whole;
		const before = of(t.before), after = of(t.after), larger = Math.max(before, after);
		return larger > 0
			? (after - before) / larger * Math.min(1, Math.abs(after - before) / MUCH) : 0;
	}
	exports.changed = changed;
	function count(s, of, t, i) {
		const f = t.frame[i];
		s.self[f] += of.self[i];
		s.total[f] += t.outer[i] ? of.total[i] : 0;
	}
	function sums(t, frames) {
		const n = frames.name.length, m = t.before.length ? n : 0;
		const array = (many) => new Float64Array(many), d = t.doubt.self.length ? n : 0;
		const s = { frame: [], self: array(n), total: array(n), before: array(m),
			after: array(m), doubt: { self: array(d), total: array(d) } };
		for (let i = 1; i < t.n; i++) {
			const f = t.frame[i];
			if (t.total[i] <= 0)
				continue;
			count(s, t, t, i);
			if (d)
				count(s.doubt, t.doubt, t, i);
			if (m && t.outer[i]) {
				s.before[f] += t.before[i];
				s.after[f] += t.after[i];
			}
		}
		for (let f = 0; f < n; f++)
			if (s.total[f] > 0)
				s.frame.push(f);
		return s;
	}
	exports.sums = sums;
});
define("flame/around", ["require", "exports", "flame/frames"], function (require, exports, frames_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.linesOf = exports.callees = exports.callers = void 0;
	function ranked(of) {
		return [...of].map(([frame, value]) => ({ frame, value })).sort((a, b) => b.value - a.value);
	}
	function again(t, i) {
		const inner = t.frame[i], outer = t.frame[t.parent[i]];
		for (let at = t.parent[i]; at; at = t.parent[at])
			if (t.frame[at] === inner && t.frame[t.parent[at]] === outer)
				return true;
		return false;
	}
	function edges(t, frame, above) {
		const sum = new Map();
		for (let i = 1; i < t.n; i++) {
			const below = t.frame[t.parent[i]];
			if ((above ? below : t.frame[i]) !== frame || below < 0 || t.total[i] <= 0 || again(t, i))
				continue;
			const other = above ? t.frame[i] : below;
			sum.set(other, (sum.get(other) ?? 0) + t.total[i]);
		}
		return ranked(sum);
	}
	function callers(t, frame) {
		return edges(t, frame, t.reverse);
	}
	exports.callers = callers;
	function callees(t, frame) {
		return edges(t, frame, !t.reverse);
	}
	exports.callees = callees;
	function linesOf(p, frames, sieve, own, frame) {
		const { caller, place } = p.stack, all = own.slice(), found = new Map();
		for (let s = all.length - 1; s >= 0; s--)
			if (!sieve.keeps(s))
				all[s] = s ? 0 : all[s];
		const self = all.slice();
		for (let s = all.length - 1; s > 0; s--)
			all[caller[s]] += all[s];
		for (let s = 1; s < all.length; s++) {
			const at = place[s];
			if (frames.of[at] !== frame || all[s] <= 0)
				continue;
			const line = found.get(at) ?? { where: (0, frames_2.lineOf)(p, at), self: 0, total: 0 };
			line.self += self[s];
			line.total += repeats(p, s) ? 0 : all[s];
			found.set(at, line);
		}
		return [...found.values()].sort((a, b) => b.total - a.total);
	}
	exports.linesOf = linesOf;
	function repeats(p, s) {
		const { caller, place } = p.stack;
		for (let c = caller[s]; c; c = caller[c])
			if (place[c] === place[s])
				return true;
		return false;
	}
});
define("flame/pace", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Pace = exports.BUDGET = void 0;
	exports.BUDGET = 8;
	class Pace {
		constructor() {
			this.round = 0;
		}
		stop() {
			this.round++;
		}
		run(work, done) {
			const mine = ++this.round;
			const frame = () => {
				if (mine !== this.round)
					return;
				const end = performance.now() + exports.BUDGET;
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
	exports.Pace = Pace;
});
define("flame/model", ["require", "exports", "report/units", "flame/around", "flame/data", "flame/filter", "flame/frames", "flame/pace", "flame/tree"], function (require, exports, units_1, around_1, data_3, filter_1, frames_3, pace_1, tree_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Model = void 0;
	class Model {
		constructor(p) {
			this.p = p;
			this.tree = null;
			this.sums = null;
			this.found = null;
			this.chosen = -1;
			this.words = "";
			this.pace = new pace_1.Pace();
			this.growers = [];
			this.lookers = [];
			this.icicle = p.icicle;
			this.choice = { kind: p.kind, width: "both", share: true, apart: p.apart,
				reverse: p.reverse, from: 0, to: p.slices, grain: p.lines ? "line" : "function",
				filters: { ...p.filters } };
			this.frames = (0, frames_3.framesOf)(p, this.choice.grain);
			this.sieve = new filter_1.Sieve(p, this.choice.filters);
		}
		onTree(l) {
			this.growers.push(l);
		}
		onLook(l) {
			this.lookers.push(l);
		}
		get compares() {
			return this.p.before >= 0;
		}
		get kind() {
			return this.p.kinds[this.compares ? this.p.before : this.choice.kind];
		}
		amount(v, variance) {
			return (0, data_3.amount)(this.kind, v, variance);
		}
		share(words, v, of = this.tree.total[0], variance) {
			return `${words} ${this.amount(v, variance)}, ${(0, units_1.percent)(of ? v / of : 0)}`;
		}
		partOf(words, of, i) {
			return this.share(words, of[words][i], this.tree.total[0], of.doubt[words][i]);
		}
		comparison(before, after) {
			const t = this.tree, by = after - before;
			const shares = (t.after[0] ? after / t.after[0] : 0) -
				(t.before[0] ? before / t.before[0] : 0);
			const sign = (v) => v > 0 ? "+" : "";
			return [this.share("before", before, t.before[0]), this.share("after", after, t.after[0]),
				`change ${sign(by)}${this.amount(by)}, ${sign(shares)}${(0, units_1.percent)(shares)} of the whole`];
		}
		get scale() {
			return (0, tree_1.scaleOf)(this.p, this.choice);
		}
		change(c) {
			const { choice, p } = this;
			const name = this.chosen >= 0 ? this.frames.name[this.chosen] : null;
			Object.assign(choice, c);
			if (c.grain) {
				this.frames = (0, frames_3.framesOf)(p, choice.grain);
				this.chosen = name === null ? -1 : this.frames.name.indexOf(name);
			}
			if (c.filters)
				this.sieve = new filter_1.Sieve(p, choice.filters);
			this.grow();
		}
		filter(f) {
			this.change({ filters: { ...this.choice.filters, ...f } });
		}
		grow() {
			this.pace.run(this.make(), () => undefined);
		}
		*make() {
			const t = yield* (0, tree_1.grow)(this.p, this.frames, this.sieve, this.choice);
			yield;
			const s = (0, tree_1.sums)(t, this.frames);
			this.tree = t;
			this.sums = s;
			this.mark();
			for (const l of this.growers) {
				yield;
				l();
			}
			this.look();
		}
		look() {
			this.lookers.forEach((l) => l());
		}
		choose(frame) {
			this.chosen = frame;
			this.look();
		}
		search(words) {
			this.words = words;
			this.mark();
			this.look();
		}
		get searching() {
			return this.words !== "";
		}
		mark() {
			const places = this.words ? (0, filter_1.searched)(this.p, this.words)
				: (0, filter_1.containing)(this.p, this.choice.filters.highlight);
			this.found = places && new Uint8Array(this.frames.name.length);
			places?.forEach((yes, i) => {
				if (yes)
					this.found[this.frames.of[i]] = 1;
			});
			if (this.words)
				this.markTags((0, filter_1.pattern)(this.words));
		}
		markTags(re) {
			const { name, firstTags } = this.frames;
			for (let f = firstTags; f < name.length; f++)
				if (re.test(name[f]))
					this.found[f] = 1;
		}
		linesOf(frame) {
			return (0, around_1.linesOf)(this.p, this.frames, this.sieve, (0, tree_1.ownOf)(this.p, this.choice), frame);
		}
		matched() {
			const { tree: t, found } = this;
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
	exports.Model = Model;
});
define("flame/ink", ["require", "exports", "flame/tree"], function (require, exports, tree_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Inks = exports.FOUND = void 0;
	function channels(ink) {
		return [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16));
	}
	function mix(a, b, share) {
		const to = channels(b);
		const c = channels(a).map((v, i) => Math.round(v * (1 - share) + to[i] * share));
		return `#${c.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
	}
	const STEPS = 24;
	exports.FOUND = "#d77bff";
	class Inks {
		constructor(m) {
			this.m = m;
			const [less, same, more] = m.p.change_inks;
			this.changes = Array.from({ length: 2 * STEPS + 1 }, (_, i) => mix(same, i < STEPS ? less : more, Math.abs(i - STEPS) / STEPS));
		}
		change(c) {
			return this.changes[Math.round(Math.max(-1, Math.min(1, c)) * STEPS) + STEPS];
		}
		of(t, i) {
			const { p, frames, found, compares, choice } = this.m, f = t.frame[i];
			if (found && f >= 0 && found[f])
				return exports.FOUND;
			if (compares && i)
				return this.change((0, tree_2.changed)(t, i, choice.share));
			return p.inks[f < 0 ? p.inks.length - 1 : frames.ink[f]];
		}
	}
	exports.Inks = Inks;
});
define("flame/layout", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.boxAt = exports.look = exports.firstBehind = exports.LEAST = void 0;
	exports.LEAST = 0.5;
	function firstBehind(t, level, x, low = 0) {
		let high = level.length;
		while (low < high) {
			const middle = (low + high) >> 1, i = level[middle];
			if (t.x[i] + t.total[i] > x)
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}
	exports.firstBehind = firstBehind;
	function look(t, level, v, width, seen) {
		const scale = width / (v.to - v.from);
		let dustFrom = 0, dustTo = -1;
		for (let k = firstBehind(t, level, v.from); k < level.length; k++) {
			const i = level[k];
			if (t.x[i] >= v.to)
				break;
			const left = (t.x[i] - v.from) * scale, right = left + t.total[i] * scale;
			if (right - left >= exports.LEAST) {
				seen.box(i, left, right);
				continue;
			}
			if (left > dustTo + 1) {
				if (dustTo > dustFrom)
					seen.dust(dustFrom, dustTo);
				dustFrom = left;
			}
			const next = firstBehind(t, level, t.x[i] + exports.LEAST / scale, k + 1);
			const last = level[next - 1];
			dustTo = Math.max(right, (t.x[last] + t.total[last] - v.from) * scale);
			k = next - 1;
		}
		if (dustTo > dustFrom)
			seen.dust(dustFrom, dustTo);
	}
	exports.look = look;
	function boxAt(t, depth, x) {
		const level = t.level[depth];
		if (!level)
			return -1;
		const i = level[firstBehind(t, level, x)];
		return i !== undefined && t.x[i] <= x ? i : -1;
	}
	exports.boxAt = boxAt;
});
define("flame/draw", ["require", "exports", "report/dom", "report/theme", "flame/ink", "flame/layout", "flame/pace"], function (require, exports, dom_3, theme_1, ink_1, layout_1, pace_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Painter = exports.fitted = exports.ROW = void 0;
	exports.ROW = 19;
	const INDENT = 4, FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
	const INK = "#14171c";
	function fitted(letters, columns) {
		let used = 0, whole = 0;
		for (const l of letters) {
			used += l >= "\u1100" ? 2 : 1;
			if (used > columns)
				return `${letters.slice(0, whole).join("")}…`;
			whole += used < columns ? 1 : 0;
		}
		return letters.join("");
	}
	exports.fitted = fitted;
	class Painter {
		constructor(m, canvas) {
			this.m = m;
			this.canvas = canvas;
			this.labels = new Map();
			this.column = 7.2;
			this.round = 0;
			this.width = 0;
			this.height = 0;
			this.rowsDrawn = 0;
			this.g = canvas.getContext("2d", { alpha: false });
			this.inks = new ink_1.Inks(m);
		}
		size(width, height) {
			const dots = (0, theme_1.onPaper)() ? 3 : Math.min(3, devicePixelRatio || 1);
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
		blank() {
			this.g.setTransform(1, 0, 0, 1, 0, 0);
			this.g.globalAlpha = 1;
			this.g.fillStyle = (0, theme_1.colour)("card");
			this.g.fillRect(0, 0, this.canvas.width, this.canvas.height);
		}
		rows(t, pic) {
			const found = [];
			for (let d = 0; d < t.level.length; d++) {
				const y = this.top(d, pic);
				if (y > -exports.ROW && y < this.height)
					found.push(d);
			}
			return found;
		}
		top(depth, pic) {
			return (this.m.icicle ? depth * exports.ROW : pic.height - (depth + 1) * exports.ROW) - pic.scroll;
		}
		paint(pic) {
			const t = this.m.tree, mine = ++this.round;
			if (!t || !this.width)
				return;
			const rows = this.rows(t, pic);
			let next = 0;
			this.clear(rows, pic);
			const frame = () => {
				const end = performance.now() + ((0, theme_1.onPaper)() ? Infinity : pace_2.BUDGET);
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
		clear(rows, pic) {
			const tops = rows.map((d) => this.top(d, pic));
			const first = Math.min(this.height, ...tops), last = Math.max(0, ...tops) + exports.ROW;
			this.g.fillStyle = (0, theme_1.colour)("card");
			this.g.fillRect(0, 0, this.width, first);
			this.g.fillRect(0, last, this.width, Math.max(0, this.height - last));
		}
		row(t, depth, pic) {
			const { g, width, m } = this, y = this.top(depth, pic);
			g.globalAlpha = 1;
			g.fillStyle = (0, theme_1.colour)("card");
			g.fillRect(0, y, width, exports.ROW);
			const dim = m.found !== null && m.searching;
			(0, layout_1.look)(t, t.level[depth], pic.view, width, {
				box: (i, left, right) => {
					const from = Math.max(0, left), to = Math.min(width, right);
					const pale = dim && !m.found[t.frame[i]];
					g.globalAlpha = pale ? 0.35 : 1;
					g.fillStyle = this.inks.of(t, i);
					g.fillRect(from, y, Math.max(0.5, to - from - (to - from > 3 ? 1 : 0)), exports.ROW - 1);
					if (i === pic.hover || i === pic.cursor ||
						(m.chosen >= 0 && t.frame[i] === m.chosen))
						this.outline(from, to, y, i === pic.hover || i === pic.cursor);
					if (to - from > 3 * this.column)
						this.label(t, i, from, to, y, pale ? (0, theme_1.colour)("muted") : INK);
				},
				dust: (left, right) => {
					g.globalAlpha = dim ? 0.4 : 1;
					g.fillStyle = (0, theme_1.colour)("axis");
					g.fillRect(Math.max(0, left), y + 4, Math.min(width, right) - Math.max(0, left), exports.ROW - 9);
				},
			});
		}
		outline(from, to, y, strong) {
			if (to - from < 3)
				return;
			this.g.strokeStyle = strong ? (0, theme_1.colour)("text") : INK;
			this.g.lineWidth = strong ? 2 : 1;
			const in_ = strong ? 1 : 0.5;
			this.g.strokeRect(from + in_, y + in_, to - from - 1 - 2 * in_, exports.ROW - 1 - 2 * in_);
		}
		letters(name) {
			let l = this.labels.get(name);
			if (!l)
				this.labels.set(name, l = [...(0, dom_3.upright)(name).replace(/[\u0000-\u001f]/g, "?")]);
			return l;
		}
		label(t, i, from, to, y, ink) {
			const name = t.frame[i] < 0 ? "all" : this.m.frames.name[t.frame[i]];
			const letters = this.letters(name);
			const room = Math.floor((to - from - 2 * INDENT) / this.column);
			if (room < 2)
				return;
			this.g.globalAlpha = 1;
			this.g.fillStyle = ink;
			this.g.fillText(fitted(letters, room), from + INDENT, y + exports.ROW / 2);
		}
	}
	exports.Painter = Painter;
});
define("flame/tip", ["require", "exports", "report/dom"], function (require, exports, dom_4) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Tip = void 0;
	class Tip {
		constructor(m) {
			this.m = m;
			this.root = (0, dom_4.h)("div", { class: "tip", hidden: true });
			document.body.append(this.root);
		}
		name(i) {
			const { tree, frames } = this.m, f = tree.frame[i];
			return f < 0 ? "all" : frames.name[f];
		}
		numbers(i) {
			const t = this.m.tree;
			return this.m.compares ? this.m.comparison(t.before[i], t.after[i])
				: [this.m.partOf("total", t, i), this.m.partOf("self", t, i)];
		}
		words(i) {
			return [this.name(i), ...this.numbers(i)].join("; ");
		}
		show(i, x, y) {
			const { tree, frames } = this.m, f = tree.frame[i];
			const where = f < 0 ? "" : frames.where[f];
			this.root.replaceChildren((0, dom_4.h)("b", {}, this.name(i)), where ? (0, dom_4.h)("span", { class: "where" }, where) : "", ...this.numbers(i).map((n) => (0, dom_4.h)("span", {}, n)));
			this.root.hidden = false;
			const { offsetWidth: w, offsetHeight: t } = this.root;
			const left = Math.max(4, Math.min(innerWidth - w - 8, x + 14));
			this.root.style.left = `${left}px`;
			this.root.style.top = `${y + 18 + t > innerHeight ? Math.max(4, y - t - 12) : y + 18}px`;
		}
		hide() {
			this.root.hidden = true;
		}
	}
	exports.Tip = Tip;
});
define("flame/graph", ["require", "exports", "report/dom", "report/theme", "flame/draw", "flame/layout", "flame/tip"], function (require, exports, dom_5, theme_2, draw_1, layout_2, tip_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Graph = void 0;
	const GLIDE = 180;
	const still = matchMedia("(prefers-reduced-motion: reduce)");
	class Graph {
		constructor(m) {
			this.m = m;
			this.canvas = (0, dom_5.h)("canvas", { role: "img", tabindex: 0,
				"aria-label": "Flame graph; arrows move, Enter zooms, Escape shows all" });
			this.space = (0, dom_5.h)("div", { class: "space" });
			this.said = (0, dom_5.h)("div", { class: "aside", "aria-live": "polite" });
			this.zoomed = 0;
			this.glide = 0;
			this.opened = false;
			this.viewers = [];
			this.trail = [];
			this.space.append(this.canvas);
			this.tip = new tip_1.Tip(m);
			this.root = (0, dom_5.h)("div", { class: "graph" }, this.space, this.said);
			this.painter = new draw_1.Painter(m, this.canvas);
			this.pic = { view: { from: 0, to: 1 }, scroll: 0, height: 0, hover: -1, cursor: -1 };
			this.redraw = (0, dom_5.eachFrame)(() => this.draw());
			m.onTree(() => this.newTree());
			m.onLook(this.redraw);
			(0, theme_2.onTheme)(() => this.anew());
			this.listen();
			new ResizeObserver(() => this.resize()).observe(this.root);
		}
		pathOf(t, i) {
			const path = [];
			for (; i; i = t.parent[i])
				path.unshift(this.m.frames.name[t.frame[i]]);
			return path;
		}
		again(t) {
			const { first, child } = t;
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
		newTree() {
			const t = this.m.tree;
			this.zoomed = this.again(t);
			this.pic.hover = this.pic.cursor = -1;
			this.tip.hide();
			this.pic.view = this.viewOf(t, this.zoomed);
			this.resize();
			if (!this.opened)
				this.open();
			this.settleScroll();
		}
		open() {
			this.opened = true;
			if (this.root.getBoundingClientRect().bottom + scrollY > innerHeight)
				this.m.icicle = true;
		}
		viewOf(t, i) {
			return { from: t.x[i], to: t.x[i] + Math.max(t.total[i], 1e-9) };
		}
		resize() {
			const t = this.m.tree;
			if (!t)
				return;
			this.pic.height = t.level.length * draw_1.ROW;
			this.space.style.height = `${this.pic.height}px`;
			this.painter.size(this.space.clientWidth, this.root.clientHeight);
			this.redraw();
		}
		anew() {
			this.resize();
			this.draw();
		}
		settleScroll() {
			this.root.scrollTop = this.m.icicle ? 0 : this.pic.height;
			this.redraw();
		}
		draw() {
			this.pic.scroll = this.root.scrollTop;
			this.painter.paint(this.pic);
			this.root.dataset.rows = String(this.painter.rowsDrawn);
			this.viewers.forEach((l) => l());
		}
		onView(l) {
			this.viewers.push(l);
		}
		get isZoomed() {
			const t = this.m.tree;
			return t !== null && this.pic.view.to - this.pic.view.from < t.total[0] * 0.999999;
		}
		zoom(i) {
			const t = this.m.tree;
			if (!t)
				return;
			this.zoomed = i;
			this.trail = this.pathOf(t, i);
			this.glideTo(this.viewOf(t, i));
			this.say(i);
		}
		zoomFrame(frame) {
			const t = this.m.tree;
			let best = 0;
			for (let i = 1; t && i < t.n; i++)
				if (t.frame[i] === frame && (!best || t.total[i] > t.total[best]))
					best = i;
			this.zoom(best);
			this.reveal(best);
		}
		reveal(i) {
			const t = this.m.tree, depth = t.depth[i];
			const y = this.m.icicle ? depth * draw_1.ROW : this.pic.height - (depth + 1) * draw_1.ROW;
			if (y < this.root.scrollTop || y > this.root.scrollTop + this.root.clientHeight - draw_1.ROW)
				this.root.scrollTop = y - this.root.clientHeight / 2;
		}
		glideTo(to) {
			const from = { ...this.pic.view }, start = performance.now(), mine = ++this.glide;
			const step = (now) => {
				if (mine !== this.glide)
					return;
				const k = still.matches ? 1 : Math.min(1, Math.max(0, (now - start) / GLIDE));
				const ease = 1 - (1 - k) ** 3;
				this.pic.view = { from: from.from + (to.from - from.from) * ease,
					to: from.to + (to.to - from.to) * ease };
				this.draw();
				if (k < 1)
					requestAnimationFrame(step);
				else
					this.m.look();
			};
			requestAnimationFrame(step);
		}
		scale(factor, around = 0.5) {
			const t = this.m.tree, { from, to } = this.pic.view;
			if (!t)
				return;
			const width = Math.min(t.total[0], Math.max(t.total[0] / 1e7, (to - from) * factor));
			this.moveTo(from + (to - from - width) * around, width);
		}
		moveTo(from, width) {
			const all = this.m.tree.total[0];
			from = Math.max(0, Math.min(all - width, from));
			this.glide++;
			this.pic.view = { from, to: from + width };
			this.redraw();
		}
		at(e) {
			const t = this.m.tree, r = this.canvas.getBoundingClientRect();
			if (!t)
				return -1;
			const y = e.clientY - r.top + this.root.scrollTop;
			const depth = Math.floor((this.m.icicle ? y : this.pic.height - y) / draw_1.ROW);
			const { from, to } = this.pic.view;
			return (0, layout_2.boxAt)(t, depth, from + (e.clientX - r.left) / r.width * (to - from));
		}
		point(e) {
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
		leave() {
			this.pic.hover = -1;
			this.tip.hide();
			this.redraw();
		}
		choose(i) {
			if (i < 0)
				return;
			this.pic.cursor = i;
			this.m.chosen = this.m.tree.frame[i];
			this.zoom(i);
		}
		listen() {
			const c = this.canvas;
			let drag = null;
			this.root.addEventListener("scroll", this.redraw);
			c.addEventListener("pointerdown", (e) => {
				drag = { x: e.clientX, from: this.pic.view.from, moved: false };
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
			c.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
			c.addEventListener("keydown", (e) => {
				if (this.key(e.key))
					e.preventDefault();
			});
		}
		wheel(e) {
			const r = this.canvas.getBoundingClientRect(), { from, to } = this.pic.view;
			if (e.ctrlKey || e.metaKey)
				this.scale(Math.exp(e.deltaY * 0.004), (e.clientX - r.left) / r.width);
			else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
				this.moveTo(from + (to - from) * (e.deltaX || e.deltaY) / r.width, to - from);
			else
				return;
			e.preventDefault();
		}
		say(i) {
			this.said.textContent = i >= 0 ? this.tip.words(i) : "";
		}
		move(to) {
			if (to === undefined || to < 0)
				return;
			this.pic.cursor = to;
			this.reveal(to);
			this.say(to);
			this.redraw();
		}
		sibling(i, by) {
			const t = this.m.tree, level = t.level[t.depth[i]];
			return level[level.indexOf(i) + by];
		}
		key(name) {
			const t = this.m.tree, at = Math.max(0, this.pic.cursor);
			if (!t)
				return false;
			const inner = this.m.icicle ? "ArrowDown" : "ArrowUp";
			const outer = this.m.icicle ? "ArrowUp" : "ArrowDown";
			const acts = {
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
	exports.Graph = Graph;
});
define("flame/controls", ["require", "exports", "report/dom", "report/units", "flame/filter"], function (require, exports, dom_6, units_2, filter_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Controls = void 0;
	const PAUSE = 200;
	function select(label, options, value, act) {
		const s = (0, dom_6.h)("select", { "aria-label": label, title: label }, ...options.map(([v, text]) => (0, dom_6.h)("option", { value: v, selected: v === value }, text)));
		s.addEventListener("change", () => act(s.value));
		return s;
	}
	function toggle(label, title, on, act) {
		const b = (0, dom_6.button)(label, title, () => {
			const now = b.getAttribute("aria-pressed") !== "true";
			b.setAttribute("aria-pressed", String(now));
			act(now);
		});
		b.className = "chip";
		b.setAttribute("aria-pressed", String(on));
		return b;
	}
	class Controls {
		constructor(m, graph) {
			this.m = m;
			this.find = (0, dom_6.h)("input", { type: "text", role: "searchbox", spellcheck: "false",
				placeholder: "Search ( / )", "aria-label": "Search functions" });
			this.matched = (0, dom_6.h)("output", { class: "matched" });
			this.inputs = new Map();
			this.typing = new Set();
			this.panel = this.filters();
			this.more = toggle("Filters", "Show and hide stacks and frames", this.filtered(), (on) => {
				this.panel.hidden = !on;
			});
			this.draw = select("Draw", [["flame", "Flame"], ["icicle", "Icicle"]], m.icicle ? "icicle" : "flame", (v) => {
				m.icicle = v === "icicle";
				graph.resize();
				graph.settleScroll();
			});
			this.all = (0, dom_6.button)("All", "Show the whole width (Escape)", () => graph.zoom(0));
			this.find.addEventListener("input", () => m.search(this.find.value));
			this.root = (0, dom_6.h)("div", {}, (0, dom_6.h)("div", { class: "tools" }, ...this.choices(), this.all, (0, dom_6.h)("span", { class: "search" }, this.find, this.matched)), this.panel);
			m.onLook(() => this.refresh());
			m.onTree(() => this.showFilters());
			graph.onView(() => this.all.disabled = !graph.isZoomed);
			document.addEventListener("keydown", (e) => this.key(e));
		}
		choices() {
			const { m } = this;
			return [this.metric(), this.draw,
				select("A box for each", [["function", "By function"], ["line", "By line"],
					["file", "By file"]], m.choice.grain, (v) => m.change({ grain: v })),
				toggle("Reversed", "From the innermost frame: who called it", m.choice.reverse, (on) => m.change({ reverse: on })),
				m.p.tags.length > 1 && toggle("Apart", "Threads, processes and tasks apart", m.choice.apart, (on) => m.change({ apart: on })),
				this.more];
		}
		metric() {
			const { m } = this;
			if (!m.compares)
				return select("Metric", m.p.shown.map((i) => [String(i), m.p.kinds[i].name]), String(m.choice.kind), (v) => m.change({ kind: Number(v) }));
			return (0, dom_6.h)("span", { class: "chips" }, select("Width", [["both", "Before and after"],
				["before", "Before"], ["after", "After"]], m.choice.width, (v) => m.change({ width: v })), toggle("Shares", "Both sides as shares of their own whole", m.choice.share, (on) => m.change({ share: on })));
		}
		filtered() {
			return Object.values(this.m.choice.filters).some((v) => v);
		}
		filter(name) {
			const [label, help] = filter_2.FILTERS[name], { m } = this;
			const input = (0, dom_6.h)("input", { type: "text", name, title: help, placeholder: help,
				spellcheck: "false" });
			let pause = 0;
			input.addEventListener("input", () => {
				clearTimeout(pause);
				this.typing.add(input);
				pause = setTimeout(() => {
					this.typing.delete(input);
					m.filter({ [name]: input.value });
				}, PAUSE);
			});
			this.inputs.set(name, input);
			return (0, dom_6.h)("label", {}, (0, dom_6.h)("span", {}, label), input);
		}
		filters() {
			const names = Object.keys(filter_2.FILTERS), { m } = this;
			const clear = (0, dom_6.button)("Clear", "No filters", () => {
				const none = Object.fromEntries(names.map((n) => [n, ""]));
				m.filter({ ...none, callers: false });
			});
			this.callers = toggle("Callers of the focus", "What called it, not what it calls", m.choice.filters.callers === true, (on) => m.filter({ callers: on }));
			return (0, dom_6.h)("div", { class: "filters", hidden: !this.filtered() }, ...names.map((n) => this.filter(n)), (0, dom_6.h)("div", { class: "chips" }, this.callers, clear));
		}
		showFilters() {
			const { filters } = this.m.choice;
			for (const [name, input] of this.inputs)
				if (!this.typing.has(input))
					input.value = filters[name] ?? "";
			this.callers.setAttribute("aria-pressed", String(filters.callers === true));
			if (this.filtered()) {
				this.panel.hidden = false;
				this.more.setAttribute("aria-pressed", "true");
			}
		}
		refresh() {
			this.draw.value = this.m.icicle ? "icicle" : "flame";
			const marked = this.m.found !== null;
			this.matched.hidden = !marked;
			this.matched.textContent = marked ? `${(0, units_2.percent)(this.m.matched())} matched` : "";
		}
		key(e) {
			const typing = e.target instanceof HTMLInputElement;
			if (e.key === "/" && !typing) {
				e.preventDefault();
				this.find.focus();
			}
			else if (e.key === "Escape" && e.target === this.find) {
				this.find.value = "";
				this.m.search("");
				this.find.blur();
			}
		}
	}
	exports.Controls = Controls;
});
define("report/tables", ["require", "exports", "report/dom"], function (require, exports, dom_7) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Table = void 0;
	const FIRST = 15, MORE = 200;
	const texts = new Intl.Collator();
	function compare(a, b) {
		if (typeof a === "string" || typeof b === "string")
			return texts.compare(String(a), String(b));
		return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0) || a - b || 0;
	}
	function classOf(c) {
		return c.numeric ? "num" : c.long ? "long" : c.className;
	}
	class Table {
		constructor(columns, n, by = -1, down = true, first = FIRST) {
			this.columns = columns;
			this.by = by;
			this.down = down;
			this.root = (0, dom_7.h)("div", { class: "table" });
			this.body = (0, dom_7.h)("tbody");
			this.order = Array.from({ length: n }, (_, i) => i);
			this.shown = n <= first + 5 ? n : first;
			this.heads = columns.map((c, k) => this.head(c, k));
			const table = (0, dom_7.h)("table", { class: "sorted" }, (0, dom_7.h)("thead", {}, (0, dom_7.h)("tr", {}, ...this.heads)), this.body);
			this.root.append((0, dom_7.h)("div", { class: "wide" }, table));
			this.sort();
		}
		head(c, k) {
			const b = (0, dom_7.h)("button", { type: "button", title: c.help }, c.title);
			b.addEventListener("click", () => {
				this.down = this.by === k ? !this.down : c.numeric ?? false;
				this.by = k;
				this.sort();
			});
			return (0, dom_7.h)("th", { scope: "col", class: c.numeric ? "num" : c.className }, b);
		}
		sort() {
			const c = this.columns[this.by];
			if (c) {
				const sign = this.down ? -1 : 1;
				const keys = this.order.map((_, i) => c.sort(i));
				const last = (v) => typeof v === "number" && Number.isNaN(v);
				this.order.sort((a, b) => last(keys[a]) || last(keys[b])
					? compare(keys[a], keys[b]) : sign * compare(keys[a], keys[b]) || a - b);
			}
			this.heads.forEach((x, k) => x.setAttribute("aria-sort", k !== this.by ? "none"
				: this.down ? "descending" : "ascending"));
			this.fill();
		}
		fill() {
			const rows = this.order.slice(0, this.shown).map((i) => (0, dom_7.h)("tr", {}, ...this.columns.map((c) => (0, dom_7.h)("td", { class: classOf(c) }, c.show(i)))));
			this.body.replaceChildren(...rows);
			this.root.querySelector(".more")?.remove();
			const left = this.order.length - this.shown;
			if (left <= 0)
				return;
			const b = (0, dom_7.h)("button", { type: "button", class: "more" }, `Show ${Math.min(left, MORE)} more of ${this.order.length}`);
			b.addEventListener("click", () => {
				this.shown += MORE;
				this.fill();
			});
			this.root.append(b);
		}
	}
	exports.Table = Table;
});
define("flame/side", ["require", "exports", "report/dom", "report/tables", "report/units", "flame/around", "flame/pace"], function (require, exports, dom_8, tables_1, units_3, around_2, pace_3) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Side = void 0;
	const FIRST = 40, PEERS = 12;
	class Side {
		constructor(m, focus) {
			this.m = m;
			this.focus = focus;
			this.list = (0, dom_8.h)("div", { class: "functions" });
			this.detail = (0, dom_8.h)("div", { class: "detail" });
			this.pace = new pace_3.Pace();
			this.table = null;
			this.shown = -1;
			this.root = (0, dom_8.h)("section", { id: "functions" }, this.detail, this.list);
			m.onTree(() => this.refresh());
			m.onLook(() => this.choose());
		}
		share(v) {
			const all = this.m.tree.total[0];
			return (0, units_3.percent)(all ? v / all : 0);
		}
		cell(what, frame) {
			const s = this.m.sums, v = s[what][frame];
			return (0, dom_8.h)("span", { title: this.m.amount(v, s.doubt[what][frame]) }, this.share(v));
		}
		name(frame) {
			const b = (0, dom_8.button)(this.m.frames.name[frame] || "?", this.m.frames.where[frame], () => this.focus(frame));
			b.className = "function";
			b.dataset.frame = String(frame);
			return b;
		}
		row(frame) {
			const both = document.createDocumentFragment(), s = (0, dom_8.h)("i", { class: "swatch" });
			s.style.background = this.m.p.inks[this.m.frames.ink[frame]];
			both.append(this.m.compares ? "" : s, this.name(frame));
			return both;
		}
		columns() {
			const s = this.m.sums, of = (v) => (i) => v[s.frame[i]];
			const numbers = this.m.compares ? this.changes() : [
				{ title: "self", help: "in itself", numeric: true, sort: of(s.self),
					show: (i) => this.cell("self", s.frame[i]) },
				{ title: "total", help: "with all that it called", numeric: true, sort: of(s.total),
					show: (i) => this.cell("total", s.frame[i]) }
			];
			return [...numbers, { title: "function", sort: (i) => this.m.frames.name[s.frame[i]],
					show: (i) => this.row(s.frame[i]) }];
		}
		changes() {
			const s = this.m.sums, t = this.m.tree;
			const part = (v, all) => (i) => all ? v[s.frame[i]] / all : 0;
			const before = part(s.before, t.before[0]), after = part(s.after, t.after[0]);
			const by = (i) => after(i) - before(i);
			const text = (f, v) => (i) => (0, dom_8.h)("span", { title: this.m.amount(v[s.frame[i]]) }, (0, units_3.percent)(f(i)));
			return [
				{ title: "before", numeric: true, sort: before, show: text(before, s.before) },
				{ title: "after", numeric: true, sort: after, show: text(after, s.after) },
				{ title: "change", help: "of its share of the whole", numeric: true,
					sort: (i) => Math.abs(by(i)), show: (i) => (0, dom_8.h)("span", { class: by(i) > 0 ? "more-now" : "less-now" }, `${by(i) > 0 ? "+" : ""}${(0, units_3.percent)(by(i))}`) }
			];
		}
		refresh() {
			const n = this.m.sums.frame.length;
			const by = this.table?.by ?? (this.m.compares ? 2 : 0), down = this.table?.down ?? true;
			this.table = new tables_1.Table(this.columns(), n, by, down, FIRST);
			this.list.replaceChildren((0, dom_8.h)("h2", {}, "Functions", (0, dom_8.h)("small", {}, String(n))), this.table.root);
			this.shown = -2;
			this.choose();
		}
		bar(p, whole) {
			const { m } = this, share = whole ? p.value / whole : 0;
			const fill = (0, dom_8.h)("i");
			fill.style.width = `${Math.min(100, share * 100)}%`;
			return (0, dom_8.h)("li", {}, (0, dom_8.h)("span", { class: "bar" }, fill), (0, dom_8.h)("span", { class: "num",
				title: m.amount(p.value) }, (0, units_3.percent)(share)), this.name(p.frame));
		}
		peers(title, all, whole) {
			const rest = all.length - PEERS;
			return (0, dom_8.h)("div", { class: "peers" }, (0, dom_8.h)("h4", {}, title), all.length ? (0, dom_8.h)("ul", {}, ...all.slice(0, PEERS).map((p) => this.bar(p, whole)))
				: (0, dom_8.h)("p", { class: "note" }, "none"), rest > 0 ? (0, dom_8.h)("p", { class: "note" }, `and ${rest} more`) : null);
		}
		lines(frame, whole) {
			const all = this.m.linesOf(frame);
			if (all.length < 1 || this.m.choice.grain !== "function")
				return null;
			const rows = all.slice(0, PEERS).map((l) => (0, dom_8.h)("tr", {}, (0, dom_8.h)("td", { class: "num" }, (0, units_3.percent)(l.self / whole)), (0, dom_8.h)("td", { class: "num" }, (0, units_3.percent)(l.total / whole)), (0, dom_8.h)("td", {}, l.where)));
			return (0, dom_8.h)("div", { class: "peers" }, (0, dom_8.h)("h4", {}, "Lines"), (0, dom_8.h)("table", { class: "plain" }, (0, dom_8.h)("thead", {}, (0, dom_8.h)("tr", {}, (0, dom_8.h)("th", { class: "num" }, "self"), (0, dom_8.h)("th", { class: "num" }, "total"), (0, dom_8.h)("th", {}, "line"))), (0, dom_8.h)("tbody", {}, ...rows)));
		}
		numbers(frame) {
			const { m } = this, s = m.sums;
			return m.compares ? m.comparison(s.before[frame], s.after[frame])
				: [m.partOf("self", s, frame), m.partOf("total", s, frame)];
		}
		focusOn(label, frame, callers) {
			const { m } = this, place = m.frames.place[frame];
			const title = callers ? "Only what called it" : "Only what it calls";
			return place < 0 ? "" : (0, dom_8.button)(label, title, () => m.filter({ focus: m.p.texts[m.p.place.function[place]], callers }));
		}
		head(frame) {
			const { m } = this;
			return [(0, dom_8.h)("div", { class: "title" }, (0, dom_8.h)("h2", {}, m.frames.name[frame]), (0, dom_8.button)("✕", "Close", () => m.choose(-1))),
				(0, dom_8.h)("p", { class: "where" }, m.frames.where[frame]),
				...this.numbers(frame).map((words) => (0, dom_8.h)("p", {}, words)),
				(0, dom_8.h)("p", { class: "chips" }, this.focusOn("Focus", frame, false), this.focusOn("Callers only", frame, true))];
		}
		*around(frame) {
			const t = this.m.tree, whole = this.m.sums.total[frame];
			yield;
			const lines = this.lines(frame, t.total[0]);
			yield;
			const up = this.peers("Called by", (0, around_2.callers)(t, frame), whole);
			yield;
			const down = this.peers("Calls", (0, around_2.callees)(t, frame), whole);
			this.detail.replaceChildren(...this.head(frame), ...lines ? [lines] : [], up, down);
		}
		choose() {
			const { m } = this, f = m.chosen;
			if (!m.tree || f === this.shown)
				return;
			this.shown = f;
			this.root.querySelectorAll(".function[aria-pressed]").forEach((e) => e.removeAttribute("aria-pressed"));
			if (f < 0 || !m.sums.total[f]) {
				this.pace.stop();
				this.detail.replaceChildren();
				return;
			}
			this.root.querySelector(`.functions [data-frame="${f}"]`)?.setAttribute("aria-pressed", "true");
			this.pace.run(this.around(f), () => this.root.scrollTo(0, 0));
		}
	}
	exports.Side = Side;
});
define("flame/resident", ["require", "exports", "report/dom", "report/theme", "report/units"], function (require, exports, dom_9, theme_3, units_4) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Resident = void 0;
	class Resident {
		constructor(b, span, bars) {
			this.b = b;
			this.span = span;
			this.bars = bars;
			this.root = (0, dom_9.h)("p", { class: "legend" });
			this.words = (0, dom_9.h)("span", { class: "told" });
			this.shown = "";
			this.own = b.rss.map((v, i) => v === null || b.file[i] === null ? null : v - b.file[i]);
			this.most = b.rss.reduce((a, v) => Math.max(a, v ?? 0), 0);
		}
		line(g, v, ink, width, bottom, scale) {
			let open = false;
			g.beginPath();
			v.forEach((y, i) => {
				const x = this.b.at[i] / this.span * width;
				if (y !== null && open)
					g.lineTo(x, bottom - y * scale);
				else if (y !== null)
					g.moveTo(x, bottom - y * scale);
				open = y !== null;
			});
			g.strokeStyle = (0, theme_3.colour)(ink);
			g.lineWidth = 1.5;
			g.lineJoin = "round";
			g.stroke();
		}
		draw(g, width, bottom, scale) {
			this.line(g, this.own, "ink3", width, bottom, scale);
			this.line(g, this.b.rss, "ink1", width, bottom, scale);
		}
		legend(on, top) {
			const key = (name, text) => (0, dom_9.h)("span", {}, (0, dom_9.h)("i", { class: name }), text);
			this.root.hidden = !on;
			if (this.shown === top)
				return;
			this.shown = top;
			this.root.replaceChildren(key("heap", this.bars), key("rss", "RSS"), key("own", "RSS without files"), (0, dom_9.h)("span", { class: "top" }, `the top is ${top}`), this.words);
		}
		at(t) {
			let lo = 0, hi = this.b.at.length;
			while (lo < hi) {
				const mid = (lo + hi) >> 1;
				if (this.b.at[mid] <= t)
					lo = mid + 1;
				else
					hi = mid;
			}
			return Math.max(0, lo - 1);
		}
		tell(t) {
			const i = this.at(t), own = this.own[i], heap = this.b.heap[i];
			this.words.textContent = [`${(0, units_4.place)(this.b.at[i], 1e6)}: heap ${(0, units_4.bytes)(heap)}`,
				`RSS ${(0, units_4.bytes)(this.b.rss[i])}`, `files ${(0, units_4.bytes)(this.b.file[i])}`,
				...own === null ? [] : [own >= heap ? `neither ${(0, units_4.bytes)(own - heap)}`
						: `${(0, units_4.bytes)(heap - own)} of the heap not resident`]].join(" · ");
		}
		forget() {
			this.words.textContent = "";
		}
	}
	exports.Resident = Resident;
});
define("flame/strip", ["require", "exports", "report/dom", "report/theme", "report/units", "flame/data", "flame/resident"], function (require, exports, dom_10, theme_4, units_5, data_4, resident_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Strip = void 0;
	const LOW = 56, HIGH = 120, AXIS = 16;
	class Strip {
		constructor(m) {
			this.m = m;
			this.canvas = (0, dom_10.h)("canvas", { tabindex: 0, role: "img",
				"aria-label": "Over time; drag to choose a span, arrows move it, Escape shows all" });
			this.words = (0, dom_10.h)("span", { class: "hint" });
			this.sums = new Float64Array(0);
			this.redraw = (0, dom_10.eachFrame)(() => this.draw());
			this.resident = m.p.beside && new resident_1.Resident(m.p.beside, m.p.span_ns, m.p.until ? "made, not yet freed" : "heap");
			this.tall = this.resident ? HIGH : LOW;
			this.all = (0, dom_10.button)("All of it", "Show the whole time", () => this.pick(0, m.p.slices));
			const tools = (0, dom_10.h)("div", { class: "tools" }, (0, dom_10.h)("h2", {}, "Over time"), this.words, (0, dom_10.h)("span", { class: "grow" }), this.all);
			this.root = (0, dom_10.h)("section", { id: "strip", class: this.resident ? "tall" : undefined }, tools, this.canvas, this.resident?.root);
			m.onTree(() => this.refresh());
			(0, theme_4.onTheme)(() => this.draw());
			this.listen();
			new ResizeObserver(this.redraw).observe(this.root);
			this.refresh();
		}
		refresh() {
			const { p, choice, compares } = this.m;
			this.sums = (0, data_4.bySlice)(p, compares ? p.after : choice.kind);
			if (!p.levels && !p.until)
				this.sums[p.slices - 1] /= this.lastPart();
			const whole = choice.from === 0 && choice.to === p.slices, ns = p.slice_ns;
			this.all.disabled = whole;
			this.words.textContent = (whole ? `${p.slices} slices of ${(0, units_5.duration)(ns)}`
				: `${(0, units_5.place)(choice.from * ns, ns)} to ${(0, units_5.place)(Math.min(choice.to * ns, p.span_ns), ns)}`)
				+ this.top();
			this.redraw();
		}
		lastPart() {
			const { slices, slice_ns, span_ns } = this.m.p;
			return Math.max(0.5, span_ns / slice_ns - (slices - 1));
		}
		top() {
			const { p, choice } = this.m;
			if (p.until)
				return `; ${this.m.amount((0, data_4.lasted)(p, choice.kind, choice.from, choice.to))} ` +
					"made in it and not freed by its end";
			if (!p.levels)
				return "";
			const at = (0, data_4.highest)(this.sums, choice.from, choice.to);
			return `; its peak, ${this.m.amount(this.sums[at])} at ${(0, units_5.place)(at * p.slice_ns, p.slice_ns)}, is shown`;
		}
		pick(from, to) {
			const { slices } = this.m.p;
			const width = Math.max(1, Math.min(slices, to - from));
			from = Math.max(0, Math.min(slices - width, from));
			this.m.change({ from, to: from + width });
		}
		get beside() {
			return this.m.kind.shown === "bytes" ? this.resident : null;
		}
		draw() {
			const dots = devicePixelRatio || 1, width = this.canvas.clientWidth;
			this.canvas.width = width * dots;
			this.canvas.height = (this.tall + AXIS) * dots;
			const g = this.canvas.getContext("2d");
			g.scale(dots, dots);
			const most = Math.max(this.sums.reduce((a, b) => Math.max(a, b), 0), this.beside?.most ?? 0) || 1;
			this.bars(g, width, most);
			this.beside?.draw(g, width, this.tall, (this.tall - 4) / most);
			this.axis(g, width);
			this.resident?.legend(this.beside !== null, (0, units_5.bytes)(most));
		}
		bars(g, width, most) {
			const { slices, slice_ns, span_ns } = this.m.p, { from, to } = this.m.choice;
			const per = width * slice_ns / span_ns;
			for (let s = 0; s < slices;) {
				const x = Math.floor(s * per);
				let end = s + 1, top = this.sums[s];
				for (; end < slices && Math.floor(end * per) === x; end++)
					top = Math.max(top, this.sums[end]);
				g.fillStyle = (0, theme_4.colour)(s >= from && s < to ? "ink2" : "axis");
				const tall = top / most * (this.tall - 4);
				const wide = Math.min(width, end * per) - s * per;
				g.fillRect(s * per, this.tall - tall, Math.max(1, wide - (per > 4 ? 1 : 0)), tall);
				s = end;
			}
		}
		axis(g, width) {
			const span = this.m.p.span_ns, step = (0, units_5.timeStep)(span, width / 110);
			g.fillStyle = (0, theme_4.colour)("axis");
			g.fillRect(0, this.tall, width, 1);
			g.fillStyle = (0, theme_4.colour)("muted");
			g.font = "11px system-ui, sans-serif";
			for (let t = 0; t < span; t += step) {
				const text = (0, units_5.place)(t, step), last = width - g.measureText(text).width;
				g.fillText(text, Math.min(t / span * width + 2, last), this.tall + 12);
			}
		}
		sliceAt(e) {
			const r = this.canvas.getBoundingClientRect(), { slices, slice_ns, span_ns } = this.m.p;
			return Math.max(0, Math.min(slices - 1, Math.floor((e.clientX - r.left) / r.width * span_ns / slice_ns)));
		}
		tell(e) {
			this.beside?.tell((this.sliceAt(e) + 0.5) * this.m.p.slice_ns);
		}
		listen() {
			const c = this.canvas;
			let start = -1;
			c.addEventListener("pointerdown", (e) => {
				start = this.sliceAt(e);
				c.setPointerCapture(e.pointerId);
			});
			c.addEventListener("pointermove", (e) => this.tell(e));
			c.addEventListener("pointerleave", () => this.resident?.forget());
			c.addEventListener("pointerup", (e) => {
				const end = this.sliceAt(e);
				if (start >= 0)
					this.pick(Math.min(start, end), Math.max(start, end) + 1);
				start = -1;
			});
			c.addEventListener("dblclick", () => this.pick(0, this.m.p.slices));
			c.addEventListener("keydown", (e) => {
				const { from, to } = this.m.choice;
				const by = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
				if (by)
					this.pick(from + by, to + by);
				else if (e.key === "Escape")
					this.pick(0, this.m.p.slices);
			});
		}
	}
	exports.Strip = Strip;
});
define("flame/main", ["require", "exports", "report/dom", "report/plain", "report/theme", "report/units", "flame/controls", "flame/data", "flame/graph", "flame/model", "flame/side", "flame/strip"], function (require, exports, dom_11, plain_1, theme_5, units_6, controls_1, data_5, graph_1, model_1, side_1, strip_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	function facts(p) {
		const total = (0, data_5.whole)(p);
		const named = (k) => k.name === k.unit ? "" : ` ${k.name}`;
		const sums = p.shown.map((i) => (0, data_5.amount)(p.kinds[i], total(i)) + named(p.kinds[i]));
		return [...sums, ...p.duration_ns > 0 ? [`over ${(0, units_6.duration)(p.duration_ns)}`] : [],
			...p.start_ns > 0 ? [(0, units_6.moment)(p.start_ns)] : [],
			...p.sampling === null ? [] : [p.sampling]].join(" · ");
	}
	function header(p) {
		const key = p.before < 0 ? null : (0, dom_11.h)("p", { class: "key" }, (0, dom_11.h)("i", { class: "less-now" }), "less than before", (0, dom_11.h)("i", { class: "more-now" }), "more than before");
		return (0, dom_11.h)("header", {}, (0, dom_11.h)("div", { class: "title" }, (0, dom_11.h)("h1", {}, p.title ?? "Flame graph"), (0, dom_11.h)("span", { class: "grow" }), (0, theme_5.themeSwitch)()), (0, dom_11.h)("p", { class: "facts" }, facts(p)), key);
	}
	void (0, plain_1.begin)(async (packed, page) => {
		const p = await (0, data_5.unpack)(packed), m = new model_1.Model(p);
		(0, theme_5.startTheme)();
		const graph = new graph_1.Graph(m);
		const side = new side_1.Side(m, (frame) => {
			m.choose(frame);
			graph.zoomFrame(frame);
		});
		const strip = p.slice_ns > 0 && p.slices > 1 ? [new strip_1.Strip(m).root] : [];
		const picture = (0, dom_11.h)("section", { id: "flame" }, new controls_1.Controls(m, graph).root, graph.root);
		page.append(header(p), ...strip, (0, dom_11.h)("main", {}, picture, side.root));
		await new Promise((done) => {
			m.onTree(done);
			m.grow();
		});
	});
});
