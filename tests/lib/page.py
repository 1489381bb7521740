"""page -- the HTML report as a program reads it."""
import base64
import gzip
import hashlib
import html.parser
import json
import pathlib
import re

__all__ = ["Page"]


class Page(html.parser.HTMLParser):
    """elements: [(tag, attributes, text)] in order; data: the run document and its tables."""

    def __init__(self, path):
        super().__init__()
        self.text = pathlib.Path(path).read_text(encoding="utf-8")
        self.elements, self.open = [], []
        self.feed(self.text)
        self.close()
        packed = self.only("script", id="data")[2]
        self.data = json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in ("meta", "link"):
            self.open.append((tag, self.elements[-1]))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            raise ValueError(f"</{tag}> ends {[t for t, _ in self.open]}")
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1][1][2] += data

    def only(self, tag, **attrs):
        found = [e for e in self.elements if e[0] == tag and
                 all(e[1].get(k) == v for k, v in attrs.items())]
        if len(found) != 1:
            raise ValueError(f"{len(found)} elements <{tag} {attrs}>")
        return found[0]

    @property
    def policy(self):
        meta = self.only("meta", **{"http-equiv": "Content-Security-Policy"})
        return dict(part.strip().split(" ", 1) for part in meta[1]["content"].split(";"))

    @staticmethod
    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    @property
    def addresses(self):
        """Whatever could make a browser ask somebody."""
        shell = self.text.replace(self.only("script", id="data")[2], "")
        return re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]|@import|url\(|\bfetch\(|XMLHttp|"
                          r"WebSocket|sendBeacon|\bimport\(", shell)
