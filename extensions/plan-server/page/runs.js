import { $, announce, bdi, cut, h, hide, list, plural, put, say, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { showSamples } from "./samples.js";
import { api, noticed } from "./server.js";
import { who } from "./who.js";
import { ago, instant, since, took } from "./time.js";

// The names of the filters in the address and in the API.
const FILTERS = ["state", "plan", "since", "from", "to", "text"];
const runs = { ...Object.fromEntries(FILTERS.map((name) => [name, ""])), before: "", page: 1, next: null, starts: [], count: "", timer: 0, abort: null };
// The filters and the page are in the address, so that a list can be sent to somebody.
const address = (change) => {
  const all = { ...runs, before: "", page: 1, ...change };
  const query = new URLSearchParams([...FILTERS, "before"].map((name) => [name, all[name]]).concat([["page", all.page > 1 ? String(all.page) : ""]]).filter(([, value]) => value));
  return `#/runs${query.size ? `?${query}` : ""}`;
};
const load = async (quiet = false) => {
  runs.abort?.abort();
  const abort = (runs.abort = new AbortController());
  const query = new URLSearchParams({ limit: String(LIMITS.page) });
  for (const name of [...FILTERS, "before"]) if (runs[name]) query.set(name, runs[name]);
  if (!runs.before) query.set("count", "true");
  try {
    const said = await api(`/api/runs?${query}`, { signal: abort.signal });
    if (abort.signal.aborted) return;
    runs.next = said?.next ?? null;
    const all = list(said?.runs).slice(0, LIMITS.page);
    const focused = document.activeElement?.closest?.("#runs a")?.getAttribute("href");
    const filtered = FILTERS.some((name) => runs[name]);
    const isEmpty = !all.length && !filtered && !runs.before && runs.next === null;
    hide($("runs-about"), !isEmpty);
    say($("runs-title"), isEmpty ? "Run a plan" : "Runs");
    for (const part of ["filters", "runs-count", "runs"]) hide($(part), isEmpty);
    hide($("welcome"), !isEmpty);
    $("write").classList.toggle("primary", !isEmpty);
    if (isEmpty) showSamples();
    put($("runs"), [all, filtered, runs.next === null], () => {
      const hasErrors = all.some((run) => run?.error);
      const line = (text) => h("span", { class: runs.state === "failed" ? "two-lines" : "one-line", title: text || null }, text ? bdi(text, 200) : "–");
      // The message comes first, since the rows of one plan often begin with one step.
      const error = (run) => line(String(run?.error ?? "").replace(/^step (`[^`]+`)(?: \([^)]*\))?: (.*)$/s, "$2, in the step $1").replaceAll("`", ""));
      const rows = all.map((run) => ({ cells: [
        h("a", { href: `#/runs/${encodeURIComponent(run?.id)}` }, bdi(run?.plan || "without a name", 200)), stateOf(run?.state), line(String(run?.inputs_text ?? "")), ago(run?.began),
        run?.ended ? took(instant(run.ended) - instant(run.began)) : h("span", {}, since(run?.began), " so far"), ...(hasErrors ? [error(run)] : []), h("code", {}, cut(run?.id, 80))] }));
      return rows.length ? table("Runs, the latest first", ["Plan", "State", "Inputs", "Began", "Took", ...(hasErrors ? ["Error"] : []), "Run"], rows)
        : h("p", { class: "none" }, runs.next !== null ? "None of the latest runs matches. Choose “Older runs” to search earlier runs." : filtered ? "No run matches these filters." : "There are no runs yet.");
    });
    if (focused) [...$("runs").querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    const { least, is_exact } = said?.count ?? {};
    if (!runs.before) runs.count = least === undefined ? plural(all.length, "run") : is_exact ? plural(least, "run") : `At least ${plural(least, "run")}`;
    const before = (runs.page - 1) * LIMITS.page;
    const count = runs.count || plural(all.length, "run");
    say($("runs-count"), runs.page > 1 || runs.next !== null ? `${(before + 1).toLocaleString()}–${(before + all.length).toLocaleString()} of ${count.replace(/^A/, "a")}` : count);
    const many = ["failed", "cancelled"].includes(runs.state) && (is_exact ? least : 0) > 1;
    hide($("retry-all"), !many && runs.page < 2);
    if (many) say($("retry-all"), `${runs.state === "failed" ? "Retry" : "Resume"} all ${least.toLocaleString()}…`);
    hide($("older"), runs.next === null);
    hide($("newer"), runs.page < 2);
  } catch (error) {
    if (!quiet) noticed(error);
  }
};
// Lists the names of plans, with the name in the address.
const showPlans = async () => {
  const put = (names) => {
    const all = [...new Set([...names, runs.plan])].filter((name) => typeof name === "string" && name).sort();
    $("filter-plan").replaceChildren(h("option", { value: "" }, "All"), ...all.map((name) => h("option", { value: name }, cut(name, 80))));
    $("filter-plan").value = runs.plan;
  };
  if ($("filter-plan").value !== runs.plan) put([...$("filter-plan").options].map(({ value }) => value));
  // Without the names, the list is there all the same.
  const said = await api("/api/plans").catch(() => null);
  if (document.activeElement !== $("filter-plan")) put(list(said?.plans));
};
const local = (value) => {
  const date = instant(value);
  return date ? new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
};
const showFilters = () => {
  if (document.activeElement !== $("filter-text")) $("filter-text").value = runs.text;
  $("filter-state").value = runs.state;
  const hasRange = Boolean(runs.from || runs.to);
  $("filter-time").value = hasRange ? "range" : runs.since;
  // An address may have another duration.
  if ($("filter-time").selectedIndex < 0) $("filter-time").append(h("option", { value: runs.since, selected: true }, "In the last ", cut(runs.since, 20)));
  hide($("filter-range"), !hasRange);
  // A field in which somebody types keeps its text.
  for (const field of ["from", "to"].map((name) => $(`filter-${name}`))) if (document.activeElement !== field) field.value = local(runs[field.id.slice("filter-".length)]);
  hide($("filter-clear"), !FILTERS.some((name) => runs[name]));
  showPlans();
};
// Shows the list that the address describes.
export const openRuns = (query, moves) => {
  const given = new URLSearchParams(query);
  const page = Math.max(1, Math.floor(Number(given.get("page"))) || 1);
  const before = given.get("before") ?? "";
  const filters = Object.fromEntries(FILTERS.map((name) => [name, given.get(name) ?? ""]));
  if (!before || FILTERS.some((name) => runs[name] !== filters[name])) Object.assign(runs, { starts: [], count: "" });
  Object.assign(runs, { ...filters, before, page });
  runs.starts[page] = before;
  showFilters();
  runs.timer = setInterval(() => document.visibilityState === "visible" && !runs.before && load(true), 5000);
  load().then(() => moves && $("runs-title").focus());
};
export const closeRuns = () => clearInterval(runs.timer);
$("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const choice = $("filter-time").value;
  const range = (name) => (choice === "range" ? instant($(`filter-${name}`).value)?.toISOString() ?? "" : "");
  location.hash = address({ state: $("filter-state").value, plan: $("filter-plan").value, since: choice === "range" ? "" : choice, from: range("from"), to: range("to"), text: $("filter-text").value.trim() });
});
for (const name of ["state", "plan"]) $(`filter-${name}`).addEventListener("change", () => $("filters").requestSubmit());
// A browser reports each digit of a year as a change, so a time applies when the focus leaves its field.
for (const name of ["from", "to"]) $(`filter-${name}`).addEventListener("blur", () => !$("runs-view").hidden && $(`filter-${name}`).value !== local(runs[name]) && $("filters").requestSubmit());
$("filter-time").addEventListener("change", () => {
  const isRange = $("filter-time").value === "range";
  hide($("filter-range"), !isRange);
  if (isRange) $("filter-from").focus();
  else $("filters").requestSubmit();
});
$("older").addEventListener("click", () => (location.hash = address({ before: runs.next, page: runs.page + 1 })));
// All runs that the filters find continue, one after the other.
$("retry-all").addEventListener("click", () => {
  say($("all-title"), `${$("retry-all").textContent.replace("…", " runs")}?`);
  say($("all-progress"), "");
  $("all-dialog").showModal();
});
$("all-no").addEventListener("click", () => $("all-dialog").close());
$("all-yes").addEventListener("click", async () => {
  if ($("all-yes").getAttribute("aria-busy")) return;
  const by = await who();
  if (by === null) return;
  $("all-yes").setAttribute("aria-busy", "true");
  let [done, failed, before] = [0, 0, ""];
  try {
    const ids = [];
    do {
      const query = new URLSearchParams({ limit: "100", ...Object.fromEntries(FILTERS.filter((name) => runs[name]).map((name) => [name, runs[name]])), ...(before ? { before } : {}) });
      const page = await api(`/api/runs?${query}`);
      ids.push(...list(page?.runs).map(({ id }) => id));
      before = page?.next ?? "";
    } while (before);
    for (const id of ids) {
      if (!$("all-dialog").open) break;
      await api(`/api/runs/${encodeURIComponent(id)}/retry`, { method: "POST", body: { by, reason: $("all-why").value.trim() } }).then(() => (done += 1), () => (failed += 1));
      say($("all-progress"), `${done + failed} of ${ids.length}${failed ? `, ${failed} could not continue` : ""}`);
    }
    if (!failed) $("all-dialog").close();
    announce(`${plural(done, "run")} continue`);
  } catch (error) {
    $("all-dialog").close();
    noticed(error);
  } finally {
    $("all-yes").removeAttribute("aria-busy");
    load(true);
  }
});
$("newer").addEventListener("click", () => {
  const before = runs.starts[runs.page - 1];
  location.hash = address(before ? { before, page: runs.page - 1 } : {});
});
