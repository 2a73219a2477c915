import { $, cut, h, say } from "./dom.js";
import { keep, kept } from "./store.js";

export let token = kept("token");
// Other modules set `changed`, which is called after somebody has signed in or out.
export const session = { changed: () => {} };
// `changed` is called after each request with `true` if the server has answered.
export const reached = { changed: () => {} };

export class Refused extends Error {
  constructor(status, body) {
    const error = body && typeof body === "object" && body.error && typeof body.error === "object" ? body.error : {};
    super(cut(error.message ?? `the server answered with status ${status}`));
    this.status = status;
    this.code = error.code;
    this.help = error.help ? cut(error.help) : null;
    this.body = body;
  }
}
export const told = (error) => {
  if (error instanceof Refused) return [capital(error.message), error.help].filter(Boolean).join("\n");
  if (error.name === "TimeoutError") return "The server did not answer in time. Reload the page to see whether your last action took effect, then try again.";
  return "The server cannot be reached. Try again in a minute. If the error remains, tell the person who operates the server.";
};
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const noticed = (error) => {
  if (error.name === "AbortError" || error.status === 401) return;
  const notice = h("div", { class: "notice" }, told(error));
  notice.append(h("button", { type: "button", class: "small", onclick: () => notice.remove() }, "Close"));
  $("notices").replaceChildren(notice);
};

export const request = async (path, { method = "GET", body, signal, accept, wait = 30_000 } = {}) => {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (accept) headers.Accept = accept;
  const signals = [signal, wait && AbortSignal.timeout(wait)].filter(Boolean);
  const asked = fetch(path, {
    method, headers, body: typeof body === "object" ? JSON.stringify(body) : body,
    signal: signals.length ? AbortSignal.any(signals) : undefined, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", redirect: "error",
  });
  // A request that the page itself gives up tells nothing about the server.
  const response = await asked.catch((error) => {
    if (!signal?.aborted) reached.changed(false);
    throw error;
  });
  reached.changed(true);
  if (response.ok) return response;
  if (response.status === 401) signOut("The server does not accept this token. Enter the token that the server printed at its last start, or ask the person who started the server.");
  throw new Refused(response.status, await response.json().catch(() => null));
};
// JSON in which each number has its digits as written: JavaScript reads 9007199254740993 as 9007199254740992, and 1.0 as 1.
export const exact = (text) => JSON.parse(text, (_, value, context) => (typeof value === "number" && JSON.rawJSON ? JSON.rawJSON(context.source) : value));
// The values of a run, which people read, have their numbers as written. All other numbers are numbers of JavaScript.
export const parsed = (text) => {
  const put = (one, whole) => {
    for (const [key, value] of Object.entries(one ?? {})) {
      if (["arguments", "inputs", "original", "output"].includes(key) || (key === "value" && "decision" in one)) one[key] = whole[key];
      else if (typeof value === "object") put(value, whole[key]);
    }
    return one;
  };
  return put(JSON.parse(text), exact(text));
};
export const api = async (path, options) => {
  const response = await request(path, options);
  const text = await response.text();
  return text ? parsed(text) : null;
};

// ---- The token comes in the fragment, which is never sent to a server, and leaves the address bar. ----

export const takeToken = () => {
  const given = /^#token=(.+)$/.exec(location.hash);
  if (!given) return false;
  try {
    token = decodeURIComponent(given[1]).trim();
  } catch {
    token = given[1].trim();
  }
  keep("token", token);
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  return true;
};
const signOut = (why = "") => {
  // Another tab may have a newer token.
  if (kept("token") === token) keep("token", null);
  token = null;
  session.changed();
  if (why) {
    say($("token-error"), why);
    $("token").setAttribute("aria-invalid", "true");
  }
};
// A header has only visible ASCII characters.
const isToken = (text) => /^[\x21-\x7e]{1,512}$/.test(text);
if (token !== null && !isToken(token)) token = null;
$("sign-in-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = $("token").value.trim().replace(/^.*#token=/, "");
  const fine = isToken(given);
  say($("token-error"), fine ? "" : given ? "A token has only letters, digits and signs, without spaces." : "Enter the token.");
  $("token").toggleAttribute("aria-invalid", false);
  if (!fine) {
    $("token").setAttribute("aria-invalid", "true");
    $("token").focus();
    return;
  }
  token = given;
  keep("token", token);
  $("token").value = "";
  session.changed(true);
});
$("forget").addEventListener("click", () => signOut());
// A tab follows the other tabs of this browser.
addEventListener("storage", ({ key, newValue: given }) => {
  if ((key !== null && key !== "token") || given === token) return;
  if (given === null) return signOut();
  if (!isToken(given)) return;
  token = given;
  session.changed();
});
