import { SHOWN, cut, h, hide, lines, put, say, seen, spoken } from "./dom.js";
import { LIMITS, SIGNS, STATUSES } from "./limits.js";
import { Overview, boxOf } from "./overview.js";
import { share } from "./share.js";

// Only these elements and attributes of a picture are taken over, each made again by this page.
const DRAWN = new Set(["svg", "g", "path", "rect", "text", "tspan", "title", "desc", "line", "polygon", "polyline", "circle", "ellipse"]);
const DRAWN_WITH = new Set(["class", "viewBox", "width", "height", "d", "x", "y", "dx", "dy", "rx", "ry", "cx", "cy", "r", "x1", "x2", "y1", "y2", "points",
  "transform", "role", "aria-label", "tabindex", "data-path", "data-from", "data-to"]);
const SVG = "http://www.w3.org/2000/svg";
const draw = (text) => {
  if (typeof text !== "string" || text.length > LIMITS.svg) return null;
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") return null;
  let left = LIMITS.nodes;
  const copy = (from) => {
    if (!DRAWN.has(from.localName) || (left -= 1) < 0) return null;
    const to = document.createElementNS(SVG, from.localName);
    for (const { name, value } of from.attributes) if (DRAWN_WITH.has(name)) to.setAttribute(name, SHOWN.has(name) ? seen(value) : value);
    for (const child of from.childNodes) {
      const made = child.nodeType === Node.TEXT_NODE ? document.createTextNode(lines(child.data)) : child.nodeType === Node.ELEMENT_NODE ? copy(child) : null;
      if (made) to.append(made);
    }
    return to;
  };
  const svg = copy(parsed);
  if (left < 0) return null;
  svg.classList.add("graph");
  const box = (svg.getAttribute("viewBox") ?? "").trim().split(/[\s,]+/).map(Number);
  if (box.length === 4 && box.every(Number.isFinite)) {
    svg.setAttribute("width", Math.min(box[2], 40_000));
    svg.setAttribute("height", Math.min(box[3], 40_000));
  }
  return svg;
};

// The name of a step for a screen reader, which contains the visible text and the full words of text that is shortened in the picture.
const spokenOf = (node) => {
  const texts = [...node.querySelectorAll("text")];
  for (const text of texts) text.before(" ");
  const visible = texts.map((text) => text.textContent);
  let at = 0;
  const isIn = (text) => {
    const found = whole.indexOf(text, at);
    at = found + text.length;
    return found >= 0;
  };
  const whole = cut(node.getAttribute("aria-label") || node.dataset.path, 300);
  return visible.every(isIn) ? whole : visible.join(": ").startsWith(whole) ? visible.join(": ") : `${visible.join(": ")}: ${whole}`;
};

// The meanings of the shapes, lines and colors of a picture.
const KINDS = [["reads", "only reads"], ["acts", "may change something"], ["waits", "waits for a value"], ["undo", "undoes a step"]];
const FORMS = [["is-for", "runs for each element of a list"], ["is-loop", "repeats"], ["is-if", "has a condition"], ["is-block", "contains steps"]];
const LINES = [[":not(.after, .undo)", "uses an output", "data"], [".after", "order only", "after"], [".undo", "undo", "undo"]];

// Returns the nearest step in the direction of an arrow key. Up and down go to the next row, and left and right stay in the row if the row has a step there.
const ARROWS = { ArrowDown: ["y", 1], ArrowUp: ["y", -1], ArrowRight: ["x", 1], ArrowLeft: ["x", -1] };
const nearest = (node, all, [axis, sign]) => {
  const from = boxOf(["", node]);
  const [long, across, high] = axis === "y" ? ["height", "x", "width"] : ["width", "y", "height"];
  const ranked = all.map((one) => [one, boxOf(["", one])]).flatMap(([one, to]) => {
    const gap = sign > 0 ? to[axis] - from[axis] - from[long] : from[axis] - to[axis] - to[long];
    const side = Math.abs(to[across] + to[high] / 2 - from[across] - from[high] / 2);
    const isBeside = side < (from[high] + to[high]) / 2;
    return gap < 0 ? [] : [{ one, rank: axis === "y" ? [gap, side] : isBeside ? [0, gap] : [1, Math.hypot(gap, side)] }];
  });
  return ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1])[0]?.one;
};

// The least size at which the text of a graph has 9 pixels.
const LEAST = 9 / 11.5;
// A picture with its buttons. `choose` is called with the path of a step that somebody chooses.
export class Picture {
  constructor(place, bar, choose, { isLive = false, ...shared }) {
    Object.assign(this, { place, isLive, legend: h("ul", { class: "legend" }), shared: share(this, { ...shared, isLive }) });
    this.svg = null;
    this.nodes = new Map();
    this.choose = choose;
    this.tools = h("span", { hidden: true },
      h("button", { type: "button", class: "small", "aria-label": "Smaller", onclick: () => this.zoom(0.8) }, "−"), " ",
      h("button", { type: "button", class: "small", "aria-label": "Larger", onclick: () => this.zoom(1.25) }, "+"), " ",
      this.fits = h("button", { type: "button", class: "small", "aria-pressed": "true", onclick: () => this.fit(!this.isFit, true) }, "Fit"));
    bar.append(this.tools);
    this.isFit = true;
    // The text of a graph that fits may be too small to read. Such a graph scrolls, until somebody chooses.
    new ResizeObserver(() => this.settle()).observe(place);
  }
  // The size of the graph in relation to its natural size, if the graph fits in a width.
  scale(width = this.place.clientWidth) {
    const natural = this.whole();
    return Math.min(width / natural.width, (innerHeight * 0.56) / natural.height, 1);
  }
  // Returns `true` if the graph is larger than a width.
  isWiderThan(width) {
    return Boolean(this.svg) && this.whole().width > width;
  }
  settle() {
    if (!this.svg || this.overview || this.isChosen || !this.place.clientWidth) return;
    const isFit = this.scale() >= LEAST;
    if (isFit !== this.isFit) this.fit(isFit);
    if (!this.isMoved) this.reveal(this.marked ?? this.nodes.keys().next().value, true);
  }
  // Scrolls to a step, if the graph scrolls. A visible step moves to the center only with `isCentered`.
  reveal(path, isCentered = false) {
    const [step, frame] = [this.nodes.get(path), this.frame].map((it) => it?.getBoundingClientRect());
    if (!step || this.overview || this.isFit) return;
    if (isCentered || step.top < frame.top || step.bottom > frame.bottom || step.left < frame.left || step.right > frame.right) {
      this.frame.scrollBy(step.left + step.width / 2 - frame.left - frame.width / 2, step.top + step.height / 2 - frame.top - frame.height / 2);
    }
  }
  // Without a plan, the picture is a draft.
  put(text, isDraft = false) {
    this.nodes.clear();
    for (const button of this.shared.texts) hide(button, isDraft);
    this.svg = text ? draw(text) : null;
    hide(this.tools, !this.svg);
    if (!this.svg) {
      this.frame = null;
      this.overview = null;
      this.place.replaceChildren(h("p", { class: "none" }, text ? "The graph is too large to be shown here." : "There is no graph: the plan has no steps, or more than 400."));
      return;
    }
    const nodes = this.svg.querySelectorAll("[data-path]");
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", `${this.svg.getAttribute("aria-label") ?? "The steps and their dependencies"}. Arrow keys go from step to step.`);
    nodes.forEach((node, at) => {
      this.nodes.set(node.dataset.path, node);
      node.dataset.spoken = spokenOf(node);
      node.setAttribute("role", "button");
      node.setAttribute("aria-label", node.dataset.spoken);
      node.setAttribute("aria-pressed", "false");
      node.setAttribute("tabindex", at ? "-1" : "0");
      const box = node.querySelector(".box");
      if (box) {
        const sign = document.createElementNS(SVG, "text");
        sign.setAttribute("class", "sign");
        sign.setAttribute("x", Number(box.getAttribute("x")) + Number(box.getAttribute("width")) - 9);
        sign.setAttribute("y", Number(box.getAttribute("y")) + 18.5);
        node.append(" ", sign);
      }
    });
    this.svg.addEventListener("click", (event) => this.picked(event.target.closest("[data-path]")));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    const move = () => (this.isMoved = true);
    this.frame = h("div", { class: "scroll", onwheel: move, onpointerdown: move, onkeydown: move }, this.svg);
    this.overview = this.nodes.size > LIMITS.collapse ? new Overview(this.svg, this.nodes, this.frame) : null;
    this.place.replaceChildren(this.overview?.place ?? this.frame, this.legend, this.shared.place);
    this.explain();
    // The steps of a group have their natural size, and scroll.
    Object.assign(this, { isChosen: false, isMoved: false, marked: null });
    this.fit(!this.overview);
    this.settle();
  }
  // Lists the kinds that occur in the picture.
  explain() {
    const nodes = [...this.nodes.values()];
    const has = (name) => nodes.some((node) => (name === "not-started" ? !STATUSES.some((status) => node.classList.contains(status)) : node.classList.contains(name)));
    // The color of a step of a run is its state.
    const kinds = [...(this.isLive ? [...STATUSES.filter(has).map((status) => [status, `${SIGNS[status]} ${spoken(status)}`]), ["not-started", "not started"], ["undone", `${SIGNS.undone} undone`], ["undo", "undoes a step"]] : KINDS), ...FORMS].filter(([name]) => has(name));
    const edges = LINES.filter(([selector]) => this.svg?.querySelector(`.edge${selector}`)).map(([, words, name]) => [`line ${name}`, words]);
    const hit = has("wrong") ? [["wrong", "has errors"]] : has("affected") ? [["affected", "would not run if the chosen step failed"]] : [];
    const all = [...kinds, ...(edges.length > 1 || this.svg?.querySelector(".edge:is(.after, .undo)") ? edges : []), ...hit];
    put(this.legend, all, () => all.map(([name, words]) => h("li", { class: name }, words)));
  }
  picked(node) {
    if (node) this.choose(node.getAttribute("aria-pressed") === "true" ? null : node.dataset.path);
  }
  key(event) {
    const node = event.target.closest("[data-path]");
    if (!node) return;
    const all = [...this.nodes.values()];
    const to = event.key === "Home" ? all[0] : event.key === "End" ? all.at(-1) : event.key in ARROWS ? nearest(node, all, ARROWS[event.key]) : null;
    if (event.key === "Enter" || event.key === " ") this.picked(node);
    else if (event.key === "Escape") this.choose(null);
    else if (to === null) return;
    else if (to) {
      for (const one of all) one.setAttribute("tabindex", one === to ? "0" : "-1");
      this.overview?.reveal(to.dataset.path);
      to.focus();
    }
    event.preventDefault();
  }
  fit(isFit, isChosen = this.isChosen) {
    Object.assign(this, { isFit, isChosen });
    this.fits.setAttribute("aria-pressed", String(isFit));
    this.frame?.classList.toggle("fit", isFit);
    if (isFit && this.svg) this.svg.style.width = "";
    this.overview?.where();
  }
  // The part of the drawing with all steps.
  whole() {
    const [x, y, width, height] = (this.svg.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
    return this.overview?.size ?? { x, y, width, height };
  }
  zoom(by) {
    if (!this.svg) return;
    const width = this.svg.getBoundingClientRect().width * by;
    this.fit(false, true);
    this.svg.style.width = `${Math.min(Math.max(width, 80), 40_000)}px`;
  }
  mark(chosen, affected = []) {
    const hit = new Set(affected);
    for (const [path, node] of this.nodes) {
      node.classList.toggle("chosen", path === chosen);
      node.classList.toggle("affected", hit.has(path));
      node.setAttribute("aria-pressed", String(path === chosen));
    }
    for (const edge of this.svg?.querySelectorAll(".edge") ?? []) {
      edge.classList.toggle("near", chosen !== null && [edge.dataset.from, edge.dataset.to].includes(chosen));
    }
    this.overview?.mark(chosen);
    if (chosen !== this.marked) this.reveal(chosen);
    this.marked = chosen;
    this.explain();
  }
  // Marks the steps with errors. The effects of their tools are unknown.
  wrong(paths) {
    // Two steps of a draft may have one path.
    for (const node of this.svg?.querySelectorAll("[data-path]") ?? []) {
      const isWrong = paths.has(node.dataset.path);
      node.classList.remove("acts");
      node.classList.toggle("wrong", isWrong);
      if (isWrong) node.setAttribute("aria-label", `${node.dataset.spoken}: has errors`);
    }
    this.overview?.mark(null);
    this.explain();
  }
  // Shows the state of a step, the name of the step that has undone it, if one has, and the number of elements of its list, if it is known.
  status(path, status, undoneBy, elements) {
    const node = this.nodes.get(path);
    if (!node) return;
    const what = node.querySelector(".what");
    if (elements !== undefined && what?.textContent.startsWith("for each:")) {
      for (const [place, name] of [[what, "textContent"], [node.dataset, "spoken"]]) place[name] = place[name].replace("for each:", `for ×${elements}:`);
    }
    node.classList.remove(...STATUSES);
    node.classList.toggle("undone", Boolean(undoneBy));
    if (STATUSES.includes(status)) node.classList.add(status);
    const sign = node.querySelector(".sign");
    if (sign) say(sign, SIGNS[undoneBy ? "undone" : status] ?? "");
    node.setAttribute("aria-label", `${node.dataset.spoken}: ${spoken(status)}${undoneBy ? `, undone by ${undoneBy}` : ""}`);
  }
}
