import { $, announce, bdi, block, cut, h, hide, json, list, prose, say, show } from "./dom.js";
import { fieldsOf } from "./arguments.js";
import { changing } from "./change.js";
import { field } from "./field.js";
import { LIMITS } from "./limits.js";
import { happened, live, runPath } from "./live.js";
import { api, exact, told } from "./server.js";
import { since, time } from "./time.js";
import { who } from "./who.js";

// Its key says all that somebody decides about, so that a card never stands for another question than the one that it shows.
const cards = (place, all, key, make) => {
  const wanted = new Map(all.filter((one) => one && typeof one === "object").slice(0, LIMITS.cards).map((one) => [key(one), one]));
  for (const card of [...place.children]) {
    if (wanted.has(card.dataset.of)) wanted.delete(card.dataset.of);
    else {
      const had = card.contains(document.activeElement);
      card.remove();
      // The focus does not get lost with a card that is answered.
      if (had) ([...document.querySelectorAll("#asked button, #inbox button")].find((it) => it.getClientRects().length) ?? document.querySelector("main > :not([hidden]) h1"))?.focus();
    }
  }
  for (const [of, one] of wanted) {
    const card = make(one);
    card.dataset.of = of;
    place.append(card);
  }
};
let ids = 0;
// Sends answers, once, with the buttons of their card turned off while they are under way. `after` is called when the server has all of them.
const answering = async (card, paths, body, done, after) => {
  if (card.dataset.busy) return;
  const by = await who();
  if (by === null || card.dataset.busy) return;
  // Changed arguments are JSON text, which keeps all digits of each number.
  const named = typeof body === "string" ? `{"by":${JSON.stringify(by)},${body.slice(1)}` : { ...body, by };
  card.dataset.busy = "yes";
  card.setAttribute("aria-busy", "true");
  const error = card.querySelector(".failed-to-send");
  say(error, "");
  try {
    // A call that somebody else has answered does not keep the other calls from their answers.
    let late = null;
    for (const path of paths) {
      await api(path, { method: "POST", body: named }).catch((problem) => {
        if (paths.length < 2 || ![404, 409].includes(problem.status)) throw problem;
        late = problem;
      });
    }
    if (late) throw late;
    announce(done);
    card.dataset.answered = "yes";
    card.replaceChildren(h("p", { class: "hint" }, `${done}…`));
    hide(card, false);
    await after();
  } catch (problem) {
    if (problem.status !== 401) say(error, told(problem));
  } finally {
    delete card.dataset.busy;
    card.removeAttribute("aria-busy");
  }
};
const lookAgain = async () => {
  const { id } = live;
  const run = await api(runPath(), { signal: live.abort?.signal }).catch(() => null);
  if (run && id === live.id) happened("state", run);
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
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "danger" }, all ? `Refuse all ${all}` : "Refuse the call"), h("button", { type: "button", onclick: () => refuse(false) }, "Back")));
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
  const refusal = h("button", { type: "button", class: "danger", onclick: () => refuse(true) }, all ? `Refuse all ${all}…` : "Refuse…");
  const choices = h("div", { class: "buttons choices", hidden: typed.refuses || change?.form.hidden === false },
    h("button", { type: "button", class: all ? "" : "primary", onclick: once("allow") }, all ? `Allow all ${all}` : "Allow"),
    isElement ? h("button", { type: "button", onclick: once("allow_step") }, "Allow for all elements") : null,
    change ? h("button", { type: "button", onclick: change.open }, "Edit…") : null, refusal, add);
  const form = h("form", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    if (typed.refuses) decide("refuse");
  } }, why, choices, refusing);
  return [isElement ? h("p", { class: "hint" }, "The step makes this call for each element of a list. “Allow for all elements” also allows the calls that nobody has seen yet.") : "",
    form, change?.form ?? ""];
};
const questionPath = (run, question) => `/api/runs/${encodeURIComponent(run)}/questions/${encodeURIComponent(question.id)}`;
const given = (question) => (typeof question.text === "string" ? question.text : show(question.arguments ?? null));
const undone = (question) => list(question?.undone_by).map(String);
const keyOf = ({ run, id, path, tool, intent, arguments: given, text, undone_by: by }) => show([id, path, tool, intent, given, text, by, ...(run ? [run] : [])]);
// The tools that an answer permits as well. No tool is left out.
const undoing = (question) => undone(question).length > 0 && h("p", { class: "hint" }, "If the run fails or is cancelled later, the undo steps of this step may call ",
  ...undone(question).flatMap((tool, at) => [at ? ", " : "", h("code", {}, tool)]), " without another question.");
// A question with all arguments of its call. Long arguments are shortened until somebody asks for the rest.
const questionCard = (run, question, after, from) => {
  const nth = (ids += 1);
  const card = h("section", { class: "question", "aria-labelledby": `question-${nth}` });
  const key = show([run, question.path, question.tool, question.text]);
  const send = (body, done) => answering(card, [questionPath(run, question)], body, done, async () => {
    reasons.delete(key);
    change.forget();
    await after();
  });
  const answer = (decision, reason) => send(reason ? { decision, reason } : { decision }, decision === "refuse" ? "Refused" : "Allowed");
  const fails = (problem) => say(card.querySelector(".failed-to-send"), told(problem));
  const whole = () => api(questionPath(run, question));
  const buttons = () => card.querySelector(".choices");
  const form = changing(key, `arguments-${nth}`, { load: async () => (await whole()).json, original: question.arguments, allow: (text) => {
    const reason = reasons.get(key)?.text.trim();
    send(`{"decision":"allow",${reason ? `"reason":${JSON.stringify(reason)},` : ""}"arguments":${text}}`, "Allowed with changes");
  }, back: () => {
    hide(buttons(), false);
    buttons().querySelector("button").focus();
  } });
  const change = { ...form, open: () => form.open().then(() => hide(buttons(), true), fails) };
  const isCut = /… and \d+ more characters, which are not shown$/.test(given(question));
  // The list of all questions leaves long arguments out.
  const shown = h("div", {}, question.arguments === undefined ? h("pre", { tabindex: "0", "aria-label": "Arguments of the call" }, json(block(given(question), LIMITS.shown))) : fieldsOf(question.arguments, isCut ? LIMITS.words : LIMITS.shown));
  const all = isCut && h("button", { type: "button", class: "link", onclick: async () => {
    try {
      const { json: text } = await whole();
      shown.replaceChildren(fieldsOf(exact(text), LIMITS.text));
      all.remove();
    } catch (problem) {
      fails(problem);
    }
  } }, "Show all arguments");
  card.append(h(from ? "h2" : "h3", { id: `question-${nth}` }, "May ", h("code", {}, cut(question.tool, 200)), " run in the step ", h("code", {}, cut(question.path, 300)), "?"),
    from ?? "", question.asked ? h("p", { class: "hint" }, "Asked ", time(question.asked), ", ", since(question.asked), " ago.") : "", // The intent is a claim of the plan, and the description comes from the tool.
    question.intent ? h("p", { class: "intent" }, h("span", { class: "hint" }, "The plan states: "), bdi(question.intent)) : "",
    question.description ? h("p", {}, h("span", { class: "hint" }, "The tool: "), prose(question.description)) : "", h("p", { class: "hint" }, "Arguments:"), shown, all || "", undoing(question) || "",
    ...decisions(key, `reason-${nth}`, 0, answer, change, /\]$/.test(question.path)), h("p", { class: "wrong failed-to-send", role: "alert" }));
  announce(`A question: may ${question.tool} run?`);
  return card;
};
// One answer for all open calls of a step.
const together = (run, all) => {
  const groups = new Map();
  for (const question of all.slice(0, LIMITS.cards)) {
    const key = show([run, String(question?.path).replaceAll(/\[\d+\]/g, "[]"), question?.tool]);
    groups.set(key, [...(groups.get(key) ?? []), question]);
  }
  const several = [...groups].filter(([, some]) => some.length > 1).map(([key, some]) => ({ key, some }));
  cards($("together"), several, ({ some }) => show(some.map(({ id }) => id)), ({ key, some }) => {
    const nth = (ids += 1);
    const card = h("section", { class: "question together", "aria-labelledby": `together-${nth}` });
    const answer = (decision, reason) => answering(card, some.map((question) => questionPath(run, question)), reason ? { decision, reason } : { decision },
      decision === "refuse" ? "Refused" : "Allowed", async () => {
        reasons.delete(key);
        await lookAgain();
      });
    card.append(h("h3", { id: `together-${nth}` }, `${some.length} calls of `, h("code", {}, cut(some[0].tool, 200)), " wait in the step ", h("code", {}, cut(String(some[0].path).replaceAll(/\[\d+\]/g, ""), 300))),
      h("p", { class: "hint" }, "The calls are listed below, each with its arguments."), ...decisions(key, `reason-${nth}`, some.length, answer), h("p", { class: "wrong failed-to-send", role: "alert" }));
    return card;
  });
};
export const questions = (all) => {
  const run = live.id;
  together(run, all);
  cards($("questions"), all, keyOf, (question) => questionCard(run, question, lookAgain));
};
// The questions of all runs, each with a link to its run.
export const inboxQuestions = (all, after) => cards($("inbox"), all, keyOf, (question) => questionCard(question.run, question, after,
  h("p", { class: "hint" }, "Run of ", h("a", { href: `#/runs/${encodeURIComponent(question.run)}` }, bdi(question.plan || "a plan without a name", 200)), ".")));
export const waits = (all) => cards($("waits"), all, ({ path, type }) => show([path, type]), (wait) => {
  const nth = (ids += 1);
  const type = typeof wait.type === "string" ? wait.type : wait.type === undefined || wait.type === null ? "" : show(wait.type);
  const plain = type.trim().toLowerCase();
  const kind = /^(string|text|str)$/.test(plain) ? "text" : /^bool(ean)?$/.test(plain) ? "boolean" : /^([iu](8|16|32|64|128|size)|f32|f64|number|integer|int|float)$/.test(plain) ? "number" : "json";
  const name = `wait-${nth}`;
  const format = h("select", { id: `${name}-format` }, h("option", { value: "text" }, "Text"), h("option", { value: "json" }, "JSON"));
  const place = h("div", {});
  let one;
  const make = (kind) => {
    const value = one?.control.value ?? "";
    one = field({ name: "Value", type: type || "any value", required: true, kind }, name, true);
    if (one.control.tagName !== "SELECT") one.control.value = value;
    place.replaceChildren(one.part);
  };
  format.value = kind === "text" ? "text" : "json";
  format.addEventListener("change", () => make(format.value));
  make(kind);
  const began = live.steps.get(wait.step ?? wait.path)?.attempts[0]?.started;
  const card = h("form", { class: "wait", novalidate: true, "aria-labelledby": `${name}-title`, onsubmit: (event) => {
    event.preventDefault();
    let value;
    try {
      value = one.kind === "text" ? one.control.value : one.read();
    } catch (problem) {
      one.fail(problem.message);
      one.control.focus();
      return;
    }
    answering(card, [runPath("/signals")], { path: wait.path, value }, "Answered", lookAgain);
  } }, h("h3", { id: `${name}-title` }, "The step ", h("code", {}, cut(wait.step ?? wait.path, 300)), " waits for a value"),
    began ? h("p", { class: "hint" }, "Asked ", time(began), ", ", since(began), " ago.") : "", place,
    kind === "text" || kind === "json" ? h("p", {}, h("label", { for: `${name}-format` }, "Enter the value as "), format) : "",
    h("p", { class: "wrong failed-to-send", role: "alert" }), h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Send the value")));
  announce(`The step ${wait.step ?? wait.path} waits for a value`);
  return card;
});
