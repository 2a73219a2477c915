// The form in which somebody changes the arguments of a call before the call is allowed.

import { changesOf } from "./arguments.js";
import { UNSEEN, h, hide } from "./dom.js";
import { field } from "./field.js";
import { exact } from "./server.js";

// Returns JSON text with the escapes of JSON for characters that nobody sees.
const escaped = (text) => text.replace(UNSEEN, (c) => (c === "\n" ? c : c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")));

// Typed arguments stay when the server asks again with another id.
const drafts = new Map();

// `load` returns the arguments as JSON text, `original` contains the arguments if the page knows them, `allow` gets the changed text, and `back` is called when the form closes.
export const changing = (key, name, { load, original, allow, back }) => {
  const one = field({ name: "Changed arguments", type: "a JSON object", required: true, kind: "json" }, name);
  one.control.rows = 8;
  one.control.value = drafts.get(key) ?? "";
  const changes = h("div", { "aria-label": "Changes", role: "group" });
  // Text that is not JSON yet keeps the last changes.
  const compare = () => {
    try {
      changes.replaceChildren(...changesOf(original, exact(one.control.value)));
    } catch {
      return;
    }
  };
  one.control.addEventListener("input", () => {
    drafts.set(key, one.control.value);
    compare();
  });
  if (drafts.has(key)) compare();
  const form = h("form", { hidden: !drafts.has(key), novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    try {
      one.read();
    } catch (problem) {
      one.fail(problem.message);
      one.control.focus();
      return;
    }
    // The text keeps all digits of each number.
    allow(one.control.value);
  } }, one.part, changes, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Allow with these arguments"),
    h("button", { type: "button", onclick: () => {
      drafts.delete(key);
      one.fail("");
      hide(form, true);
      back();
    } }, "Back")));
  const open = async () => {
    one.control.value = escaped(await load());
    original = exact(one.control.value);
    drafts.set(key, one.control.value);
    compare();
    hide(form, false);
    one.control.focus();
  };
  return { form, open, forget: () => drafts.delete(key) };
};
