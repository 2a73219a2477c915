"""Shows the pages of rustdoc in mdBook: assembles each page as `mod.rs` does, and changes its title, links and code blocks."""
import json
import re
import sys
from pathlib import Path
from posixpath import dirname, join, relpath

GUIDE = Path(__file__).parent.parent / "plan-runtime/src/guide"
API = "../doc/plan_runtime/index.html"  # from the root of the book; `cargo doc` writes it


def assembled():
    """The source of each page by its path, such as `recipes/saga.md`."""
    pages, lines, page = {}, [], None
    for line in (GUIDE / "mod.rs").read_text().splitlines():
        line = line.strip()
        if included := re.match(r'#!?\[doc = include_str!\("(.*)"\)\]', line):
            if included[1] == "links.md":  # The pages themselves contain these links, for mdBook and for repositories.
                continue
            page = page or included[1]
            lines += (GUIDE / included[1]).read_text().splitlines()
        elif line.startswith("///") and not line.startswith("/// Next:"):
            lines.append(line[4:])
        elif page and not line.startswith("///"):
            pages[page], lines, page = "\n".join(lines), [], None
    return pages


def link(target, page):
    """The address of an intra-doc link, seen from a page."""
    path = re.sub(r"^\w+@", "", target).partition("#")[0]
    if not re.match(r"(crate|std)::|crate$", path):
        return target
    to_root = relpath(".", dirname(page) or ".")
    if path.startswith("std::"):
        return f"https://doc.rust-lang.org/std/?search={path}"
    return f"{join(to_root, API)}?search={path.removeprefix('crate::')}"


def shown(source, page, title):
    """The page as mdBook can show it."""
    lines, fence = [f"# {title}", ""], None
    for line in source.splitlines():
        if opened := re.match(r"(\s*)```(.*)$", line):
            is_code = opened[2] in ("", "no_run", "compile_fail")
            if fence is None and is_code:
                line = f"{opened[1]}```rust" + (f",{opened[2]}" if opened[2] else "")
            fence = opened[2] if fence is None else None
        elif fence is None:
            line = re.sub(r"^#", "##", line)
            line = re.sub(r"\]\(([^)]*)\)", lambda it: f"]({link(it[1], page)})", line)
        lines.append(line)
    return "\n".join(lines)


def change(items, pages):
    for chapter in (item["Chapter"] for item in items if "Chapter" in item):
        page = chapter["path"]
        chapter["content"] = shown(pages[page], page, chapter["name"])
        change(chapter["sub_items"], pages)


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
_, book = json.load(sys.stdin)
change(book.get("items") or book["sections"], assembled())
json.dump(book, sys.stdout)
