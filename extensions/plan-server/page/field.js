import { bdi, h, hide, prose, tell } from "./dom.js";
import { exact } from "./server.js";

// A help with JSON of a type.
const example = (type) => (/^list of|\[\]$|^Vec</.test(type) ? `Write a list, such as ${/number|[iuf]\d+/.test(type) ? "[12, 13]" : '["Oslo"]'}.`
  : /^(\{|object|a JSON object)/.test(type) ? 'Write an object, such as {"city": "Oslo"}.' : 'Put words in double quotes, such as "Oslo".');
// A field for a value. `read` returns the value, undefined if there is none, or throws what is wrong.
export const field = ({ name, type, required, kind, description }, id, multiline = false) => {
  const whole = kind === "number" && /^(Option<)?[iu](8|16|32|64|128|size)>?$/.test(String(type).trim());
  // Names of types that everybody knows, where there are some.
  const named = { text: "text", boolean: "yes or no", number: whole ? "whole number" : "number" }[kind] ?? type ?? kind;
  const error = h("p", { class: "wrong", id: `${id}-error`, role: "alert" });
  const about = h("p", { class: "hint", id: `${id}-about` }, description ? prose(description) : "");
  hide(about, !description);
  const common = { id, "aria-describedby": `${id}-about ${id}-error`, "aria-required": String(Boolean(required)), autocomplete: "off" };
  const control = kind === "boolean" ? h("select", common, h("option", { value: "" }, "Choose…"), h("option", { value: "true" }, "Yes"), h("option", { value: "false" }, "No"))
    : kind === "json" ? h("textarea", { ...common, class: "field mono", rows: "3", spellcheck: "false" })
    : kind === "number" ? h("input", { ...common, type: "text", inputmode: "decimal" })
    : multiline ? h("textarea", { ...common, class: "field", rows: "3" }) : h("input", { ...common, type: "text" });
  const shown = h("label", { for: id }, bdi(name, 200), required ? h("span", { class: "must", title: "required" }, " *") : "",
    h("span", { class: "type" }, " ", bdi(named, 120), required ? "" : ", optional"));
  const fail = (message) => {
    tell(error, message);
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
    return Boolean(message);
  };
  const read = () => {
    const given = control.value;
    if (!given.trim()) {
      if (required) throw new Error(kind === "boolean" ? "Choose yes or no." : "Enter a value.");
      return undefined;
    }
    if (kind === "boolean") return given === "true";
    if (kind === "number") {
      // The forms of numbers in JSON; others, such as `0x10`, would be another number to a reader.
      if (!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(given)) throw new Error("Enter a number, such as 12 or 0.5.");
      if (whole && !/^\s*-?\d+\s*$/.test(given)) throw new Error("Enter a whole number, such as 12.");
      if (!Number.isFinite(Number(given))) throw new Error("This number is too large.");
      if (/^\s*-?\d+\s*$/.test(given) && !Number.isSafeInteger(Number(given))) throw new Error("This number has too many digits. Enter a number with at most 15 digits.");
      return Number(given);
    }
    if (kind === "json") {
      try {
        return exact(given);
      } catch {
        throw new Error(`The value is not JSON. ${example(String(type).trim())}`);
      }
    }
    return given;
  };
  control.addEventListener("input", () => fail(""));
  return { name, control, fail, read, kind, part: h("div", { class: "input" }, shown, about, control, error) };
};
