// Many runs, many calls and many questions: order, counts, selections, pages and keys.

import assert from "node:assert/strict";
import { SHAPES, axe, begin, close, downloads, looks, open, press, says, show, stubbed, test, text, wait } from "./harness.mjs";

const HOUR = 3_600_000;
const run = (id, more) => ({ id, plan: "mail", state: "done", began: new Date(Date.now() - HOUR).toISOString(), ended: new Date(Date.now() - HOUR + 5000).toISOString(), inputs: {}, error: null, questions: [], waits: [], undone: [], decisions: [], earlier: [], events: [], steps: [], svg: null,
  approve: "each", values: new Map(), given: new Map(), allowed: new Map(), watchers: new Set(), ...more });
const step = (path, more) => ({ path, tool: "send_mail", intent: "", description: "", read_only: false, needs: [], after: [], affects: [], affects_count: 0, undoes: null, undone_by: null, ...more });

// A response from before an event does not replace the event.
await test("a late response", () => stubbed({ pace: 500, late: 1500 }, async (stub) => {
  const page = await open(stub.url, { at: "#/runs" });
  await begin(stub, [{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }, { id: "room", await: "String", after: ["sent"] }]);
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await press(page, "Allow", "#questions");
  await says(page, "#waits h3", "room");
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.match(await text(page, "#waits"), /room/);
  await close(page);
}));

for (const [shape, options] of SHAPES) {
  await test(`runs in order and by state, ${shape}`, () => stubbed({}, async (stub) => {
    for (let at = 0; at < 230; at += 1) {
      const began = Date.now() - (230 - at) * 60_000;
      stub.runs.set(`r${1000 + at}`, run(`r${1000 + at}`, { plan: `plan ${String.fromCharCode(97 + (at % 26))}`, state: at % 10 ? "done" : "failed", began: new Date(began).toISOString(), ended: new Date(began + 1000 * (at % 50)).toISOString() }));
    }
    const page = await open(stub.url, { ...options, at: "#/runs" });
    await says(page, "#runs-count", "1–100 of 230 runs");
    assert.deepEqual(await page.$$eval("#states a", (all) => all.map((it) => it.textContent.replace(/^\W/, "").trim())), ["All 230", "Running 0", "Waiting 0", "Done 207", "Failed 23", "Cancelled 0"]);
    assert.match(await text(page, '#runs [data-label="Began"]'), /^1 min ago$/);
    assert.match(await page.$eval('#runs [data-label="Began"] time', (it) => it.title), /20\d\d/);
    assert.equal(await page.$eval("th:has(#sort-began)", (it) => it.getAttribute("aria-sort")), "descending");
    // A header sorts, and a second press reverses the order. The header keeps the focus.
    await page.click("#sort-plan");
    await wait(page, () => document.querySelector("#runs tbody a").textContent === "plan a");
    assert.match(page.url(), /#\/runs\?sort=plan$/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "sort-plan");
    await page.keyboard.press("Enter");
    await wait(page, () => document.querySelector("#runs tbody a").textContent === "plan z");
    assert.equal(await page.$eval("th:has(#sort-plan)", (it) => it.getAttribute("aria-sort")), "descending");
    assert.equal(await page.$$eval("[aria-sort]", (all) => all.length), 1);
    await page.click("#sort-took");
    await wait(page, () => document.querySelector('#runs [data-label="Took"]').textContent === "49.00 s");
    // The order and the page are in the address.
    await page.click("#next");
    await says(page, "#runs-count", "101–200 of 230 runs");
    const address = page.url();
    assert.match(address, /sort=-took&before=100&page=2$/);
    await page.goto("about:blank");
    await page.goto(address);
    await says(page, "#runs-count", "101–200 of 230 runs");
    await page.click("#previous");
    await says(page, "#runs-count", "1–100 of 230 runs");
    // The states keep the order.
    await page.click("#states a[href*=failed]");
    await says(page, "#runs-count", "23 runs");
    assert.match(page.url(), /state=failed&sort=-took$/);
    await looks(page, `order-${shape}`);
    await close(page);
  }));

  await test(`two selected runs, ${shape}`, () => stubbed({}, async (stub) => {
    for (const id of ["r0001", "r0002", "r0003"]) stub.runs.set(id, run(id));
    const page = await open(stub.url, { ...options, at: "#/runs" });
    await page.waitForSelector("#choose-r0003");
    await page.click("#choose-r0003");
    assert.equal(await page.$eval("#compare-chosen", (it) => it.hidden), true);
    await page.click("#choose-r0001");
    await page.waitForSelector("#compare-chosen", { visible: true });
    await looks(page, `two-chosen-${shape}`);
    await page.click("#compare-chosen");
    await wait(page, () => location.hash === "#/compare/r0003/r0001");
    await says(page, "#compare-runs", "r0003");
    // A long list of runs to compare with has a search.
    for (let at = 0; at < 12; at += 1) stub.runs.set(`other${at}`, run(`other${at}`, { state: at ? "done" : "failed" }));
    await page.evaluate(() => (location.hash = "#/compare/r0001"));
    await (await page.waitForSelector("#compare-search")).type("FAILED");
    assert.deepEqual(await page.$$eval("#compare-runs tbody tr:not([hidden]) a", (all) => all.map((it) => it.textContent)), ["Compare with other0"]);
    await looks(page, `compare-search-${shape}`);
    await close(page);
  }));

  await test(`several runs at once, ${shape}`, () => stubbed({ pace: 5 }, async (stub) => {
    for (let at = 0; at < 3; at += 1) await begin(stub, [{ id: "each", tool: "list_all", for: 3, fails: [1], arguments: {} }], "none");
    while ([...stub.runs.values()].some(({ ended }) => !ended)) await new Promise((resolve) => setTimeout(resolve, 20));
    for (let at = 0; at < 2; at += 1) await begin(stub, [{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }]);
    const page = await open(stub.url, { ...options, at: "#/runs", allowed: /409/ });
    await says(page, "#runs", "for an answer");
    assert.equal(await page.$eval("#cancel-chosen", (it) => it.hidden), true);
    await page.click("#choose-all");
    await says(page, "#cancel-chosen", "Cancel 2…");
    await says(page, "#retry-chosen", "Retry 3…");
    await page.click("#choose-r0005");
    await says(page, "#cancel-chosen", "Cancel 1…");
    assert.equal(await page.$eval("#choose-all", (it) => it.indeterminate), true);
    await looks(page, `chosen-${shape}`);
    await press(page, "Cancel 1…");
    await says(page, "#all-title", "Cancel 1 run?");
    await looks(page, `cancel-all-${shape}`);
    await page.type("#all-why", "Another.");
    // A reason of a closed dialog is not the reason of another decision.
    await press(page, "Close", "#all-dialog");
    await press(page, "Cancel 1…");
    assert.equal(await page.$eval("#all-why", (it) => it.value), "");
    await page.type("#all-why", "A mistake.");
    await press(page, "Cancel the run", "#all-dialog");
    await wait(page, () => document.querySelectorAll("#runs .state.cancelled").length === 1);
    assert.deepEqual(stub.runs.get("r0004").decisions.map(({ decision, by, reason }) => [decision, by, reason]), [["cancel", "Ada Lovelace", "A mistake."]]);
    assert.equal(stub.runs.get("r0005").state, "waiting");
    // A run that has continued meanwhile is named with its reason, and the others continue.
    assert.equal(await page.$$eval("#runs :checked", (all) => all.length), 0);
    for (const at of [1, 2, 3]) await page.click(`#choose-r000${at}`);
    await press(page, "Retry 3…");
    stub.runs.get("r0001").state = "running";
    await press(page, "Retry the runs", "#all-dialog");
    await says(page, "#all-failed", "r0001: The run has not failed");
    await says(page, "#all-progress", "3 of 3, 1 failed");
    assert.equal(await page.$eval("#all-yes", (it) => it.hidden), true);
    await looks(page, `retry-some-${shape}`);
    await press(page, "Close", "#all-dialog");
    assert.equal(stub.runs.get("r0002").decisions.length, 1);
    await close(page);
  }));

  await test(`all calls of a long list, ${shape}`, () => stubbed({}, async (stub) => {
    const began = Date.now() - HOUR;
    const events = Array.from({ length: 500 }, (_, at) => ({ path: `sent[${at}]`, status: [7, 211].includes(at) ? "failed" : "completed", attempt: 1, started_ms: began + at, ended_ms: began + at + 1, error: [7, 211].includes(at) ? `the line was busy\u202e ${at}` : null }));
    const all = run("r0001", { began: new Date(began).toISOString(), steps: [step("sent")], events: [...events, { path: "sent", status: "completed", elements: 500, attempt: null, started_ms: began, ended_ms: began + 600, error: null }] });
    all.elements = events.map(({ error }, at) => ({ element: [at], number: 1, tool: "send_mail", started_ms: at, duration_ms: 1, arguments: { to: `person${at}@example.org` }, ...(error ? { error } : {}) }));
    all.values.set("sent", events.map((_, at) => `receipt-${at}`));
    stub.runs.set("r0001", all);
    const page = await open(stub.url, options);
    await page.evaluate(() => (location.hash = "#/runs/r0001?step=sent"));
    await says(page, "#step-details .count", "1–50 of 500 calls");
    await says(page, "#step-details dl", "500 of 500, 2 failed");
    const calls = () => page.$$eval("#step-details .attempts > li strong", (all) => all.map((it) => it.textContent));
    assert.deepEqual((await calls()).slice(0, 3), ["[7], attempt 1", "[211], attempt 1", "[0], attempt 1"]);
    await press(page, "Next calls");
    await says(page, "#step-details .count", "51–100 of 500 calls");
    assert.equal((await calls())[0], "[49], attempt 1");
    // A search finds errors, arguments and outputs.
    for (const [words, found] of [["busy", "2 of 500 calls"], ["person444@", "1 of 500 calls"], ["receipt-499", "1 of 500 calls"]]) {
      await page.$eval("#calls-search", (it) => (it.value = ""));
      await page.type("#calls-search", words);
      await says(page, "#step-details .count", found);
    }
    assert.deepEqual(await calls(), ["[499], attempt 1"]);
    await looks(page, `calls-${shape}`);
    // A few calls have no search, so the words of a search are gone.
    const shown = await page.evaluate(async () => {
      const { Calls } = await import("/page/calls.js");
      const calls = new Calls();
      const put = (count) => calls.put(Array.from({ length: count }, (_, at) => ({ output: `p${at}` })), () => document.createElement("li"));
      put(60);
      calls.search.value = "p59";
      put(20);
      return calls.list.childElementCount;
    });
    assert.equal(shown, 20);
    await close(page);
  }));

  await test(`what a run waits for, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, { ...options, at: "#/runs" });
    await begin(stub, [{ id: "sent", intent: "Tell Ada.", tool: "send_mail", arguments: { to: "ada", text: "x" } }, { id: "room", await: "String", after: ["sent"] }, { id: "all", tool: "list_all", for: 30, fails: [3], after: ["room"], arguments: {} }]);
    await page.evaluate(() => (location.hash = "#/runs/r0001"));
    await says(page, "#run-next", "Next, you: answer 1 question. The run fails in 23 h 59 min if it has not ended.");
    assert.equal(await page.$$eval("#run-view > .card:first-child .primary", (all) => all.filter((it) => !it.hidden).length), 1);
    await press(page, "Answer…");
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^May send_mail run in the step sent/);
    await says(page, "#questions .question", "The run fails in 23 h 59 min if it has not ended.");
    await looks(page, `next-${shape}`);
    if (shape === "narrow") assert.ok(await page.$eval("#timeline .row", (row) => row.querySelector(".name").clientWidth > row.clientWidth - 12));
    await press(page, "Allow", "#questions");
    await says(page, "#run-next", "Next, you: send 1 value.");
    await page.type("#waits textarea", "B2");
    await press(page, "Send the value");
    await says(page, "#run-facts", "failed");
    await says(page, "#run-next", "Next, you: correct the cause of the error, and retry the run.");
    // The failures before a retry stay on the page.
    await press(page, "Retry from the failure…");
    await press(page, "Retry the run", "#retry-dialog");
    await says(page, "#earlier", "the line was busy");
    await press(page, "Allow", "#questions");
    await says(page, "#run-facts", "done");
    assert.equal(await page.$eval("#report", (it) => it.classList.contains("primary")), true);
    await looks(page, `earlier-${shape}`);
    await close(page);
  }));

  await test(`a run that cannot start, and the progress of a list, ${shape}`, () => stubbed({}, async (stub) => {
    stub.runs.set("r0001", run("r0001", { state: "waiting", ended: null, refusal: "the tool `gone` is missing\u202e", waits_for: "server" }));
    stub.runs.set("r0002", run("r0002", { state: "running", ended: null, lists: [{ path: "asked", elements: 500, ended: 500, failed: 0 }, { path: "sent", elements: 500, ended: 168, failed: 2 }] }));
    stub.runs.set("r0003", run("r0003", { state: "waiting", ended: null, waits_for: "time" }));
    const page = await open(stub.url, { ...options, at: "#/runs" });
    await says(page, "#runs", "168 of 500, 2 failed");
    await says(page, "#runs", "for the server");
    await looks(page, `progress-${shape}`);
    await page.evaluate(() => (location.hash = "#/runs/r0001"));
    await says(page, "#run-next", "The latest attempt failed: the tool gone is missing\\u{202e}");
    await page.evaluate(() => (location.hash = "#/runs/r0003"));
    await says(page, "#run-next", "Next, the server: continues the run at a time of the plan.");
    await close(page);
  }));

  await test(`questions by key, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    for (let at = 0; at < 3; at += 1) await begin(stub, [{ id: `sent${at}`, intent: "Tell Ada.", tool: "send_mail", arguments: { to: "ada", text: "x" } }]);
    await page.click("#to-inbox");
    await wait(page, () => document.querySelectorAll("#inbox .question").length === 3);
    const heading = () => page.evaluate(() => document.activeElement.closest(".question")?.querySelector("h2").textContent);
    await page.focus("#inbox-title");
    await page.keyboard.press("j");
    assert.match(await heading(), /sent0/);
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    assert.match(await heading(), /sent0/);
    // The key goes to the button, and decides nothing.
    await page.keyboard.press("a");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Allow");
    assert.equal(stub.runs.get("r0001").decisions.length, 0);
    await page.keyboard.press("Enter");
    await wait(page, () => document.activeElement.matches("h2") && document.activeElement.textContent.includes("sent1"));
    await page.keyboard.press("r");
    await page.keyboard.type("a jar");
    await looks(page, `keys-${shape}`);
    await page.keyboard.press("Enter");
    await wait(page, () => document.activeElement.matches("h2") && document.activeElement.textContent.includes("sent2"));
    assert.deepEqual(stub.runs.get("r0002").decisions.map(({ decision, reason }) => [decision, reason]), [["refuse", "a jar"]]);
    await page.keyboard.press("e");
    await wait(page, () => document.activeElement.matches("textarea, input"));
    // From the heading of a question, the third press of Tab is at the first answer.
    await press(page, "Back", "#inbox");
    await page.$eval("#inbox h2", (it) => it.focus());
    for (let at = 0; at < 3; at += 1) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Allow");
    // A refused call has its reason and its arguments in the card of its step.
    await page.evaluate(() => (location.hash = "#/runs/r0002"));
    await says(page, "#step-details .answered", "because “a jar”");
    await says(page, "#step-details .answered", "Arguments of the refused call");
    await looks(page, `refused-${shape}`);
    await close(page);
  }));
}

await test("the number of elements in the graph", () => stubbed({}, async (stub) => {
  const began = Date.now() - HOUR;
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 60"><g class="node acts is-for" data-path="sent" aria-label="sent: for each: send_mail"><rect class="box" x="9" y="9" width="180" height="44"/><text class="id">sent</text><text class="what" y="30">for each: send_mail</text></g></svg>';
  stub.runs.set("r0001", run("r0001", { svg, steps: [step("sent")], events: [{ path: "sent", status: "completed", elements: 300, attempt: null, started_ms: began, ended_ms: began + 600, error: null }] }));
  const page = await open(stub.url, { at: "#/runs/r0001" });
  await says(page, "#live .node .what", "for ×300: send_mail");
  assert.equal(await page.$eval("#live .node", (it) => it.getAttribute("aria-label")), "sent: for ×300: send_mail: completed");
  // The shadows of the graph and of its legend are in the file.
  const saved = downloads(page);
  await press(page, "Save as SVG", "#live");
  assert.equal((await saved.file("graph-mail-r0001.svg")).match(/class="shadow dark-\d+"/g)?.length, 2);
  saved.remove();
  assert.deepEqual(await axe(page), []);
  await close(page);
}));

await test("a search that ends early", () => stubbed({}, async (stub) => {
  for (let at = 0; at < 130; at += 1) stub.runs.set(`r${1000 + at}`, run(`r${1000 + at}`, { state: "failed", text: "[]", acted: [], changed: new Map() }));
  const page = await open(stub.url, { at: "#/runs?state=failed" });
  // All runs that the filters find continue, and not the runs of one page.
  await press(page, "Retry all 130…");
  await says(page, "#all-title", "Retry 130 runs?");
  await press(page, "Retry the runs", "#all-dialog");
  await wait(page, () => !document.querySelector("#all-dialog").open);
  for (const { decisions } of stub.runs.values()) assert.deepEqual(decisions.map(({ decision }) => decision), ["retry"]);
  // The numbers of a part of the runs are not exact.
  await page.setRequestInterception(true);
  page.on("request", (request) => (/\/api\/runs\?/.test(request.url()) ? request.respond({ status: 200, contentType: "application/json",
    body: JSON.stringify({ runs: [], next: "0:r1000", count: { least: 0, is_exact: false, states: { done: 3 } } }) }) : request.continue()));
  await page.evaluate(() => (location.hash = "#/runs?state=cancelled&sort=plan"));
  await says(page, "#states", "Done 3+");
  await says(page, "#runs", "Choose “Next page” to search earlier runs.");
  await close(page);
}));

await test("calls in blocks of a list, in one line", () => stubbed({}, async (stub) => {
  const questions = [0, 1].map((at) => ({ id: `q${at}`, path: `trip[${at}].sent`, tool: "send_mail", arguments: {}, text: "{}", asked: new Date().toISOString() }));
  stub.runs.set("r0001", run("r0001", { state: "waiting", ended: null, questions }));
  const page = await open(stub.url, { at: "#/runs" });
  await says(page, "#asks li", "2 calls of send_mail wait in the step trip.sent");
  await close(page);
}));

await test("back and forward between runs", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url, { at: "#/runs" });
  for (const id of ["one", "two"]) await begin(stub, [{ id, tool: "send_mail", arguments: { to: "ada" } }]);
  for (const run of ["r0001", "r0002"]) await page.evaluate((run) => (location.hash = `#/runs/${run}`), run);
  await says(page, "#questions h3", "in the step two");
  for (const [move, step] of [["goBack", "one"], ["goForward", "two"]]) {
    await page.$eval("#questions button", (it) => it.focus());
    await page[move]();
    await says(page, "#questions h3", `in the step ${step}`);
    assert.equal(await page.evaluate(() => document.activeElement.id), "run-title");
    // The keys work without a focus as well, but not in a dialog.
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("j");
    assert.match(await page.evaluate(() => document.activeElement.textContent), new RegExp(`in the step ${step}`));
    await press(page, "Cancel the run…");
    await page.focus("#cancel-no");
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.id), "cancel-no");
    await page.keyboard.press("Escape");
  }
  await close(page);
}));

await test("a screen reader hears the failures once", () => stubbed({ pace: 1 }, async (stub) => {
  const page = await open(stub.url, { at: "#/runs" });
  await page.evaluate(() => {
    const spoken = document.getElementById("spoken");
    self.heard = [];
    new MutationObserver(() => spoken.textContent && self.heard.push(spoken.textContent)).observe(spoken, { childList: true, characterData: true, subtree: true });
  });
  const hears = (words) => wait(page, (words) => self.heard.some((heard) => heard.includes(words)), words);
  await begin(stub, [{ id: "inbox", tool: "list_mails", arguments: {} }, { id: "sent", tool: "list_all", for: 300, fails: [3, 5, 8, 13, 21, 34, 55, 89], after: ["inbox"], arguments: {} }], "none");
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await says(page, "#run-facts", "failed");
  await hears("The run has failed. sent: 8 of 300 elements failed.");
  assert.doesNotMatch(await page.evaluate(() => self.heard.join(" | ")), /sent(\[|: failed)/);
  // The words of a page end with the page.
  await page.evaluate(() => (location.hash = "#/runs"));
  await wait(page, () => !document.getElementById("spoken").textContent);
  await page.evaluate(() => (self.heard = []));
  const began = Date.now() - HOUR;
  const event = (path, status) => ({ path, status, attempt: 1, started_ms: began, ended_ms: began + 1, error: null });
  stub.runs.set("r0002", run("r0002", { state: "failed", steps: [step("mailed"), step("booked")], events: [event("mailed", "failed"), event("booked", "completed")], error: { path: "mailed", message: "is full" } }));
  await page.evaluate(() => (location.hash = "#/runs/r0002"));
  await hears("The run has failed.");
  assert.equal(await page.evaluate(() => self.heard.at(-1).split("mailed: failed.").length), 2);
  await press(page, "Sign out");
  await wait(page, () => !document.getElementById("spoken").textContent);
  await close(page);
}));

// After a refusal, the questions of the other elements are gone, and their elements remain.
for (const [refused, rest] of [[2, [0, 1]], [0, [2]]]) await test(`the elements without an answer, ${refused}`, () => stubbed({}, async (stub) => {
  const began = Date.now() - HOUR;
  const decided = [0, 1, 2].filter((at) => !rest.includes(at)).map((at) => ({ question: `q${at}`, path: `sent[${at}]`, tool: "send_mail", decision: at === refused ? "refuse" : "allow", reason: "no", at: new Date(began + 5).toISOString() }));
  stub.runs.set("r0001", run("r0001", { state: "failed", steps: [step("sent")], decisions: decided, asked: [0, 1, 2].map((at) => ({ element: [at], reason: "answer", started_ms: 0, duration_ms: 5 })), error: { path: `sent[${refused}]`, message: "was refused: no" },
    events: [...decided.filter(({ decision }) => decision === "allow").map(({ path }) => ({ path, status: "completed", attempt: 1, started_ms: began, ended_ms: began + 5, error: null })), { path: "sent", status: "failed", elements: 3, started_ms: began, ended_ms: began + 9, error: "was refused: no" }] }));
  const page = await open(stub.url, { at: "#/runs/r0001" });
  await press(page, "Show 3 elements, 1 failed", "#timeline");
  await wait(page, () => document.querySelectorAll("#timeline .row.inner").length === 3);
  const found = () => page.$$eval("#timeline .row.inner.cancelled", (all) => all.map((it) => [it.querySelector("bdi").textContent, it.querySelector(".said > bdi").textContent]));
  assert.deepEqual(await found(), rest.map((at) => [`[${at}]`, "the step has ended before an answer"]));
  assert.ok(!(await text(page, "#timeline .row .said")).includes("of 3 elements started"));
  await close(page);
}));

await test("a screen reader hears one sentence about the end", () => stubbed({ pace: 1 }, async (stub) => {
  const page = await open(stub.url, { at: "#/runs" });
  await page.evaluate(() => {
    const spoken = document.getElementById("spoken");
    self.heard = [];
    new MutationObserver(() => spoken.textContent && self.heard.push(spoken.textContent)).observe(spoken, { childList: true, characterData: true, subtree: true });
  });
  for (const [id, words, end] of [["r0001", ["Refuse…", "Refuse the call"], ["Refused.", "The run has failed."]], ["r0002", ["Allow"], ["Allowed.", "The run is done."]]]) {
    await begin(stub, [{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }]);
    await page.evaluate((id) => (location.hash = `#/runs/${id}`), id);
    for (const word of words) await press(page, word, "#questions");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const heard = await page.evaluate(() => self.heard.join(" "));
    assert.deepEqual(heard.match(/(Refused|Allowed|The run (?!is running)[^.]*)\./g).sort(), end, heard);
    await page.evaluate(() => (self.heard = []));
  }
  await close(page);
}));

// A list of 300 elements asks 64 questions at one time.
for (const [shape, options] of SHAPES) await test(`all questions of a step, ${shape}`, () => stubbed({}, async (stub) => {
  const ask = (count) => Array.from({ length: count }, (_, at) => ({ id: `q${at}`, path: `sent[${at}]`, tool: "send_mail", arguments: { to: `person${at}` }, text: "{}", asked: new Date().toISOString(), settle: () => {} }));
  stub.runs.set("r0001", run("r0001", { state: "waiting", ended: null, questions: ask(64) }));
  const page = await open(stub.url, { ...options, at: "#/runs/r0001" });
  await says(page, "#run-next", "answer 64 questions");
  await says(page, "#questions h3", "64 calls of send_mail wait in the step sent");
  await says(page, "#spoken", "64 calls of send_mail wait in sent.");
  assert.equal(await page.$$eval("#questions tbody tr", (all) => all.length), 64);
  await press(page, "Answer one by one", "#questions");
  await says(page, "#questions .hint", "14 more questions follow when these are answered.");
  await press(page, "Answer together", "#questions");
  await press(page, "Refuse all 64…", "#questions .together");
  await press(page, "Back", "#questions .together");
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/questions"));
  await press(page, "Allow all 64", "#questions .together");
  assert.equal(JSON.parse((await sent).postData()).questions.length, 64);
  await close(page);
}));

// The list of all questions has at most 100 questions, so a step may have more of them.
await test("a part of the questions of a step", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { at: "#/waiting" });
  await page.setRequestInterception(true);
  const questions = Array.from({ length: 100 }, (_, at) => ({ run: at < 64 ? "r0001" : "r0002", id: `q${at}`, path: `sent[${at}]`, tool: "send_mail", arguments: {}, text: "{}" }));
  page.on("request", (request) => (request.url().endsWith("/api/questions") ? request.respond({ status: 200, contentType: "application/json", body: JSON.stringify({ questions, count: 128 }) }) : request.continue()));
  await page.reload();
  await says(page, "#inbox h2", "At least 36 calls of send_mail wait in the step sent");
  await says(page, "#inbox", "Allow these 36");
  await says(page, "#inbox-more", "28 more questions follow when these are answered.");
  await page.evaluate(() => (location.hash = "#/runs"));
  await says(page, "#asks li", "At least 64 calls of send_mail wait in the step sent");
  await close(page);
}));

await test("the list of runs has space for names, inputs and errors", () => stubbed({}, async (stub) => {
  const plan = "Find the last mail of a sender, and reply to the mail after a question to a person";
  const inputs = { sender: "somebody.with.a.long.name@example.org", subject: "the meeting on Thursday" };
  stub.runs.set("r0001", run("r0001", { plan, inputs, state: "waiting", ended: null, waits_for: "answer" }));
  stub.runs.set("r0002", run("r0002", { plan, inputs, state: "running", ended: null, lists: [{ path: "sent", elements: 500, ended: 168, failed: 2 }] }));
  stub.runs.set("r0003", run("r0003", { plan, inputs, state: "failed", error: { path: "sent", message: "the mailbox has no space left for a message of this size, and refuses all of them" } }));
  const page = await open(stub.url, { width: 1280, at: "#/runs" });
  const widths = () => page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#runs thead th")].map((it) => [it.textContent.replace(/ .$/, ""), it.getBoundingClientRect().width])));
  await says(page, "#runs", "168 of 500, 2 failed");
  const all = await widths();
  assert.ok(all.State < 160 && Math.min(all.Plan, all.Inputs, all.Error) > 200, JSON.stringify(all));
  await show(page, "widths-of-runs");
  for (const { state } of stub.runs.values()) {
    await page.evaluate((state) => (location.hash = `#/runs?state=${state}`), state);
    await wait(page, (state) => [...document.querySelectorAll("#runs tbody tr")].map((it) => it.textContent.includes(state)).join() === "true", state);
    const { State, ...one } = await widths();
    assert.ok(State < 160 && one.Plan > 250 && one.Inputs > 200, `${state}: ${JSON.stringify({ State, ...one })}`);
  }
  assert.deepEqual(await axe(page), []);
  // Short inputs leave their space to the names, which take two lines before their end is cut.
  for (const { inputs: given } of stub.runs.values()) for (const name of Object.keys(given)) delete given[name];
  Object.assign(inputs, { n: 3 });
  await page.evaluate(() => (location.hash = "#/runs"));
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 3);
  const [names] = await page.$$eval("#runs tbody a bdi", (all) => [all.map((it) => it.scrollHeight <= it.clientHeight)]);
  assert.deepEqual(names, [true, true, true]);
  const some = await widths();
  assert.ok(some.Plan > 2.5 * some.Inputs, JSON.stringify(some));
  await show(page, "names-of-runs");
  // A row with the focus shows its whole error.
  const isWhole = () => page.$eval('#runs tr:first-child [data-label="Error"] span', (it) => it.scrollWidth <= it.clientWidth && it.scrollHeight <= it.clientHeight);
  stub.runs.get("r0003").error.message = "x ".repeat(200);
  await page.evaluate(() => (location.hash = "#/runs?text=r0003"));
  await says(page, "#runs", "x x x");
  assert.equal(await isWhole(), false);
  await page.focus("#choose-all");
  await page.keyboard.press("Tab");
  for (let tries = 0; tries < 8 && !(await page.evaluate(() => document.activeElement.closest("#runs tbody"))); tries += 1) await page.keyboard.press("Tab");
  assert.equal(await isWhole(), true);
  await show(page, "focus-of-runs");
  await close(page);
}));

await test("a graph of many steps is readable", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { at: null });
  const steps = Array.from({ length: 40 }, (_, at) => ({ id: `s${at}`, tool: "list_mails", arguments: { sender: "x" }, after: at < 8 ? [] : [`s${at - 8}`] }));
  await begin(stub, [...steps, { id: "asked", tool: "send_mail", after: ["s39"], arguments: { to: "ada", text: "x" } }]);
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await says(page, "#questions h3", "May send_mail run");
  const size = () => page.$eval("#live .node .what", (it) => it.getBoundingClientRect().height);
  const wide = () => page.$eval("#live", (it) => it.getBoundingClientRect().width);
  // The graph has the whole width, and scrolls.
  await wait(page, () => document.querySelector("#run-parts.wide") && document.querySelector("#live .scroll:not(.fit)"));
  assert.ok((await size()) > 11 && (await wide()) > 1200);
  await looks(page, "many-steps");
  // The chosen step stays in the middle while the width changes.
  await press(page, "s4", "#timeline");
  for (const width of [1400, 800]) {
    await page.setViewport({ width, height: 1000 });
    await wait(page, () => {
      const [step, frame] = ['#live [data-path="s4"]', "#live .scroll"].map((it) => document.querySelector(it).getBoundingClientRect());
      return Math.abs(step.left + step.right - frame.left - frame.right) < 40;
    });
  }
  await page.setViewport({ width: 1400, height: 1000 });
  await page.click('#live [data-path="s3"]');
  await page.waitForSelector("#step-card:not([hidden])");
  assert.ok((await wide()) < 800);
  await press(page, "Fit", "#run-zoom");
  await page.waitForSelector("#live .scroll.fit");
  await close(page);
}));
