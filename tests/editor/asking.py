"""Questions about a file of a crate, with the cursor as `▮` in the text."""

from lsp import position, slice_of

CURSOR = "▮"
KINDS = {2: "method", 3: "function", 5: "field", 6: "variable", 7: "type", 8: "trait", 9: "module", 12: "static", 13: "enum"}
KINDS |= {14: "keyword", 15: "snippet", 20: "variant", 21: "constant", 22: "struct"}


class Crate:
    """A crate in which one file is open, and changes."""

    def __init__(self, server, file):
        self.server = server
        self.uri = file.as_uri()
        self.base = file.read_text()
        self.text = None

    def write(self, text):
        if text != self.text:
            self.text = text
            self.server.write(self.uri, text)

    def at(self, marked):
        """Writes the text, and says where its cursor is."""
        cursor = marked.index(CURSOR)
        self.write(marked.replace(CURSOR, "", 1))
        return {"textDocument": {"uri": self.uri}, "position": position(self.text, cursor)}

    def edited(self, old, new):
        """The base text with a piece of it replaced, which must be there once."""
        if self.base.count(old) != 1:
            raise ValueError(f"{self.base.count(old)} times in the fixture: {old}")
        return self.base.replace(old, new)

    def marked(self, piece):
        """The base text with a cursor in it."""
        return self.edited(piece.replace(CURSOR, ""), piece)

    def completions(self, marked):
        """What is offered: pairs of a kind and a label."""
        result = self.server.ask("textDocument/completion", self.at(marked)) or []
        items = result["items"] if isinstance(result, dict) else result
        return [(KINDS.get(item.get("kind"), str(item.get("kind"))), item["label"]) for item in items]

    def ranked(self, marked):
        """What is offered, best first."""
        result = self.server.ask("textDocument/completion", self.at(marked)) or []
        items = result["items"] if isinstance(result, dict) else result
        return [item["label"] for item in sorted(items, key=lambda item: item.get("sortText", item["label"]))]

    def hover(self, marked):
        result = self.server.ask("textDocument/hover", self.at(marked))
        return result["contents"]["value"] if result else ""

    def hints(self, text):
        """The inlay hints."""
        self.write(text)
        end = position(text, len(text.rstrip("\n")))
        parameters = {"textDocument": {"uri": self.uri}, "range": {"start": position(text, 0), "end": end}}
        hints = self.server.ask("textDocument/inlayHint", parameters) or []
        labels = [hint["label"] for hint in hints]
        return [label if isinstance(label, str) else "".join(part["value"] for part in label) for label in labels]

    def signatures(self, marked):
        result = self.server.ask("textDocument/signatureHelp", self.at(marked))
        return [signature["label"] for signature in result["signatures"]] if result else []

    def definitions(self, marked):
        """The lines of the definitions, with brackets around the name. One place may be found twice: as a local, and as a field."""
        result = self.server.ask("textDocument/definition", self.at(marked)) or []
        return list(dict.fromkeys(self._line(link["targetUri"], link["targetSelectionRange"]) for link in result))

    def references(self, marked):
        """The lines of all uses, with brackets around the name, in order."""
        parameters = {**self.at(marked), "context": {"includeDeclaration": True}}
        result = self.server.ask("textDocument/references", parameters) or []
        result.sort(key=lambda place: (place["range"]["start"]["line"], place["range"]["start"]["character"]))
        return [self._line(place["uri"], place["range"]) for place in result]

    def rename(self, marked, name):
        """What a rename edits, as `references`."""
        try:
            result = self.server.ask("textDocument/rename", {**self.at(marked), "newName": name})
        except RuntimeError as error:
            return [str(error)]
        edits = [(change["textDocument"]["uri"], edit) for change in result["documentChanges"] for edit in change["edits"]]
        edits.sort(key=lambda edit: (edit[1]["range"]["start"]["line"], edit[1]["range"]["start"]["character"]))
        for _, edit in edits:
            if edit["newText"] != name:
                raise ValueError(f"a rename writes {edit['newText']}")
        return [self._line(uri, edit["range"]) for uri, edit in edits]

    def diagnostics(self, text):
        """Errors and warnings: pairs of the text that one is about, and what it says."""
        self.write(text)
        result = self.server.ask("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
        return [(slice_of(text, item["range"]), item["message"]) for item in result["items"] if item["severity"] <= 2]

    def _line(self, uri, range):
        if uri != self.uri:
            return uri.rsplit("/", 1)[-1]
        line = self.text.split("\n")[range["start"]["line"]]
        start, end = range["start"]["character"], range["end"]["character"]
        return f"{line[:start]}[{line[start:end]}]{line[end:]}".strip()
