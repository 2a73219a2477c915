import { $, announce, bdi, block, called, copy, cut, h, hide, list, plural, prose, put, save, say, show, stateLike, stateOf } from "./dom.js";
import { connection, follow } from "./events.js";
import { ENDED, LIMITS } from "./limits.js";
import { failedLists, happened, isOver, listProgress, live, runPath, undoneBy } from "./live.js";
import { Picture } from "./picture.js";
import { questions, waits } from "./questions.js";
import { fileOf } from "./report.js";
import { api, noticed } from "./server.js";
import { answers } from "./step.js";
import { remembered } from "./store.js";
import { lasted, left, since, time } from "./time.js";
import { showLive } from "./timeline.js";
import { decisions, moments, sentence } from "./who.js";

const livePicture = new Picture($("live"), $("run-zoom"), (path) => live.choose(path, matchMedia("(max-width: 60rem)").matches), { file: (ending) => fileOf(ending, "graph-"), title: () => `${cut(live.run.name ?? live.run.plan ?? "A plan", 200).replace(/[.?!…]$/, "")}, the run ${cut(live.id, 100)}: ${live.run.state}`, plan: () => api(runPath("/plan")), isLive: true });
$("live").classList.add("live");

export const openRun = (id, step = null) => {
  closeRun();
  Object.assign(live, { id, run: null, steps: new Map(), order: [], chosen: null, plan: remembered(id), ended: false, skipped: new Set(), ahead: 0, picture: undefined, opened: new Map(), narrowed: new Set(), isPointed: false, wanted: step, isWide: false, isBeside: false });
  live.abort = new AbortController();
  for (const place of ["questions", "waits", "timeline", "result", "undone", "remains", "decisions", "given", "run-title", "run-facts", "run-moments", "run-wrong", "run-next", "earlier", "step-title", "step-state", "step-details", "run-text"]) {
    $(place).replaceChildren();
    $(place).keyed = undefined;
  }
  for (const place of ["asked", "run-moments", "undone-card", "earlier-card", "decisions-card", "given-card", "step-card", "answer", "cancel", "report", "edit", "again", "retry", "compare"]) hide($(place), true);
  hide($("run-parts"), false);
  $("run-plan").open = false;
  say($("run-title"), "Loading the run…");
  $("result").replaceChildren(h("p", { class: "none" }, "Loading…"));
  $("timeline").replaceChildren(h("p", { class: "none" }, "Loading…"));
  setPicture();
  follow(live.abort.signal, happened).then(() => watchEnd(id));
};
// An ended run sends no events, and another person may retry the run.
const watchEnd = (id) => {
  const { signal } = live.abort ?? {};
  if (!signal || !live.ended || live.run?.state === "done") return;
  const timer = setInterval(async () => {
    if (document.visibilityState !== "visible") return;
    const run = await api(runPath(), { signal }).catch(() => null);
    if (!run || signal.aborted || (isOver(run) && list(run.decisions).length === list(live.run.decisions).length)) return;
    announce("The run continues");
    openRun(id, live.chosen);
  }, 5000);
  signal.addEventListener("abort", () => clearInterval(timer));
};
export const closeRun = () => {
  live.abort?.abort();
  live.abort = null;
  live.id = null;
  clearInterval(live.clock);
  live.clock = 0;
  connection("");
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
};

const setPicture = () => {
  const svg = live.run?.svg ?? live.plan?.svg ?? null;
  const key = svg ?? Boolean(live.run);
  if (live.picture !== key) {
    live.picture = key;
    livePicture.put(svg);
    if (!svg) $("live").replaceChildren(h("p", { class: "none" }, live.run ? "No graph is available for this plan. See the timeline below." : "Loading…"));
  }
};
live.choose = (path, goes = false, isChosen = true) => {
  live.chosen = path;
  live.isBeside = isChosen && path !== null;
  // The chosen step is in the address, which somebody can send to another person.
  if (isChosen && live.id && !/\/report$/.test(location.hash)) history.replaceState(null, "", `#/runs/${encodeURIComponent(live.id)}${path === null ? "" : `?step=${encodeURIComponent(path)}`}`);
  livePicture.mark(path);
  if (!live.run) return;
  drawLive();
  if (path === null || !goes) return;
  $("step-card").scrollIntoView({ block: "nearest" });
  $("step-title").focus({ preventScroll: true });
};

const redraw = () => {
  if (live.drawn) return;
  live.drawn = setTimeout(() => {
    live.drawn = 0;
    if (live.id && live.run) showRun();
  }, 60);
};

const drawLive = () => {
  showLive(livePicture);
  // A wide graph has the whole width while nothing is beside the graph.
  const isAlone = live.chosen === null && (live.run?.output ?? null) === null;
  const half = ($("run-parts").clientWidth - 16) / 2 - 34;
  const isWide = livePicture.isWiderThan(half);
  // The output and the failed step at the end of a run go below the graph, which keeps its place.
  live.isWide ||= isWide && isAlone && !isOver(live.run ?? {});
  $("run-parts").classList.toggle("wide", isWide && (isAlone || (live.isWide && !live.isBeside)));
};
live.changed = redraw;
const showRun = () => {
  const { run } = live;
  setPicture();
  const over = isOver(run);
  const name = cut(run.name ?? run.plan ?? "Run", 200);
  put($("run-title"), [run.name, run.plan], () => called(run));
  // The events say what the run waits for, but not its state.
  const state = over ? run.state : list(run.waits).length || list(run.questions).length ? "waiting" : run.state === "waiting" ? "running" : run.state;
  document.title = `${name.slice(0, 60)} – ${state} – plan!`;
  put($("run-facts"), [state, run.began, run.ended, run.took_ms, live.id], () => [stateOf(state), " began ", time(run.began), ...(run.ended ? [", ended ", time(run.ended), `, took ${lasted(run)}`] : over ? [] : [", ", since(run.began), " so far"]), ". ", ...idOf(live.id)]);
  put($("run-moments"), moments(run), () => moments(run).map((one) => h("li", {}, ...sentence(one, true))));
  hide($("run-moments"), !moments(run).length);
  const failed = over ? failedElements() : [];
  put($("run-wrong"), [run.error ?? null, run.state, list(run.undone), list(run.steps).length, failed], () => [over && run.state === "cancelled" ? cancelled(run) : run.error ? wrong(run.error) : "",
    ...failed.map(({ path, words }) => h("p", { class: "hint" }, stepLink(path), words)),
    failed.length && run.state === "done" ? h("p", { class: "hint" }, "The plan continues without these elements, so the run is done, and a retry is not possible. “Run again…” starts a new run of all steps.") : ""]);
  put($("run-next"), [state, over, run.expires, run.refusal, list(run.decisions).length, list(run.questions).length, list(run.waits).length, run.waits_for, run.report?.totals, progressNow()], () => next(state, over));
  const isAsking = !over && list(run.questions).length + list(run.waits).length > 0;
  hide($("answer"), !isAsking);
  hide($("cancel"), over);
  hide($("edit"), false);
  hide($("again"), !over);
  hide($("compare"), !over);
  hide($("retry"), !over || !["failed", "cancelled"].includes(run.state));
  say($("retry"), run.state === "cancelled" ? "Resume…" : "Retry from the failure…");
  // A retry repeats a permanent error, so a changed plan or changed inputs come first.
  const isPermanent = run.state === "failed" && run.is_transient === false;
  $("retry").classList.toggle("primary", !isPermanent);
  $("edit").classList.toggle("primary", over && isPermanent);
  hide($("report"), !(over || run.report));
  $("report").classList.toggle("primary", over && run.state === "done");
  // A hidden card cannot get the focus.
  if (isAsking) hide($("asked"), false);
  questions(over ? [] : list(run.questions));
  waits(over ? [] : list(run.waits));
  hide($("asked"), !$("questions").childElementCount && !$("waits").childElementCount);
  // Events leave the output out; it is asked for once the run is over.
  const known = run.output !== undefined;
  put($("result"), [run.output ?? null, known, over, run.error ?? null], () => {
    if (run.output === undefined || run.output === null) {
      return h("p", { class: "none" }, !over ? "There is no output yet." : run.state === "cancelled" ? "The run was cancelled, so it has no output." : run.error ? "The run failed, so it has no output." : known ? "The output is empty." : "The output is being loaded.");
    }
    const long = typeof run.output === "string" ? run.output : show(run.output);
    return [h("pre", { tabindex: "0", "aria-labelledby": "result-title" }, block(long, LIMITS.shown)),
      h("div", { class: "buttons" }, h("button", { type: "button", onclick: ({ target }) => copy(target, show(run.output), fileOf("json", "output-")) }, "Copy"),
        h("button", { type: "button", onclick: () => save(fileOf("json", "output-"), show(run.output)) }, "Save as a file"))];
  });
  const remains = over ? list(run.not_undone) : [];
  hide($("undone-card"), !list(run.undone).length && !remains.length);
  put($("undone"), list(run.undone), () => (list(run.undone).length ? h("ul", { class: "items" }, list(run.undone).slice(0, LIMITS.rows).map(undone)) : []));
  put($("remains"), remains, () => (remains.length ? [h("h3", {}, "Not undone"), h("p", { class: "hint" }, "These calls may have changed something, and no undo step has reversed them. Check their effects, and correct them yourself if necessary."),
    h("ul", { class: "items" }, folded(remains, ({ path, why }) => [path.replaceAll(/\[\d+\]/g, ""), why], ({ path, tool, why }) => [stepLink(path), tool ? [" with ", h("code", {}, cut(tool, 200))] : "", ": ", prose(why)],
      ([{ path, tool, why }], count) => [`${count} calls of `, h("code", {}, cut(path.replaceAll(/\[\d+\]/g, ""), 200)), " with ", h("code", {}, cut(tool, 200)), ": ", prose(why)]))] : []));
  const tries = list(run.earlier);
  hide($("earlier-card"), !tries.length);
  put($("earlier"), tries, () => tries.map(earlier));
  const answered = answers();
  hide($("decisions-card"), !answered.length);
  put($("decisions"), answered, () => (answered.length ? h("ul", { class: "items" }, folded(answered.slice(-LIMITS.cards), ({ path, decision, by, reason, original, value }) => [path.replaceAll(/\[\d+\]/g, ""), decision, by, reason, original, value],
    (one) => [stepLink(one.path), one.tool ? [" with ", h("code", {}, cut(one.tool, 200))] : "", ": ", ...sentence(one)],
    ([one], count) => [`${count} calls of `, h("code", {}, cut(one.path.replaceAll(/\[\d+\]/g, ""), 200)), ": ", ...sentence(one)])) : []));
  const given = Object.entries(run.inputs ?? {}).slice(0, LIMITS.rows);
  hide($("given-card"), !given.length);
  put($("given"), given, () => h("dl", {}, given.flatMap(([name, value]) => [h("dt", {}, bdi(name, 200)), h("dd", {}, typeof value === "string" ? bdi(value) : h("code", {}, cut(JSON.stringify(value))))])));
  pointAtFailure(over);
  drawLive();
  if (over) {
    clearInterval(live.clock);
    live.clock = 0;
  } else {
    live.clock ||= setInterval(drawLive, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2000 : 400);
  }
};
// The id, which people paste into tickets and searches.
const idOf = (id) => {
  const shown = h("code", {}, cut(id, 100));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(id);
      announce("The id is copied");
      say(button, "Copied");
    } catch {
      // Without a secure context, a browser copies only what somebody copies.
      getSelection().selectAllChildren(shown);
      announce("The id is selected");
    }
  };
  const button = h("button", { type: "button", class: "small", "aria-label": "Copy the id of the run", onclick: copy }, "Copy");
  return [h("span", { class: "run-id" }, "Run ", shown, " ", button)];
};
// The items of a list. More than three items in a row with one key are one item that opens.
const folded = (all, key, item, summary) => {
  const groups = [];
  for (const one of all.slice(0, LIMITS.rows)) {
    const of = show(key(one));
    if (groups.at(-1)?.of === of) groups.at(-1).some.push(one);
    else groups.push({ of, some: [one] });
  }
  return groups.flatMap(({ some }) => (some.length < 4 ? some.map((one) => h("li", {}, ...item(one)))
    : h("li", {}, h("details", {}, h("summary", {}, ...summary(some, some.length)), h("ul", { class: "items" }, some.map((one) => h("li", {}, ...item(one))))))));
};
const stepLink = (path) => h("button", { type: "button", class: "link", onclick: () => live.choose(path, true) }, h("code", {}, cut(path, 300)));
// The step that an error names, and the rest of the error.
const placeOf = (error) => {
  if (typeof error !== "string") return { path: error?.path ?? error?.step, text: [error?.message ?? show(error), error?.help].filter(Boolean).join("\n") };
  const [whole, path] = /^step `([^`]+)`: /.exec(error) ?? [];
  return whole ? { path, text: error.slice(whole.length) } : { text: error };
};
// The step in the address, or the failed step, is open from the start, until somebody chooses another.
const pointAtFailure = (over) => {
  if (live.wanted && (live.steps.has(live.wanted) || over)) {
    live.isPointed = true;
    live.choose(live.wanted);
    live.wanted = null;
  }
  if (live.isPointed || !over || live.run.state !== "failed") return;
  const known = new Set(list(live.run.steps).map((step) => step?.path));
  const path = [placeOf(live.run.error ?? "").path, ...live.order].find((path) => known.has(path) && live.steps.get(path)?.status === "failed");
  if (!path) return;
  live.isPointed = true;
  if (live.chosen !== null) return;
  // The graph of a run that somebody watches does not scroll at the end of the run.
  if (live.clock) livePicture.marked = path;
  live.choose(path, false, false);
};
// The lists that run now, in words.
const progressNow = () => list(live.run.steps).map(({ path }) => live.steps.get(path)).filter((step) => step?.status === "running").map((step) => [step.path, listProgress(step)]);
const listed = (parts) => parts.flatMap((part, at) => [at ? ", " : "", part]);
const totals = ({ report }) => Object.entries(report?.totals ?? {}).filter(([, count]) => count).map(([name, count]) => `${count.toLocaleString()} ${name.replace("_", " ")}`).join(", ");
// Says what the run waits for, and who acts next.
const next = (state, over) => {
  const { run } = live;
  const [questions, values] = [list(run.questions).length, list(run.waits).length];
  const says = (who, ...rest) => h("p", { class: "next" }, h("strong", {}, `${who}: `), ...rest);
  const until = run.expires ? [" The run fails in ", left(run.expires), " if it has not ended."] : "";
  if (over) {
    const counts = totals(run);
    const refusal = state === "failed" && refusalOf(run);
    const change = "change the plan or its inputs, and run the plan again";
    const todo = refusal ? `retry the run if you want to answer the question again. Otherwise, ${change}`
      : run.is_transient === false ? `${change}. If you have corrected the cause of the error elsewhere, retry the run` : "correct the cause of the error, and retry the run";
    const act = state === "cancelled" ? "resume the run, or run the plan again." : `${todo}. In a retry, completed steps keep their outputs, except undone steps and the steps that need them.`;
    return [counts ? h("p", { class: "hint" }, `Steps: ${counts}.`) : "", refusal ? h("p", {}, stepLink(refusal.path), " was ", ...sentence(refusal), /[.?!…]$/.test(refusal.reason ?? "") ? "" : ".") : "", state === "done" ? "" : says("Next, you", act)];
  }
  if (questions || values) return says("Next, you", listed([questions ? `answer ${plural(questions, "question")}` : null, values ? `send ${plural(values, "value")}` : null].filter(Boolean)), ".", until);
  if (run.waits_for === "server") return says("Next, the server", "tries again to start the run. ", run.refusal ? ["The latest attempt failed: ", prose(run.refusal)] : "");
  if (run.waits_for === "time") return says("Next, the server", "continues the run at a time of the plan. You can only cancel the run.", until);
  const now = progressNow();
  const statuses = list(run.steps).filter(({ undoes }) => !undoes).map(({ path }) => live.steps.get(path)?.status);
  const idle = statuses.every((status) => status === undefined) ? "starts the run." : statuses.every((status) => ENDED.includes(status)) ? "ends the run." : "starts the next steps.";
  return says("Now, the server", now.length ? ["runs ", ...listed(now.slice(0, 5).map(([path, text]) => h("span", {}, stepLink(path), text ? `, ${text}` : ""))), now.length > 5 ? ` and ${plural(now.length - 5, "more step")}` : "", "."] : idle, until);
};
// The latest answer about the failed step, if this answer is a refusal.
const refusalOf = (run) => {
  const { path } = placeOf(run.error ?? "");
  const answer = decisions(run).findLast((one) => one.path === path || one.path.startsWith(`${path}[`));
  return answer?.decision === "refuse" ? answer : null;
};
// The failed elements of each list, as at the top of the report.
const MOST_FAILED = 20;
const failedElements = () => failedLists().map(({ path, failed, words }) => ({ path, words: `: ${words}: ${failed.slice(0, MOST_FAILED).join(", ")}${failed.length > MOST_FAILED ? ", …" : ""}` }));
// The attempts before a retry.
const earlier = ({ at, attempts }) => {
  const bad = list(attempts).filter((one) => one?.error);
  const rest = list(attempts).length - bad.length;
  const others = rest ? plural(rest, bad.length ? "further attempt" : "attempt") : "no attempt";
  return h("div", {}, h("p", { class: "hint" }, "Until the retry at ", time(at), bad.length ? (rest ? `, with ${others} of repeated steps:` : ":") : `: ${others} of repeated steps, and no failure.`),
    h("ul", { class: "items" }, folded(bad, ({ path, error }) => [path.replaceAll(/\[\d+\]/g, ""), error], ({ path, attempt, error }) => [stepLink(path), attempt ? `, attempt ${attempt}` : "", " ", stateLike("failed"), h("p", { class: "error" }, prose(error))],
      ([{ path, error }], count) => [`${count} attempts of `, h("code", {}, cut(path.replaceAll(/\[\d+\]/g, ""), 200)), " ", stateLike("failed"), " ", prose(error)])));
};
// The plan of a run does not change, so it is loaded once.
$("run-plan").addEventListener("toggle", async () => {
  const { id, abort } = live;
  if (!$("run-plan").open || $("run-text").keyed === JSON.stringify(id)) return;
  const plan = await api(runPath("/plan"), { signal: abort?.signal }).catch(noticed);
  if (!plan || id !== live.id) return;
  put($("run-text"), id, () => [h("pre", { tabindex: "0", "aria-labelledby": "plan-of-run" }, block(plan.printed ?? plan.text, LIMITS.event)),
    h("button", { type: "button", onclick: ({ target }) => copy(target, plan.text, fileOf("json", "plan-")) }, "Copy as plan JSON")]);
});
$("answer").addEventListener("click", () => {
  $("asked").scrollIntoView();
  $("asked").querySelector("#questions h3, #waits h3")?.focus({ preventScroll: true });
});
const cancelled = (run) => {
  const undone = [...undoneBy(run).keys()];
  return h("p", { class: "neutral" }, h("strong", {}, "Cancelled"), undone.length ? ["; undone: ", ...undone.flatMap((undoes, at) => [at ? ", " : "", stepLink(undoes)])] : "", ".");
};
const wrong = (error) => {
  const { path, text } = placeOf(error);
  return h("p", { class: "error" }, h("strong", {}, path ? "Error in " : "Error: "), path ? [stepLink(path), ": "] : "", prose(text));
};
const undone = ({ path, tool, undoes, status, error }) => h("li", {}, h("code", {}, cut(path, 300)), tool ? [" with ", h("code", {}, cut(tool, 200))] : "", " undoes ", h("code", {}, cut(undoes, 300)), " ", stateLike(status),
  error ? h("p", { class: "error" }, bdi(error)) : "");

