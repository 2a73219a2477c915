// A run again: its plan in the editor, a new run with equal inputs, and a retry of the failed steps.

import { $, announce, hide } from "./dom.js";
import { editor, replaceText, text } from "./editor.js";
import { live, runPath } from "./live.js";
import { openRun } from "./run.js";
import { api, noticed } from "./server.js";
import { prefill } from "./start.js";
import { keep, remember } from "./store.js";

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
  location.hash = "#/";
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
once($("retry"), async () => {
  const { id } = live;
  await api(runPath("/retry"), { method: "POST", body: {} });
  if (id !== live.id) return;
  announce("The run continues. Completed steps that were not undone do not run again");
  openRun(id);
});
