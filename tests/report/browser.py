"""A headless Chromium, driven through chromedriver with nothing but the standard library."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name that WebDriver gives to references


class Browser:
    """Started with the first use, ended with close()."""

    def __init__(self):
        self.base = ""
        self.home = tempfile.mkdtemp(prefix="pawl-browser-")
        # A group of its own, so that close() ends the browser with its driver, and nothing else.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       start_new_session=True, env=os.environ | {"HOME": self.home})
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
                         f"--user-data-dir={self.home}/profile", "--force-device-scale-factor=1"]
            if os.geteuid() == 0:
                arguments.append("--no-sandbox")  # Chromium's sandbox refuses root
            capabilities = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
            session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.base += "/session/" + session["sessionId"]
        except Exception:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return found[1]
        raise RuntimeError("chromedriver did not start")

    def _ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].splitlines()[0]) from None

    def open(self, path):
        self._ask("POST", "/url", {"url": f"file://{path}"})

    def run(self, script, *arguments):
        """What a function body returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": arguments})

    def wait_for(self, script, *arguments):
        """Waits until it returns true: a page notices events a little later, and a busy machine is slow."""
        end = time.monotonic() + 300
        while not self.run(script, *arguments):
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain: {script}")
            time.sleep(0.02)

    def command(self, name, **parameters):
        """One of the DevTools protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def media(self, scheme="light", kind=""):
        self.command("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def type(self, selector, text):
        element = self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self._ask("POST", f"/element/{element}/value", {"text": text})

    def complaints(self):
        """What the console said since the last call, except a hint about reading pixels, which these tests do."""
        messages = [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]
        return [m for m in messages if "willReadFrequently" not in m]

    def pdf(self):
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        if "/session/" in self.base:
            self._ask("DELETE", "")  # waits for the browser, which still writes into its home
        os.killpg(self.driver.pid, signal.SIGTERM)
        self.driver.wait(300)
        shutil.rmtree(self.home, ignore_errors=True)
