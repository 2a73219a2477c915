// Completion in the editor: names of tools and arguments, and references to outputs of earlier steps.

import { $, announce, bdi, h, hide, list } from "./dom.js";
import { editor, insert, text } from "./editor.js";
import { scan } from "./scan.js";
import { places, tools, typeOf } from "./tools.js";

const MOST = 12;
let open = null; // the choices, and the place of the text that a choice replaces

const reference = (dialect, step, path) => {
  if (dialect === "blueprint") return `\${step[${step.number}].data${path}}`;
  if (dialect === "tool plan") return `$ref:${step.id}${path}`;
  return `{{${step.id}.result${path}}}`;
};
// Returns what may be written at the caret, with a few words on each.
const choices = ({ at, steps, dialect }) => {
  if (!at) return [];
  const key = at.keys.at(-1);
  if (!at.isKey && (key === "tool" || (key === "name" && at.keys.at(-2) === "tool"))) return list(tools.all).map((tool) => [tool.name, tool.description]);
  const isGiven = at.keys.some((key) => key === "arguments" || key === "params");
  if (!isGiven || !at.step) return [];
  const tool = list(tools.all).find(({ name }) => name === at.step.tool);
  if (at.isKey) return Object.entries(tool?.parameters?.properties ?? {}).map(([name, schema]) => [name, typeOf(schema, tool.parameters)]);
  if (dialect === "plan JSON") return [];
  // Outputs of the argument's type come first.
  const wanted = typeOf(tool?.parameters?.properties?.[key], tool?.parameters);
  const fits = ([, type]) => type === wanted;
  return steps.filter((step) => step.number < at.step.number && step.tool && (step.id || dialect === "blueprint")).flatMap((step) => {
    const output = list(tools.all).find(({ name }) => name === step.tool)?.output;
    return [["", typeOf(output)], ...places(output)].map(([path, type]) => [reference(dialect, step, path), type]);
  }).sort((a, b) => fits(b) - fits(a));
};
const close = () => {
  open = null;
  hide($("complete"), true);
  text.removeAttribute("aria-activedescendant");
};
const choose = (index) => {
  const { all, at } = open;
  close();
  insert(at.start, at.end, `${all[index][0]}${at.isOpen ? '"' : ""}`);
};
const mark = (index) => {
  open.index = (index + open.all.length) % open.all.length;
  [...$("complete").children].forEach((item, nth) => item.setAttribute("aria-selected", String(nth === open.index)));
  $("complete").children[open.index].scrollIntoView({ block: "nearest" });
  text.setAttribute("aria-activedescendant", `complete-${open.index}`);
};
// The choices are below the string that a choice replaces, also after the text has scrolled.
const place = () => {
  if (!open) return;
  const { start } = open.at;
  const line = text.value.slice(0, start).split("\n").length;
  const column = start - text.value.lastIndexOf("\n", start - 1) - 1;
  const { style, offsetWidth } = $("complete");
  style.top = `${8 + line * editor.line - text.scrollTop}px`;
  style.left = `${Math.max(4, Math.min(8 + column * 7.8 - text.scrollLeft, text.clientWidth - offsetWidth))}px`;
};
const suggest = () => {
  const caret = text.selectionStart;
  if (caret !== text.selectionEnd || text.value.length > 100_000) return close();
  const found = scan(text.value, caret);
  const typed = (found.at?.typed ?? "").toLowerCase();
  const all = choices(found).filter(([name]) => name.toLowerCase().includes(typed) && name.toLowerCase() !== typed)
    .sort(([a], [b]) => b.toLowerCase().startsWith(typed) - a.toLowerCase().startsWith(typed)).slice(0, MOST);
  if (!all.length) return close();
  open = { all, at: found.at, index: 0 };
  $("complete").replaceChildren(...all.map(([name, about], nth) => h("li", { id: `complete-${nth}`, role: "option", "aria-selected": "false", onmousedown: (event) => {
    event.preventDefault();
    choose(nth);
  } }, h("code", {}, name), " ", h("span", { class: "hint" }, bdi(about ?? "", 80)))));
  hide($("complete"), false);
  place();
  mark(0);
  announce(`${all.length} choices: ${all[0][0]}`);
  return undefined;
};
text.addEventListener("input", (event) => (event.inputType === "insertText" || event.inputType === "deleteContentBackward" ? suggest() : close()));
text.addEventListener("keydown", (event) => {
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    suggest();
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
