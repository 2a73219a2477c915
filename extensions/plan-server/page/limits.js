
// Whatever the server sends, and whatever is typed, the page does at most this much of it.
export const LIMITS = {
  text: 256 * 1024, // bytes of a plan that are checked
  findings: 100, // findings that are listed
  signs: 50, // invisible characters that are listed
  marks: 300, // lines of the text with something underlined
  rows: 300, // rows of a table, a list or the timeline
  nodes: 6000, // elements of a picture
  collapse: 60, // steps of a picture that is not in groups
  groups: 12, // groups of a large picture
  svg: 4_000_000, // characters of a picture
  steps: 2000, // steps whose state is kept
  attempts: 30, // attempts of a step that are kept
  questions: 512, // questions that are known
  cards: 50, // cards of questions, and of waiting steps, that are shown
  waits: 10, // runs whose waiting steps are on the page of all questions
  shown: 20_000, // characters of an output
  compared: 1_000_000, // pairs of words or lines that are compared
  words: 2000, // characters of a message
  event: 4_000_000, // characters of one event
  report: 30_000_000, // characters of a report
  page: 100, // runs on a page of the list
};
export const STATUSES = ["waiting", "running", "completed", "recovered", "skipped", "failed", "blocked", "cancelled"];
export const SIGNS = { __proto__: null, waiting: "…", running: "▸", completed: "✓", recovered: "↺", skipped: "↷", failed: "✗", blocked: "⊘", cancelled: "◌", undone: "⤺", done: "✓" };
export const ENDED = ["completed", "recovered", "skipped", "failed", "blocked", "cancelled"];
