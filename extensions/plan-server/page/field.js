import { UNSEEN, bdi, h, hide, list, prose, tell } from "./dom.js";
import { exact } from "./server.js";

// A help with JSON of a type.
const example = (type) => (/^list of|\[\]$|^Vec</.test(type) ? `Write a list, such as ${/number|[iuf]\d+/.test(type) ? "[12, 13]" : '["Oslo"]'}.`
  : /^(\{|object|a JSON object)/.test(type) ? 'Write an object, such as {"city": "Oslo"}.' : 'Put words in double quotes, such as "Oslo".');
// The kind of the entries of a list type, such as `Vec<String>` or "list of text", or of a number type.
const KINDS = [["text", /^(text|string|str)$/i], ["whole number", /^(whole number|integer|[iu](8|16|32|64|128|size))$/], ["number", /^(number|f32|f64)$/]];
const kindOf = (type) => KINDS.find(([, names]) => names.test(type))?.[0];
const bare = (type) => String(type).trim().replace(/^Option<(.*)>$/, "$1").replace(/ or null$/, "");
const entryOf = (type) => kindOf(/^(?:list of (.+)|Vec<(.+)>|(.+)\[\])$/.exec(bare(type))?.slice(1).find(Boolean));
const MOST = 50;
// Returns "list" for JSON of a type whose values are lists of texts or numbers. A text that a line cannot show stays JSON.
export const kindOfJson = (type, value) => {
  const entry = entryOf(type);
  const fits = (one) => (entry === "text" ? typeof one === "string" && one !== "" && one.search(UNSEEN) < 0 : /^-?\d/.test(JSON.stringify(one)));
  return entry && (value === undefined || (Array.isArray(value) && value.length <= MOST && value.every(fits))) ? "list" : "json";
};
const numberOf = (given, isWhole) => {
  // The forms of numbers in JSON; others, such as `0x10`, would be another number to a reader.
  if (!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(given)) throw new Error("Enter a number, such as 12 or 0.5.");
  if (isWhole && !/^\s*-?\d+\s*$/.test(given)) throw new Error("Enter a whole number, such as 12.");
  if (!Number.isFinite(Number(given))) throw new Error("This number is too large.");
  if (/^\s*-?\d+\s*$/.test(given) && !Number.isSafeInteger(Number(given))) throw new Error("This number has too many digits. Enter a number with at most 15 digits.");
  return Number(given);
};
// One field for each entry of a list. The `value` of the element is the JSON of the list, or empty for no list.
const listOf = (name, entry, common) => {
  let isList = false;
  const rows = h("div", {});
  const entries = () => [...rows.querySelectorAll("input")];
  const changed = () => {
    isList = true;
    entries().forEach((one, at) => {
      one.setAttribute("aria-label", `Entry ${at + 1} of ${name}`);
      one.nextSibling.setAttribute("aria-label", `Remove entry ${at + 1} of ${name}`);
    });
  };
  const tellOthers = () => control.dispatchEvent(new Event("input"));
  const push = (text) => {
    const remove = () => {
      const at = entries().indexOf(one);
      one.parentElement.remove();
      changed();
      tellOthers();
      (entries()[Math.max(at - 1, 0)] ?? add).focus();
    };
    const one = h("input", { type: "text", autocomplete: "off", ...(entry === "text" ? {} : { inputmode: "decimal" }), onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      add.click();
    } });
    one.value = text;
    rows.append(h("div", { class: "entry" }, one, h("button", { type: "button", class: "small", onclick: remove }, "Remove")));
    changed();
    return one;
  };
  const add = h("button", { type: "button", class: "small", onclick: () => {
    const one = push("");
    tellOthers();
    one.focus();
  } }, "Add an entry");
  const control = h("div", { id: common.id, class: "list-of", role: "group", "aria-labelledby": `${common.id}-label`, "aria-describedby": common["aria-describedby"] }, rows, add);
  const read = () => entries().map((one, at) => {
    try {
      if (!one.value.trim()) throw new Error("Enter a value, or remove the entry.");
      return entry === "text" ? one.value : numberOf(one.value, entry === "whole number");
    } catch (problem) {
      one.setAttribute("aria-invalid", "true");
      control.focus = () => one.focus();
      throw new Error(`Entry ${at + 1}: ${problem.message}`);
    }
  });
  control.addEventListener("input", () => {
    for (const one of entries()) one.removeAttribute("aria-invalid");
    control.focus = first;
  });
  const first = () => (entries()[0] ?? add).focus();
  control.focus = first;
  Object.defineProperty(control, "value", {
    get: () => (isList ? `[${entries().map(({ value }) => (entry === "text" ? JSON.stringify(value) : value.trim())).join(", ")}]` : ""),
    set: (text) => {
      rows.replaceChildren();
      isList = text.trim() !== "";
      for (const one of isList ? list(exact(text)) : []) push(typeof one === "string" ? one : JSON.stringify(one));
    },
  });
  return { control, read };
};
// A field for a value. `read` returns the value, undefined if there is none, or throws what is wrong.
export const field = ({ name, type, required, kind, description }, id, multiline = false) => {
  const whole = kind === "number" && kindOf(bare(type)) === "whole number";
  // Names of types that everybody knows, where there are some.
  const named = { text: "text", boolean: "yes or no", number: whole ? "whole number" : "number", list: `list of ${entryOf(type)}` }[kind] ?? type ?? kind;
  const error = h("p", { class: "wrong", id: `${id}-error`, role: "alert" });
  const about = h("p", { class: "hint", id: `${id}-about` }, description ? prose(description) : "");
  hide(about, !description);
  const common = { id, "aria-describedby": `${id}-about ${id}-error`, "aria-required": String(Boolean(required)), autocomplete: "off" };
  const rows = kind === "list" ? listOf(name, entryOf(type), common) : null;
  const control = rows ? rows.control
    : kind === "boolean" ? h("select", common, h("option", { value: "" }, "Choose…"), h("option", { value: "true" }, "Yes"), h("option", { value: "false" }, "No"))
    : kind === "json" ? h("textarea", { ...common, class: "field mono", rows: "3", spellcheck: "false" })
    : kind === "number" ? h("input", { ...common, type: "text", inputmode: "decimal" })
    : multiline ? h("textarea", { ...common, class: "field", rows: "3" }) : h("input", { ...common, type: "text" });
  const shown = h(rows ? "span" : "label", { id: `${id}-label`, for: rows ? null : id }, bdi(name, 200), required ? h("span", { class: "must", title: "required" }, " *") : "",
    h("span", { class: "type" }, " ", bdi(named, 120), required ? "" : ", optional"));
  const fail = (message) => {
    tell(error, message);
    control.classList.toggle("invalid", Boolean(message));
    if (message && !rows) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
    return Boolean(message);
  };
  const read = () => {
    const given = control.value;
    if (!given.trim()) {
      if (required) throw new Error(kind === "boolean" ? "Choose yes or no." : rows ? "Add an entry." : "Enter a value.");
      return undefined;
    }
    if (kind === "boolean") return given === "true";
    if (kind === "number") return numberOf(given, whole);
    if (rows) return rows.read();
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
  return { name, control, fail, read, kind, required: Boolean(required), part: h("div", { class: "input" }, shown, about, control, error) };
};
