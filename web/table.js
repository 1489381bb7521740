/* generated from web/table/ by tools/page.py; do not edit */
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
define("report/tables", ["require", "exports", "report/dom"], function (require, exports, dom_2) {
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
			this.root = (0, dom_2.h)("div", { class: "table" });
			this.body = (0, dom_2.h)("tbody");
			this.order = Array.from({ length: n }, (_, i) => i);
			this.shown = n <= first + 5 ? n : first;
			this.heads = columns.map((c, k) => this.head(c, k));
			const table = (0, dom_2.h)("table", { class: "sorted" }, (0, dom_2.h)("thead", {}, (0, dom_2.h)("tr", {}, ...this.heads)), this.body);
			this.root.append((0, dom_2.h)("div", { class: "wide" }, table));
			this.sort();
		}
		head(c, k) {
			const b = (0, dom_2.h)("button", { type: "button", title: c.help }, c.title);
			b.addEventListener("click", () => {
				this.down = this.by === k ? !this.down : c.numeric ?? false;
				this.by = k;
				this.sort();
			});
			return (0, dom_2.h)("th", { scope: "col", class: c.numeric ? "num" : c.className }, b);
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
			const rows = this.order.slice(0, this.shown).map((i) => (0, dom_2.h)("tr", {}, ...this.columns.map((c) => (0, dom_2.h)("td", { class: classOf(c) }, c.show(i)))));
			this.body.replaceChildren(...rows);
			this.root.querySelector(".more")?.remove();
			const left = this.order.length - this.shown;
			if (left <= 0)
				return;
			const b = (0, dom_2.h)("button", { type: "button", class: "more" }, `Show ${Math.min(left, MORE)} more of ${this.order.length}`);
			b.addEventListener("click", () => {
				this.shown += MORE;
				this.fill();
			});
			this.root.append(b);
		}
	}
	exports.Table = Table;
});
define("report/theme", ["require", "exports", "report/dom"], function (require, exports, dom_3) {
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
		const select = (0, dom_3.h)("select", { id: "theme", "aria-label": "Colours" }, (0, dom_3.h)("option", { value: "auto" }, "System colours"), (0, dom_3.h)("option", { value: "light" }, "Light"), (0, dom_3.h)("option", { value: "dark" }, "Dark"));
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
define("table/data", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	exports.sum = exports.severalOf = exports.whereOf = exports.nameOf = exports.shortFile = void 0;
	function shortFile(path) {
		return path.split("/").slice(-2).join("/");
	}
	exports.shortFile = shortFile;
	function nameOf(d, row) {
		return d.texts[d.function[row]] || "(no stack)";
	}
	exports.nameOf = nameOf;
	function whereOf(d, row, grain) {
		const file = d.texts[d.file[row]];
		return file && grain === "line" && d.line[row] > 0 ? `${file}:${d.line[row]}` : file;
	}
	exports.whereOf = whereOf;
	function severalOf(d) {
		return Object.keys(d.apart).filter((name) => new Set(d.apart[name]).size > 1);
	}
	exports.severalOf = severalOf;
	function matches(d, row, look, words) {
		for (const [name, tag] of Object.entries(look.only))
			if (d.apart[name][row] !== tag)
				return false;
		const tags = Object.values(d.apart).map((v) => v[row] ?? "");
		const text = [nameOf(d, row), whereOf(d, row, "line"), ...tags].join(" ").toLowerCase();
		return words.every((w) => text.includes(w));
	}
	function keyOf(d, row, look) {
		const tags = [...look.apart].map((name) => d.apart[name][row]);
		const place = look.grain === "file" ? [d.file[row]] : look.grain === "function"
			? [d.function[row], d.file[row]] : [d.function[row], d.file[row], d.line[row]];
		return JSON.stringify([place, tags]);
	}
	function sum(d, look) {
		const found = new Map(), words = look.words.toLowerCase().split(/\s+/);
		d.bytes.forEach((bytes, row) => {
			if (!matches(d, row, look, words))
				return;
			const key = keyOf(d, row, look), s = found.get(key);
			if (!s) {
				found.set(key, { first: row, bytes, count: d.count[row], variance: d.variance[row] });
				return;
			}
			s.bytes += bytes;
			s.count += d.count[row];
			s.variance += d.variance[row];
		});
		return [...found.values()];
	}
	exports.sum = sum;
});
define("table/main", ["require", "exports", "report/dom", "report/inflate", "report/plain", "report/tables", "report/theme", "report/units", "table/data"], function (require, exports, dom_4, inflate_2, plain_1, tables_1, theme_1, units_1, data_1) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	const FIRST = 60, PAUSE = 120;
	class Page {
		constructor(d) {
			this.d = d;
			this.facts = (0, dom_4.h)("p", { class: "facts" });
			this.place = (0, dom_4.h)("div");
			this.table = null;
			this.several = (0, data_1.severalOf)(d);
			this.look = { grain: "line", apart: new Set(), only: {}, words: "" };
			this.all = d.bytes.reduce((a, b) => a + b, 0);
			this.root = (0, dom_4.h)("div", {}, (0, dom_4.h)("header", {}, (0, dom_4.h)("div", { class: "title" }, (0, dom_4.h)("h1", {}, d.title), (0, dom_4.h)("span", { class: "grow" }), (0, theme_1.themeSwitch)()), this.facts), (0, dom_4.h)("section", {}, this.tools(), this.place));
			this.refresh();
		}
		search() {
			const find = (0, dom_4.h)("input", { type: "text", role: "searchbox", spellcheck: "false",
				placeholder: "Search ( / )", "aria-label": "Search lines, files, threads, allocators" });
			let pause = 0;
			find.addEventListener("input", () => {
				clearTimeout(pause);
				pause = setTimeout(() => this.change({ words: find.value }), PAUSE);
			});
			document.addEventListener("keydown", (e) => {
				if (e.key === "/" && e.target !== find) {
					e.preventDefault();
					find.focus();
				}
				else if (e.key === "Escape") {
					find.value = "";
					this.change({ words: "" });
				}
			});
			return (0, dom_4.h)("span", { class: "search" }, find);
		}
		grain() {
			const s = (0, dom_4.h)("select", { "aria-label": "A row for each" }, ...["line", "function", "file"].map((g) => (0, dom_4.h)("option", { value: g }, `By ${g}`)));
			s.addEventListener("change", () => this.change({ grain: s.value }));
			return s;
		}
		chip(name) {
			const b = (0, dom_4.button)(`By ${name}`, `A row for each ${name}`, () => {
				const { apart } = this.look, on = !apart.delete(name);
				if (on)
					apart.add(name);
				b.setAttribute("aria-pressed", String(on));
				this.change({});
			});
			b.className = "chip";
			b.setAttribute("aria-pressed", "false");
			return b;
		}
		only(name) {
			const tags = [...new Set(this.d.apart[name])];
			const s = (0, dom_4.h)("select", { "aria-label": `Only this ${name}` }, (0, dom_4.h)("option", { value: "-1" }, `Any ${name}`), ...tags.map((t, i) => (0, dom_4.h)("option", { value: i }, t === null ? `no ${name}` : String(t))));
			s.addEventListener("change", () => {
				const i = Number(s.value), { [name]: _, ...rest } = this.look.only;
				this.change({ only: i < 0 ? rest : { ...rest, [name]: tags[i] } });
			});
			return s;
		}
		tools() {
			return (0, dom_4.h)("div", { class: "tools" }, this.grain(), ...this.several.map((n) => this.chip(n)), ...this.several.map((n) => this.only(n)), this.search());
		}
		change(c) {
			Object.assign(this.look, c);
			this.refresh();
		}
		doubt(s) {
			return this.d.sampled ? ` ± ${(0, units_1.bytes)((0, units_1.spread)(s.variance) * 1024)}` : "";
		}
		bytes(s) {
			return (0, units_1.bytes)(s.bytes) + this.doubt(s);
		}
		amount(s) {
			return (0, dom_4.h)("span", {}, (0, units_1.bytes)(s.bytes), (0, dom_4.h)("span", { class: "doubt" }, this.doubt(s)));
		}
		share(s) {
			const part = this.all ? s.bytes / this.all : 0, fill = (0, dom_4.h)("i");
			fill.style.width = `${Math.min(100, part * 100)}%`;
			return (0, dom_4.h)("span", { class: "share" }, (0, dom_4.h)("span", { class: "bar" }, fill), (0, dom_4.h)("span", { class: "part" }, (0, units_1.percent)(part)));
		}
		get tags() {
			return this.several.filter((n) => this.look.apart.has(n));
		}
		name(row) {
			const { d, look } = this, where = (0, data_1.whereOf)(d, row, look.grain), files = look.grain === "file";
			const below = [...files ? [] : [(0, data_1.shortFile)(where)],
				...this.tags.map((n) => String(d.apart[n][row] ?? ""))].filter((s) => s).join(" · ");
			return (0, dom_4.h)("span", { class: "function", title: files ? where : undefined }, files ? (0, data_1.shortFile)(where) || "?" : (0, data_1.nameOf)(d, row), (0, dom_4.h)("small", { class: "narrow", title: where }, below));
		}
		tag(name, v) {
			return (rows) => ({ title: name, className: "tag", sort: (i) => v[rows[i].first] ?? "",
				show: (i) => String(v[rows[i].first] ?? "") });
		}
		columns(rows) {
			const { d, look } = this, tilde = d.sampled ? "~" : "";
			const where = (i) => (0, data_1.whereOf)(d, rows[i].first, look.grain);
			const tags = this.tags.map((n) => this.tag(n, d.apart[n])(rows));
			return [
				{ title: "bytes", numeric: true, sort: (i) => rows[i].bytes,
					show: (i) => this.amount(rows[i]) },
				{ title: "share", numeric: true, sort: (i) => rows[i].bytes,
					show: (i) => this.share(rows[i]) },
				{ title: "count", help: "allocations", numeric: true, sort: (i) => rows[i].count,
					show: (i) => tilde + (0, units_1.count)(rows[i].count) },
				{ title: look.grain === "file" ? "file" : "function",
					sort: (i) => look.grain === "file" ? where(i) : (0, data_1.nameOf)(d, rows[i].first),
					show: (i) => this.name(rows[i].first) },
				...look.grain === "file" ? [] : [{ title: "where", className: "where", sort: where,
						show: (i) => (0, dom_4.h)("span", { title: where(i) }, (0, data_1.shortFile)(where(i))) }],
				...tags
			];
		}
		refresh() {
			const rows = (0, data_1.sum)(this.d, this.look), add = (of) => rows.reduce((a, s) => a + of(s), 0);
			const held = { first: 0, bytes: add((s) => s.bytes), count: add((s) => s.count),
				variance: add((s) => s.variance) };
			const part = held.bytes < this.all ? `, ${(0, units_1.percent)(held.bytes / this.all)} of all` : "";
			this.facts.textContent = `${this.bytes(held)}${part} · ${this.d.sampled ? "~" : ""}${(0, units_1.some)(held.count, "allocation")} · ${(0, units_1.some)(rows.length, "row")}${this.d.note ? ` · ${this.d.note}` : ""}`;
			const by = this.table?.by ?? 0, down = this.table?.down ?? true;
			const columns = this.columns(rows);
			this.table = new tables_1.Table(columns, rows.length, by < columns.length ? by : 0, down, FIRST);
			this.place.replaceChildren(this.table.root);
		}
	}
	void (0, plain_1.begin)(async (packed, page) => {
		const d = await (0, inflate_2.inflate)(packed);
		(0, theme_1.startTheme)();
		page.append(new Page(d).root);
	});
});
