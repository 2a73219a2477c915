// A report in the frame of the page. The frame prints the whole report, and the page around it would print only the visible part.

addEventListener("message", ({ source, data }) => source === parent && data === "print" && print());
addEventListener("keydown", (event) => {
  if (event.key !== "p" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  print();
});
