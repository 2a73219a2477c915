import { $, bdi, cut, h, hide, list, plural, put, say, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { showSamples } from "./samples.js";
import { api, noticed } from "./server.js";
import { instant, since, time, took } from "./time.js";

const runs = { state: "", text: "", before: "", page: 1, next: null, starts: [], count: "", timer: 0, abort: null };
// The filters and the page are in the address, so that a list can be sent to somebody.
const address = (change) => {
  const { state, text, before, page } = { ...runs, before: "", page: 1, ...change };
  const query = new URLSearchParams(Object.entries({ state, text, before, page: page > 1 ? String(page) : "" }).filter(([, value]) => value));
  return `#/runs${query.size ? `?${query}` : ""}`;
};
const load = async (quiet = false) => {
  runs.abort?.abort();
  const abort = (runs.abort = new AbortController());
  const query = new URLSearchParams({ limit: String(LIMITS.page) });
  for (const name of ["state", "text", "before"]) if (runs[name]) query.set(name, runs[name]);
  if (!runs.before) query.set("count", "true");
  try {
    const said = await api(`/api/runs?${query}`, { signal: abort.signal });
    if (abort.signal.aborted) return;
    runs.next = said?.next ?? null;
    const all = list(said?.runs).slice(0, LIMITS.page);
    const focused = document.activeElement?.closest?.("#runs a")?.getAttribute("href");
    const filtered = runs.state || runs.text;
    const isEmpty = !all.length && !filtered && !runs.before && runs.next === null;
    say($("runs-title"), isEmpty ? "Run a plan" : "Runs");
    for (const part of ["filters", "runs-count", "runs"]) hide($(part), isEmpty);
    hide($("welcome"), !isEmpty);
    $("write").classList.toggle("primary", !isEmpty);
    if (isEmpty) showSamples();
    put($("runs"), [all, filtered, runs.next === null], () => {
      const hasErrors = all.some((run) => run?.error);
      const error = (run) => h("span", { class: "one-line", title: run?.error || null }, run?.error ? bdi(String(run.error).replaceAll("`", ""), 200) : "–");
      const rows = all.map((run) => ({ cells: [
        h("a", { href: `#/runs/${encodeURIComponent(run?.id)}` }, bdi(run?.plan || "without a name", 200)), stateOf(run?.state), time(run?.began),
        run?.ended ? took(instant(run.ended) - instant(run.began)) : h("span", {}, since(run?.began), " so far"), ...(hasErrors ? [error(run)] : []), h("code", {}, cut(run?.id, 80))] }));
      return rows.length ? table("Runs, the latest first", ["Plan", "State", "Began", "Took", ...(hasErrors ? ["Error"] : []), "Run"], rows)
        : h("p", { class: "none" }, runs.next !== null ? "None of the latest runs matches. Search further back." : filtered ? "No run matches these filters." : "There are no runs yet.");
    });
    if (focused) [...$("runs").querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    const { least, is_exact } = said?.count ?? {};
    if (!runs.before) runs.count = least === undefined ? plural(all.length, "run") : is_exact ? plural(least, "run") : `At least ${plural(least, "run")}`;
    say($("runs-count"), `${runs.count || plural(all.length, "run")}${runs.page > 1 ? `, page ${runs.page}` : ""}`);
    hide($("older"), runs.next === null);
    hide($("newer"), runs.page < 2);
  } catch (error) {
    if (!quiet) noticed(error);
  }
};
// Shows the list that the address describes.
export const openRuns = (query, moves) => {
  const given = new URLSearchParams(query);
  const page = Math.max(1, Math.floor(Number(given.get("page"))) || 1);
  const before = given.get("before") ?? "";
  if (!before || runs.state !== (given.get("state") ?? "") || runs.text !== (given.get("text") ?? "")) Object.assign(runs, { starts: [], count: "" });
  Object.assign(runs, { state: given.get("state") ?? "", text: given.get("text") ?? "", before, page });
  runs.starts[page] = before;
  if (document.activeElement !== $("filter-text")) $("filter-text").value = runs.text;
  $("filter-state").value = runs.state;
  runs.timer = setInterval(() => document.visibilityState === "visible" && !runs.before && load(true), 5000);
  load().then(() => moves && $("runs-title").focus());
};
export const closeRuns = () => clearInterval(runs.timer);
$("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = address({ state: $("filter-state").value, text: $("filter-text").value.trim() });
});
$("filter-state").addEventListener("change", () => $("filters").requestSubmit());
$("older").addEventListener("click", () => (location.hash = address({ before: runs.next, page: runs.page + 1 })));
$("newer").addEventListener("click", () => {
  const before = runs.starts[runs.page - 1];
  location.hash = address(before ? { before, page: runs.page - 1 } : {});
});
