// The card of the chosen step of a run: its arguments, its output, its attempts and the steps that it waits for.

import { fieldsOf } from "./arguments.js";
import { $, bdi, block, cut, h, hide, json, list, plural, prose, put, save, show, stateLike } from "./dom.js";
import { Calls } from "./calls.js";
import { ENDED, LIMITS } from "./limits.js";
import { isOver, listProgress, live, retried, runPath, undoneBy } from "./live.js";
import { api } from "./server.js";
import { instant, since, time, took } from "./time.js";
import { decisions, sentence } from "./who.js";

// The arguments and outputs of a run come from `GET /api/runs/{id}`, since events leave them out.
let values = { of: null, report: null };
// The values of a run before its latest retry are old.
const isCurrent = () => values.id === live.id && values.retried === retried(live.run);
const load = async () => {
  const { id, run, abort, chosen } = live;
  const of = JSON.stringify([id, run?.state, list(run?.progress).length, run?.ended, list(run?.questions).length, list(run?.decisions).length, retried(run)]);
  const before = isCurrent() ? values.report : null;
  // No new state follows the end of a step, so the values of the step are asked for once more.
  const { status } = live.steps.get(chosen) ?? {};
  const late = ENDED.includes(status) && reportOf(before, chosen).step?.status !== status ? `${chosen} ${status}` : isCurrent() ? values.late : undefined;
  if (values.of === of && values.late === late) return;
  values = { of, id, late, report: before, retried: retried(run) };
  try {
    const whole = await api(runPath(), { signal: abort?.signal });
    if (values.of !== of) return;
    values.report = whole?.report ?? null;
    values.decisions = whole?.decisions;
    live.changed();
  } catch {
    if (values.of === of) values.of = null;
  }
};

const ofElement = (step, attempts, waits) => {
  const waited = {};
  for (const { reason, duration_ms } of waits) waited[reason] = (waited[reason] ?? 0) + (duration_ms ?? 0);
  const whole = (all) => all.map((one) => ({ ...one, element: undefined }));
  const started = Math.min(...[...attempts, ...waits].map((one) => one.started_ms));
  const last = attempts.at(-1) ?? waits.at(-1);
  const ended = last?.duration_ms >= 0 ? last.started_ms + last.duration_ms - started : undefined;
  return { tool: step.tool, error: last?.error, started_ms: last && started, duration_ms: ended, attempts: whole(attempts), waits: whole(waits), waited_ms: waited };
};
// The report of a step with this path, and of one element if the path ends with an index.
export const reportOf = (report, path) => {
  const all = list(live.run?.steps);
  const at = all.findIndex((step) => step?.path === path);
  if (at >= 0) return { step: list(report?.steps)[at], began: 0 };
  const outer = all.findIndex((step) => typeof step?.path === "string" && path.startsWith(step.path) && "[.".includes(path[step.path.length]));
  if (outer < 0) return {};
  let [step, rest, began] = [list(report?.steps)[outer], path.slice(all[outer].path.length), 0];
  while (step) {
    const element = /^(?:\[\d+\])*/.exec(rest)[0];
    const indices = [...element.matchAll(/\d+/g)].map(([index]) => Number(index));
    const [attempts, waits] = [step.attempts, step.waits].map((all) => list(all).filter((one) => (one.element ?? []).join() === indices.join()));
    rest = rest.slice(element.length);
    if (!rest && element) return { step: ofElement(step, attempts, waits), began };
    if (!rest) return { step, began };
    rest = rest.slice(1);
    const inside = attempts.flatMap((one) => list(one.inside)).at(-1);
    const next = list(inside?.steps).find((one) => rest === one.id || (rest.startsWith(one.id) && "[.".includes(rest[one.id.length])));
    if (!next) return {};
    began += instant(inside.started_at) - instant(report.started_at) - began;
    [step, rest] = [next, rest.slice(next.id.length)];
  }
  return {};
};

// The newest report of a step: of the values that were asked for, or of the events. The times of a step that has ended come from this report alone.
const known = new WeakMap();
const found = (report, path) => {
  if (!report) return {};
  if (!known.has(report)) known.set(report, new Map());
  const all = known.get(report);
  if (!all.has(path)) all.set(path, reportOf(report, path));
  return all.get(path);
};
export const recorded = (path) => {
  const status = live.steps.get(path)?.status;
  const both = [isCurrent() ? values.report : null, live.run?.report].map((report) => found(report, path));
  // A report from before a retry has another status.
  const fits = ({ step }) => step?.duration_ms >= 0 && ENDED.includes(step.status ?? status) && (step.status ?? status) === (status ?? step.status);
  const ended = both.find(fits);
  return { ...(ended ?? both.find(({ step }) => step) ?? {}), isEnded: Boolean(ended) };
};

const WAITS = { answer: "an answer", value: "a value", turn: "a free slot" };
// The wait for a rule that answers soon is not shown.
export const isShown = (wait) => wait.reason === "value" || wait.duration_ms >= 200;
const ofStep = (all) => list(all).filter((one) => !one.element?.length);
// The run could not compute the arguments, so no attempt made a call.
export const isUnmade = (report) => list(report?.attempts).length > 0 && report.attempts.every((one) => one.called === false);
// The shown waits and the calls of a step, without those of the elements of a list. The report alone tells waits from calls.
export const spans = (report) => {
  const waits = ofStep(report?.waits).filter(isShown);
  const calls = ofStep(report?.attempts).filter((one) => one.tool || !waits.some(({ reason }) => reason === "value"));
  return { waits, calls };
};
// The time that the calls of a step have waited, in milliseconds.
export const waitedFor = (report) => spans(report).waits.reduce((sum, one) => sum + (one.duration_ms ?? 0), 0);
// The times of a step in words, with the time of a person apart from the time of the tool.
export const times = (report) => {
  const waited = Object.entries(report?.waited_ms ?? {}).filter(([reason, ms]) => WAITS[reason] && ms >= 200).map(([reason, ms]) => `the wait for ${WAITS[reason]} took ${took(ms)}`);
  const { calls } = spans(report);
  if (!waited.length && calls.length < 2) return "";
  const spent = calls.reduce((sum, one) => sum + (one.duration_ms ?? 0), 0);
  const between = calls.slice(1).reduce((sum, one, at) => sum + Math.max(0, one.started_ms - calls[at].started_ms - (calls[at].duration_ms ?? 0)), 0);
  return [calls.some((one) => one.tool && !one.inside?.length) && `the tool took ${took(spent)}`, ...waited,
    calls.length > 1 && `${plural(calls.length, "attempt")}, the waits between the attempts took ${took(between)}`].filter(Boolean).join(", ");
};

const value = (label, given, name) => {
  const text = typeof given === "string" ? given : show(given);
  return [h("h3", {}, label), h("pre", { tabindex: "0", "aria-label": label }, json(block(text, LIMITS.shown))),
    text.length > LIMITS.shown ? h("button", { type: "button", onclick: () => save(`${name}.json`, show(given)) }, "Save as a file") : null];
};
const changed = (attempts) => (attempts.some((one) => one.changed) ? h("p", { class: "hint" }, "A person changed the arguments before the call.") : null);
const steps = (label, paths, stateOfStep, count = list(paths).length) => {
  const all = list(paths);
  if (!all.length) return [];
  const undone = undoneBy(live.run);
  const one = (path) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => live.choose(path, true) }, bdi(path, 200)), " ", stateLike(stateOfStep(path) ?? "not started"), undone.has(path) ? [", undone by ", bdi(undone.get(path), 200)] : null);
  return [h("h3", {}, label), h("ul", { class: "items" }, all.slice(0, LIMITS.cards).map(one)), count > LIMITS.cards ? h("p", { class: "hint" }, `${(count - LIMITS.cards).toLocaleString()} more are not shown.`) : null];
};
const outcome = (one, over, isAsked) => (one.error ? "failed" : one.duration_ms !== undefined ? "completed" : over ? "cancelled" : isAsked ? "waiting" : "running");
const attempt = (one, began, over, only, stateOfCall) => {
  const status = outcome(one, over, stateOfCall(one) === "waiting");
  const at = (instant(live.run.began)?.getTime() ?? 0) + began + (one.started_ms ?? 0);
  const name = `${one.element?.length ? `[${one.element.join("][")}], ` : ""}attempt ${one.number}`;
  const inner = list(one.inside).flatMap((report) => list(report.steps));
  return h("li", {}, h("p", {}, only ? null : [h("strong", {}, name), " "], stateLike(status), " ", time(at), one.called === false ? "" : one.duration_ms >= 0 ? `, took ${took(one.duration_ms)}` : "", one.tool ? [status === "waiting" ? " before the call of " : one.called === false ? ", without a call of " : " in ", h("code", {}, cut(one.tool, 200))] : ""),
    // The card has the error of its only call.
    one.error && !only ? h("p", { class: "error" }, prose(one.error)) : null,
    !only && one.arguments !== undefined ? h("details", {}, h("summary", {}, "Arguments"), h("pre", { tabindex: "0", "aria-label": `Arguments of ${name}` }, json(block(show(one.arguments), LIMITS.shown)))) : null,
    !only && one.output !== undefined ? h("details", {}, h("summary", {}, "Output"), h("pre", { tabindex: "0", "aria-label": `Output of ${name}` }, json(block(show(one.output), LIMITS.shown)))) : null,
    only ? null : changed([one]),
    inner.length ? h("details", {}, h("summary", {}, `${inner.length} ${inner.length === 1 ? "step" : "steps"} inside`), h("ul", { class: "items" },
      inner.slice(0, LIMITS.cards).map((step) => h("li", {}, bdi(step.id, 200), " ", stateLike(step.status), step.error ? h("p", { class: "error" }, prose(step.error)) : "")))) : null);
};

// The events leave the values of answers out.
export const answers = () => decisions(values.id === live.id && list(values.decisions).length === list(live.run?.decisions).length ? values : live.run);
// The answers to the questions of a step, and of its elements, the oldest first.
const answersOf = (path) => answers().filter((one) => one.path === path || one.path.startsWith(`${path}[`));

// A refused call has no attempt, so its answer alone has the arguments.
const refused = ({ decision, arguments: given, tool }) => (decision === "refuse" && given !== undefined ? h("details", { open: true }, h("summary", {}, "Arguments of the refused call"), fieldsOf(given, LIMITS.words, undefined, tool)) : null);

// The attempts of a step, and of its elements, before each retry of the run, the oldest retry first.
const earlierOf = (path) => list(live.run?.earlier).flatMap(({ at, attempts }) => {
  const some = list(attempts).filter((one) => one?.path === path || `${one?.path}`.startsWith(`${path}[`) || `${one?.path}`.startsWith(`${path}.`));
  if (!some.length) return [];
  const began = instant(live.run.began)?.getTime() ?? 0;
  const one = ({ path: of, attempt, started_ms: started, ended_ms: ended, error }) => h("li", {}, h("p", {}, h("strong", {}, [of === path ? null : cut(of, 200), attempt && `attempt ${attempt}`].filter(Boolean).join(", ")), " ",
    stateLike(error ? "failed" : ended >= 0 ? "completed" : "cancelled"), started >= 0 ? [" ", time(began + started)] : "", ended >= started ? `, took ${took(ended - started)}` : ""), error ? h("p", { class: "error" }, prose(error)) : null);
  return [h("h3", {}, "Before the retry"), h("p", { class: "hint" }, "The run was retried ", time(at), "."), h("ol", { class: "items earlier" }, some.slice(0, LIMITS.cards).map(one)),
    some.length > LIMITS.cards ? h("p", { class: "hint" }, `${(some.length - LIMITS.cards).toLocaleString()} more are not shown.`) : null];
});

// The calls of the shown step keep their page and their search.
let calls = null;
const callsOf = (path) => {
  const key = `${live.id} ${path}`;
  if (calls?.key !== key) calls = Object.assign(new Calls(), { key });
  return calls;
};
const progressOf = (path) => listProgress(live.steps.get(path));
const details = (path, status, stateOfStep) => {
  const { run } = live;
  const over = isOver(run);
  const planned = list(run.steps).find((step) => step?.path === path);
  const { step: report, began = 0, isEnded } = recorded(path);
  const known = values.report !== null;
  const started = isEnded && report.started_ms >= 0 ? (instant(run.began)?.getTime() ?? 0) + began + report.started_ms : live.steps.get(path)?.attempts[0]?.started;
  const attempts = list(report?.attempts);
  // Failed attempts come first, since there may be many elements.
  const last = new Map(attempts.map((one) => [list(one.element).join(), one]));
  const outputOf = (one) => (one.element?.length === 1 && last.get(one.element.join()) === one && Array.isArray(report.output) ? report.output[one.element[0]] : undefined);
  const ordered = attempts.map((one) => ({ ...one, output: outputOf(one) })).sort((a, b) => Boolean(b.error) - Boolean(a.error));
  const made = attempts.filter((one) => one.arguments !== undefined);
  const unmade = isUnmade(report);
  const single = attempts.length === 1 && !attempts[0].element?.length;
  const facts = [
    report?.tool ?? planned?.tool ? ["Tool", h("code", {}, cut(report?.tool ?? planned.tool, 200))] : null,
    planned?.always ? ["Runs", "at the end of every run"] : null,
    planned?.undoes ? ["Undoes", h("button", { type: "button", class: "link", onclick: () => live.choose(planned.undoes, true) }, bdi(planned.undoes, 200))] : null,
    planned?.undone_by ? ["Undone by", h("button", { type: "button", class: "link", onclick: () => live.choose(planned.undone_by, true) }, bdi(planned.undone_by, 200))] : null,
    started ? ["Started", [time(started), ...(["running", "waiting"].includes(status) ? [", ", since(started), " so far"] : [])]] : null,
    report?.duration_ms >= 0 && !unmade ? ["Took", took(report.duration_ms)] : null,
    times(report) ? ["In detail", times(report)] : null,
    progressOf(path) ? ["Elements", progressOf(path)] : null,
  ].filter(Boolean);
  const stateOfCall = (one) => stateOfStep(`${path}${one.element?.length ? `[${one.element.join("][")}]` : ""}`);
  const needs = list(planned?.needs);
  const open = needs.filter((need) => !["completed", "recovered", "skipped"].includes(stateOfStep(need)));
  const error = report?.error ?? live.steps.get(path)?.error;
  return [
    planned?.intent ? h("p", { class: "intent" }, bdi(planned.intent)) : null,
    planned?.description ? h("p", { class: "hint" }, "The tool: ", prose(planned.description)) : null,
    facts.length ? h("dl", {}, facts.flatMap(([name, shown]) => [h("dt", {}, name), h("dd", {}, shown)])) : null,
    error ? h("p", { class: "error" }, h("strong", {}, "Error: "), prose(error)) : null,
    report?.by ? h("p", {}, "The step could not start, because ", h("code", {}, cut(report.by, 200)), " failed.") : null,
    answersOf(path).slice(-LIMITS.cards).map((one) => h("div", { class: "answered" }, one.path === path ? "The step: " : [h("code", {}, cut(one.path, 300)), ": "], ...sentence(one), refused(one))),
    status === "waiting" ? h("p", { class: "waits-here" }, "The step waits for you. ", h("a", { href: "#asked", onclick: (event) => {
      event.preventDefault();
      $("asked").scrollIntoView();
      $("asked").querySelector("button, input, textarea")?.focus();
    } }, "Answer")) : null,
    status === undefined && open.length ? steps("Waits for", open, stateOfStep) : steps("Needs", needs, stateOfStep),
    single && made.length ? [value("Arguments", made[0].arguments, "arguments"), changed(made)] : null,
    report?.output !== undefined ? value("Output", report.output, "output") : null,
    attempts.length ? [h("h3", {}, single ? (unmade ? "Attempt" : "Call") : attempts.some((one) => one.element?.length) ? "Calls" : "Attempts"),
      callsOf(path).put(ordered, (one) => attempt(one, began, over, single, stateOfCall))] : null,
    attempts.length && !made.length && planned?.tool && (unmade || known) ? h("p", { class: "hint" }, unmade ? "The run could not compute the arguments, so it made no call." : "The arguments of these calls are too large for this page, or the run could not compute them. The report contains the times of the calls.") : null,
    earlierOf(path),
    steps("Needed by, directly or indirectly", planned?.affects, stateOfStep, planned?.affects_count),
  ].flat(3).filter(Boolean);
};

// Shows the card of the chosen step.
export const showStep = (stateOfStep) => {
  const { chosen: path, run } = live;
  hide($("step-card"), path === null);
  if (path !== null || (!isOver(run) && list(run.decisions).some(({ changed, decision }) => changed || decision === "send"))) load();
  if (path === null) return;
  const status = stateOfStep(path);
  put($("step-title"), path, () => ["Step ", bdi(path, 300)]);
  const undo = undoneBy(run);
  put($("step-state"), [status, undo.get(path)], () => [stateLike(status ?? "not started"), undo.has(path) ? [", undone by ", bdi(undo.get(path), 200)] : ""].flat());
  const { step } = recorded(path);
  const planned = list(run.steps).find((one) => one?.path === path);
  const focused = document.activeElement;
  put($("step-details"), [path, status, progressOf(path), answersOf(path), run.earlier ?? null, step ?? null, live.steps.get(path)?.error ?? null, run.approve, isOver(run), [...undo], [planned?.needs, planned?.affects].flat().map(stateOfStep)], () => details(path, status, stateOfStep));
  // The search of the calls keeps its focus, although the card is made again.
  if (focused !== document.activeElement && $("step-details").contains(focused)) focused.focus();
};
$("step-close").addEventListener("click", () => {
  const { chosen } = live;
  live.choose(null);
  (document.querySelector(`#live [data-path="${CSS.escape(chosen ?? "")}"]`) ?? $("run-title")).focus();
});
