// Runs, their steps and their questions, on the stub.

import assert from "node:assert/strict";
import { axe, begin, close, contrast, downloads, faint, faulty, fits, open, press, put, says, show, stubbed, test, text, wait } from "./harness.mjs";

await test("the whole way", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  assert.ok(!page.url().includes("token"), "the token is still in the address");
  await faulty(page);
  assert.equal(await text(page, "#marks mark"), "{{inbx.result[0].id}}");
  // The mark is exactly under the text: both have the same font, and the line is the third.
  assert.equal(await page.$eval("#marks div", (it) => it.style.top), "48px");
  assert.equal(await page.$eval("#start", (it) => it.getAttribute("aria-disabled")), "true");
  await page.click("#findings button");
  assert.equal(await page.evaluate(() => {
    const area = document.activeElement;
    return area.value.slice(area.selectionStart, area.selectionEnd);
  }), "{{inbx.result[0].id}}");
  await show(page, "faulty-light");
  // What is typed before a mark moves it; what replaces it removes it.
  await page.keyboard.type("{{inbox.result[0].id}}");
  await wait(page, () => !document.querySelector("#marks mark") && document.querySelectorAll("#picture .node").length === 3);

  await page.select("#sample", "0");
  await wait(page, () => document.querySelectorAll("#picture .node").length === 5);
  await page.click('#picture [data-path="mail"]');
  assert.deepEqual(await page.$$eval("#picture .node.affected", (all) => all.map((it) => it.dataset.path)), ["sent", "booked"]);
  await show(page, "plan-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  // It does not start without its required inputs, and says so beside them.
  await page.click("#start");
  assert.equal(await text(page, "#input-0-error"), "Enter a value.");
  assert.equal(await page.evaluate(() => document.activeElement.id), "input-0");
  assert.equal(stub.runs.size, 0);
  await page.type("#input-0", "nobody");
  await Promise.all([page.waitForResponse((it) => it.status() === 422), page.click("#start")]);
  await says(page, "#input-0-error", "Nobody has this name");
  page.wrong = page.wrong.filter((it) => !/422/.test(it));
  await page.$eval("#input-0", (it) => (it.value = ""));
  await page.type("#input-0", "sarah");
  await page.click("#start");

  await says(page, "#waits h3", "answer");
  assert.equal(await page.$eval('#live [data-path="answer"]', (it) => it.classList.contains("waiting")), true);
  // A connection that breaks comes back, and what is typed stays.
  await page.type("#waits textarea", "See you ");
  stub.drop();
  await says(page, "#connection", "Connection lost");
  await says(page, "#connection", "Live");
  page.wrong = page.wrong.filter((it) => !/ERR_INCOMPLETE|net::/.test(it));
  await page.type("#waits textarea", "there.");
  await show(page, "waiting-light");
  await press(page, "Send the value", "#waits");
  await says(page, "#questions h3", "send_mail");
  await says(page, "#questions pre", "{{answer.result}}");
  // Only calls for elements of a list can be allowed together before somebody has seen them.
  assert.ok(!(await text(page, "#questions")).includes("all elements"));
  await show(page, "question-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "book_meeting");
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await says(page, "#result pre", "See you there.");
  assert.equal(await page.$$eval("#live .node.completed", (all) => all.length), 5);
  await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 5);
  await show(page, "done-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);

  await press(page, "Open the report");
  await page.waitForSelector("#report-dialog[open] iframe");
  const frame = await (await page.$("#report-frame iframe")).contentFrame();
  await frame.waitForFunction(() => document.documentElement.classList.contains("scripted"));
  assert.equal(await frame.$eval("#said", (it) => it.textContent), "done");
  assert.equal(await frame.$eval("h1", (it) => getComputedStyle(it).color), "rgb(1, 2, 3)");
  // The report can reach neither the token nor the page.
  assert.equal(await frame.evaluate(() => {
    try {
      return String(localStorage.length + parent.document.title.length);
    } catch (error) {
      return error.name;
    }
  }), "SecurityError");
  // The report has an address, and is saved as a page and as JSON.
  assert.match(page.url(), /#\/runs\/r0001\/report$/);
  const folder = downloads(page);
  await press(page, "Save page", "#report-dialog");
  assert.match(await folder.file("mail-r0001.html"), /<h1>mail<\/h1>/);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (self.copied = text) } }));
  await press(page, "Copy Markdown", "#report-dialog");
  await wait(page, () => self.copied === "## Run done\n");
  await press(page, "Save JSON", "#report-dialog");
  assert.equal(JSON.parse(await folder.file("mail-r0001.json")).state, "done");
  folder.remove();
  await page.keyboard.press("Escape");
  await wait(page, () => !document.querySelector("iframe") && !location.hash.endsWith("report"));
  await page.evaluate(() => (location.hash += "/report"));
  await page.waitForSelector("#report-dialog[open] iframe");
  await page.reload();
  await page.waitForSelector("#report-dialog[open] iframe");
  await page.goBack();
  await wait(page, () => !document.querySelector("iframe"));
  await close(page);
}));

await test("cancel and undo, and the list", () => stubbed({ pace: 40 }, async (stub) => {
  const page = await open(stub.url);
  const slow = '[{"id":"sent","tool":"send_mail","arguments":{}},{"id":"later","tool":"slow","arguments":{"x":"{{sent.result}}"}}]';
  await put(page, slow);
  await page.click('[name=approve][value="none"]');
  await wait(page, () => document.querySelectorAll("#picture .node").length === 2);
  await page.click("#start");
  await wait(page, () => document.querySelector('#live [data-path="later"]')?.classList.contains("running"));
  await press(page, "Cancel the run…");
  await press(page, "Keep it running");
  await press(page, "Cancel the run…");
  await show(page, "cancel-light");
  await page.type("#cancel-why", "The date has changed.");
  await press(page, "Cancel the run", "#cancel-dialog");
  await says(page, "#undone", "unsend_mail");
  await says(page, "#run-facts", "cancelled");
  // Nobody calls a cancellation an error.
  assert.equal(await text(page, "#run-wrong"), "Cancelled; undone: sent.");
  assert.equal(await page.$("#run-wrong .error"), null);
  assert.equal(await text(page, "#retry"), "Resume…");
  // The page names the person who has cancelled the run, and why.
  assert.match(await text(page, "#run-moments"), /^Cancelled by Ada Lovelace at .*, because “The date has changed\.”$/);
  assert.equal(await text(page, "#timeline .moments"), "◌ cancelled");
  assert.equal(await page.$eval("#decisions-card", (it) => it.hidden), true);
  // A step that is undone does not look like one that is completed.
  await page.waitForSelector('#live [data-path="sent"].undone');
  assert.match(await page.$eval('#live [data-path="sent"]', (it) => it.getAttribute("aria-label")), /completed, undone by unsent$/);
  await says(page, "#timeline .row.undone .status", "completed, undone by unsent");
  await show(page, "cancelled-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);

  // A refusal is an error of the run, with its reason.
  await press(page, "Edit this plan");
  await page.click('[name=approve][value="each"]');
  await wait(page, () => document.querySelector("#start").getAttribute("aria-disabled") === "false");
  await page.click("#start");
  await press(page, "Refuse…", "#questions");
  await page.type("#questions input", "not today");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-wrong", "refused: not today");
  assert.equal(await page.$eval('#live [data-path="later"]', (it) => it.classList.contains("blocked")), true);
  await show(page, "failed-light");

  // The list: filters and pages.
  for (let run = 0; run < 105; run += 1) {
    await begin(stub, [{ id: "a", tool: "list_mails" }], "none");
  }
  await page.click("#to-runs");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 100);
  await show(page, "runs-light");
  await page.click("#next");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 7);
  await page.click("#previous");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 100);
  await page.click("#states a[href*=failed]");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 1);
  await page.click("#runs a");
  await says(page, "#run-wrong", "not today");
  // A run that does not exist has no output and no steps, and its page does not promise them.
  await page.evaluate(() => (location.hash = "#/runs/r9999"));
  await says(page, "#run-title", "This run does not exist");
  assert.equal(await page.$eval("#run-parts", (it) => it.hidden), true);
  page.wrong = page.wrong.filter((it) => !/404/.test(it));
  await page.goBack();
  await says(page, "#result", "The run failed");
  await close(page);
}));

await test("a step of a run", () => stubbed({ pace: 60 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "inbox", tool: "list_mails", arguments: { sender: "sarah" } }, { id: "line", tool: "flaky_line", arguments: { text: "{{inbox.result}}" } },
    { id: "sent", tool: "send_mail", arguments: { to: "{{inbox.result}}", text: "evil\u202e" } }, { id: "last", tool: "slow", arguments: { x: "{{sent.result}}" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 4);
  await page.click("#start");
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "send_mail");
  const step = async (path) => {
    await page.click(`#live [data-path="${path}"] .box`);
    await says(page, "#step-title", path);
  };
  // A step that has not started names the steps that it waits for.
  await step("last");
  await says(page, "#step-details h3", "Waits for");
  assert.match(await text(page, "#step-details"), /sent.*waiting/);
  await press(page, "sent", "#step-details");
  await says(page, "#step-title", "sent");
  await says(page, "#step-details", "The step waits for you.");
  assert.match(await text(page, "#step-state"), /waiting for you/);
  assert.match(await text(page, "#step-details dl"), /Started.* \d+ s so far/);
  await says(page, "#questions .hint", " s ago.");
  await new Promise((resolve) => setTimeout(resolve, 700));
  await press(page, "Allow", "#questions");
  await says(page, "#step-state", "completed");
  // The time of a person is apart from the time of the tool.
  await wait(page, () => /the wait for an answer took (0\.[7-9]|[78]\d\d ms|\d\.\d\d s|\d\d\d ms)/.test(document.querySelector("#step-details").textContent));
  await wait(page, () => /sent.*completed.*the tool took .*the wait for an answer took /.test([...document.querySelectorAll("#timeline .row")].find((row) => row.textContent.includes("sent")).textContent));
  assert.ok(await page.$("#timeline i.turn"));
  // The arguments and the output, with escapes for what turns text.
  await says(page, "#step-details pre[aria-label=Arguments]", "{{inbox.result}}");
  await says(page, "#step-details pre[aria-label=Arguments]", "evil\\u{202e}");
  await says(page, "#step-details pre[aria-label=Output]", "sarah@example.org");
  // Attempts, with their times and errors, the failed one first.
  await press(page, "line", "#timeline");
  await says(page, "#step-title", "line");
  await wait(page, () => document.querySelectorAll("#step-details .attempts > li").length === 2);
  const attempts = await page.$$eval("#step-details .attempts > li", (all) => all.map((it) => it.textContent));
  assert.match(attempts[0], /attempt 1.*failed.*took.*the service is not available/);
  assert.match(attempts[1], /attempt 2.*completed.*took \d+ ms/);
  assert.equal(await page.$$eval("#step-details .attempts time", (all) => all.length), 2);
  await show(page, "step-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await fits(page);
  // The card closes, and the focus goes back to the step.
  await page.click("#step-close");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.path), "line");
  assert.equal(await page.$eval("#step-card", (it) => it.hidden), true);
  await close(page);
}));

await test("several calls of a step, and the inbox", () => stubbed({ pace: 60 }, async (stub) => {
  const page = await open(stub.url);
  const long = "x".repeat(9000);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", for: 3, arguments: { text: `${long}the end` } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 1);
  await page.click("#start");
  await says(page, "#questions h3", "3 calls of send_mail wait in the step sent");
  // Equal arguments are shown once, above the buttons for all calls.
  await says(page, "#questions .together > .arguments code", "text");
  assert.equal(await page.$eval("#questions .together", (it) => it.querySelectorAll(".question").length), 0);
  await press(page, "Answer one by one", "#questions");
  await says(page, "#questions h4", "sent[2]");
  await says(page, "#questions .each .question:last-child .hint", "also allows the calls that nobody has seen yet");
  // Each call is there once: the group has neither its arguments nor its buttons.
  assert.deepEqual(await page.$$eval("#questions .together", ([it]) => [...it.querySelectorAll(":scope > :is(.arguments, form)")].filter((one) => one.getClientRects().length).length), 0);
  // Each call has the button, and the group has it as well.
  assert.equal(await page.$$eval("#questions button", (all) => all.filter((it) => it.textContent === "Allow for all elements").length), 4);
  // The row of a list that runs counts its elements.
  await says(page, "#timeline .row .said", "waiting for you, 0 of 3");
  // All arguments, on demand.
  assert.ok(!(await text(page, "#questions .each pre")).includes("the end"));
  await press(page, "Show all arguments", "#questions .each .question:first-child");
  await says(page, "#questions pre", "the end");
  await show(page, "together-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await fits(page);
  // One answer for all calls that are open, with one reason.
  await press(page, "Answer together", "#questions");
  assert.equal(await page.$eval("#questions .each", (it) => it.getClientRects().length), 0);
  await press(page, "Refuse all 3…", "#questions");
  await page.type("#questions .together > form input", "not to everybody");
  await press(page, "Refuse all 3", "#questions");
  await says(page, "#run-facts", "failed");
  await says(page, "#run-wrong", "not to everybody");
  await press(page, "Show 3 elements, 3 failed", "#timeline");
  await wait(page, () => [...document.querySelectorAll("#timeline .row.inner.failed")].filter((it) => it.textContent.includes("refused: not to everybody")).length === 3);

  // The inbox has the questions of all runs, and the runs that wait for a value.
  await begin(stub, [{ id: "one", tool: "send_mail", arguments: { to: "ada" } }]);
  await begin(stub, [{ id: "two", tool: "book_room", arguments: { room: 7 } }]);
  await begin(stub, [{ id: "value", await: "String" }]);
  // Nobody waits for a person in a run that waits for a time.
  stub.runs.set("r0009", { ...stub.runs.get("r0001"), id: "r0009", plan: "a pause", state: "waiting", ended: null, questions: [], waits: [], error: null });
  await page.click("#to-inbox");
  await says(page, "#inbox h2", "book_room");
  await says(page, "#inbox-count", "2 questions, 1 run waits for a value");
  assert.equal(await text(page, "#to-inbox"), "Waiting (3)");
  assert.ok(!(await text(page, "#inbox-view")).includes("a pause"));
  await show(page, "inbox-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Allow", "#inbox .question:first-child");
  await says(page, "#inbox-count", "1 question, 1 run waits for a value");
  await says(page, "#inbox h2", "book_room");
  while (stub.runs.get("r0002").state !== "done") await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(stub.runs.get("r0003").state, "waiting");
  await press(page, "Refuse…", "#inbox");
  await page.type("#inbox input", "no room");
  await press(page, "Refuse the call", "#inbox");
  while (stub.runs.get("r0003").state !== "failed") await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(stub.runs.get("r0003").error.message, "refused: no room");
  await page.click("#inbox-waits a");
  await says(page, "#waits h3", "value");
  await close(page);
}));

await test("the names of the people who answer", () => stubbed({ pace: 100 }, async (stub) => {
  const page = await open(stub.url, { who: null, allowed: /409/ });
  await put(page, JSON.stringify([{ id: "sent", intent: "Invite Ada\u202e.", tool: "send_mail", arguments: { to: "ada", text: "x" } }, { id: "room", await: "String", after: ["sent"] }, { id: "all", tool: "send_mail", after: ["room"], for: 2, arguments: { to: "{{room.result}}" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 3);
  await page.click("#start");
  // The question and the card of the step show the intent of the plan.
  await says(page, "#questions .intent", "The plan states: Invite Ada\\u{202e}.");
  await page.$eval('#live [data-path="sent"]', (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await says(page, "#step-details .intent", "Invite Ada\\u{202e}.");
  await page.click("#step-close");
  // Before the first answer, the page asks for a name. A closed dialog sends no answer.
  await press(page, "Allow", "#questions");
  await says(page, "#who-title", "Who answers?");
  await show(page, "who-light");
  assert.deepEqual(await axe(page), []);
  await press(page, "Close", "#who-dialog");
  assert.equal(stub.runs.get("r0001").decisions.length, 0);
  await press(page, "Add a reason", "#questions");
  await page.keyboard.type("She asked for it.");
  await show(page, "reason-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Allow", "#questions");
  await press(page, "Continue", "#who-dialog");
  await says(page, "#who-error", "Enter your name.");
  await page.type("#who-name", "Grace \u202eHopper");
  await press(page, "Continue", "#who-dialog");
  await says(page, "#decisions li", "sent with send_mail: allowed by Grace \\u{202e}Hopper at ");
  await says(page, "#decisions li", ", because “She asked for it.”");
  assert.equal(await text(page, "#who"), "You answer as Grace \\u{202e}Hopper");
  // The page does not ask a second time, and shows the answers of a step in its card.
  await page.waitForSelector("#waits textarea");
  await page.type("#waits textarea", "B2");
  await press(page, "Send the value");
  await says(page, "#decisions li", "room: a value was sent by Grace");
  // The oldest answer comes first, as in the report.
  assert.deepEqual(await page.$$eval("#decisions li", (all) => all.map((it) => it.querySelector("code").textContent)), ["sent", "room"]);
  await says(page, "#questions h3", "2 calls of send_mail wait in the step all");
  await press(page, "Answer one by one", "#questions");
  await says(page, "#questions h4", "all[1]");
  // Another person is faster. The card names this person.
  const [first] = stub.runs.get("r0001").questions;
  await page.setRequestInterception(true);
  page.on("request", async (request) => {
    if (request.method() === "POST" && request.url().includes(first.id)) await fetch(request.url(), { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: JSON.stringify({ decision: "allow", by: "Bob" }) });
    await request.continue();
  });
  await press(page, "Allow", "#questions .each .question:first-child");
  await says(page, "#decisions li", "all[0] with send_mail: allowed by Bob");
  assert.equal(first.path, "all[0]");
  await press(page, "Refuse…", "#questions");
  await page.type("#questions input", "no");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-facts", "failed");
  await says(page, "#step-details .answered", "all[1]: refused by Grace");
  await page.$eval('#live [data-path="sent"]', (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await says(page, "#step-details .answered", "The step: allowed by Grace");
  await show(page, "decisions-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  // The browser keeps the name.
  await page.reload();
  await says(page, "#who", "You answer as Grace");
  await page.click("#who");
  assert.match(await page.$eval("#who-name", (it) => it.value), /^Grace/);
  await close(page);
}));

await test("a run again", () => stubbed({ pace: 40 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "{{PLACEHOLDER_name}}", n: "{{PLACEHOLDER_count}}" } }, { id: "each", tool: "list_all", for: 3, fails: [1], arguments: { x: "{{sent.result}}" } }]));
  await page.waitForSelector("#input-1");
  await page.type("#input-0", "Sarah");
  await page.type("#input-1", "7");
  await page.click('[name=approve][value="none"]');
  await page.click("#start");
  await says(page, "#run-facts", "failed");
  const first = page.url();
  // Another browser, which has not seen the text.
  const other = await open(stub.url);
  await other.goto(first);
  await press(other, "Edit this plan");
  await wait(other, () => document.querySelector("#input-1")?.value === "7");
  assert.equal(await other.$eval("#input-0", (it) => it.value), "Sarah");
  assert.equal(await other.$eval('[name=approve][value="none"]', (it) => it.checked), true);
  assert.match(await other.$eval("#text", (it) => it.value), /send_mail/);
  await wait(other, () => document.querySelector("#start").getAttribute("aria-disabled") === "false");
  await other.click("#start");
  await says(other, "#run-facts", "failed");
  assert.deepEqual(stub.runs.get("r0002").inputs, { name: "Sarah", count: 7 });
  // A new run with the same inputs, after a question.
  await press(other, "Run again…");
  await show(other, "again-light");
  await press(other, "Run the plan again", "#again-dialog");
  await wait(other, () => location.hash.endsWith("r0003"));
  await says(other, "#run-facts", "failed");
  assert.deepEqual(stub.runs.get("r0003").inputs, { name: "Sarah", count: 7 });
  // A retry of the failed step. The page follows the run again.
  await press(other, "Retry from the failure…");
  await press(other, "Retry the run", "#retry-dialog");
  await says(other, "#run-facts", "done");
  assert.equal(stub.runs.size, 3);
  assert.equal(await other.$eval("#retry", (it) => it.hidden), true);
  // The card of a step lists the attempts before the retry as well.
  await press(other, "each", "#timeline");
  await says(other, "#step-details h3", "Before the retry");
  await says(other, "#step-details .earlier li", "each[1], attempt 1 ✗failed");
  await says(other, "#step-details .earlier li", "the line was busy");
  await show(other, "earlier-light");
  assert.deepEqual([...(await contrast(other)), ...(await axe(other))], []);
  await wait(other, () => document.querySelectorAll("#live .node.completed").length === 2);
  await close(other);
  await close(page);
}));

// A run with these steps, whose events have times since its start.
const made = (stub, id, state, steps, events, more = {}) => {
  const began = Date.parse("2026-01-01T00:00:00Z");
  const ms = (time) => (time === null ? null : began + time);
  stub.runs.set(id, { id, plan: "trip", state, began: new Date(began).toISOString(), ended: new Date(began + 900).toISOString(), inputs: {}, output: null, error: null, questions: [], waits: [], undone: [], approve: "each", svg: null, watchers: new Set(), values: new Map(), given: new Map(), allowed: new Map(), ...more,
    steps: steps.map(([path, read_only, more]) => ({ path, tool: `${path}_tool`, read_only, needs: [], after: [], affects: [], affects_count: 0, undoes: null, undone_by: null, ...more })),
    events: events.map(([path, status, attempt, started, ended, error = null]) => ({ path, status, attempt, started_ms: ms(started), ended_ms: ms(ended), error })) });
};

await test("one source of times", () => stubbed({}, async (stub) => {
  // The server has recorded less than the events tell: the times of the report are in the timeline and in the card.
  made(stub, "r0001", "done", [["late", true], ["first", true], ["never", true]], [["late", "running", 1, 300, 310, "busy"], ["late", "running", 2, 400, 410, "busy"], ["late", "completed", 3, 540, 550], ["first", "completed", 1, 5, 290]]);
  const page = await open(`${stub.url}`);
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await says(page, "#timeline .row.completed .said", "completed, 250 ms (the tool took 30 ms, 3 attempts, the waits between the attempts took 220 ms)");
  // Rows have the order of their starts, and steps that did not start come last.
  assert.deepEqual(await page.$$eval("#timeline .row .name bdi", (all) => all.map((it) => it.textContent)), ["first", "late", "never"]);
  assert.deepEqual(await page.$$eval("#timeline .ticks span", (all) => all.map((it) => it.textContent)), ["0", "200 ms", "400 ms", "600 ms", "800 ms"]);
  assert.deepEqual(await page.$$eval("#timeline .row:nth-child(2) i", (all) => all.map((it) => [it.className, it.style.left, it.style.width])), [["bad", "33.33%", "1.11%"], ["bad", "44.44%", "1.11%"], ["", "60%", "1.11%"]]);
  // No label is over another, and the labels have equal distances.
  for (const width of [1400, 760, 390, 320]) {
    await page.setViewport({ width, height: 900 });
    await wait(page, () => {
      const shown = [...document.querySelectorAll("#timeline .ticks span:not(.mute)")];
      const boxes = shown.map((it) => it.getBoundingClientRect());
      const times = shown.map((it) => parseInt(it.textContent, 10));
      return shown.length > 1 && times.every((time, at) => time === at * times[1]) && times.at(-1) >= 600 && boxes.every((box, at) => !at || boxes[at - 1].right <= box.left + 1) && boxes.at(-1).right <= document.querySelector("#timeline .ticks").getBoundingClientRect().right + 1;
    });
  }
  await page.setViewport({ width: 1400, height: 1000 });
  await press(page, "late", "#timeline");
  await says(page, "#step-details dl", "Took250 msIn detailthe tool took 30 ms, 3 attempts, the waits between the attempts took 220 ms");
  await close(page);
}));

await test("a report that loads", () => stubbed({}, async (stub) => {
  made(stub, "r0001", "done", [["sent", true]], [["sent", "completed", 1, 0, 10]]);
  const page = await open(stub.url, { at: "#/runs/r0001", allowed: /500/ });
  await page.setRequestInterception(true);
  let late = [];
  page.on("request", (request) => (request.url().endsWith("/report.html") ? late.push(request) : request.continue()));
  const loads = async (count) => {
    await says(page, "#report-dialog[open] #report-frame", "The report loads…");
    assert.equal(await page.$eval("#report-frame", (it) => it.getAttribute("aria-busy")), "true");
    while (late.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await press(page, "Open the report");
  await loads(1);
  assert.deepEqual(await axe(page), []);
  // A report that somebody has closed does not open again.
  await press(page, "Close", "#report-dialog");
  await press(page, "Open the report");
  await loads(2);
  await late[0].continue();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(await page.$("#report-dialog iframe"), null);
  await loads(2);
  await late[1].continue();
  await page.waitForSelector("#report-dialog[open] iframe");
  assert.equal(await page.$eval("#report-frame", (it) => it.getAttribute("aria-busy")), null);
  await press(page, "Close", "#report-dialog");
  // An error closes the dialog, and is shown on the page.
  await press(page, "Open the report");
  await loads(3);
  await late[2].respond({ status: 500, contentType: "application/json", body: JSON.stringify({ error: { code: "x", message: "the disk is full" } }) });
  await says(page, "#notices", "disk is full");
  assert.equal(await page.$eval("#report-dialog", (it) => it.open), false);
  await close(page);
}));

await test("the labels of the axis have equal distances", () => stubbed({}, async (stub) => {
  const minute = 60_000;
  made(stub, "r0001", "done", [["sent", true]], [["sent", "completed", 1, 0, 5.42 * minute]]);
  made(stub, "r0002", "done", [["sent", true]], [["sent", "completed", 1, 0, 5.02 * minute]]);
  const page = await open(stub.url);
  for (const [id, width, labels] of [["r0001", 1400, "0 1 2 3 4 5"], ["r0001", 760, "0 1 2 3 4 5"], ["r0001", 390, "0 1 2 3 4 5"], ["r0002", 1400, "0 1 2 3 4 5"], ["r0002", 390, "0 1 2 3 4"], ["r0002", 240, "0 2 4"]]) {
    await page.setViewport({ width, height: 900 });
    await page.evaluate((id) => (location.hash = `#/runs/${id}`), id);
    await says(page, "#timeline .said", "completed");
    const found = () => page.$$eval("#timeline .ticks span:not(.mute)", (all) => all.map((it) => it.textContent.replace(" min", "")).join(" "));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await found(), labels, `${id} ${width}`);
    assert.ok(await page.$$eval("#timeline .ticks span:not(.mute)", (all) => {
      const boxes = all.map((it) => it.getBoundingClientRect());
      return boxes.every((box, at) => !at || boxes[at - 1].right <= box.left + 1) && boxes.at(-1).right <= all[0].parentElement.getBoundingClientRect().right + 1;
    }), `${id} ${width}`);
    await show(page, `axis-${id}-${width}`);
  }
  await close(page);
}));

await test("after a failure and after a cancellation", () => stubbed({}, async (stub) => {
  const steps = [["booked", false, { undone_by: "back" }], ["told", false, { needs: ["booked"], after: ["booked"] }], ["looked", true, { needs: ["told"] }], ["kept", true], ["mailed", false], ["last", false], ["back", false, { undoes: "booked" }], ["closed", false, { always: true }], ["trip", false, { cleanup: ["trip.told", "trip.inner.back"] }]];
  const events = [["booked", "completed", 1, 0, 10], ["told", "completed", 1, 10, 20], ["looked", "completed", 1, 20, 30], ["kept", "completed", 1, 20, 30], ["mailed", "failed", 1, 30, 40, "the mailbox is full"], ["last", "blocked", 0, null, null], ["back", "completed", 1, 50, 60], ["closed", "completed", 1, 60, 70], ["trip[0].booked", "completed", 1, 70, 80], ["trip[0].told", "completed", 1, 70, 80], ["trip.inner[2].back", "completed", 1, 70, 80]];
  const undone = [{ path: "back", undoes: "booked", status: "completed" }];
  const not_undone = [{ path: "told", tool: "told_tool", why: "the step has no undo step" }, { path: "trip[0].booked", tool: "trip_tool", why: "the undo step `back` has the status failed" }];
  made(stub, "r0001", "failed", steps, events, { undone, not_undone, error: { path: "mailed", message: "the mailbox is full" } });
  made(stub, "r0002", "cancelled", steps, events.filter(([path]) => path !== "last"), { undone, error: { message: "the run was cancelled" } });
  const page = await open(stub.url);
  // The list tells why a run has failed, and how long others run.
  await page.click("#to-runs");
  await says(page, '#runs [data-label="Error"]', "the mailbox is full, in the step mailed");
  await page.click('#runs a[href$="r0001"]');
  await says(page, "#run-wrong", "Error in mailed: the mailbox is full");
  // The failed step is open, and closed for good once somebody closes it.
  await says(page, "#step-title", "mailed");
  await page.click("#step-close");
  assert.equal(await page.$eval("#step-card", (it) => it.hidden), true);
  await press(page, "mailed", "#run-wrong");
  await says(page, "#step-title", "mailed");
  assert.deepEqual(await page.$$eval("#remains li", (all) => all.map((it) => it.textContent)), ["told with told_tool: the step has no undo step", "trip[0].booked with trip_tool: the undo step back has the status failed"]);
  await says(page, "#undone", "back undoes booked");
  assert.equal(await page.$eval("#timeline .row.undone .sign", (it) => it.textContent), "⤺");
  // The id of the run, to be copied.
  assert.equal(await page.$eval("#to-runs", (it) => it.getAttribute("aria-current")), "true");
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (self.copied = text) } }));
  await press(page, "Copy", "#run-facts");
  assert.equal(await page.evaluate(() => self.copied), "r0001");
  assert.match(await text(page, "#run-facts"), /Run r0001/);
  // A retry lists its steps before it starts.
  const lists = () => page.$$eval("#retry-steps ul", (all) => all.map((it) => [...it.children].map((one) => one.textContent)));
  await press(page, "Retry from the failure…");
  assert.deepEqual(await lists(), [["booked ✓completed, undone by back", "mailed ✗failed", "last ⊘blocked", "trip ·not started"], ["told, needs booked", "looked, needs told", "closed, at the end of every run"], ["kept"]]);
  await says(page, "#retry-steps .hint", "The run asks before each call");
  await says(page, "#retry-steps .hint", "runs again with the allowed arguments and without a second question");
  await show(page, "retry-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Close", "#retry-dialog");
  assert.equal(stub.runs.get("r0001").state, "failed");
  await show(page, "not-undone-light");
  await page.evaluate(() => (location.hash = "#/runs/r0002"));
  await says(page, "#run-wrong .neutral", "Cancelled; undone: booked.");
  await press(page, "Resume…");
  await says(page, "#retry-title", "Resume this run?");
  await press(page, "Close", "#retry-dialog");
  await close(page);
}));

await test("a lost connection on each page", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 1);
  await page.click("#start");
  await says(page, "#questions h3", "send_mail");
  for (const [link, view] of [["to-runs", "runs-view"], ["to-inbox", "inbox-view"], ["to-editor", "editor-view"]]) {
    await page.click(`#${link}`);
    await page.waitForSelector(`#${view}:not([hidden])`);
    if (view === "inbox-view") await says(page, "#inbox h2", "send_mail");
    await page.setOfflineMode(true);
    // A list asks by itself, and the editor asks while somebody types.
    if (view === "editor-view") await put(page, "[ ]");
    await says(page, "#lost", "Not connected since");
    // The banner promises nothing that the page does not do.
    assert.match(await text(page, "#lost"), /The page contacts the server every 3 seconds\. Until the server answers, the buttons of runs and questions are off\.$/);
    if (view === "editor-view") await page.waitForRequest((request) => request.url().endsWith("/health"));
    if (view === "inbox-view") assert.equal(await page.$$eval("#inbox button", (all) => all.every((it) => it.getAttribute("aria-disabled") === "true")), true);
    await show(page, `lost-${view}`);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    await page.setOfflineMode(false);
    await wait(page, () => document.querySelector("#lost").hidden && !document.querySelector("#inbox [aria-disabled]"));
  }
  page.wrong = page.wrong.filter((it) => !/ERR_|net::/.test(it));
  await close(page);
}));

await test("the count of what waits, and a lost connection", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await page.click("#to-inbox");
  await says(page, "#inbox-count", "Nothing is waiting.");
  assert.equal(await page.$(".card.attention:has(#inbox-title)"), null);
  await page.click("#to-editor");
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }, { id: "booked", tool: "book_room", arguments: { x: "{{sent.result}}" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 2);
  await page.click("#start");
  await says(page, "#questions h3", "send_mail");
  await wait(page, () => document.querySelector("#to-inbox").textContent === "Waiting (1)");
  // Without a connection, nothing can be sent.
  await page.setOfflineMode(true);
  stub.drop();
  await says(page, "#lost", "Not connected since");
  await show(page, "lost-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  assert.equal(await page.$$eval("#asked button, #cancel", (all) => all.every((it) => it.getAttribute("aria-disabled") === "true")), true);
  await press(page, "Refuse…", "#questions");
  assert.equal(await page.$eval("#questions .choices", (it) => it.hidden), false);
  await page.setOfflineMode(false);
  // The browser may break the first connection of a network that has changed.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await says(page, "#connection", "Live");
  await wait(page, () => document.querySelector("#lost").hidden && !document.querySelector("#asked [aria-disabled]"));
  page.wrong = page.wrong.filter((it) => !/ERR_|net::/.test(it));
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "book_room");
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await wait(page, () => document.querySelector("#to-inbox").textContent === "Waiting");
  assert.deepEqual(await faint(page), []);
  await close(page);
}));

await test("an undone step among needs, and its name for a screen reader", () => stubbed({}, async (stub) => {
  const node = (path, what, spoken) => `<g class="node acts" data-path="${path}" aria-label="${spoken}"><rect class="box" x="9" y="9" width="90" height="44"/><text class="id">${path}</text><text class="what">${what}</text></g>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">${node("booked", "event_book", "booked: event_book")}${node("back", "undoes booked: ev…", "back: undoes booked: event_cancel")}</svg>`;
  made(stub, "r0001", "failed", [["booked", false, { undone_by: "back" }], ["told", false, { needs: ["booked"] }], ["back", false, { undoes: "booked" }]],
    [["booked", "completed", 1, 0, 10], ["told", "failed", 1, 10, 20, "no"], ["back", "completed", 1, 50, 60]], { svg, undone: [{ path: "back", undoes: "booked", status: "completed" }], error: { path: "told", message: "no" } });
  const page = await open(stub.url, { at: "#/runs/r0001" });
  await says(page, "#step-title", "told");
  await says(page, "#step-details li", "booked ✓completed, undone by back");
  await press(page, "booked", "#step-details");
  await says(page, "#step-state", "✓completed, undone by back");
  assert.deepEqual(await page.$$eval("#live .node", (all) => all.map((it) => it.getAttribute("aria-label"))), ["booked: event_book: completed, undone by back", "back: undoes booked: ev…: back: undoes booked: event_cancel: completed"]);
  assert.deepEqual(await axe(page, "#live"), []);
  await close(page);
}));

await test("times after a retry", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "one", tool: "send_mail", arguments: { to: "ada" } }, { id: "two", tool: "send_mail", arguments: { to: "bob" }, after: ["one"] }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 2);
  await page.click("#start");
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "in the step two");
  await new Promise((resolve) => setTimeout(resolve, 400));
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#step-details .answered", "refused by Ada");
  await press(page, "Retry from the failure…");
  await press(page, "Retry the run", "#retry-dialog");
  await says(page, "#questions h3", "in the step one");
  // A step that has not started again has no times, and no report of the first attempt.
  await wait(page, () => [...document.querySelectorAll("#timeline .row")].some((row) => row.textContent.includes("two")));
  assert.deepEqual(await page.$$eval("#timeline .row", (all) => all.filter((row) => row.textContent.includes("two")).map((it) => [it.querySelector(".said").innerText.trim(), it.querySelectorAll("i:not(.before)").length])), [["not started", 0]]);
  // A step began at the time that the server tells, even if the rest of its list began before the retry.
  // The time between an end and a retry is apart from the waits that the axis leaves out as well.
  made(stub, "r0009", "waiting", [["booked", false]], [["booked", "waiting", 1, Date.now() - 6_000 - Date.parse("2026-01-01T00:00:00Z"), null]], { ended: null, began: new Date(Date.now() - 600_000).toISOString(), questions: [{ id: "q", path: "booked", tool: "booked_tool", arguments: {}, text: "{}", asked: new Date().toISOString() }],
    earlier: [{ at: new Date(Date.now() - 6_000).toISOString(), attempts: [], idle_ms: 540_000 }], decisions: [{ question: null, path: "", tool: null, decision: "retry", by: "Ada", reason: null, at: new Date(Date.now() - 6_000).toISOString() }] });
  await page.evaluate(() => (location.hash = "#/runs/r0009?step=booked"));
  await wait(page, () => /^The axis leaves out 9 min 5\d s without an attempt of this timeline: 9 min between an end and a retry and 5\d\.\d\d s of waits\.$/.test(document.querySelector("#timeline .idle")?.textContent));
  await wait(page, () => /Started.* \d s so far/.test(document.querySelector("#step-details dl")?.textContent));
  const { began, decisions } = stub.runs.get("r0009");
  made(stub, "r0010", "running", [["all", false]], [["all", "running", 1, Date.parse(began) - Date.parse("2026-01-01T00:00:00Z"), null]], { ended: null, began, decisions });
  await page.evaluate(() => (location.hash = "#/runs/r0010?step=all"));
  await wait(page, () => /Started.* 10 min so far/.test(document.querySelector("#step-details dl")?.textContent));
  await close(page);
}));

await test("the label of a restart is inside its card", () => stubbed({}, async (stub) => {
  made(stub, "r0001", "done", [["a", true]], [["a", "completed", 1, 0, 900]]);
  const page = await open(stub.url, { width: 390, height: 800 });
  for (const at of [0.3, 0.5, 0.6, 0.74, 1]) {
    stub.runs.get("r0001").restarts = [new Date(Date.parse("2026-01-01T00:00:00Z") + 900 * at).toISOString()];
    await page.goto(`${stub.origin}/?${at}#/runs/r0001`);
    await says(page, "#timeline .moments li", "server restarted");
    await page.$eval("#timeline", (it) => it.scrollIntoView());
    await show(page, `restart-${at}`);
    const [label, card] = await page.$eval("#timeline .moments li", (it) => [it, it.closest(".card")].map((one) => (({ left, right }) => [left, right])(one.getBoundingClientRect())));
    assert.ok(label[0] >= card[0] && label[1] <= card[1], JSON.stringify([at, label, card]));
  }
  await close(page);
}));

await test("a refused run names the person who has refused", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", for: 3, arguments: { to: "ada" } }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 1);
  await page.click("#start");
  await says(page, "#questions h3", "3 calls of send_mail");
  // Without a chosen step, the output and the inputs are in the right column.
  const [result, live] = await page.$$eval("#result, #live", (all) => all.map((it) => it.getBoundingClientRect().left).sort((a, b) => b - a));
  assert.ok(result > live + 300, `${result} and ${live}`);
  await press(page, "Refuse all 3…", "#questions");
  await page.type("#questions .together > form input", "Not today.");
  await press(page, "Refuse all 3", "#questions");
  await says(page, "#run-next", "was refused by Ada Lovelace at ");
  await says(page, "#run-next", "because “Not today.”");
  assert.doesNotMatch(await text(page, "#run-next"), /”\./);
  await says(page, "#run-next", "Next, you: retry the run if you want to answer the question again.");
  assert.doesNotMatch(await text(page, "#run-next"), /cause of the error/);
  // The failed elements are listed, as in the report.
  await says(page, "#run-wrong", "sent: 3 of 3 elements failed: [0], [1], [2]");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await close(page);
}));

await test("the ended elements of a list of lists", () => stubbed({}, async (stub) => {
  made(stub, "r0001", "running", [["all", false]], [["all", "running", 1, 5, null], ["all[0][0]", "completed", 1, 5, 20]], { ended: null });
  stub.runs.get("r0001").events.push({ path: "all", status: "running", elements: 3, ended: 2 });
  const page = await open(stub.url, { at: "#/runs/r0001" });
  await says(page, "#timeline .said", "2 of 3");
  // A done run with failed elements is not retried, and the page tells why.
  made(stub, "r0002", "done", [["all", false]], [["all", "recovered", 1, 5, 30, "the line was busy"], ["all[0]", "failed", 1, 5, 20, "the line was busy"]]);
  await page.evaluate(() => (location.hash = "#/runs/r0002"));
  await says(page, "#run-wrong", "1 of 1 element failed: [0]");
  await says(page, "#run-wrong", "a retry is not possible");
  assert.equal(await page.$eval("#retry", (it) => it.hidden), true);
  await close(page);
}));

await test("the bar of a recovered step", () => stubbed({}, async (stub) => {
  made(stub, "r0001", "done", [["looked", true]], [["looked", "recovered", 1, 5, 290, "the line was busy"]]);
  const page = await open(stub.url, { at: "#/runs/r0001" });
  await page.waitForSelector("#timeline .row.recovered i.bad");
  const [bar, tone] = await page.evaluate(() => [getComputedStyle(document.querySelector("#timeline .row i")).backgroundColor, ...(() => {
    const probe = document.querySelector("#timeline .row.recovered").appendChild(document.createElement("b"));
    probe.style.background = "color-mix(in srgb, var(--recovered) 80%, transparent)";
    return [getComputedStyle(probe).backgroundColor];
  })()]);
  assert.equal(bar, tone);
  await close(page);
}));

// The end of a wide run moves neither its graph nor its timeline.
for (const [end, more] of [["done", { output: "It is done." }], ["failed", { error: { path: "s9", message: "busy" } }]]) await test(`a wide run keeps its place, ${end}`, () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { width: 1280, height: 700 });
  const boxes = Array.from({ length: 12 }, (_, at) => `<g class="node acts" data-path="s${at}" tabindex="0" role="button"><rect class="box" x="${at * 150}" y="10" width="130" height="40"/><text x="${at * 150 + 8}" y="30">s${at}</text></g>`).join("");
  const steps = Array.from({ length: 12 }, (_, at) => [`s${at}`, true]);
  const events = steps.map(([path], at) => [path, "completed", 1, at * 50, at * 50 + 40]);
  made(stub, "r0001", "running", steps, [...events.slice(0, 9), ["s9", "running", 1, 450, null]], { ended: null, svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1800 60">${boxes}</svg>` });
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await says(page, "#run-next", "runs s9");
  await page.waitForSelector("#run-parts.wide");
  await page.evaluate(() => scrollTo(0, document.querySelector("#timeline").getBoundingClientRect().top - 60));
  const places = () => page.evaluate(() => ["#live-title", "#live svg", "#timeline-title", "#timeline .rows"].map((of) => {
    const { left, top, width } = document.querySelector(of).getBoundingClientRect();
    return [left, top, width].map(Math.round);
  }));
  const before = await places();
  Object.assign(stub.runs.get("r0001"), { state: end, ended: new Date(Date.parse("2026-01-01T00:00:00Z") + 700).toISOString(), events: end === "done" ? events.map(([path, status, attempt, ...rest]) => ({ path, status, attempt, started_ms: rest[0] + Date.parse("2026-01-01T00:00:00Z"), ended_ms: rest[1] + Date.parse("2026-01-01T00:00:00Z"), error: null })) : [...stub.runs.get("r0001").events.slice(0, 9), { path: "s9", status: "failed", attempt: 1, started_ms: 450 + Date.parse("2026-01-01T00:00:00Z"), ended_ms: 500 + Date.parse("2026-01-01T00:00:00Z"), error: "busy" }] }, more);
  stub.drop();
  await says(page, "#run-facts", end);
  page.wrong = page.wrong.filter((it) => !/ERR_INCOMPLETE|net::/.test(it));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const after = await places();
  await show(page, `wide-${end}`);
  assert.ok(before.flat().every((one, at) => Math.abs(one - after.flat()[at]) <= 4), `${JSON.stringify(before)} becomes ${JSON.stringify(after)}`);
  page.wrong = page.wrong.filter((it) => !/ERR_INCOMPLETE|net::/.test(it));
  await close(page);
}));

await test("a run on paper", () => stubbed({ pace: 5 }, async (stub) => {
  const page = await open(stub.url, { scheme: "dark", width: 720 });
  await put(page, JSON.stringify([{ id: "one", tool: "list_mails", arguments: {} }, { id: "two", tool: "list_mails", arguments: {}, after: ["one"] }]));
  await wait(page, () => document.querySelectorAll("#picture .node").length === 2);
  await page.click("#start");
  await says(page, "#run-facts", "done");
  await press(page, "two", "#timeline");
  await page.waitForSelector("#step-card:not([hidden])");
  await page.emulateMediaType("print");
  const shown = await page.evaluate(() => {
    const seen = (selector) => [...document.querySelectorAll(selector)].filter((it) => it.getClientRects().length);
    return { buttons: seen("button:not(.link), input, select").map((it) => it.textContent), outputs: seen("#result pre, #step-details pre").length, card: getComputedStyle(document.querySelector(".card")).backgroundColor,
      chosen: getComputedStyle(document.querySelector(".row.chosen")).backgroundColor, wide: document.documentElement.scrollWidth - innerWidth, axis: document.querySelector("#timeline .axis").getBoundingClientRect().right <= innerWidth };
  });
  assert.deepEqual(shown, { buttons: [], outputs: 1, card: "rgb(255, 255, 255)", chosen: "rgba(0, 0, 0, 0)", wide: 0, axis: true });
  await show(page, "paper");
  await close(page);
}));
