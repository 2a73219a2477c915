// Completion in the editor: members, tools, arguments, and references to inputs and to outputs of earlier steps.

import { $, announce, bdi, h, hide, plural } from "./dom.js";
import { editor, insert, placeOf, text } from "./editor.js";
import { beginnings, proposals } from "./proposals.js";
import { scan } from "./scan.js";

const MOST = 12;
let open = null; // the choices, and the place of the text that a choice replaces

const close = () => {
  open = null;
  hide($("complete"), true);
  text.removeAttribute("aria-activedescendant");
};
// Returns the text of a choice with the part that the choice replaces, and the place of the caret in the text.
const written = ({ name: shown, value, text: whole, json, isRaw }, at) => {
  const name = JSON.stringify(shown).slice(1, -1);
  const rest = text.value.slice(at.end);
  if (whole) return { ...at, value: whole, caret: whole.indexOf('""') + 1 };
  if (json) {
    const quoted = JSON.stringify(json).replaceAll(/([:,])"/g, '$1 "').replaceAll(":{", ": {");
    return { start: at.start - (at.isBare ? 0 : 1), end: at.end + (at.isBare || at.isOpen ? 0 : 1), value: quoted };
  }
  const before = isRaw || !at.isBare ? "" : '"';
  const after = isRaw || !(at.isBare || at.isOpen) ? "" : '"';
  // A name has its value after it, unless a value is already there.
  if (at.isKey && !/^"?\s*:/.test(rest)) {
    const inner = at.isBare || at.isOpen ? 0 : 1;
    const given = `${before}${name}": ${value ?? ""}`;
    const hole = /""|\[\{\}\]|\{\}|\[\]/.exec(value ?? "");
    return { start: at.start, end: at.end + inner, value: given, caret: hole ? given.length - value.length + hole.index + (hole[0] === "[{}]" ? 2 : 1) : given.length };
  }
  // After a reference inside of a string, the string goes on.
  return { start: at.start, end: at.end, value: `${before}${name}${after}`, caret: at.isInside && after ? before.length + name.length : undefined };
};
const choose = (index) => {
  const { all, at } = open;
  close();
  const { start, end, value, caret = value.length } = written(all[index], at);
  insert(start, end, value);
  text.setSelectionRange(start + caret, start + caret);
  if (caret < value.length || all[index].value === "") suggest(true);
};
const mark = (index) => {
  open.index = (index + open.all.length) % open.all.length;
  [...$("complete").children].forEach((item, nth) => item.setAttribute("aria-selected", String(nth === open.index)));
  // `scrollIntoView` would also scroll the text away from its line numbers.
  const [list, { offsetTop, offsetHeight }] = [$("complete"), $("complete").children[open.index]];
  list.scrollTop = Math.min(offsetTop, Math.max(list.scrollTop, offsetTop + offsetHeight - list.clientHeight));
  text.setAttribute("aria-activedescendant", `complete-${open.index}`);
};
// The choices are below the string that a choice replaces, or above without room below, also after the text has scrolled.
const place = () => {
  if (!open) return;
  const { row, column } = placeOf(open.at.start);
  const { style, offsetWidth, offsetHeight } = $("complete");
  const [above, below] = [row, row + 1].map((at) => 8 + at * editor.line - text.scrollTop);
  style.top = `${below + offsetHeight > text.clientHeight && above > offsetHeight ? above - offsetHeight : below}px`;
  style.left = `${Math.max(4, Math.min(8 + column * 7.8, text.clientWidth - offsetWidth))}px`;
};
// A reference may be a part of a string. Then a choice replaces only this part.
const narrowed = (at, dialect) => {
  const mark = { "action plan": "{{", "blueprint": "${" }[dialect];
  const from = at && !at.isKey && !at.isBare && mark ? at.typed.lastIndexOf(mark) : -1;
  if (from < 0 || at.typed.slice(from).includes("}")) return at;
  const caret = at.start + at.typed.length;
  const [rest] = at.isOpen ? [""] : /^[\w.[\]]*\}*/.exec(text.value.slice(caret, at.end));
  const end = caret + rest.length;
  return { ...at, start: at.start + from, end, typed: at.typed.slice(from), isInside: from > 0 || (!at.isOpen && end < at.end) };
};
// Shows the choices at the caret. Outside of a string, only a person who asks for choices gets them.
const suggest = (isAsked) => {
  const caret = text.selectionStart;
  if (caret !== text.selectionEnd || text.value.length > 100_000) return close();
  const isEmpty = !text.value.trim();
  const found = isEmpty ? {} : scan(text.value, caret);
  if (found.at?.isBare && !isAsked) return close();
  const at = isEmpty ? { start: 0, end: text.value.length, typed: "" } : narrowed(found.at, found.dialect);
  const typed = (at?.typed ?? "").toLowerCase();
  const all = (isEmpty ? (isAsked ? beginnings() : []) : proposals({ ...found, at })).filter(({ name }) => name.toLowerCase().includes(typed) && name.toLowerCase() !== typed)
    .sort((a, b) => b.name.toLowerCase().startsWith(typed) - a.name.toLowerCase().startsWith(typed)).slice(0, MOST);
  if (!all.length) return close();
  open = { all, at, index: 0 };
  $("complete").replaceChildren(...all.map(({ name, about }, nth) => h("li", { id: `complete-${nth}`, role: "option", "aria-selected": "false", onmousedown: (event) => {
    event.preventDefault();
    choose(nth);
  } }, h("code", {}, name), " ", h("span", { class: "hint" }, bdi(about ?? "", 80)))));
  hide($("complete"), false);
  place();
  mark(0);
  announce(`${plural(all.length, "choice")}: ${all[0].name}`);
  return undefined;
};
text.addEventListener("input", ({ inputType }) => (["insertText", "deleteContentBackward"].includes(inputType) && !editor.inserts ? suggest(false) : close()));
text.addEventListener("keydown", (event) => {
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    suggest(true);
  }
  if (!open) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark(open.index + step);
  else if (event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) choose(open.index);
  else if (event.key === "Escape") close();
  else {
    if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "F8"].includes(event.key)) close();
    return;
  }
  event.preventDefault();
});
text.addEventListener("scroll", place, { passive: true });
for (const name of ["blur", "click"]) text.addEventListener(name, () => open && close());
