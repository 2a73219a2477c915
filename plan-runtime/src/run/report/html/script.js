"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const links = all("a[data-step]");
  const nodes = all(".node");
  const rows = all(".row");
  const sections = all("aside .step");
  const edges = all(".edge");
  const graph = document.querySelector(".graph");
  const frame = graph.parentElement;
  const fit = document.getElementById("fit");
  const none = document.querySelector("aside .none");
  const drawn = graph.getAttribute("width");
  let opener = null;
  let zoomed = drawn;
  document.documentElement.classList.add("scripted");

  // Shows what there is to know about a step, or, for null, about none.
  const choose = (step) => {
    const id = step === null ? "" : "step-" + step;
    sections.forEach((section) => section.classList.toggle("shown", section.id === id));
    links.forEach((link) => link.classList.toggle("chosen", step !== null && link.dataset.step === String(step)));
    edges.forEach((edge) => edge.classList.toggle("near", step !== null && [edge.dataset.from, edge.dataset.to].includes(String(step))));
    none.classList.toggle("hidden", step !== null);
    // A page in a frame of its own has no address that could be changed.
    try {
      history.replaceState(null, "", id ? "#" + id : location.pathname + location.search);
    } catch {}
    return document.getElementById(id);
  };

  // Moves a box into the middle of the graph's frame, and nothing else.
  const center = (node) => {
    if (!node) return;
    const [box, around] = [node.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollLeft += (box.left + box.right - around.left - around.right) / 2;
    frame.scrollTop += (box.top + box.bottom - around.top - around.bottom) / 2;
  };

  all("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    const width = graph.getBoundingClientRect().width * Number(button.dataset.zoom);
    fit.checked = false;
    zoomed = Math.min(Math.max(width, 80), 40000);
    graph.setAttribute("width", zoomed);
    center(document.querySelector(".node.chosen"));
  }));
  // What is fitted into the page is the graph as it was drawn.
  fit.addEventListener("change", () => graph.setAttribute("width", fit.checked ? drawn : zoomed));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-step]");
    if (!link) return;
    event.preventDefault();
    if (!link.closest("aside")) opener = link;
    const section = choose(link.dataset.step);
    if (!link.closest("svg")) center(document.querySelector(".node.chosen"));
    section.parentElement.scrollTop = 0;
    // Where the section is below everything else, it is scrolled to; beside it, nothing moves.
    section.focus({ preventScroll: getComputedStyle(section.parentElement).position === "sticky" });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.id !== "find") {
      choose(null);
      if (opener) opener.focus();
    }
    const at = rows.indexOf(event.target);
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (at < 0 || !way) return;
    event.preventDefault();
    for (let next = at + way; rows[next]; next += way) {
      if (!rows[next].parentElement.classList.contains("hidden")) return rows[next].focus();
    }
  });

  // A text to look for: the name, the tool and the status of each step.
  const texts = sections.map((section) => {
    const tool = section.querySelector("dd code");
    const parts = [section.querySelector("h2"), section.querySelector(".status"), tool].map((part) => (part ? part.textContent : ""));
    // A step with a failed call is found as well.
    return [...parts, section.querySelector(".attempts .bad") ? "failed" : ""].join(" ").toLowerCase();
  });
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = (link) => texts[Number(link.dataset.step)].includes(wanted);
    rows.forEach((row) => row.parentElement.classList.toggle("hidden", !found(row)));
    nodes.forEach((node) => node.classList.toggle("faded", !found(node)));
    const count = rows.filter(found).length;
    document.getElementById("found").textContent = wanted && (count ? count + " of " + rows.length + " steps" : "No step matches.");
  });

  // Times are those of the reader, with their zone.
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
  all("time[datetime]").forEach((time) => {
    time.title = time.textContent;
    time.textContent = clock.format(new Date(time.dateTime));
  });

  // A graph that stays legible is fitted into the page.
  fit.checked = drawn * 0.45 < frame.clientWidth;
  // It begins with what failed, or else where the critical path does.
  const failed = document.querySelector(".node.failed");
  const [, chosen = failed?.dataset.step] = /^#step-(\d+)$/.exec(location.hash) ?? [];
  if (sections[Number(chosen)]) choose(chosen);
  center(failed || document.querySelector(".node.critical"));
})();
