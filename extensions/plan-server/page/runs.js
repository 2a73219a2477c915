import { $, bdi, cut, h, hide, list, plural, progress, put, say, stateOf, table } from "./dom.js";
import { LIMITS, SIGNS } from "./limits.js";
import { isOver } from "./live.js";
import { askAll } from "./many.js";
import { showSamples } from "./samples.js";
import { api, capital, noticed } from "./server.js";
import { ago, instant, since, took } from "./time.js";

// The names of the filters in the address and in the API.
const FILTERS = ["state", "plan", "since", "from", "to", "text"];
const KEPT = [...FILTERS, "sort"];
const STATES = ["running", "waiting", "done", "failed", "cancelled"];
const WAITS = { answer: "for an answer", value: "for a value", time: "for a time", server: "for the server" };
// The sorted columns with their first order. The newest runs come first in a list without an order.
const ORDERS = { Plan: ["plan", "-plan"], State: ["state", "-state"], Began: ["-began", "began"], Took: ["-took", "took"] };
const runs = { ...Object.fromEntries(KEPT.map((name) => [name, ""])), before: "", page: 1, next: null, starts: [], shown: [], chosen: new Set(), timer: 0, abort: null, hasSamples: false };
// The filters, the order and the page are in the address, so that a list can be sent to somebody.
const address = (change) => {
  const all = { ...runs, before: "", page: 1, ...change };
  const query = new URLSearchParams([...KEPT, "before"].map((name) => [name, all[name]]).concat([["page", all.page > 1 ? String(all.page) : ""]]).filter(([, value]) => value));
  return `#/runs${query.size ? `?${query}` : ""}`;
};
const asked = (more) => new URLSearchParams([...Object.entries(more), ...KEPT.map((name) => [name, runs[name]])].filter(([, value]) => value));
const isFiltered = () => FILTERS.some((name) => runs[name]);

// Makes the headers of the columns buttons that sort the list.
const sortable = (made) => {
  const order = runs.sort || "-began";
  for (const head of made.querySelectorAll("thead th")) {
    const name = head.textContent;
    const orders = ORDERS[name];
    if (!orders) continue;
    const isSorted = orders.includes(order);
    if (isSorted) head.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
    const next = order === orders[0] ? orders[1] : orders[0];
    head.replaceChildren(h("button", { type: "button", class: "link", id: `sort-${orders[0].replace("-", "")}`, onclick: () => (location.hash = address({ sort: next === "-began" ? "" : next })) },
      name, isSorted ? h("span", { "aria-hidden": "true" }, order.startsWith("-") ? " ↓" : " ↑") : ""));
  }
  return made;
};
const rowOf = (run, hasInputs, hasErrors) => {
  const line = (text) => h("span", { class: runs.state === "failed" ? "two-lines" : "one-line", title: text || null }, text ? bdi(text, 500) : "–");
  // The message comes first, since the rows of one plan often begin with one step.
  const error = () => line(String(run.error ?? "").replace(/^step (`[^`]+`)(?: \([^)]*\))?: (.*?)((?: \(this blocked [^)]*\))?(?:; (?:not )?undone: .*)?)$/s, "$2, in the step $1$3").replaceAll("`", ""));
  const name = run.name || run.plan || "without a name";
  const choose = h("input", { type: "checkbox", id: `choose-${run.id}`, "aria-label": `Select the run ${cut(name, 200)}, ${cut(run.id, 80)}`, onchange: () => {
    runs.chosen[choose.checked ? "add" : "delete"](run.id);
    showChosen();
  } });
  choose.checked = runs.chosen.has(run.id);
  // The list that has not ended, since the others say nothing of the rest of the run.
  const lists = list(run.lists);
  const list_ = lists.find(({ ended, elements }) => ended < elements) ?? lists[0];
  const why = [run.state === "waiting" && WAITS[run.waits_for], list_ && progress(list_)].filter(Boolean);
  return { cells: [
    h("span", { class: "choosable" }, choose, h("a", { id: `run-${run.id}`, href: `#/runs/${encodeURIComponent(run.id)}`, title: cut(name, 200) }, bdi(name, 200), run.name ? h("span", { class: "hint" }, bdi(run.plan, 200)) : "")),
    h("span", {}, stateOf(run.state), why.length ? h("span", { class: "hint", title: list_?.path ?? null }, ` ${why.join(", ")}`) : ""),
    ...(hasInputs ? [line(String(run.inputs_text ?? ""))] : []), ago(run.began), run.ended ? [took(run.took_ms), run.idle_ms ? h("span", { class: "hint" }, ` ${took(run.idle_ms)} of it idle`) : ""] : h("span", {}, since(run.began), " so far"), ...(hasErrors ? [error()] : []), h("code", {}, cut(run.id, 80))] };
};
// Columns share the width by the lengths of their longest texts. A name may take two lines.
const share = (made, all, hasInputs, hasErrors) => {
  const longest = (texts, most) => Math.min(Math.max(12, ...texts.map((text) => String(text ?? "").length)), most);
  const lengths = { name: longest(all.map((run) => run.name || run.plan), 60), inputs: hasInputs ? longest(all.map((run) => run.inputs_text), 45) : 0, error: hasErrors ? longest(all.map((run) => run.error), 50) : 0 };
  const sum = lengths.name + lengths.inputs + lengths.error;
  for (const [name, length] of Object.entries(lengths)) made.style.setProperty(`--${name}`, `${Math.floor((100 * length) / sum)}%`);
};
// A narrow screen has the filters behind a button.
const fold = h("button", { type: "button", "aria-controls": "filters", onclick: () => folds(fold.getAttribute("aria-expanded") === "true") }, "Filters");
const folds = (isFolded) => {
  $("filters").classList.toggle("folded", isFolded);
  fold.setAttribute("aria-expanded", String(!isFolded));
};
// The numbers of runs in each state, each a link to the list of these runs.
const showStates = ({ states = {}, is_exact = true } = {}) => {
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  put($("states"), [states, is_exact, runs.state, address({})], () => [["", all], ...STATES.map((state) => [state, states[state] ?? 0])].map(([state, count]) =>
    h("li", {}, h("a", { href: address({ state }), "aria-current": runs.state === state ? "true" : null }, state ? [h("span", { class: `sign ${state}`, "aria-hidden": "true" }, `${SIGNS[state]} `), capital(state)] : "All", " ", h("span", { class: "hint" }, `${count.toLocaleString()}${is_exact ? "" : "+"}`)))).concat(h("li", { class: "fold" }, fold)));
};
// The samples of a server without runs, and the samples that a person opens.
const showWelcome = (isEmpty) => {
  const isOpen = isEmpty || runs.hasSamples;
  hide($("welcome"), !isOpen);
  $("to-samples").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) showSamples();
};
$("to-samples").addEventListener("click", () => {
  runs.hasSamples = !runs.hasSamples;
  showWelcome(false);
});
const load = async (quiet = false) => {
  runs.abort?.abort();
  const abort = (runs.abort = new AbortController());
  try {
    const said = await api(`/api/runs?${asked({ limit: String(LIMITS.page), before: runs.before, count: "true" })}`, { signal: abort.signal });
    if (abort.signal.aborted) return;
    runs.next = said?.next ?? null;
    runs.shown = list(said?.runs).filter((run) => run && typeof run === "object").slice(0, LIMITS.page);
    const all = runs.shown;
    const focused = document.activeElement?.closest?.("#runs [id]")?.id;
    const isEmpty = !all.length && !isFiltered() && !runs.before && runs.next === null;
    hide($("runs-about"), !isEmpty);
    say($("runs-title"), isEmpty ? "Run a plan" : "Runs");
    for (const part of ["states", "filters", "runs-bar", "runs"]) hide($(part), isEmpty);
    hide($("to-samples"), isEmpty);
    showWelcome(isEmpty);
    $("write").classList.toggle("primary", !isEmpty);
    showStates(said?.count);
    put($("runs"), [all, [...runs.chosen], isFiltered(), runs.sort, runs.next === null], () => {
      const [hasInputs, hasErrors] = ["inputs_text", "error"].map((name) => all.some((run) => run[name]));
      const made = table("Runs", ["Plan", "State", ...(hasInputs ? ["Inputs"] : []), "Began", "Took", ...(hasErrors ? ["Error"] : []), "Run"], all.map((run) => rowOf(run, hasInputs, hasErrors)));
      share(made[0], all, hasInputs, hasErrors);
      return all.length ? made.map(sortable)
        : h("p", { class: "none" }, runs.next !== null ? "None of the latest runs matches. Choose “Next page” to search earlier runs." : isFiltered() ? "No run matches these filters." : "There are no runs yet.");
    });
    if (focused) $(focused)?.focus();
    const { least = all.length, is_exact = true } = said?.count ?? {};
    const count = `${is_exact ? "" : "at least "}${plural(least, "run")}`;
    const before = (runs.page - 1) * LIMITS.page;
    say($("runs-count"), all.length && (runs.page > 1 || runs.next !== null) ? `${(before + 1).toLocaleString()}–${(before + all.length).toLocaleString()} of ${count}` : capital(count));
    const many = ["failed", "cancelled"].includes(runs.state) && is_exact && least > LIMITS.page;
    hide($("retry-all"), !many);
    if (many) say($("retry-all"), `${runs.state === "failed" ? "Retry" : "Resume"} all ${least.toLocaleString()}…`);
    runs.count = least;
    showChosen();
    hide($("next"), runs.next === null);
    hide($("previous"), runs.page < 2);
  } catch (error) {
    if (!quiet) noticed(error);
  }
};
// The selected runs of the page, and the buttons for these runs.
const RETRIED = ["failed", "cancelled"];
const showChosen = () => {
  const chosen = runs.shown.filter(({ id }) => runs.chosen.has(id));
  runs.chosen = new Set(chosen.map(({ id }) => id));
  $("choose-all").checked = chosen.length > 0 && chosen.length === runs.shown.length;
  $("choose-all").indeterminate = chosen.length > 0 && chosen.length < runs.shown.length;
  hide($("choose-all").parentElement, !runs.shown.length);
  hide($("compare-chosen"), chosen.length !== 2);
  $("compare-chosen").href = `#/compare/${chosen.map(({ id }) => encodeURIComponent(id)).join("/")}`;
  for (const [id, some, word] of [["cancel-chosen", chosen.filter((run) => !isOver(run)), "Cancel"], ["retry-chosen", chosen.filter(({ state }) => RETRIED.includes(state)), chosen.every(({ state }) => state !== "failed") ? "Resume" : "Retry"]]) {
    hide($(id), !some.length);
    say($(id), `${word} ${some.length.toLocaleString()}…`);
    $(id).onclick = () => askAll(word, some.length, async () => some.map(({ id }) => id), () => {
      runs.chosen.clear();
      return load(true);
    });
  }
};
$("choose-all").addEventListener("change", () => {
  runs.chosen = new Set($("choose-all").checked ? runs.shown.map(({ id }) => id) : []);
  for (const box of document.querySelectorAll("#runs [type=checkbox]")) box.checked = $("choose-all").checked;
  showChosen();
});
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
const showFilters = (changed) => {
  $("filter-text").value = runs.text;
  const hasRange = Boolean(runs.from || runs.to);
  $("filter-time").value = hasRange ? "range" : runs.since;
  // An address may have another duration.
  if ($("filter-time").selectedIndex < 0) $("filter-time").append(h("option", { value: runs.since, selected: true }, "In the last ", cut(runs.since, 20)));
  hide($("filter-range"), !hasRange);
  // A field in which somebody types keeps its text, unless the address has another time.
  for (const name of ["from", "to"]) if (document.activeElement !== $(`filter-${name}`) || changed.has(name)) $(`filter-${name}`).value = local(runs[name]);
  hide($("filter-clear"), !isFiltered());
  if (changed.size || !fold.hasAttribute("aria-expanded")) folds(!FILTERS.slice(1).some((name) => runs[name]));
  showPlans();
};
// Shows the list that the address describes.
export const openRuns = (query, moves) => {
  const given = new URLSearchParams(query);
  const page = Math.max(1, Math.floor(Number(given.get("page"))) || 1);
  const before = given.get("before") ?? "";
  const filters = Object.fromEntries(KEPT.map((name) => [name, given.get(name) ?? ""]));
  const changed = new Set(KEPT.filter((name) => runs[name] !== filters[name]));
  if (!before || changed.size) runs.starts = [];
  Object.assign(runs, { ...filters, before, page });
  runs.starts[page] = before;
  runs.hasSamples = false;
  showFilters(changed);
  runs.timer = setInterval(() => document.visibilityState === "visible" && !runs.before && load(true), 5000);
  load().then(() => moves && $("runs-title").focus());
};
export const closeRuns = () => clearInterval(runs.timer);
$("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  const choice = $("filter-time").value;
  const range = (name) => (choice === "range" ? instant($(`filter-${name}`).value)?.toISOString() ?? "" : "");
  location.hash = address({ plan: $("filter-plan").value, since: choice === "range" ? "" : choice, from: range("from"), to: range("to"), text: $("filter-text").value.trim() });
});
$("filter-plan").addEventListener("change", () => $("filters").requestSubmit());
// A browser reports each digit of a year as a change, so a time applies when the focus leaves its field.
for (const name of ["from", "to"]) $(`filter-${name}`).addEventListener("blur", () => !$("runs-view").hidden && $(`filter-${name}`).value !== local(runs[name]) && $("filters").requestSubmit());
$("filter-time").addEventListener("change", () => {
  const isRange = $("filter-time").value === "range";
  hide($("filter-range"), !isRange);
  if (isRange) $("filter-from").focus();
  else $("filters").requestSubmit();
});
$("next").addEventListener("click", () => (location.hash = address({ before: runs.next, page: runs.page + 1 })));
$("previous").addEventListener("click", () => {
  const before = runs.starts[runs.page - 1];
  location.hash = address(before ? { before, page: runs.page - 1 } : {});
});
// All runs that the filters find, on all pages.
const found = async () => {
  const ids = [];
  let before = "";
  do {
    const page = await api(`/api/runs?${asked({ limit: "100", before })}`);
    ids.push(...list(page?.runs).map(({ id }) => id));
    before = page?.next ?? "";
  } while (before);
  return ids;
};
$("retry-all").addEventListener("click", () => askAll(runs.state === "failed" ? "Retry" : "Resume", runs.count, found, () => load(true)));
