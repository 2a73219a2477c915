// The name of the person who answers questions. This browser keeps the name, and the server records the name with each answer.

import { changesOf } from "./arguments.js";
import { $, bdi, cut, h, hide, list, say } from "./dom.js";
import { capital } from "./server.js";
import { instant, time } from "./time.js";

const KEY = "plan-name";
let given = null;
const stored = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};
const name = () => given ?? stored();
const showName = () => {
  hide($("who"), !name());
  $("who").replaceChildren(h("span", {}, "You answer as "), bdi(name() ?? "", 40));
  $("who").setAttribute("aria-label", `You answer as ${cut(name() ?? "", 40)}`);
};
let settle = null;
const ask = () => new Promise((resolve) => {
  settle?.(null);
  settle = resolve;
  $("who-name").value = name() ?? "";
  say($("who-error"), "");
  $("who-dialog").showModal();
});
// Returns the name. The page asks for the name before the first answer, and returns `null` if the person closes the dialog.
export const who = async () => name() ?? ask();
$("who-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("who-name").value.trim();
  say($("who-error"), text ? "" : "Enter your name.");
  if (!text) return $("who-name").focus();
  given = text;
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // Without a store, the page asks again when it is reloaded.
  }
  showName();
  settle?.(text);
  settle = null;
  return $("who-dialog").close();
});
$("who-close").addEventListener("click", () => $("who-dialog").close());
$("who-dialog").addEventListener("close", () => {
  settle?.(null);
  settle = null;
});
$("who").addEventListener("click", ask);
showName();

// An answer in words, such as "allowed by Ada at …, because …".
const done = ({ decision, changed }) => ({ refuse: "refused", send: "a value was sent", allow_step: "allowed for all elements", cancel: "cancelled", resume: "resumed", retry: "retried" })[decision] ?? (changed ? "allowed with changed arguments" : "allowed");
export const sentence = (one, isFirst = false) => (one.decision === "restart" ? ["The server stopped, and started again at ", time(one.at)] : [`${isFirst ? capital(done(one)) : done(one)} by `, one.by ? h("strong", {}, bdi(one.by, 200)) : "a person without a name", " at ", time(one.at), one.reason ? [", because “", bdi(one.reason), "”"] : "",
  one.value === undefined ? "" : [": ", h("code", {}, cut(JSON.stringify(one.value), 2000))], one.original === undefined ? "" : changesOf(one.original, one.arguments)].flat());
const all = (run) => list(run?.decisions).filter((one) => one && typeof one.path === "string");
// The answers about steps, and the decisions about the whole run with the starts of the server during the run.
export const decisions = (run) => all(run).filter(({ path }) => path);
export const moments = (run) => [...all(run).filter(({ path }) => !path), ...list(run?.restarts).map((at) => ({ decision: "restart", at }))].sort((a, b) => instant(a.at) - instant(b.at));
