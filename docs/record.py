#!/usr/bin/env python3
"""Records `docs/recording.svg`: a terminal in which a misspelled field is mended, and a run outlives the kill of its server.

All output is real. The script copies the example `runs` into `target/recording`, misspells a field, and runs each command in a terminal of 80
columns. The pauses are shorter or longer than in reality, and the folder is `~/shop`. Needs Unix, cargo and Python 3.
"""
import html
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target/recording"
COLUMNS, ROWS = 80, 26
CELL, FONT, MARGIN, BAR = (7.8, 17), 13, 18, 32
BACKGROUND, PLAIN = "#161b22", "#e6edf3"
COLORS = {1: "#ff7b72", 2: "#7ee787", 3: "#e3b341", 4: "#79c0ff", 5: "#d2a8ff", 6: "#76e3ea", 7: PLAIN, 8: "#9198a1"}


def prepare():
    """Writes the program, with a misspelled field, and its database's name."""
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(ROOT / "examples/shop", WORK / "src/shop")
    shutil.copy(ROOT / "examples/runs.rs", WORK / "src/main.rs")
    shop = WORK / "src/shop/mod.rs"
    text = shop.read_text()
    assert text.count("approval.by") == 1
    shop.write_text(text.replace("approval.by", "approval.from"))
    (WORK / "Cargo.toml").write_text(f"""[package]
name = "runs"
edition = "2024"

[dependencies]
plan-runtime = {{ path = "{ROOT / 'plan-runtime'}", features = ["sqlite", "terminal"] }}
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tokio = {{ version = "1", features = ["macros", "rt", "time"] }}

[workspace]
""")
    shutil.copy(ROOT / "Cargo.lock", WORK)
    os.environ |= {"RUNS_DB": str(WORK / "runs.db"), "TERM": "xterm-256color", "CARGO_TERM_PROGRESS_WHEN": "never"}
    os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    os.environ["PATH"] = f"{os.environ['CARGO_TARGET_DIR']}/debug:{os.environ['PATH']}"
    os.environ.pop("NO_COLOR", None)
    # The dependencies are compiled before the recording.
    subprocess.run(["cargo", "build", "--quiet"], cwd=WORK, stderr=subprocess.DEVNULL)


class Recording:
    """The lines of the terminal, each with the time of its first appearance."""

    def __init__(self):
        # The first frame shows the first command, since some viewers show no other frame.
        self.lines, self.now, self.servers = [], 0.0, []

    def add(self, text):
        text = re.sub(r"\x1b\[K|\r", "", text).replace(str(WORK), "~/shop")
        self.lines += [(self.now, line) for line in text.removesuffix("\n").split("\n")]

    def pause(self, seconds):
        self.now += seconds
        for _, terminal in self.servers:
            self.add_from(terminal, 0.3)

    def add_from(self, terminal, patience):
        """Adds the output of a background process so far."""
        text = b""
        while select.select([terminal], [], [], patience)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:
                break
        if text:
            self.add(text.decode())

    def start(self, command):
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(WORK)
            os.execvp("bash", ["bash", "-c", f"stty cols {COLUMNS}; exec {command}"])
        return process, terminal

    def type(self, command, pause):
        self.add(f"\x1b[1;32m$\x1b[0m {command}")
        self.now += pause

    def run(self, command, before=0.7, after=1.5):
        """Runs a command to its end."""
        self.type(command, before)
        process, terminal = self.start(command.replace("\\\n", ""))
        text = b""
        while True:
            try:
                read = os.read(terminal, 65536)
            except OSError:
                break
            if not read:
                break
            text += read
        os.waitpid(process, 0)
        if text:
            self.add(text.decode())
        self.pause(after)

    def serve(self, command, after=1.2):
        """Starts a command in the background."""
        self.type(f"{command} &", 0.6)
        process, terminal = self.start(command)
        self.add(f"[1] {process}")
        self.servers.append((process, terminal))
        time.sleep(1)
        self.pause(after)

    def kill(self):
        """Kills the background process, as `kill -9` does."""
        process, terminal = self.servers.pop()
        self.type(f"kill -9 {process}", 0.5)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
        self.add("[1]+  Killed                  runs serve")
        self.pause(1)


def spans(line):
    """Yields the parts of a line, with the column, the color and the weight of each."""
    color, bold, column = PLAIN, False, 0
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        if not part.startswith("\x1b"):
            if part:
                yield column, part, color, bold
            column += sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)
            continue
        codes = [int(code or 0) for code in part[2:-1].split(";")]
        if codes[:2] == [38, 5]:
            color = COLORS.get(codes[2] % 8 or 8, PLAIN)
            continue
        for code in codes:
            if code == 0:
                color, bold = PLAIN, False
            elif code == 1:
                bold = True
            elif code == 2:
                color = COLORS[8]
            elif code % 10 and code // 10 in (3, 9):
                color = COLORS.get(code % 10, PLAIN)


def draw(lines, end):
    """Returns the SVG. A line appears at its time, and the lines scroll up when the terminal is full. The recording plays once. Readers who prefer
    reduced motion, and viewers without animations, see the last frame."""
    width, height = COLUMNS * CELL[0] + 2 * MARGIN, BAR + ROWS * CELL[1] + 1.5 * MARGIN
    times = sorted({at for at, _ in lines})
    scrolls = [(0, 0)] + [(at, max(0, sum(it <= at for it, _ in lines) - ROWS)) for at in times if at]
    frames = " ".join(f"{at / end:.2%} {{ transform: translateY({-rows * CELL[1]}px) }}" for at, rows in scrolls)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
           f'font-size="{FONT}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace">',
           "<title>A misspelled field, a run, its kill, its restart and its approval in a terminal</title>",
           f"<style>@keyframes scroll {{ {frames} }} @keyframes show {{ from {{ opacity: 0 }} }}",
           f".rows {{ transform: translateY({-scrolls[-1][1] * CELL[1]}px); animation: scroll {end:.1f}s step-end both }}",
           ".line { animation: show 1ms both }",
           "@media (prefers-reduced-motion: reduce) { .rows, .line { animation: none } }</style>",
           f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8" fill="{BACKGROUND}" stroke="#444c56"/>']
    out += [f'<circle cx="{MARGIN + 4 + 19 * place}" cy="{BAR / 2 + 2}" r="5.5" fill="{color}"/>'
            for place, color in enumerate(["#ff5f57", "#febc2e", "#28c840"])]
    top = BAR + MARGIN / 2
    out.append(f'<svg y="{top}" width="{width:.0f}" height="{ROWS * CELL[1] + 4}"><g class="rows">')
    for row, (at, line) in enumerate(lines):
        if not line.strip():
            continue
        parts = []
        for column, text, color, bold in spans(line):
            # SVG would collapse several spaces in a row.
            for word in re.finditer(r"\S+(?: \S+)*", text):
                x = MARGIN + (column + word.start()) * CELL[0]
                weight = ' font-weight="bold"' if bold else ""
                parts.append(f'<text x="{x:.1f}" y="{row * CELL[1] + FONT}" textLength="{len(word[0]) * CELL[0]:.1f}" '
                             f'fill="{color}"{weight}>{html.escape(word[0])}</text>')
        shown = f' class="line" style="animation-delay:{at:.1f}s"' if at else ""
        out.append(f"<g{shown}>{''.join(parts)}</g>")
    out.append("</g></svg>\n</svg>")
    return "\n".join(out) + "\n"


def main():
    prepare()
    it = Recording()
    it.run("cargo check --quiet", after=2.5)
    it.run("sed -i 's/approval.from/approval.by/' src/shop/mod.rs", after=0.5)
    it.run("cargo build", after=1)
    it.serve("runs serve", after=0.5)
    it.run("runs order order-1", after=1)
    it.run("runs list", after=1.2)
    it.kill()
    it.serve("runs serve", after=0.5)
    it.run("runs show order-1", after=2)
    it.run("""runs signal order-1 approval '{"granted": true, "by": "Grace"}'""", before=1, after=1)
    it.run("runs show order-1", after=3)
    process, _ = it.servers.pop()
    os.kill(process, signal.SIGKILL)
    (ROOT / "docs/recording.svg").write_text(draw(it.lines, it.now))
    print("\n".join(f"{at:5.1f}  {line}" for at, line in it.lines), file=sys.stderr)


if __name__ == "__main__":
    main()
