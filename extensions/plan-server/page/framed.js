// A report in the frame of the page. The frame prints the whole report, and the page around it would print only the visible part. Escape closes
// the report, unless it closes the chosen step or clears the search.

addEventListener("message", ({ source, data }) => source === parent && data === "print" && print());
addEventListener("keydown", (event) => {
  const isTaken = event.target.value || document.querySelector("aside .step.shown");
  if (event.key === "Escape" && !isTaken) parent.postMessage("close", "*");
  if (event.key !== "p" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  print();
}, true);
