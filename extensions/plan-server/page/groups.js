// The graph of the groups of a large picture: one node for each group, and the edges between the groups.

import { cut, h, plural, say } from "./dom.js";
import { STATUSES } from "./limits.js";

const SVG = "http://www.w3.org/2000/svg";
export const make = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
const [WIDE, WIDEST, HIGH, ACROSS, DOWN, SIDE] = [230, 360, 62, 20, 26, 64];
// Failed steps come first.
const FIRST = ["failed", "waiting", "running", "cancelled", "blocked", "recovered", "completed", "undone", "skipped"];
const KINDS = [["reads", "only read"], ["acts", "may change"], ["waits", "wait"]];

// The number of edges between each two groups, in the order of the groups.
const edgesOf = (groups, svg) => {
  const groupOf = new Map(groups.flatMap(({ boxes }, at) => boxes.map(({ path }) => [path, at])));
  const counts = groups.map(() => new Map());
  for (const { dataset } of svg.querySelectorAll(".edge")) {
    const [from, to] = [groupOf.get(dataset.from), groupOf.get(dataset.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const [first, second] = [Math.min(from, to), Math.max(from, to)];
    counts[first].set(second, (counts[first].get(second) ?? 0) + 1);
  }
  return counts.flatMap((to, from) => [...to].map(([to, count]) => ({ from, to, count })));
};
// The row and the column of each group. A group is below all groups with an edge to the group.
const placesOf = (groups, edges, columns) => {
  const levels = groups.map(() => 0);
  for (const { from, to } of edges.toSorted((a, b) => a.from - b.from)) levels[to] = Math.max(levels[to], levels[from] + 1);
  let row = 0;
  const places = [];
  for (let level = 0; level <= Math.max(...levels); level += 1) {
    const all = groups.map((_, at) => at).filter((at) => levels[at] === level);
    all.forEach((at, nth) => (places[at] = { row: row + Math.floor(nth / columns), column: nth % columns }));
    row += Math.ceil(all.length / columns);
  }
  return { places, rows: row };
};
// An edge to the next row is a short curve. Other edges go through the space between the rows to a lane at the right of all nodes.
const curve = (from, to, wide, right) => {
  const [x, y, u, v] = [from.x + wide / 2, from.y + HIGH, to.x + wide / 2, to.y];
  if (to.row === from.row + 1) {
    return `M${x} ${y}C${x} ${y + DOWN / 2} ${u} ${v - DOWN / 2} ${u} ${v}`;
  }
  const side = right + Math.min(16 + 6 * (to.row - from.row), SIDE - 4);
  const [r, first, last] = [DOWN / 2, y + DOWN / 2, v - DOWN / 2];
  return `M${x} ${y}Q${x} ${first} ${x + r} ${first}H${side - r}Q${side} ${first} ${side} ${first + r}V${last - r}Q${side} ${last} ${side - r} ${last}H${u + r}Q${u} ${last} ${u} ${v}`;
};

export class Groups {
  // `choose` is called with the group that somebody opens.
  constructor(groups, svg, choose) {
    Object.assign(this, { groups, edges: edgesOf(groups, svg), wide: 0 });
    this.svg = make("svg", { "aria-hidden": "true" });
    for (const group of groups) {
      group.counts = h("span", { class: "counts" });
      group.bar = h("span", { class: "share", "aria-hidden": "true" });
      group.button = h("button", { type: "button", class: "group", onclick: () => choose(group) }, h("span", { class: "group-name" }, h("strong", {}, cut(group.name, 200)), " ", h("span", { class: "hint" }, plural(group.boxes.length, "step"))), " ", group.counts, group.bar);
    }
    this.place = h("div", { class: "group-graph", role: "group", "aria-label": "Groups of steps, and the groups that need them" }, this.svg, groups.map(({ button }) => button));
    new ResizeObserver(() => this.lay()).observe(this.place);
  }
  // Lays the nodes out for the width of the page.
  lay() {
    const width = this.place.clientWidth;
    if (!width || width === this.wide) return;
    this.wide = width;
    const hasSide = this.edges.length > 0;
    const room = width - (hasSide ? SIDE : 0);
    const columns = Math.max(1, Math.floor((room + ACROSS) / (WIDE + ACROSS)));
    const { places, rows } = placesOf(this.groups, this.edges, columns);
    const used = Math.max(...places.map(({ column }) => column)) + 1;
    const wide = Math.min(WIDEST, (room - (used - 1) * ACROSS) / used);
    const spots = places.map(({ row, column }) => ({ row, x: column * (wide + ACROSS), y: row * (HIGH + DOWN) }));
    const height = rows * (HIGH + DOWN) - DOWN;
    this.place.style.height = `${height}px`;
    this.groups.forEach(({ button }, at) => Object.assign(button.style, { left: `${spots[at].x}px`, top: `${spots[at].y}px`, width: `${wide}px`, height: `${HIGH}px` }));
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) this.svg.setAttribute(name, value);
    const right = Math.max(...spots.map(({ x }) => x)) + wide;
    this.svg.replaceChildren(...this.edges.map(({ from, to, count }) => {
      const edge = make("path", { class: "edge", d: curve(spots[from], spots[to], wide, right) });
      edge.style.strokeWidth = String(Math.min(1.3 + Math.log2(count) * 0.4, 4));
      return edge;
    }));
  }
  // Counts the steps of each group by their states, or by their kinds before a run.
  count() {
    for (const group of this.groups) {
      const { boxes, button, counts, bar } = group;
      const of = (name) => boxes.filter(({ node }) => node.classList.contains(name) && (name !== "completed" || !node.classList.contains("undone"))).length;
      const started = FIRST.map((status) => [status, of(status), status]).filter(([, count]) => count);
      const known = started.reduce((sum, [, count]) => sum + count, 0);
      const parts = known ? started : KINDS.map(([kind, words]) => [kind, of(kind), words]).filter(([, count]) => count);
      const isLive = Boolean(button.closest(".live"));
      const words = parts.filter(() => known || !isLive).map(([, count, words]) => `${count} ${words}`);
      const text = words.join(", ") || "not started";
      if (group.counted === text) continue;
      group.counted = text;
      say(counts, text);
      counts.title = text;
      // A group has the color of its most urgent step, and the color of completed steps once all its steps have ended.
      const [first] = started[0] ?? [];
      const worst = known < boxes.length && FIRST.indexOf(first) > FIRST.indexOf("blocked") ? "" : first;
      button.classList.remove("undone", ...STATUSES, ...KINDS.map(([kind]) => kind), "not-started");
      button.classList.add((isLive ? worst : parts.length === 1 ? parts[0][0] : "") || "not-started");
      const rest = h("i", {});
      rest.style.flexGrow = String(known ? boxes.length - known : isLive ? 1 : 0);
      bar.replaceChildren(...parts.filter(() => known || !isLive).map(([name, count]) => {
        const part = h("i", { class: name });
        part.style.flexGrow = String(count);
        return part;
      }), rest);
    }
  }
}
