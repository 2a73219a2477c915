// A graph as a file, and its plan as text for other programs.

import { copy, h, save } from "./dom.js";
import { noticed } from "./server.js";

// Another program does not know the styles of this page, so the file contains them.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "rx", "font-family", "font-size", "font-weight", "text-anchor", "text-decoration", "marker-end"];
const plain = (value) => value.replace(/color\(srgb ([\d. e-]+)[^)]*\)/g, (_, parts) => `rgb(${parts.trim().split(" ").map((part) => Math.round(part * 255)).join(", ")})`);
const standalone = (svg, { x, y, width, height }) => {
  const made = svg.cloneNode(true);
  const rect = document.createElementNS(svg.namespaceURI, "rect");
  const style = { x, y, width, height, fill: getComputedStyle(svg.closest(".card")).backgroundColor };
  const [from, to] = [svg, made].map((it) => [it, ...it.querySelectorAll("*")]);
  from.forEach((one, at) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) to[at].setAttribute(name, plain(style.getPropertyValue(name)));
    for (const name of ["tabindex", "aria-pressed", "style"]) to[at].removeAttribute(name);
  });
  for (const [name, value] of Object.entries(style)) rect.setAttribute(name, value);
  for (const [name, value] of Object.entries({ width, height, viewBox: `${x} ${y} ${width} ${height}` })) made.setAttribute(name, value);
  made.prepend(document.querySelector(".tips defs").cloneNode(true), rect);
  return new XMLSerializer().serializeToString(made);
};
// The buttons below a graph. `file` returns the name of a file with an ending, and `plan` returns the plan as text for other programs.
export const share = (picture, file, plan) => {
  const button = (label, work) => h("button", { type: "button", class: "link", onclick: ({ target }) => work(target)?.catch(noticed) }, label);
  const svg = button("Save as SVG", () => save(file("svg"), standalone(picture.svg, picture.whole()), "image/svg+xml"));
  const texts = [["Mermaid", "mmd"], ["DOT", "dot"]].map(([name, ending]) => button(`Copy as ${name}`, async (pressed) => copy(pressed, (await plan())[name.toLowerCase()], file(ending))));
  return { place: h("p", { class: "share" }, svg, ...texts), texts };
};
