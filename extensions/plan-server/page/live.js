import { announce, cut, list, plural, progress } from "./dom.js";
import { ENDED, LIMITS, STATUSES } from "./limits.js";
import { api, noticed } from "./server.js";
import { instant } from "./time.js";

export const live = { id: null, abort: null, run: null, steps: new Map(), order: [], chosen: null, plan: null, drawn: 0, clock: 0, ended: false, told: 0, skipped: new Set(),
  opened: new Map(), // the steps whose elements are listed in the timeline
  narrowed: new Set(), // the steps of whose elements only the failed ones are listed
  asked: () => {}, // is called after a change of what the run asks for
  changed: () => {}, // is called after each change
  choose: () => {}, // is called with the path of a step, and with `true` to go to its card
};

export const runPath = (rest = "") => `/api/runs/${encodeURIComponent(live.id)}${rest}`;

const askedFor = () => JSON.stringify([isOver(live.run ?? {}), list(live.run?.questions).map((one) => one?.id), list(live.run?.waits).map((one) => one?.path)]);
export const happened = (event, data) => {
  const before = askedFor();
  handle(event, data);
  live.told += 1;
  if (before !== askedFor()) live.asked();
  live.changed();
};
const handle = (event, data) => {
  if (event === "state" && data && typeof data === "object") {
    // What was asked for before the end may arrive after it.
    if (live.run && isOver(live.run) && !isOver(data)) return;
    const before = live.run?.state;
    live.run = data;
    // What the server has recorded replaces what events have told of these steps.
    const told = new Set(list(data.progress).map((step) => step?.path));
    for (const step of live.steps.values()) {
      step.settled = false;
      if (told.has(step.path)) step.attempts = [];
    }
    for (const step of list(data.progress)) if (step?.status) stepHappened(step);
    if (data.progress) for (const step of live.steps.values()) step.settled = ENDED.includes(step.status);
    // A refused call of an element has no attempt, so its answer alone tells of the element.
    const since = retried(data);
    for (const { path, decision, reason, at } of list(data.decisions)) {
      if (decision === "refuse" && /\]$/.test(path) && !told.has(path) && instant(at)?.getTime() >= since) stepHappened({ path, status: "failed", error: `was refused${reason ? `: ${reason}` : ""}` });
    }
    // The question of an element is gone after the end of its step, so the wait in the report alone tells of the element.
    for (const { id, status, waits } of list(data.report?.steps)) {
      const asked = ENDED.includes(status) ? list(waits).filter(({ reason, element }) => reason === "answer" && element?.length).map(({ element }) => `${id}[${element.join("][")}]`) : [];
      for (const path of asked) if (!told.has(path) && !list(data.decisions).some((one) => one.path === path || (one.decision === "allow_step" && one.path.startsWith(`${id}[`)))) stepHappened({ path, status: "cancelled", error: "the step has ended before an answer" });
    }
    if (before !== undefined && before !== data.state && !isOver(data)) announce(`The run is ${data.state}`);
  } else if (event === "step" && data && typeof data === "object") {
    stepHappened(data);
  } else if (event === "question" && live.run) {
    live.run.questions = [...list(live.run.questions).filter(({ id }) => id !== data?.id), ...[data].filter((one) => one && typeof one === "object")];
  } else if (event === "waits" && live.run) {
    live.run.waits = list(data);
  } else if (event === "end") {
    live.ended = true;
    if (data && typeof data === "object" && data.state) live.run = { ...live.run, ...data };
    // How it ended is asked for, whatever the event has of it.
    api(runPath(), { signal: live.abort?.signal }).then((run) => {
      if (run) happened("state", run);
      for (const words of [ENDS[run?.state] ?? `The run is ${run?.state}`, ...failures()]) announce(words);
    }, noticed);
  }
};
const ENDS = { done: "The run is done", failed: "The run has failed", cancelled: "The run was cancelled" };
// The time of the latest retry.
export const retried = (run) => Math.max(0, ...list(run?.decisions).filter(({ path, decision }) => !path && ["retry", "resume"].includes(decision)).map(({ at }) => instant(at)?.getTime() ?? 0));
const number_ = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
// Milliseconds are those of the clock, or, if they are too few for that, since the run began.
const moment = (value) => {
  const ms = number_(value);
  if (ms === null) return null;
  return ms < 1e11 ? (instant(live.run?.began)?.getTime() ?? 0) + ms : ms;
};
const stepHappened = ({ path, status, attempt, elements, ended: endedElements, started_ms, ended_ms, took_ms, error }) => {
  if (typeof path !== "string" || !STATUSES.includes(status)) return;
  let step = live.steps.get(path);
  if (!step) {
    if (live.steps.size >= LIMITS.steps) {
      live.skipped.add(path);
      return;
    }
    live.steps.set(path, (step = { path, attempts: [] }));
    live.order.push(path);
  }
  // An event that was under way when the whole state was asked for says less than the state.
  if (step.settled && !ENDED.includes(status)) return;
  if (number_(elements) !== null) step.elements = elements;
  step.endedElements = number_(endedElements) ?? step.endedElements;
  step.took = number_(took_ms);
  const before = step.status;
  const [started, ended] = [moment(started_ms), moment(ended_ms)];
  step.status = status;
  step.error = error ? cut(error) : status === "running" || status === "completed" ? null : step.error;
  // What the server's clock says now, as far as its events tell.
  live.ahead = Math.max(live.ahead ?? -Infinity, Math.max(started ?? -Infinity, ended ?? -Infinity) - Date.now());
  if (started !== null) {
    const nth = number_(attempt) ?? step.attempts.at(-1)?.nth ?? 1;
    let one = step.attempts.find((one) => one.nth === nth);
    if (!one) step.attempts.push((one = { nth }));
    if (step.attempts.length > LIMITS.attempts) step.attempts.splice(1, 1);
    Object.assign(one, { started: one.started ?? started, ended, bad: Boolean(error) });
  } else if (ended !== null && step.attempts.length) {
    step.attempts.at(-1).ended = ended;
  }
  // An attempt that another follows is over, whether or not somebody said so.
  step.attempts.forEach((one, at) => {
    const next = step.attempts[at + 1];
    if (next && one.ended === null) Object.assign(one, { ended: next.started, bad: true });
  });
  if (before !== status && ENDED.includes(status) && !path.includes("[") && !(step.elements && failedLists().some((list) => list.path === path))) announce(`${path}: ${status}`);
};

// The lists with failed elements, with the indices of these elements. The page may not know all elements of a long list.
export const failedLists = () => Object.entries(Object.groupBy(live.skipped.size ? [] : live.order.filter((path) => /^[^[]+\[\d+\]$/.test(path)), (path) => path.slice(0, path.indexOf("[")))).flatMap(([path, all]) => {
  const failed = all.filter((one) => live.steps.get(one).status === "failed").map((one) => one.slice(path.length));
  return failed.length ? [{ path, failed, words: `${failed.length.toLocaleString()} of ${plural(live.steps.get(path)?.elements ?? all.length, "element")} failed` }] : [];
});
// The failed lists and the other failed steps, in a few sentences.
const failures = () => {
  const lists = failedLists();
  const all = [...lists.map(({ path, words }) => `${path}: ${words}`),
    ...live.order.filter((path) => live.steps.get(path).status === "failed" && !path.includes("[") && !lists.some((list) => list.path === path)).map((path) => `${path}: failed`)];
  return [...all.slice(0, 4), ...(all.length > 4 ? [`${plural(all.length - 4, "more step")} failed`] : [])];
};

// The undone steps, with the steps that have undone them.
export const undoneBy = (run) => new Map(list(run.undone).filter((one) => one?.status === "completed").map(({ undoes, path }) => [undoes, path]));
export const isOver = (run) => Boolean(run.ended) || ["done", "failed", "cancelled"].includes(run.state);

// The numbers of started, ended and failed elements of a step's list.
export const elementsOf = (path, all, of) => {
  const elements = all.filter((one) => /^\[\d+\]$/.test(one.slice(path.length)));
  const ended = elements.map(of).filter((status) => ENDED.includes(status));
  // The elements of a list of lists are known to the server alone.
  const told = elements.length ? 0 : live.steps.get(path)?.endedElements ?? 0;
  return { started: elements.length || told, ended: ended.length || told, failed: ended.filter((status) => status === "failed").length };
};
// The progress of a list that runs, such as "168 of 500, 2 failed". The page may not know all elements of a long list.
export const listProgress = (step) => {
  if (step?.elements === undefined || live.skipped.size) return "";
  return progress({ elements: step.elements, ...elementsOf(step.path, live.order.filter((path) => path.startsWith(`${step.path}[`)), (path) => live.steps.get(path)?.status) });
};
