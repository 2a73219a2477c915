// Two runs of a plan side by side: the inputs and steps that differ.

import { differ } from "./arguments.js";
import { $, bdi, block, cut, h, list, plural, prose, put, say, show, stateLike, stateOf, table } from "./dom.js";
import { LIMITS } from "./limits.js";
import { api, noticed } from "./server.js";
import { lasted } from "./step.js";
import { instant, time, took } from "./time.js";

const linkTo = (run) => h("a", { href: `#/runs/${encodeURIComponent(run?.id)}` }, h("code", {}, cut(run?.id, 80)));
const lastedOf = (run) => (run?.ended ? took(instant(run.ended) - instant(run.began)) : "–");

// The runs that a run can be compared with.
const choices = (id, runs) => {
  const others = runs.filter((run) => run?.id !== id);
  if (!others.length) return h("p", { class: "none" }, "There is no other run of a plan with this name.");
  return table("Runs of plans with this name, the latest first", ["Run", "State", "Inputs", "Began", "Took"], others.map((run) => ({ cells: [
    h("a", { href: `#/compare/${encodeURIComponent(id)}/${encodeURIComponent(run.id)}` }, "Compare with ", h("code", {}, cut(run.id, 80))), stateOf(run.state), run.inputs_text ? bdi(run.inputs_text, 200) : "–", time(run.began), lastedOf(run)] })));
};

const valueOf = (value, label) => (value === undefined || value === null ? h("span", { class: "none" }, "none")
  : h("pre", { tabindex: "0", "aria-label": label }, block(typeof value === "string" ? value : show(value), LIMITS.words)));

const inputs = (a, b) => {
  const names = [...new Set([a, b].flatMap((run) => Object.keys(run.inputs ?? {})))];
  const other = names.filter((name) => differ(a.inputs?.[name], b.inputs?.[name]));
  const same = names.length - other.length;
  return [other.length ? table("Inputs that differ", ["Input", "First run", "Second run"], other.slice(0, LIMITS.rows).map((name) => ({ cells: [bdi(name, 200),
    valueOf(a.inputs?.[name], `${name} of the first run`), valueOf(b.inputs?.[name], `${name} of the second run`)] })), other.length - LIMITS.rows) : null,
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
export const differences = (a, b) => {
  if (!a || !b) return ["only in one run"];
  return [
    a.status !== b.status && "status",
    differ(a.output, b.output) && "output",
    (a.error ?? "") !== (b.error ?? "") && "error",
    differ(given(a), given(b)) && "arguments",
    timesDiffer(lasted(a) ?? 0, lasted(b) ?? 0) && "time",
  ].filter(Boolean);
};
const stepOf = (step, label) => {
  if (!step) return h("span", { class: "none" }, "not in this run");
  return h("div", {}, stateLike(step.status), step.duration_ms >= 0 ? ` ${took(lasted(step))}` : "", step.error ? h("p", { class: "error" }, prose(step.error)) : null,
    givenOf(step) === undefined ? null : h("details", {}, h("summary", {}, "Arguments"), valueOf(givenOf(step), `Arguments in the ${label}`)),
    step.output === undefined ? null : h("details", {}, h("summary", {}, "Output"), valueOf(step.output, `Output in the ${label}`)));
};
const steps = (a, b) => {
  const [first, second] = [a, b].map((run) => new Map(list(run.report?.steps).map((step) => [step.id, step])));
  const ids = [...new Set([...first.keys(), ...second.keys()])];
  const all = ids.map((id) => [id, first.get(id), second.get(id)]).map(([id, one, two]) => [id, one, two, differences(one, two)]);
  const other = all.filter(([, , , found]) => found.length);
  const same = all.length - other.length;
  if (!all.length) return h("p", { class: "hint" }, "There are no steps to compare.");
  return [other.length ? table("Steps that differ", ["Step", "First run", "Second run", "Differs in"], other.slice(0, LIMITS.rows).map(([id, one, two, found]) => ({ cells: [
    bdi(id, 200), stepOf(one, "first run"), stepOf(two, "second run"), found.join(", ")] })), other.length - LIMITS.rows) : null,
    h("p", { class: "hint" }, same === 0 ? "All steps differ." : `${plural(same, other.length ? "other step" : "step")} ${same === 1 ? "has" : "have"} equal arguments, an equal status, output and error, and a similar time, in both runs.`,
      " Times are similar if they differ by less than 100 ms, or by at most a fifth.",
      all.some((step) => step.slice(1, 3).some((one) => one?.status === "completed" && one.output === undefined)) ? " Some arguments and outputs are too large for this page, and are not compared." : "")].flat();
};

let asking = null;
// Shows the comparison of two runs, or the runs to choose from.
export const openCompare = async (id, other) => {
  asking?.abort();
  const { signal } = (asking = new AbortController());
  for (const place of ["compare-runs", "compare-inputs", "compare-steps"]) {
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
    say($("compare-title"), b ? `Two runs of ${cut(a.plan ?? "a plan", 100)}` : `Compare a run of ${cut(a.plan ?? "a plan", 100)}`);
    for (const part of document.querySelectorAll("#compare-view .of-two")) part.hidden = !b;
    if (!b) return put($("compare-runs"), runs, () => [h("p", {}, "Choose a run to compare with ", linkTo(a), ". The list has the latest runs of plans with this name."), choices(id, runs)].flat());
    const same = plans.every((plan) => plan?.text !== undefined) ? plans[0].text === plans[1].text : null;
    const note = a.plan !== b.plan ? "These runs are of different plans." : same === null ? "The plans of these runs cannot be compared." : same ? "" : "The plan has changed between these runs. To read a plan, open its run and choose “Edit this plan”.";
    put($("compare-runs"), [a.id, b.id], () => [note ? h("p", { class: "hint" }, note) : null,
      table("The two runs", ["Run", "State", "Began", "Took"], [a, b].map((run, at) => ({ cells: [h("span", {}, at ? "Second: " : "First: ", linkTo(run)), stateOf(run.state), time(run.began), lastedOf(run)] })))].flat());
    put($("compare-inputs"), [a.id, b.id], () => inputs(a, b));
    put($("compare-steps"), [a.id, b.id], () => steps(a, b));
  } catch (error) {
    noticed(error);
  }
};
