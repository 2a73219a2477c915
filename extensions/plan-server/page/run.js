import { $, bdi, block, cut, h, hide, list, prose, put, save, say, show, stateLike, stateOf } from "./dom.js";
import { connection, follow } from "./events.js";
import { LIMITS } from "./limits.js";
import { happened, isOver, live } from "./live.js";
import { Picture } from "./picture.js";
import { questions, waits } from "./questions.js";
import { remembered } from "./store.js";
import { instant, time, took } from "./time.js";
import { showLive } from "./timeline.js";

const livePicture = new Picture($("live"), $("run-zoom"), (path) => live.choose(path, matchMedia("(max-width: 60rem)").matches));
$("live").classList.add("live");

export const openRun = (id) => {
  closeRun();
  Object.assign(live, { id, run: null, steps: new Map(), order: [], chosen: null, plan: remembered(id), ended: false, skipped: new Set(), ahead: 0, picture: undefined, opened: new Set() });
  live.abort = new AbortController();
  for (const place of ["together", "questions", "waits", "timeline", "result", "undone", "given", "run-title", "run-facts", "run-wrong", "step-title", "step-state", "step-details"]) {
    $(place).replaceChildren();
    $(place).keyed = undefined;
  }
  for (const place of ["asked", "undone-card", "given-card", "step-card", "cancel", "report", "edit", "again", "retry", "compare"]) hide($(place), true);
  hide($("run-parts"), false);
  say($("run-title"), "Run");
  $("result").replaceChildren(h("p", { class: "none" }, "There is no output yet."));
  setPicture();
  follow(live.abort.signal, happened);
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
  const svg = live.run?.svg ?? live.run?.picture ?? live.plan?.svg ?? null;
  if (live.picture !== svg) {
    live.picture = svg;
    livePicture.put(svg);
    if (!svg) $("live").replaceChildren(h("p", { class: "none" }, "No graph is available for this plan. See the timeline below."));
  }
};
live.choose = (path, goes = false) => {
  live.chosen = path;
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

const drawLive = () => showLive(livePicture);
live.changed = redraw;
const showRun = () => {
  const { run } = live;
  setPicture();
  const over = isOver(run);
  const name = cut(run.plan ?? "Run", 200);
  put($("run-title"), name, () => bdi(name));
  document.title = `${name.slice(0, 60)} – run – plan!`;
  const [began, ended] = [instant(run.began), instant(run.ended)];
  // The events say what the run waits for, but not its state.
  const state = over ? run.state : list(run.waits).length || list(run.questions).length ? "waiting" : run.state === "waiting" ? "running" : run.state;
  put($("run-facts"), [state, run.began, run.ended], () => [stateOf(state), " began ", time(run.began), ...(ended ? [", ended ", time(run.ended), `, took ${took(ended - began)}`] : []), "."]);
  put($("run-wrong"), run.error ?? null, () => (run.error ? wrong(run.error) : []));
  hide($("cancel"), over);
  hide($("edit"), false);
  hide($("again"), !over);
  hide($("compare"), !over);
  hide($("retry"), !over || !["failed", "cancelled"].includes(run.state));
  hide($("report"), !(over || run.report));
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
      h("button", { type: "button", onclick: () => save(`${name.replaceAll(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "output"}.json`, show(run.output)) }, "Save as a file")];
  });
  hide($("undone-card"), !list(run.undone).length);
  put($("undone"), list(run.undone), () => h("ul", { class: "items" }, list(run.undone).slice(0, LIMITS.rows).map(undone)));
  const given = Object.entries(run.inputs ?? {}).slice(0, LIMITS.rows);
  hide($("given-card"), !given.length);
  put($("given"), given, () => h("dl", {}, given.flatMap(([name, value]) => [h("dt", {}, bdi(name, 200)), h("dd", {}, typeof value === "string" ? bdi(value) : h("code", {}, cut(show(value))))])));
  drawLive();
  if (over) {
    clearInterval(live.clock);
    live.clock = 0;
  } else {
    live.clock ||= setInterval(drawLive, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2000 : 400);
  }
};
const wrong = (error) => {
  if (typeof error === "string") return h("p", { class: "error" }, h("strong", {}, "Error: "), prose(error));
  const lines = [error.message ?? show(error), error.help].filter(Boolean);
  return h("p", { class: "error" }, h("strong", {}, error.path ?? error.step ? "Error in " : "Error: "), error.path ?? error.step ? h("code", {}, cut(error.path ?? error.step, 300)) : "",
    error.path ?? error.step ? ": " : "", lines.flatMap((line, at) => [at ? h("br") : "", prose(line)]));
};
const undone = (one) => {
  if (one === null || typeof one !== "object") return h("li", {}, bdi(one));
  const { path, step, tool, undoes, status, error, ...others } = one;
  return h("li", {}, h("code", {}, cut(path ?? step ?? tool ?? show(others), 300)), tool && (path ?? step) ? [" by ", h("code", {}, cut(tool, 200))] : "",
    undoes ? [" undoes ", h("code", {}, cut(undoes, 300))] : "", status ? [" ", stateLike(status)] : "", error ? h("p", { class: "error" }, bdi(typeof error === "string" ? error : error.message ?? error)) : "");
};

