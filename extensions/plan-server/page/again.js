// A run again: its plan in the editor, a new run with equal inputs, and a retry of the failed steps.

import { $, announce, bdi, h, hide, list, plural, say, stateLike } from "./dom.js";
import { editor, replaceText, text } from "./editor.js";
import { LIMITS } from "./limits.js";
import { live, runPath, undoneBy } from "./live.js";
import { openRun } from "./run.js";
import { api, noticed } from "./server.js";
import { prefill } from "./start.js";
import { keep, remember } from "./store.js";
import { who } from "./who.js";

// Does something once at a time, with its button turned off.
const once = (button, work) => button.addEventListener("click", async () => {
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    noticed(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
});
once($("edit"), async () => {
  const { id, run } = live;
  // The tab that has started the run knows the text of the author. Other tabs get the plan from the server, as plan JSON.
  const { text: source, inputs } = { ...(await api(runPath("/plan"))), ...(live.plan?.text ? { text: live.plan.text } : {}) };
  if (id !== live.id) return;
  if (["strict", "compatible"].includes(run?.profile)) {
    $("profile").value = run.profile;
    keep("profile", run.profile);
  }
  if (text.value.trim() && text.value !== source) {
    editor.mine = text.value;
    hide($("sample-back"), false);
  }
  location.hash = "#/plan";
  prefill(inputs ?? {}, run?.approve);
  replaceText(String(source));
});
$("compare").addEventListener("click", () => (location.hash = `#/compare/${encodeURIComponent(live.id)}`));
$("again").addEventListener("click", () => $("again-dialog").showModal());
$("again-no").addEventListener("click", () => $("again-dialog").close());
once($("again-yes"), async () => {
  const { id, plan } = live;
  const made = await api(runPath("/again"), { method: "POST", body: {} }).finally(() => $("again-dialog").close());
  if (id !== live.id) return;
  announce("A new run has started");
  if (plan) remember(String(made.id), plan);
  location.hash = `#/runs/${encodeURIComponent(made.id)}`;
});
// The undone steps, and the steps that need an undone step, directly or indirectly.
const repeated = (steps, undone) => {
  const again = new Set(steps.map(({ path }) => path).filter((path) => undone.has(path)));
  for (let before = -1; before !== again.size;) {
    before = again.size;
    for (const { path, needs } of steps) if (list(needs).some((need) => again.has(need))) again.add(path);
  }
  return again;
};
const listed = (title, steps, note) => (steps.length ? [h("h3", {}, title), h("ul", { class: "items" }, steps.slice(0, LIMITS.cards).map((step) => h("li", {}, bdi(step.path, 200), ...note(step)))),
  steps.length > LIMITS.cards ? h("p", { class: "hint" }, `${plural(steps.length - LIMITS.cards, "more step")}.`) : ""] : []);
$("retry").addEventListener("click", () => {
  const { run } = live;
  const undone = undoneBy(run);
  const status = (path) => live.steps.get(path)?.status;
  const work = list(run.steps).filter((step) => !step.undoes);
  const again = repeated(work, undone);
  const isDone = ({ path }) => ["completed", "recovered", "skipped"].includes(status(path)) && !undone.has(path);
  const runs = ({ path, always }) => always || again.has(path);
  const completed = work.filter(isDone);
  const word = run.state === "cancelled" ? "Resume" : "Retry";
  say($("retry-title"), word === "Resume" ? "Resume this run?" : "Retry from the failure?");
  say($("retry-yes"), `${word} the run`);
  $("retry-steps").replaceChildren(...[
    listed("These steps run", work.filter((step) => !isDone(step)), ({ path }) => [" ", stateLike(status(path)), ...(undone.has(path) ? [", undone by ", bdi(undone.get(path), 200)] : [])]),
    listed("These completed steps run again", completed.filter(runs), ({ always, needs }) => (always ? [", at the end of every run"] : [", needs ", bdi(list(needs).find((need) => again.has(need)), 200)])),
    listed("These steps keep their outputs", completed.filter((step) => !runs(step)), () => []),
    completed.some((step) => again.has(step.path)) ? h("p", { class: "hint" }, "These calls are made again with the number of the first call. A tool that recognizes the number does not repeat the effect. Other tools do: for example, an e-mail is sent twice.") : "",
    h("p", { class: "hint" }, run.approve === "each" ? "The run asks before each call that may change something. A call that a person allowed, and that failed or was cancelled, runs again with the allowed arguments and without a second question." : "The run makes all calls without asking."),
  ].flat().filter(Boolean));
  $("retry-dialog").showModal();
});
$("retry-no").addEventListener("click", () => $("retry-dialog").close());
once($("retry-yes"), async () => {
  const { id } = live;
  $("retry-dialog").close();
  const by = await who();
  if (by === null) return;
  await api(runPath("/retry"), { method: "POST", body: { by, reason: $("retry-why").value.trim() } });
  $("retry-why").value = "";
  if (id !== live.id) return;
  announce("The run continues. Failed steps, undone steps and the steps that need an undone step run again");
  openRun(id);
});
