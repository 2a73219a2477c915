"""Plans that are broken at every token: what plain Rust would offer there is offered inside `plan!`.

The same steps stand in a function of plain Rust as well. Both are cut behind the same token: all behind it is left out, but for the
brackets that are still open, which editors close as they are typed; or all behind it stays. The cursor is at the end of the token, or
behind a space. What the function offers there, the plan has to offer: fields, methods, locals, and types.
"""

import re

from asking import CURSOR

TOKEN = re.compile(r'"[^"]*"|\w+|->|::|[^\w\s]')
COMMENT = re.compile(r"//[^\n]*")
CLOSING = {"(": ")", "[": "]", "{": "}", "call(": ")"}
CALL = "fn call<T: plan_runtime::Tool>(_: T) -> T::Output { loop {} }\n"
KINDS = {"field", "method", "variable", "struct", "enum", "type"}
# What only one of the two files has, and a name that rust-analyzer makes up behind `let`, out of the type of the output.
APART = {"ReplyToLatest", "call", "receipt"}
TYPES = {"struct", "enum", "type"}
# Where less is offered: the text before the cursor, whether all behind it is there, and what is missing.
KNOWN = {
    # The name of a plan is made up, and what follows it is not a type.
    ("ReplyToLatest ", True): "types",
    # Nothing but an arrow or braces can follow the inputs.
    ("reply: String)", False): "types",
    ("reply: String) ", False): "types",
    # What an index has after its number is not read as an argument's name.
    ("thread_id: inbox.data[0 ", False): "body subject to",
    (" to: inbox.data[0 ", False): "body subject",
    # The name of a macro without its brackets is not the start of a value.
    ("subject: format", True): "inbox reply sender types",
    ("subject: format ", True): "inbox reply sender types",
    ("subject: format!", False): "body",
    ("subject: format!", True): "inbox reply sender types",
    ("subject: format! ", False): "body",
    ("subject: format! ", True): "inbox reply sender types",
}


def tokens(text):
    """The tokens of a text, as ranges, without those in comments."""
    blank = COMMENT.sub(lambda comment: " " * len(comment.group()), text)
    return [token.span() for token in TOKEN.finditer(blank)]


class Cut:
    """A plan and a function, up to the same token and behind it."""

    def __init__(self, plan, count):
        spans = tokens(plan)
        end = spans[count - 1][1]
        self.plan = plan[:end], plan[end:]
        words = [plan[slice(*span)] for span in spans]
        function = []
        self.open = []
        open_there = []
        position = 0
        for index, ((start, stop), word) in enumerate(zip(spans, words)):
            between = "fn " if index == 0 else plan[position:start]
            position = stop
            if word in CLOSING:
                self.open.append(word)
            elif self.open and word == CLOSING[self.open[-1]]:
                self.open.pop()
            if word == ";" and self.open[-1:] == ["call("]:
                word = ");"
                self.open.pop()
            elif word == "step":
                word = "let"
            elif word == "=":
                word = "= call("
                self.open.append("call(")
            function.append(between + word)
            open_there.append(list(self.open))
        self.open = open_there[count - 1]
        self.function = "".join(function[:count]), "".join(function[count:])

    def in_plan(self, space, rest):
        before, behind = self.plan
        if not rest:
            behind = self.closed(calls=False)
        return f"plan! {{ {before}{space}{CURSOR} {behind} }}\n"

    def in_function(self, space, rest):
        before, behind = self.function
        if not rest:
            behind = self.closed(calls=True)
        return f"{CALL}{before}{space}{CURSOR} {behind}\n"

    def closed(self, calls):
        """What closes the brackets. A call around a tool is there in the function alone."""
        kept = [bracket for bracket in self.open if calls or bracket != "call("]
        return "".join(CLOSING[bracket] for bracket in reversed(kept))


def labels(found):
    # In place of parameters, rust-analyzer guesses at those of other functions.
    return {(kind, label) for kind, label in found if kind in KINDS and label not in APART and ": " not in label}


def told(missing):
    """The names that are missing. Of types, there are many."""
    names = sorted(label for kind, label in missing if kind not in TYPES)
    return " ".join(names + ["types"] * any(kind in TYPES for kind, _ in missing))


def run(crate, file, everything):
    """Takes all cuts, or some of them, and says where less is offered than is known, or more."""
    text = file.read_text()
    header, plan = re.match(r"(.*)plan! \{\n(.*?)\n\}\n", text, re.DOTALL).groups()
    header = header.replace("fs, ", "")
    count = len(tokens(plan))
    failures = []
    known = set()
    tried = less = 0
    for index in range(1, count + 1, 1 if everything else 5):
        cut = Cut(plan, index)
        for space in ("", " "):
            for rest in (False, True):
                expected = labels(crate.completions(header + cut.in_function(space, rest)))
                if not expected:
                    continue
                tried += 1
                before = cut.plan[0] + space
                keys = [key for key in KNOWN if before.endswith(key[0]) and key[1] == rest]
                known.update(keys)
                missing = told(expected - labels(crate.completions(header + cut.in_plan(space, rest))))
                less += bool(missing)
                if missing != " ".join(map(KNOWN.get, keys)):
                    where = f"{before[-40:]!r}" + (", all behind it there" if rest else "")
                    failures.append(f"broken plan, {where}: does not offer {missing or 'nothing, but is known to offer less'}")
    # The file declares the modules of the crate.
    crate.write(crate.base)
    share = 100 * (tried - less) / tried
    print(f"tests/editor: {tried - less} of {tried} broken plans ({share:.1f} %) offer all that plain Rust does, of {count} tokens to cut at")
    if everything:
        failures += [f"broken plan, {key}: there is no such place" for key in KNOWN if key not in known]
    return failures
