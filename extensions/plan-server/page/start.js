import { showBegin } from "./begin.js";
import { $, cut, h, hide, list, say, show, tell } from "./dom.js";
import { check, editor, found, steps, text } from "./editor.js";
import { field, kindOfJson } from "./field.js";
import { LIMITS } from "./limits.js";
import { api, capital, told } from "./server.js";
import { remember } from "./store.js";

let fields = [];

let filled = {};
// Fills in the inputs of another run, and its way to approve calls.
export const prefill = (inputs, approve) => {
  filled = inputs;
  showInputs.last = null;
  const choice = ["each", "none"].includes(approve) ? $("start-form").querySelector(`[name=approve][value="${approve}"]`) : null;
  if (choice) choice.checked = true;
};
const showInputs = () => {
  const inputs = list(editor.plan?.inputs).filter((input) => input && typeof input === "object").slice(0, LIMITS.rows);
  const same = JSON.stringify(inputs);
  hide($("inputs"), !inputs.length);
  if (showInputs.last === same) return;
  showInputs.last = same;
  // What was filled in stays for inputs that are still there.
  const before = new Map(fields.map(({ name, kind, control }) => [`${kind} ${name}`, control.value]));
  fields = inputs.map((input, at) => field({ ...input, kind: input.kind === "json" ? kindOfJson(input.type) : input.kind, name: String(input.name) }, `input-${at}`));
  for (const { name, kind, control } of fields) if (before.has(`${kind} ${name}`)) control.value = before.get(`${kind} ${name}`);
  for (const { name, kind, control } of fields) {
    if (!Object.hasOwn(filled, name)) continue;
    control.value = kind !== "json" && kind !== "list" && typeof filled[name] === "string" ? filled[name] : show(filled[name]);
    delete filled[name];
  }
  const hint = fields.some(({ required }) => required) ? h("p", { class: "hint" }, h("span", { class: "must" }, "*"), " must be filled in.") : "";
  $("inputs").querySelector("div").replaceChildren(hint, ...fields.map(({ part }) => part));
};
const ready = () => {
  const errors = editor.findings.filter(({ severity }) => severity === "error").length;
  const why = !text.value.trim() ? "Write a plan first." : errors ? "Correct the errors first." : !editor.checked ? "The plan is not checked yet. If the check failed, the list of errors and warnings has the reason." : "";
  $("start").setAttribute("aria-disabled", String(Boolean(why)));
  say($("start-why"), why);
  return !why;
};
editor.changed = () => {
  showBegin();
  showInputs();
  ready();
};
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  $("start-form").requestSubmit();
});
let starting = false;
$("start-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (starting || !ready()) return;
  starting = true;
  tell($("start-error"), "");
  try {
    // What runs is what is in the text now, not what was checked a moment ago.
    if (editor.checked.text !== text.value || editor.checked.profile !== $("profile").value) await check();
    if (!ready()) return;
    const inputs = {};
    let wrong = null;
    for (const one of fields) {
      try {
        const value = one.read();
        one.fail("");
        if (value !== undefined) Object.defineProperty(inputs, one.name, { value, enumerable: true });
      } catch (problem) {
        one.fail(problem.message);
        wrong ??= one;
      }
    }
    if (wrong) {
      wrong.control.focus();
      return;
    }
    $("start").setAttribute("aria-busy", "true");
    const approve = $("start-form").querySelector("[name=approve]:checked").value;
    const { text: source, profile } = editor.checked;
    const name = $("start-name").value.trim();
    const { id } = await api("/api/runs", { method: "POST", body: { text: source, profile, inputs, approve, ...(name ? { name } : {}) } });
    $("start-name").value = "";
    remember(String(id), { text: source, profile, svg: editor.plan.svg, steps: steps().map(({ path, tool }) => ({ path, tool })) });
    location.hash = `#/runs/${encodeURIComponent(id)}`;
  } catch (error) {
    if (error.status === 422) refusedInputs(error);
    else if (error.status !== 401) tell($("start-error"), told(error));
  } finally {
    starting = false;
    $("start").removeAttribute("aria-busy");
  }
});
// The inputs that the server finds wrong, by their names.
const refusedInputs = (error) => {
  const wrong = fields.filter(({ name }) => Object.hasOwn(error.body?.inputs ?? {}, name));
  for (const one of wrong) one.fail(capital(cut(error.body.inputs[one.name])));
  tell($("start-error"), wrong.length ? "Correct the marked inputs." : told(error));
  if (list(error.body?.findings).length) found({ findings: error.body.findings, plan: null }, text.value, $("profile").value);
  wrong[0]?.control.focus();
};
