"""A headless Chromium, driven by the W3C's WebDriver protocol over plain HTTP."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 30
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1",
]
KEYS = {
    "Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c", "Control": "\ue009", "Shift": "\ue008", "Alt": "\ue00a",
    "ArrowRight": "\ue014", "ArrowLeft": "\ue012", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "Space": " ",
}


class Driver:
    """The program chromedriver."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: self.request("GET", "/status")["ready"], "chromedriver is ready")

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, driver, width=1280, height=900, dark=False):
        self.driver = driver
        self.profile = tempfile.mkdtemp(prefix="console-profile-")
        arguments = [*ARGUMENTS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        options = {"args": arguments, **({"binary": shutil.which("chromium")} if shutil.which("chromium") else {})}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.id = driver.request("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        # The window's least width is that of a desktop; the view's is not.
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.request("DELETE", "")
        shutil.rmtree(self.profile, ignore_errors=True)

    def request(self, method, path, body=None):
        return self.driver.request(method, f"/session/{self.id}{path}", body)

    def devtools(self, command, **parameters):
        return self.request("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self.request("POST", "/url", {"url": url})

    def script(self, text, *arguments):
        """The value of `return ..` in the page."""
        return self.request("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def find(self, selector):
        return self.request("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def wait(self, selector, text=""):
        """Waits until an element that is shown has this text."""
        script = "return [...document.querySelectorAll(arguments[0])].some(e => e.checkVisibility() && e.textContent.includes(arguments[1]))"
        until(lambda: self.script(script, selector, text), f"{selector} with {text!r} is shown", self.visible_text)

    def is_shown(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])].some(e => e.checkVisibility())", selector)

    def visible_text(self):
        return self.script("return document.body.innerText")[:1500]

    def click(self, selector, text=""):
        """Clicks the first element that is shown and has this text."""
        self.wait(selector, text)
        script = "return [...document.querySelectorAll(arguments[0])].find(e => e.checkVisibility() && e.textContent.includes(arguments[1]))"
        element = self.script(script, selector, text)[ELEMENT]
        self.request("POST", f"/element/{element}/click", {})

    def write(self, selector, text):
        """Puts a text in the place of what a field has, as a user does: types it, or pastes it if it is long."""
        if len(text) > 300:
            pasted = "const e = document.querySelector(arguments[0]); e.focus(); e.value = arguments[1]; e.dispatchEvent(new Event('input'))"
            return self.script(pasted, selector, text)
        element = self.find(selector)
        self.request("POST", f"/element/{element}/clear", {})
        return self.request("POST", f"/element/{element}/value", {"text": text})

    def press(self, *keys):
        """Presses keys together, as in `Control`, `Enter`."""
        codes = [KEYS.get(key, key) for key in keys]
        actions = [{"type": "keyDown", "value": code} for code in codes] + [{"type": "keyUp", "value": code} for code in reversed(codes)]
        self.request("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def log(self):
        """Errors and warnings of the console, violations of the policy among them."""
        entries = self.request("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.request("GET", "/screenshot")))


def until(condition, what, found=lambda: ""):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if condition():
                return
            last = found()
        except (OSError, AssertionError) as error:
            last = error
        if time.monotonic() > end:
            raise AssertionError(f"not in {PATIENCE} s: {what}: {last}")
        time.sleep(0.1)
