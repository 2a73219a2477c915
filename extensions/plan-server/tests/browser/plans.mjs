// The list of runs, the editor, long lists and hostile text, on the stub.

import assert from "node:assert/strict";
import { axe, close, contrast, downloads, drawn, faint, faulty, fits, open, press, put, says, show, stubbed, test, text, wait } from "./harness.mjs";

await test("the list of many runs", () => stubbed({}, async (stub) => {
  for (let run = 0; run < 1000; run += 1) {
    const id = `r${String(run + 1).padStart(4, "0")}`;
    stub.runs.set(id, { id, plan: "mail", state: run % 100 === 7 ? "failed" : run % 100 === 8 ? "cancelled" : "done", began: new Date(1_790_000_000_000 + run * 60_000).toISOString(), ended: new Date(1_790_000_030_000 + run * 60_000).toISOString(),
      inputs: { name: run === 444 ? "Sarah Needle" : "nobody" }, questions: [], waits: [], undone: [], events: [], steps: [], values: new Map(), given: new Map(), allowed: new Map(), watchers: new Set() });
  }
  const page = await open(stub.url);
  await page.click("#to-runs");
  await says(page, "#runs-count", "1,000 runs");
  assert.equal(await page.$$eval("#runs tbody tr", (all) => all.length), 100);
  // The longest time in which the page does nothing else.
  const pause = await page.evaluate(async () => {
    const found = [];
    new PerformanceObserver((list) => found.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
    document.querySelector("#next").click();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return Math.max(0, ...found);
  });
  assert.ok(pause < 500, `the page pauses for ${pause} ms`);
  await says(page, "#runs-count", "101–200 of 1,000 runs");
  assert.match(page.url(), /#\/runs\?before=r0901&page=2$/);
  await page.click("#previous");
  await wait(page, () => document.querySelector("#runs tbody code").textContent === "r1000");
  // A text in the inputs, or in the id.
  await page.type("#filter-text", "needle");
  await page.keyboard.press("Enter");
  await says(page, "#runs-count", "1 run");
  await says(page, "#runs", "r0445");
  assert.match(page.url(), /#\/runs\?text=needle$/);
  await page.$eval("#filter-text", (it) => (it.value = "r0008"));
  await press(page, "Search");
  await wait(page, () => document.querySelector("#runs tbody code").textContent === "r0008");
  // The filters of an address, and going back to them.
  await page.click("#filter-clear");
  await says(page, "#runs-count", "1,000 runs");
  await page.click("#states a[href*=failed]");
  await says(page, "#runs-count", "10 runs");
  assert.equal(await page.$$eval("#runs .state.failed", (all) => all.length), 10);
  await show(page, "runs-failed-light");
  const address = page.url();
  await page.click("#states a[href*=cancelled]");
  await wait(page, () => document.querySelectorAll("#runs .state.cancelled").length === 10);
  await page.goBack();
  await wait(page, () => document.querySelectorAll("#runs .state.failed").length === 10);
  assert.equal(await text(page, "#states [aria-current]"), "✗ Failed 10");
  await page.goto("about:blank");
  await page.goto(address);
  await wait(page, () => document.querySelectorAll("#runs .state.failed").length === 10);
  assert.equal(await text(page, "#states [aria-current]"), "✗ Failed 10");
  await page.click("#runs a");
  await says(page, "#run-facts", "failed");
  await close(page);
}));

await test("the list of runs by plan and by time", () => stubbed({}, async (stub) => {
  const hours = [0.5, 2, 30, 100, 400];
  for (const [at, age] of hours.entries()) {
    const id = `r000${5 - at}`;
    stub.runs.set(id, { id, plan: at % 2 ? "ship" : "mail\u202e", state: "done", began: new Date(Date.now() - age * 3_600_000).toISOString(), ended: new Date().toISOString(), inputs: {}, questions: [], waits: [], undone: [], events: [], steps: [], values: new Map(), given: new Map(), allowed: new Map(), watchers: new Set() });
  }
  const page = await open(stub.url, { at: "#/runs" });
  await says(page, "#runs-count", "5 runs");
  await wait(page, () => document.querySelectorAll("#filter-plan option").length === 3);
  assert.deepEqual(await page.$$eval("#filter-plan option", (all) => all.map((it) => it.textContent)), ["All", "mail\\u{202e}", "ship"]);
  await page.select("#filter-plan", "ship");
  await says(page, "#runs-count", "2 runs");
  assert.match(page.url(), /#\/runs\?plan=ship$/);
  await page.select("#filter-time", "1day");
  await says(page, "#runs-count", "1 run");
  assert.match(page.url(), /#\/runs\?plan=ship&since=1day$/);
  await page.click("#filter-clear");
  await says(page, "#runs-count", "5 runs");
  assert.equal(await page.$eval("#filter-time", (it) => it.value), "");
  // A range has its times in the address, in UTC.
  await page.select("#filter-time", "range");
  await page.waitForSelector("#filter-range:not([hidden])");
  const now = Date.now();
  const local = (age) => page.evaluate((ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16), now - age * 3_600_000);
  for (const [name, age] of [["from", 120], ["to", 10]]) {
    await page.focus(`#filter-${name}`);
    await page.$eval(`#filter-${name}`, (it, value) => {
      it.value = value;
      it.dispatchEvent(new Event("change", { bubbles: true }));
      it.blur();
    }, await local(age));
    await page.waitForFunction((name) => location.hash.includes(`${name}=`), {}, name);
  }
  await says(page, "#runs-count", "2 runs");
  assert.match(page.url(), /#\/runs\?from=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A00\.000Z&to=/);
  await show(page, "runs-range-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await says(page, "#runs-count", "2 runs");
  assert.equal(await page.$eval("#filter-time", (it) => it.value), "range");
  assert.equal(await page.$eval("#filter-to", (it) => it.value), await local(10));
  await page.setViewport({ width: 390, height: 800 });
  await fits(page);
  await show(page, "runs-range-narrow");
  await close(page);
}));

await test("a time that somebody types", () => stubbed({}, async (stub) => {
  stub.runs.set("r0001", { id: "r0001", plan: "mail", state: "done", began: new Date().toISOString(), ended: new Date().toISOString(), inputs: { to: "Ada", text: "long ".repeat(100) }, questions: [], waits: [], undone: [], events: [], steps: [], values: new Map(), given: new Map(), allowed: new Map(), watchers: new Set() });
  const page = await open(stub.url, { at: "#/runs", width: 1280, height: 800 });
  await says(page, "#runs-count", "1 run");
  // A run takes one line, which has its inputs.
  assert.match(await text(page, '#runs [data-label="Inputs"]'), /^to: Ada, text: long/);
  const high = () => page.$eval("#runs tbody tr", (it) => it.getBoundingClientRect().height);
  assert.ok((await high()) < 40, `the row is ${await high()} pixels high`);
  await fits(page);
  await page.select("#filter-time", "range");
  await page.waitForSelector("#filter-range:not([hidden])");
  await page.focus("#filter-from");
  // While the year is 2 or 20, the list neither changes nor replaces the text.
  await page.keyboard.type("0102");
  for (const digit of "2025") await page.keyboard.press(digit);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type("0930A");
  for (let left = 0; left < 3; left += 1) await page.keyboard.press("ArrowLeft");
  const value = () => page.$eval("#filter-from", (it) => it.value);
  assert.equal(await value(), "2025-01-02T09:30");
  for (const digit of "2026") {
    await page.keyboard.press(digit);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(page.url().split("#")[1], "/runs");
  }
  assert.equal(await value(), "2026-01-02T09:30");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /from=2026-01-0/.test(location.hash));
  assert.equal(await value(), "2026-01-02T09:30");
  await close(page);
}));

await test("the first page", () => stubbed({ pace: 20 }, async (stub) => {
  // A server without runs explains itself, and one click runs a sample.
  const page = await open(stub.url, { at: null });
  await says(page, "#samples h3", "Send a mail");
  assert.equal(await text(page, "#runs-title"), "Run a plan");
  assert.equal(await page.$eval("#to-samples", (it) => it.hidden), true);
  assert.match(await text(page, "#runs-about"), /^A plan is a list of steps that call tools\./);
  assert.equal(await page.$eval("#filters", (it) => it.hidden), true);
  assert.deepEqual(await page.$$eval("#samples li", (all) => all.map((it) => [...it.querySelectorAll("button")].map((one) => one.textContent))), [["Run", "Open in the editor"], ["Open in the editor"], ["Open in the editor"]]);
  await show(page, "first-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Open in the editor", "#samples li:nth-child(2)");
  await drawn(page, 5);
  assert.match(await page.$eval("#text", (it) => it.value), /list_mails/);
  assert.equal(await page.$eval("#sample", (it) => it.value), "0");
  await page.click(".brand");
  await press(page, "Run", "#samples");
  await says(page, "#questions h3", "send_mail");
  // A server with runs has the questions above the list.
  await page.click(".brand");
  await says(page, "#asks li", "May send_mail run in the step sent, with to ");
  await says(page, "#runs tbody", "r0001");
  assert.equal(await text(page, "#runs-title"), "Runs");
  assert.equal(await page.$eval("#welcome", (it) => it.hidden), true);
  // The samples stay one click away.
  await page.click("#to-samples");
  await says(page, "#welcome:not([hidden]) button", "Run");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.click("#to-samples");
  assert.equal(await page.$eval("#welcome", (it) => it.hidden), true);
  await show(page, "first-with-runs-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.click("#asks a");
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await page.click(".brand");
  await wait(page, () => document.querySelector("#asks-card").hidden);
  await close(page);
  for (const [name, options] of [["dark", { scheme: "dark" }], ["narrow", { width: 390, height: 800 }]]) {
    await stubbed({}, async (empty) => {
      const page = await open(empty.url, { ...options, at: null });
      await says(page, "#samples h3", "Send a mail");
      await show(page, `first-${name}`);
      await fits(page);
      assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
      await close(page);
    });
  }
}));

await test("an empty editor", () => stubbed({}, async (stub) => {
  for (const [name, options] of [["light", {}], ["dark", { scheme: "dark" }], ["narrow", { width: 390 }]]) {
    const page = await open(stub.url, { width: 1280, height: 800, ...options });
    // The page offers samples and tools, and needs no scrolling to the button that runs the plan.
    await says(page, "#begin button", "Send a mail");
    await says(page, "#begin button", "send_mail");
    assert.equal(await page.$eval("#picture-card", (it) => it.hidden), true);
    await show(page, `begin-${name}`);
    await fits(page);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    const isSeen = () => page.$eval("#start", (it) => it.getBoundingClientRect().bottom <= innerHeight);
    if (name !== "narrow") assert.ok(await isSeen());
    await press(page, "send_mail", "#begin");
    await drawn(page, 1);
    assert.equal(await page.$eval("#begin-card", (it) => it.hidden), true);
    if (name !== "narrow") assert.ok(await isSeen());
    await put(page, "");
    await press(page, "Send a mail", "#begin");
    await drawn(page, 1);
    assert.match(await page.$eval("#text", (it) => it.value), /Tell Ada/);
    await close(page);
  }
}));

await test("typing a plan from nothing", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  // A tool has its arguments with their types, and writes a step.
  await page.waitForSelector("#tools .tool");
  await page.click("#tools .tool summary");
  await says(page, "#tools dl", "sender *text. Only those of this sender.");
  await says(page, "#tools dl", "whole number or null");
  await says(page, "#tools .tool", "list of { id, from, cc }");
  await press(page, "Add a step", "#tools");
  await page.keyboard.type("sarah");
  await drawn(page, 1);
  await page.type("#tools-search", "sends");
  await wait(page, () => document.querySelectorAll("#tools .tool").length === 1);
  await page.click("#tools .tool summary");
  await press(page, "Add a step", "#tools");
  await drawn(page, 2);
  // Outputs of earlier steps, as somebody types.
  await page.keyboard.type("fro");
  await says(page, "#complete", "{{list_mails.result[0].from}}");
  await show(page, "complete-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.keyboard.press("Enter");
  assert.deepEqual(JSON.parse(await page.$eval("#text", (it) => it.value)), [{ id: "list_mails", tool: "list_mails", arguments: { sender: "sarah" } },
    { id: "send_mail", tool: "send_mail", arguments: { to: "{{list_mails.result[0].from}}", text: "" } }]);
  // Tools, arguments, and a choice by the arrow keys, in a text that is not JSON yet.
  await page.$eval("#text", (it) => {
    it.value = '[{"id": "a", "tool": "mail"';
    it.setSelectionRange(26, 26);
    it.dispatchEvent(new Event("input"));
  });
  await page.focus("#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("Space");
  await page.keyboard.up("Control");
  assert.deepEqual(await page.$$eval("#complete li code", (all) => all.map((it) => it.textContent)), ["list_mails", "read_mail", "send_mail"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.type(', "arguments": {"t');
  assert.deepEqual(await page.$$eval("#complete li code", (all) => all.map((it) => it.textContent)), ["to", "text"]);
  await page.keyboard.press("Escape");
  assert.equal(await page.$eval("#complete", (it) => it.hidden), true);
  assert.equal(await page.$eval("#text", (it) => it.value), '[{"id": "a", "tool": "send_mail", "arguments": {"t');
  // One click applies the help of a finding, and can be undone.
  await faulty(page);
  const before = await page.$eval("#text", (it) => it.value);
  await press(page, "Apply the correction", "#findings");
  // A correction is no typed text, and opens no choices.
  assert.equal(await page.$eval("#complete", (it) => it.hidden), true);
  await drawn(page, 3);
  assert.match(await page.$eval("#text", (it) => it.value), /\{\{inbox\.result\[0\]\.id\}\}/);
  await page.focus("#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  assert.equal(await page.$eval("#text", (it) => it.value), before);
  // 300 steps are no pause for somebody who types.
  await put(page, JSON.stringify(Array.from({ length: 300 }, (_, at) => ({ id: `s${at}`, tool: "read_mail", arguments: { id: at ? `{{s${at - 1}.result.id}}` : 1 } })), null, 1));
  await drawn(page, 300);
  assert.match(await text(page, "#steps tbody tr td:last-child"), /^s1, s2, s3, s4 and 295 more$/);
  const pause = await page.evaluate(async () => {
    const area = document.querySelector("#text");
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
    let most = 0;
    for (let key = 0; key < 5; key += 1) {
      const began = performance.now();
      document.execCommand("insertText", false, " ");
      most = Math.max(most, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return most;
  });
  assert.ok(pause < 300, `a key takes ${pause} ms`);
  await close(page);
}));

await test("a text with errors keeps its last graph", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { allowed: /503/ });
  await wait(page, () => document.querySelectorAll("#sample option").length > 1);
  await page.select("#sample", "0");
  await drawn(page, 5);
  assert.equal(await page.$eval("#picture-old", (it) => it.hidden), true);
  await page.focus("#text");
  await page.keyboard.type("x");
  await says(page, "#picture-old", "This is the graph of the last correct text.");
  // The text is not the sample any more.
  assert.equal(await page.$eval("#sample", (it) => it.value), "");
  assert.equal(await page.$$eval("#picture.old .node", (all) => all.length), 5);
  assert.equal(await page.$$eval("#steps tbody tr", (all) => all.length), 5);
  assert.equal(await page.$eval("#start", (it) => it.getAttribute("aria-disabled")), "true");
  await show(page, "old-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.keyboard.press("Backspace");
  await wait(page, () => document.querySelector("#picture-old").hidden && !document.querySelector("#picture.old"));
  // Another plan has no earlier graph.
  await faulty(page);
  assert.equal(await page.$$eval("#picture .node", (all) => all.length), 0);
  // A finding at the end of a long line is brought into sight as a whole.
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: { sender: "客户".repeat(150) } }, { id: "mail", tool: "read_mail", arguments: { id: "{{inbx.result}}" } }]));
  await wait(page, () => document.querySelector("#marks mark")?.textContent === "{{inbx.result}}");
  await page.click("#findings button");
  const [mark, pane] = await page.evaluate(() => ["#marks mark", ".pane"].map((it) => document.querySelector(it).getBoundingClientRect().toJSON()));
  assert.ok(mark.left >= pane.left && mark.right <= pane.right, `the mark is at ${mark.left} to ${mark.right} of ${pane.left} to ${pane.right}`);
  // The legend has the kinds that occur, and each kind of line.
  const legend = () => page.$$eval("#picture .legend li", (all) => all.map((it) => it.textContent));
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: {} }]));
  await drawn(page, 1);
  assert.deepEqual(await legend(), ["only reads"]);
  // Without an answer, the last graph stays.
  await page.setRequestInterception(true);
  const gone = (request) => (request.url().endsWith("/api/check") ? request.respond({ status: 503, contentType: "application/json", body: "{}" }) : request.continue());
  page.on("request", gone);
  await page.keyboard.type(" ");
  await says(page, "#picture-old", "This is the graph of the last correct text.");
  await says(page, "#steps-old", "These are the steps of the last correct text.");
  assert.doesNotMatch(await text(page, "#picture-old"), /error/);
  page.off("request", gone);
  await page.setRequestInterception(false);
  await put(page, JSON.stringify([{ id: "booked", tool: "book_room", arguments: {} }, { id: "told", tool: "send_mail", after: ["booked"], arguments: {} }, { id: "back", tool: "cancel_room", undoes: "booked", arguments: { x: "{{booked.result}}" } }]));
  await drawn(page, 3);
  assert.deepEqual(await legend(), ["may change something", "undoes a step", "order only", "undo"]);
  // A long name breaks between its words.
  assert.deepEqual(await page.$$eval("#steps tbody tr:last-child code bdi", (all) => all.map((it) => it.innerHTML)), ["cancel_<wbr>room"]);
  // An empty text has no earlier graph, even if another text follows at once.
  await put(page, "");
  await put(page, "[{");
  await wait(page, () => document.querySelectorAll("#picture .node").length === 0);
  assert.equal(await page.$eval("#picture-old", (it) => it.hidden), true);
  await put(page, JSON.stringify([{ id: "booked", tool: "book_room", arguments: {} }, { id: "told", tool: "send_mail", after: ["booked"], arguments: {} }, { id: "back", tool: "cancel_room", undoes: "booked", arguments: { x: "{{booked.result}}" } }]));
  await drawn(page, 3);
  const dashes = await page.$$eval("#picture .edge", (all) => all.map((it) => getComputedStyle(it).strokeDasharray));
  assert.equal(new Set(dashes).size, 2, String(dashes));
  assert.deepEqual(await page.$$eval("#steps thead th", (all) => all.map((it) => it.textContent)), ["Step", "Tool", "Effect", "Needs", "Undone by", "Steps that a failure blocks"]);
  assert.deepEqual(await page.$$eval("#steps tbody tr", (all) => all.map((it) => [...it.children].slice(2, 5).map((one) => one.textContent))), [["may change something", "–", "back"], ["may change something", "booked", "–"], ["undoes a step", "–", "–"]]);
  assert.deepEqual(await faint(page), []);
  await show(page, "legend-light");
  await page.click('[name=approve][value="none"]');
  await page.click("#start");
  await says(page, "#run-facts", "done");
  await wait(page, () => document.querySelector("#live .legend").textContent === "✓ completednot startedundoes a steporder onlyundo");
  const samples = await page.$$eval("#live .legend li:not(.line)", (all) => all.map((it) => getComputedStyle(it, "::before")).map((it) => [it.borderTopStyle, it.borderTopColor, it.backgroundColor].join()));
  assert.equal(new Set(samples).size, 3, samples.join("; "));
  await close(page);
}));

await test("a list with many elements", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "all", tool: "list_all", for: 500, fails: [321, 400], arguments: {} }]));
  await drawn(page, 1);
  await page.click("#start");
  await says(page, "#run-facts", "failed");
  // One row, which opens, with the failed elements first.
  await says(page, "#timeline .open", "Show 500 elements, 2 failed");
  assert.equal(await page.$$eval("#timeline .row", (all) => all.length), 1);
  await page.click("#timeline .open");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 301);
  assert.deepEqual(await page.$$eval("#timeline .row.inner bdi", (all) => all.filter((it) => it.textContent.startsWith("[")).slice(0, 3).map((it) => it.textContent)), ["[321]", "[400]", "[0]"]);
  await says(page, "#timeline .open", "Hide the elements");
  await says(page, "#timeline .note", "300 of 500 elements, failed elements first");
  await press(page, "Failed only", "#timeline");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 3);
  await says(page, "#timeline .note", "2 of 500 elements");
  await press(page, "Failed only", "#timeline");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 301);
  await show(page, "elements-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.click("#timeline .open");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 1);
  // The page keeps 2,000 states, and counts each other part once.
  await page.click("#to-editor");
  await put(page, JSON.stringify([{ id: "many", tool: "list_all", for: 2100, arguments: {} }]));
  await page.waitForSelector('#picture [data-path="many"]');
  await page.click("#start");
  await says(page, "#run-facts", "done");
  await says(page, "#timeline > .timeline > .hint:last-child", "101 more steps are not shown here.");
  await close(page);
}));

await test("a plan with errors", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { width: 1280 });
  // A line with an error has a sign in the gutter. A long line breaks, in the text area as in its colors and marks.
  const long = `[{"id": "inbox", "tool": "list_mails", "arguments": {"sender": "${"x".repeat(120)}"}},\n {"id": "mail", "tool": "read_mail", "arguments": {"sender": "${"x".repeat(120)}", "id": "{{inbx.result}}"}}]`;
  await put(page, long);
  await wait(page, () => document.querySelector("#numbers .is-error")?.textContent === "✗ 2");
  const [rows, across] = await page.evaluate(() => [[...document.querySelectorAll("#colors div")].map((it) => it.getBoundingClientRect().height / 20), document.querySelector("#text").scrollWidth - document.querySelector("#text").clientWidth]);
  assert.ok(rows.length === 2 && rows[0] > 1 && rows[1] > 2 && across === 0, `${rows} ${across}`);
  assert.deepEqual(await page.$$eval("#numbers span", (all) => all.map((it) => it.getBoundingClientRect().top)).then(([a, b]) => (b - a) / 20), rows[0]);
  await page.focus("#text");
  await page.keyboard.press("F8");
  // The text has the colors of JSON, exactly over the text area.
  assert.equal(await page.$eval("#colors .key", (it) => getComputedStyle(it).color !== getComputedStyle(document.body).color), true);
  assert.equal(await page.$$eval("#colors div", (all) => all.map((it) => it.textContent).join("\n")), long);
  const [mark, shown] = await page.evaluate(() => {
    const left = (it) => it.getBoundingClientRect().left;
    const string = [...document.querySelectorAll("#colors .string")].find((it) => it.textContent.includes("inbx"));
    return [left(document.querySelector("#marks mark")), left(string)];
  });
  assert.ok(Math.abs(mark - shown) < 12, `the mark is at ${mark}, and the text at ${shown}`);
  assert.match(await text(page, "#findings li button"), /^The step inbx does not exist/);
  await show(page, "editor-errors-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  // A completion closes the string.
  await page.$eval("#text", (it) => {
    it.value = '[{"id": "a", "tool": "list';
    it.setSelectionRange(26, 26);
    it.dispatchEvent(new Event("input"));
    it.focus();
  });
  await page.keyboard.down("Control");
  await page.keyboard.press(" ");
  await page.keyboard.up("Control");
  await says(page, "#complete", "list_mails");
  await page.keyboard.press("Enter");
  assert.equal(await page.$eval("#text", (it) => it.value), '[{"id": "a", "tool": "list_mails"');
  // Invisible characters are a warning with a place.
  await put(page, '[{"id": "inbox", "tool": "list_mails", "arguments": {"sender": "x\u202e"}}]');
  await says(page, "#findings .is-warning", "line 1, column 66");
  assert.match(await text(page, "#findings-count"), /^1 warning/);
  // A run has the name that its author gives.
  await wait(page, () => document.querySelector("#start").getAttribute("aria-disabled") === "false");
  await page.type("#start-name", "Look for Sarah");
  await page.click("#start");
  await says(page, "#run-title", "Look for Sarah · mail");
  // The name of the plan remains, so that its runs are found and compared together.
  await page.evaluate(() => (location.hash = "#/runs?plan=mail&text=sarah"));
  await wait(page, () => document.querySelector("#runs tbody a")?.innerText === "Look for Sarah\nmail");
  await says(page, "#runs-count", "1 run");
  await close(page);
}));

await test("a graph as a file and as text, and the plan of a run", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  const saved = downloads(page);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (self.copied = text) }, configurable: true }));
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: {} }, { id: "mail", tool: "read_mail", arguments: { id: "{{inbox.result}}" } }]));
  await drawn(page, 2);
  await press(page, "Copy as Mermaid", "#picture");
  await says(page, "#picture .share", "Copied");
  assert.equal(await page.evaluate(() => self.copied), "flowchart TB\n");
  await press(page, "Save as SVG", "#picture");
  // The file needs no style of the page: each shape has its color.
  const svg = await saved.file("mail.svg");
  // An image has no controls.
  assert.deepEqual(svg.match(/role="[^"]*"/g), ['role="img"']);
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.match(svg, /<rect [^>]*class="box dark-\d+"[^>]* fill="rgb\(\d+, \d+, \d+\)" stroke="rgb\(\d+, \d+, \d+\)"/);
  assert.match(svg, /<path class="edge( dark-\d+)?"[^>]* fill="none" stroke="rgb[^>]* marker-end="url\(#tip-0\)"/);
  assert.match(svg, /<title[^>]*>The plan mail<\/title><style[^>]*>@media \(prefers-color-scheme: dark\) \{ \.dark-0 \{ .* \} \}<\/style><defs[^>]*><marker [^>]*id="tip-0".*<path [^>]*fill="rgb\(123, 135, 152\)"/);
  assert.match(svg, /<rect [^>]*fill="rgb\(255, 255, 255\)".*<text [^>]*>The plan mail<\/text>.*<text [^>]*>only reads<\/text>/);
  assert.doesNotMatch(svg, /color-mix|color\(|tabindex/);
  // In a dark page, the box of each step has another color.
  const dark = /class="box (dark-\d+)"/.exec(svg)[1];
  assert.match(svg, new RegExp(`\\.${dark} \\{ fill: rgb\\((\\d\\d), (\\d\\d), (\\d\\d)\\)`));
  // Below the graph of the last correct text, the buttons are about this text.
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: { x: "{{none.result}}" } }]));
  await says(page, "#picture-old", "the last correct text");
  await press(page, "Copy as DOT", "#picture");
  await wait(page, () => self.copied === "digraph {}\n");
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: {} }]));
  await drawn(page, 1);
  // The keyboard starts the run from the text.
  await page.focus("#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await says(page, "#run-facts", "done");
  await press(page, "Copy", "#result");
  await wait(page, () => self.copied.startsWith('{\n  "inbox"'));
  await press(page, "Copy the plan as Mermaid", "#live");
  await wait(page, () => self.copied === "flowchart TB\n");
  // The file of a dark page has the same colors, and no chosen step.
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await page.click('#live [data-path="inbox"]');
  await press(page, "Save as SVG", "#live");
  assert.match(await saved.file("graph-mail-r0001.svg"), /<title[^>]*>mail, the run r0001: done<\/title>.*<rect [^>]*fill="rgb\(255, 255, 255\)".*.*<text [^>]*fill="rgb\(86, 96, 113\)" class="dark-\d+">✓ completed<\/text>/s);
  assert.doesNotMatch(await saved.file("graph-mail-r0001.svg"), /chosen|near/);
  assert.match(await saved.file("graph-mail-r0001.svg"), /class="sign dark-\d+"[^>]*>✓</);
  // The plan of the run opens on its page.
  await page.click("#run-plan summary");
  await says(page, "#run-text pre", "list_mails");
  await press(page, "Copy as plan JSON", "#run-text");
  await wait(page, () => self.copied.startsWith("["));
  // Without a secure context, a browser copies nothing, and the text is a file.
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }));
  await press(page, "Copy the plan as DOT", "#live");
  assert.equal(await saved.file("graph-mail-r0001.dot"), "digraph {}\n");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  saved.remove();
  await close(page);
}));

await test("the page on a phone", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { width: 390, height: 800 });
  await faulty(page);
  // The tools come after the button that starts the plan.
  const tops = await page.$$eval("#findings, #start, #tools-card", (all) => all.map((it) => it.getBoundingClientRect().top));
  assert.ok(tops[0] < tops[1] && tops[1] < tops[2], `${tops}`);
  await close(page);
}));

await test("the search box has the text of the address", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { at: "#/runs?text=none" });
  await page.focus("#filter-text");
  await page.keyboard.type("zzz");
  await page.evaluate(() => (location.hash = "#/runs?state=failed"));
  await wait(page, () => document.querySelector("#filter-text").value === "");
  await page.keyboard.type("batch");
  await page.keyboard.press("Enter");
  await wait(page, () => location.hash === "#/runs?state=failed&text=batch");
  await page.goBack();
  await wait(page, () => document.activeElement.id === "filter-text" && document.activeElement.value === "");
  // A time follows the address as well.
  for (const day of [1, 2]) await page.evaluate((day) => (location.hash = `#/runs?from=2026-01-0${day}T12:00:00.000Z`), day).then(() => new Promise((resolve) => setTimeout(resolve, 100)));
  await page.focus("#filter-from");
  await page.goBack();
  await wait(page, () => document.activeElement.id === "filter-from" && document.activeElement.value.startsWith("2026-01-01"));
  await close(page);
}));

await test("the help of a field has the type of the field", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "{{PLACEHOLDER_json}}" } }]));
  await page.waitForSelector("#input-0");
  await page.type("#input-0", "ada");
  await page.click("#start");
  await says(page, "#input-0-error", 'Write a list, such as ["Oslo"].');
  await close(page);
}));

await test("a long name in the list of runs on a phone", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { width: 390, at: "#/runs" });
  for (const name of ["Look for the mail of Sarah about the meeting", "short"]) {
    await fetch(`${stub.origin}/api/runs`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: JSON.stringify({ text: '[{"id":"a","tool":"send_mail","arguments":{}}]', inputs: { name: "Sarah" }, approve: "each", name }) });
  }
  await page.reload();
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 2);
  // The name has the whole width and at most two lines above the name of the plan, and the state and the times are below the name.
  const [row, name, link, state, took_] = await page.$eval("#runs tbody tr:last-child", (row) => [row, ...["th", "th a", ".state", '[data-label="Took"]'].map((it) => row.querySelector(it))].map((it) => it.getBoundingClientRect().toJSON()));
  assert.ok(name.width === row.width && link.height < 70, `${name.width} of ${row.width}, ${link.height} high`);
  assert.ok(state.top >= name.bottom && Math.abs(state.top - took_.top) < 8 && state.right < took_.left, JSON.stringify([state, took_]));
  await show(page, "runs-narrow");
  await fits(page);
  // A tablet has such rows as well.
  await page.setViewport({ width: 800, height: 800 });
  const [wide, its] = await page.$eval("#runs tbody tr:last-child", (row) => [row, row.querySelector("th")].map((it) => it.getBoundingClientRect().width));
  assert.equal(its, wide);
  await show(page, "runs-tablet");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await close(page);
}));

await test("hostile texts stay text", () => stubbed({ pace: 10 }, async (stub) => {
  const page = await open(stub.url);
  const id = `<img src=x onerror=alert(1)>\u202Eevil\u2066${"long".repeat(200)}`;
  await put(page, JSON.stringify([{ id, tool: "<script>alert(2)</script>", arguments: { x: "{{PLACEHOLDER_x}}" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 1);
  await fits(page);
  await page.type("#input-0", "</pre><script>alert(3)</script>");
  await page.click('[name=approve][value="none"]');
  await show(page, "hostile-light");
  await page.click("#start");
  await says(page, "#run-facts", "done");
  await says(page, "#given", "<script>alert(3)</script>");
  await fits(page);
  await show(page, "hostile-run-light");
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(await page.$$eval("img, iframe, main script", (all) => all.length), 0);
  // A picture with what no picture of a plan has loses it.
  const bad = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="alert(4)"><script>alert(5)</script><a href="javascript:alert(6)"><text>x</text></a><foreignObject/><g class="node" data-path="a" style="fill:red" onclick="alert(7)"><image href="https://example.org/"/><rect class="box" width="5" height="5" x="0" y="0"/></g></svg>';
  await page.setRequestInterception(true);
  page.on("request", (request) => (request.url().endsWith("/api/check") ? request.respond({ status: 200, contentType: "application/json",
    body: JSON.stringify({ dialect: "x", findings: [], plan: { name: "x", text: "", inputs: [], steps: [], svg: bad } }) }) : request.continue()));
  await page.click("#to-editor");
  await put(page, "[]");
  await page.waitForSelector('#picture [data-path="a"]');
  const drawn = await page.$eval("#picture svg", (it) => [...it.querySelectorAll("*")].flatMap((it) => [it.localName, ...it.getAttributeNames()]));
  for (const no of ["script", "a", "foreignObject", "image", "style", "onclick", "onload", "href"]) assert.ok(!drawn.includes(no), no);
  // The browser says that the policy forbids what this picture asks for when it is parsed. Everything else is still wrong.
  page.wrong = page.wrong.filter((it) => !/-attr inline|inline event handler|inline style/.test(it));
  await close(page);
}));

await test("bounded work", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await page.setRequestInterception(true);
  const findings = Array.from({ length: 5000 }, (_, at) => ({ severity: "error", code: "x", message: `m${at}`, help: null, labels: [{ start: { line: at + 1, column: 1, offset: at * 2 }, end: { line: at + 1, column: 2, offset: at * 2 + 1 }, text: "" }] }));
  page.on("request", (request) => (request.url().endsWith("/api/check") ? request.respond({ status: 200, contentType: "application/json", body: JSON.stringify({ dialect: null, findings, plan: null }) }) : request.continue()));
  await put(page, "x\n".repeat(5000));
  await wait(page, () => document.querySelector("#marks mark"));
  assert.equal(await page.$$eval("#marks div", (all) => all.length), 300);
  assert.equal(await page.$$eval("#findings li", (all) => all.length), 101);
  await put(page, "x".repeat(300 * 1024));
  await says(page, "#findings-count", "at most");
  await close(page);
}));
