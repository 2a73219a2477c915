// The questions of all runs, and the runs that wait for a value. Nobody can help a run that waits for a time.

import { namesOf } from "./arguments.js";
import { $, bdi, called, cut, h, hide, list, plural, put, say, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { live } from "./live.js";
import { callsOf, follow, groupsOf, inboxQuestions, inboxWaits, stepOf } from "./questions.js";
import { api, capital, noticed, token } from "./server.js";
import { since, time } from "./time.js";
import { loadTools } from "./tools.js";

const FIRST = 3;
// The first argument of a call tells questions about one tool apart.
const MOST = 40;
const firstOf = (tool, given) => namesOf(tool, given ?? {}).slice(0, 1).flatMap((name) => [", with ", h("code", {}, cut(name, MOST)), " ", bdi(typeof given[name] === "string" ? given[name] : JSON.stringify(given[name]), MOST)]);
// The first questions, and the first runs that wait for a value, above the list of runs.
const firstAsks = (groups, others, count) => {
  const all = [...groups.map((group) => ({ ...group.some[0], calls: group.some.length, words: capital(callsOf(group)) })), ...others.map(({ id, name, plan, began }) => ({ run: id, name, plan, asked: began, calls: 1 }))];
  const shown = all.slice(0, FIRST);
  // A list with filters is about other runs.
  hide($("asks-card"), !all.length || location.hash.startsWith("#/runs?"));
  put($("asks"), [all, count], () => [h("ul", { class: "items" }, shown.map(({ run, name, plan, asked, path, tool, calls, words, arguments: given }) => h("li", {},
    h("a", { href: `#/runs/${encodeURIComponent(run)}` }, ...(calls > 1 ? [`${words} of `, h("code", {}, cut(tool, 200)), " wait in the step ", h("code", {}, cut(stepOf({ path }), 300))] : path ? ["May ", h("code", {}, cut(tool, 200)), " run in the step ", h("code", {}, cut(path, 300)), ...firstOf(tool, given), "?"] : ["Send a value to the run"])),
    " ", h("span", { class: "hint" }, "Run of ", called({ name, plan }), path ? " · asked " : " · began ", since(asked), " ago")))),
    count > shown.reduce((sum, { calls }) => sum + calls, 0) ? h("p", {}, h("a", { href: "#/waiting" }, `Show all ${count.toLocaleString()}`)) : null]);
};
let timer = 0;
let asking = null;
let isOpen = false;
// The waiting steps of the first runs. A run is asked for once, until somebody has sent a value.
const known = new Map();
const showWaits = async (runs, signal) => {
  const first = runs.slice(0, LIMITS.waits);
  for (const id of known.keys()) if (!first.some((run) => run.id === id)) known.delete(id);
  await Promise.all(first.filter(({ id }) => !known.has(id)).map(async ({ id, name, plan }) => {
    const run = await api(`/api/runs/${encodeURIComponent(id)}`, { signal }).catch(() => null);
    if (run) known.set(id, list(run.waits).map((wait) => ({ ...wait, run: id, name, plan })));
  }));
  if (signal.aborted) return;
  inboxWaits(first.flatMap(({ id }) => known.get(id) ?? []), async () => {
    known.clear();
    await loadInbox(true);
  });
};
const loadInbox = async (quiet = false) => {
  if (!token) return;
  asking?.abort();
  const { signal } = (asking = new AbortController());
  try {
    const [asked, waiting] = await Promise.all([api("/api/questions", { signal }), api("/api/runs?waits_for=value&limit=100", { signal }), loadTools()]);
    if (signal.aborted) return;
    const questions = list(asked?.questions).filter((one) => one && typeof one === "object");
    const others = list(waiting?.runs).filter((run) => run && typeof run === "object");
    const open = Number(asked?.count) || questions.length;
    const groups = groupsOf(questions, undefined, open > questions.length);
    inboxQuestions(groups, () => loadInbox(true));
    const count = open + others.length;
    firstAsks(groups, others, count);
    say($("waiting-count"), count ? ` (${count.toLocaleString()}${waiting?.next ? "+" : ""})` : "");
    $("inbox-title").closest("section").classList.toggle("attention", count > 0);
    say($("inbox-count"), [open ? plural(open, "question") : "", others.length ? `${plural(others.length, "run")} ${others.length === 1 ? "waits" : "wait"} for a value` : ""].filter(Boolean).join(", ") || "Nothing is waiting.");
    say($("inbox-more"), follow(open - groups.slice(0, LIMITS.cards).reduce((sum, { some }) => sum + some.length, 0)));
    hide($("inbox-runs-card"), !others.length);
    if (isOpen) await showWaits(others, signal);
    const more = others.slice(LIMITS.waits);
    put($("inbox-runs"), more, () => more.length > 0 && table("Further runs that wait for a value", ["Plan", "State", "Began", "Age"], more.map((run) => ({ cells: [
      h("a", { href: `#/runs/${encodeURIComponent(run.id)}` }, called(run)), stateOf(run.state), time(run.began), since(run.began)] }))));
  } catch (error) {
    if (!quiet) noticed(error);
  }
};
// A run tells of a question before the server lists the run as waiting, so the count is asked for a second time.
let soon = [];
live.asked = () => {
  soon.forEach(clearTimeout);
  soon = [100, 1500].map((wait) => setTimeout(() => loadInbox(true), wait));
};
// The count in the navigation is on each page, and the list itself is looked at more often.
export const watchInbox = (on, view) => {
  isOpen = view === "inbox-view";
  known.clear();
  clearInterval(timer);
  // The cards are made again with the text that somebody has typed on the page of a run.
  if (isOpen) for (const place of ["inbox", "inbox-waits"]) $(place).replaceChildren();
  timer = on ? setInterval(() => document.visibilityState === "visible" && loadInbox(true), isOpen || view === "runs-view" ? 5000 : 20_000) : 0;
  if (on) loadInbox(true);
};
