/* The modules below, in the order in which they were written; the last one starts the page. */
"use strict";
const modules = {};
function define(name, needs, make) {
    const exports = {};
    make(...needs.map((n) => n === "require" ? null : n === "exports" ? exports : modules[n]));
    modules[name] = exports;
}
