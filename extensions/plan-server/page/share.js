// A graph as a file, and its plan as text for other programs.

import { copy, h, save } from "./dom.js";
import { noticed } from "./server.js";

// Another program does not know the styles of this page, so the file contains them, without the chosen step. The colors are those of a light page. A
// style sheet has the colors of a dark page, for programs that know the preference of the reader.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "rx", "font-family", "font-size", "font-weight", "text-anchor", "text-decoration"];
const COLORS = ["fill", "stroke"];
const plain = (value) => value.replace(/color\(srgb ([\d. e-]+)[^)]*\)/g, (_, parts) => `rgb(${parts.trim().split(" ").map((part) => Math.round(part * 255)).join(", ")})`);
const make = (name, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
// The classes of dark colors, and their style sheet.
const darkness = () => {
  const classes = new Map();
  const colored = (element, colors) => {
    const changed = Object.entries(colors).filter(([name, dark]) => element.hasAttribute(name) && element.getAttribute(name) !== dark);
    if (!changed.length) return;
    const rule = changed.map(([name, dark]) => `${name}: ${dark}`).join("; ");
    if (!classes.has(rule)) classes.set(rule, `dark-${classes.size}`);
    element.classList.add(classes.get(rule));
  };
  const rules = () => [...classes].map(([rule, name]) => `.${name} { ${rule} }`).join(" ");
  return { colored, sheet: () => make("style", {}, `@media (prefers-color-scheme: dark) { ${rules()} }`) };
};
// Few programs know markers with the color of their lines, so each color has its marker.
const tipsOf = (edges, strokes, { colored }) => {
  const tips = new Map();
  edges.forEach((edge, at) => {
    const color = edge.getAttribute("stroke");
    if (!tips.has(color)) {
      const marker = document.querySelector("#arrow-tip").cloneNode(true);
      marker.id = `tip-${tips.size}`;
      const tip = marker.querySelector("path");
      tip.setAttribute("fill", color);
      colored(tip, { fill: strokes[at] });
      tips.set(color, marker);
    }
    edge.setAttribute("marker-end", `url(#${tips.get(color).id})`);
  });
  return make("defs", {}, ...tips.values());
};
// Few programs know filters, so a shadow is a box below its box.
const shadowOf = (box) => {
  const shadow = box.cloneNode();
  for (const [name, value] of Object.entries({ class: "shadow", x: Number(box.getAttribute("x")) + 3, y: Number(box.getAttribute("y")) + 3, fill: box.getAttribute("stroke"), "fill-opacity": 0.4, stroke: "none" })) shadow.setAttribute(name, value);
  return shadow;
};
// The legend as rows of a picture, with their texts.
const ROW = 20;
const legendOf = (legend, x, y, { fontFamily, color }) => [...legend.querySelectorAll("li:not(.affected)")].map((item, nth) => {
  const { borderTopColor, borderTopStyle, borderTopWidth, backgroundColor, boxShadow } = getComputedStyle(item, "::before");
  const middle = y + (nth + 0.5) * ROW;
  const stroke = { stroke: plain(borderTopColor), "stroke-width": 1.5, "stroke-dasharray": { dashed: "4 3", dotted: "1 3" }[borderTopStyle] ?? "none" };
  const sample = item.classList.contains("line") ? make("path", { d: `M${x} ${middle}h22`, ...stroke }) : make("rect", { x: x + 4, y: middle - 6, width: 14, height: 12, rx: item.classList.contains("is-if") ? 6 : 3, fill: plain(backgroundColor), ...stroke, "stroke-width": parseFloat(borderTopWidth) });
  return make("g", {}, ...(boxShadow === "none" ? [] : [shadowOf(sample)]), sample, make("text", { x: x + 30, y: middle + 4, "font-family": fontFamily, "font-size": "12px", fill: color }, item.textContent));
});
// The title above the graph, in lines that fit.
const headOf = (title, x, y, width, { fontFamily, color }) => {
  const lines = [""];
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 14px ${fontFamily}`;
  for (const word of title.split(" ")) {
    if (lines.at(-1) && pen.measureText(`${lines.at(-1)} ${word}`).width > width) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines.map((line, nth) => make("text", { x, y: y + (nth + 1) * ROW, "font-family": fontFamily, "font-size": "14px", "font-weight": 600, fill: color }, line));
};
// The parts of the file below each other: the title, the graph and the legend, in the colors of the page.
const colorsOf = ({ legend }, card, made, { x, y, width, height }, title, scheme) => {
  card.style.colorScheme = scheme;
  for (const one of [made, ...made.querySelectorAll(":not(title, desc)")]) {
    const style = getComputedStyle(one);
    for (const name of STYLES) if (style.getPropertyValue(name) !== "auto") one.setAttribute(name, plain(style.getPropertyValue(name)));
    for (const name of ["role", "tabindex", "aria-pressed", "aria-label", "style"]) one.removeAttribute(name);
  }
  for (const box of made.querySelectorAll(":is(.is-for, .is-loop) .box")) box.before(shadowOf(box));
  const of = getComputedStyle(legend);
  const head = headOf(title, x + 12, 0, Math.max(width, 320) - 24, of);
  const above = head.length * ROW + 12;
  for (const line of head) line.setAttribute("y", Number(line.getAttribute("y")) + y - above);
  const rows = legendOf(legend, x + 12, y + height, of);
  const size = { x, y: y - above, width: Math.max(width, 320), height: above + height + (rows.length ? rows.length * ROW + 12 : 0) };
  made.prepend(make("rect", { ...size, fill: plain(getComputedStyle(card).backgroundColor) }), ...head);
  made.append(...rows);
  return size;
};
const standalone = (picture, whole, title) => {
  const card = picture.place.closest(".card");
  const [made, dark] = ["light", "dark"].map((scheme) => {
    const copy = picture.svg.cloneNode(true);
    for (const one of copy.querySelectorAll(".chosen, .affected, .near")) one.classList.remove("chosen", "affected", "near");
    picture.svg.after(copy);
    const size = colorsOf(picture, card, copy, whole, title, scheme);
    copy.remove();
    return Object.assign(copy, { size });
  });
  card.style.colorScheme = "";
  const darks = darkness();
  const [inLight, inDark] = [made, dark].map((one) => [...one.querySelectorAll("*")]);
  inLight.forEach((one, at) => darks.colored(one, Object.fromEntries(COLORS.map((name) => [name, inDark[at].getAttribute(name)]))));
  const tips = tipsOf([...made.querySelectorAll(".edge")], [...dark.querySelectorAll(".edge")].map((edge) => edge.getAttribute("stroke")), darks);
  for (const [name, value] of Object.entries({ width: made.size.width, height: made.size.height, viewBox: Object.values(made.size).join(" "), role: "img", "aria-label": title })) made.setAttribute(name, value);
  made.prepend(make("title", {}, title), darks.sheet(), tips);
  return new XMLSerializer().serializeToString(made);
};
// The buttons below a graph. `file` returns the name of a file with an ending, `title` returns the title of the graph, and `plan` returns the plan as text for other programs, which has no states of a run.
export const share = (picture, { file, title, plan, isLive }) => {
  const button = (label, work) => h("button", { type: "button", class: "link", onclick: ({ target }) => work(target)?.catch(noticed) }, label);
  const svg = button("Save as SVG", () => save(file("svg"), standalone(picture, picture.whole(), title()), "image/svg+xml"));
  const texts = [["Mermaid", "mmd"], ["DOT", "dot"]].map(([name, ending]) => button(`Copy ${isLive ? "the plan " : ""}as ${name}`, async (pressed) => copy(pressed, (await plan())[name.toLowerCase()], file(ending))));
  return { place: h("p", { class: "share" }, svg, ...texts), texts };
};
