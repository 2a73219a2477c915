// The differences of two texts: the changed words of a value, and the changed lines of a plan.

import { block, h, plural } from "./dom.js";
import { LIMITS } from "./limits.js";

// Returns the parts of both lists in order, each with "-" if it is only in the first list, and with "+" if it is only in the second.
const diff = (one, two) => {
  let start = 0;
  while (start < Math.min(one.length, two.length) && one[start] === two[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, two.length) - start && one.at(-1 - end) === two.at(-1 - end)) end += 1;
  const [a, b] = [one.slice(start, one.length - end), two.slice(start, two.length - end)];
  // The lengths of the longest common parts of the rests. Long texts differ as a whole.
  const isShort = a.length * b.length <= LIMITS.compared;
  const longest = Array.from({ length: isShort ? a.length + 1 : 0 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; isShort && i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const all = one.slice(0, start).map((part) => ["", part]);
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    if (isShort && i < a.length && j < b.length && a[i] === b[j]) {
      all.push(["", a[i++]]);
      j += 1;
    } else if (i < a.length && (j === b.length || !isShort || longest[i + 1][j] >= longest[i][j + 1])) all.push(["-", a[i++]]);
    else all.push(["+", b[j++]]);
  }
  return [...all, ...one.slice(one.length - end).map((part) => ["", part])];
};
const words = (text) => text.split(/([\p{L}\p{N}]+|\s+)/u).filter(Boolean);
// Returns a text whose words that are not in the other text are marked: with `del` in the first text, and with `ins` in the second.
export const marked = (text, other, name) => {
  const [one, two, sign] = name === "del" ? [text, other, "-"] : [other, text, "+"];
  const parts = [];
  for (const [of, part] of diff(...[one, two].map((it) => words(block(it, LIMITS.shown)))).filter(([of]) => of === "" || of === sign)) {
    if (parts.at(-1)?.of === of) parts.at(-1).text += part;
    else parts.push({ of, text: part });
  }
  return parts.map(({ of, text }) => (of ? h(name, {}, text) : text));
};
const AROUND = 2;
// Returns the changed lines of a text with the lines around them.
export const changedLines = (one, two) => {
  const all = diff(one.split("\n"), two.split("\n"));
  const isNear = all.map((_, at) => all.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(([sign]) => sign));
  return all.flatMap(([sign, line], at) => {
    if (!isNear[at]) {
      if (at && !isNear[at - 1]) return [];
      const end = isNear.indexOf(true, at);
      return [h("span", { class: "none" }, `… ${plural((end < 0 ? all.length : end) - at, "equal line")}\n`)];
    }
    return [h(sign === "-" ? "del" : sign ? "ins" : "span", {}, `${sign || " "} ${line}\n`)];
  }).slice(0, LIMITS.steps);
};
