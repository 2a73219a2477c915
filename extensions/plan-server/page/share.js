// A graph as a file, and its plan as text for other programs.

import { copy, h, save } from "./dom.js";
import { noticed } from "./server.js";

// Another program does not know the styles of this page, so the file contains them. The colors are those of a light page, without the chosen step.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "rx", "font-family", "font-size", "font-weight", "text-anchor", "text-decoration"];
const plain = (value) => value.replace(/color\(srgb ([\d. e-]+)[^)]*\)/g, (_, parts) => `rgb(${parts.trim().split(" ").map((part) => Math.round(part * 255)).join(", ")})`);
const make = (name, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
// Few programs know markers with the color of their lines, so each color has its marker.
const tipsOf = (edges) => {
  const colors = [...new Set(edges.map((edge) => edge.getAttribute("stroke")))];
  for (const edge of edges) edge.setAttribute("marker-end", `url(#tip-${colors.indexOf(edge.getAttribute("stroke"))})`);
  return make("defs", {}, ...colors.map((color, nth) => {
    const marker = document.querySelector("#arrow-tip").cloneNode(true);
    marker.id = `tip-${nth}`;
    marker.querySelector("path").setAttribute("fill", color);
    return marker;
  }));
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
const standalone = ({ svg, legend, place }, { x, y, width, height }, title) => {
  const made = svg.cloneNode(true);
  for (const one of made.querySelectorAll(".chosen, .affected, .near")) one.classList.remove("chosen", "affected", "near");
  svg.after(made);
  const card = place.closest(".card");
  card.style.colorScheme = "light";
  for (const one of [made, ...made.querySelectorAll(":not(title, desc)")]) {
    const style = getComputedStyle(one);
    for (const name of STYLES) if (style.getPropertyValue(name) !== "auto") one.setAttribute(name, plain(style.getPropertyValue(name)));
    for (const name of ["tabindex", "aria-pressed", "style"]) one.removeAttribute(name);
  }
  for (const box of made.querySelectorAll(":is(.is-for, .is-loop) .box")) box.before(shadowOf(box));
  const rows = legendOf(legend, x + 12, y + height, getComputedStyle(legend));
  const size = { x, y, width: Math.max(width, 320), height: height + (rows.length ? rows.length * ROW + 12 : 0) };
  const paper = make("rect", { ...size, fill: getComputedStyle(card).backgroundColor });
  card.style.colorScheme = "";
  made.remove();
  for (const [name, value] of Object.entries({ width: size.width, height: size.height, viewBox: Object.values(size).join(" "), role: "img", "aria-label": title })) made.setAttribute(name, value);
  made.prepend(make("title", {}, title), tipsOf([...made.querySelectorAll(".edge")]), paper);
  made.append(...rows);
  return new XMLSerializer().serializeToString(made);
};
// The buttons below a graph. `file` returns the name of a file with an ending, `title` returns the title of the graph, and `plan` returns the plan as text for other programs, which has no states of a run.
export const share = (picture, { file, title, plan, isLive }) => {
  const button = (label, work) => h("button", { type: "button", class: "link", onclick: ({ target }) => work(target)?.catch(noticed) }, label);
  const svg = button("Save as SVG", () => save(file("svg"), standalone(picture, picture.whole(), title()), "image/svg+xml"));
  const texts = [["Mermaid", "mmd"], ["DOT", "dot"]].map(([name, ending]) => button(`Copy ${isLive ? "the plan " : ""}as ${name}`, async (pressed) => copy(pressed, (await plan())[name.toLowerCase()], file(ending))));
  return { place: h("p", { class: "share" }, svg, ...texts), texts };
};
