import { $, h, hide, say } from "./dom.js";
import { LIMITS } from "./limits.js";
import { live, runPath } from "./live.js";
import { Refused, api, parsed, reached, request } from "./server.js";

// While the connection is lost, the buttons of the run and of the questions are off. The banner comes a moment later, so that a short break does not flash.
// The connection is lost if the events of the run have ended, or if the latest request has failed.
let [lost, banner, looking] = [null, 0, 0];
const broken = { events: false, requests: false };
const buttons = () => document.querySelectorAll("#run-view > .card:not(#asked) > .bar-of button, #asked button, #inbox button");
const setLost = (name, isBroken) => {
  broken[name] = isBroken;
  const isLost = broken.events || broken.requests;
  if (isLost === (lost !== null)) return;
  lost = isLost ? new Date() : null;
  clearTimeout(banner);
  banner = isLost ? setTimeout(() => {
    say($("lost"), `Not connected since ${lost.toLocaleTimeString()}. This page may be out of date. The page contacts the server every 3 seconds. Until the server answers, the buttons of runs and questions are off.`);
    hide($("lost"), false);
  }, 1000) : 0;
  if (!isLost) hide($("lost"), true);
  // Each page looks for the server, also a page that asks for nothing itself.
  clearInterval(looking);
  looking = isLost ? setInterval(() => request("/health", { wait: 5000 }).catch(() => {}), 3000) : 0;
  for (const one of buttons()) {
    if (isLost) one.setAttribute("aria-disabled", "true");
    else one.removeAttribute("aria-disabled");
  }
};
for (const [name, view] of ["click", "submit"].flatMap((name) => ["run-view", "inbox-view"].map((view) => [name, view]))) {
  $(view).addEventListener(name, (event) => {
    if (!lost || (name === "click" && !event.target.closest("[aria-disabled=true]"))) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}
// Shows the state of the connection.
export const connection = (text, isLost = false) => {
  say($("connection"), text);
  setLost("events", isLost);
};
reached.changed = (isReached) => setLost("requests", !isReached);
const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
});

// A browser allows six connections to a server for all its tabs, so a hidden tab has no stream.
const isHidden = () => document.visibilityState === "hidden";
const whenShown = (signal) => new Promise((resolve) => {
  const shown = () => isHidden() || resolve();
  document.addEventListener("visibilitychange", shown, { signal });
  signal.addEventListener("abort", resolve, { once: true });
});
// Events are read with `fetch`, since an `EventSource` sends no header. A lost connection is made again, at first after half a second, later after about three seconds.
export const follow = async (signal, happened) => {
  const askState = () => api(runPath(), { signal }).then((run) => happened("state", run), () => {});
  for (let tries = 0; !signal.aborted && !live.ended;) {
    if (isHidden()) {
      // A tab that somebody opens in the background has a title.
      if (!live.run) await askState();
      await whenShown(signal);
      continue;
    }
    let stalled = null;
    const attempt = new AbortController();
    const both = AbortSignal.any([signal, attempt.signal]);
    let wasHidden = false;
    document.addEventListener("visibilitychange", () => {
      wasHidden = true;
      attempt.abort();
    }, { signal: both });
    const watch = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => attempt.abort(), 90_000);
    };
    try {
      watch();
      const response = await request(runPath("/events"), { signal: both, accept: "text/event-stream", wait: 0 });
      connection("Live");
      await events(response.body, (event, data) => {
        tries = 0;
        happened(event, data);
      }, watch);
    } catch (error) {
      if (signal.aborted) break;
      if (error.status === 404) {
        say($("run-title"), "This run does not exist");
        hide($("run-parts"), true);
        $("run-wrong").replaceChildren(h("p", { class: "error" }, "The address is wrong, or the server has deleted the run. The server deletes the oldest ended runs when its database is half full. ", h("a", { href: "#/runs" }, "List the runs"), "."));
        break;
      }
      if (error.status === 401) break;
      // There may be too many others who watch: the state itself can still be asked for.
      if (error instanceof Refused) await askState();
    } finally {
      clearTimeout(stalled);
      attempt.abort();
    }
    if (signal.aborted || live.ended) break;
    if (wasHidden) continue;
    const wait = Math.min(3000, 500 * 2 ** tries) * (0.75 + Math.random() / 2);
    tries = Math.min(tries + 1, 6);
    connection("Connection lost; trying again…", true);
    await pause(wait, signal);
  }
  if (!signal.aborted) connection("");
};
// A parser of server-sent events: fields are lines, an empty line ends an event, lines may end in CR, LF or both.
const events = async (body, each, alive) => {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let name = "";
  let data = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    rest += value;
    // A CR at the end may be followed by its LF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    if (rest.length > LIMITS.event) throw new Error("an event is too large");
    for (const line of lines) {
      if (line === "") {
        if (data.length && size <= LIMITS.event) {
          let happened;
          try {
            happened = parsed(data.join("\n"));
          } catch {
            happened = undefined;
          }
          if (happened !== undefined || name === "end") each(name || "message", happened);
        } else if (name === "end") each(name, null);
        [name, data, size] = ["", [], 0];
        continue;
      }
      const colon = line.indexOf(":");
      const key = colon < 0 ? line : line.slice(0, colon);
      const given = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (key === "event") name = given;
      else if (key === "data") {
        size += given.length;
        if (size <= LIMITS.event) data.push(given);
      }
    }
  }
};
