"""browser -- a headless Chromium, driven over the WebDriver protocol with nothing but Python.

    with Browser() as b:
        b.size(1280, 900)
        b.open(path)
        b.js("return document.title")
        b.shot(tmp() / "page.png")
        b.complaints()      # what the console said, and what was asked of a network

Both programs are Debian's: chromium and chromium-driver.
"""
import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

__all__ = ["Browser", "missing"]

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1"]


def missing():
    """Why there is no browser here, or None."""
    absent = [p for p in ("chromium", "chromedriver") if not shutil.which(p)]
    return f"{' and '.join(absent)} not installed" if absent else None


class Browser:
    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True,
                                       start_new_session=True)
        self.url = f"http://127.0.0.1:{self._port()}"
        options = {"args": FLAGS + [f"--user-data-dir={self.profile.name}"],
                   "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.url += f"/session/{session['sessionId']}"
        self.size(1280, 900)
        return self

    def __exit__(self, *_):
        try:
            self._ask("DELETE", "", None)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(10)
        self.profile.cleanup()

    def _port(self):
        for line in self.driver.stdout:
            if "successfully on port" in line:
                return int(line.rstrip(".\n").rpartition(" ")[2])
        raise OSError("chromedriver did not start")

    def _ask(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise OSError(json.load(e)["value"]["message"]) from None

    # --- what a reader does ---------------------------------------------------

    def size(self, width, height, scale=1):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=scale, mobile=False)

    def colours(self, scheme):
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def show(self, path):
        """Any file."""
        self._ask("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def open(self, path, patience=30):
        """A page of ours, when it says that it is there."""
        self.show(path)
        end = time.monotonic() + patience
        while not self.js("return document.getElementById('page').dataset.ready"):
            if time.monotonic() > end:
                raise OSError("the page never became ready")
            time.sleep(0.05)
        self.settle()

    def settle(self):
        """Two frames later everything that was asked for is drawn."""
        self._ask("POST", "/execute/async", {"args": [], "script":
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));"})

    def js(self, script, *args):
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def mouse(self, kind, x, y, buttons=0, **more):
        self.devtools("Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=buttons,
                      button="left" if buttons or kind == "mouseReleased" else "none", **more)

    def hover(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.settle()

    def drag(self, x0, x1, y):
        self.mouse("mouseMoved", x0, y)
        self.mouse("mousePressed", x0, y, 1, clickCount=1)
        self.mouse("mouseMoved", (x0 + x1) / 2, y, 1)
        self.mouse("mouseMoved", x1, y, 1)
        self.mouse("mouseReleased", x1, y, 0, clickCount=1)
        self.settle()

    def key(self, name, code=None, text=None):
        for kind in ("keyDown", "keyUp"):
            self.devtools("Input.dispatchKeyEvent", type=kind, key=name, code=code or name,
                          **({"text": text} if text and kind == "keyDown" else {}))
        self.settle()

    # --- what came of it ------------------------------------------------------

    def devtools(self, command, **parameters):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def shot(self, path, clip=None):
        """The picture of the whole page, however long, or of (x, y, width, height) of it."""
        more = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1)} if clip else {}
        got = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            **more)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def pdf(self, path):
        got = self.devtools("Page.printToPDF", printBackground=True)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def complaints(self):
        """Lines of the console, and requests for anything but files and data of the page."""
        said = [f"{e['level']}: {e['message']}"
                for e in self._ask("POST", "/se/log", {"type": "browser"})]
        asked = []
        for entry in self._ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("file:", "data:", "chrome:", "about:")):
                    asked.append(f"request: {url}")
        return said + asked
