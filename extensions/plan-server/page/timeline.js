import { $, cut, h, list, put, say } from "./dom.js";
import { ENDED, LIMITS, SIGNS } from "./limits.js";
import { isOver, live } from "./live.js";
import { instant, took } from "./time.js";

// The picture and the timeline.
export const showLive = (picture) => {
  const { run } = live;
  if (!run || !live.id) return;
  const over = isOver(run);
  const known = list(run.steps ?? live.plan?.steps).map((step) => step?.path).filter((path) => typeof path === "string");
  const waiting = new Set([...list(run.waits), ...list(run.questions)].map((one) => one?.step ?? one?.path));
  // A step has the state of the calls in it, if there is none of its own.
  const of = (path) => {
    const own = live.steps.get(path)?.status;
    const within = (other) => typeof other === "string" && other !== path && other.startsWith(path) && /[^\p{L}\p{N}_]/u.test(other[path.length]);
    if (!over && (waiting.has(path) || [...waiting].some(within)) && !ENDED.includes(own)) return "waiting";
    return own ?? (live.order.some(within) ? "running" : undefined);
  };
  for (const path of picture.nodes.keys()) picture.status(path, of(path));
  picture.mark(live.chosen);

  const all = [...new Set([...known.slice(0, LIMITS.rows), ...live.order])];
  const rows = all.slice(0, LIMITS.rows);
  const now = over ? instant(run.ended)?.getTime() : Date.now() + Math.min(Math.max(Number.isFinite(live.ahead) ? live.ahead : 0, 0), 3_600_000);
  let [from, to] = [instant(run.began)?.getTime() ?? Infinity, now ?? -Infinity];
  for (const path of rows) {
    for (const one of live.steps.get(path)?.attempts ?? []) {
      from = Math.min(from, one.started);
      to = Math.max(to, one.ended ?? one.started);
    }
  }
  if (!rows.length || !Number.isFinite(from)) {
    put($("timeline"), "none", () => h("p", { class: "none" }, over ? "What each step did is in the report." : "No step has started yet."));
    return;
  }
  const span = Math.max(to - from, 1);
  const place = $("timeline");
  if (place.keyed !== "rows") {
    place.keyed = "rows";
    live.rows = new Map();
    place.replaceChildren(h("div", { class: "timeline" }, h("div", { class: "axis", "aria-hidden": "true" }, h("span"), h("div", { class: "ticks" })), h("ul", { class: "rows" }), h("p", { class: "hint" })));
  }
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => {
    const tick = h("span", {}, part ? took(part * span) : "0");
    tick.style.left = `${part * 100}%`;
    return tick;
  });
  place.querySelector(".ticks").replaceChildren(...ticks);
  const left = all.length - rows.length + live.skipped;
  say(place.querySelector(".hint"), left > 0 ? `${left.toLocaleString()} more ${left === 1 ? "step is" : "steps are"} not shown here. The report has them.` : "");
  const items = place.querySelector(".rows");
  rows.forEach((path, at) => {
    let row = live.rows.get(path);
    if (!row) {
      row = { item: h("li", { class: "row" }), name: h("bdi"), sign: h("span", { class: "sign", "aria-hidden": "true" }), track: h("div", { class: "track", "aria-hidden": "true" }), status: h("span", { class: "status" }), said: h("span"), why: h("bdi") };
      say(row.name, cut(path, 200));
      row.item.append(h("span", { class: "name", title: cut(path, 200) }, row.sign, row.name), row.track, h("div", { class: "said" }, row.status, row.said, row.why));
      live.rows.set(path, row);
    }
    if (items.children[at] !== row.item) items.insertBefore(row.item, items.children[at] ?? null);
    const step = live.steps.get(path);
    const status = of(path);
    const className = `row ${status ?? "not-started"}${path === live.chosen ? " chosen" : ""}`;
    if (row.item.className !== className) row.item.className = className;
    say(row.sign, SIGNS[status] ?? "·");
    say(row.status, status === "waiting" ? "waiting for you" : status ?? "not started");
    const attempts = step?.attempts ?? [];
    const spent = attempts.reduce((sum, one) => sum + Math.max(0, (one.ended ?? (over ? to : now)) - one.started), 0);
    const nth = attempts.at(-1)?.nth ?? 1;
    say(row.said, `${attempts.length && ENDED.includes(status) ? `, ${took(spent)}` : ""}${nth > 1 ? `, attempt ${nth}` : ""}${step?.error ? ": " : ""}`);
    say(row.why, step?.error ?? "");
    while (row.track.childElementCount > attempts.length) row.track.lastChild.remove();
    attempts.forEach((one, index) => {
      const bar = row.track.children[index] ?? row.track.appendChild(h("i"));
      const start = Math.min(Math.max((one.started - from) / span, 0), 1);
      const end = Math.min(Math.max(((one.ended ?? (over ? to : now)) - from) / span, start), 1);
      bar.style.left = `${(start * 100).toFixed(2)}%`;
      bar.style.width = `${((end - start) * 100).toFixed(2)}%`;
      bar.className = one.bad ? "bad" : "";
    });
  });
  while (items.childElementCount > rows.length) items.lastChild.remove();
};
