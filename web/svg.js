/* generated from web/svg/ by tools/page.py; do not edit */
/* The modules below, in the order in which they were written; the last one starts the page. */
"use strict";
const modules = {};
function define(name, needs, make) {
    const exports = {};
    make(...needs.map((n) => n === "require" ? null : n === "exports" ? exports : modules[n]));
    modules[name] = exports;
}
define("main", ["require", "exports"], function (require, exports) {
	"use strict";
	Object.defineProperty(exports, "__esModule", { value: true });
	const PAD = 12, WIDTH = 1200, INDENT = 4, COLUMN = 7.25;
	const SVG = "http://www.w3.org/2000/svg";
	function make(tag) {
		return document.createElementNS(SVG, tag);
	}
	function number(e, name) {
		return Number(e.getAttribute(name));
	}
	function read(group) {
		const rect = group.querySelector("rect");
		let text = group.querySelector("text");
		if (!text) {
			text = make("text");
			text.setAttribute("y", String(number(rect, "y") + 13));
			group.append(text);
		}
		const label = (group.querySelector("title").textContent ?? "").split("\n")[0];
		return { group, rect, text, label, x: number(rect, "x"), width: number(rect, "width") };
	}
	const root = document.documentElement;
	const boxes = [...document.querySelectorAll("#boxes > g")].map(read);
	const told = document.querySelector("#told");
	const first = told.textContent ?? "";
	function fit(b, width) {
		const columns = Math.floor((width - 2 * INDENT) / COLUMN);
		if (columns < 3)
			return "";
		let used = 0, whole = "";
		for (const letter of b.label) {
			used += letter >= "\u1100" ? 2 : 1;
			if (used > columns)
				return `${whole}…`;
			whole += used < columns ? letter : "";
		}
		return b.label;
	}
	function zoom(to) {
		const scale = (WIDTH - 2 * PAD) / to.width;
		for (const b of boxes) {
			const from = Math.max(PAD, PAD + (b.x - to.x) * scale);
			const end = Math.min(WIDTH - PAD, PAD + (b.x + b.width - to.x) * scale);
			b.group.style.display = end - from > 0.3 ? "" : "none";
			b.rect.setAttribute("x", String(from));
			b.rect.setAttribute("width", String(Math.max(0, end - from)));
			b.text.setAttribute("x", String(from + INDENT));
			b.text.textContent = fit(b, end - from);
		}
	}
	function pattern(words) {
		try {
			return new RegExp(words, "i");
		}
		catch {
			return new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
		}
	}
	function covered(found) {
		let end = 0, sum = 0;
		for (const b of [...found].sort((p, q) => p.x - q.x)) {
			sum += Math.max(0, b.x + b.width - Math.max(end, b.x));
			end = Math.max(end, b.x + b.width);
		}
		return sum / (WIDTH - 2 * PAD);
	}
	function search(words) {
		const re = words ? pattern(words) : null;
		const found = new Set(re ? boxes.filter((b) => re.test(b.label)) : []);
		for (const b of boxes)
			b.group.classList.toggle("found", found.has(b));
		root.classList.toggle("searched", found.size > 0);
		told.textContent = re ? `“${words}”: ${(covered([...found]) * 100).toFixed(1)} %` : first;
	}
	function tell(b) {
		const lines = (b.group.querySelector("title").textContent ?? "").split("\n");
		const words = [...[lines[lines.length - 1], ...lines.slice(0, -1)].join("   ")];
		told.textContent = words.join("");
		const room = (WIDTH - 2 * PAD) / told.getComputedTextLength();
		if (room < 1)
			told.textContent = `${words.slice(0, Math.floor(words.length * room) - 1).join("")}…`;
	}
	function act(words, x, what) {
		const t = make("text");
		t.setAttribute("class", "words act");
		t.setAttribute("x", String(x));
		t.setAttribute("y", "28");
		t.setAttribute("text-anchor", "end");
		t.textContent = words;
		t.addEventListener("click", what);
		root.append(t);
	}
	function ask() {
		search(prompt("Search for (a regular expression)") ?? "");
	}
	for (const b of boxes) {
		b.group.addEventListener("click", () => zoom(b));
		b.group.addEventListener("mouseenter", () => tell(b));
	}
	act("Search", WIDTH - PAD, ask);
	act("All", WIDTH - PAD - 62, () => zoom(boxes[0]));
	addEventListener("keydown", (e) => {
		if (e.key === "/") {
			e.preventDefault();
			ask();
		}
		else if (e.key === "Escape") {
			zoom(boxes[0]);
			search("");
		}
	});
});
