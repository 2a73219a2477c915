import "./again.js";
import "./complete.js";
import "./start.js";
import { showBegin } from "./begin.js";
import { $, hide, hush } from "./dom.js";
import { check, editor, found, loadSamples, measure, text } from "./editor.js";
import { openCompare } from "./compare.js";
import { live } from "./live.js";
import { watchInbox } from "./inbox.js";
import { closeRun, openRun } from "./run.js";
import { heard } from "./questions.js";
import { showReport } from "./report.js";
import { closeRuns, openRuns } from "./runs.js";
import { noticed, Refused, session, takeToken, token } from "./server.js";
import { loadTools } from "./tools.js";
import { kept } from "./store.js";

const VIEWS = ["sign-in", "editor-view", "runs-view", "inbox-view", "run-view", "compare-view"];
let shown = null;
const decoded = (part) => {
  try {
    return part && decodeURIComponent(part);
  } catch {
    return part;
  }
};
const route = (focus = false) => {
  if (takeToken()) focus = false;
  const run = /^#\/runs\/([^/?]+)(\/report)?(?:\?step=(.*))?$/.exec(location.hash);
  const compare = /^#\/compare\/([^/]+)(?:\/([^/]+))?$/.exec(location.hash);
  const view = !token ? "sign-in" : run ? "run-view" : compare ? "compare-view" : location.hash === "#/waiting" ? "inbox-view" : location.hash === "#/plan" ? "editor-view" : "runs-view";
  for (const id of VIEWS) hide($(id), id !== view);
  hide($("forget"), !token);
  hide(document.querySelector("nav"), !token);
  for (const [id, current] of [["to-editor", view === "editor-view"], ["to-runs", view === "runs-view" || view === "compare-view"], ["to-inbox", view === "inbox-view"]]) {
    if (current) $(id).setAttribute("aria-current", "page");
    else $(id).removeAttribute("aria-current");
  }
  if (view === "run-view") $("to-runs").setAttribute("aria-current", "true");
  $("notices").replaceChildren();
  hush();
  heard.clear();
  if (token && view === "runs-view" && !/^(#\/?(runs.*)?)?$/.test(location.hash)) noticed(new Refused(404, { error: { message: "there is no page at this address", help: "This is the list of runs." } }));
  closeRuns();
  if (view !== "run-view") closeRun();
  watchInbox(Boolean(token), view);
  if (token) loadTools();
  if (view === "sign-in") {
    document.title = "Sign in – plan!";
    $("token").focus();
  } else if (view === "editor-view") {
    document.title = "Plan – plan!";
    Promise.all([loadSamples(), loadTools()]).then(showBegin);
    if (!editor.plan && text.value.trim()) check();
    else if (!text.value.trim()) found({}, text.value, $("profile").value);
  } else if (view === "inbox-view") {
    document.title = "Waiting – plan!";
  } else if (view === "runs-view") {
    document.title = "Runs – plan!";
    openRuns(/^#\/runs\?/.test(location.hash) ? location.hash.slice("#/runs".length) : "", focus && shown === view && location.hash.includes("page="));
  } else if (view === "compare-view") {
    document.title = "Compare – plan!";
    openCompare(...compare.slice(1).map(decoded));
  } else {
    document.title = "Run – plan!";
    const id = decoded(run[1]);
    if (live.id !== id || !live.abort) openRun(id, decoded(run[3]) ?? null);
    if (run[2]) showReport();
    else $("report-dialog").close();
  }
  // A run, and a pair of compared runs, is a page of its own.
  const now = [view, ...(run?.slice(1, 2) ?? compare?.slice(1) ?? [])].join("/");
  if (focus && shown !== now) document.querySelector(`#${view} h1`)?.focus();
  shown = now;
};
addEventListener("hashchange", () => route(true));

session.changed = route;
text.value = kept("text") ?? "";
editor.before = text.value;
if (["strict", "compatible"].includes(kept("profile"))) $("profile").value = kept("profile");
measure();
route();
