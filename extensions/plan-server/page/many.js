// A cancellation or a retry of several runs, one after the other.

import { $, announce, cut, h, hide, list, plural, prose, say } from "./dom.js";
import { LIMITS } from "./limits.js";
import { api, noticed, told } from "./server.js";
import { who } from "./who.js";

const CANCELS = "Each run stops waiting for its running calls, which may have taken effect. Its undo steps and its always steps run.";
const RETRIES = "Failed steps, undone steps and the steps that need an undone step run again, including calls that send or change something. The page of a run lists these steps before a retry.";
let work = null;
// Asks for a reason. `find` returns the ids of the runs, and `done` is called at the end.
export const askAll = (word, count, find, done) => {
  work = { word, find, done };
  say($("all-title"), `${word} ${plural(count, "run")}?`);
  say($("all-about"), word === "Cancel" ? CANCELS : RETRIES);
  say($("all-yes"), count === 1 ? `${word} the run` : `${word} the runs`);
  $("all-why").value = "";
  $("all-yes").className = word === "Cancel" ? "danger" : "primary";
  say($("all-progress"), "");
  $("all-failed").replaceChildren();
  hide($("all-yes"), false);
  $("all-dialog").showModal();
};
$("all-no").addEventListener("click", () => $("all-dialog").close());
$("all-yes").addEventListener("click", async () => {
  if ($("all-yes").getAttribute("aria-busy")) return;
  const { word, find, done } = work;
  const by = await who();
  if (by === null) return;
  $("all-yes").setAttribute("aria-busy", "true");
  const body = { by, reason: $("all-why").value.trim() };
  const action = word === "Cancel" ? "cancel" : "retry";
  let [ended, failed] = [0, []];
  try {
    const ids = list(await find());
    for (const id of ids) {
      if (!$("all-dialog").open) break;
      await api(`/api/runs/${encodeURIComponent(id)}/${action}`, { method: "POST", body }).then(() => (ended += 1), (problem) => failed.push([id, problem]));
      say($("all-progress"), `${ended + failed.length} of ${ids.length}${failed.length ? `, ${failed.length} failed` : ""}`);
    }
    $("all-failed").replaceChildren(...failed.slice(0, LIMITS.cards).map(([id, problem]) => h("li", {}, h("code", {}, cut(id, 80)), ": ", prose(told(problem)))));
    hide($("all-yes"), failed.length > 0);
    if (!failed.length) $("all-dialog").close();
    announce(`${plural(ended, "run")} ${action === "cancel" ? (ended === 1 ? "is being cancelled" : "are being cancelled") : ended === 1 ? "continues" : "continue"}`);
  } catch (error) {
    $("all-dialog").close();
    noticed(error);
  } finally {
    $("all-yes").removeAttribute("aria-busy");
    done();
  }
});
