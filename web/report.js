/* generated from web/report/ by tools/page.py; do not edit */
/* The modules below, in the order in which they were written; the last one starts the page. */
"use strict";
const modules = {};
function define(name, needs, make) {
    const exports = {};
    make(...needs.map((n) => n === "require" ? null : n === "exports" ? exports : modules[n]));
    modules[name] = exports;
}
define("inflate", ["require", "exports"], function (require, exports) {
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
define("data", ["require", "exports", "inflate"], function (require, exports, inflate_1) {
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
define("dom", ["require", "exports"], function (require, exports) {
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
define("tables", ["require", "exports", "dom"], function (require, exports, dom_1) {
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
			this.root = (0, dom_1.h)("div", { class: "table" });
			this.body = (0, dom_1.h)("tbody");
			this.order = Array.from({ length: n }, (_, i) => i);
			this.shown = n <= first + 5 ? n : first;
			this.heads = columns.map((c, k) => this.head(c, k));
			const table = (0, dom_1.h)("table", { class: "sorted" }, (0, dom_1.h)("thead", {}, (0, dom_1.h)("tr", {}, ...this.heads)), this.body);
			this.root.append((0, dom_1.h)("div", { class: "wide" }, table));
			this.sort();
		}
		head(c, k) {
			const b = (0, dom_1.h)("button", { type: "button", title: c.help }, c.title);
			b.addEventListener("click", () => {
				this.down = this.by === k ? !this.down : c.numeric ?? false;
				this.by = k;
				this.sort();
			});
			return (0, dom_1.h)("th", { scope: "col", class: c.numeric ? "num" : c.className }, b);
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
			const rows = this.order.slice(0, this.shown).map((i) => (0, dom_1.h)("tr", {}, ...this.columns.map((c) => (0, dom_1.h)("td", { class: classOf(c) }, c.show(i)))));
			this.body.replaceChildren(...rows);
			this.root.querySelector(".more")?.remove();
			const left = this.order.length - this.shown;
			if (left <= 0)
				return;
			const b = (0, dom_1.h)("button", { type: "button", class: "more" }, `Show ${Math.min(left, MORE)} more of ${this.order.length}`);
			b.addEventListener("click", () => {
				this.shown += MORE;
				this.fill();
			});
			this.root.append(b);
		}
	}
	exports.Table = Table;
});
define("units", ["require", "exports"], function (require, exports) {
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
define("capacity", ["require", "exports", "dom", "tables", "units"], function (require, exports, dom_2, tables_1, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.capacitySection = void 0;
	const HEIGHT = 260, LEFT = 70, TOP = 12, BOTTOM = 30;
	const SVG = new DOMParser().parseFromString("<svg>", "text/html").body
		.firstElementChild?.namespaceURI ?? null;
	function svg(tag, attributes, text = "") {
		const e = document.createElementNS(SVG, tag);
		for (const [name, value] of Object.entries(attributes))
			e.setAttribute(name, String(value));
		e.textContent = text;
		return e;
	}
	class Curve {
		constructor(width, right, top) {
			this.width = width;
			this.right = right;
			this.top = top;
			this.root = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
				"aria-label": "answers a second over requests under way" });
			this.label(LEFT - 8, this.y(top) + 4, units.count(top), "end");
			this.label(LEFT - 8, this.y(0), "0", "end");
			this.label(this.width - 10, HEIGHT - 8, `${units.number(right)} under way`, "end");
			this.line(`M${LEFT} ${this.y(top)}V${this.y(0)}H${this.width - 10}`, { opacity: 0.5 });
		}
		x(n) {
			return LEFT + n / this.right * (this.width - LEFT - 10);
		}
		y(rate) {
			return TOP + (1 - rate / this.top) * (HEIGHT - TOP - BOTTOM);
		}
		label(x, y, text, anchor) {
			this.root.append(svg("text", { x, y, "text-anchor": anchor, fill: "currentColor",
				"font-size": 12 }, text));
		}
		line(d, more) {
			this.root.append(svg("path", { d, fill: "none", stroke: "currentColor", ...more }));
		}
		law(l) {
			const at = (n) => l.lambda.value * n /
				(1 + l.sigma.value * (n - 1) + l.kappa.value * n * (n - 1));
			const points = Array.from({ length: 120 }, (_, i) => (i + 1) / 120 * this.right)
				.filter((n) => at(n) >= 0 && at(n) <= this.top);
			const d = points.map((n, i) => `${i ? "L" : "M"}${this.x(n)} ${this.y(at(n))}`).join("");
			this.line(d, { "stroke-dasharray": "4 4", opacity: 0.7 });
		}
		probe(p) {
			const dot = svg("circle", { cx: this.x(p.under_way ?? 0), cy: this.y(p.rate ?? 0), r: 5,
				fill: p.verdict === "keeps" ? "currentColor" : "none", stroke: "currentColor" });
			dot.append(svg("title", {}, `${units.count(p.amount)}: ${word(p)}`));
			this.root.append(dot);
		}
	}
	function word(p) {
		const held = p.held ? "held: " : "";
		return p.verdict === "invalid" ? `${held}${p.verdict}${p.invalid ? `: ${p.invalid}` : ""}`
			: `${held}${p.verdict}${p.sure ? "" : "?"} ${p.missed ?? ""}`;
	}
	function draw(c, seen, width) {
		const right = Math.max(0, ...seen.map((p) => p.under_way ?? 0));
		const top = Math.max(0, ...seen.map((p) => p.rate ?? 0)) * 1.1;
		const picture = new Curve(width, right, top);
		if (c.law)
			picture.law(c.law);
		seen.forEach((p) => picture.probe(p));
		return picture.root;
	}
	function curve(c) {
		const seen = c.probes.filter((p) => p.verdict !== "invalid" && p.rate && p.under_way);
		if (!seen.length)
			return [];
		const room = (0, dom_2.h)("div", { class: "curve" });
		new ResizeObserver(() => {
			if (room.clientWidth)
				room.replaceChildren(draw(c, seen, room.clientWidth));
		}).observe(room);
		return [room];
	}
	function sentences(c) {
		const unit = ` ${c.unit ?? (c.by === "rate" ? "requests/s" : "requests at once")}`;
		const least = c.end === "held" ? "" : "at least ";
		const amount = c.capacity === null ? "unknown" : `${least}${units.count(c.capacity)}${unit}`;
		const parts = [amount, c.reason];
		if (c.too_much !== null)
			parts.push(`${units.count(c.too_much)} is too much`);
		if (c.law && c.law.peak_under_way)
			parts.push("by the law the peak is at " +
				`${units.number(c.law.peak_under_way.value)} under way`);
		if (c.limited_by)
			parts.push(`limited by ${c.limited_by.function}, ` +
				`${units.percent(c.limited_by.share)} of its time`);
		else if (c.limit_unknown)
			parts.push(`what limits it is unknown: ${c.limit_unknown}`);
		return `${parts.join("; ")}.`;
	}
	function table(probes) {
		const number = (title, of, show) => ({ title, numeric: true, sort: (i) => of(probes[i]) ?? NaN,
			show: (i) => show(of(probes[i])) });
		const columns = [
			number("tried", (p) => p.amount, units.count),
			number("answers/s", (p) => p.rate, units.count),
			number("under way", (p) => p.under_way, units.number),
			number("p50", (p) => p.p50_ms, units.ms), number("p99", (p) => p.p99_ms, units.ms),
			number("errors", (p) => p.errors, units.percent),
			{ title: "verdict", sort: (i) => probes[i].verdict, show: (i) => word(probes[i]) }
		];
		return new tables_1.Table(columns, probes.length, 0, false, 48).root;
	}
	function capacitySection(data) {
		const c = data.run.load?.climb;
		if (!c)
			return [];
		return [(0, dom_2.h)("section", { id: "capacity" }, (0, dom_2.h)("h2", {}, "Capacity"), (0, dom_2.h)("p", {}, sentences(c)), ...curve(c), table(c.probes))];
	}
	exports.capacitySection = capacitySection;
});
define("flow", ["require", "exports", "dom", "tables", "units"], function (require, exports, dom_3, tables_2, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.flowSection = void 0;
	function column(rows, title, of, show, help) {
		return { title, help, numeric: true, sort: (i) => of(rows[i]) ?? NaN,
			show: (i) => show(of(rows[i])) };
	}
	function text(rows, title, of) {
		return { title, sort: (i) => of(rows[i]), show: (i) => of(rows[i]) };
	}
	function errors(s) {
		const kinds = Object.entries(s.errors).map(([kind, n]) => `${kind} ${units.count(n)}`);
		return (0, dom_3.h)("span", { title: kinds.join(", ") || undefined }, units.count(s.failed));
	}
	function failures(s) {
		return s.checks.length ? s.checks.reduce((sum, c) => sum + c.failed, 0) : null;
	}
	function checked(s) {
		const failed = failures(s), passed = s.checks.reduce((sum, c) => sum + c.passed, 0);
		if (failed === null || !(passed + failed))
			return units.UNKNOWN;
		return failed ? `${units.count(failed)} of ${units.count(passed + failed)} failed`
			: `${units.count(passed)} passed`;
	}
	function stepTable(l, steps) {
		const time = (title, key) => column(steps, title, (s) => s.latency_ms[key], units.ms, "from when it was due");
		const columns = [
			text(steps, "step", (s) => s.name),
			column(steps, "requests", (s) => s.requests, units.count, "measured, however they ended"),
			{ title: "errors", numeric: true, sort: (i) => steps[i].failed,
				show: (i) => errors(steps[i]) },
			...l.good ? [column(steps, "good", (s) => s.goodput, units.percent, "answers that kept to all bounds")] : [],
			time("p50", "p50"), time("p90", "p90"), time("p99", "p99"), time("max", "max"),
			...steps.some((s) => s.checks.length) ? [{ title: "checks", numeric: true,
					sort: (i) => failures(steps[i]) ?? NaN,
					show: (i) => checked(steps[i]) }] : []
		];
		return new tables_2.Table(columns, steps.length, -1, false, steps.length).root;
	}
	function checkTable(steps) {
		const all = steps.flatMap((s) => s.checks.map((c) => ({ step: s.name, ...c })));
		if (!all.length)
			return [];
		const columns = [text(all, "check", (c) => c.name), text(all, "step", (c) => c.step),
			column(all, "passed", (c) => c.passed, units.count),
			column(all, "failed", (c) => c.failed, units.count)];
		const failing = all.some((c) => c.failed);
		return [(0, dom_3.h)("h3", {}, "Checks"), new tables_2.Table(columns, all.length, failing ? 3 : -1).root];
	}
	function sentence(s) {
		const parts = [`${units.some(s.ended, "session")} ended`];
		if (s.ended)
			parts.push(`p50 ${units.ms(s.duration_ms.p50)}`, `p99 ${units.ms(s.duration_ms.p99)}`);
		if (s.broken)
			parts.push(`${units.count(s.broken)} broke off`);
		if (s.unfinished)
			parts.push(`${units.count(s.unfinished)} at work at the end`);
		return parts.join(" · ");
	}
	function flowSection(data) {
		const l = data.run.load, steps = l?.steps ?? [];
		if (!l || !steps.length)
			return [];
		return [(0, dom_3.h)("section", { id: "steps" }, (0, dom_3.h)("h2", {}, "Steps"), l.sessions ? (0, dom_3.h)("p", {}, sentence(l.sessions)) : null, stepTable(l, steps), ...checkTable(steps))];
	}
	exports.flowSection = flowSection;
});
define("theme", ["require", "exports", "dom"], function (require, exports, dom_4) {
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
		const select = (0, dom_4.h)("select", { id: "theme", "aria-label": "Colours" }, (0, dom_4.h)("option", { value: "auto" }, "System colours"), (0, dom_4.h)("option", { value: "light" }, "Light"), (0, dom_4.h)("option", { value: "dark" }, "Dark"));
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
define("head", ["require", "exports", "dom", "theme", "units"], function (require, exports, dom_5, theme_1, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.headline = exports.fewTicks = exports.provenance = exports.verdict = exports.header = exports.shell = void 0;
	const MARKS = { success: "✔", failed: "✘", timeout: "⏱", running: "▶",
		error: "✘", interrupted: "◼" };
	function inVain(data) {
		const { load, verdict: v, outcome: { status } } = data.run;
		if (!load || !["success", "failed"].includes(status))
			return "";
		if (v && v.kind.startsWith("invalid"))
			return "INVALID";
		if (status === "failed" && !load.climb)
			return "";
		const missed = load.climb ? ["none", "unheld"].includes(load.climb.end)
			: load.thresholds.some((t) => !t.ok);
		return missed ? "threshold missed" : "";
	}
	function outcome(data) {
		const { status, exit_code, signal_name } = data.run.outcome;
		if (inVain(data))
			return inVain(data);
		if (signal_name)
			return `${status}, ${signal_name}`;
		return status === "failed" && exit_code !== null ? `${status}, exit ${exit_code}` : status;
	}
	function shell(words) {
		return words.map((w) => /^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replace(/'/g, "'\\''")}'`)
			.join(" ");
	}
	exports.shell = shell;
	function header(data) {
		const { identity } = data.run;
		const status = inVain(data) ? "failed" : data.run.outcome.status;
		const good = status === "success" ? "good" : status === "running" ? "live" : "bad";
		return (0, dom_5.h)("header", {}, (0, dom_5.h)("div", { class: "title" }, (0, dom_5.h)("h1", {}, identity.name ?? identity.id), (0, dom_5.h)("span", { class: `status ${good}` }, `${MARKS[status] ?? ""} ${outcome(data)}`), (0, dom_5.h)("span", { class: "grow" }), (0, theme_1.themeSwitch)()), (0, dom_5.h)("p", { class: "command" }, shell(identity.command) ||
			(identity.target !== null ? `process ${identity.target}` : "")), (0, dom_5.h)("p", { class: "facts" }, facts(data).join(" · ")));
	}
	exports.header = header;
	function facts(data) {
		const { identity: who } = data.run;
		const cpus = who.cpus ? units.some(who.cpus, "CPU") : "", memory = who.memory_bytes
			? `${units.bytes(who.memory_bytes)} memory` : "";
		return [units.moment(who.start_ns), who.host ? `on ${who.host}` : "",
			who.user ? `as ${who.user}` : "", cpus, memory, who.id]
			.filter((x) => x !== "");
	}
	function sure(confidence) {
		if (confidence >= 0.8)
			return "clear";
		return confidence >= 0.5 ? "likely" : confidence > 0 ? "a guess" : "";
	}
	function capital(s) {
		return s.charAt(0).toUpperCase() + s.slice(1);
	}
	function verdict(data) {
		const v = data.run.verdict;
		if (!v)
			return (0, dom_5.h)("section", { id: "verdict" }, (0, dom_5.h)("p", { class: "sentence" }, "Not judged."));
		const how = sure(v.confidence);
		return (0, dom_5.h)("section", { id: "verdict", "data-kind": v.kind }, (0, dom_5.h)("p", { class: "sentence" }, capital(v.sentence), how ? (0, dom_5.h)("small", {}, how) : null), v.advice ? (0, dom_5.h)("p", { class: "advice" }, `→ ${v.advice}`) : null, v.evidence.length ? (0, dom_5.h)("dl", { class: "evidence" }, ...v.evidence.map((e) => (0, dom_5.h)("div", {}, (0, dom_5.h)("dt", {}, e.what), (0, dom_5.h)("dd", {}, e.value)))) : null, troubles(data));
	}
	exports.verdict = verdict;
	function growing(g) {
		const full = g.full_in_seconds === null ? ""
			: `; at this rate all it may use is full in ${units.duration(g.full_in_seconds * 1e9)}`;
		return `Memory grows by ${units.bytes(g.bytes_per_hour)} an hour (95 % sure: ` +
			`${units.bytes(g.low)} to ${units.bytes(g.high)})${full}`;
	}
	function troubles(data) {
		const { totals, outcome: { survivors, unmeasured, error } } = data.run;
		const found = [];
		const say = (key, words) => {
			const v = totals[key]?.value;
			if (v)
				found.push(words(v));
		};
		say("oom_kills", (v) => `${units.count(v)} killed because memory ran out`);
		say("throttled", (v) => `${units.duration(v)} stopped by a CPU quota`);
		say("swap_peak", (v) => `${units.bytes(v)} in swap`);
		say("lost_events", (v) => `${units.count(v)} events lost: short processes may be missing`);
		if (data.run.load?.unasked)
			found.push(`${units.some(data.run.load.unasked, "connection")} left for what the server ` +
				"said there, with no request under way");
		if (data.run.growth?.answer === "grows")
			found.push(growing(data.run.growth));
		if (unmeasured)
			found.push(`${units.some(unmeasured, "child", "children")} of the process not measured`);
		if (survivors)
			found.push(`${units.some(survivors, "process", "processes")} outlived the command`);
		if (error)
			found.push(error);
		return found.length ? (0, dom_5.h)("ul", { class: "troubles" }, ...found.map((f) => (0, dom_5.h)("li", {}, f))) : null;
	}
	function provenance(k) {
		const text = k.provenance === "unavailable" ? k.source || "unavailable"
			: k.provenance === "measured" ? k.source || "measured"
				: `${k.provenance}: ${k.source ?? ""}`;
		return (0, dom_5.h)("p", { class: `how ${k.provenance}`, title: k.provenance }, text);
	}
	exports.provenance = provenance;
	function phrases(...words) {
		const spans = words.filter((w) => w).map((w) => (0, dom_5.h)("span", {}, w));
		return (0, dom_5.h)("p", { class: "phrases" }, ...spans);
	}
	function tile(t) {
		const lines = t.value === units.UNKNOWN ? [] : t.lines;
		return (0, dom_5.h)("div", { class: "tile" }, (0, dom_5.h)("h3", {}, t.title), (0, dom_5.h)("p", { class: "figure" }, t.value), ...lines.map((l) => typeof l === "string" ? l ? (0, dom_5.h)("p", {}, l) : null : l), t.known ? provenance(t.known) : null);
	}
	function split(user, system) {
		if (user === null || system === null || user + system <= 0)
			return null;
		const bar = (0, dom_5.h)("div", { class: "split", title: "user and system" }, (0, dom_5.h)("i", { class: "ink1" }), (0, dom_5.h)("i", { class: "ink2" }));
		bar.firstChild.style.flexGrow = String(user / (user + system));
		bar.lastChild.style.flexGrow = String(system / (user + system));
		return bar;
	}
	const FEW_TICKS = "ticks, for which processes were too short";
	function fewTicks({ cpu_user, cpu_system }) {
		const user = cpu_user.value, system = cpu_system.value;
		return cpu_user.source === FEW_TICKS || user !== null && system !== null &&
			(user === 0) !== (system === 0) && user + system < 1e8;
	}
	exports.fewTicks = fewTicks;
	function parts(totals) {
		const user = totals.cpu_user.value, system = totals.cpu_system.value;
		if (fewTicks(totals))
			return ["too short to tell user from system time"];
		return [split(user, system),
			phrases(`user ${units.duration(user)}`, `system ${units.duration(system)}`)];
	}
	function cpuTile(data) {
		const { totals, outcome: { duration_ns: life }, identity: { cpus } } = data.run;
		const cpu = totals.cpu.value;
		const share = cpu !== null && life ? cpu / life : null;
		return { title: "CPU time", value: units.duration(cpu), known: totals.cpu, lines: [
				...parts(totals),
				share === null ? "" : phrases(`${units.percent(share)} of one core`, cpus && cpus > 1 ? `${units.percent(share / cpus)} of ${cpus}` : "")
			] };
	}
	function memoryTile(data) {
		const { totals, identity: { memory_bytes: all } } = data.run;
		const peak = totals.memory_peak.value, upper = totals.memory_peak_upper.value;
		const one = totals.memory_peak_process.value;
		const files = one !== null && upper !== null && one > upper ? " with mapped files" : "";
		return { title: "Memory peak", value: units.bytes(peak), known: totals.memory_peak, lines: [
				`upper bound ${units.bytes(upper)}`,
				`largest process ${units.bytes(one)}${files}`,
				peak !== null && all ? `${units.percent(peak / all)} of the ${units.bytes(all)} it may use`
					: ""
			] };
	}
	function add(a, b) {
		return a === null || b === null ? a ?? b : a + b;
	}
	function diskTile(data) {
		const { totals: t } = data.run;
		return { title: "Disk I/O", value: units.bytes(add(t.io_read.value, t.io_write.value)),
			known: t.io_read, lines: [
				phrases(`read ${units.bytes(t.io_read.value)}`, `written ${units.bytes(t.io_write.value)}`),
				phrases("through calls", `read ${units.bytes(t.io_read_calls_bytes.value)}`, `written ${units.bytes(t.io_write_calls_bytes.value)}`)
			] };
	}
	function processTile(data) {
		const { totals, metrics } = data.run;
		const most = metrics["job.processes"]?.max ?? null;
		const threads = metrics["job.threads"]?.max ?? null;
		return { title: "Processes", value: units.count(totals.processes.value), known: totals.processes,
			lines: [most === null ? "" : `at most ${units.count(most)} at a time`,
				threads === null ? "" : `at most ${units.some(threads, "thread")}`] };
	}
	function timeTile(data) {
		const { outcome: { duration_ns }, totals, self } = data.run;
		const wait = totals.cpu_wait?.value ?? null;
		return { title: "Time", value: units.duration(duration_ns), lines: [
				wait === null ? "" : `${units.duration(wait)} ready, waiting for a CPU`,
				self.samples ? units.some(self.samples, "sample") : "totals only, no samples"
			] };
	}
	function networkTile(data) {
		const mine = Object.entries(data.run.totals).filter(([k]) => /^net/.test(k));
		const bytes = mine.filter(([, t]) => t.unit === "bytes" && t.value !== null);
		const sum = bytes.reduce((n, [, t]) => n + (t.value ?? 0), 0);
		if (!sum)
			return [];
		const name = (k) => data.totals[k]?.title ?? k;
		const say = ([k, t]) => `${name(k)} ${units.inUnit(t.unit, t.value)}`;
		return [{ title: "Network", value: units.bytes(sum), known: bytes[0][1],
				lines: [phrases(...bytes.slice(0, 2).map(say))] }];
	}
	function requestsTile(l) {
		const missed = l.thresholds.filter((t) => !t.ok).map((t) => t.expr);
		const unit = l.rate_unit === "sessions/s" ? " sessions/s" : "/s";
		const asked = l.rate_asked ? `${units.number(l.rate_asked)}${unit} asked for` : "";
		return { title: "Requests", value: units.count(l.requests), lines: [
				phrases(`${units.number(l.rate)}/s`, asked),
				l.failed ? `${units.count(l.failed)} failed` : "none failed",
				missed.length ? `missed: ${missed.join(", ")}` : ""
			] };
	}
	function latencyTile(l) {
		const { ms } = units, { p50, p90, p99, p999, max } = l.latency_ms;
		return { title: "Latency, p99", value: ms(p99), lines: [
				phrases(`p50 ${ms(p50)}`, `p90 ${ms(p90)}`),
				phrases(`p99.9 ${ms(p999)}`, `max ${ms(max)}`),
				`on the wire, p99 ${ms(l.wire_ms.p99)}`
			] };
	}
	function loadTiles(l) {
		return l ? [requestsTile(l), latencyTile(l)] : [];
	}
	function headline(data) {
		const tiles = [timeTile(data), ...loadTiles(data.run.load), cpuTile(data), memoryTile(data),
			diskTile(data), ...networkTile(data), processTile(data)];
		return (0, dom_5.h)("section", { id: "used", "aria-label": "What it used" }, ...tiles.map(tile));
	}
	exports.headline = headline;
});
define("heap", ["require", "exports", "dom", "tables", "units"], function (require, exports, dom_6, tables_3, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.heapSection = void 0;
	function amount(bytes, spread) {
		return spread === null ? units.bytes(bytes) : `${units.bytes(bytes)} ± ${units.bytes(spread)}`;
	}
	function sentences(p) {
		const when = p.peak_at_ns === null ? "" : `, ${units.duration(p.peak_at_ns)} after the start`;
		return [`Peak ${amount(p.peak_bytes, p.peak_bytes_95)}${when}; allocated ` +
				`${amount(p.total_allocated_bytes, p.total_allocated_bytes_95)} in ` +
				`${units.some(p.total_allocations, "allocation")}; left at the end ` +
				`${amount(p.leaked_bytes, p.leaked_bytes_95)} in ${units.count(p.leaked_allocations)}.`,
			...p.complete ? [] : ["Not all is in the capture."],
			`The capture: ${p.capture}`];
	}
	function place(o) {
		return o.line === null ? o.file ?? "" : `${o.file}:${o.line}`;
	}
	function table(owners) {
		const columns = [
			{ title: "at the peak", numeric: true, sort: (i) => owners[i].bytes,
				show: (i) => amount(owners[i].bytes, owners[i].bytes_95) },
			{ title: "function", sort: (i) => owners[i].function ?? "",
				show: (i) => owners[i].function ?? "(no stack)" },
			{ title: "where", sort: (i) => place(owners[i]), show: (i) => place(owners[i]) }
		];
		return new tables_3.Table(columns, owners.length, 0, true, owners.length).root;
	}
	function heapSection(data) {
		const p = data.run.heap;
		if (!p)
			return [];
		return [(0, dom_6.h)("section", { id: "heap" }, (0, dom_6.h)("h2", {}, "Memory that it allocated"), ...sentences(p).map((text) => (0, dom_6.h)("p", {}, text)), ...p.peak_by_line.length ? [table(p.peak_by_line)] : [])];
	}
	exports.heapSection = heapSection;
});
define("lists", ["require", "exports", "data", "dom", "tables", "units"], function (require, exports, data_1, dom_7, tables_4, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.lists = void 0;
	function capital(s) {
		return s.charAt(0).toUpperCase() + s.slice(1);
	}
	function uncapital(s) {
		return s.charAt(0).toLowerCase() + s.slice(1);
	}
	const TCP_STATES = ["", "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2",
		"time-wait", "closed", "close-wait", "last-ack", "listen", "closing", "syn-recv"];
	const SAID = {
		"socket.protocol": (v) => v === 6 ? "tcp" : v === 17 ? "udp" : String(v),
		"socket.accepted": (v) => v ? "yes" : "no",
		"socket.local_port": String,
		"socket.peer_port": String,
		"socket.state": (v) => TCP_STATES[v] || units.UNKNOWN,
	};
	function shown(f, v) {
		const say = SAID[f.key];
		return !say ? units.inUnit(f.unit, v) : v === null ? units.UNKNOWN : say(v);
	}
	function metricColumns(data, c) {
		return Object.keys(c.metrics)
			.map((key) => data.fields.get(key))
			.filter((f) => f !== undefined && c.metrics[f.key].some((v) => v))
			.map((f) => ({
			title: f.kind === "gauge" && !SAID[f.key] ? `${f.title}, max` : f.title,
			help: `${f.help}\n${f.provenance}${f.source ? `: ${f.source}` : ""}`,
			numeric: true,
			key: f.key,
			sort: (i) => c.metrics[f.key][i] ?? NaN,
			show: (i) => shown(f, c.metrics[f.key][i]),
		}));
	}
	function text(title, of, long = false) {
		return { title, long, sort: of, show: of };
	}
	function owners(data, scope, c) {
		const p = (0, data_1.instances)(data, "process");
		if (!p || scope.name !== "thread")
			return [];
		const index = new Map(p.id.map((id, i) => [id, i]));
		return [text("process", (i) => {
				const at = c.parent[i] === null ? undefined : index.get(c.parent[i]);
				return at === undefined ? units.UNKNOWN : `${p.name[at] || "?"} (${p.key[at]})`;
			})];
	}
	function lives(c) {
		if (c.born_ns.every((b) => !b))
			return [];
		return [{ title: "began", numeric: true, sort: (i) => c.born_ns[i] ?? NaN,
				show: (i) => units.duration(c.born_ns[i]) }];
	}
	function columnsOf(data, scope, c) {
		const key = { title: scope.number ?? "", numeric: true, sort: (i) => c.key[i],
			show: (i) => String(c.key[i]) };
		const names = c.name.some((n) => n) ? [text("name", (i) => c.name[i] || units.UNKNOWN)] : [];
		const details = c.detail.some((d) => d)
			? [text(scope.detail ?? "", (i) => c.detail[i] ?? "", true)] : [];
		const said = !scope.number || scope.number === "order" ||
			c.name.every((n, i) => n?.endsWith(String(c.key[i])));
		return [...names, ...said ? [] : [key], ...owners(data, scope, c), ...metricColumns(data, c),
			...lives(c), ...details];
	}
	function lists(data) {
		const made = [];
		const order = [...data.scopes].sort((a, b) => +(a.name === "core") - +(b.name === "core"));
		for (const scope of order) {
			const c = scope.single || scope.name === "process" ? null : (0, data_1.instances)(data, scope.name);
			if (!c || !Object.keys(c.metrics).length)
				continue;
			const columns = columnsOf(data, scope, c);
			const by = columns.findIndex((x) => x.key === scope.rank);
			made.push((0, dom_7.h)("section", { id: scope.plural, "data-short": capital(scope.plural) }, (0, dom_7.h)("h2", {}, capital(scope.plural), (0, dom_7.h)("small", {}, uncapital(scope.title))), new tables_4.Table(columns, c.id.length, scope.name === "core" ? -1 : by).root));
		}
		return made;
	}
	exports.lists = lists;
});
define("numbers", ["require", "exports", "dom", "head", "tables", "units"], function (require, exports, dom_8, head_1, tables_5, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.about = exports.numbers = void 0;
	function text(title, of, long = false) {
		return { title, long, sort: of, show: of };
	}
	function fold(title, count, ...body) {
		return (0, dom_8.h)("details", {}, (0, dom_8.h)("summary", {}, title, (0, dom_8.h)("small", {}, String(count))), ...body);
	}
	function totals(data) {
		const rows = Object.entries(data.run.totals).map(([key, t]) => ({ ...data.totals[key], ...t }));
		return fold("Totals", rows.length, new tables_5.Table([
			text("total", (i) => rows[i].title),
			{ title: "value", numeric: true, sort: (i) => rows[i].value ?? NaN,
				show: (i) => units.inUnit(rows[i].unit, rows[i].value) },
			text("known", (i) => rows[i].provenance),
			text("from, or why not", (i) => rows[i].source ?? ""),
			text("meaning", (i) => rows[i].help, true)
		], rows.length, -1, false, 99).root);
	}
	function unitOf(unit, kind) {
		return unit === "ratio" && kind === "counter" ? "share" : unit;
	}
	function metrics(data, scope, title) {
		const rows = Object.entries(data.run.metrics).filter(([k]) => k.startsWith(`${scope}.`));
		if (!rows.length)
			return null;
		const number = (name) => ({ title: name, numeric: true,
			sort: (i) => rows[i][1][name] ?? NaN,
			show: (i) => units.inUnit(unitOf(rows[i][1].unit, rows[i][1].kind), rows[i][1][name]) });
		return fold(title, rows.length, new tables_5.Table([
			text("metric", (i) => rows[i][0].slice(scope.length + 1)), number("mean"), number("min"),
			number("max"), number("last"), text("known", (i) => rows[i][1].provenance),
			text("from, or why not", (i) => rows[i][1].source ?? ""),
			text("meaning", (i) => data.fields.get(rows[i][0])?.help ?? "", true)
		], rows.length, -1, false, 99).root);
	}
	function numbers(data) {
		return (0, dom_8.h)("section", { id: "numbers", "data-short": "Numbers" }, (0, dom_8.h)("h2", {}, "Every number, and how it is known"), totals(data), metrics(data, "load", "The load over time"), metrics(data, "job", "The job over time"), metrics(data, "cgroup", "Its control group"), metrics(data, "system", "The machine"));
	}
	exports.numbers = numbers;
	function pairs(o) {
		return Object.entries(o).map(([k, v]) => `${k}=${v}`).join(", ");
	}
	function rows(list) {
		return (0, dom_8.h)("dl", { class: "facts" }, ...list.filter(([, v]) => v).map(([k, v]) => (0, dom_8.h)("div", {}, (0, dom_8.h)("dt", {}, k), (0, dom_8.h)("dd", {}, v))));
	}
	function about(data) {
		return (0, dom_8.h)("div", { class: "pair" }, identity(data), cost(data));
	}
	exports.about = about;
	function identity(data) {
		const { identity: who, outcome } = data.run;
		const ended = who.start_ns !== null && outcome.duration_ns !== null &&
			outcome.status !== "running" ? units.moment(who.start_ns + outcome.duration_ns) : null;
		return (0, dom_8.h)("section", { id: "identity" }, (0, dom_8.h)("h2", {}, "The run"), rows([
			["id", who.id], ["name", who.name], ["version", who.version], ["kind", who.kind],
			["command", (0, head_1.shell)(who.command)],
			["attached to", who.target === null ? null : `process ${who.target}`],
			["folder", who.cwd], ["git", who.git],
			["labels", pairs(who.labels)], ["parameters", pairs(who.params)],
			["host", who.host], ["user", who.user], ["started", units.moment(who.start_ns)],
			["ended", ended], ["part of", who.parent]
		]));
	}
	function seconds(s) {
		return s === null ? null : s * 1e9;
	}
	function cost(data) {
		const { self, outcome: { duration_ns: life }, version } = data.run;
		const cpu = seconds(self.cpu_seconds);
		const share = cpu !== null && life ? `, ${units.percent(cpu / life)} of one core` : "";
		const late = self.late ? `, ${units.count(self.late)} late` : "";
		const title = (0, dom_8.h)("h2", {}, "What measuring cost");
		return (0, dom_8.h)("section", { id: "cost", "data-short": "Cost" }, title, rows([
			["CPU time", cpu === null ? null : `${units.duration(cpu)}${share}`],
			["memory", units.bytes(self.memory_peak_bytes)],
			["samples", `${units.count(self.samples)}${late}`],
			["every", units.duration(seconds(self.interval_seconds))],
			["by", `assay ${version}`]
		]));
	}
});
define("series", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.weightOf = exports.spread = exports.pointAt = exports.lowerBound = exports.windows = exports.Timeline = exports.shownUnit = void 0;
	const WINDOW = 1e8;
	function shownUnit(f) {
		if (f.kind === "gauge")
			return f.unit;
		return f.unit === "ns" ? "share" : `${f.unit}/s`;
	}
	exports.shownUnit = shownUnit;
	function perShown(f) {
		return f.unit === "ns" ? 1 : 1e9;
	}
	class Timeline {
		constructor(data) {
			this.data = data;
		}
		has(key) {
			return this.data.run.timeline.columns[key]?.some((v) => v !== null) ?? false;
		}
		line(key) {
			const f = this.data.fields.get(key);
			const { t_ns, columns } = this.data.run.timeline;
			const at = this.data.points[f.scope] ?? [];
			const t = at.map((i) => t_ns[i]), v = at.map((i) => columns[key][i]);
			return f.kind === "counter" ? this.rates(f, t, v) : this.levels(f, t, v, at);
		}
		levels(f, t, v, at) {
			const { min, max } = this.data.run.timeline;
			const pick = (c) => c ? Float64Array.from(at, (i) => c[i] ?? NaN) : null;
			const moments = Float64Array.from(t);
			return { key: f.key, unit: shownUnit(f), steps: false, from: moments, to: moments,
				v: Float64Array.from(v, (x) => x ?? NaN), lo: pick(min?.[f.key]),
				hi: pick(max?.[f.key]) };
		}
		rates(f, t, v) {
			const w = windows(t, v);
			const scale = perShown(f);
			return { key: f.key, unit: shownUnit(f), steps: true,
				from: Float64Array.from(w, (x) => x.t0), to: Float64Array.from(w, (x) => x.t1),
				v: Float64Array.from(w, (x) => (x.v1 - x.v0) / (x.t1 - x.t0) * scale),
				lo: null, hi: null };
		}
	}
	exports.Timeline = Timeline;
	function cut(t, v) {
		const done = [];
		let open = null;
		for (let i = 0; i < t.length; i++) {
			open ?? (open = { t0: t[i], t1: t[i], v0: v[i], v1: v[i] });
			open.t1 = t[i];
			open.v1 = v[i];
			if (open.t1 - open.t0 >= WINDOW) {
				done.push(open);
				open = { t0: t[i], t1: t[i], v0: v[i], v1: v[i] };
			}
		}
		if (open && open.t1 > open.t0 && done.length) {
			done[done.length - 1].t1 = open.t1;
			done[done.length - 1].v1 = open.v1;
		}
		else if (open && open.t1 > open.t0) {
			done.push(open);
		}
		return done;
	}
	function windows(t, v) {
		const all = [];
		let ts = [], vs = [];
		const flush = () => {
			all.push(...cut(ts, vs));
			ts = [];
			vs = [];
		};
		v.forEach((x, i) => {
			if (x === null) {
				flush();
			}
			else {
				ts.push(t[i]);
				vs.push(x);
			}
		});
		flush();
		return all;
	}
	exports.windows = windows;
	function lowerBound(a, x) {
		let lo = 0, hi = a.length;
		while (lo < hi) {
			const mid = lo + hi >> 1;
			if (a[mid] < x)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}
	exports.lowerBound = lowerBound;
	function pointAt(line, x) {
		const i = lowerBound(line.to, x);
		if (line.steps)
			return i < line.to.length && line.from[i] <= x ? i : -1;
		if (i === 0)
			return line.to.length ? 0 : -1;
		return i === line.to.length || x - line.to[i - 1] < line.to[i] - x ? i - 1 : i;
	}
	exports.pointAt = pointAt;
	function spread(line, t0, t1) {
		let area = 0, weight = 0, max = NaN;
		for (let i = 0; i < line.v.length; i++) {
			if (line.to[i] < t0 || line.from[i] > t1 || Number.isNaN(line.v[i]))
				continue;
			const top = line.hi && !Number.isNaN(line.hi[i]) ? line.hi[i] : line.v[i];
			max = max >= top ? max : top;
			const w = weightOf(line, i, t0, t1);
			area += line.v[i] * w;
			weight += w;
		}
		return { mean: weight > 0 ? area / weight : max, max };
	}
	exports.spread = spread;
	function weightOf(line, i, t0, t1) {
		if (line.steps)
			return Math.min(line.to[i], t1) - Math.max(line.from[i], t0);
		const before = i ? (line.to[i - 1] + line.to[i]) / 2 : line.to[i];
		const after = i + 1 < line.to.length ? (line.to[i] + line.to[i + 1]) / 2 : line.to[i];
		return Math.max(0, Math.min(after, t1) - Math.max(before, t0));
	}
	exports.weightOf = weightOf;
});
define("plots", ["require", "exports", "head", "series", "units"], function (require, exports, head_2, series_1, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Plots = void 0;
	const RECIPES = [
		{ title: "Requests", note: "a second", wishes: [
				{ keys: ["load.requests"], name: "ended", always: true },
				{ keys: ["load.errors"], name: "failed" }
			] },
		{ title: "Latency", note: "from when a request was due", wishes: [
				{ keys: ["load.latency.p50"], name: "p50", always: true },
				{ keys: ["load.latency.p99"], name: "p99", always: true },
				{ keys: ["load.latency.max"], name: "max" }
			] },
		{ title: "On the wire", note: "from when it was sent", wishes: [
				{ keys: ["load.wire.p50"], name: "p50" },
				{ keys: ["load.wire.p99"], name: "p99" }
			], later: true },
		{ title: "Under way", note: "sent, and not answered yet", wishes: [
				{ keys: ["load.under_way"], name: "requests" }
			], later: true },
		{ title: "Generator", note: "100 % is one core", wishes: [
				{ keys: ["load.generator.cpu"], name: "CPU" }
			], later: true },
		{ title: "CPU", note: "100 % is one core", stacked: true, limit: "cpus", wishes: [
				{ keys: ["job.cpu.user", "cgroup.cpu.user"], name: "user", always: true },
				{ keys: ["job.cpu.system", "cgroup.cpu.system"], name: "system", always: true }
			],
			total: "job.cpu.total", covers: ["cgroup.cpu.total"] },
		{ title: "Memory", note: "in use", limit: "memory", wishes: [
				{ keys: ["job.memory.used", "cgroup.memory.anonymous"], name: "used", always: true },
				{ keys: ["job.memory.pss"], name: "proportional" },
				{ keys: ["job.memory.rss_sum"], name: "resident, sum" },
				{ keys: ["job.memory.swap", "cgroup.memory.swap"], name: "swap" }
			] },
		{ title: "Disk", note: "from, and meant for, a disk", wishes: [
				{ keys: ["job.io.read", "cgroup.io.read"], name: "read" },
				{ keys: ["job.io.write", "cgroup.io.write"], name: "written" }
			] },
		{ title: "Network", note: "of the job", wishes: [
				{ keys: ["job.net.received", "job.network.received", "job.net.rx"], name: "received" },
				{ keys: ["job.net.sent", "job.network.sent", "job.net.tx"], name: "sent" }
			] },
		{ title: "Sockets", note: "open", wishes: [
				{ keys: ["job.net.sockets"], name: "TCP and UDP" },
				{ keys: ["job.net.unix"], name: "local" }
			], later: true },
		{ title: "Connections", note: "a second", wishes: [
				{ keys: ["job.net.connections"], name: "opened" },
				{ keys: ["job.net.retransmits"], name: "sent again" }
			], later: true },
		{ title: "Processes", note: "alive", wishes: [
				{ keys: ["job.processes"], name: "processes", always: true },
				{ keys: ["job.threads"], name: "threads" }
			] },
		{ title: "Waiting", note: "100 % is one thread all the time", wishes: [
				{ keys: ["job.cpu.wait"], name: "for a CPU" },
				{ keys: ["cgroup.cpu.throttled"], name: "throttled" },
				{ keys: ["cgroup.psi.io", "system.psi.io"], name: "for I/O" },
				{ keys: ["cgroup.psi.memory", "system.psi.memory"], name: "for memory" }
			] },
		{ title: "Through calls", note: "cache, pipes and sockets too", wishes: [
				{ keys: ["job.io.read_calls_bytes"], name: "read" },
				{ keys: ["job.io.write_calls_bytes"], name: "written" }
			], later: true },
		{ title: "Calls", note: "a second", wishes: [
				{ keys: ["job.io.read_calls"], name: "read" },
				{ keys: ["job.io.write_calls"], name: "write" }
			], later: true },
		{ title: "Address space", note: "asked for, used or not", wishes: [
				{ keys: ["job.memory.vms"], name: "all processes" }
			], later: true },
		{ title: "Machine CPU", note: "all cores", stacked: true, limit: "cores", wishes: [
				{ keys: ["system.cpu.user"], name: "user", always: true },
				{ keys: ["system.cpu.system"], name: "system", always: true },
				{ keys: ["system.cpu.iowait"], name: "iowait" },
				{ keys: ["system.cpu.steal"], name: "steal" }
			], covers: ["system.cpu.idle"], later: true },
	];
	const LEAST_SLICE = 2.5e8, MOST_SLICES = 120;
	const INKS = ["ink1", "ink2", "ink3", "ink4", "ink5", "ink6"];
	function moves(line) {
		return line.v.some((v) => v !== 0 && !Number.isNaN(v));
	}
	function known(f) {
		return f.source ? `${f.provenance}: ${f.source}` : f.provenance;
	}
	function alike(traces) {
		const a = traces[0].line;
		return traces.every(({ line }) => line.v.length === a.v.length &&
			line.to.every((t, i) => t === a.to[i]));
	}
	class Plots {
		constructor(data, timeline, cores) {
			this.data = data;
			this.timeline = timeline;
			this.cores = cores;
			this.used = new Set();
			this.flat = [];
		}
		trace(key, name, ink) {
			const f = this.data.fields.get(key);
			return { line: this.timeline.line(key), name, help: f.help, known: known(f), ink };
		}
		has(key) {
			return this.data.fields.has(key) && this.timeline.has(key);
		}
		wish(w, ink) {
			const key = w.keys.find((k) => this.has(k));
			if (!key)
				return null;
			w.keys.forEach((k) => this.used.add(k));
			const t = this.trace(key, w.name, ink);
			if (w.always || moves(t.line))
				return t;
			this.flat.push(key);
			return null;
		}
		limit(r) {
			const { cpus, memory_bytes } = this.data.run.identity;
			if (r.limit === "cpus" && cpus)
				return { value: cpus, name: units.some(cpus, "CPU") };
			if (r.limit === "memory" && memory_bytes)
				return { value: memory_bytes, name: "all memory" };
			return r.limit === "cores" && this.cores
				? { value: this.cores, name: `${this.cores} cores` } : null;
		}
		isWhole({ wishes, total }) {
			const { totals } = this.data.run;
			return total !== undefined && this.has(total) && ((0, head_2.fewTicks)(totals) ||
				totals.cpu_user.provenance === "attributed" ||
				!wishes.some((w) => w.keys.some((k) => this.has(k))));
		}
		cook(r) {
			const whole = this.isWhole(r);
			const traces = whole ? [this.trace(r.total, "user and system", INKS[0])]
				: r.wishes.map((w, i) => this.wish(w, INKS[i])).filter((t) => t !== null);
			if (!traces.length)
				return null;
			[...r.covers ?? [], ...whole ? [r.total, ...r.wishes.flatMap((w) => w.keys)] : []]
				.forEach((k) => this.used.add(k));
			return { title: r.title, note: r.note, unit: traces[0].line.unit, traces,
				stacked: (r.stacked ?? false) && alike(traces), limit: this.limit(r),
				sum: r.total && !whole
					? this.wish({ keys: [r.total], name: "together", always: true }, "no-ink")
					: null, first: !r.later };
		}
		rest() {
			const groups = new Map();
			for (const f of this.data.fields.values()) {
				if (this.used.has(f.key) || !this.timeline.has(f.key))
					continue;
				const words = f.key.split(".");
				const title = `${words[0]} ${words[1]}`;
				const group = `${title} ${(0, series_1.shownUnit)(f)}`;
				groups.set(group, [...groups.get(group) ?? [], f]);
			}
			return [...groups.values()].flatMap((g) => this.group(g));
		}
		group(fields) {
			const words = fields[0].key.split(".");
			const traces = [];
			for (const f of fields) {
				const name = f.key.split(".").slice(2).join(" ").replace(/_/g, " ") || f.title;
				const t = this.trace(f.key, name, INKS[traces.length % INKS.length]);
				if (moves(t.line))
					traces.push(t);
				else
					this.flat.push(f.key);
			}
			const title = titleOf(words[0], words[1]);
			return traces.length ? [{ title, note: "", unit: traces[0].line.unit, stacked: false,
					traces, sum: null, limit: null, first: false }] : [];
		}
		all() {
			const first = RECIPES.map((r) => this.cook(r)).filter((p) => p !== null);
			const at = first.findIndex((p) => p.title === "CPU") + 1;
			first.splice(at, 0, ...this.data.curves.map((c) => byFunction(c, this.data.span)));
			return distinct([...first, ...this.rest()]);
		}
	}
	exports.Plots = Plots;
	function byFunction(c, span) {
		const traces = c.functions.filter((f) => f.values.some((v) => v > 0)).map((f, i) => ({
			line: sliced(f.values, c.slice_ns, span, `stacks.${c.kind}.${i}`),
			name: f.function ?? "all others", help: f.file ?? "", ink: INKS[i],
			known: "measured: sampled stacks, the function at the tip"
		}));
		const title = c.kind === "cpu" ? "CPU by function" : `${c.kind} time by function`;
		return { title: title.charAt(0).toUpperCase() + title.slice(1), note: "100 % is one thread",
			unit: "share", stacked: true, traces, sum: null, limit: null, first: true };
	}
	function sliced(values, slice, span, key) {
		const each = Math.max(1, Math.ceil(Math.max(LEAST_SLICE, span / MOST_SLICES) / slice));
		const sums = new Float64Array(Math.ceil(values.length / each));
		values.forEach((v, i) => sums[Math.floor(i / each)] += v);
		const from = sums.map((_, i) => i * each * slice);
		const to = from.map((t) => Math.max(Math.min(t + each * slice, span), t + 1));
		return { key, unit: "share", steps: true, from, to,
			v: sums.map((v, i) => v / (to[i] - from[i])), lo: null, hi: null };
	}
	function titleOf(scope, word) {
		const owner = { job: "", cgroup: "Group ", system: "Machine " };
		const names = { cpu: "CPU", psi: "pressure", io: "I/O" };
		const title = (owner[scope] ?? `${scope} `) + (names[word] ?? word);
		return title.charAt(0).toUpperCase() + title.slice(1);
	}
	function distinct(plots) {
		const seen = new Map();
		plots.forEach((p) => seen.set(p.title, (seen.get(p.title) ?? 0) + 1));
		const words = { bytes: "bytes", "bytes/s": "bytes a second",
			"count/s": "a second", count: "number", share: "time", ratio: "", ns: "time" };
		for (const p of plots)
			if (seen.get(p.title) > 1 && !p.note)
				p.note = words[p.unit] ?? p.unit;
		return plots;
	}
});
define("thin", ["require", "exports", "series"], function (require, exports, series_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.thin = void 0;
	const APART = 3;
	function thin(line, t0, t1, pixels) {
		const first = Math.max(0, (0, series_2.lowerBound)(line.to, t0) - 1);
		const past = Math.min(line.v.length, (0, series_2.lowerBound)(line.to, t1) + 1);
		const n = Math.max(1, Math.floor(pixels / APART));
		return past - first <= 2 * n ? line : cut(line, first, past, n);
	}
	exports.thin = thin;
	function cut(line, first, past, n) {
		const begin = line.from[first], step = (line.to[past - 1] - begin) / n;
		const edge = (k) => begin + step * k, middle = line.steps ? 0 : step / 2;
		const thinned = { ...line,
			from: Float64Array.from({ length: n }, (_, k) => edge(k) + middle),
			to: Float64Array.from({ length: n }, (_, k) => edge(k + 1) - middle),
			v: new Float64Array(n), lo: new Float64Array(n).fill(NaN),
			hi: new Float64Array(n).fill(NaN) };
		let i = first;
		for (let k = 0; k < n; k++) {
			while (i < past && line.to[i] < edge(k))
				i++;
			gather(thinned, k, line, Math.max(first, i - 1), past, edge(k), edge(k + 1));
		}
		return thinned;
	}
	function gather(to, k, line, i, past, t0, t1) {
		let area = 0, weight = 0;
		for (let on = true; on && i < past; i++) {
			const v = line.v[i], w = (0, series_2.weightOf)(line, i, t0, t1);
			on = line.from[i] <= t1;
			if (Number.isNaN(v) || w <= 0)
				continue;
			area += v * w;
			weight += w;
			to.lo[k] = least(to.lo[k], line.lo?.[i] ?? v);
			to.hi[k] = -least(-to.hi[k], -(line.hi?.[i] ?? v));
		}
		to.v[k] = weight > 0 ? area / weight : NaN;
	}
	function least(a, b) {
		return a <= b ? a : b;
	}
});
define("view", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.View = void 0;
	class View {
		constructor(span) {
			this.span = span;
			this.from = 0;
			this.cursor = null;
			this.zoomers = [];
			this.pointers = [];
			this.to = span;
		}
		onZoom(l) {
			this.zoomers.push(l);
		}
		onCursor(l) {
			this.pointers.push(l);
		}
		get width() {
			return this.to - this.from;
		}
		get zoomed() {
			return this.from > 0 || this.to < this.span;
		}
		zoom(from, to) {
			const least = Math.min(this.span, Math.max(1e3, this.span / 1e6));
			const width = Math.min(this.span, Math.max(least, to - from));
			const middle = (from + to) / 2;
			this.from = Math.max(0, Math.min(this.span - width, middle - width / 2));
			this.to = this.from + width;
			this.zoomers.forEach((l) => l());
			this.point(this.cursor);
		}
		reset() {
			this.zoom(0, this.span);
		}
		scale(factor, around = this.cursor ?? (this.from + this.to) / 2) {
			this.zoom(around - (around - this.from) * factor, around + (this.to - around) * factor);
		}
		pan(share) {
			const by = Math.max(-this.from, Math.min(this.span - this.to, this.width * share));
			this.zoom(this.from + by, this.to + by);
		}
		point(t) {
			this.cursor = t === null ? null : Math.max(this.from, Math.min(this.to, t));
			this.pointers.forEach((l) => l());
		}
	}
	exports.View = View;
});
define("draw", ["require", "exports", "series", "theme", "thin", "units"], function (require, exports, series_3, theme_2, thin_1, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.drawPlot = exports.timeGrid = exports.timeTicks = exports.clip = exports.timeAt = exports.xOf = exports.begin = exports.MARGIN = exports.GUTTER = void 0;
	exports.GUTTER = 64, exports.MARGIN = 14;
	function begin(canvas) {
		const width = canvas.clientWidth, height = canvas.clientHeight;
		const g = canvas.getContext("2d");
		if (!g || !width || !height)
			return null;
		const ratio = Math.max(2, devicePixelRatio || 1);
		const w = Math.round(width * ratio), h = Math.round(height * ratio);
		if (canvas.width !== w || canvas.height !== h) {
			canvas.width = w;
			canvas.height = h;
		}
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, width, height);
		g.font = "11px system-ui, sans-serif";
		return { g, width, height };
	}
	exports.begin = begin;
	function xOf(view, width, t) {
		return exports.GUTTER + (t - view.from) / view.width * (width - exports.GUTTER - exports.MARGIN);
	}
	exports.xOf = xOf;
	function timeAt(view, width, x) {
		const t = view.from + (x - exports.GUTTER) / (width - exports.GUTTER - exports.MARGIN) * view.width;
		return Math.max(view.from, Math.min(view.to, t));
	}
	exports.timeAt = timeAt;
	function clip(p) {
		p.g.beginPath();
		p.g.rect(exports.GUTTER, 0, p.width - exports.GUTTER - exports.MARGIN, p.height);
		p.g.clip();
	}
	exports.clip = clip;
	function timeTicks(view, width) {
		const step = units.timeStep(view.width, (width - exports.GUTTER - exports.MARGIN) / 96);
		const ticks = [];
		for (let k = Math.ceil(view.from / step); k * step <= view.to; k++)
			ticks.push({ at: k * step, text: units.place(k * step, step) });
		return ticks;
	}
	exports.timeTicks = timeTicks;
	function timeGrid(p, view) {
		p.g.fillStyle = (0, theme_2.colour)("grid");
		for (const { at } of timeTicks(view, p.width))
			p.g.fillRect(Math.round(xOf(view, p.width, at)), 0, 1, p.height);
	}
	exports.timeGrid = timeGrid;
	const TOP = 8, BOTTOM = 6;
	function visible(line, view) {
		const a = Math.max(0, (0, series_3.lowerBound)(line.to, view.from) - 1);
		let b = (0, series_3.lowerBound)(line.to, view.to) + 1;
		b = Math.min(line.v.length, b);
		return [a, b];
	}
	function highest(plot, view) {
		let top = 0;
		for (const { line } of plot.traces) {
			const [a, b] = visible(line, view);
			for (let i = a; i < b; i++) {
				const v = plot.stacked ? stackAt(plot.traces, plot.traces.length, i) : line.v[i];
				const most = line.hi && !plot.stacked ? Math.max(v, line.hi[i]) : v;
				if (most > top)
					top = most;
			}
		}
		return top;
	}
	function axisOf(plot, view, height) {
		let most = highest(plot, view);
		if (plot.limit && most > plot.limit.value / 2)
			most = Math.max(most, plot.limit.value);
		if (most <= 0)
			return { top: 1, step: 2, y: (v) => height - BOTTOM - v * (height - TOP - BOTTOM) };
		const step = units.valueStep(plot.unit, most, Math.max(2, Math.floor(height / 38)));
		const top = Math.max(step, Math.ceil(most / step - 1e-9) * step);
		return { top, step, y: (v) => height - BOTTOM - v / top * (height - TOP - BOTTOM) };
	}
	function drawAxis(p, plot, axis) {
		const { g } = p;
		g.textAlign = "right";
		g.textBaseline = "middle";
		for (let v = 0; v <= axis.top * 1.0001; v += axis.step) {
			const y = Math.round(axis.y(v));
			g.fillStyle = (0, theme_2.colour)(v === 0 ? "axis" : "grid");
			g.fillRect(exports.GUTTER, y, p.width - exports.GUTTER - exports.MARGIN, 1);
			g.fillStyle = (0, theme_2.colour)("faint");
			g.fillText(units.tick(plot.unit, v), exports.GUTTER - 8, y);
		}
	}
	function drawLimit(p, plot, axis) {
		if (!plot.limit || plot.limit.value > axis.top)
			return;
		const { g } = p, y = Math.round(axis.y(plot.limit.value)) + 0.5;
		g.strokeStyle = g.fillStyle = (0, theme_2.colour)("warn");
		g.setLineDash([4, 4]);
		g.beginPath();
		g.moveTo(exports.GUTTER, y);
		g.lineTo(p.width - exports.MARGIN, y);
		g.stroke();
		g.setLineDash([]);
		g.textAlign = "right";
		g.textBaseline = y < 16 ? "top" : "bottom";
		g.fillText(plot.limit.name, p.width - exports.MARGIN - 4, y + (y < 16 ? 3 : -2));
	}
	function stackAt(traces, n, i) {
		let sum = 0;
		for (let k = 0; k < n; k++)
			sum += traces[k].line.v[i];
		return sum;
	}
	function* stretches(line, value, view) {
		const [a, b] = visible(line, view);
		let from = a;
		for (let i = a; i <= b; i++) {
			const ends = i === b || Number.isNaN(value(i)) ||
				(line.steps && i > from && line.from[i] !== line.to[i - 1]);
			if (!ends)
				continue;
			if (i > from)
				yield [from, i];
			from = i === b || Number.isNaN(value(i)) ? i + 1 : i;
		}
	}
	function trail(p, view, line, [a, b], y) {
		for (let i = a; i < b; i++) {
			const x1 = xOf(view, p.width, line.to[i]);
			if (line.steps)
				p.g.lineTo(xOf(view, p.width, line.from[i]), y(i));
			p.g.lineTo(x1, y(i));
		}
	}
	function trailBack(p, view, line, [a, b], y) {
		for (let i = b - 1; i >= a; i--) {
			p.g.lineTo(xOf(view, p.width, line.to[i]), y(i));
			if (line.steps)
				p.g.lineTo(xOf(view, p.width, line.from[i]), y(i));
		}
	}
	function area(p, view, line, low, high, axis) {
		for (const s of stretches(line, high, view)) {
			p.g.beginPath();
			trail(p, view, line, s, (i) => axis.y(high(i)));
			trailBack(p, view, line, s, (i) => axis.y(low(i)));
			p.g.closePath();
			p.g.fill();
		}
	}
	function stroke(p, view, line, value, axis) {
		p.g.lineWidth = 1.5;
		p.g.lineJoin = "round";
		for (const s of stretches(line, value, view)) {
			p.g.beginPath();
			trail(p, view, line, s, (i) => axis.y(value(i)));
			p.g.stroke();
			if (s[1] - s[0] === 1 && !line.steps)
				p.g.fillRect(xOf(view, p.width, line.to[s[0]]) - 1.5, axis.y(value(s[0])) - 1.5, 3, 3);
		}
	}
	function drawTrace(p, plot, k, view, axis) {
		const { line, ink } = plot.traces[k], { g } = p;
		const low = (i) => plot.stacked ? stackAt(plot.traces, k, i) : 0;
		const value = (i) => low(i) + line.v[i];
		g.strokeStyle = g.fillStyle = (0, theme_2.colour)(ink);
		g.globalAlpha = plot.stacked ? 0.5 : k === 0 ? 0.16 : 0;
		area(p, view, line, low, value, axis);
		if (line.lo && line.hi && !plot.stacked) {
			const { lo, hi } = line;
			g.globalAlpha = 0.28;
			area(p, view, line, (i) => lo[i], (i) => hi[i], axis);
		}
		g.globalAlpha = 1;
		stroke(p, view, line, value, axis);
	}
	function thinned(plot, view, pixels) {
		const cut = (t) => ({ ...t, line: (0, thin_1.thin)(t.line, view.from, view.to, pixels) });
		return { ...plot, traces: plot.traces.map(cut) };
	}
	function drawPlot(canvas, whole, view) {
		const p = begin(canvas);
		if (!p)
			return;
		const plot = thinned(whole, view, p.width - exports.GUTTER - exports.MARGIN);
		const axis = axisOf(plot, view, p.height);
		timeGrid(p, view);
		drawAxis(p, plot, axis);
		p.g.save();
		clip(p);
		for (let k = plot.traces.length - 1; k >= 0; k--)
			drawTrace(p, plot, k, view, axis);
		p.g.restore();
		drawLimit(p, plot, axis);
	}
	exports.drawPlot = drawPlot;
});
define("lanes", ["require", "exports", "dom", "draw", "theme", "units"], function (require, exports, dom_9, draw_1, theme_3, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.Pointer = exports.TimeAxis = exports.lane = void 0;
	function lane(kind) {
		const side = (0, dom_9.h)("div", { class: "side" }), picture = (0, dom_9.h)("div", { class: "picture" });
		return { root: (0, dom_9.h)("div", { class: `lane ${kind}` }, side, picture), side, picture };
	}
	exports.lane = lane;
	class TimeAxis {
		constructor(view, startNs) {
			this.view = view;
			this.startNs = startNs;
			this.lane = lane("axis");
			this.canvas = (0, dom_9.h)("canvas", { "aria-hidden": "true" });
			this.moment = (0, dom_9.h)("output", { class: "moment" });
			this.lane.picture.append(this.canvas, this.moment);
			view.onCursor(() => this.point());
		}
		draw() {
			const p = (0, draw_1.begin)(this.canvas);
			if (!p)
				return;
			p.g.fillStyle = (0, theme_3.colour)("faint");
			p.g.textBaseline = "middle";
			for (const { at, text } of (0, draw_1.timeTicks)(this.view, p.width)) {
				const x = (0, draw_1.xOf)(this.view, p.width, at);
				const half = p.g.measureText(text).width / 2;
				p.g.textAlign = x + half > p.width ? "right" : "center";
				p.g.fillText(text, x + half > p.width ? p.width : x, p.height / 2);
			}
		}
		point() {
			const { cursor, from, width } = this.view;
			this.moment.hidden = cursor === null;
			if (cursor === null)
				return;
			const clock = units.clock(this.startNs, cursor, this.view.span);
			const since = units.place(cursor, width / 1000);
			this.moment.textContent = clock ? `${since} · ${clock}` : since;
			const room = this.lane.picture.clientWidth - draw_1.GUTTER - draw_1.MARGIN;
			const half = this.moment.offsetWidth / 2;
			const x = draw_1.GUTTER + (cursor - from) / width * room;
			const most = this.lane.picture.clientWidth - half;
			this.moment.style.left = `${Math.max(half, Math.min(most, x))}px`;
		}
	}
	exports.TimeAxis = TimeAxis;
	const DRAG = 5;
	class Pointer {
		constructor(field, ruler, view, moments) {
			this.field = field;
			this.ruler = ruler;
			this.view = view;
			this.moments = moments;
			this.line = (0, dom_9.h)("div", { class: "cursor", hidden: true });
			this.chosen = (0, dom_9.h)("div", { class: "chosen", hidden: true });
			this.press = null;
			field.append(this.line, this.chosen);
			field.addEventListener("pointermove", (e) => this.move(e));
			field.addEventListener("pointerdown", (e) => this.down(e));
			field.addEventListener("pointerup", (e) => this.up(e));
			field.addEventListener("pointercancel", () => this.cancel());
			field.addEventListener("pointerleave", (e) => this.leave(e));
			field.addEventListener("dblclick", (e) => this.inside(e) && view.reset());
			field.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
			field.addEventListener("keydown", (e) => this.key(e));
			view.onCursor(() => this.show());
		}
		box() {
			const r = this.ruler().getBoundingClientRect();
			return { left: r.left, width: r.width };
		}
		inside(e) {
			const { left, width } = this.box();
			const x = e.clientX - left;
			return x >= draw_1.GUTTER - 8 && x <= width && e.target.closest(".picture") !== null;
		}
		timeOf(e) {
			const { left, width } = this.box();
			return (0, draw_1.timeAt)(this.view, width, e.clientX - left);
		}
		move(e) {
			if (this.press !== null && e.pointerType === "mouse")
				this.choose(e);
			if (this.inside(e) || this.press !== null)
				this.view.point(this.timeOf(e));
			else
				this.view.point(null);
		}
		down(e) {
			if (e.button !== 0 || !this.inside(e))
				return;
			this.press = e.clientX;
			this.view.point(this.timeOf(e));
		}
		leave(e) {
			if (this.press === null && e.pointerType === "mouse")
				this.view.point(null);
		}
		choose(e) {
			const { left, width } = this.box(), origin = this.field.getBoundingClientRect().left;
			const clamp = (x) => Math.max(left + draw_1.GUTTER, Math.min(left + width - draw_1.MARGIN, x));
			const a = clamp(Math.min(this.press, e.clientX));
			const b = clamp(Math.max(this.press, e.clientX));
			this.chosen.hidden = b - a < DRAG;
			this.chosen.style.left = `${a - origin}px`;
			this.chosen.style.width = `${b - a}px`;
			if (!this.chosen.hidden)
				this.field.setPointerCapture(e.pointerId);
		}
		up(e) {
			if (this.press === null)
				return;
			const { left, width } = this.box();
			const a = (0, draw_1.timeAt)(this.view, width, Math.min(this.press, e.clientX) - left);
			const b = (0, draw_1.timeAt)(this.view, width, Math.max(this.press, e.clientX) - left);
			const selected = !this.chosen.hidden;
			this.cancel();
			if (selected && b > a)
				this.view.zoom(a, b);
		}
		cancel() {
			this.press = null;
			this.chosen.hidden = true;
		}
		wheel(e) {
			if (!this.inside(e))
				return;
			if (e.ctrlKey || e.metaKey) {
				e.preventDefault();
				this.view.scale(Math.exp(e.deltaY / 300), this.timeOf(e));
			}
			else if (this.view.zoomed && Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
				e.preventDefault();
				this.view.pan(e.deltaX / 800);
			}
		}
		key(e) {
			if (e.target !== this.field || e.ctrlKey || e.metaKey || e.altKey)
				return;
			const acts = {
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
		step(by) {
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
		show() {
			const { cursor } = this.view;
			this.line.hidden = cursor === null;
			if (cursor === null)
				return;
			const { left, width } = this.box();
			const x = left - this.field.getBoundingClientRect().left + (0, draw_1.xOf)(this.view, width, cursor);
			this.line.style.transform = `translateX(${x}px)`;
		}
	}
	exports.Pointer = Pointer;
});
define("phases", ["require", "exports", "dom", "draw", "lanes", "tables", "units"], function (require, exports, dom_10, draw_2, lanes_1, tables_6, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.phaseSection = exports.phaseLane = void 0;
	const INKS = { "cpu-bound": "ink1", busy: "ink6", reading: "ink3",
		writing: "ink2", growing: "ink5" };
	function phasesOf(data) {
		const p = data.run.phases;
		return Array.isArray(p) && p.length > 1 ? p : [];
	}
	function phaseLane(data, view) {
		const phases = phasesOf(data);
		if (!phases.length)
			return null;
		const l = (0, lanes_1.lane)("phases");
		const bands = phases.map((p) => band(p, view));
		l.side.append((0, dom_10.h)("h3", {}, "Phases", (0, dom_10.h)("small", {}, "click to zoom")));
		l.picture.append((0, dom_10.h)("div", { class: "strip" }, ...bands));
		const draw = () => {
			const room = l.picture.clientWidth - draw_2.GUTTER - draw_2.MARGIN;
			phases.forEach((p, i) => place(bands[i], p, view, room));
		};
		return { lane: l, draw };
	}
	exports.phaseLane = phaseLane;
	function band(p, view) {
		const title = `${p.name}\n${units.duration(p.to_ns - p.from_ns)}, from ` +
			`${units.duration(p.from_ns)} to ${units.duration(p.to_ns)}`;
		const b = (0, dom_10.h)("button", { type: "button", class: `band ${INKS[p.kind] ?? ""}`, title }, p.name);
		b.addEventListener("click", () => view.zoom(p.from_ns, p.to_ns));
		return b;
	}
	function place(b, p, view, room) {
		const a = Math.max(0, (p.from_ns - view.from) / view.width) * room;
		const z = Math.min(1, (p.to_ns - view.from) / view.width) * room;
		b.hidden = z <= a;
		b.classList.toggle("narrow", z - a < 60);
		b.style.left = `${draw_2.GUTTER + a}px`;
		b.style.width = `${Math.max(3, z - a - 1)}px`;
	}
	function phaseSection(data) {
		const phases = phasesOf(data);
		if (!phases.length)
			return [];
		const number = (title, of, show) => ({
			title, numeric: true, sort: (i) => of(phases[i]) ?? NaN,
			show: (i) => show(of(phases[i]))
		});
		const rate = (v) => units.bytes(v, "/s");
		const columns = [
			{ title: "phase", sort: (i) => phases[i].name, show: (i) => phases[i].name },
			number("from", (p) => p.from_ns, units.duration),
			number("took", (p) => p.to_ns - p.from_ns, units.duration),
			number("of the run", (p) => (p.to_ns - p.from_ns) / data.span, units.percent),
			number("cores", (p) => p.cores, units.number),
			number("CPU wait", (p) => p.cpu_wait, units.percent),
			number("memory", (p) => p.memory_bytes, units.bytes),
			number("largest", (p) => p.memory_peak_bytes, units.bytes),
			number("read", (p) => p.read_bytes_per_second, rate),
			number("written", (p) => p.write_bytes_per_second, rate)
		];
		return [(0, dom_10.h)("section", { id: "phases" }, (0, dom_10.h)("h2", {}, "Phases"), new tables_6.Table(columns, phases.length, -1, false, 24).root)];
	}
	exports.phaseSection = phaseSection;
});
define("plain", ["require", "exports", "dom"], function (require, exports, dom_11) {
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
			page.replaceChildren((0, dom_11.h)("p", { class: "failed" }, why), (0, dom_11.h)("pre", {}, plainText()));
		}
		page.dataset.ready = "true";
	}
	exports.begin = begin;
});
define("tree", ["require", "exports", "data"], function (require, exports, data_2) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.ended = exports.close = exports.countRows = exports.flatten = exports.Processes = void 0;
	const ALONE = 6;
	function sum(a, b) {
		return b === null ? a : (Number.isNaN(a) ? 0 : a) + b;
	}
	class Processes {
		constructor(c, span) {
			this.c = c;
			this.span = span;
			this.roots = [];
			this.n = c.id.length;
			this.index = new Map(c.id.map((id, i) => [id, i]));
			this.cpu = Float64Array.from(c.id, (_, i) => this.cpuOf(i));
			this.peak = Float64Array.from(c.id, (_, i) => this.peakOf(i));
			this.children = c.id.map(() => []);
			const order = c.id.map((_, i) => i).sort((a, b) => this.born(a) - this.born(b) || a - b);
			for (const i of order) {
				const up = c.parent[i] === null ? undefined : this.index.get(c.parent[i]);
				(up === undefined || up === i ? this.roots : this.children[up]).push(i);
			}
		}
		cpuOf(i) {
			const user = (0, data_2.cell)(this.c, "process.cpu.user", i);
			return sum(sum(NaN, user), (0, data_2.cell)(this.c, "process.cpu.system", i));
		}
		peakOf(i) {
			const rss = (0, data_2.cell)(this.c, "process.memory.rss", i) ?? NaN;
			const mark = (0, data_2.cell)(this.c, "process.memory.peak", i) ?? NaN;
			return (mark >= rss || Number.isNaN(rss) ? mark : rss) || NaN;
		}
		born(i) {
			return this.c.born_ns[i] ?? 0;
		}
		died(i) {
			return Math.max(this.born(i), this.c.died_ns[i] ?? this.span);
		}
		nameOf(i) {
			return this.c.name[i] || "?";
		}
		row(members, depth) {
			let cpu = NaN, peak = NaN;
			for (const i of members) {
				cpu = Number.isNaN(this.cpu[i]) ? cpu : sum(cpu, this.cpu[i]);
				peak = peak >= this.peak[i] || Number.isNaN(this.peak[i]) ? peak : this.peak[i];
			}
			return { name: this.nameOf(members[0]), members, children: [], depth, open: true, cpu, peak };
		}
		byName(list) {
			const groups = new Map();
			for (const i of list) {
				const g = groups.get(this.nameOf(i));
				if (g)
					g.push(i);
				else
					groups.set(this.nameOf(i), [i]);
			}
			return [...groups.values()];
		}
		gather(list, depth) {
			const rows = [];
			for (const g of this.byName(list))
				for (const members of g.length > ALONE ? [g] : g.map((i) => [i])) {
					const r = this.row(members, depth);
					r.children = depth < 200
						? this.gather(members.flatMap((i) => this.children[i]), depth + 1) : [];
					rows.push(r);
				}
			return rows.sort((a, b) => this.born(a.members[0]) - this.born(b.members[0]));
		}
		tree() {
			return this.gather(this.roots, 0);
		}
		programs() {
			const all = this.byName(this.c.id.map((_, i) => i)).map((m) => this.row(m, 0));
			for (const r of all.filter((x) => x.members.length > 1)) {
				r.open = false;
				r.children = r.members.map((i) => this.row([i], 1));
				r.children.sort((a, b) => (b.cpu || 0) - (a.cpu || 0));
			}
			return all.sort((a, b) => (b.cpu || 0) - (a.cpu || 0));
		}
		list(order) {
			const key = {
				cpu: (i) => -(this.cpu[i] || 0), memory: (i) => -(this.peak[i] || 0),
				life: (i) => this.born(i) - this.died(i), birth: (i) => this.born(i)
			};
			const all = this.c.id.map((_, i) => i);
			return all.sort((a, b) => key[order](a) - key[order](b) || a - b)
				.map((i) => this.row([i], 0));
		}
		rows(order) {
			return order === "tree" ? this.tree() : order === "program" ? this.programs()
				: this.list(order);
		}
		matches(r, words) {
			return r.members.some((i) => this.nameOf(i).toLowerCase().includes(words) ||
				(this.c.detail[i] ?? "").toLowerCase().includes(words) ||
				String(this.c.key[i]) === words);
		}
	}
	exports.Processes = Processes;
	function flatten(p, top, words) {
		const out = [];
		const visit = (r) => {
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
	exports.flatten = flatten;
	function countRows(top) {
		return top.reduce((n, r) => n + 1 + countRows(r.children), 0);
	}
	exports.countRows = countRows;
	function close(top, depth) {
		for (const r of top) {
			r.open = r.depth < depth;
			close(r.children, depth);
		}
	}
	exports.close = close;
	function ended(status) {
		return status & 127 ? `signal ${status & 127}` : `exit ${status >> 8 & 255}`;
	}
	exports.ended = ended;
});
define("details", ["require", "exports", "data", "dom", "tree", "units"], function (require, exports, data_3, dom_12, tree_1, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.processDetails = void 0;
	function list(pairs) {
		return (0, dom_12.h)("dl", {}, ...pairs.map(([k, v]) => (0, dom_12.h)("div", {}, (0, dom_12.h)("dt", {}, k), (0, dom_12.h)("dd", {}, v))));
	}
	function end(c, i) {
		const s = c.wait_status[i];
		if (s !== null)
			return s === 0 ? "exit 0" : (0, tree_1.ended)(s);
		return c.died_ns[i] === null ? "still there at the end" : units.UNKNOWN;
	}
	function numbers(data, c, i) {
		const pairs = [];
		for (const key of Object.keys(c.metrics)) {
			const f = data.fields.get(key), v = (0, data_3.cell)(c, key, i);
			if (!f || v === null)
				continue;
			const most = f.kind === "gauge" && !key.endsWith("peak") ? ", largest" : "";
			const name = key.split(".").slice(1).join(" ").replace(/_/g, " ");
			pairs.push([name + most, units.inUnit(f.unit, v)]);
		}
		return pairs;
	}
	function one(data, p, i) {
		const { c } = p, up = c.parent[i] === null ? undefined : p.index.get(c.parent[i]);
		return [
			(0, dom_12.h)("h3", {}, p.nameOf(i), (0, dom_12.h)("small", {}, `pid ${c.key[i]}`)),
			c.detail[i] ? (0, dom_12.h)("pre", { class: "command" }, c.detail[i]) : null,
			list([["began", units.duration(c.born_ns[i])],
				["lived", units.duration(p.died(i) - p.born(i))], ["ended", end(c, i)],
				["parent", up === undefined ? units.UNKNOWN : `${p.nameOf(up)} (${c.key[up]})`],
				["CPU of one core", units.percent(p.cpu[i] / Math.max(1, p.died(i) - p.born(i)))]]),
			list(numbers(data, c, i))
		];
	}
	function median(sorted) {
		return sorted[sorted.length >> 1];
	}
	function many(p, row) {
		const lives = row.members.map((i) => p.died(i) - p.born(i)).sort((a, b) => a - b);
		const top = [...row.members].sort((a, b) => (p.cpu[b] || 0) - (p.cpu[a] || 0)).slice(0, 10);
		return [
			(0, dom_12.h)("h3", {}, row.name, (0, dom_12.h)("small", {}, `${units.count(row.members.length)} processes`)),
			list([["CPU, all", units.duration(row.cpu)],
				["CPU, each", units.duration(row.cpu / row.members.length)],
				["lived, shortest", units.duration(lives[0])],
				["lived, middle", units.duration(median(lives))],
				["lived, longest", units.duration(lives[lives.length - 1])],
				["largest peak", units.bytes(row.peak)]]),
			(0, dom_12.h)("h4", {}, "The ten with most CPU time"),
			(0, dom_12.h)("table", { class: "plain" }, (0, dom_12.h)("tbody", {}, ...top.map((i) => (0, dom_12.h)("tr", {}, (0, dom_12.h)("td", { class: "num" }, String(p.c.key[i])), (0, dom_12.h)("td", { class: "num" }, units.duration(p.cpu[i])), (0, dom_12.h)("td", { class: "num" }, units.bytes(p.peak[i])), (0, dom_12.h)("td", { class: "long" }, p.c.detail[i] ?? p.nameOf(i))))))
		];
	}
	function processDetails(data, p, row) {
		const parts = row.members.length > 1 ? many(p, row) : one(data, p, row.members[0]);
		return (0, dom_12.h)("div", {}, ...parts);
	}
	exports.processDetails = processDetails;
});
define("processes", ["require", "exports", "dom", "draw", "lanes", "details", "tree", "theme", "units"], function (require, exports, dom_13, draw_3, lanes_2, details_1, tree_2, theme_4, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.ProcessSection = void 0;
	const ORDERS = [["tree", "Tree"], ["program", "By program"],
		["cpu", "Most CPU first"], ["memory", "Most memory first"], ["life", "Longest first"],
		["birth", "In order of birth"]];
	const OPEN_ALL = 400, ON_PAPER = 60;
	class ProcessSection {
		constructor(data, all, view) {
			this.data = data;
			this.all = all;
			this.view = view;
			this.scroller = (0, dom_13.h)("div", { class: "rows", tabindex: "0", role: "tree",
				"aria-label": "Processes. Up and down choose, left and right close and open." });
			this.space = (0, dom_13.h)("div", { class: "space" });
			this.details = (0, dom_13.h)("div", { class: "details", hidden: true });
			this.counts = (0, dom_13.h)("span", { class: "hint" });
			this.redraw = (0, dom_13.eachFrame)(() => this.render());
			this.top = [];
			this.rows = [];
			this.seen = [];
			this.chosen = null;
			this.words = "";
			this.axis = new lanes_2.TimeAxis(view, data.run.identity.start_ns);
			this.axis.lane.side.append((0, dom_13.h)("div", { class: "columns" }, (0, dom_13.h)("span", { class: "num now" }, "CPU"), (0, dom_13.h)("span", { class: "num most" }, "peak")));
			const field = (0, dom_13.h)("div", { class: "lanes" }, this.axis.lane.root, this.scroller);
			this.scroller.append(this.space);
			this.root = (0, dom_13.h)("section", { id: "processes" }, this.tools(), field, this.missing(), this.details);
			new lanes_2.Pointer(field, () => this.axis.lane.picture, view, data.run.timeline.t_ns);
			this.listen(field);
			this.arrange("tree");
		}
		listen(field) {
			this.scroller.addEventListener("scroll", this.redraw);
			this.scroller.addEventListener("click", (e) => this.click(e));
			this.scroller.addEventListener("keydown", (e) => this.key(e));
			this.view.onZoom((0, dom_13.eachFrame)(() => this.drawBars()));
			(0, theme_4.onTheme)(() => this.render());
			new ResizeObserver(this.redraw).observe(field);
		}
		tools() {
			const order = (0, dom_13.h)("select", { "aria-label": "Order of the processes" }, ...ORDERS.map(([value, text]) => (0, dom_13.h)("option", { value }, text)));
			order.addEventListener("change", () => this.arrange(order.value));
			const find = (0, dom_13.h)("input", { type: "search", placeholder: "find name, command or pid",
				"aria-label": "Find processes" });
			find.addEventListener("input", () => {
				this.words = find.value.trim().toLowerCase();
				this.refresh();
			});
			return (0, dom_13.h)("div", { class: "tools" }, (0, dom_13.h)("h2", {}, "Processes"), order, find, this.counts);
		}
		missing() {
			const all = this.data.run.totals.cpu.value;
			const seen = this.all.cpu.reduce((n, v) => n + (v || 0), 0);
			if (all === null || !seen || seen >= 0.9 * all)
				return null;
			return (0, dom_13.h)("p", { class: "note" }, `Their own CPU times add up to ${units.duration(seen)} of ` +
				`the job's ${units.duration(all)}; of the rest nobody knows whose it was.`);
		}
		arrange(order) {
			this.top = this.all.rows(order);
			if (order === "tree" && (0, tree_2.countRows)(this.top) > OPEN_ALL)
				(0, tree_2.close)(this.top, 2);
			this.scroller.scrollTop = 0;
			this.refresh();
		}
		refresh() {
			this.rows = (0, tree_2.flatten)(this.all, this.top, this.words);
			const { n } = this.all, more = this.data.run.unlisted;
			const rows = units.some(this.rows.length, "row");
			this.counts.textContent = `${units.some(n, "process", "processes")} in ${rows}` +
				`${more ? `; ${units.count(more)} more are only counted` : ""}`;
			this.redraw();
		}
		get height() {
			return matchMedia("screen and (max-width: 700px)").matches ? 40 : 26;
		}
		render() {
			const paper = document.documentElement.classList.contains("paper");
			const { height } = this, n = paper ? Math.min(ON_PAPER, this.rows.length) : this.rows.length;
			this.space.style.height = `${n * height}px`;
			this.scroller.classList.toggle("all", paper || n <= 18);
			const first = paper ? 0 : Math.floor(this.scroller.scrollTop / height);
			const seen = paper ? n : Math.ceil(this.scroller.clientHeight / height) + 1;
			const last = Math.min(n, first + Math.max(seen, 18));
			const made = [];
			for (let k = first; k < last; k++)
				made.push(this.rowAt(k, height));
			this.space.replaceChildren(...made.map((m) => m.lane.root));
			this.seen = made;
			this.drawBars();
		}
		rowAt(k, height) {
			const row = this.rows[k], l = (0, lanes_2.lane)("process"), many = row.members.length;
			const canvas = (0, dom_13.h)("canvas", { "aria-hidden": "true" }), gone = this.failed(row);
			const fold = row.children.length ? (row.open || this.words ? "▾" : "▸") : "";
			l.side.append((0, dom_13.h)("span", { class: "name", title: this.title(row) }, (0, dom_13.h)("span", { class: "fold" }, fold), (0, dom_13.h)("span", { class: "word" }, row.name), many > 1 ? (0, dom_13.h)("b", { class: "times" }, `×\u2009${units.count(many)}`) : null, gone ? (0, dom_13.h)("b", { class: "bad", title: gone }, many > 1 ? gone : "✘") : null), (0, dom_13.h)("span", { class: "num now" }, units.duration(row.cpu)), (0, dom_13.h)("span", { class: "num most" }, units.bytes(row.peak)));
			l.side.firstChild.style.paddingLeft = `min(${row.depth * 12}px, 20%)`;
			l.picture.append((0, dom_13.h)("span", { class: "pid" }, many > 1 ? "" :
				String(this.all.c.key[row.members[0]])), canvas);
			this.describe(l.root, row, k, height);
			return { lane: l, canvas, row };
		}
		describe(e, row, k, height) {
			e.id = `row${k}`;
			e.setAttribute("role", "treeitem");
			e.setAttribute("aria-level", String(row.depth + 1));
			e.setAttribute("aria-setsize", String(this.rows.length));
			e.setAttribute("aria-posinset", String(k + 1));
			if (row.children.length)
				e.setAttribute("aria-expanded", String(row.open));
			e.setAttribute("aria-selected", String(row === this.chosen));
			e.style.top = `${k * height}px`;
			e.style.height = `${height}px`;
			e.dataset.row = String(k);
		}
		title(row) {
			return row.members.length > 1 ? `${row.members.length} processes named ${row.name}`
				: this.all.c.detail[row.members[0]] ?? row.name;
		}
		failed(row) {
			const bad = row.members.filter((i) => this.all.c.wait_status[i]);
			if (!bad.length)
				return "";
			return row.members.length > 1 ? `${units.count(bad.length)} failed`
				: (0, tree_2.ended)(this.all.c.wait_status[bad[0]]);
		}
		drawBars() {
			this.axis.draw();
			this.seen.forEach((s) => this.drawBar(s.canvas, s.row));
		}
		drawBar(canvas, row) {
			const p = (0, draw_3.begin)(canvas);
			if (!p)
				return;
			(0, draw_3.timeGrid)(p, this.view);
			p.g.save();
			(0, draw_3.clip)(p);
			if (row.members.length > 1)
				this.drawCrowd(p, row);
			else
				this.drawLife(p, row.members[0]);
			p.g.restore();
		}
		drawLife(p, i) {
			const { all, view } = this, { g } = p;
			const a = (0, draw_3.xOf)(view, p.width, all.born(i)), z = (0, draw_3.xOf)(view, p.width, all.died(i));
			if (z < draw_3.GUTTER || a > p.width - draw_3.MARGIN)
				return this.elsewhere(p, z < draw_3.GUTTER);
			const x = Math.max(draw_3.GUTTER, a), w = Math.max(2, Math.min(p.width - draw_3.MARGIN, z) - x);
			const top = 4, tall = p.height - 8;
			const busy = Math.min(1, (all.cpu[i] || 0) / Math.max(1, all.died(i) - all.born(i)));
			g.fillStyle = (0, theme_4.colour)(all.c.wait_status[i] ? "bad" : "ink1");
			g.globalAlpha = 0.22;
			g.fillRect(x, top, w, tall);
			g.globalAlpha = 0.85;
			g.fillRect(x, top + tall * (1 - busy), w, tall * busy);
			g.globalAlpha = 1;
			this.label(p, all.c.detail[i] ?? all.nameOf(i), x, x + w);
		}
		elsewhere(p, before) {
			p.g.fillStyle = (0, theme_4.colour)("faint");
			p.g.textBaseline = "middle";
			p.g.textAlign = before ? "left" : "right";
			p.g.fillText(before ? "‹" : "›", before ? draw_3.GUTTER + 3 : p.width - draw_3.MARGIN - 3, p.height / 2);
		}
		label(p, text, x, end) {
			const { g } = p, left = x - draw_3.GUTTER - 8, right = p.width - draw_3.MARGIN - end - 8;
			const room = Math.max(left, right, end - x - 12);
			if (room < 40)
				return;
			const words = fit(g, text, room);
			g.textBaseline = "middle";
			g.fillStyle = (0, theme_4.colour)("muted");
			if (room === right) {
				g.textAlign = "left";
				g.fillText(words, end + 6, p.height / 2);
			}
			else if (room === left) {
				g.textAlign = "right";
				g.fillText(words, x - 6, p.height / 2);
			}
			else {
				g.textAlign = "left";
				g.fillStyle = (0, theme_4.colour)("text");
				g.fillText(words, x + 6, p.height / 2);
			}
		}
		drawCrowd(p, row) {
			const wide = Math.max(1, Math.ceil(p.width - draw_3.GUTTER - draw_3.MARGIN));
			const change = new Float64Array(wide + 2);
			for (const i of row.members) {
				const a = (0, draw_3.xOf)(this.view, p.width, this.all.born(i)) - draw_3.GUTTER;
				const z = (0, draw_3.xOf)(this.view, p.width, this.all.died(i)) - draw_3.GUTTER;
				if (z < 0 || a > wide)
					continue;
				change[Math.max(0, Math.floor(a))]++;
				change[Math.min(wide, Math.floor(z)) + 1]--;
			}
			const alive = change.slice(0, wide + 1);
			for (let x = 1; x <= wide; x++)
				alive[x] += alive[x - 1];
			const most = alive.reduce((m, v) => Math.max(m, v), 1);
			p.g.fillStyle = (0, theme_4.colour)("ink1");
			p.g.globalAlpha = 0.55;
			alive.forEach((v, x) => {
				const tall = v / most * (p.height - 8);
				p.g.fillRect(draw_3.GUTTER + x, p.height - 4 - tall, 1, tall);
			});
			p.g.globalAlpha = 1;
			p.g.fillStyle = (0, theme_4.colour)("faint");
			p.g.textAlign = "left";
		}
		click(e) {
			const at = e.target.closest("[data-row]");
			if (!at)
				return;
			const row = this.rows[Number(at.dataset.row)];
			if (e.target.closest(".name") && row.children.length && row === this.chosen)
				this.fold(row, !row.open);
			else if (e.target.closest(".fold") && row.children.length)
				this.fold(row, !row.open);
			this.choose(row);
		}
		fold(row, open) {
			row.open = open;
			this.refresh();
		}
		choose(row) {
			this.chosen = row;
			this.details.hidden = false;
			this.details.replaceChildren((0, details_1.processDetails)(this.data, this.all, row));
			this.scroller.setAttribute("aria-activedescendant", `row${this.rows.indexOf(row)}`);
			this.redraw();
		}
		key(e) {
			const at = this.chosen ? this.rows.indexOf(this.chosen) : -1;
			const last = this.rows.length - 1;
			const go = (k) => this.goTo(Math.max(0, Math.min(last, k)));
			const acts = {
				ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), Home: () => go(0),
				End: () => go(last), PageDown: () => go(at + 15), PageUp: () => go(at - 15),
				ArrowRight: () => this.chosen && this.fold(this.chosen, true),
				ArrowLeft: () => this.chosen && this.fold(this.chosen, false),
			};
			if (acts[e.key] && this.rows.length) {
				e.preventDefault();
				acts[e.key]();
			}
		}
		goTo(k) {
			const { height, scroller } = this;
			if (k * height < scroller.scrollTop)
				scroller.scrollTop = k * height;
			else if ((k + 1) * height > scroller.scrollTop + scroller.clientHeight)
				scroller.scrollTop = (k + 1) * height - scroller.clientHeight;
			this.choose(this.rows[k]);
		}
	}
	exports.ProcessSection = ProcessSection;
	function fit(g, text, room) {
		const clean = (0, dom_13.upright)(text.slice(0, 400)).replace(/\s+/g, " ");
		if (g.measureText(clean).width <= room)
			return clean;
		let lo = 0, hi = clean.length;
		while (lo < hi) {
			const mid = lo + hi + 1 >> 1;
			if (g.measureText(`${clean.slice(0, mid)}…`).width <= room)
				lo = mid;
			else
				hi = mid - 1;
		}
		return `${clean.slice(0, lo)}…`;
	}
});
define("timeline", ["require", "exports", "dom", "draw", "lanes", "phases", "series", "theme", "units"], function (require, exports, dom_14, draw_4, lanes_3, phases_1, series_4, theme_5, units) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.TimelineSection = void 0;
	class Legend {
		constructor(data, trace, view) {
			this.data = data;
			this.trace = trace;
			this.view = view;
			this.value = (0, dom_14.h)("td", { class: "num now" });
			this.most = (0, dom_14.h)("td", { class: "num most" });
			const swatch = (0, dom_14.h)("span", { class: `swatch ${trace.ink}` });
			this.row = (0, dom_14.h)("tr", { title: `${trace.help}\n${trace.known}`, "data-key": trace.line.key }, (0, dom_14.h)("th", { scope: "row" }, swatch, trace.name), this.value, this.most);
		}
		whole() {
			const { line } = this.trace;
			return this.data.run.metrics[line.key] ?? (0, series_4.spread)(line, 0, this.data.span);
		}
		refresh() {
			const { line } = this.trace, { from, to, zoomed } = this.view;
			const s = zoomed ? (0, series_4.spread)(line, from, to) : this.whole();
			this.most.textContent = units.inUnit(line.unit, s.max);
			this.point(s.mean);
		}
		point(mean = null) {
			const { line } = this.trace, { cursor } = this.view;
			if (cursor === null) {
				this.value.textContent = units.inUnit(line.unit, mean ?? this.mean());
				delete this.row.dataset.value;
				return;
			}
			const i = (0, series_4.pointAt)(line, cursor), v = i < 0 ? NaN : line.v[i];
			this.value.textContent = units.inUnit(line.unit, v);
			this.row.dataset.value = Number.isNaN(v) ? "null" : String(v);
		}
		mean() {
			const { line } = this.trace, { from, to, zoomed } = this.view;
			return zoomed ? (0, series_4.spread)(line, from, to).mean : this.whole().mean;
		}
		get words() {
			return `${this.trace.name} ${this.value.textContent}`;
		}
	}
	class PlotLane {
		constructor(data, plot, view) {
			this.plot = plot;
			this.view = view;
			this.lane = (0, lanes_3.lane)("plot");
			this.canvas = (0, dom_14.h)("canvas", { role: "img", "aria-label": `${plot.title} over time` });
			const told = plot.sum ? [...plot.traces, plot.sum] : plot.traces;
			this.legends = told.map((t) => new Legend(data, t, view));
			this.lane.side.append((0, dom_14.h)("h3", {}, plot.title, plot.note ? (0, dom_14.h)("small", {}, plot.note) : null), (0, dom_14.h)("table", { class: "legend" }, (0, dom_14.h)("tbody", {}, ...this.legends.map((l) => l.row))));
			this.lane.picture.append(this.canvas);
			this.lane.root.dataset.plot = plot.title;
		}
		draw() {
			(0, draw_4.drawPlot)(this.canvas, this.plot, this.view);
			this.legends.forEach((l) => l.refresh());
		}
		point() {
			this.legends.forEach((l) => l.point());
		}
		show(on) {
			this.lane.root.hidden = !on;
		}
		get shown() {
			return !this.lane.root.hidden;
		}
		get words() {
			return `${this.plot.title}: ${this.legends.map((l) => l.words).join(", ")}`;
		}
	}
	class TimelineSection {
		constructor(data, plots, flat, view) {
			this.data = data;
			this.view = view;
			this.spoken = (0, dom_14.h)("div", { class: "aside", "aria-live": "polite" });
			this.heads = [];
			this.more = [];
			this.lanes = plots.map((p) => new PlotLane(data, p, view));
			this.lanes.forEach((l) => l.show(l.plot.first));
			this.axes = [0, 1].map(() => new lanes_3.TimeAxis(view, data.run.identity.start_ns));
			this.axes[0].lane.side.append(this.head());
			this.field = (0, dom_14.h)("div", { class: "lanes", tabindex: "0", role: "group",
				"aria-label": "Timeline. Left and right move the cursor, plus and minus zoom, " +
					"zero shows all." });
			const phases = (0, phases_1.phaseLane)(data, view);
			if (phases)
				this.more.push(phases.draw);
			this.field.append(this.axes[0].lane.root, ...phases ? [phases.lane.root] : [], ...this.lanes.map((l) => l.lane.root), this.axes[1].lane.root);
			this.root = (0, dom_14.h)("section", { id: "time" }, this.tools(), this.field, this.footnote(flat), this.spoken);
			const pointer = () => this.axes[0].lane.picture;
			new lanes_3.Pointer(this.field, pointer, view, data.run.timeline.t_ns);
			this.redraw = (0, dom_14.eachFrame)(() => this.draw());
			this.listen();
		}
		listen() {
			this.view.onZoom(this.redraw);
			this.view.onCursor((0, dom_14.eachFrame)(() => this.point()));
			(0, theme_5.onTheme)(() => this.draw());
			new ResizeObserver(this.redraw).observe(this.field);
			this.field.addEventListener("keyup", () => {
				if (this.view.cursor !== null)
					this.spoken.textContent = this.words();
			});
		}
		onDraw(act) {
			this.more.push(act);
		}
		head() {
			const now = (0, dom_14.h)("span", { class: "num now" }, "mean");
			this.heads.push(now);
			return (0, dom_14.h)("div", { class: "columns" }, now, (0, dom_14.h)("span", { class: "num most" }, "max"));
		}
		words() {
			return this.lanes.filter((l) => l.shown).map((l) => l.words).join("; ");
		}
		tools() {
			const reset = (0, dom_14.button)("All", "Show the whole run (0)", () => this.view.reset());
			this.view.onZoom(() => reset.disabled = !this.view.zoomed);
			reset.disabled = true;
			return (0, dom_14.h)("div", { class: "tools" }, (0, dom_14.h)("h2", {}, "Over time"), (0, dom_14.h)("span", { class: "zoom" }, (0, dom_14.button)("−", "Zoom out (-)", () => this.view.scale(2)), (0, dom_14.button)("+", "Zoom in (+)", () => this.view.scale(0.5)), reset), (0, dom_14.h)("span", { class: "hint" }, "drag to zoom, double-click for all"), (0, dom_14.h)("span", { class: "chips" }, ...this.lanes.map((l) => this.chip(l))));
		}
		chip(l) {
			const name = l.plot.note && this.lanes.some((o) => o !== l && o.plot.title === l.plot.title)
				? `${l.plot.title}, ${l.plot.note}` : l.plot.title;
			const b = (0, dom_14.button)(name, `Show or hide ${name}`, () => {
				l.show(!l.shown);
				b.setAttribute("aria-pressed", String(l.shown));
				l.draw();
			});
			b.className = "chip";
			b.setAttribute("aria-pressed", String(l.shown));
			return b;
		}
		footnote(flat) {
			const { joined, t_ns } = this.data.run.timeline, notes = [];
			if (joined)
				notes.push(`Each point stands for up to ${units.count(2 ** joined)} samples.`);
			if (t_ns.length > 200)
				notes.push("Where points stand too close to be told apart a line is their mean, " +
					"its band their smallest and largest.");
			return (0, dom_14.h)("div", { class: "note" }, notes.length ? (0, dom_14.h)("p", {}, notes.join(" ")) : null, flat.length ? (0, dom_14.h)("details", {}, (0, dom_14.h)("summary", {}, "Always 0, so not drawn", (0, dom_14.h)("small", {}, String(flat.length))), flat.join(", ")) : null);
		}
		point() {
			this.heads.forEach((x) => x.textContent = this.view.cursor === null ? "mean" : "here");
			this.lanes.filter((l) => l.shown).forEach((l) => l.point());
		}
		draw() {
			this.axes.forEach((a) => a.draw());
			this.lanes.filter((l) => l.shown).forEach((l) => l.draw());
			this.more.forEach((act) => act());
		}
	}
	exports.TimelineSection = TimelineSection;
});
define("main", ["require", "exports", "capacity", "data", "dom", "flow", "head", "heap", "lists", "numbers", "phases", "plain", "plots", "processes", "series", "theme", "timeline", "tree", "view"], function (require, exports, capacity_1, data_4, dom_15, flow_1, head_3, heap_1, lists_1, numbers_1, phases_2, plain_1, plots_1, processes_1, series_5, theme_6, timeline_1, tree_3, view_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	function timeSection(data, view) {
		if (data.run.timeline.t_ns.length < 2)
			return [];
		const cores = (0, data_4.instances)(data, "core")?.id.length ?? 0;
		const plots = new plots_1.Plots(data, new series_5.Timeline(data), cores);
		const all = plots.all();
		return all.length ? [new timeline_1.TimelineSection(data, all, plots.flat, view).root] : [];
	}
	function processSection(data, view) {
		const c = (0, data_4.instances)(data, "process");
		return c ? [new processes_1.ProcessSection(data, new tree_3.Processes(c, data.span), view).root] : [];
	}
	function navigation(sections) {
		const all = sections.flatMap((s) => s.id ? [s] : [...s.querySelectorAll("section")]);
		const links = all.filter((s) => s.querySelector("h2")).map((s) => (0, dom_15.h)("a", { href: `#${s.id}` }, s.dataset.short ?? s.querySelector("h2").textContent));
		return (0, dom_15.h)("nav", { "aria-label": "Sections" }, ...links);
	}
	function build(data) {
		const view = new view_1.View(data.span);
		const sections = [(0, head_3.verdict)(data), (0, head_3.headline)(data), ...(0, capacity_1.capacitySection)(data),
			...(0, flow_1.flowSection)(data), ...timeSection(data, view), ...(0, phases_2.phaseSection)(data),
			...(0, heap_1.heapSection)(data), ...processSection(data, view), ...(0, lists_1.lists)(data), (0, numbers_1.numbers)(data),
			(0, numbers_1.about)(data)];
		return [(0, head_3.header)(data), navigation(sections), (0, dom_15.h)("main", {}, ...sections)];
	}
	void (0, plain_1.begin)(async (packed, page) => {
		const data = await (0, data_4.unpack)(packed);
		(0, theme_6.startTheme)();
		page.append(...build(data));
	});
});
