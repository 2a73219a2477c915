// The samples and the tools with which somebody begins an empty plan.

import { $, cut, h, hide, list, put } from "./dom.js";
import { editor, insert, text, useSample } from "./editor.js";
import { skeletons } from "./scan.js";
import { add, tools } from "./tools.js";

// Writes a plan with one step, whose tool comes next.
const begin = (plan) => {
  insert(0, text.value.length, plan);
  const caret = plan.indexOf('""') + 1;
  text.setSelectionRange(caret, caret);
};
// Shows the choices while the text is empty.
export const showBegin = () => {
  const isEmpty = !text.value.trim();
  hide($("begin-card"), !isEmpty);
  for (const id of ["picture-card", "steps-card"]) hide($(id), isEmpty);
  const [samples, some] = [list(editor.samples), list(tools.all)];
  put($("begin"), [samples.map(({ title }) => title), some.map(({ name }) => name)], () => [
    samples.length ? [h("h3", {}, "Open a sample"), h("ul", { class: "items" }, samples.map((sample, at) => h("li", {},
      h("button", { type: "button", class: "link", onclick: () => useSample(at) }, cut(sample?.title ?? sample?.name, 120)), h("span", { class: "hint" }, " ", cut(sample?.about ?? "", 300)))))] : [],
    [h("h3", {}, "Or begin with one empty step, in one of four formats"), h("div", { class: "buttons" }, skeletons().map(([dialect, plan]) => h("button", { type: "button", class: "small", onclick: () => begin(plan) }, dialect)))],
    some.length ? [h("h3", {}, "Or add a step that calls a tool"), h("div", { class: "buttons" }, some.map((tool) => h("button", { type: "button", class: "small", title: tool.description ?? null, onclick: () => add(tool) }, h("code", {}, cut(tool.name, 80)))))] : [],
  ].flat());
};
