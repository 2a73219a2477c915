import { LIMITS, SIGNS } from "./limits.js";

export const $ = (id) => document.getElementById(id);

// What nobody sees, or turns the text around it, is shown as the escape that the server has for it, so that people read what programs read.
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]|(?<=\p{M}{4})\p{M}/gu;
const escaped = (c) => ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`;
export const seen = (text) => text.replace(UNSEEN, escaped);
// The same of a text that may have several lines.
export const lines = (text) => text.replace(UNSEEN, (c) => (c === "\n" ? c : escaped(c)));
export const SHOWN = new Set(["alt", "aria-description", "aria-label", "aria-valuetext", "data-label", "placeholder", "title"]);

export const h = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, SHOWN.has(key) ? seen(String(value)) : value);
  }
  const shown = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...shown.map((child) => (child instanceof Node ? child : lines(String(child)))));
  return element;
};
const limited = (text, most) => (text.length > most ? `${text.slice(0, most)}… (${(text.length - most).toLocaleString()} more characters)` : text);
// A value on one line, unless it is an object, and a text of several lines.
export const cut = (value, most = LIMITS.words) =>
  typeof value === "string" ? limited(seen(value.slice(0, most + 1)) + value.slice(most + 1), most) : value === null || value === undefined ? "" : block(show(value), most);
export const block = (text, most = LIMITS.words) => lines(limited(text, most));
export const show = (value) => {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return String(value);
  }
};
export const bdi = (text, most) => h("bdi", {}, cut(text, most));
// The name of a step or of a tool, which breaks between its words if its line is too short.
export const named = (text, most) => h("bdi", { class: "named" }, cut(text, most).split(/(?<=[_.])/).flatMap((part, at) => [at ? h("wbr") : null, part]));
// The name of a run, if a person gave a name, and the name of its plan.
export const called = ({ name, plan }) => [name, plan || "a plan without a name"].filter(Boolean).flatMap((one, at) => [at ? " · " : "", bdi(one, 200)]);
// A message, with what is in backquotes as code.
export const prose = (text) => h("bdi", {}, block(typeof text === "string" ? text : cut(text)).split(/(`[^`\n]+`)/).filter(Boolean).map((part) => (/^`[^`]+`$/.test(part) ? h("code", {}, part.slice(1, -1)) : part)));
export const list = (value) => (Array.isArray(value) ? value : []);
export const plural = (count, one, more = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : more}`;
export const hide = (element, hidden) => { element.hidden = hidden; };
// Replaces what is in an element, unless it would be the same again: a screen reader would say it again.
export const say = (element, text) => {
  const shown = lines(text);
  if (element.textContent !== shown) element.textContent = shown;
};
// Replaces the text of an element by a message, with the parts in backquotes as code.
export const tell = (element, text) => {
  if (element.told === text) return;
  element.told = text;
  element.replaceChildren(text ? prose(text) : "");
};
// JSON as text with colors. A string that is written from right to left does not turn what is around it.
export const json = (text) => text.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?|-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b)/).filter(Boolean).map((part) =>
  (part.startsWith('"') ? h("bdi", { class: part.endsWith(":") ? "key" : "string" }, part) : /^[-\dtfn]/.test(part) ? h("span", { class: "number" }, part) : part));

export const stateOf = (state) => {
  const known = ["running", "waiting", "done", "failed", "cancelled"].includes(state) ? state : "not-started";
  return h("span", { class: `state ${known}` }, h("span", { "aria-hidden": "true" }, SIGNS[state] ?? "·"), cut(state, 40));
};

// What changes is announced now and then, in one sentence, not with every event.
const announced = [];
let announcing = 0;
export const announce = (text) => {
  const sentence = /[.?!…]$/.test(text) ? text : `${text}.`;
  if (!announced.includes(sentence)) announced.push(sentence);
  announced.splice(0, announced.length - 6);
  announcing ||= setTimeout(() => {
    announcing = 0;
    $("spoken").textContent = "";
    say($("spoken"), announced.splice(0).join(" "));
  }, 700);
};
// Forgets the sentences of a page that somebody leaves.
export const hush = () => {
  clearTimeout(announcing);
  announcing = 0;
  announced.length = 0;
  say($("spoken"), "");
};

// Roles are written out, since a table that is stacked on a narrow screen would lose its own.
export const table = (label, heads, rows, more = 0) => {
  const body = rows.map(({ cells, ...attributes }) => h("tr", { role: "row", ...attributes }, cells.map((cell, at) =>
    h(at ? "td" : "th", { role: at ? "cell" : "rowheader", scope: at ? null : "row", "data-label": heads[at] }, cell))));
  const made = h("table", { class: "stacked", role: "table", "aria-label": label },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { scope: "col", role: "columnheader" }, head)))),
    h("tbody", { role: "rowgroup" }, body));
  return [h("div", { class: "table", tabindex: rows.length > 8 ? "0" : null, role: "group", "aria-label": label }, made),
    more > 0 ? h("p", { class: "hint" }, `${plural(more, "more")} not shown.`.replace("mores", "more")) : null].filter(Boolean);
};

export const put = (place, key, make) => {
  // What did not change keeps its focus and its place.
  const now = JSON.stringify(key) ?? "";
  if (place.keyed === now) return;
  place.keyed = now;
  place.replaceChildren(...[make()].flat().filter(Boolean));
};

// The status of a step in words.
export const spoken = (status) => (status === "waiting" ? "waiting for you" : status ?? "not started");
export const stateLike = (status) => h("span", { class: `state ${status in SIGNS ? status : "not-started"}` }, h("span", { "aria-hidden": "true" }, SIGNS[status] ?? "·"), cut(spoken(status), 40));
// The progress of a list, such as "168 of 500, 2 failed".
export const progress = ({ elements, ended, failed }) => `${ended.toLocaleString()} of ${elements.toLocaleString()}${failed ? `, ${failed.toLocaleString()} failed` : ""}`;
// Copies a text. Without a secure context, a browser saves the text as a file.
export const copy = async (button, text, file) => {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied");
    say(button, "Copied");
    setTimeout(() => say(button, label), 2000);
  } catch {
    save(file, text, "text/plain");
  }
};
export const fileName = (...parts) => parts.map((part) => String(part).replaceAll(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60)).filter(Boolean).join("-");
export const save = (name, content, type = "application/json") => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
