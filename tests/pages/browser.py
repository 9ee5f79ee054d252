# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""browser.py: a page in headless Chromium, with a mouse and keys. It speaks
the Chrome DevTools Protocol over two pipes; each message ends with a zero."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 60


def program():
    """Chromium's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """with Browser(width, height) as page: page.open(url); ..."""

    def __init__(self, width=1280, height=800):
        self.size = width, height
        self.number = 0
        self.left = b""
        self.errors = []  # of scripts and of the console, and blocked loads
        self.requests = []  # the addresses that pages asked for

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        to_browser, self.to = os.pipe()
        self.ours, from_browser = os.pipe()
        # The page's pipes must be file descriptors 3 and 4.
        command = ["bash", "-c", f"exec 3<&{to_browser} 4>&{from_browser}; "
                   'exec "$@"', "chromium", program(), "--headless=new",
                   "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-extensions", "--disable-dev-shm-usage",
                   "--disable-background-networking",
                   "--remote-debugging-pipe",
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(
            command, pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        targets = self.send("Target.getTargets", session=False)["targetInfos"]
        target = next(t for t in targets if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", session=False,
                                 targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=self.size[0],
                  height=self.size[1], deviceScaleFactor=1, mobile=False)
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close", session=False)
            self.process.wait(10)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.ours)
        self.folder.cleanup()

    # --- Messages -------------------------------------------------------------

    def receive(self, until):
        while b"\0" not in self.left:
            ready, _, _ = select.select([self.ours], [], [],
                                        max(0, until - time.monotonic()))
            assert ready, f"Chromium says nothing for {SECONDS} s"
            more = os.read(self.ours, 1 << 16)
            assert more, "Chromium ended"
            self.left += more
        text, self.left = self.left.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(values["exceptionDetails"]))
        elif method == "Log.entryAdded" and \
                values["entry"]["level"] == "error":
            self.errors.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])

    def send(self, method, session=True, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    # --- What a person does ---------------------------------------------------

    def open(self, url):
        self.send("Page.navigate", url=url)
        until = time.monotonic() + SECONDS
        while self.receive(until).get("method") != "Page.loadEventFired":
            pass
        self.run("new Promise(r => requestAnimationFrame(() => "
                 "requestAnimationFrame(r)))")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script):
        """Waits for an expression to be true."""
        end = time.monotonic() + SECONDS
        while not self.run(f"new Promise(r => setTimeout(() => "
                           f"r(!!({script})), 20))"):
            assert time.monotonic() < end, script

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y,
                  **more)

    def click(self, x, y):
        self.drag(x, y, x, y)

    def drag(self, x, y, to_x, to_y, modifiers=0):
        held = {"button": "left", "modifiers": modifiers}
        self.mouse("Pressed", x, y, clickCount=1, buttons=1, **held)
        if (x, y) != (to_x, to_y):
            self.mouse("Moved", (x + to_x) / 2, (y + to_y) / 2, buttons=1,
                       **held)
            self.mouse("Moved", to_x, to_y, buttons=1, **held)
        self.mouse("Released", to_x, to_y, clickCount=1, **held)

    def wheel(self, x, y, delta, modifiers=0):
        self.mouse("Wheel", x, y, deltaX=0, deltaY=delta, modifiers=modifiers)

    def press(self, key):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def picture(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
