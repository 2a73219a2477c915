import { $, announce, block, cut, h, hide, json, prose, say, show } from "./dom.js";
import { field } from "./field.js";
import { LIMITS } from "./limits.js";
import { happened, live, runPath } from "./live.js";
import { api, told } from "./server.js";

// Its key says all that somebody decides about, so that a card never stands for another question than the one that it shows.
const cards = (place, all, key, make) => {
  const wanted = new Map(all.filter((one) => one && typeof one === "object").slice(0, LIMITS.cards).map((one) => [key(one), one]));
  for (const card of [...place.children]) {
    if (wanted.has(card.dataset.of)) wanted.delete(card.dataset.of);
    else {
      const had = card.contains(document.activeElement);
      card.remove();
      // The focus does not get lost with a card that is answered.
      if (had) (document.querySelector("#asked button") ?? $("run-title")).focus();
    }
  }
  for (const [of, one] of wanted) {
    const card = make(one);
    card.dataset.of = of;
    place.append(card);
  }
};
let ids = 0;
// Sends an answer, once, with the buttons of its card turned off while it is under way.
const answering = async (card, path, body, done) => {
  if (card.dataset.busy) return;
  card.dataset.busy = "yes";
  card.setAttribute("aria-busy", "true");
  const error = card.querySelector(".failed-to-send");
  say(error, "");
  try {
    await api(path, { method: "POST", body });
    announce(done);
    card.dataset.answered = "yes";
    card.replaceChildren(h("p", { class: "hint" }, `${done}…`));
    hide(card, false);
    const { id } = live;
    const run = await api(runPath(), { signal: live.abort?.signal }).catch(() => null);
    if (run && id === live.id) happened("state", run);
  } catch (problem) {
    if (problem.status === 404 || problem.status === 409) say(error, `${told(problem)}\nSomebody else may have answered.`);
    else if (problem.status !== 401) say(error, told(problem));
  } finally {
    delete card.dataset.busy;
    card.removeAttribute("aria-busy");
  }
};
export const questions = (all) => cards($("questions"), all, ({ id, path, tool, arguments: given, text }) => show([id, path, tool, given, text]), (question) => {
  const nth = (ids += 1);
  const card = h("section", { class: "question", "aria-labelledby": `question-${nth}` });
  const path = runPath(`/questions/${encodeURIComponent(question.id)}`);
  // The second click of a double click may be on the card that has moved to the place of an answered one, and decides nothing.
  const once = (decision) => (event) => event.detail < 2 && answer(decision);
  const answer = (decision, reason) => answering(card, path, reason ? { decision, reason } : { decision }, decision === "refuse" ? "Refused" : "Allowed");
  const reason = h("input", { type: "text", id: `reason-${nth}`, maxlength: "1000", autocomplete: "off" });
  const refusing = h("form", { hidden: true, novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    answer("refuse", reason.value.trim());
  } }, h("div", { class: "input" }, h("label", { for: `reason-${nth}` }, "Why? ", h("span", { class: "type" }, "The run is told; optional")), reason),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "danger" }, "Refuse it"), h("button", { type: "button", onclick: () => refuse(false) }, "Back")));
  const refuse = (open) => {
    hide(refusing, !open);
    hide(choices, open);
    (open ? reason : choices.lastChild).focus();
  };
  const choices = h("div", { class: "buttons" },
    h("button", { type: "button", class: "primary", onclick: once("allow") }, "Allow"),
    h("button", { type: "button", onclick: once("allow_step") }, "Allow for this step"),
    h("button", { type: "button", class: "danger", onclick: () => refuse(true) }, "Refuse…"));
  card.append(h("h3", { id: `question-${nth}` }, "May ", h("code", {}, cut(question.tool, 200)), " run in the step ", h("code", {}, cut(question.path, 300)), "?"),
    question.description ? h("p", {}, prose(question.description)) : "",
    h("p", { class: "hint" }, "It would get:"),
    h("pre", { tabindex: "0", "aria-label": "What the tool would get" }, json(block(typeof question.text === "string" ? question.text : show(question.arguments ?? null), 20_000))),
    choices, refusing, h("p", { class: "wrong failed-to-send", role: "alert" }));
  announce(`A question: may ${question.tool} run?`);
  return card;
});
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
    answering(card, runPath("/signals"), { path: wait.path, value }, "Answered");
  } }, h("h3", { id: `${name}-title` }, "The step ", h("code", {}, cut(wait.step ?? wait.path, 300)), " waits for a value"), place,
    kind === "text" || kind === "json" ? h("p", {}, h("label", { for: `${name}-format` }, "Written as "), format) : "",
    h("p", { class: "wrong failed-to-send", role: "alert" }), h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Send the value")));
  announce(`The step ${wait.step ?? wait.path} waits for a value`);
  return card;
});
