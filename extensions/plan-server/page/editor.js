import { $, UNSEEN, announce, bdi, block, cut, fileName, h, hide, json, list, named, plural, put, say, seen, table } from "./dom.js";
import { goOn, listFindings, unseen } from "./findings.js";
import { LIMITS } from "./limits.js";
import { Picture } from "./picture.js";
import { isJson, scan, startOf } from "./scan.js";
import { api, exact, noticed, request, told } from "./server.js";
import { keep } from "./store.js";

export const text = $("text");
export const editor = {
  findings: [], // with `labels` as offsets into the text
  plan: null,
  draft: null, // the graph of a text with errors
  isStale: false, // no graph of the text is known, so the graph is the graph of an earlier text
  last: null, // the last correct plan of this text
  drawn: null, // the plan that is drawn
  chosen: null,
  line: 20,
  checking: null,
  timer: 0,
  typed: { time: -Infinity, caret: 0 }, // the last key
  checked: null, // what was checked last
  before: text.value,
  at: -1,
  rows: new Map(), // the rows of measured lines
  isPlain: false, // the text has no colors
  marked: new Map(), // the lines with an underlined part, with their colors
  mine: null, // the text that a sample has replaced
  sample: "",
  samples: null,
  changed: () => {}, // is called after a change of the text or of its plan
};
const editorPicture = new Picture($("picture"), $("editor-zoom"), (path) => chooseStep(path), { file: (ending) => `${fileName(editor.drawn?.name ?? "plan")}.${ending}`, title: () => `The plan ${cut(editor.drawn?.name ?? "", 200).replace(/^plan$/, "")}`.trim(), plan: () => editor.drawn });

// The numbers of the lines that can be seen.
export const number = () => {
  const top = Math.max(0, text.scrollTop) / editor.line;
  const first = last(editor.tops, top);
  const end = last(editor.tops, top + Math.ceil(text.clientHeight / editor.line) + 1);
  const lines = Array.from({ length: Math.min(end, editor.lines - 1) - first + 1 }, (_, at) => first + at);
  const width = String(editor.lines).length;
  const tone = (line) => editor.marked.get(line);
  put($("numbers"), lines.map((line) => [editor.tops[line], tone(line)]), () => lines.flatMap((line, at) => ["\n".repeat(at ? editor.tops[line] - editor.tops[line - 1] : 0),
    h("span", { class: tone(line) ?? "" }, `${editor.marked.size ? (tone(line) ? "✗ " : "  ") : ""}${String(line + 1).padStart(width)}`)]));
  $("numbers").style.transform = `translateY(${editor.tops[first] * editor.line - text.scrollTop}px)`;
  const contents = lines.map((line) => text.value.slice(editor.starts[line], (editor.starts[line + 1] ?? text.value.length + 1) - 1));
  put($("colors"), [editor.tops[first], editor.columns, contents, editor.isPlain], () => (editor.isPlain ? [] : contents).map((content, at) => {
    const row = h("div", {}, ...colored(content));
    row.style.top = topOf(first + at);
    return row;
  }));
  for (const name of ["marks", "colors"]) $(name).style.transform = `translateY(${-text.scrollTop}px)`;
};
const topOf = (line) => `${8 + editor.tops[line] * editor.line}px`;
// A line of JSON in colors. Other characters than those of ASCII may be shaped or turned, so such a line is one text, as in the text area.
const colored = (content) => (/^[\t -~]{1,2000}$/.test(content) ? json(content) : [document.createTextNode(content)]);
const starts = (value) => {
  const found = [0];
  for (let at = value.indexOf("\n"); at >= 0; at = value.indexOf("\n", at + 1)) found.push(at + 1);
  return found;
};
// The index of the last number that is not larger than a number.
const last = (sorted, most) => {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= most) low = middle;
    else high = middle - 1;
  }
  return low;
};
const lineOf = (offset) => last(editor.starts, offset);
// The row of the text area, and the column of the row, that an offset has. A line takes several rows if it is long.
export const placeOf = (offset) => {
  const line = lineOf(offset);
  const column = offset - editor.starts[line];
  return { row: editor.tops[line] + Math.floor(column / editor.columns), column: column % editor.columns };
};
// The parts of a text, with the escape of each invisible character.
const signed = (content) => {
  const nodes = [];
  let done = 0;
  for (const { 0: sign, index } of content.replaceAll(/[\r\t]/g, " ").matchAll(UNSEEN)) {
    nodes.push(document.createTextNode(content.slice(done, index)), h("i", { "data-sign": seen(sign) }, document.createTextNode(sign)));
    done = index + sign.length;
  }
  return [...nodes, document.createTextNode(content.slice(done))];
};
// Underlines what the findings are about: on each line that has something, the line's own text is drawn again, unseen, with marks in it.
const underline = () => {
  const value = text.value;
  const lines = new Map();
  editor.findings.forEach((finding, index) => finding.labels.forEach(({ start, end }, nth) => {
    if (nth && finding.code !== "invisible" && finding.labels.length > 20) return;
    const last = Math.min(lineOf(Math.max(start, end - 1)), lineOf(start) + 50);
    for (let line = lineOf(start); line <= last; line += 1) {
      const from = editor.starts[line];
      const to = (editor.starts[line + 1] ?? value.length + 1) - 1;
      const begin = Math.max(start, from);
      let until = Math.min(end, to);
      if (until <= begin) until = Math.min(begin + 1, to);
      if (!lines.has(line)) {
        if (lines.size >= LIMITS.marks) return;
        lines.set(line, []);
      }
      lines.get(line).push({ begin: begin - from, until: until - from, error: finding.severity === "error", index });
    }
  }));
  const drawn = [];
  editor.marked = new Map();
  for (const [line, marks] of lines) {
    const from = editor.starts[line];
    const content = value.slice(from, (editor.starts[line + 1] ?? value.length + 1) - 1);
    marks.sort((a, b) => a.begin - b.begin || b.error - a.error);
    const row = h("div", {});
    row.style.top = topOf(line);
    let done = 0;
    for (const { begin, until, error, index } of marks.slice(0, 100)) {
      if (until < done || (until === done && done)) continue;
      const start = Math.max(begin, done);
      // It lies over the text that is edited, and is as wide as that: nothing is escaped, and nothing is seen but the line below.
      row.append(...signed(content.slice(done, start)), h("mark", { class: error ? "is-error" : "is-warning", "data-finding": index }, signed(content.slice(start, until) || " ")));
      done = Math.max(until, start);
    }
    drawn.push(row);
    editor.marked.set(line, marks.some(({ error }) => error) ? "is-error" : "is-warning");
  }
  $("marks").replaceChildren(...drawn);
};
// What somebody types moves what comes after it, and takes away what it changes.
const shift = () => {
  const [before, now] = [editor.before, text.value];
  let same = 0;
  const shorter = Math.min(before.length, now.length);
  while (same < shorter && before.charCodeAt(same) === now.charCodeAt(same)) same += 1;
  let tail = 0;
  while (tail < shorter - same && before.charCodeAt(before.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail += 1;
  const [changed, by] = [before.length - tail, now.length - before.length];
  for (const finding of editor.findings) {
    finding.labels = finding.labels.flatMap(({ start, end, ...rest }) =>
      end <= same ? [{ start, end, ...rest }] : start >= changed ? [{ start: start + by, end: end + by, ...rest }] : []);
  }
  editor.before = now;
};
export const measure = () => {
  editor.starts = starts(text.value);
  editor.lines = editor.starts.length;
  // The page shows characters that nobody sees in the text area alone.
  editor.isPlain = text.value.replaceAll(/[\r\n\t]/g, " ").search(UNSEEN) >= 0;
  $("editor").classList.toggle("plain", editor.isPlain);
  editor.line = parseFloat(getComputedStyle(text).lineHeight) || 20;
  const probe = $("colors").appendChild(h("div", {}));
  const width = Math.max(text.clientWidth - 16, 1);
  for (const name of ["marks", "colors"]) $(name).style.width = `${width + 16}px`;
  probe.textContent = "x";
  const range = document.createRange();
  range.selectNodeContents(probe);
  editor.columns = Math.max(1, Math.floor(width / (range.getBoundingClientRect().width || 7.8) + 0.01));
  // Each character of ASCII has the width of one column, and no character is wider than four. The browser measures other lines, and the page estimates the rest of many such lines.
  // Lines that the browser has measured at this width keep their rows.
  const known = editor.rows;
  editor.rows = new Map();
  let left = LIMITS.marks;
  let row = 0;
  editor.tops = editor.starts.map((start, line) => {
    const before = row;
    const content = text.value.slice(start, (editor.starts[line + 1] ?? text.value.length + 1) - 1);
    if (content.length * 4 > editor.columns && !/^[ -~]*$/.test(content) && (left -= 1) > 0) {
      const key = `${width} ${content}`;
      if (!known.has(key)) probe.textContent = content;
      editor.rows.set(key, known.get(key) ?? Math.max(1, Math.round(probe.offsetHeight / editor.line)));
      row += editor.rows.get(key);
    } else row += Math.max(1, Math.ceil(content.length / editor.columns));
    return before;
  });
  probe.remove();
};
const edited = () => {
  if (!editor.before.trim() && text.value.trim()) say($("findings-count"), "");
  if (!text.value.trim()) editor.last = editor.draft = null;
  shift();
  measure();
  underline();
  number();
  if ($("sample").value && text.value !== editor.sample) $("sample").value = "";
  const about = $("sample").value === "" ? "" : cut(editor.samples[Number($("sample").value)]?.about, 300);
  hide($("sample-about"), !about);
  say($("sample-about"), about);
  keep("text", text.value.length < LIMITS.text ? text.value : null);
  clearTimeout(editor.timer);
  editor.timer = setTimeout(check, 250);
  editor.changed();
};
text.addEventListener("input", ({ inputType }) => {
  editor.typed = { time: /^(insertText|deleteContent)/.test(inputType) ? performance.now() : -Infinity, caret: text.selectionEnd };
  edited();
});
text.addEventListener("keydown", goOn);
text.addEventListener("scroll", number, { passive: true });
new ResizeObserver(() => {
  measure();
  underline();
  number();
}).observe(text);
$("format").addEventListener("click", () => {
  try {
    insert(0, text.value.length, `${JSON.stringify(exact(text.value), null, 2)}\n`);
  } catch {
    announce("The text is not JSON, so it is not formatted");
  }
});
$("profile").addEventListener("change", () => {
  keep("profile", $("profile").value);
  check();
});

const PAUSE = 700;
// Waits for a pause, or until the caret leaves the word that a person types, before the page shows an error in this word or in a text that is not
// JSON, or draws a large graph again.
const paused = (said, value, signal) => {
  const { time, caret } = editor.typed;
  const left = time + PAUSE - performance.now();
  const [from, to] = [startOf(/[^\s"]/, value, caret), caret + /^[^\s"]*/.exec(value.slice(caret))[0].length];
  const isIn = () => document.activeElement === text && text.selectionEnd >= from && text.selectionEnd <= to;
  const isHere = ({ labels }) => list(labels).some(({ start, end }) => start?.offset <= to && end?.offset >= from);
  const isReady = said.plan ? list(said.plan.steps).length <= LIMITS.collapse : isJson(value) && !list(said.findings).some(isHere);
  if (left <= 0 || isReady || !isIn()) return null;
  return new Promise((resolve) => {
    const over = new AbortController();
    const done = () => (over.abort(), resolve());
    const look = () => text.value === value && !isIn() && done();
    setTimeout(done, left);
    signal.addEventListener("abort", done, { signal: over.signal });
    for (const name of ["blur", "selectionchange"]) text.addEventListener(name, () => setTimeout(look), { signal: over.signal });
  });
};
export const check = async () => {
  clearTimeout(editor.timer);
  editor.checking?.abort();
  const checking = (editor.checking = new AbortController());
  const value = text.value;
  const profile = $("profile").value;
  const bytes = value.length > LIMITS.text ? value.length : new TextEncoder().encode(value).length;
  if (!value.trim() || bytes > LIMITS.text) {
    const why = value.trim() ? `The text has ${bytes.toLocaleString()} bytes. The server reads at most ${LIMITS.text.toLocaleString()}.` : "";
    found({ findings: [], plan: null }, value, profile, why);
    return;
  }
  try {
    // No number of this answer is a value of a run, so JavaScript may round it.
    const said = await (await request("/api/check", { method: "POST", body: { text: value, profile }, signal: checking.signal })).json();
    if (!checking.signal.aborted) await paused(said ?? {}, value, checking.signal);
    if (checking.signal.aborted) return;
    found(said ?? {}, value, profile);
  } catch (error) {
    if (checking.signal.aborted || error.status === 401) return;
    found({ findings: [], plan: null }, value, profile, told(error), true);
  }
};
export const found = (said, value, profile, why = "", failed = false) => {
  // The answer is about the text as it was sent; what was typed since has moved it.
  const now = text.value;
  editor.before = value;
  editor.findings = [...unseen(value), ...list(said.findings).slice(0, 1000)].map((finding) => ({
    severity: finding?.severity === "warning" ? "warning" : "error", step: finding?.step ?? null, code: cut(finding?.code, 80), message: cut(finding?.message), help: finding?.help ? cut(finding.help) : null,
    labels: list(finding?.labels).slice(0, 50).map((label) => {
      const start = Math.min(Math.max(Number(label?.start?.offset) || 0, 0), value.length);
      return { start, end: Math.min(Math.max(Number(label?.end?.offset) || 0, start), value.length), line: Number(label?.start?.line) || 1,
        column: Number(label?.start?.column) || 1, text: cut(label?.text, 300) };
    }),
  }));
  shift();
  editor.plan = said.plan && typeof said.plan === "object" ? said.plan : null;
  editor.isStale = !editor.plan && !said.draft;
  editor.draft = editor.plan || !now.trim() ? null : said.draft ?? (editor.last ? null : editor.draft);
  editor.last = editor.plan ?? (now.trim() ? editor.last : null);
  editor.checked = editor.plan ? { text: value, profile } : null;
  editor.at = -1;
  measure();
  underline();
  number();
  listFindings(said.dialect, why, failed, now.trim() !== "");
  showPlan();
};

// Replaces a part of the text, as somebody who types would, so that it can be undone.
export const insert = (start, end, value) => {
  text.focus();
  text.setSelectionRange(start, end);
  // Only this old command keeps the history of the text area. Its event is like that of a typed text.
  editor.inserts = true;
  if (!document.execCommand(value ? "insertText" : "delete", false, value)) {
    text.setRangeText(value, start, end, "end");
    edited();
  }
  editor.inserts = false;
};
// What the plan would do.
export const steps = () => list(editor.plan?.steps).filter((step) => step && typeof step === "object");
// While the text has errors, the page shows the last correct plan.
const shownPlan = () => editor.plan ?? editor.last;
const shownSteps = () => list(shownPlan()?.steps).filter((step) => step && typeof step === "object");
const effect = (step) => (step.undoes ? "undoes a step" : step.waits ? "waits for a value" : !step.tool ? "–" : step.read_only ? "only reads" : "may change something");
const showPlan = () => {
  const plan = shownPlan();
  const isOld = !editor.plan && Boolean(plan);
  $("picture").classList.toggle("old", isOld && !editor.draft || editor.isStale);
  $("steps").classList.toggle("old", isOld);
  for (const [id, isShown] of [["picture-old", isOld || editor.draft], ["steps-old", isOld]]) hide($(id), !isShown);
  hide($("printed"), !plan?.text);
  if (!plan || editor.draft || editor.drawn?.svg !== plan.svg || editor.drawn?.text !== plan.text) drawPlan(plan);
  say($("picture-old"), !editor.draft ? "This is the graph of the last correct text." : editor.isStale ? "This is the graph of an earlier text." : `The text has errors.${$("picture").querySelector(".node.wrong") ? " The red steps have errors." : ""}`);
  chooseStep(shownSteps().some((step) => step.path === editor.chosen) ? editor.chosen : null);
  editor.changed();
};
// The path of a finding's step in a draft, where a step without a name has the name of its place.
const nodeOf = ({ step, labels: [label] }) => {
  if (step !== null || !label) return step;
  const found = scan(text.value).steps.find(({ start, end }) => start <= label.start && label.end <= end + 1);
  return found ? found.id ?? `step${found.number}` : null;
};
const drawPlan = (plan) => {
  editor.drawn = editor.draft ? null : plan;
  editorPicture.put(editor.draft ?? plan?.svg, Boolean(editor.draft));
  if (editor.draft) editorPicture.wrong(new Set(editor.findings.filter(({ severity }) => severity === "error").map(nodeOf)));
  if (!plan && !editor.draft) $("picture").replaceChildren(h("p", { class: "none" }, "The graph of the plan appears here when the text contains steps."));
  const all = shownSteps();
  const hasUndo = all.some((step) => step.undone_by);
  if (all.length) {
    const rows = all.slice(0, LIMITS.rows).map((step) => ({
      "data-step": step.path,
      cells: [[h("button", { type: "button", class: "link", "aria-pressed": "false", onclick: () => chooseStep(editor.chosen === step.path ? null : step.path) }, named(step.path, 200)), step.intent ? h("p", { class: "hint" }, bdi(step.intent, 200)) : null].filter(Boolean),
        step.tool ? h("code", {}, named(step.tool, 200)) : "–", effect(step), names(list(step.needs).filter((need) => need !== step.undoes)), ...(hasUndo ? [names([step.undone_by].filter(Boolean))] : []),
        names(step.affects, step.affects_count)],
    }));
    $("steps").replaceChildren(...table("Steps of the plan", ["Step", "Tool", "Effect", "Needs", ...(hasUndo ? ["Undone by"] : []), "Steps that a failure blocks"], rows, all.length - rows.length));
  } else {
    $("steps").replaceChildren(h("p", { class: "none" }, plan ? "The plan has no steps." : "The steps of the plan appear here when the plan has no errors."));
  }
  say($("printed").querySelector("pre"), plan?.text ? block(plan.text, 60_000) : "");
};
// The server sends the first names, and the number of all.
const names = (paths, count = list(paths).length) => {
  const shown = list(paths).slice(0, 4);
  if (!shown.length) return "–";
  return h("span", {}, shown.flatMap((path, at) => [at ? ", " : "", named(path, 100)]), count > shown.length ? ` and ${(count - shown.length).toLocaleString()} more` : "");
};
const chooseStep = (path) => {
  editor.chosen = path;
  const step = shownSteps().find((step) => step.path === path);
  editorPicture.mark(path, list(step?.affects));
  for (const row of $("steps").querySelectorAll("tr[data-step]")) {
    row.classList.toggle("chosen", row.dataset.step === path);
    row.querySelector("button")?.setAttribute("aria-pressed", String(row.dataset.step === path));
  }
  if (step) announce(`${path}: a failure would keep ${step.affects_count ? plural(step.affects_count, "step") : "no other step"} from running`);
};

// ---- Samples. ----

export const loadSamples = async () => {
  if (editor.samples) return;
  try {
    editor.samples = list(await api("/api/samples")).slice(0, LIMITS.rows);
    $("sample").replaceChildren(h("option", { value: "" }, "Choose…"), ...editor.samples.map((sample, at) => h("option", { value: String(at) }, cut(sample?.title ?? sample?.name, 120))));
  } catch (error) {
    noticed(error);
  }
};
export const replaceText = (value) => {
  editor.last = editor.draft = null;
  editor.typed.time = -Infinity;
  text.value = value;
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
  edited();
  check();
};
// The choice to run one plan without questions does not apply to another plan.
const askAgain = () => ($("start-form").elements.approve.value = "each");
// Loads a sample, and keeps the author's plan.
export const useSample = (at) => {
  const sample = editor.samples?.[at];
  if (!sample) return;
  $("sample").value = String(at);
  if (text.value.trim() && text.value !== editor.sample) editor.mine = text.value;
  hide($("sample-back"), editor.mine === null);
  // A text area has line feeds only.
  editor.sample = String(sample.text ?? "").replaceAll(/\r\n?/g, "\n");
  replaceText(editor.sample);
  askAgain();
};
$("sample").addEventListener("change", () => $("sample").value !== "" && useSample(Number($("sample").value)));
$("sample-back").querySelector("button").addEventListener("click", () => {
  replaceText(editor.mine ?? "");
  askAgain();
  editor.mine = null;
  hide($("sample-back"), true);
  $("sample").value = "";
  text.focus();
});
