// The form in which somebody changes the arguments of a call before the call is allowed.

import { UNSEEN, h, hide } from "./dom.js";
import { field } from "./field.js";

// Returns JSON text with the escapes of JSON for characters that nobody sees.
const escaped = (text) => text.replace(UNSEEN, (c) => (c === "\n" ? c : c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")));

// Typed arguments stay when the server asks again with another id.
const drafts = new Map();

// `load` returns the arguments as JSON text, `allow` gets the changed text, and `back` is called when the form closes.
export const changing = (key, name, { load, allow, back }) => {
  const one = field({ name: "Changed arguments", type: "a JSON object", required: true, kind: "json" }, name);
  one.control.rows = 8;
  one.control.value = drafts.get(key) ?? "";
  one.control.addEventListener("input", () => drafts.set(key, one.control.value));
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
  } }, one.part, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Allow with these arguments"),
    h("button", { type: "button", onclick: () => {
      drafts.delete(key);
      one.fail("");
      hide(form, true);
      back();
    } }, "Back")));
  const open = async () => {
    one.control.value = escaped(await load());
    drafts.set(key, one.control.value);
    hide(form, false);
    one.control.focus();
  };
  return { form, open, forget: () => drafts.delete(key) };
};
