import { $, bdi, cut, h, hide, list, plural, put, say, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { api, noticed } from "./server.js";
import { instant, time, took } from "./time.js";

export const runs = { state: "", plan: "", before: [], next: null, timer: 0, abort: null };
export const loadRuns = async (quiet = false) => {
  runs.abort?.abort();
  const abort = (runs.abort = new AbortController());
  const query = new URLSearchParams({ limit: String(LIMITS.page) });
  if (runs.state) query.set("state", runs.state);
  if (runs.plan) query.set("plan", runs.plan);
  if (runs.before.length) query.set("before", runs.before.at(-1));
  try {
    const said = await api(`/api/runs?${query}`, { signal: abort.signal });
    if (abort.signal.aborted) return;
    runs.next = said?.next ?? null;
    const all = list(said?.runs).slice(0, LIMITS.page);
    const focused = document.activeElement?.closest?.("#runs a")?.getAttribute("href");
    put($("runs"), all, () => {
      const rows = all.map((run) => ({ cells: [
        h("a", { href: `#/runs/${encodeURIComponent(run?.id)}` }, bdi(run?.plan || "without a name", 200)), stateOf(run?.state), time(run?.began),
        run?.ended ? took(instant(run.ended) - instant(run.began)) : "–", h("code", {}, cut(run?.id, 80))] }));
      return rows.length ? table("Runs, the latest first", ["Plan", "State", "Began", "Took", "Run"], rows)
        : h("p", { class: "none" }, runs.state || runs.plan ? "No run has this state and plan." : "There are no runs yet.");
    });
    if (focused) [...$("runs").querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    say($("runs-count"), `${plural(all.length, "run")}${runs.before.length ? `, page ${runs.before.length + 1}` : ""}`);
    hide($("older"), runs.next === null);
    hide($("newer"), !runs.before.length);
  } catch (error) {
    if (!quiet) noticed(error);
  }
};
$("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  Object.assign(runs, { state: $("filter-state").value, plan: $("filter-plan").value.trim(), before: [] });
  loadRuns();
});
$("filter-state").addEventListener("change", () => $("filters").requestSubmit());
const turn = (step) => {
  step();
  loadRuns().then(() => $("runs-title").focus());
};
$("older").addEventListener("click", () => turn(() => runs.before.push(runs.next)));
$("newer").addEventListener("click", () => turn(() => runs.before.pop()));
