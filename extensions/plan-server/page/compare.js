// Two runs of a plan side by side: the inputs and steps that differ.

import { differ } from "./arguments.js";
import { changedLines, marked } from "./diff.js";
import { $, bdi, cut, h, hide, list, plural, prose, put, say, show, stateLike, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { api, noticed } from "./server.js";
import { instant, lasted, time, took } from "./time.js";

const linkTo = (run) => h("span", {}, run.name ? [bdi(run.name, 200), " "] : "", h("a", { href: `#/runs/${encodeURIComponent(run.id)}` }, h("code", {}, cut(run.id, 80))));
const lastedOf = (run) => (run?.ended ? lasted(run) : "–");

// The runs that a run can be compared with.
const choices = (id, runs) => {
  const others = runs.filter((run) => run?.id !== id);
  if (!others.length) return h("p", { class: "none" }, "There is no other run of a plan with this name.");
  const made = table("Runs of plans with this name, the latest first", ["Run", "State", "Inputs", "Began", "Took"], others.map((run) => ({ cells: [
    h("a", { href: `#/compare/${encodeURIComponent(id)}/${encodeURIComponent(run.id)}` }, "Compare with ", run.name ? [bdi(run.name, 200), " "] : "", h("code", {}, cut(run.id, 80))), stateOf(run.state), run.inputs_text ? bdi(run.inputs_text, 200) : "–", time(run.began), lastedOf(run)] })));
  if (others.length <= 8) return made;
  const search = h("input", { id: "compare-search", type: "search", autocomplete: "off", spellcheck: "false", maxlength: "200", oninput: () => {
    for (const row of made[0].querySelectorAll("tbody tr")) hide(row, !row.textContent.toLowerCase().includes(search.value.trim().toLowerCase()));
  } });
  return [h("p", { class: "pair" }, h("label", { for: "compare-search" }, "Search"), search), ...made];
};

// A value of a run, with a mark for each word that the other run does not have.
const textOf = (value) => (value === undefined || value === null ? "" : typeof value === "string" ? value : show(value));
const SIDES = [["del", "first run"], ["ins", "second run"]];
const valuesOf = (label, ...both) => SIDES.map(([name, of], at) => (textOf(both[at]) ? h("pre", { tabindex: "0", "aria-label": `${label} ${of}` }, marked(textOf(both[at]), textOf(both[1 - at]), name)) : h("span", { class: "none" }, "none")));

const inputs = (a, b) => {
  const names = [...new Set([a, b].flatMap((run) => Object.keys(run.inputs ?? {})))];
  const other = names.filter((name) => differ(a.inputs?.[name], b.inputs?.[name]));
  const same = names.length - other.length;
  return [other.length ? table("Inputs that differ", ["Input", "First run", "Second run"], other.slice(0, LIMITS.rows).map((name) => ({ cells: [bdi(name, 200), ...valuesOf(`${name} of the`, a.inputs?.[name], b.inputs?.[name])] })), other.length - LIMITS.rows) : null,
    h("p", { class: "hint" }, names.length === 0 ? "The plan has no inputs." : same === 0 ? "All inputs differ." : `${plural(same, other.length ? "other input" : "input")} ${same === 1 ? "is" : "are"} equal in both runs.`)].flat();
};

// Times differ by more than a fifth, and by at least 100 ms.
const timesDiffer = (a, b) => Math.abs(a - b) >= 100 && Math.abs(a - b) > Math.max(a, b) / 5;
// The arguments of the last attempt of each call.
const given = (step) => Object.fromEntries(list(step.attempts).filter((one) => one.arguments !== undefined).map(({ element, arguments: given }) => [list(element).join(), given]));
const givenOf = (step) => {
  const all = Object.values(given(step));
  return all.length ? (all.length > 1 ? all : all[0]) : undefined;
};
const statusOf = (step) => (step.undone ? "undone" : step.status);
export const differences = (a, b) => {
  if (!a || !b) return ["only in one run"];
  return [
    statusOf(a) !== statusOf(b) && "status",
    differ(a.output, b.output) && "output",
    (a.error ?? "") !== (b.error ?? "") && "error",
    differ(given(a), given(b)) && "arguments",
    timesDiffer(a?.duration_ms ?? 0, b?.duration_ms ?? 0) && "time",
  ].filter(Boolean);
};
// A failed step without a call did not run either.
const ran = (step) => ["completed", "recovered", "running", "waiting"].includes(step?.status) || list(step?.attempts).some(({ called }) => called !== false);
// A step of both runs, with marks for the differences. What differs is open.
const stepOf = (both, found) => {
  const [errors, given, outputs] = [(step) => step?.error, givenOf, (step) => step?.output].map((of) => both.map((step) => step && of(step)));
  const wholes = [["Arguments", given], ["Output", outputs]].map(([name, [a, b]]) => [name, valuesOf(`${name} in the`, a, b)]);
  return both.map((step, at) => {
    if (!step) return h("span", { class: "none" }, "not in this run");
    const differs = (name) => (found.includes(name) ? "differs" : null);
    return h("div", {}, h("span", { class: differs("status") }, stateLike(statusOf(step))), !ran(step) ? h("span", { class: "hint" }, " did not run") : step.duration_ms >= 0 ? [" ", h("span", { class: differs("time") }, took(step.duration_ms))] : "",
      step.error ? h("p", { class: "error" }, errors[1 - at] ? marked(errors[at], errors[1 - at], SIDES[at][0]) : prose(step.error)) : null,
      wholes.filter((_, nth) => [given, outputs][nth][at] !== undefined).map(([name, shown]) => h("details", { open: found.includes(name.toLowerCase()) }, h("summary", {}, name), shown[at])));
  });
};
const steps = (a, b) => {
  const [first, second] = [a, b].map((run) => new Map(list(run.report?.steps).map((step) => [step.id, step])));
  const ids = [...new Set([...first.keys(), ...second.keys()])];
  const all = ids.map((id) => [id, first.get(id), second.get(id)]).map(([id, one, two]) => [id, one, two, differences(one, two)]);
  const other = all.filter(([, , , found]) => found.length);
  const idle = all.filter(([, one, two, found]) => !found.length && !ran(one)).length;
  const same = all.length - other.length - idle;
  if (!all.length) return h("p", { class: "hint" }, "There are no steps to compare.");
  return [other.length ? table("Steps that differ", ["Step", "First run", "Second run", "Differs in"], other.slice(0, LIMITS.rows).map(([id, one, two, found]) => ({ cells: [
    bdi(id, 200), ...stepOf([one, two], found), found.join(", ")] })), other.length - LIMITS.rows) : null,
    h("p", { class: "hint" }, same + idle === 0 ? "All steps differ." : same ? `${plural(same, other.length ? "other step" : "step")} ${same === 1 ? "has" : "have"} equal arguments, an equal status, output and error, and a similar time, in both runs.` : "",
      idle ? ` ${plural(idle, "step")} ran in neither run.` : "",
      " Times are similar if they differ by less than 100 ms, or by at most a fifth.",
      all.some((step) => step.slice(1, 3).some((one) => one?.status === "completed" && one.output === undefined)) ? " Some arguments and outputs are too large for this page, and are not compared." : "")].flat();
};

let asking = null;
// Shows the comparison of two runs, or the runs to choose from.
export const openCompare = async (id, other) => {
  asking?.abort();
  const { signal } = (asking = new AbortController());
  for (const place of ["compare-runs", "compare-plan", "compare-inputs", "compare-steps"]) {
    $(place).replaceChildren();
    $(place).keyed = undefined;
  }
  const get = (id) => api(`/api/runs/${encodeURIComponent(id)}`, { signal });
  try {
    const both = await Promise.all([get(id), other ? get(other) : null]);
    const [a, b] = both[1] && instant(both[1].began) < instant(both[0].began) ? both.toReversed() : both;
    const runs = b ? [] : list((await api(`/api/runs?limit=${LIMITS.page}&plan=${encodeURIComponent(a.plan ?? "")}`, { signal }))?.runs);
    const plans = b ? await Promise.all([a, b].map(({ id }) => api(`/api/runs/${encodeURIComponent(id)}/plan`, { signal }).catch(() => null))) : [];
    if (signal.aborted) return;
    say($("compare-title"), b ? (a.plan === b.plan ? `Two runs of ${cut(a.plan ?? "a plan", 100)}` : "Two runs of different plans") : `Compare a run of ${cut(a.plan ?? "a plan", 100)}`);
    for (const part of document.querySelectorAll("#compare-view .of-two")) part.hidden = !b;
    if (!b) return put($("compare-runs"), runs, () => [h("p", {}, "Choose a run to compare with ", linkTo(a), ". The list has the latest runs of plans with this name."), choices(id, runs)].flat());
    const same = plans.every((plan) => plan?.text !== undefined) ? plans[0].text === plans[1].text : null;
    const note = a.plan !== b.plan ? "These runs are of different plans." : same === null ? "The plans of these runs cannot be compared." : same ? "The plan of both runs is equal." : "The plan has changed between these runs.";
    const printed = plans.map((plan) => plan?.printed ?? plan?.text ?? "");
    put($("compare-runs"), [a.id, b.id], () => [table("The two runs", ["Run", "State", "Began", "Took"], [a, b].map((run, at) => ({ cells: [h("span", {}, at ? "Second: " : "First: ", linkTo(run)), stateOf(run.state), time(run.began), lastedOf(run)] })))].flat());
    put($("compare-plan"), [a.id, b.id], () => [h("p", { class: "hint" }, note), same === false ? h("pre", { tabindex: "0", "aria-label": "Changed lines: removed lines begin with -, and added lines begin with +" }, changedLines(...printed)) : null]);
    put($("compare-inputs"), [a.id, b.id], () => inputs(a, b));
    put($("compare-steps"), [a.id, b.id], () => steps(a, b));
  } catch (error) {
    noticed(error);
  }
};
