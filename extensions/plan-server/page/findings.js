// The list of errors and warnings, with the corrections that their help proposes.

import { $, UNSEEN, announce, cut, h, plural, prose, say, seen } from "./dom.js";
import { corrected, corrections, together } from "./corrections.js";
import { check, editor, insert, number, placeOf, text } from "./editor.js";
import { LIMITS } from "./limits.js";
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
// Applies corrections as one change, which one undo reverses.
const apply = (all) => {
  if (!all.length) return;
  const [{ start }, { end }] = [all[0], all.at(-1)];
  const [before, { scrollTop }] = [text.value, text];
  const after = corrected(before, all);
  insert(start, end, after.slice(start, end + after.length - before.length));
  text.setSelectionRange(start, start);
  text.scrollTop = scrollTop;
  announce(all.length > 1 ? `${all.length} corrections are applied` : "The correction is applied");
};

export const listFindings = (dialect, why, failed, any) => {
  const errors = editor.findings.filter(({ severity }) => severity === "error").length;
  const warnings = editor.findings.length - errors;
  const counts = [errors && plural(errors, "error"), warnings && plural(warnings, "warning")].filter(Boolean).join(", ");
  say($("findings-count"), why || (any ? `${counts || "No errors and no warnings"}.${dialect ? ` Format: ${cut(dialect, 40)}.` : ""}` : "The text is empty."));
  $("findings-count").classList.toggle("wrong", Boolean(why));
  if (errors) text.setAttribute("aria-invalid", "true");
  else text.removeAttribute("aria-invalid");
  const shown = editor.findings.slice(0, LIMITS.findings);
  const offered = () => shown.map((finding) => corrections(text.value, finding));
  const made = offered();
  const items = shown.map((finding, index) => {
    const [first, ...others] = finding.labels;
    return h("li", { class: `is-${finding.severity}` },
      h("span", { class: "severity" }, finding.severity === "error" ? "Error" : "Warning"),
      h("span", { class: "place" }, first ? ` · line ${first.line}, column ${first.column} · ` : " · ", h("code", {}, finding.code)),
      h("div", {}, first ? h("button", { type: "button", class: "link", onclick: () => goTo(index) }, prose(capital(finding.message))) : prose(capital(finding.message))),
      first?.text ? h("p", { class: "hint" }, prose(first.text)) : null,
      others.filter((label) => label.text).slice(0, 5).map((label) => h("p", { class: "hint" }, `Line ${label.line}: `, prose(label.text))),
      finding.help ? h("p", { class: "help" }, h("strong", {}, "Help: "), prose(capital(finding.help))) : null,
      made[index].map(({ label }, nth) => h("button", { type: "button", class: "small", onclick: () => apply(corrections(text.value, finding).slice(nth, nth + 1)) }, label || "Apply the correction")));
  });
  if (editor.findings.length > LIMITS.findings) items.push(h("li", {}, `${(editor.findings.length - LIMITS.findings).toLocaleString()} more are not shown.`));
  if (failed) items.push(h("li", { class: "is-error" }, h("button", { type: "button", onclick: check }, "Check again")));
  const several = together(text.value, made).length;
  if (several > 1) items.unshift(h("li", {}, h("button", { type: "button", onclick: () => apply(together(text.value, offered())) }, `Apply all ${several} corrections`)));
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
