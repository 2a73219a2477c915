// The form in which somebody changes the arguments of a call before the call is allowed: a field for each argument, or JSON.

import { changesOf, isObject, namesOf } from "./arguments.js";
import { UNSEEN, h, hide, list, say, show, tell } from "./dom.js";
import { field, kindOfJson } from "./field.js";
import { capital, exact, told } from "./server.js";
import { loadTools, tools, typeOf } from "./tools.js";

// Returns JSON text with the escapes of JSON for characters that nobody sees.
const escaped = (text) => text.replace(UNSEEN, (c) => (c === "\n" ? c : c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")));

// Typed arguments stay when the server asks again with another id.
const drafts = new Map();
// Returns the arguments that a person has changed and not sent.
export const draftOf = (key) => (drafts.get(key)?.isChanged ? drafts.get(key).text : null);

// The form field of an argument: of the type in the schema, or of the type of its value. JSON shows characters that nobody sees.
const kindOf = (schema, value) => {
  const type = [schema?.type ?? []].flat().filter((type) => type !== "null");
  const kind = type.length === 1 ? { string: "text", integer: "number", number: "number", boolean: "boolean" }[type[0]] ?? "json"
    : value === undefined ? "json" : { string: "text", boolean: "boolean" }[typeof value] ?? (/^-?\d/.test(JSON.stringify(value)) ? "number" : "json");
  const fits = value === undefined || (kind === "text" ? typeof value === "string" && value.replaceAll("\n", " ").search(UNSEEN) < 0 : kind === "number" ? /^-?\d/.test(JSON.stringify(value)) : kind !== "boolean" || typeof value === "boolean");
  return fits ? kind : "json";
};
const written = (kind, value) => (value === undefined ? "" : kind === "text" ? value : kind === "json" ? escaped(show(value)) : JSON.stringify(value));
const fieldsFor = (tool, values, name) => {
  const contract = list(tools.all).find((one) => one.name === tool);
  const properties = contract?.parameters?.properties ?? {};
  const required = new Set(list(contract?.parameters?.required));
  return namesOf(tool, { ...properties, ...values }).map((argument, at) => {
    const value = values[argument];
    const type = properties[argument] ? typeOf(properties[argument], contract.parameters) : undefined;
    const simple = kindOf(properties[argument], value);
    const kind = simple === "json" ? kindOfJson(type, value) : simple;
    const one = field({ name: argument, type, required: required.has(argument), kind, description: properties[argument]?.description }, `${name}-${at}`, true);
    one.control.value = written(kind, value);
    // The field of a short value has one line, and grows.
    if (one.control.localName === "textarea" && /^.{0,60}$/.test(one.control.value)) one.control.rows = 1;
    return { ...one, value, before: one.control.value };
  });
};
// Returns the arguments in the fields. An unchanged field keeps all digits of its value. Marks wrong fields, and returns `null`.
const valuesOf = (fields, marks) => {
  let wrong = null;
  const values = {};
  for (const one of fields) {
    try {
      const isKept = one.control.value === one.before && (one.value !== undefined || !one.required);
      const value = isKept ? one.value : one.read();
      if (value !== undefined) Object.defineProperty(values, one.name, { value, enumerable: true });
    } catch (problem) {
      if (marks) one.fail(problem.message);
      wrong ??= one;
    }
  }
  if (wrong && marks) wrong.control.focus();
  return wrong ? null : values;
};

// `load` returns the arguments as JSON text, `original` contains the arguments if the page knows them, `allow` gets the changed text and a function for a refusal of the server, and `back` is called when the form closes.
export const changing = (key, name, { tool, load, original, allow, back }) => {
  const whole = field({ name: "Changed arguments", type: "a JSON object", required: true, kind: "json" }, name);
  whole.control.rows = 8;
  let fields = null;
  const place = h("div", {});
  const focus = (one = fields ? fields[0] : whole) => one?.control.focus();
  const changes = h("div", { "aria-label": "Changes", role: "group" });
  const error = h("p", { class: "wrong", role: "alert" });
  const text = () => {
    const values = fields && valuesOf(fields, false);
    return fields ? values && JSON.stringify(values, null, 2) : whole.control.value;
  };
  // A value that is not complete yet keeps the last changes. It is not the original value.
  const compare = (event) => {
    try {
      const now = text();
      if (now !== null) drafts.set(key, { text: now, isOpen: true, isChanged: Boolean(event) || drafts.get(key)?.isChanged });
      changes.replaceChildren(...changesOf(original, exact(now ?? "")));
    } catch {
      changes.querySelector(":scope > .hint")?.remove();
    }
  };
  whole.control.addEventListener("input", compare);
  // Shows the fields of these arguments, or their JSON.
  const edit = (json, asJson) => {
    let values = null;
    try {
      values = exact(json);
    } catch {
      asJson = true;
    }
    asJson ||= !isObject(values);
    fields = asJson ? null : fieldsFor(tool, values, name);
    whole.control.value = json;
    for (const one of fields ?? []) one.control.addEventListener("input", compare);
    place.replaceChildren(...(fields ? fields.map(({ part }) => part) : [whole.part]));
    say(mode, fields ? "Edit as JSON" : "Edit as fields");
    tell(error, "");
    compare();
  };
  const mode = h("button", { type: "button", class: "link", onclick: () => {
    const json = fields ? valuesOf(fields, true) && escaped(text()) : whole.control.value;
    if (json === null) return;
    edit(json, Boolean(fields));
    focus();
  } });
  // An error about an argument is beside its field.
  const failed = (problem) => {
    const other = told(problem).split(/; |\n/).filter((part) => {
      const one = fields?.find((one) => part.toLowerCase().includes(`argument \`${one.name.toLowerCase()}\``));
      return !one?.fail(capital(part));
    });
    tell(error, other.map(capital).join("\n"));
    focus(fields?.find(({ control }) => control.classList.contains("invalid")));
  };
  const close = () => {
    hide(form, true);
    back();
  };
  const form = h("form", { hidden: !drafts.get(key)?.isOpen, novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    try {
      if (!fields) whole.read();
    } catch (problem) {
      whole.fail(problem.message);
      whole.control.focus();
      return;
    }
    if (fields && !valuesOf(fields, true)) return;
    tell(error, "");
    allow(text(), failed);
  } }, place, changes, error, h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Allow with these arguments"),
    h("button", { type: "button", onclick: () => {
      drafts.delete(key);
      close();
    } }, "Back"), mode));
  // The next opening has the typed arguments.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (drafts.has(key)) drafts.get(key).isOpen = false;
    close();
  });
  if (drafts.get(key)?.isOpen) edit(drafts.get(key).text, false);
  const open = async () => {
    const [json] = await Promise.all([load(), loadTools()]);
    original = exact(json);
    edit(drafts.get(key)?.text ?? escaped(json), false);
    hide(form, false);
    focus();
  };
  return { form, open, forget: () => drafts.delete(key) };
};
