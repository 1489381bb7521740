"""modules -- what the script of a page computes, run by node without a browser."""
import json
import shutil

from harness import ROOT, run, skip, tmp

__all__ = ["node"]

# What a browser has and node has not; nothing of it is looked at here.
STUBS = """
const element = {textContent: "", dataset: {}, append() {}, setAttribute() {},
    addEventListener() {}, replaceChildren() {}};
globalThis.document = {getElementById: () => element, createElement: () => element,
    querySelector: () => null};
globalThis.DOMParser = class { parseFromString() { return {body: element}; } };
globalThis.matchMedia = () => ({addEventListener() {}, matches: false});
globalThis.addEventListener = () => {};
"""


def node(script, page="report", **values):
    """What the script returns; it sees the page's modules and the values as constants."""
    if not shutil.which("node"):
        skip("node is not installed")
    text = (ROOT / f"web/{page}.js").read_text()
    given = "".join(f"const {k} = {json.dumps(v)};\n" for k, v in values.items())
    text = f"{STUBS}{text}\n{given}console.log(JSON.stringify((() => {{ {script} }})()))"
    (tmp() / "page.js").write_text(text)
    return run("node", tmp() / "page.js").ok().json()
