"""Renames every name of a file, one after the other, and compiles what has become of it.

Each name is renamed from the first place where it is, and in a second round from the last one.
"""

import json
import re
import subprocess
from pathlib import Path

from asking import CURSOR
from lsp import offset

# Names that another crate gives, or the language.
FOREIGN = """Call Clone Deserialize None Ok Option Result RunError Self Serialize Shape Some String Tool Vec and app as async await bool call clone
collect count crate const derive else empty fallback after filter fn for from if impl in into is_empty iter len let map match matches mod output
plan plan_runtime pub repeat run self serde static step struct to_uppercase tool try_from u32 u64 unwrap_or_default use usize vec enum move""".split()
# What a rename breaks, as the guide says: the struct of a tool has its name from the function.
TOOLS = ["find_order", "FindOrder", "send", "Send"]
SUFFIX = "Renamed"
TOKEN = re.compile(r'//[^\n]*|"[^"]*"|(?P<name>[A-Za-z]\w*)')


def names(text):
    """The places of each name that is the file's own."""
    places = {}
    for token in TOKEN.finditer(text):
        name = token["name"]
        if name and name not in FOREIGN + TOOLS and not name.lower().endswith(SUFFIX.lower()):
            places.setdefault(name, []).append(token.start())
    return places


def renamed(crate, text, at, name):
    """The text after a rename, or why there is none."""
    crate.write(text)
    parameters = crate.at(text[: at + 1] + CURSOR + text[at + 1 :])
    try:
        change = crate.server.ask("textDocument/rename", {**parameters, "newName": name})
    except RuntimeError as error:
        return None, str(error)
    edits = [edit for file in change["documentChanges"] if file["textDocument"]["uri"] == crate.uri for edit in file["edits"]]
    places = {(offset(text, edit["range"]["start"]), offset(text, edit["range"]["end"]), edit["newText"]) for edit in edits}
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text, None


def compiler(root):
    """The command that compiles a file with the dependencies of the fixture."""
    check = ["cargo", "check", "--quiet", "--locked", "--message-format=json", "--package=plan-editor"]
    lines = subprocess.run(check, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()
    built = [message for message in map(json.loads, lines) if message["reason"] == "compiler-artifact"]
    command = ["rustc", "--edition=2024", "--crate-type=lib", "--crate-name=renamed", "--emit=metadata", "--cap-lints=allow"]
    for message in built:
        file = next((file for file in message["filenames"] if file.endswith((".rmeta", ".so"))), None)
        if file and message["target"]["name"] in ("plan_runtime", "serde") and "custom-build" not in message["target"]["kind"]:
            command += [f"--extern={message['target']['name']}={file}", f"-Ldependency={Path(file).parent}"]
    return command


def run(crate, root, everything):
    """Renames from the first place of each name, and from the last one, too, if all is asked for."""
    failed = []
    command = compiler(root)
    for last in (False, True) if everything else (False,):
        text = crate.base
        done = 0
        while places := names(text):
            name, at = next(iter(places.items()))
            new = name + (SUFFIX if name[0].isupper() else "_" + SUFFIX.lower())
            text, error = renamed(crate, text, at[-1 if last else 0], new)
            if error:
                failed.append(f"rename of `{name}`: {error}")
                break
            done += 1
        file = root / "target/editor/renamed.rs"
        file.write_text(text or "")
        crate.write(crate.base)
        compiled = subprocess.run([*command, str(file), "-o", str(file.with_suffix(".rmeta"))], capture_output=True, text=True)
        if compiled.returncode:
            failed.append(f"the file with all names renamed does not compile:\n{compiled.stderr}")
        print(f"tests/editor: {done} names renamed, from the {'last' if last else 'first'} place of each")
    return failed
