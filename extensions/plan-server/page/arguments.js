// The arguments of a call for people: each argument in full under its name, and changed arguments beside the original values.

import { marked } from "./diff.js";
import { UNSEEN, block, cut, h, json, list, show, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { isJson } from "./scan.js";
import { tools } from "./tools.js";

// Sorts the members of objects, so that equal values are equal text.
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object" || JSON.isRawJSON?.(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};
export const differ = (a, b) => JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b));
// A string is text, unless the text would look like another value, or contains characters that nobody sees.
const isText = (value) => typeof value === "string" && value.trim() !== "" && value.replaceAll("\n", " ").search(UNSEEN) < 0 && !isJson(value);
const textOf = (value) => (isText(value) ? value : show(value));
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !JSON.isRawJSON?.(value);

// A long text scrolls, so the keyboard needs to reach the text.
const scrolls = (text) => text.length > 600 || text.split("\n").length > 8;

// The names of arguments in the order of their tool: the required arguments, in the order of the contract, and then the others.
export const namesOf = (tool, given) => {
  const required = list(list(tools.all).find(({ name }) => name === tool)?.parameters?.required);
  return [...new Set([...required.filter((name) => Object.hasOwn(given, name)), ...Object.keys(given)])];
};
// Returns the fields of a call's arguments with at most this number of characters each. `note` returns a note about an argument.
export const fieldsOf = (given, most, note = () => null, tool = null) => {
  if (!isObject(given)) return h("pre", { tabindex: "0", "aria-label": "Arguments of the call" }, json(block(show(given ?? null), most)));
  const all = namesOf(tool, given).map((name) => [name, given[name]]);
  if (!all.length) return h("p", { class: "none" }, "The call has no arguments.");
  return h("dl", { class: "arguments" }, all.flatMap(([name, value]) => [h("dt", {}, h("code", {}, cut(name, 200))),
    h("dd", {}, h("pre", scrolls(textOf(value)) ? { tabindex: "0", role: "group", "aria-label": `Argument ${name}` } : {}, isText(value) ? block(value, most) : json(block(show(value), most))), note(name))]));
};
// Returns the arguments of several calls: the arguments that are equal in all calls, and a table of the others.
export const tableOf = (some, note) => {
  const all = some.map(({ arguments: given }) => given);
  if (!all.every(isObject)) return [h("p", { class: "hint" }, "“Answer one by one” shows the arguments of each call.")];
  const [{ tool }] = some;
  const names = namesOf(tool, Object.assign({}, ...all));
  const other = names.filter((name) => all.some((given) => differ(given[name], all[0][name])));
  const same = Object.fromEntries(names.filter((name) => !other.includes(name)).map((name) => [name, all[0][name]]));
  const cell = (value) => (value === undefined ? h("span", { class: "none" }, "none") : h("bdi", { class: "value" }, block(textOf(value), LIMITS.shown)));
  return [other.length ? table("Arguments that differ", ["Call", ...other], some.map(({ path, arguments: given }) => ({ cells: [h("code", {}, cut(path, 300)), ...other.map((name) => cell(given[name]))] }))) : [],
    other.map(note).some(Boolean) ? other.map((name) => [name, note(name)]).filter(([, from]) => from).map(([name, from]) => h("div", { class: "pair" }, h("code", {}, cut(name, 200)), from)) : [],
    Object.keys(same).length || !other.length ? [h("p", { class: "hint" }, other.length ? "Equal in all calls:" : "All calls have equal arguments:"), fieldsOf(same, LIMITS.shown, note, tool)] : []].flat(2);
};

const side = (label, name, value, other, element) => h("div", {}, h("p", { class: "hint" }, label),
  value === undefined ? h("p", { class: "none" }, "none") : h("pre", { tabindex: "0", "aria-label": `${label} value of ${name}` }, other === undefined ? block(textOf(value)) : marked(textOf(value), textOf(other), element)));
// Returns each changed argument, with its original value at the left and its changed value at the right.
export const changesOf = (original, changed) => {
  if (!isObject(original) || !isObject(changed)) return [];
  const names = [...new Set([...Object.keys(original), ...Object.keys(changed)])].filter((name) => differ(original[name], changed[name]));
  if (!names.length) return [h("p", { class: "hint" }, "All arguments have their original values.")];
  return names.map((name) => h("div", { class: "changes" }, h("p", { class: "changed-name" }, h("code", {}, cut(name, 200))),
    side("Original", name, original[name], changed[name], "del"), side("Changed", name, changed[name], original[name], "ins")));
};
