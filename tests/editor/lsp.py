"""A client of a language server, as small as the cases need it."""

import json
import subprocess
import threading
from queue import Empty, Queue


class Server:
    """A running language server that has read a workspace."""

    def __init__(self, command, environment, root, options):
        self.process = subprocess.Popen(
            command, env=environment, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages = Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.number = 0
        self.versions = {}
        self.ready = False
        self.health = None
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": {
                    "general": {"positionEncodings": ["utf-32"]},
                    "textDocument": {
                        "completion": {"completionItem": {"snippetSupport": False}},
                        "definition": {"linkSupport": True},
                        "diagnostic": {},
                        "hover": {"contentFormat": ["markdown"]},
                        "rename": {"prepareSupport": True},
                    },
                    "experimental": {"serverStatusNotification": True},
                },
                "initializationOptions": options,
            },
        )
        self.tell("initialized", {})

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                self.messages.put(None)
                return
            self.messages.put(json.loads(stream.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _next(self, timeout):
        """Takes one message, and answers it if it is a question."""
        message = self.messages.get(timeout=timeout)
        if message is None:
            raise RuntimeError("the server ended")
        if "method" in message and "id" in message:
            asked = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": asked and [None] * len(asked)})
        elif message.get("method") == "experimental/serverStatus":
            self.health = message["params"]
            self.ready = self.health["quiescent"]
        return message

    def tell(self, method, parameters):
        self._send({"method": method, "params": parameters})

    def ask(self, method, parameters, timeout=180):
        """The result of a request, asked again while the server says that it changed what it was asked about."""
        while True:
            self.number += 1
            self._send({"id": self.number, "method": method, "params": parameters})
            while True:
                message = self._next(timeout)
                if message.get("id") == self.number and "method" not in message:
                    break
            error = message.get("error")
            if error is None:
                return message.get("result")
            if error["code"] not in (-32801, -32802):
                raise RuntimeError(f"{method}: {error['message']}")

    def wait(self, timeout=600):
        """Until the workspace is loaded, macros and all."""
        while not self.ready:
            try:
                self._next(timeout)
            except Empty:
                raise RuntimeError("the server does not get ready") from None
        if self.health["health"] != "ok":
            raise RuntimeError(self.health.get("message"))

    def write(self, uri, text):
        """Gives the file a new text."""
        if uri not in self.versions:
            self.versions[uri] = 1
            document = {"uri": uri, "languageId": "rust", "version": 1, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": document})
        else:
            self.versions[uri] += 1
            document = {"uri": uri, "version": self.versions[uri]}
            self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(30)


def position(text, offset):
    """Line and column of an offset."""
    before = text[:offset]
    return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}


def offset(text, at):
    """The offset of a line and column."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: at["line"]]) + at["character"]


def slice_of(text, range):
    """What stands in a range."""
    return text[offset(text, range["start"]) : offset(text, range["end"])]
