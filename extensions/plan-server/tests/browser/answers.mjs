// Answers by keyboard, groups of calls, and the states of a run that others have answered or cancelled.

import assert from "node:assert/strict";
import { SHAPES, axe, begin, button, close, contrast, gone, looks, open, press, put, says, stubbed, test, text, wait } from "./harness.mjs";

const start = async (page, steps) => {
  await put(page, JSON.stringify(steps));
  await wait(page, (count) => document.querySelectorAll("#picture .node").length === count, steps.length);
  await wait(page, () => document.querySelector("#start").getAttribute("aria-disabled") === "false");
  await page.click("#start");
};
const active = (page) => page.evaluate(() => `${document.activeElement.localName} ${document.activeElement.textContent}`);

await test("the focus goes to the next question", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "one", tool: "send_mail", for: 4, arguments: { to: "ada", text: "x" } }, { id: "two", tool: "book_room", after: ["one"], arguments: { room: 7 } }]);
  await says(page, "#questions h3", "4 calls of send_mail wait in the step one");
  await press(page, "Answer one by one", "#questions");
  // The heading of the next card has the focus, so a second press of a key decides nothing.
  for (const [left, next] of [[3, "May send_mail run in the step one[1]?"], [2, "May send_mail run in the step one[2]?"], [1, "May send_mail run in the step one[3]?"]]) {
    await (await button(page, "Allow", "#questions")).focus();
    await page.keyboard.press("Enter");
    await wait(page, (next) => document.activeElement.textContent === next, next);
    await page.keyboard.press("Enter");
    await page.keyboard.press(" ");
    assert.match(await active(page), /^h[34] /);
    assert.equal(stub.runs.get("r0001").questions.length, left);
  }
  await (await button(page, "Allow", "#questions")).focus();
  await page.keyboard.press("Enter");
  await says(page, "#questions h3", "book_room");
  await wait(page, () => document.activeElement !== document.body);
  await (await button(page, "Refuse…", "#questions")).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("no");
  await page.keyboard.press("Enter");
  // The last answer leaves the focus at the title of the run.
  await says(page, "#run-facts", "failed");
  await wait(page, () => document.activeElement.id === "run-title");
  await close(page);
}));

for (const [shape, options] of SHAPES) {
  await test(`one answer for a step in the inbox, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    const spoken = [];
    await page.exposeFunction("spoke", (words) => spoken.push(words));
    await page.evaluate(() => new MutationObserver(() => document.getElementById("spoken").textContent && self.spoke(document.getElementById("spoken").textContent)).observe(document.getElementById("spoken"), { childList: true, characterData: true, subtree: true }));
    await start(page, [{ id: "mail", tool: "list_mails", arguments: { sender: "sarah" } }, { id: "sent", tool: "send_mail", intent: "Tell everybody.", for: 3, arguments: { to: "{{mail.result}}", text: "Hello." } }]);
    await says(page, "#questions h3", "3 calls of send_mail wait in the step sent");
    // One sentence tells of all calls.
    while (!spoken.some((words) => words.includes("3 calls of send_mail wait in sent."))) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(!spoken.some((words) => words.includes("?.") || words.includes("May send_mail")), spoken.join(" | "));
    // The arguments have their sources, above the buttons.
    await says(page, "#questions .intent", "Tell everybody.");
    await says(page, "#questions .from", "from mail");
    const tops = await page.$$eval("#questions .together :is(.arguments, .choices)", (all) => all.filter((it) => it.getClientRects().length).map((it) => it.getBoundingClientRect().top));
    assert.ok(tops[0] < tops.at(-1), `${tops}`);
    // Each call has its own arguments.
    stub.runs.get("r0001").questions.forEach((question, at) => (question.arguments = { to: ["ada", "bob", "cleo"][at], text: "Hello." }));
    await page.click("#to-inbox");
    await says(page, "#inbox h2", "3 calls of send_mail wait in the step sent");
    assert.deepEqual(await page.$$eval("#inbox tbody tr", (all) => all.map((row) => [...row.children].map((it) => it.textContent))), [["sent[0]", "ada"], ["sent[1]", "bob"], ["sent[2]", "cleo"]]);
    assert.equal(await page.$$eval("#inbox .question", (all) => all.length), 1);
    await looks(page, `inbox-group-${shape}`);
    await press(page, "Allow all 3", "#inbox");
    await says(page, "#inbox-count", "Nothing is waiting.");
    assert.deepEqual(stub.runs.get("r0001").decisions.map(({ decision }) => decision), ["allow", "allow", "allow"]);
    await close(page);
  }));

  await test(`a run that was cancelled and resumed, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    await start(page, [{ id: "room", intent: "Get a free room.", await: "String" }]);
    await says(page, "#waits .intent", "Get a free room.");
    assert.match(await text(page, "#waits"), /Waits since .*, for \d+ s\./);
    await press(page, "Cancel the run…");
    await looks(page, `cancel-dialog-${shape}`);
    await page.type("#cancel-why", "Too late.");
    await press(page, "Cancel the run", "#cancel-dialog");
    await says(page, "#run-facts", "cancelled");
    await press(page, "Resume…");
    await looks(page, `resume-dialog-${shape}`);
    await press(page, "Resume the run", "#retry-dialog");
    await page.waitForSelector("#waits textarea");
    await page.type("#waits textarea", "B2");
    await press(page, "Send the value");
    await says(page, "#run-facts", "done");
    // The page tells who has cancelled and resumed the run, and marks the times.
    const moments = await page.$$eval("#run-moments li", (all) => all.map((it) => it.textContent));
    assert.match(moments[0], /^Cancelled by Ada Lovelace at .*, because “Too late\.”$/);
    assert.match(moments[1], /^Resumed by Ada Lovelace at /);
    assert.deepEqual(await page.$$eval("#timeline .moments li", (all) => all.map((it) => it.textContent)), ["◌ cancelled", "▸ resumed"]);
    // The answer has its value.
    await says(page, "#decisions li", "room: a value was sent by Ada Lovelace");
    await says(page, "#decisions li code", '"B2"');
    await looks(page, `resumed-${shape}`);
    await close(page);
  }));
}

await test("a page that loads, and a disabled button", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await page.waitForSelector("#start[aria-disabled=true]");
  // A disabled button is legible under the mouse.
  await page.hover("#start");
  assert.deepEqual(await contrast(page), []);
  await start(page, [{ id: "inbox", tool: "list_mails", arguments: { sender: "sarah" } }]);
  await says(page, "#run-facts", "done");
  // The page of a run promises nothing before it is loaded.
  await page.setRequestInterception(true);
  let late = null;
  page.on("request", (request) => (/\/events$/.test(request.url()) ? (late = () => request.continue()) : request.continue()));
  await page.evaluate(() => sessionStorage.removeItem("plans"));
  await page.reload();
  await says(page, "#live", "Loading…");
  assert.equal(await text(page, "#result"), "Loading…");
  assert.doesNotMatch(await text(page, "#run-view"), /No graph|no output/);
  while (!late) await new Promise((resolve) => setTimeout(resolve, 20));
  late();
  await says(page, "#run-facts", "done");
  // A row names the tool and the state of its step.
  assert.equal(await page.$eval("#timeline .row .name button", (it) => it.getAttribute("aria-label")), "inbox, list_mails, completed");
  assert.ok(await page.$eval(".brand", (it) => it.getBoundingClientRect().height >= 24));
  await close(page);
}));

await test("all steps of a large picture, and many elements", () => stubbed({ pace: 1 }, async (stub) => {
  const page = await open(stub.url);
  const steps = Array.from({ length: 90 }, (_, at) => ({ id: `s${at}`, tool: "list_mails", arguments: { sender: at > 2 ? `{{s${at - 3}.result.id}}` : "sarah" } }));
  await start(page, steps);
  await says(page, "#run-facts", "done");
  await press(page, "Show all steps", "#live");
  const inView = () => page.$$eval("#live .node", (all) => {
    const frame = document.querySelector("#live .scroll").getBoundingClientRect();
    return all.filter((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return right > frame.left && left < frame.right && bottom > frame.top && top < frame.bottom;
    }).map((it) => it.dataset.path);
  });
  assert.ok((await inView()).includes("s0"), `${await inView()}`);
  // A chosen step is in view as well.
  await press(page, "Show groups", "#live");
  await press(page, "s80", "#timeline");
  await press(page, "Show all steps", "#live");
  assert.ok((await inView()).includes("s80"), `${await inView()}`);
  // All elements of a list can be listed, and a list that ends early has the number of its elements.
  await page.click("#to-editor");
  await page.click('[name=approve][value="none"]');
  await start(page, [{ id: "all", tool: "list_all", for: 400, arguments: {} }]);
  await says(page, "#run-facts", "done");
  await press(page, "Show 400 elements", "#timeline");
  await wait(page, () => document.querySelectorAll("#timeline .row.inner").length === 300);
  await press(page, "Show 100 more", "#timeline");
  await wait(page, () => document.querySelectorAll("#timeline .row.inner").length === 400);
  await close(page);
}));

for (const [shape, options] of SHAPES) {
  await test(`a value from the inbox, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    for (const step of ["room", "price"]) await begin(stub, [{ id: step, intent: `Get the ${step}.`, await: "String" }]);
    await page.click("#to-inbox");
    await wait(page, () => document.querySelectorAll("#inbox-waits .wait").length === 2);
    await says(page, "#inbox-waits .intent", "Get the room.");
    await looks(page, `inbox-values-${shape}`);
    const room = await page.evaluateHandle(() => [...document.querySelectorAll("#inbox-waits .wait")].find((it) => it.textContent.includes("room")));
    // A value is required. An empty text is a value in JSON.
    const send = async () => (await room.$("button[type=submit]")).click();
    await send();
    await says(page, "#inbox-waits .wait .wrong", "Enter a value.");
    assert.equal(await page.evaluate(() => document.activeElement.matches("#inbox-waits textarea[aria-invalid=true]")), true);
    await looks(page, `no-value-${shape}`);
    await (await room.$("textarea")).type("B2");
    await send();
    await wait(page, () => document.querySelectorAll("#inbox-waits .wait").length === 1);
    assert.deepEqual([...stub.runs.values()].map(({ state }) => state), ["done", "waiting"]);
    await page.select("#inbox-waits .wait select", "json");
    await page.type("#inbox-waits textarea", '""');
    await page.click("#inbox-waits button[type=submit]");
    await wait(page, () => !document.querySelector("#inbox-waits .wait"));
    assert.deepEqual([...stub.runs.values()].map(({ decisions: [{ value }] }) => value), ["B2", ""]);
    await close(page);
  }));

  await test(`a retry of all failed runs, ${shape}`, () => stubbed({ pace: 5 }, async (stub) => {
    const page = await open(stub.url, { ...options, at: "#/runs" });
    for (let run = 0; run < 4; run += 1) await begin(stub, [{ id: "each", tool: "list_all", for: 3, fails: [1], arguments: {} }], "none");
    while ([...stub.runs.values()].some(({ ended }) => !ended)) await new Promise((resolve) => setTimeout(resolve, 20));
    await page.evaluate(() => (location.hash = "#/runs?state=failed"));
    await page.click("#choose-all");
    await press(page, "Retry 4…");
    await says(page, "#all-title", "Retry 4 runs?");
    await looks(page, `retry-all-${shape}`);
    await page.type("#all-why", "The line works again.");
    await press(page, "Retry the runs", "#all-dialog");
    await says(page, "#runs", "No run matches these filters.");
    for (const { decisions } of stub.runs.values()) assert.deepEqual(decisions.map(({ decision, by, reason }) => [decision, by, reason]), [["retry", "Ada Lovelace", "The line works again."]]);
    await close(page);
  }));

  await test(`the timeline after a retry, ${shape}`, () => stubbed({}, async (stub) => {
    const began = Date.parse("2026-01-01T00:00:00Z");
    const minute = 60_000;
    const steps = [["paid", 0, 400], ["sent", 6 * minute, 6 * minute + 800]].map(([path, from, to]) => ({ step: { path, tool: `${path}_tool`, read_only: false, needs: [], after: [], affects: [], affects_count: 0, undoes: null, undone_by: null }, event: { path, status: "completed", attempt: 1, started_ms: began + from, ended_ms: began + to, error: null } }));
    const at = (ms) => new Date(began + ms).toISOString();
    const remains = Array.from({ length: 60 }, (_, nth) => ({ path: `work[${nth}]`, tool: "slow", why: "the step has no undo step" }));
    stub.runs.set("r0001", { id: "r0001", plan: "trip", state: "failed", began: at(0), ended: at(6 * minute + 800), inputs: {}, output: null, error: null, questions: [], waits: [], undone: [], not_undone: remains, approve: "each", svg: null, watchers: new Set(), values: new Map(), given: new Map(), allowed: new Map(),
      earlier: [{ at: at(6 * minute), attempts: [{ path: "sent", attempt: 1, started_ms: 2 * minute, ended_ms: 2 * minute + 200, error: "is busy" }], waited_ms: 0 }],
      decisions: [{ question: null, path: "", tool: null, decision: "retry", changed: false, by: "Bob", reason: null, at: at(6 * minute) }, ...Array.from({ length: 5 }, (_, nth) => ({ question: `${nth}`, path: `work[${nth}]`, tool: "slow", decision: "allow", changed: false, by: "Bob", reason: null, at: at(10) }))],
      steps: steps.map(({ step }) => step), events: steps.map(({ event }) => event) });
    const page = await open(stub.url, options);
    // The address opens the run at a step.
    await page.evaluate(() => (location.hash = "#/runs/r0001?step=sent"));
    await says(page, "#step-title", "sent");
    // The axis leaves the minutes without a step out, so the bars are legible. An attempt before the retry ran in these minutes.
    await says(page, "#timeline .idle", "The axis leaves out 5 min 59 s without an attempt of this timeline.");
    const widths = await page.$$eval("#timeline .row i", (all) => all.map((it) => parseFloat(it.style.width)));
    assert.ok(widths.length === 3 && widths[0] > 25 && widths[2] > 50, `${widths}`);
    // The attempt before the retry has a pale bar.
    assert.deepEqual(await page.$$eval("#timeline .row i", (all) => all.map((it) => it.className)), ["", "before bad", ""]);
    await says(page, "#timeline .moments", "retried");
    // Many equal lines are one line that opens.
    assert.equal(await page.$eval("#remains summary", (it) => it.textContent), "60 calls of work with slow: the step has no undo step");
    assert.match(await page.$eval("#decisions summary", (it) => it.textContent), /^5 calls of work: allowed by Bob/);
    await looks(page, `after-retry-${shape}`);
    await press(page, "paid", "#timeline");
    await wait(page, () => location.hash === "#/runs/r0001?step=paid");
    await close(page);
  }));
}

await test("a question in the list of runs names an argument", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "sent", tool: "send_mail", arguments: { to: "ada", text: "Hello." } }]);
  await says(page, "#questions h3", "May send_mail run in the step sent?");
  await page.click("#to-runs");
  await says(page, "#asks li", "May send_mail run in the step sent, with to ada?");
  assert.match(await page.$eval("#asks li .hint", (it) => it.textContent), /^Run of .* · asked \d+ s ago$/);
  assert.deepEqual(await axe(page), []);
  await close(page);
}));

await test("an answer for all elements, and short fields", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "sent", tool: "send_mail", for: 4, arguments: { to: "ada", text: "Hello." } }, { id: "told", tool: "send_mail", after: ["sent"], arguments: { to: "ada", text: `${"Hello. ".repeat(20)}\nBye.` } }]);
  await says(page, "#questions h3", "4 calls of send_mail wait in the step sent");
  // The page of runs has one line for the calls of a step.
  await page.click("#to-runs");
  await says(page, "#asks li", "4 calls of send_mail wait in the step sent");
  assert.equal(await page.$$eval("#asks li", (all) => all.length), 1);
  await page.click("#asks a");
  await says(page, "#questions .hint", "“Allow for all elements” also allows the calls that nobody has seen yet.");
  await press(page, "Allow for all elements", "#questions .together");
  await says(page, "#questions h3", "May send_mail run in the step told?");
  assert.deepEqual(stub.runs.get("r0001").decisions.map(({ decision }) => decision), ["allow_step"]);
  // The field of a short text has one line.
  await press(page, "Edit…", "#questions");
  await wait(page, () => document.querySelectorAll("#questions form:not([hidden]) textarea").length === 2);
  const heights = await page.$$eval("#questions form:not([hidden]) textarea", (all) => all.map((it) => it.getBoundingClientRect().height));
  assert.ok(heights[0] < 45 && heights[1] > 60, `${heights}`);
  await looks(page, "short-fields");
  await close(page);
}));

await test("a retry by another person, and Escape in a question", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "sent", tool: "send_mail", arguments: { to: "ada", text: "Hello." } }]);
  // Escape leaves a form, and keeps the typed text.
  await (await button(page, "Allow", "#questions")).focus();
  await page.keyboard.press("e");
  await page.waitForSelector("#questions form:not([hidden]) textarea", { visible: true });
  await wait(page, () => document.activeElement.localName === "textarea");
  await page.keyboard.type("bob and ");
  const typed = await page.evaluate(() => document.activeElement.value);
  await page.keyboard.press("Escape");
  assert.equal(await active(page), "button Edit…");
  assert.equal(await page.$eval("#questions .given", (it) => it.hidden), false);
  await page.keyboard.press("e");
  await wait(page, (typed) => document.activeElement.value === typed, typed);
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  await page.keyboard.type("not now");
  await page.keyboard.press("Escape");
  assert.equal(await active(page), "button Refuse…");
  await page.keyboard.press("r");
  assert.equal(await page.evaluate(() => document.activeElement.value), "not now");
  await page.keyboard.press("Enter");
  await says(page, "#run-facts", "failed");
  await button(page, "Retry from the failure…");
  // The page of the ended run follows a retry by another client.
  await fetch(`${stub.origin}/api/runs/r0001/retry`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: '{"by": "Bob"}' });
  await says(page, "#run-moments", "Retried by Bob");
  await says(page, "#questions h3", "May send_mail run in the step sent?");
  await close(page);
}));

await test("the tabs of a browser", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const other = await page.browserContext().newPage();
  await other.goto(`${stub.origin}/#/plan`);
  await other.waitForSelector("#editor-view:not([hidden])");
  await press(other, "Sign out");
  await page.waitForSelector("#sign-in:not([hidden])");
  await page.reload();
  await page.waitForSelector("#sign-in:not([hidden])");
  await other.type("#token", stub.token);
  await press(other, "Sign in");
  await page.waitForSelector("#sign-in", { hidden: true });
  await close(page);
}));

// A browser allows six connections to a server.
await test("many tabs of runs", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "sent", tool: "send_mail", arguments: { to: "ada", text: "Hello." } }]);
  await button(page, "Allow", "#questions");
  const streams = () => [...stub.runs.values()].reduce((sum, run) => sum + run.watchers.size, 0);
  const tabs = [page];
  for (let count = 1; count < 8; count += 1) {
    const tab = await page.browserContext().newPage();
    tab.setDefaultTimeout(5000);
    await tab.goto(`${stub.origin}/#/runs/r0001`);
    await button(tab, "Allow", "#questions");
    tabs.push(tab);
  }
  assert.equal(streams(), 1);
  assert.equal(await tabs[2].title(), "mail – waiting – plan!");
  await press(tabs[7], "Allow", "#questions");
  await says(tabs[7], "#run-facts", "done");
  // A tab has the state of now when somebody shows the tab again.
  for (const tab of [tabs[2], tabs[6], page]) {
    await tab.bringToFront();
    await says(tab, "#run-facts", "done");
    assert.equal(await tab.title(), "mail – done – plan!");
    assert.equal(await tab.$eval("#lost", (it) => it.hidden), true);
  }
  // A tab that somebody hides and shows again follows the run.
  await fetch(`${stub.origin}/api/runs/r0001/again`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: "{}" });
  await page.goto(`${stub.origin}/#/runs/r0002`);
  await button(page, "Allow", "#questions");
  await tabs[1].bringToFront();
  await page.bringToFront();
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await close(page);
}));

// The rest of a sentence has the letters of keys, and spaces.
await test("somebody else answers the question in which a person types", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await start(page, [{ id: "one", tool: "send_mail", for: 3, arguments: { to: "ada", text: "Hello." } }]);
  const run = stub.runs.get("r0001");
  await press(page, "Answer one by one", "#questions");
  for (const [path, word, left] of [["one[0]", "Edit…", 2], ["one[1]", "Refuse…", 1]]) {
    await says(page, "#questions .question .question h4", `in the step ${path}`);
    await press(page, word, "#questions .question .question");
    await wait(page, () => document.activeElement.matches("input, textarea"));
    await page.keyboard.type("To");
    run.questions.find((one) => one.path === path).settle({ decision: "allow", by: "Bob" });
    await says(page, ".gone", "is no longer open");
    await page.keyboard.type("wn, just the east room, a ");
    assert.deepEqual([run.questions.length, run.decisions.length], [left, 0]);
    assert.ok(!(await page.$("#questions .question form:not([hidden]) textarea")), "no form has opened");
    assert.match(await text(page, ".gone"), /You had typed: .*To/);
    // The note is a block of its own above the next question.
    assert.ok(await page.$eval(".gone", (it) => !it.closest(".bar-of") && it.getBoundingClientRect().width > innerWidth * 0.9 && it.nextElementSibling === document.getElementById("asked")
      && it.getBoundingClientRect().bottom <= document.getElementById("asked").getBoundingClientRect().top));
    if (word !== "Edit…") continue;
    // The changed arguments can be copied as a whole.
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => (self.copied = text) } }));
    await press(page, "Copy", ".gone");
    await wait(page, () => self.copied && JSON.parse(self.copied).text === "Hello." && /To/.test(self.copied));
    await page.focus("#questions .question .question h4");
  }
  await close(page);
}));

// After a restart, the server asks again with another id.
await test("the focus after a restart", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url, { allowed: gone });
  await start(page, [{ id: "sent", tool: "send_mail", arguments: { to: "ada", text: "Hello." } }]);
  const run = stub.runs.get("r0001");
  for (const [name, word] of [["the reason", "Refuse…"], ["the arguments", "Edit…"]]) {
    await press(page, word, "#questions");
    if (word === "Edit…") await page.waitForSelector("#questions form:not([hidden]) textarea", { visible: true });
    await page.keyboard.type("not now");
    await page.keyboard.press("ArrowLeft");
    const before = await page.evaluate(() => [document.activeElement.localName, document.activeElement.value, document.activeElement.selectionStart]);
    const [{ id, ...question }] = run.questions.splice(0);
    stub.drop();
    await wait(page, () => !document.querySelector("#questions > *"));
    run.questions.push({ ...question, id: `${id}-2` });
    for (const response of run.watchers) response.write(`event: question\ndata: ${JSON.stringify({ ...question, id: `${id}-2` })}\n\n`);
    await button(page, word === "Edit…" ? "Allow with these arguments" : "Refuse the call", "#questions");
    assert.deepEqual(await page.evaluate(() => [document.activeElement.localName, document.activeElement.value, document.activeElement.selectionStart]), before, name);
    await page.keyboard.press("Escape");
  }
  await close(page);
}));
