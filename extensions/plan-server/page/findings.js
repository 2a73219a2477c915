// The list of errors and warnings, with the corrections that their help proposes.

import { $, UNSEEN, announce, cut, h, plural, prose, say, seen } from "./dom.js";
import { check, editor, insert, number, placeOf, text } from "./editor.js";
import { LIMITS } from "./limits.js";
import { scan } from "./scan.js";
import { capital } from "./server.js";

const SPACE = /[\r\n\t]/g;
// Invisible characters are a warning of the page, with a label for each character.
export const unseen = (value) => {
  const all = [...value.slice(0, LIMITS.text).replaceAll(SPACE, " ").matchAll(UNSEEN)];
  if (!all.length) return [];
  const found = all.slice(0, LIMITS.signs);
  const labels = found.map(({ 0: sign, index: offset }) => {
    const before = value.slice(0, offset);
    const column = offset - before.lastIndexOf("\n");
    return { start: { offset, line: before.split("\n").length, column }, end: { offset: offset + sign.length }, text: `\`${seen(sign)}\` at column ${column}` };
  });
  labels[0].text = "";
  const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(found[0][0]) ? " It can change the order of the text after it." : "";
  return [{ severity: "warning", code: "invisible", message: `The text contains ${all.length === 1 ? "an invisible character" : `${all.length.toLocaleString()} invisible characters`}. The ${all.length === 1 ? "character" : "first"} is \`${seen(found[0][0])}\`.${turns}`, labels }];
};
// Writes the invisible characters of strings as escapes, and removes the others.
const visible = (value) => value.replaceAll(/"(?:[^"\\\n]|\\.)*"?|[^"]+/g, (part) => part.replaceAll(UNSEEN, (sign) =>
  (/^[\r\n\t]$/.test(sign) ? sign : part[0] !== '"' ? "" : [...Array(sign.length).keys()].map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""))));

// The corrections that the help of a finding proposes, each with the part of the text that it replaces.
const corrections = (finding) => {
  const { code, help, labels: [label] } = finding;
  if (code === "invisible" && label) return [{ label: "Escape or remove the characters", start: label.start, end: text.value.length, value: visible(text.value).slice(label.start) }];
  if (label && ["unknown-member", "unknown-argument"].includes(code)) {
    const member = memberAt(text.value, label);
    const [, other] = /; to wait for another step, write `([^`]+)`$/.exec(help ?? "") ?? [];
    if (other && member) return [{ label: "", ...member, value: other }];
    if (member && /^(the members of an? |remove `)/.test(help ?? "")) return [{ label: "Remove the member", ...member.whole, value: "" }];
  }
  const value = proposed(finding);
  if (value !== null) return [{ label: "", start: label.start, end: label.end, value }];
  const [, condition] = /^call the tool only if the value is present: `("if": .*)`$/s.exec(help ?? "") ?? [];
  const step = label && scan(text.value).steps.find(({ start, end }) => start <= label.start && label.end <= end);
  if (!condition || !step) return [];
  try {
    const { tool, arguments: given, ...rest } = JSON.parse(text.value.slice(step.start, step.end + 1));
    const value = JSON.stringify({ ...rest, ...JSON.parse(`{${condition}}`) }, null, 1).replaceAll(/\n\s*/g, " ");
    return tool && given ? [{ label: "Call the tool only if the value is present", start: step.start, end: step.end + 1, value }] : [];
  } catch {
    // The text is not JSON yet.
    return [];
  }
};
// The member of an object whose name is marked, with the comma beside the whole member, or `null` if the text is no JSON there.
const memberAt = (value, { start, end }) => {
  const pattern = /"(?:[^"\\\n]|\\.)*"|[{}[\],]/g;
  if (!/^\s*:/.test(value.slice(end)) || value[start] !== '"') return null;
  pattern.lastIndex = end;
  for (let [depth, match] = [0, pattern.exec(value)]; match; match = pattern.exec(value)) {
    const [sign] = match;
    if (depth === 0 && /^[}\],]/.test(sign)) {
      const last = end + value.slice(end, match.index).trimEnd().length;
      const before = value.slice(0, start).search(/,\s*$/);
      return { start, end: last, whole: sign === "," ? { start, end: match.index + /^,\s*/.exec(value.slice(match.index))[0].length } : { start: before < 0 ? start : before, end: last } };
    }
    if (/^[{[]/.test(sign)) depth += 1;
    else if (/^[}\]]/.test(sign)) depth -= 1;
  }
  return null;
};
// The text that the help of a finding proposes in place of the marked text, or `null`.
const proposed = ({ help, labels: [label] }) => {
  if (!help || !label) return null;
  if (help === "remove the comma") return "";
  const literal = /^write (?:it as [^`]*:|the reference as) `([^`]+)`(?:$|; to keep the text, )/.exec(help)?.[1];
  if (literal?.startsWith('"')) return literal;
  const name = literal ?? /^(?:did you mean|its only argument is) `([^`]+)`(?:\?|$)/.exec(help)?.[1];
  if (!name) return null;
  return /^"[^]*"$/.test(text.value.slice(label.start, label.end)) ? JSON.stringify(name) : name;
};
const mend = (index, nth) => {
  const one = corrections(editor.findings[index])[nth];
  if (!one) return;
  const { scrollTop } = text;
  insert(one.start, one.end, one.value);
  text.setSelectionRange(one.start, one.start);
  text.scrollTop = scrollTop;
  announce("The correction is applied");
};

export const listFindings = (dialect, why, failed, any) => {
  const errors = editor.findings.filter(({ severity }) => severity === "error").length;
  const warnings = editor.findings.length - errors;
  const counts = [errors && plural(errors, "error"), warnings && plural(warnings, "warning")].filter(Boolean).join(", ");
  say($("findings-count"), why || (any ? `${counts || "No errors and no warnings"}.${dialect ? ` Format: ${cut(dialect, 40)}.` : ""}` : "The text is empty."));
  $("findings-count").classList.toggle("wrong", Boolean(why));
  if (errors) text.setAttribute("aria-invalid", "true");
  else text.removeAttribute("aria-invalid");
  const items = editor.findings.slice(0, LIMITS.findings).map((finding, index) => {
    const [first, ...others] = finding.labels;
    return h("li", { class: `is-${finding.severity}` },
      h("span", { class: "severity" }, finding.severity === "error" ? "Error" : "Warning"),
      h("span", { class: "place" }, first ? ` · line ${first.line}, column ${first.column} · ` : " · ", h("code", {}, finding.code)),
      h("div", {}, first ? h("button", { type: "button", class: "link", onclick: () => goTo(index) }, prose(capital(finding.message))) : prose(capital(finding.message))),
      first?.text ? h("p", { class: "hint" }, prose(first.text)) : null,
      others.filter((label) => label.text).slice(0, 5).map((label) => h("p", { class: "hint" }, `Line ${label.line}: `, prose(label.text))),
      finding.help ? h("p", { class: "help" }, h("strong", {}, "Help: "), prose(capital(finding.help))) : null,
      corrections(finding).map(({ label }, nth) => h("button", { type: "button", class: "small", onclick: () => mend(index, nth) }, label || "Apply the correction")));
  });
  if (editor.findings.length > LIMITS.findings) items.push(h("li", {}, `${(editor.findings.length - LIMITS.findings).toLocaleString()} more are not shown.`));
  if (failed) items.push(h("li", { class: "is-error" }, h("button", { type: "button", onclick: check }, "Check again")));
  $("findings").replaceChildren(...items);
};
const goTo = (index) => {
  const label = editor.findings[index]?.labels[0];
  if (!label) return;
  editor.at = index;
  text.focus();
  text.setSelectionRange(label.start, Math.max(label.end, label.start));
  text.scrollTop = Math.max(0, placeOf(label.start).row * editor.line - text.clientHeight / 2);
  number();
  for (const mark of $("marks").querySelectorAll("mark")) mark.classList.toggle("here", mark.dataset.finding === String(index));
  const { severity, message } = editor.findings[index];
  announce(`${severity}: ${message}`);
};
// Goes to the next finding, or to the previous finding.
export const goOn = (event) => {
  if (event.key !== "F8" || !editor.findings.length) return;
  event.preventDefault();
  const count = editor.findings.length;
  goTo((editor.at + (event.shiftKey ? (editor.at < 0 ? 0 : -1) : 1) + count) % count);
};
