"""How often a plan and the same code in plain Rust offer what belongs at a cursor, for each kind of position; and how long an editor takes.

`run --table` prints both as tables.
"""

import os
import statistics
import time
from pathlib import Path

from asking import CURSOR

INPUTS = "number: u64, slot: String, greeting: String"
PLAN = f"plan! {{\n    pub Probe({INPUTS}) -> String {{\n        step order = FindOrder {{ id: number }};\n        BODY\n    }}\n}}\n"
PLAIN = f"""fn call<T: Tool>(_: T) -> T::Output {{ todo!() }}
pub fn probe({INPUTS}) -> String {{\n    let order = call(FindOrder {{ id: number }});\n    BODY\n}}\n"""
FIELDS = "speed item amount gift lines post_code"
NAMES = "order slot greeting number"
SPEEDS = "Speed::Slow Speed::Fast Speed::Booked"
# Of each kind: what is written in a plan, and what must be offered. The same in plain Rust has `let` for `step`, and a call around a tool.
# After `!`, the first that is offered.
POSITIONS = {
    "argument name": [
        ("step a = Send { ▮ }; greeting", "speed text copies"),
        ("step a = Send { sp▮ }; greeting", "speed"),
        ("step a = Send { speed: order.speed, ▮ }; greeting", "text copies"),
        ("step a = Send { ▮, text: greeting }; greeting", "speed copies"),
        ("step a = Send { sp▮: order.speed }; greeting", "speed"),
        ("step a = Send { te▮, speed: order.speed, copies: 2 }; greeting", "text"),
    ],
    "argument value": [
        ("step a = Send { text: ▮ }; greeting", NAMES),
        ("step a = Send { text: gr▮ }; greeting", "greeting"),
        ("step a = Send { text: ▮, copies: 2 }; greeting", NAMES),
        ("step a = FindOrder { id: ▮ }; greeting", "!number"),
        ("step a = Log { line: ord▮ }; greeting", "order"),
    ],
    "field after a dot": [
        ("step a = Send { text: order.▮ }; greeting", FIELDS),
        ("step a = Send { text: order.▮, copies: 2 }; greeting", FIELDS),
        ("step a = Send { text: order.it▮ }; greeting", FIELDS),
        ("step a = Send { copies: order.▮ }; greeting", "!amount"),
        ("step a = Send { text: order.lines[0].▮ }; greeting", "len trim"),
        ('step a = Log { line: format!("{}", order.▮) }; greeting', FIELDS),
        ("order.▮", FIELDS),
    ],
    "variant": [
        ("step a = Send { speed: ▮ }; greeting", SPEEDS),
        ("step a = Send { speed: ▮, copies: 2 }; greeting", "!Speed::Slow"),
        ("step a = Send { speed: Speed::▮ }; greeting", "Slow Fast Booked"),
        ("step a = Send { speed: Speed::Bo▮ }; greeting", "Booked"),
        ("step a = Send { speed: Speed::Booked(▮) }; greeting", NAMES),
    ],
    "step name": [
        ("▮", NAMES),
        ("or▮", "order"),
        ("step a = Log { line: greeting }; ▮", "a " + NAMES),
        ("step a: usize = or▮; greeting", "order"),
        ("step a: usize = order.lines.len() + or▮; greeting", "order"),
    ],
    "attribute": [
        ("#[▮] step a = Log { line: greeting }; greeting", "retry timeout after optional fallback deadline"),
        ("#[re▮] step a = Log { line: greeting }; greeting", "retry"),
        ("#[retry(▮)] step a = Log { line: greeting }; greeting", "attempts backoff max jitter"),
        ('#[retry(3, ba▮ = "1s")] step a = Log { line: greeting }; greeting', "backoff"),
        ("#[after(▮)] step a = Log { line: greeting }; greeting", "order"),
        ("#[optional(▮)] step a = Log { line: greeting }; greeting", "each"),
    ],
    "type": [
        ("step a: ▮ = order.lines.len(); greeting", "Order Speed String"),
        ("step a: Str▮ = greeting.clone(); greeting", "String"),
        ("step a: Vec<▮> = order.lines.clone(); greeting", "Order Speed String"),
        ("step a: Option<Or▮> = order.gift.clone(); greeting", "Order"),
        ("step a = ▮; greeting", "FindOrder Send Log"),
        ("step a = Fin▮ { id: number }; greeting", "FindOrder"),
    ],
    "`for`": [
        ("step a = for line in ▮ { Log { line: line } }; greeting", "order"),
        ("step a = for line in order.▮ { Log { line: line } }; greeting", FIELDS),
        ("step a = for line in order.lines { Log { ▮ } }; greeting", "line"),
        ("step a = for line in order.lines { Log { line: ▮ } }; greeting", "!line"),
        ("step a = for line in order.lines { Log { line: li▮ } }; greeting", "line"),
        ("step a = for line in order.lines { Log { line: line.▮ } }; greeting", "len trim"),
    ],
    "`if` and `if let`": [
        ("step a = if order.▮ { Log { line: greeting } }; greeting", FIELDS),
        ("step a = if let Some(gift) = ▮ { Log { line: gift } }; greeting", "order"),
        ("step a = if let Some(gift) = &order.▮ { Log { line: gift } }; greeting", FIELDS),
        ("step a = if let Some(gift) = &order.gift { Log { line: gi▮ } }; greeting", "gift"),
        ("step a = if let Some(gift) = &order.gift { Log { line: gift.▮ } }; greeting", "len trim"),
        ("step a = if let ▮ = &order.gift { Log { line: greeting } }; greeting", "Some None"),
    ],
    "closure": [
        ("step a: usize = order.lines.iter().filter(|line| line.▮).count(); greeting", "len is_empty"),
        ("step a: usize = order.lines.iter().filter(|line| li▮).count(); greeting", "line"),
        ("step a: usize = order.lines.iter().map(|line| order.▮).count(); greeting", FIELDS),
        ("step a: usize = order.lines.iter().map(|line| line.len() + ▮).count(); greeting", "line order"),
    ],
}


def in_plain(code):
    """The same code in a function. What a plan alone has is not there."""
    if "#[" in code:
        return None
    out, depth, calls = [], 0, []
    words = code.replace("step a", "let a").split(" ")
    for at, word in enumerate(words):
        if word.rstrip(CURSOR) in ("FindOrder", "Send", "Log", "Fin") and words[at + 1] == "{":
            calls.append(depth)
            word = "call(" + word
        depth += word.count("{") - word.count("}")
        if "}" in word and "{" not in word and calls and calls[-1] == depth:
            calls.pop()
            word = word.replace("}", "})", 1)
        out.append(word)
    return " ".join(out)


def is_right(crate, text, expected):
    if expected.startswith("!"):
        return crate.ranked(text)[:1] == [expected[1:]]
    found = {label for _, label in crate.completions(text)}
    return set(expected.split()) <= found


def table(crate):
    """Prints how many of the positions are right."""
    print("| position | in `plan!` | in plain Rust |\n|---|---|---|")
    total = [0, 0, 0, 0]
    wrong = []
    for kind, cases in POSITIONS.items():
        ours = plain = of_plain = 0
        for code, expected in cases:
            right = is_right(crate, crate.base + PLAN.replace("BODY", code), expected)
            ours += right
            function = in_plain(code)
            if function:
                of_plain += 1
                there = is_right(crate, crate.base + PLAIN.replace("BODY", function), expected)
                plain += there
                if there and not right:
                    wrong.append(f"{kind}, {code}: right in plain Rust alone")
            elif not right:
                wrong.append(f"{kind}, {code}: does not offer {expected}")
        if of_plain and not plain:
            wrong.append(f"{kind}: plain Rust offers nothing either, so nothing is compared")
        print(f"| {kind} | {ours} of {len(cases)} | {f'{plain} of {of_plain}' if of_plain else 'none has it'} |")
        total = [sum(pair) for pair in zip(total, (ours, len(cases), plain, of_plain))]
    print("| all | {} of {} | {} of {} |".format(*total))
    return wrong


def long_plan(steps):
    lines = "".join(f"        step s{at} = Send {{ text: s{at - 1}.item, copies: s{at - 1}.amount }};\n" for at in range(1, steps))
    first = "        step s0 = Send { text: name, copies: 1 };\n"
    return f"plan! {{\n    pub Long(name: String) -> Order {{\n{first}{lines}        s{steps - 1}\n    }}\n}}\n"


def long_function(steps):
    lines = "".join(f"    let s{at} = send(shop, s{at - 1}.item, s{at - 1}.amount).await?;\n" for at in range(1, steps))
    first = "    let s0 = send(shop, name, 1).await?;\n"
    return f"pub async fn long(shop: &Shop, name: String) -> Result<Order> {{\n{first}{lines}    Ok(s{steps - 1})\n}}\n"


HEAD = """use plan_runtime::{Result, RunError, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
pub struct Shop;
#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Order { pub item: String, pub amount: u32 }
#[tool]
pub async fn send(shop: &Shop, text: String, copies: u32) -> Result<Order> { let _ = shop; Ok(Order { item: text, amount: copies }) }
"""


def cpu(server):
    """The milliseconds that the server and its processes worked."""
    total = 0
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = process.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if server.process.pid in (int(process.parent.name), int(fields[1])):
            total += int(fields[11]) + int(fields[12])
    return total * 1000 / os.sysconf("SC_CLK_TCK")


def took(server, action, times=7):
    """The median of the milliseconds, and the mean of those that the server worked."""
    spans, before = [], cpu(server)
    for turn in range(times):
        began = time.monotonic()
        action(turn)
        spans.append((time.monotonic() - began) * 1000)
    return statistics.median(spans), (cpu(server) - before) / times


def times(crate):
    """Prints how long an editor takes, in a plan and in plain Rust; says where a plan takes twice as long to check."""
    print("| steps | | completion, ms | work, ms | diagnostics after an edit, ms | work, ms |\n|---|---|---|---|---|---|")
    failed = []
    for steps in (10, 200):
        worked = []
        for kind, code in (("`plan!`", long_plan(steps)), ("plain Rust", long_function(steps))):
            text = HEAD + code
            found = crate.diagnostics(text)
            if found:
                failed.append(f"times, {kind} of {steps} steps is correct, and this is found: {found}")
            cut = text.replace(f"s{steps - 2}.amount", f"s{steps - 2}.{CURSOR}", 1)
            if ("field", "amount") not in crate.completions(cut):
                failed.append(f"times, {kind} of {steps} steps: no field is offered")
            completion = took(crate.server, lambda turn: crate.completions(f"// {turn}\n{cut}"))
            edited = lambda turn: text.replace("name, 1", f"name, {turn + 2}").replace("name, copies: 1", f"name, copies: {turn + 2}")
            check = took(crate.server, lambda turn: crate.diagnostics(edited(turn)))
            worked.append(check[1])
            print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |".format(steps, kind, *completion, *check))
        if steps == 200 and worked[0] > 2 * worked[1]:
            failed.append(f"times, the diagnostics of 200 steps take {worked[0] / worked[1]:.1f} times what plain Rust takes")
    return failed
