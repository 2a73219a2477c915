// A large picture as a graph of groups of steps. A group opens, and a small map shows all steps.

import { h, hide, plural, say } from "./dom.js";
import { Groups, make } from "./groups.js";
import { LIMITS } from "./limits.js";

export const boxOf = ([path, node], nth) => {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(node.querySelector(".box")?.getAttribute(name)) || 0);
  return { path, node, nth, x, y, width, height };
};
// The steps from the top to the bottom, cut into groups of about one size.
const groupsOf = (boxes) => {
  const sorted = [...boxes].sort((a, b) => a.y - b.y || a.x - b.x);
  const size = Math.ceil(sorted.length / LIMITS.groups);
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, at) => {
    const boxes = sorted.slice(at * size, (at + 1) * size);
    const named = boxes.toSorted((a, b) => a.nth - b.nth);
    return { boxes, name: boxes.length > 1 ? `${named[0].path} … ${named.at(-1).path}` : named[0].path };
  });
};
const around = (boxes, margin = 24) => {
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)) - margin, Math.min(...boxes.map(({ y }) => y)) - margin];
  return { x: left, y: top, width: Math.max(...boxes.map(({ x, width }) => x + width)) + margin - left, height: Math.max(...boxes.map(({ y, height }) => y + height)) + margin - top };
};

export class Overview {
  constructor(svg, nodes, frame) {
    Object.assign(this, { svg, frame, open: null, isWhole: false, chosen: null });
    const boxes = [...nodes].map(boxOf);
    this.size = this.view = around(boxes);
    this.groups = groupsOf(boxes);
    this.graph = new Groups(this.groups, svg, (group) => this.choose(group, true));
    this.toggle = h("button", { type: "button", class: "small", onclick: () => this.show(!this.isWhole) });
    const step = (by) => () => this.choose(this.groups[this.groups.indexOf(this.open) + by], true);
    this.all = h("button", { type: "button", class: "small", onclick: () => this.close() }, "All groups");
    this.earlier = h("button", { type: "button", class: "small", onclick: step(-1) }, "Previous group");
    this.later = h("button", { type: "button", class: "small", onclick: step(1) }, "Next group");
    this.title = h("strong", { class: "group-title", tabindex: "-1" });
    this.bar = h("div", { class: "group-bar" }, this.all, this.earlier, this.later, this.title);
    this.rest = h("div", {}, frame);
    this.drawMap(boxes);
    this.place = h("div", { class: "overview" }, h("div", { class: "overview-of" }, h("div", { class: "group-bar" }, this.toggle), h("div", { class: "overview-list" }, this.graph.place, this.bar, this.rest)), this.map);
    frame.addEventListener("scroll", () => this.where());
    this.show(false);
  }
  // Shows the whole picture, or its groups.
  show(isWhole) {
    this.isWhole = isWhole;
    say(this.toggle, isWhole ? "Show groups" : "Show all steps");
    this.choose(null);
    if (!isWhole) return;
    this.crop(this.size);
    const all = this.groups.flatMap(({ boxes }) => boxes);
    const first = all.find(({ path }) => path === this.chosen) ?? all.find(({ node }) => node.classList.contains("failed")) ?? all.find(({ nth }) => nth === 0);
    this.center([first.x + first.width / 2, first.y + first.height / 2]);
    this.where();
  }
  close() {
    const { button } = this.open;
    this.choose(null);
    button.focus();
  }
  // Opens a group, or shows all groups.
  choose(group, isPressed = false) {
    this.open = group;
    const at = this.groups.indexOf(group);
    hide(this.graph.place, Boolean(group) || this.isWhole);
    hide(this.bar, !group);
    hide(this.frame, !group && !this.isWhole);
    if (group) {
      say(this.title, `${group.name}, ${plural(group.boxes.length, "step")}`);
      hide(this.earlier, at === 0);
      hide(this.later, at === this.groups.length - 1);
      this.crop(around(group.boxes));
      if (isPressed) this.title.focus({ preventScroll: true });
    }
    this.where();
  }
  crop(view) {
    const { x, y, width, height } = (this.view = view);
    hide(this.frame, false);
    this.frame.scrollTo(0, 0);
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
  }
  // Opens the group of a step.
  reveal(path) {
    const group = this.groups.find(({ boxes }) => boxes.some((box) => box.path === path));
    if (group && !this.isWhole && this.open !== group) this.choose(group);
  }
  // Opens the group of a step, and scrolls to the step.
  find(path) {
    this.reveal(path);
    const box = this.groups.flatMap(({ boxes }) => boxes).find((box) => box.path === path);
    if (!box) return;
    const [node, frame] = [box.node, this.frame].map((it) => it.getBoundingClientRect());
    if (node.top < frame.top || node.bottom > frame.bottom || node.left < frame.left || node.right > frame.right) this.center([box.x + box.width / 2, box.y + box.height / 2]);
  }
  center([x, y]) {
    const scale = this.svg.getBoundingClientRect().width / this.view.width;
    this.frame.scrollTo((x - this.view.x) * scale - this.frame.clientWidth / 2, (y - this.view.y) * scale - this.frame.clientHeight / 2);
  }
  mark(chosen) {
    if (chosen !== null && chosen !== this.chosen) this.find(chosen);
    this.chosen = chosen;
    this.graph.count();
    for (const [node, dot] of this.dots) dot.setAttribute("class", node.getAttribute("class").replace("node", "dot"));
    this.where();
  }

  drawMap(boxes) {
    const { x, y, width, height } = this.size;
    const scale = Math.min(150 / width, 260 / height);
    this.map = make("svg", { class: "map", viewBox: `${x} ${y} ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.map.style.width = `${Math.max(width * scale, 36)}px`;
    this.map.style.height = `${Math.max(height * scale, 36)}px`;
    this.dots = new Map(boxes.map(({ node, ...box }) => [node, make("rect", { x: box.x, y: box.y, width: box.width, height: box.height })]));
    this.here = make("rect", { class: "here" });
    this.map.append(...this.dots.values(), this.here);
    this.map.addEventListener("click", ({ clientX, clientY }) => {
      const seen = this.map.getBoundingClientRect();
      const at = [x + ((clientX - seen.left) / seen.width) * width, y + ((clientY - seen.top) / seen.height) * height];
      this.go(boxes, at);
    });
  }
  // Goes to a place of the map.
  go(boxes, [x, y]) {
    const far = (box) => Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
    if (!this.isWhole) this.reveal(boxes.reduce((near, box) => (far(box) < far(near) ? box : near)).path);
    this.center([x, y]);
  }
  // Marks the visible part on the map.
  where() {
    const [svg, frame] = [this.svg, this.frame].map((it) => it.getBoundingClientRect());
    let part = { x: 0, y: 0, width: 0, height: 0 };
    if (svg.width) {
      const scale = this.view.width / svg.width;
      const [left, top] = [Math.max(frame.left - svg.left, 0), Math.max(frame.top - svg.top, 0)];
      part = { x: this.view.x + left * scale, y: this.view.y + top * scale, width: Math.min(frame.width, svg.width) * scale, height: Math.min(frame.height, svg.height) * scale };
    }
    for (const [name, value] of Object.entries(part)) this.here.setAttribute(name, value);
  }
}
