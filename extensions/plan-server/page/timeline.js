// The picture and the timeline of a run.

import { $, cut, h, hide, list, plural, put, say, spoken, tell } from "./dom.js";
import { ENDED, LIMITS, SIGNS } from "./limits.js";
import { elementsOf, isOver, listProgress, live, undoneBy } from "./live.js";
import { isShown, isUnmade, recorded, showStep, spans, times, waitedFor } from "./step.js";
import { instant, ticks, took } from "./time.js";
import { moments } from "./who.js";

// The step of the plan that a step of a block, or an element of a list, belongs to.
const rootOf = (path, known) => {
  if (known.has(path)) return path;
  for (const { index } of path.matchAll(/[[.]/g)) if (known.has(path.slice(0, index))) return path.slice(0, index);
  return path;
};
// Failed elements come first, then those that run.
const URGENT = ["failed", "waiting", "running", "cancelled", "blocked"];
const urgency = (status) => (URGENT.indexOf(status) + 1 || URGENT.length + 1);

// The number of listed elements, or inner steps, of an open step.
const mostOf = (path) => live.opened.get(path) ?? LIMITS.rows;

export const showLive = (picture) => {
  const { run } = live;
  if (!run || !live.id) return;
  const over = isOver(run);
  const planned = new Map(list(run.steps ?? live.plan?.steps).filter((step) => typeof step?.path === "string").map((step) => [step.path, step]));
  const asked = [...list(run.waits), ...list(run.questions)].map((one) => one?.step ?? one?.path).filter((path) => typeof path === "string");
  const waiting = new Set(over ? [] : asked.flatMap((path) => [path, rootOf(path, planned)]));
  const inside = new Map();
  for (const path of live.order) {
    const root = (live.steps.get(path).root ??= rootOf(path, planned));
    if (root === path) continue;
    if (!inside.has(root)) inside.set(root, []);
    inside.get(root).push(path);
  }
  // A step has the state of the calls in it, if there is none of its own.
  const of = (path) => {
    const own = live.steps.get(path)?.status;
    if (waiting.has(path) && !ENDED.includes(own)) return "waiting";
    return own ?? (inside.has(path) ? "running" : undefined);
  };
  const undone = undoneBy(run);
  for (const path of picture.nodes.keys()) picture.status(path, of(path), undone.get(path), live.steps.get(path)?.elements);
  picture.mark(live.chosen);
  showStep(of);

  // The steps in the order of their starts. The steps that have not started follow in the order of the plan.
  const startOf = (path) => Math.min(...[path, ...(inside.get(path) ?? [])].map((one) => live.steps.get(one)?.attempts[0]?.started ?? Infinity));
  const roots = [...new Set([...planned.keys(), ...live.order.filter((path) => live.steps.get(path).root === path)])]
    .map((path, at) => ({ path, at, start: startOf(path) })).sort((a, b) => a.start - b.start || a.at - b.at).map(({ path }) => path);
  const rows = [];
  for (const root of roots.slice(0, LIMITS.rows)) {
    const all = inside.get(root) ?? [];
    rows.push({ path: root, all });
    if (!live.opened.has(root)) continue;
    const shown = live.narrowed.has(root) ? all.filter((path) => of(path) === "failed") : all;
    const sorted = shown.map((path, at) => [urgency(of(path)), at, path]).sort(([a, b], [c, d]) => a - c || b - d);
    for (const [, , path] of sorted.slice(0, mostOf(root))) rows.push({ path, all: [], inner: true });
  }
  const now = over ? instant(run.ended)?.getTime() : Date.now() + Math.min(Math.max(Number.isFinite(live.ahead) ? live.ahead : 0, 0), 3_600_000);
  let [from, to] = [instant(run.began)?.getTime() ?? Infinity, now ?? -Infinity];
  for (const step of live.steps.values()) {
    for (const one of step.attempts) {
      from = Math.min(from, one.started);
      to = Math.max(to, one.ended ?? one.started);
    }
  }
  if (!rows.length || !Number.isFinite(from)) {
    put($("timeline"), "none", () => h("p", { class: "none" }, over ? "The report contains the calls of each step." : "No step has started yet."));
    return;
  }
  const earlier = earlierAttempts();
  const { at, gaps } = axisOf(from, to, earlier, [...live.steps.keys()].filter((path) => roots.includes(path)));
  const scale = { undone, earlier: Map.groupBy(earlier, ({ path }) => path), from, at, span: Math.max(at(to), 1), to, now, over };
  const place = $("timeline");
  if (place.keyed !== "rows") {
    place.keyed = "rows";
    live.rows = new Map();
    place.replaceChildren(h("div", { class: "timeline" }, h("div", { class: "axis", "aria-hidden": "true" }, h("span"), h("div", { class: "ticks" })), h("ul", { class: "moments", "aria-hidden": "true" }), h("p", { class: "hint idle" }), h("ul", { class: "rows" }), h("p", { class: "hint" })));
  }
  drawTicks(place.querySelector(".ticks"), scale.span);
  drawMoments(place.querySelector(".moments"), scale);
  say(place.querySelector(".idle"), leftOut(gaps));
  const left = Math.max(0, roots.length - LIMITS.rows) + live.skipped.size;
  say(place.querySelector(".hint:not(.idle)"), left > 0 ? `${left.toLocaleString()} more ${left === 1 ? "step is" : "steps are"} not shown here. The report contains them.` : "");
  const items = place.querySelector(".rows");
  rows.forEach((one, at) => {
    const row = live.rows.get(one.path) ?? makeRow(one.path, one.inner ? live.steps.get(one.path).root.length : 0);
    if (items.children[at] !== row.item) items.insertBefore(row.item, items.children[at] ?? null);
    drawRow(row, one, planned.get(one.path), of, scale);
  });
  while (items.childElementCount > rows.length) items.lastChild.remove();
};

// The attempts before retries, with their times.
const earlierAttempts = () => {
  const origin = instant(live.run.began)?.getTime() ?? 0;
  const all = list(live.run.earlier).flatMap(({ attempts }) => list(attempts)).filter((one) => one?.ended_ms >= one?.started_ms);
  return all.map(({ path, started_ms, ended_ms, error }) => ({ path, bar: [origin + started_ms, origin + ended_ms, error ? "before bad" : "before"] }));
};
// The length of the gaps, with the time between an end and a retry apart.
const leftOut = (gaps) => {
  if (!gaps.length) return "";
  const length = (spans) => spans.reduce((sum, [start, end]) => sum + Math.max(0, end - start), 0);
  const ends = list(live.run.earlier).map(({ at, idle_ms: idle }) => [instant(at) - (idle ?? 0), instant(at).getTime()]);
  const idle = length(gaps.flatMap(([from, to]) => ends.map(([start, end]) => [Math.max(from, start), Math.min(to, end)])));
  const rest = length(gaps) - idle;
  const parts = [[idle, "between an end and a retry"], [rest, "of waits"]].filter(([ms]) => ms >= 200).map(([ms, words]) => `${took(ms)} ${words}`);
  return `The axis leaves out ${took(length(gaps))} without an attempt of this timeline${idle ? `: ${parts.join(" and ")}` : ""}.`;
};
// The scale without long times without an attempt, such as the time before a retry: the position of a time, and the times that it leaves out.
const axisOf = (from, to, earlier, paths) => {
  const origin = instant(live.run.began)?.getTime() ?? 0;
  const busy = merged(paths.flatMap((path) => {
    const { step: report, began = 0, isEnded } = recorded(path);
    if (isEnded && report.started_ms >= 0) return [[origin + began + report.started_ms, origin + began + report.started_ms + report.duration_ms]];
    return live.steps.get(path).attempts.map((one) => [one.started, one.ended ?? to]);
  }).concat(isOver(live.run) ? [] : [[to, to]],
    earlier.map(({ bar: [start, end] }) => [start, end])));
  const time = busy.reduce((sum, [start, end]) => sum + end - start, 0);
  const gaps = busy.map(([start], nth) => [nth ? busy[nth - 1][1] : from, start]).filter(([start, end]) => end - start > Math.max(time, 1000));
  const rest = time / 20;
  const at = (time) => time - from - gaps.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(Math.max(time, start), end) - start - rest), 0);
  return { at, gaps };
};
// The labels have equal distances. The last label moves to the left as far as it has no room, or gives way to the label before.
const LETTER = 7;
const drawTicks = (place, span) => {
  const all = place.clientWidth || 400;
  const marks = ticks(span).map(([at, label]) => ({ label, spot: (at / span) * all, width: label.length * LETTER + 8 }));
  const every = Math.ceil(Math.max(...marks.map(({ width }) => width)) / (marks[1]?.spot ?? Infinity));
  let free = 0;
  place.replaceChildren(...marks.map(({ label, spot, width }, nth) => {
    const over = Math.max(0, spot + width - all);
    const isMute = nth % every > 0 || spot - over < free;
    if (!isMute) free = spot + width - over;
    const tick = h("span", { class: isMute ? "mute" : over ? "over" : "" }, label);
    tick.style.left = `${(spot / all) * 100}%`;
    if (!isMute && over) Object.assign(tick.style, { marginLeft: `-${over}px`, backgroundPositionX: `${over}px` });
    return tick;
  }));
};
// The width of the axis decides about its labels.
new ResizeObserver(() => live.changed()).observe($("timeline"));
// The times at which people have cancelled, resumed and retried the run, and at which the server started again. The list above the steps tells who has done so.
const SIGNS_OF = { cancel: "◌ cancelled", resume: "▸ resumed", retry: "▸ retried", restart: "▸ server restarted" };
const drawMoments = (place, { at: shown, span }) => {
  const all = moments(live.run).slice(-6);
  hide(place, !all.length);
  place.style.height = `${all.length * 1.2}rem`;
  put(place, [all, span], () => all.map(({ decision, at }, nth) => {
    const share = Math.min(Math.max(shown(instant(at).getTime()) / span, 0), 1);
    const isLate = share > 0.5;
    const mark = h("li", { class: isLate ? "late" : "" }, SIGNS_OF[decision] ?? decision);
    mark.style.top = `${nth * 1.2}rem`;
    mark.style[isLate ? "right" : "left"] = `${((isLate ? 1 - share : share) * 100).toFixed(2)}%`;
    return mark;
  }));
};

// The name of an inner row leaves out the name of its step.
const makeRow = (path, start) => {
  const row = { item: h("li", { class: "row" }), sign: h("span", { class: "sign", "aria-hidden": "true" }), track: h("div", { class: "track", "aria-hidden": "true" }),
    status: h("span", { class: "status" }), said: h("span"), why: h("bdi") };
  row.choose = h("button", { type: "button", class: "link", title: cut(path, 200), onclick: () => live.choose(live.chosen === path ? null : path, true) }, h("bdi", {}, cut(path.slice(start).replace(/^\./, ""), 200)));
  row.open = h("button", { type: "button", class: "link open", hidden: true, onclick: () => {
    if (!live.opened.delete(path)) live.opened.set(path, LIMITS.rows);
    live.changed();
  } });
  row.only = h("button", { type: "button", class: "link open", hidden: true, onclick: () => {
    if (!live.narrowed.delete(path)) live.narrowed.add(path);
    live.changed();
  } }, "Failed only");
  row.note = h("span", { class: "note" });
  row.more = h("button", { type: "button", class: "link open", hidden: true, onclick: () => {
    live.opened.set(path, mostOf(path) + LIMITS.rows);
    live.changed();
  } });
  row.item.append(h("span", { class: "name", title: cut(path, 200) }, row.sign, row.choose), row.track, h("div", { class: "said" }, row.status, row.said, row.why, row.open, row.only, row.note, row.more));
  live.rows.set(path, row);
  return row;
};

// The progress of a list that runs, and the number of started elements of a list that has ended early.
const progressOf = (path, step, all, of, isEnded) => {
  if (step?.elements === undefined || live.skipped.size) return "";
  const { started } = elementsOf(path, all, of);
  if (isEnded) return started < step.elements ? `, ${started.toLocaleString()} of ${plural(step.elements, "element")} started` : "";
  return `, ${listProgress(step)}`;
};
const drawRow = (row, { path, all, inner }, planned, of, { undone, earlier, at, span, to, now, over }) => {
  const step = live.steps.get(path);
  const status = of(path);
  const className = ["row", status ?? "not-started", path === live.chosen && "chosen", inner && "inner", undone.has(path) && "undone"].filter(Boolean).join(" ");
  if (row.item.className !== className) row.item.className = className;
  row.choose.setAttribute("aria-pressed", String(path === live.chosen));
  const label = [cut(path, 200), cut(planned?.tool ?? "", 200), spoken(status)].filter(Boolean).join(", ");
  if (row.choose.getAttribute("aria-label") !== label) row.choose.setAttribute("aria-label", label);
  say(row.sign, SIGNS[undone.has(path) ? "undone" : status] ?? "·");
  say(row.status, `${spoken(status)}${undone.has(path) ? `, undone by ${cut(undone.get(path), 100)}` : ""}`);
  const attempts = step?.attempts ?? [];
  const { step: report, began = 0, isEnded } = recorded(path);
  const nth = attempts.at(-1)?.nth ?? 1;
  // Without a report, the events tell how long the step has taken.
  const spent = isUnmade(report) ? null : isEnded ? report.duration_ms : ENDED.includes(status) && step?.took !== null && step?.took !== undefined ? step.took : ENDED.includes(status) && attempts.length ? (attempts.at(-1).ended ?? to) - attempts[0].started : null;
  const parts = isEnded ? times(report) : "";
  say(row.said, `${progressOf(path, step, all, of, ENDED.includes(status))}${spent === null ? "" : `, ${took(spent)}`}${parts ? ` (${parts})` : status === "running" && attempts.at(-1)?.bad && attempts.at(-1).ended !== null ? `, waits for attempt ${nth + 1}` : nth > 1 ? `, attempt ${nth}` : ""}${step?.error ? ": " : ""}`);
  tell(row.why, step?.error ?? "");
  // The elements of a list, and the steps of a block, are in one row that opens.
  hide(row.open, !all.length);
  if (all.length) {
    const failed = all.filter((one) => of(one) === "failed").length;
    const opened = live.opened.has(path);
    row.open.setAttribute("aria-expanded", String(opened));
    const word = all.every((one) => one[path.length] === "[" && !one.includes(".", path.length)) ? "element" : "inner step";
    say(row.open, opened ? `Hide the ${word}s` : `Show ${plural(all.length, word)}${failed ? `, ${failed.toLocaleString()} failed` : ""}`);
    hide(row.only, !opened || !failed || failed === all.length);
    row.only.setAttribute("aria-pressed", String(live.narrowed.has(path)));
    const count = live.narrowed.has(path) ? failed : all.length;
    const most = mostOf(path);
    say(row.note, opened && (count > most || count < all.length) ? `${Math.min(count, most).toLocaleString()} of ${plural(all.length, word)}${count > most ? `, failed ${word}s first` : ""}` : "");
    hide(row.more, !opened || count <= most);
    say(row.more, `Show ${Math.min(count - most, LIMITS.rows).toLocaleString()} more`);
  }
  const bars = isEnded && report.started_ms >= 0 ? recordedBars(report, (instant(live.run.began)?.getTime() ?? 0) + began) : attempts.flatMap((one, index) => {
    const until = one.ended ?? (over ? to : now);
    const waited = index ? 0 : waitedFor(report);
    // The bar of an ended step has the time beside it.
    const start = ENDED.includes(status) && attempts.length === 1 && step.took !== null && one.ended ? Math.max(one.started, one.ended - step.took) : one.started;
    const turn = status === "waiting" || (planned?.waits && !planned.tool) ? until : Math.min(start + waited, until);
    return [turn > start ? [start, turn, "turn"] : null, turn < until || turn === start ? [turn, until, one.bad ? "bad" : ""] : null].filter(Boolean);
  });
  bars.unshift(...(earlier.get(path) ?? []).map(({ bar }) => bar));
  while (row.track.childElementCount > bars.length) row.track.lastChild.remove();
  bars.forEach(([start, end, tone], index) => {
    const bar = row.track.children[index] ?? row.track.appendChild(h("i"));
    const begin = Math.min(Math.max(at(start) / span, 0), 1);
    bar.style.left = `${(begin * 100).toFixed(2)}%`;
    bar.style.width = `${((Math.min(Math.max(at(end) / span, begin), 1) - begin) * 100).toFixed(2)}%`;
    bar.className = tone;
  });
};
// Joins the bars that overlap.
const merged = (bars) => bars.sort(([a], [b]) => a - b).reduce((all, [start, end, tone]) => {
  const last = all.at(-1);
  if (last && start <= last[1]) last[1] = Math.max(last[1], end);
  else all.push([start, end, tone]);
  return all;
}, []);
// The bars of a step that has ended: its waits and its calls. The calls of the elements of a list are over their waits.
const recordedBars = (report, origin) => {
  const span = (one) => [origin + one.started_ms, origin + one.started_ms + (one.duration_ms ?? 0)];
  const { waits, calls } = spans(report);
  if (!waits.length && !calls.length) {
    const waited = list(report.waits).filter(isShown);
    if (!waited.length) return [[...span(report), report.error ? "bad" : ""]];
    const made = (bad) => list(report.attempts).filter((one) => one.tool && Boolean(one.error) === bad);
    return [[waited, "turn"], [made(false), ""], [made(true), "bad some"]].flatMap(([all, tone]) => merged(all.map((one) => [...span(one), tone])));
  }
  return [...waits.map((one) => [...span(one), "turn"]), ...calls.map((one) => [...span(one), one.error ? "bad" : ""])].sort(([a], [b]) => a - b);
};
