import { $, announce, bdi, block, called, copy, cut, h, hide, json, list, plural, prose, say, show, tell } from "./dom.js";
import { fieldsOf, tableOf } from "./arguments.js";
import { changing, draftOf } from "./change.js";
import { field, kindOfJson } from "./field.js";
import { LIMITS } from "./limits.js";
import { happened, live, runPath } from "./live.js";
import { api, capital, exact, told } from "./server.js";
import { left, since, time } from "./time.js";
import { who } from "./who.js";

// The focus in a removed card, with the heading that has the focus since then. After a restart, the server asks again with other ids.
let before = null;
// The time of the latest key of a person whose field has gone with its card. Until this person pauses, no key decides.
let typing = 0;
const PAUSE_MS = 3_000;
const isTyping = () => Date.now() - typing < PAUSE_MS;
const FOCUSABLE = "a, button, input, textarea, select, summary, [tabindex]";
const contentOf = (card) => card.dataset.content ?? card.dataset.of;
const returned = (place) => {
  const card = [...place.children].find((card) => contentOf(card) === before?.content);
  const control = card?.querySelectorAll(FOCUSABLE)[before.nth];
  if (!control?.getClientRects().length) return false;
  control.focus();
  typing = 0;
  document.querySelector(".gone")?.remove();
  if (Number.isInteger(before.caret)) control.setSelectionRange(before.caret, before.caret);
  before = null;
  return true;
};
// Somebody else has answered the question in which a person types. The rest of the text must not answer the next question.
const lostField = (card, field, place) => {
  typing = Date.now();
  const heading = document.querySelector("main > :not([hidden]) h1");
  showGone(field.closest("[data-content]") ?? card, place, field.value);
  heading.focus();
  before = { ...before, heading };
};
// A note above the next question, with the text that a person had typed. Changed arguments can be copied as a whole.
const showGone = (card, place, typed = "") => {
  document.querySelector(".gone")?.remove();
  const draft = draftOf(card.dataset.content);
  const note = h("div", { class: "lost gone", role: "status" }, `“${card.querySelector("h2, h3, h4").textContent}” is no longer open. Somebody else has answered the question, or the run has ended.`, typed ? [" You had typed: ", bdi(typed, 500)] : "",
    draft ? [" Your changed arguments: ", h("pre", { tabindex: "0", "aria-label": "Your changed arguments" }, block(draft, LIMITS.shown)), h("button", { type: "button", class: "small", onclick: ({ target }) => copy(target, draft, "arguments.json") }, "Copy")] : "");
  note.of = card.dataset.content;
  // A section without further questions is hidden.
  const section = place.closest("section");
  (section.querySelector("h1") ? place : section).before(note);
  window.addEventListener("hashchange", () => note.remove(), { once: true });
  return note;
};
// The key of a card says all that somebody decides about, so that a card never stands for another question than the one that it shows. The cards have the order of `all`.
const cards = (place, all, key, make) => {
  const shown = new Map([...place.children].map((card) => [card.dataset.of, card]));
  const focused = [...place.children].findIndex((card) => card.contains(document.activeElement));
  const inner = [...(document.activeElement?.closest?.(".each")?.children ?? [])].findIndex((card) => card.contains(document.activeElement));
  const card = place.children[focused];
  const now = card && { content: contentOf(card), nth: [...card.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement), caret: document.activeElement.selectionStart };
  const wanted = new Map(all.filter((one) => one && typeof one === "object").slice(0, LIMITS.cards).map((one) => [key(one), one]));
  const field = card && !card.dataset.answered && !wanted.has(card.dataset.of) && document.activeElement.matches("input, textarea, select") ? document.activeElement : null;
  const gone = [...shown].filter(([of, card]) => !wanted.has(of) && !card.dataset.answered && !card.dataset.busy).map(([, card]) => card);
  for (const [of, card] of shown) if (!wanted.has(of)) card.remove();
  [...wanted].forEach(([of, one], at) => {
    const made = shown.get(of) ?? make(one);
    made.dataset.of = of;
    if (place.children[at] !== made) place.insertBefore(made, place.children[at] ?? null);
  });
  // A draft stays in its form if the server asks again, and in the note otherwise.
  const drafts = gone.flatMap((card) => [card, ...card.querySelectorAll("[data-content]")]).filter((card) => draftOf(card.dataset.content));
  const lost = drafts.findLast((card) => !asked.has(card.dataset.content));
  if (lost) showGone(lost, place);
  else if (asked.has(document.querySelector(".gone")?.of)) document.querySelector(".gone").remove();
  if (!card && before && document.activeElement === before.heading) returned(place);
  if (!card || place.contains(document.activeElement)) return;
  before = card.dataset.answered ? null : now;
  if (returned(place)) return;
  if (field) return lostField(card, field, place);
  // The focus goes from an answered card to the heading of the next card, where a second press of a key decides nothing.
  const next = place.children[Math.min(focused, place.childElementCount - 1)];
  const each = next?.querySelectorAll(":scope > .each:not([hidden]) > *") ?? [];
  const to = each[Math.min(inner, each.length - 1)] ?? next ?? [...document.querySelectorAll("#questions > *, #waits > *, #inbox > *")].find((card) => card.getClientRects().length);
  const heading = to?.querySelector("h2, h3, h4") ?? document.querySelector("main > :not([hidden]) h1");
  heading?.focus();
  before = to ? null : before && { ...before, heading };
};
let ids = 0;
// Sends answers, once, with the buttons of their card turned off while they are under way. `after` is called when the server has all of them.
const answering = async (card, path, body, done, after, failed = (problem) => tell(card.querySelector(":scope > .failed-to-send"), told(problem))) => {
  if (card.dataset.busy) return;
  const by = await who();
  if (by === null || card.dataset.busy) return;
  // Changed arguments are JSON text, which keeps all digits of each number.
  const named = typeof body === "string" ? `{"by":${JSON.stringify(by)},${body.slice(1)}` : { ...body, by };
  card.dataset.busy = "yes";
  card.setAttribute("aria-busy", "true");
  tell(card.querySelector(":scope > .failed-to-send"), "");
  try {
    await api(path, { method: "POST", body: named });
    announce(done);
    card.dataset.answered = "yes";
    const had = card.contains(document.activeElement);
    const note = h("p", { class: "hint", tabindex: "-1" }, `${done}…`);
    card.replaceChildren(note);
    // The focus stays in the card until the next card gets it.
    if (had) note.focus();
    hide(card, false);
    await after();
  } catch (problem) {
    if (problem.status !== 401) failed(problem);
  } finally {
    delete card.dataset.busy;
    card.removeAttribute("aria-busy");
  }
};
const lookAgain = async () => {
  const { id } = live;
  for (let tries = 0; tries < 3; tries += 1) {
    const { told } = live;
    const run = await api(runPath(), { signal: live.abort?.signal }).catch(() => null);
    if (!run || id !== live.id) return;
    // An event that arrived meanwhile may be newer than the response.
    if (told === live.told) return happened("state", run);
  }
};
// A typed reason stays when the server asks again with another id.
const reasons = new Map();
// The buttons that decide about calls, and the field for the reason of a decision. `answer` gets the decision and the reason. `change` has the form for the arguments of one call.
const decisions = (key, name, all, answer, change, isElement) => {
  const typed = reasons.get(key) ?? { text: "", isOpen: false, refuses: false };
  const keep = (change) => {
    Object.assign(typed, change);
    if (typed.text) reasons.set(key, typed);
    else reasons.delete(key);
  };
  const decide = (decision) => answer(decision, reason.value.trim());
  // The second click of a double click may be on the card that has moved to the place of an answered one, and decides nothing.
  const once = (decision) => (event) => event.detail < 2 && decide(decision);
  const reason = h("input", { type: "text", id: name, maxlength: "1000", autocomplete: "off", oninput: () => keep({ text: reason.value }) });
  reason.value = typed.text;
  const why = h("div", { class: "input", hidden: !typed.isOpen }, h("label", { for: name }, "Why? ", h("span", { class: "type" }, "optional; recorded with the run")), reason);
  const refusing = h("div", { hidden: !typed.refuses }, h("p", { class: "hint" }, all ? "The calls are not made, and the step fails. Usually the run then fails, and its undo steps run." : "The call is not made, and the step fails. Usually the run then fails, and its undo steps run."),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "danger" }, all ? `Refuse ${all}` : "Refuse the call"), h("button", { type: "button", onclick: () => refuse(false) }, "Back")));
  const explain = (isOpen) => {
    keep({ isOpen });
    hide(why, !isOpen);
    hide(add, isOpen);
  };
  const refuse = (refuses) => {
    keep({ refuses });
    explain(refuses || reason.value !== "");
    hide(refusing, !refuses);
    hide(choices, refuses);
    (refuses ? reason : refusal).focus();
  };
  const add = h("button", { type: "button", class: "link", hidden: typed.isOpen, onclick: () => {
    explain(true);
    reason.focus();
  } }, "Add a reason");
  const refusal = h("button", { type: "button", class: "danger", onclick: () => refuse(true) }, all ? `Refuse ${all}…` : "Refuse…");
  const choices = h("div", { class: "buttons choices", hidden: typed.refuses || change?.form.hidden === false },
    h("button", { type: "button", class: all ? "" : "primary", onclick: once("allow") }, all ? `Allow ${all}` : "Allow"),
    isElement ? h("button", { type: "button", onclick: once("allow_step") }, "Allow for all elements") : null,
    change ? h("button", { type: "button", onclick: change.open }, "Edit…") : null, refusal, add);
  const form = h("form", { novalidate: true, onkeydown: (event) => {
    if (event.key !== "Escape" || !typed.refuses) return;
    event.preventDefault();
    refuse(false);
  }, onsubmit: (event) => {
    event.preventDefault();
    if (typed.refuses) decide("refuse");
  } }, why, choices, refusing);
  return [isElement ? h("p", { class: "hint" }, "The step makes this call for each element of a list. “Allow for all elements” also allows the calls that nobody has seen yet.") : "",
    form];
};
const questionPath = (run, question) => `/api/runs/${encodeURIComponent(run)}/questions/${encodeURIComponent(question.id)}`;
const contentKey = (run, { path, tool, text }) => show([run, path, tool, text]);
const given = (question) => (typeof question.text === "string" ? question.text : show(question.arguments ?? null));
const undone = (question) => list(question?.undone_by).map(String);
const keyOf = ({ run, id, path, tool, intent, arguments: given, text, undone_by: by }) => show([id, path, tool, intent, given, text, by, ...(run ? [run] : [])]);
// The tools that an answer permits as well. No tool is left out.
const undoing = (question) => undone(question).length > 0 && h("p", { class: "hint" }, "If the run fails or is cancelled later, the undo steps of this step may call ",
  ...undone(question).flatMap((tool, at) => [at ? ", " : "", h("code", {}, tool)]), " without another question.");
// A link to a step: to its card on the page of the run, or to the page of its run.
const linkTo = (run, path, shown = path) => (run === live.id ? h("button", { type: "button", class: "link", onclick: () => live.choose(path, true) }, h("code", {}, cut(shown, 300)))
  : h("a", { href: `#/runs/${encodeURIComponent(run)}` }, h("code", {}, cut(shown, 300))));
// The steps from which an argument of a call comes.
const from = (run, question) => (name) => {
  const all = list(question.sources?.[name]);
  return all.length ? h("p", { class: "hint from" }, "from ", ...all.flatMap((path, at) => [at ? ", " : "", linkTo(run, path)])) : null;
};
// The intent is a claim of the plan, and the description comes from the tool.
const about = (question) => [question.intent ? h("p", { class: "intent" }, h("span", { class: "hint" }, "The plan states: "), bdi(question.intent)) : "",
  question.description ? h("p", {}, h("span", { class: "hint" }, "The tool: "), prose(question.description)) : ""];
// The time of the oldest question, and the time at which the run fails.
const askedAt = (some) => {
  const { asked: at, expires = live.run?.expires } = some[0];
  return at ? h("p", { class: "hint" }, "Asked ", since(at), " ago", expires ? [". The run fails in ", left(expires), " if it has not ended."] : ".") : "";
};
// A question with all arguments of its call. Long arguments are shortened until somebody asks for the rest.
const questionCard = (run, question, after, level, context = "") => {
  const nth = (ids += 1);
  const key = contentKey(run, question);
  const card = h("section", { class: "question", role: "group", "aria-labelledby": `question-${nth}`, "data-content": key });
  const send = (body, done, failed) => answering(card, questionPath(run, question), body, done, async () => {
    reasons.delete(key);
    change.forget();
    await after();
  }, failed);
  const answer = (decision, reason) => send(reason ? { decision, reason } : { decision }, decision === "refuse" ? "Refused" : "Allowed");
  const fails = (problem) => tell(card.querySelector(":scope > .failed-to-send"), told(problem));
  const whole = () => api(questionPath(run, question));
  const buttons = () => card.querySelector(".choices");
  // The form for changed arguments is in the place of the arguments.
  const edits = (isOpen) => {
    hide(buttons(), isOpen);
    hide(card.querySelector(":scope > .given"), isOpen);
  };
  const form = changing(key, `arguments-${nth}`, { tool: question.tool, load: async () => (await whole()).json, original: question.arguments, allow: (text, failed) => {
    const reason = reasons.get(key)?.text.trim();
    send(`{"decision":"allow",${reason ? `"reason":${JSON.stringify(reason)},` : ""}"arguments":${text}}`, "Allowed with changes", failed);
  }, back: () => {
    edits(false);
    [...buttons().children].find((one) => one.textContent.startsWith("Edit")).focus();
  } });
  const change = { ...form, open: () => form.open().then(() => edits(true), fails) };
  const isCut = /… and \d+ more characters, which are not shown$/.test(given(question));
  // The list of all questions leaves long arguments out.
  const shown = h("div", {}, question.arguments === undefined ? h("pre", { tabindex: "0", "aria-label": "Arguments of the call" }, json(block(given(question), LIMITS.shown))) : fieldsOf(question.arguments, isCut ? LIMITS.words : LIMITS.shown, from(run, question), question.tool));
  const all = isCut && h("button", { type: "button", class: "link", onclick: async () => {
    try {
      const { json: text } = await whole();
      shown.replaceChildren(fieldsOf(exact(text), LIMITS.text, from(run, question), question.tool));
      all.remove();
    } catch (problem) {
      fails(problem);
    }
  } }, "Show all arguments");
  card.append(h(level, { id: `question-${nth}`, tabindex: "-1" }, "May ", h("code", {}, cut(question.tool, 200)), " run in the step ", linkTo(run, question.path), "?"),
    context, askedAt([question]), ...about(question),
    h("div", { class: "given", hidden: !change.form.hidden }, h("p", { class: "hint" }, "Arguments:"), shown, all || ""), ...changedBefore(question), change.form, undoing(question) || "",
    ...decisions(key, `reason-${nth}`, "", answer, change, /\]$/.test(question.path)), h("p", { class: "wrong failed-to-send", role: "alert" }));
  return card;
};
// The values of a person who changed the arguments of this call before a retry. The call now has the original values again.
const changedBefore = ({ path, tool, changed_before: change }) => (change ? [h("p", { class: "hint" }, "Before the retry, ", change.by ? h("strong", {}, bdi(change.by, 200)) : "a person without a name", " changed these arguments of ", h("code", {}, cut(path, 300)), " to:"), fieldsOf(change.arguments, LIMITS.shown, () => "", tool)] : []);
// The number of questions after the shown questions.
export const follow = (count) => (count > 0 ? `${plural(count, "more question")} ${count === 1 ? "follows" : "follow"} when these are answered.` : "");
// The groups whose calls somebody answers one by one.
const apart = new Set();
// One answer for all open calls of a step, below the arguments of all these calls. Each call can be answered by itself.
const groupCard = (run, group, after, level, context = "") => {
  const { key, some, isPart } = group;
  const nth = (ids += 1);
  const [first] = some;
  const card = h("section", { class: "question together", role: "group", "aria-labelledby": `together-${nth}`, "data-content": show([key, some.map(({ path, text }) => [path, text])]) });
  // An answer for all elements is an answer to one question.
  const answer = (decision, reason) => answering(card, ...(decision === "allow_step" ? [questionPath(run, first), { decision, ...(reason ? { reason } : {}) }]
    : [`/api/runs/${encodeURIComponent(run)}/questions`, { decision, ...(reason ? { reason } : {}), questions: some.map(({ id }) => id) }]),
    decision === "refuse" ? "Refused" : "Allowed", async () => {
      reasons.delete(key);
      await after();
    });
  const each = h("div", { class: "each" });
  const rest = h("p", { class: "hint" }, follow(some.length - LIMITS.cards));
  const open = () => cards(each, some, keyOf, (question) => questionCard(run, question, after, level === "h2" ? "h3" : "h4"));
  const whole = [...tableOf(some, from(run, first)), ...some.flatMap(changedBefore), undoing(first) || "", ...decisions(key, `reason-${nth}`, `${isPart ? "these" : "all"} ${some.length}`, answer, null, /\]$/.test(first.path))].filter(Boolean);
  // While a person answers the calls one by one, each call is there once.
  const showApart = () => {
    const isApart = apart.has(key);
    say(toggle, isApart ? "Answer together" : "Answer one by one");
    if (isApart) open();
    for (const one of whole) hide(one, isApart);
    for (const one of [each, rest]) hide(one, !isApart);
  };
  const toggle = h("button", { type: "button", class: "link apart", onclick: () => {
    if (!apart.delete(key)) apart.add(key);
    showApart();
  } });
  card.append(h(level, { id: `together-${nth}`, tabindex: "-1" }, `${capital(callsOf(group))} of `, h("code", {}, cut(first.tool, 200)), " wait in the step ", linkTo(run, first.path.replace(/\[\d+\]$/, ""), stepOf(first))),
    context, askedAt(some), ...about(first), ...whole, toggle, each, rest, h("p", { class: "wrong failed-to-send", role: "alert" }));
  showApart();
  return card;
};
export const stepOf = ({ path }) => String(path).replaceAll(/\[\d+\]/g, "");
// The questions of each step together, in the order of their first questions. A part of all questions may be a part of a step's questions.
export const groupsOf = (all, run, isPart = false) => {
  const groups = new Map();
  for (const question of all.filter((one) => one && typeof one === "object").slice(0, LIMITS.questions)) {
    const key = show([run ?? question.run, stepOf(question), question.tool]);
    groups.set(key, [...(groups.get(key) ?? []), question]);
  }
  return [...groups].map(([key, some]) => ({ key, some, isPart, run: run ?? some[0].run }));
};
// The number of calls of a group.
export const callsOf = ({ some, isPart }) => `${isPart ? "at least " : ""}${plural(some.length, "call")}`;
// Keys in a question: they move between questions, and choose an answer that the person then confirms.
const KEYS = { a: "Allow", e: "Edit…", r: "Refuse…" };
const pressed = (event) => {
  if (isTyping() && event.key !== "Tab" && !event.target.closest("input, textarea, select")) {
    typing = Date.now();
    return event.preventDefault();
  }
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || event.target.closest("input, textarea, select, [aria-disabled=true]")) return;
  const key = event.key.toLowerCase();
  const card = event.target.closest(".question");
  const all = [...document.querySelectorAll(".question")].filter((one) => one.getClientRects().length);
  if (key === "j" || key === "k") {
    const at = all.indexOf(card);
    const to = at < 0 ? all[0] : all[at + (key === "j" ? 1 : -1)];
    to?.querySelector("h2, h3, h4")?.focus();
    to?.scrollIntoView({ block: "nearest" });
  } else if (card && KEYS[key]) {
    const found = [...card.querySelectorAll(":scope > form .choices button")].find((one) => one.getClientRects().length && one.textContent.startsWith(KEYS[key].replace("…", "")));
    if (!found) return;
    event.preventDefault();
    if (key === "a") found.focus();
    else found.click();
  }
};
document.addEventListener("keydown", pressed);
for (const place of document.querySelectorAll(".keys")) {
  place.replaceChildren("Keys: ", h("kbd", {}, "J"), " and ", h("kbd", {}, "K"), " go to the next and the previous question. In a question, ", h("kbd", {}, "A"), " goes to “Allow”, ", h("kbd", {}, "E"), " edits the arguments, and ", h("kbd", {}, "R"), " begins a refusal. ", h("kbd", {}, "Enter"), " confirms, and ", h("kbd", {}, "Escape"), " goes back.");
}
// The contents of the open questions.
let asked = new Set();
// The announced questions of the page. The next page announces its questions again.
export const heard = new Set();
const showGroups = (place, groups, after, level, context) => {
  hide(place.parentElement.querySelector(".keys"), !groups.length);
  asked = new Set(groups.flatMap(({ run, some }) => some.map((question) => contentKey(run, question))));
  cards(place, groups, ({ key, some, isPart }) => (some.length > 1 ? show([key, isPart, some.map(keyOf)]) : keyOf(some[0])), (group) =>
    (group.some.length > 1 ? groupCard(group.run, group, after, level, context?.(group.some[0])) : questionCard(group.run, group.some[0], after, level, context?.(group.some[0]))));
  for (const group of groups) {
    const { some, run } = group;
    if (some.every(({ id }) => heard.has(`${run} ${id}`))) continue;
    for (const { id } of some) heard.add(`${run} ${id}`);
    announce(some.length > 1 ? `${capital(callsOf(group))} of ${some[0].tool} wait in ${stepOf(some[0])}` : `A question: may ${some[0].tool} run in ${some[0].path}?`);
  }
};
export const questions = (all) => showGroups($("questions"), groupsOf(all, live.id), lookAgain, "h3");
// The questions of all runs, each with a link to its run.
const contextOf = ({ run, name, plan }) => h("p", { class: "hint" }, "Run of ", h("a", { href: `#/runs/${encodeURIComponent(run)}` }, called({ name, plan })), /[.?!…]$/.test(plan ?? name ?? "") ? "" : ".");
export const inboxQuestions = (groups, after) => showGroups($("inbox"), groups, after, "h2", contextOf);
// A form for the value of a waiting step.
const waitCard = (run, wait, began, after, level, context = "") => {
  const nth = (ids += 1);
  const type = typeof wait.type === "string" ? wait.type : wait.type === undefined || wait.type === null ? "" : show(wait.type);
  const plain = type.trim().toLowerCase();
  const kind = /^(string|text|str)$/.test(plain) ? "text" : /^bool(ean)?$/.test(plain) ? "boolean" : /^([iu](8|16|32|64|128|size)|f32|f64|number|integer|int|float)$/.test(plain) ? "number" : kindOfJson(type);
  const name = `wait-${nth}`;
  const format = h("select", { id: `${name}-format` }, h("option", { value: "text" }, "Text"), h("option", { value: "json" }, "JSON"));
  const place = h("div", {});
  let one;
  const make = (kind) => {
    const value = one?.control.value ?? "";
    one = field({ name: "Value", type: type || "any value", required: true, kind }, name, true);
    if (value && one.control.tagName !== "SELECT") one.control.value = value;
    place.replaceChildren(one.part);
  };
  format.value = kind === "text" ? "text" : "json";
  format.addEventListener("change", () => make(format.value));
  make(kind);
  const card = h("form", { class: "wait", novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    let value;
    try {
      value = one.read();
    } catch (problem) {
      one.fail(problem.message);
      one.control.focus();
      return;
    }
    answering(card, `/api/runs/${encodeURIComponent(run)}/signals`, { path: wait.path, value }, "Answered", after);
  } }, h(level, { tabindex: "-1" }, "The step ", linkTo(run, wait.step ?? wait.path), " waits for a value"),
    context, began ? h("p", { class: "hint" }, "Waits since ", time(began), ", for ", since(began), ".") : "", ...about(wait), place,
    kind === "text" || kind === "json" ? h("p", {}, h("label", { for: `${name}-format` }, "Enter the value as "), format) : "",
    h("p", { class: "wrong failed-to-send", role: "alert" }), h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Send the value")));
  announce(`The step ${wait.step ?? wait.path} waits for a value`);
  return card;
};
const keyOfWait = ({ run, path, type, intent }) => show([run, path, type, intent]);
export const waits = (all) => cards($("waits"), all, keyOfWait, (wait) => waitCard(live.id, wait, live.steps.get(wait.step ?? wait.path)?.attempts[0]?.started, lookAgain, "h3"));
// The waiting steps of all runs, each with a link to its run.
export const inboxWaits = (all, after) => cards($("inbox-waits"), all, keyOfWait, (wait) => waitCard(wait.run, wait, null, after, "h3", contextOf(wait)));
