// The questions of all runs, and the runs that wait for a value. Nobody can help a run that waits for a time.

import { $, bdi, cut, h, hide, list, plural, put, say, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { live } from "./live.js";
import { inboxQuestions } from "./questions.js";
import { api, noticed, token } from "./server.js";
import { since, time } from "./time.js";

const FIRST = 3;
// The first questions, and the first runs that wait for a value, above the list of runs.
const firstAsks = (questions, others, count) => {
  const all = [...questions.map(({ run, plan, asked, path, tool }) => ({ run, plan, asked, path, tool })), ...others.map(({ id, plan, began }) => ({ run: id, plan, asked: began }))];
  hide($("asks-card"), !all.length);
  put($("asks"), [all, count], () => [h("ul", { class: "items" }, all.slice(0, FIRST).map(({ run, plan, asked, path, tool }) => h("li", {},
    h("a", { href: `#/runs/${encodeURIComponent(run)}` }, ...(path ? ["May ", h("code", {}, cut(tool, 200)), " run in the step ", h("code", {}, cut(path, 300)), "?"] : ["Send a value to the run"])),
    " ", h("span", { class: "hint" }, "Run of ", bdi(plan || "a plan without a name", 200), path ? ", asked " : ", began ", since(asked), " ago")))),
    count > FIRST ? h("p", {}, h("a", { href: "#/waiting" }, `Show all ${count.toLocaleString()}`)) : null]);
};
let timer = 0;
let asking = null;
const loadInbox = async (quiet = false) => {
  if (!token) return;
  asking?.abort();
  const { signal } = (asking = new AbortController());
  try {
    const [asked, waiting] = await Promise.all([api("/api/questions", { signal }), api("/api/runs?waits_for=value&limit=100", { signal })]);
    if (signal.aborted) return;
    const questions = list(asked?.questions).filter((one) => one && typeof one === "object");
    const others = list(waiting?.runs).filter((run) => run && typeof run === "object");
    inboxQuestions(questions, () => loadInbox(true));
    const open = Number(asked?.count) || questions.length;
    const count = open + others.length;
    firstAsks(questions, others, count);
    say($("waiting-count"), count ? ` (${count.toLocaleString()}${waiting?.next ? "+" : ""})` : "");
    $("inbox-title").closest("section").classList.toggle("attention", count > 0);
    say($("inbox-count"), [open ? plural(open, "question") : "", others.length ? `${plural(others.length, "run")} ${others.length === 1 ? "waits" : "wait"} for a value` : ""].filter(Boolean).join(", ") || "Nothing is waiting.");
    say($("inbox-more"), open > LIMITS.cards ? `${open - LIMITS.cards} more questions follow when these are answered.` : "");
    hide($("inbox-runs-card"), !others.length);
    put($("inbox-runs"), others, () => table("Runs that wait for a value", ["Plan", "State", "Began", "Age"], others.map((run) => ({ cells: [
      h("a", { href: `#/runs/${encodeURIComponent(run.id)}` }, bdi(run.plan || "without a name", 200)), stateOf(run.state), time(run.began), since(run.began)] }))));
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
  const isOpen = view === "inbox-view";
  clearInterval(timer);
  // The cards are made again with the text that somebody has typed on the page of a run.
  if (isOpen) $("inbox").replaceChildren();
  timer = on ? setInterval(() => document.visibilityState === "visible" && loadInbox(true), isOpen || view === "runs-view" ? 5000 : 20_000) : 0;
  if (on) loadInbox(true);
};
