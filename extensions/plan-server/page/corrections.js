// The corrections that the help of a finding proposes, each with the part of the text that the correction replaces.

import { UNSEEN } from "./dom.js";
import { isJson, scan } from "./scan.js";
import { capital, exact } from "./server.js";

// JSON in the style of the samples: on one line, or, if the line has no room, with a line for each member below the first member.
const WIDE = 97;
const laid = (value, column) => {
  if (value === null || typeof value !== "object" || JSON.isRawJSON?.(value)) return JSON.stringify(value);
  const [open, end] = Array.isArray(value) ? "[]" : "{}";
  const parts = (at) => Object.entries(value).map(([key, one]) => [open === "[" ? "" : `${JSON.stringify(key)}: `, one]).map(([name, one]) => {
    // Content that begins far to the right gets more room on its own lines.
    const isFar = at + name.length > WIDE / 2 && at + name.length + laid(one, -Infinity).length > WIDE && /^[[{]./.test(laid(one, -Infinity));
    const shown = laid(one, isFar ? at : at + name.length);
    return name + (isFar ? `${shown[0]}\n${" ".repeat(at + 1)}${shown.slice(1)}` : shown);
  });
  const line = open + parts(-Infinity).join(", ") + end;
  return column + line.length > WIDE ? open + parts(column + 1).join(`,\n${" ".repeat(column + 1)}`) + end : line;
};
const columnOf = (text, place) => place - text.lastIndexOf("\n", place - 1) - 1;
// The value of a help, with the line breaks that the place needs.
const fitted = (text, start, literal) => (columnOf(text, start) + literal.length <= WIDE || !isJson(literal) ? literal : laid(exact(literal), columnOf(text, start)));
// The members of a help in the place of a member. Members far to the right begin a line below the first member of their object.
const fittedMembers = (text, { start, end }, literal) => {
  if (columnOf(text, start) + literal.length <= WIDE) return { start, end, value: literal };
  const members = (column) => laid(exact(`{${literal}}`), column - 1).slice(1, -1);
  const first = columnOf(text, around(text, start).places.at(-1)) + 1;
  const before = /,[ \t]*$/.exec(text.slice(0, start));
  if (!before || first > WIDE / 2) return { start, end, value: members(columnOf(text, start)) };
  return { start: before.index + 1, end, value: `\n${" ".repeat(first)}${members(first)}` };
};

// Writes the invisible characters of strings as escapes, and removes the others.
const visible = (text) => text.replaceAll(/"(?:[^"\\\n]|\\.)*"?|[^"]+/g, (part) => part.replaceAll(UNSEEN, (sign) =>
  (/^[\r\n\t]$/.test(sign) ? sign : part[0] !== '"' ? "" : [...Array(sign.length).keys()].map((at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""))));
const tokens = (text, start = 0) => text.slice(start).matchAll(/"(?:[^"\\\n]|\\.)*"|[{}[\],]/g);
// The part with the comma beside the part.
const withComma = (text, start, end) => {
  const after = /^\s*,\s*/.exec(text.slice(end));
  const before = /,\s*$/.exec(text.slice(0, start));
  return after ? { start, end: end + after[0].length } : { start: before ? before.index : start, end };
};
// The member of an object whose name or value is marked, or `null`.
const memberAt = (text, { start, end }) => {
  const name = /"((?:[^"\\\n]|\\.)*)"\s*:\s*$/.exec(text.slice(0, start));
  const isKey = text[start] === '"' && /^\s*:/.test(text.slice(end));
  if (!isKey) return name && { key: name[1], start: name.index, end, isKey };
  let depth = 0;
  for (const { 0: token, index } of tokens(text, end)) {
    if (depth === 0 && /^[}\],]/.test(token)) return { key: text.slice(start + 1, end - 1), start, end: end + text.slice(end, end + index).trimEnd().length, isKey };
    depth += /^[{[]/.test(token) ? 1 : /^[}\]]/.test(token) ? -1 : 0;
  }
  return null;
};
// The open brackets at a place with their places, and the string around the place.
const around = (text, place) => {
  const [open, places, found] = [[], [], { string: null }];
  for (const { 0: token, index } of tokens(text)) {
    if (index >= place) break;
    if (token[0] === '"' && index + token.length > place) found.string = { start: index, end: index + token.length };
    else if (/^[{[]/.test(token)) places[open.push(token) - 1] = index;
    else if (/^[}\]]/.test(token)) open.pop();
  }
  return { ...found, open, places: places.slice(0, open.length) };
};
// Errors of JSON, of which the reader finds one at a time.
const ofJson = (text, help, { start, end }) => {
  const marked = text.slice(start, end);
  if (help === "remove the comma") return { start, end, value: "" };
  if (help.startsWith("JSON writes `true`") || help.startsWith("the words of JSON")) {
    const value = { t: "true", f: "false", n: "null", u: "null" }[marked[0].toLowerCase()];
    return value && { start, end, value };
  }
  if (help === "JSON has no comments") return { start, end: start + /^(?:\/\/.*|\/\*[^]*?\*\/|#.*|)\s*/.exec(text.slice(start))[0].length, value: "" };
  if (help.startsWith("a line break in a string")) return { start, end, value: "\\n" };
  if (help === "add the missing brackets") return !around(text, start).string && { start: text.trimEnd().length, end: text.length, value: `${around(text, text.length).open.toReversed().map((sign) => (sign === "{" ? "}" : "]")).join("")}\n` };
  if (!help.startsWith("names and strings are in double quotes")) return null;
  const value = text.slice(start).replaceAll(/"(?:[^"\\\n]|\\.)*"|'((?:[^'\\\n]|\\.)*)'|([{,]\s*)([A-Za-z_$][\w$]*)(?=\s*:)/g, (whole, content, before, name) =>
    (content !== undefined ? JSON.stringify(content.replaceAll("\\'", "'")) : name ? `${before}"${name}"` : whole)).replace(/^[A-Za-z_$][\w$]*(?=\s*:)/, '"$&"');
  return { start, end: text.length, value, label: "Write all names and strings in double quotes" };
};
const removal = (text, help, label) => {
  const member = memberAt(text, label);
  const [, name] = /^remove `(\w+)`(?!`| or )/.exec(help) ?? [];
  if (member && (name ? member.key === name : member.isKey && /^(the members of (an?|the) |a step with a `tool` has no |only a `tool` takes )/.test(help))) return { ...withComma(text, member.start, member.end), value: "", label: "Remove the member" };
  if (/^remove (the step from the list|the second entry|"[^"]*" from |the dependency on )/.test(help) && around(text, label.start).open.at(-1) === "[") return { ...withComma(text, label.start, label.end), value: "", label: "Remove the entry" };
  return null;
};
// A step with an `if` in place of its call.
const conditional = (text, literal, label) => {
  const step = scan(text).steps.find(({ start, end }) => start <= label.start && label.end <= end);
  try {
    const { tool, arguments: given, params, value, ...rest } = exact(text.slice(step.start, step.end + 1));
    const made = laid({ ...rest, ...exact(`{${literal}}`) }, columnOf(text, step.start));
    return tool || value !== undefined ? { start: step.start, end: step.end + 1, value: made } : null;
  } catch {
    // The text is not JSON yet, or no step contains the place.
    return null;
  }
};
// The part of the text that becomes the literal of a help.
const replacement = (text, literal, label) => {
  const { start, end } = label;
  const marked = text.slice(start, end);
  const [, name] = /^"(\w+)": /.exec(literal) ?? [];
  if (name) {
    const member = memberAt(text, label);
    const isPart = member && isJson(`{${literal}}`) && (member.isKey || member.key === name || ["step", "input"].includes(member.key));
    return isPart ? fittedMembers(text, member, literal) : null;
  }
  const { string } = around(text, start);
  // The mark of a part of a reference is shorter than the reference.
  const isInside = (/^(\$|\{\{)/.test(literal) && !/^[$"{]/.test(marked)) || (literal.startsWith("[") && !marked.startsWith("["));
  if (string && string.start < start) {
    // A reference of a tool plan is a whole string.
    const isWhole = isInside && literal.startsWith("$ref:");
    if (isInside && !isWhole) return null;
    return { ...(isWhole ? { start: string.start + 1, end: string.end - 1 } : { start, end }), value: JSON.stringify(literal).slice(1, -1) };
  }
  if (literal.startsWith('{"reference"') && marked.startsWith('"') && memberAt(text, label)?.key === "step") return null;
  return { start, end, value: isJson(literal) || !marked.startsWith('"') ? fitted(text, start, literal) : JSON.stringify(literal) };
};
// The beginnings of helps, or of their alternatives, that end with the right JSON, reference or name.
const WORDS = /^(did you mean|write|use a step that is null|put the|remove the quotes|call the tool only|stop the reference|replace the missing|first test|compare the value|its only argument is|the only (input|step) is|the only member of ~ is|an empty object is|a tool is an object|a step that runs after any failure has|the attempts include the first call|a step starts after the steps)\b|^a pointer begins with ~/;
const EXAMPLES = /^write (the name of a type|a name, |a key with such)/;
const written = (text, help, label) => help.replace(/(;|\?) (to keep the text|if this is not a reference), .*$/is, "").split(/, or (?=(?:[^`]*`[^`]*`)*[^`]*$)/).flatMap((part, nth, all) => {
  const [, words, literal] = /^([^`]*)`([^`…]+)`(?:\?| without a test| in place of the ~)?$/.exec(part.replaceAll(/`(?:\/|tool|true|absent)`(?=[ :])|`tool`$/g, "~")) ?? [];
  if (!literal || !WORDS.test(words) || EXAMPLES.test(words) || (nth && words === "write ")) return [];
  const isStep = literal.startsWith('"if": ') && !words.startsWith("put the branch");
  const one = isStep ? conditional(text, literal, label) : replacement(text, literal, label);
  return one ? [{ label: isStep || all.length > 1 ? capital(words.replace(/:? *$/, "")) : "", ...one }] : [];
});
// A person decides about the removal of a whole step alone.
const REMOVAL = "Remove the step";
// The number of keys that an earlier member of the object at a place has already.
const repeats = (text, open) => {
  const names = [];
  let depth = 0;
  for (const { 0: token, index } of tokens(text, open)) {
    depth += /^[{[]/.test(token) ? 1 : /^[}\]]/.test(token) ? -1 : 0;
    if (depth === 0) break;
    if (depth === 1 && /^\s*:/.test(text.slice(open + index + token.length))) names.push(token);
  }
  return names.length - new Set(names).size;
};
// A correction that writes a key which the object has already, from its text or from an earlier correction.
const isRepeated = (text, kept, one) => {
  if (!/^[\s,]*"(?:[^"\\]|\\.)*"\s*:/.test(one.value + text.slice(one.end, one.end + 20))) return false;
  const open = around(text, one.start).places.at(-1) ?? text.length;
  const moved = open + corrected(text, kept.filter(({ end }) => end <= open)).length - text.length;
  return repeats(corrected(text, [...kept, one]), moved) > repeats(corrected(text, kept), moved);
};
// Returns the corrections of all findings with one correction each. Of two corrections for one place, or for one key of an object, the first to end remains.
export const together = (text, offered) => {
  const all = offered.filter(([one, other]) => one && !other && one.label !== REMOVAL).flat().sort((a, b) => a.end - b.end || a.start - b.start);
  return all.reduce((kept, one) => (one.start < (kept.at(-1)?.end ?? 0) || one.start === kept.at(-1)?.start || isRepeated(text, kept, one) ? kept : [...kept, one]), []);
};
// Returns the text with these corrections, which are in the order of the text.
export const corrected = (text, all) => all.reduceRight((text, { start, end, value }) => text.slice(0, start) + value + text.slice(end), text);
// Returns the corrections of a finding. A correction without a label is the only correction.
export const corrections = (text, { code, help, labels: [label] }) => {
  if (!label) return [];
  if (code === "invisible") return [{ label: "Escape or remove the characters", start: label.start, end: text.length, value: visible(text).slice(label.start) }];
  if (!help) return [];
  const order = /^write `("after": [^`]+)` in step /.exec(help)?.[1];
  if (order || help.startsWith("remove the step, or use")) {
    const step = scan(text).steps.find(({ id, start, end }) => start <= label.start && label.end <= end && JSON.stringify(id) === text.slice(label.start, label.end));
    if (!step) return [];
    if (!order) return [{ label: REMOVAL, value: "", ...withComma(text, step.start, step.end + 1) }];
    return /"after"\s*:/.test(text.slice(step.start, step.end)) ? [] : [{ label: "Wait for the check", start: label.end, end: label.end, value: `, ${order}` }];
  }
  const one = (code === "invalid-json" && ofJson(text, help, label)) || removal(text, help, label);
  return one ? [{ label: "", ...one }] : written(text, help, label);
};
