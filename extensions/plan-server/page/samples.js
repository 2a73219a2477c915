// The samples on the page of the runs.

import { $, cut, h, list, put } from "./dom.js";
import { editor, loadSamples, useSample } from "./editor.js";
import { api, noticed } from "./server.js";

const run = async (sample, button) => {
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    const { id } = await api("/api/runs", { method: "POST", body: { text: sample.text, inputs: {}, approve: "each" } });
    location.hash = `#/runs/${encodeURIComponent(id)}`;
  } catch (error) {
    noticed(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
};
const open = (at) => {
  location.hash = "#/plan";
  useSample(at);
};
// Samples that run without inputs come first, and one click runs them.
export const showSamples = async () => {
  await loadSamples();
  const all = list(editor.samples).map((sample, at) => ({ sample, at })).sort((a, b) => Boolean(b.sample?.is_ready) - Boolean(a.sample?.is_ready) || a.at - b.at);
  put($("samples"), all.map(({ at }) => at), () => all.map(({ sample, at }, nth) => {
    const title = cut(sample?.title ?? sample?.name, 120);
    const start = h("button", { type: "button", class: nth ? "" : "primary", "aria-label": `Run: ${title}`, onclick: () => run(sample, start) }, "Run");
    return h("li", {}, h("h3", {}, title), h("p", {}, cut(sample?.about ?? "", 300)), h("div", { class: "buttons" }, sample?.is_ready ? start : null,
      h("button", { type: "button", "aria-label": `Open in the editor: ${title}`, onclick: () => open(at) }, "Open in the editor")));
  }));
};
