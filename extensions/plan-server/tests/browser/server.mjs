// The server itself: samples, runs, findings and attempts.

import assert from "node:assert/strict";
import path from "node:path";
import { axe, button, close, contrast, drawn, faulty, fits, gone, looks, open, press, put, sample, says, served, show, shown, test, text, wait } from "./harness.mjs";

await test("the server, all samples", () => served(async (server) => {
  const page = await open(server.url);
  await faulty(page);
  await show(page, "server-faulty");
  assert.equal(await page.$$eval("#findings .is-error", (all) => all.length), 5);
  const samples = await page.$$eval("#sample option", (all) => all.map((it) => it.value).filter(Boolean));
  assert.equal(samples.length, 8);
  let started = 0;
  for (const sample of samples) {
    await page.click("#to-editor");
    await Promise.all([page.waitForResponse((it) => it.url().endsWith("/api/check")), page.select("#sample", "").then(() => page.select("#sample", sample))]);
    await wait(page, () => document.querySelector("#findings .is-error") || document.querySelector("#picture .node"));
    if (await page.$("#findings .is-error")) continue;
    for (const field of await page.$$("#inputs input")) await field.type("1");
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await wait(page, () => /done|failed|cancelled|waiting/.test(document.querySelector("#run-facts").textContent) && document.querySelector("#timeline .row"));
    assert.deepEqual(await axe(page), []);
    await show(page, `server-run-${sample}`);
    started += 1;
  }
  assert.equal(started, 7);
  await page.click("#to-runs");
  await wait(page, (started) => document.querySelectorAll("#runs tbody tr").length === started, started);
  await page.click("#states a[href*=waiting]");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 1);
  await show(page, "server-runs");
  await close(page);
}));

for (const [kills, name, options] of [[false, "light", {}], [true, "killed", { allowed: gone }], [false, "dark", { scheme: "dark" }], [false, "narrow", { width: 360, height: 740 }]]) {
  await test(`the server, the whole way, ${name}`, () => served(async (server) => {
    const page = await open(server.url, options);
    const kill = async () => {
      if (!kills) return;
      const before = await page.$$eval("#questions .question", (all) => all.map((it) => it.dataset.of));
      await server.end("SIGKILL");
      await says(page, "#connection", "Connection lost");
      await server.begin();
      await says(page, "#connection", "Live");
      // The server that was killed has taken its questions with it.
      await wait(page, (before) => [...document.querySelectorAll("#questions .question")].every((it) => !before.includes(it.dataset.of)), before);
    };
    // A faulty plan is mended at the places that its findings say.
    await faulty(page);
    const mistakes = [["email_list", "emails_list"], ["latest.result.form", "latest.result.from"], ['"text": 5', '"text": "See you there."'], ["latest.result.cc", "latest.result.from"], ["lates.result", "latest.result"]];
    for (const [left, [wrong, right]] of mistakes.entries()) {
      await page.$eval("#text", (area, wrong) => {
        const at = area.value.indexOf(wrong);
        area.focus();
        area.setSelectionRange(at, at + wrong.length);
      }, wrong);
      await page.keyboard.type(right);
      await wait(page, (count) => document.querySelectorAll("#findings .is-error").length === count, mistakes.length - 1 - left);
    }
    await drawn(page, 4);
    await page.click('#picture [data-path="latest"]');
    assert.deepEqual(await page.$$eval("#picture .node.affected", (all) => all.map((it) => it.dataset.path).sort()), ["copy", "sent"]);
    await show(page, `server-plan-${name}`);
    await fits(page);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    // Its input, and an approval of each call.
    await page.click("#start");
    assert.equal(await text(page, "#input-0-error"), "Enter a value.");
    await page.type("#input-0", "sarah");
    await page.click("#start");
    await says(page, "#questions h3", "email_send");
    await wait(page, () => document.querySelectorAll("#questions .choices button.primary").length === 2);
    await show(page, `server-question-${name}`);
    if (shown && ["light", "dark"].includes(name)) {
      // The pictures of the README.
      await page.setViewport({ width: 1200, height: 800 });
      await page.screenshot({ path: path.join(shown, name === "light" ? "page.png" : "page-dark.png"), fullPage: true });
      await page.setViewport({ width: 1400, height: 1000 });
    }
    await fits(page);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    const asked = await page.$$eval("#questions .question", (all) => all.map((it) => it.dataset.of));
    assert.equal(asked.length, 2);
    await kill();
    // Another process asks again, under numbers of its own: an answer to an old question is no answer to a new one.
    if (kills) await wait(page, (asked) => [...document.querySelectorAll("#questions .question")].filter((it) => !asked.includes(it.dataset.of)).length === 2, asked);
    await press(page, "Allow", "#questions");
    await wait(page, () => document.querySelectorAll("#questions .choices button.primary").length === 1);
    // The card moves to the place of the one that was answered, so that a click by its place would miss it.
    await (await button(page, "Allow", "#questions")).evaluate((it) => it.click());
    await says(page, "#run-facts", "done");
    await wait(page, () => document.querySelectorAll("#live .node.completed").length === 4 && document.querySelectorAll("#timeline .row.completed").length === 4);
    await show(page, `server-done-${name}`);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    assert.equal(server.effects().length, 2);
    // The report, in its frame.
    await press(page, "Open the report");
    await page.waitForSelector("#report-dialog[open] iframe");
    const frame = await (await page.$("#report-frame iframe")).contentFrame();
    await frame.waitForSelector("svg.graph a.node");
    await frame.waitForFunction(() => [...document.styleSheets].length === 1);
    // A value has room on each screen, and a legible graph fits into the page.
    const room = await frame.$$eval("header dd", (all) => Math.min(...all.map((it) => it.getBoundingClientRect().width)));
    assert.ok(room > 200, `a value has ${room} pixels`);
    assert.equal(await frame.$eval(".scroll", (it) => it.scrollWidth <= it.clientWidth), true);
    assert.deepEqual((await frame.$$eval(".legend li", (all) => all.map((it) => it.textContent))).slice(0, 2), ["✓ completed", "starts at once"]);
    await frame.$eval("svg.graph a.node", (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
    await frame.waitForSelector("aside section.shown");
    assert.match(await frame.$eval("header", (it) => it.textContent), /✓ done.*Run[a-z]{2}-[0-9a-f]{16}.*Ended.*Input sender"sarah"/s);
    // A search in the report lists the steps that it finds.
    await frame.type("#find", "email_send");
    await frame.waitForFunction(() => [...document.querySelectorAll(".row")].filter((row) => row.getClientRects().length).length === 2);
    assert.equal(await text(frame, "#found"), "2 of 4 steps");
    await new Promise((resolve) => setTimeout(resolve, 200));
    await show(page, `server-report-${name}`);
    await press(page, "Close", "#report-dialog");
    await wait(page, () => !document.querySelector("iframe"));

    // A step that waits for a value, over the end of a server.
    await page.click("#to-editor");
    await sample(page, "Book an event");
    await drawn(page, 4);
    await wait(page, () => document.querySelector("#inputs").hidden);
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await says(page, "#waits h3", "room");
    await show(page, `server-waiting-${name}`);
    await kill();
    await page.type("#waits textarea, #waits input", "Room B2");
    await press(page, "Send the value", "#waits");
    await says(page, "#run-facts", "done");
    await says(page, "#result pre", "Room B2");

    // The same, cancelled: what was booked is cancelled, too. A page that is loaded again shows the same.
    await page.click("#to-editor");
    await sample(page, "Book an event");
    await drawn(page, 4);
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await says(page, "#waits h3", "room");
    await kill();
    await press(page, "Cancel the run…");
    await press(page, "Cancel the run", "#cancel-dialog");
    await says(page, "#undone", "back");
    await page.waitForSelector('#live [data-path="booked"].undone');
    assert.match(await page.$eval('#live [data-path="back"]', (it) => `${it.classList} ${it.getAttribute("aria-label")}`), /\bundo\b.*undo: event_cancel, undoes booked/);
    assert.match(await page.$eval('#live [data-to="back"][data-from="booked"]', (it) => getComputedStyle(it).strokeDasharray), /^1px, 4px$/);
    await page.reload();
    await says(page, "#undone", "back");
    await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 2);
    await show(page, `server-cancelled-${name}`);
    await fits(page);
    // No call was made again, but those of the servers that were killed while it ran, of which there were none.
    const made = server.effects();
    assert.deepEqual(made.map((effect) => [effect.tool, effect.again]), ["email_send", "email_send", "event_book", "email_send", "event_book", "event_cancel"].map((tool) => [tool, false]));
    await close(page);
  }));
}

await test("the server, findings by keyboard, a refusal, and attempts", () => served(async (server) => {
  const page = await open(server.url);
  await faulty(page);
  // F8 goes to each finding and selects what it is about; what is typed replaces it.
  await page.focus("#text");
  const right = [[/email_list\b/, "emails_list"], [/\.form\b/, ".from"], [/^5$/, '"Thanks."'], [/\.cc\b/, ".from"], [/\blates\b/, "latest"]];
  for (let left = right.length; left; left -= 1) {
    await page.keyboard.press("F8");
    const selected = await page.$eval("#text", (area) => area.value.slice(area.selectionStart, area.selectionEnd));
    const one = right.find(([wrong]) => wrong.test(selected));
    assert.ok(one, `F8 selects ${selected}`);
    await page.keyboard.type(selected.replace(...one));
    await wait(page, (count) => document.querySelectorAll("#findings .is-error").length === count, left - 1);
  }
  await drawn(page, 4);

  // Inputs of different types, each checked before it is sent.
  await sample(page, "Reply to an e-mail");
  await drawn(page, 2);
  const input = (name) => page.$$eval("#inputs .input", (all, name) => `#${all.find((it) => it.querySelector("bdi").textContent === name).querySelector("input").id}`, name);
  await page.type(await input("sender"), "ada@example.org");
  await page.type(await input("limit"), "2.5");
  await page.type(await input("text"), "Well done.");
  await page.click("#start");
  await says(page, ".wrong", "Enter a whole number");
  assert.equal(`#${await page.evaluate(() => document.activeElement.id)}`, await input("limit"));
  for (let key = 0; key < 2; key += 1) await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await says(page, "#questions pre", "Well done.");
  assert.deepEqual(server.effects(), []);
  await press(page, "Refuse…", "#questions");
  await page.type("#questions input", "not to her");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-facts", "failed");
  await says(page, "#run-wrong", "not to her");
  await page.waitForSelector('#live [data-path="sent"].failed');
  // The failed step is open from the start.
  await says(page, "#step-details .error", "not to her");
  // Nobody has made the call, so its bar is the wait for the person.
  await wait(page, () => /the wait for an answer took [^)]*\): was refused: not to her/.test(document.querySelector("#timeline .row.failed .said")?.textContent));
  assert.deepEqual(await page.$$eval("#timeline .row.failed i", (all) => all.map((it) => it.className)), ["turn"]);
  await show(page, "server-failed-light");
  assert.deepEqual(server.effects(), []);
  await press(page, "Open the report");
  await page.waitForSelector("#report-dialog[open] iframe");
  const report = await (await page.$("#report-frame iframe")).contentFrame();
  await report.waitForSelector("header .error");
  assert.deepEqual(await report.$$eval(".row.failed rect:not(.bar, .frame)", (all) => all.map((it) => it.getAttribute("class"))), ["waits"]);
  assert.match(await report.$eval("header", (it) => it.textContent), /✗ failed.*Input text"Well done\."/s);
  assert.match(await report.$eval("[aria-label='Answers and retries']", (it) => it.textContent), /refused by Ada Lovelace.*because “not to her”; the arguments were:.*text: "Well done\."/s);
  // The failed step is open, and a print contains it as well.
  assert.equal(await report.$eval("aside .step.shown h2", (it) => it.textContent), "sent");
  await report.$eval("aside .step.shown", (it) => it.classList.remove("shown"));
  await page.emulateMediaType("print");
  assert.equal(await report.$eval("aside .step.failed", (it) => getComputedStyle(it).display), "block");
  await page.emulateMediaType("screen");
  // Times are those of the reader, with their zone.
  assert.match(await report.$eval("header time", (it) => `${it.textContent} ${it.title}`), /\d{1,2}:\d\d:\d\d.* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  assert.deepEqual(await axe(report, null, { "label-content-name-mismatch": { enabled: true } }), []);
  await show(page, "server-report-failed-light");
  // A button of the page prints the whole report. The page itself prints only a hint.
  await report.evaluate(() => (window.print = () => (window.printed = true)));
  await press(page, "Print", "#report-dialog");
  await report.waitForFunction(() => window.printed);
  // Escape in the report closes the chosen step, and then the report.
  await report.focus(".row.failed");
  await page.keyboard.press("Enter");
  await report.waitForSelector("aside .step.shown");
  await page.keyboard.press("Escape");
  await report.waitForSelector("aside:not(:has(.step.shown))");
  assert.equal(await page.$eval("#report-dialog", (it) => it.open), true);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#report-dialog:not([open])");
  // The failed step runs again, and a person is asked again. The time of the person is not the time of the tool.
  await press(page, "Retry from the failure…");
  await press(page, "Retry the run", "#retry-dialog");
  await says(page, "#questions pre", "Well done.");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await page.click('#live [data-path="sent"] .box');
  await wait(page, () => /the tool took [\d.]+ (µs|ms), the wait for an answer took \d\.\d\d s/.test(document.querySelector("#step-details").textContent));
  await says(page, "#step-details pre[aria-label=Arguments]", "Well done.");
  await says(page, "#step-details pre[aria-label=Output]", '"number": 1');
  await show(page, "server-step-light");
  assert.equal(server.effects().length, 1);
  // A new run with the same inputs, whose question is in the list of all questions.
  await press(page, "Run again…");
  await press(page, "Run the plan again", "#again-dialog");
  await says(page, "#questions pre", "Well done.");
  await page.click("#to-inbox");
  await press(page, "Allow", "#inbox");
  await says(page, "#inbox-count", "Nothing is waiting.");
  await page.click("#to-runs");
  await page.type("#filter-text", "WELL DONE");
  await page.keyboard.press("Enter");
  await says(page, "#runs-count", "2 runs");
  await wait(page, () => document.querySelectorAll("#runs .state.done").length === 2);
  assert.equal(server.effects().length, 2);
  // Without the text of the author, a run has its plan as plan JSON, with its inputs.
  await page.$eval("#runs a", (it) => it.click());
  await says(page, "#run-facts", "done");
  await page.evaluate(() => sessionStorage.removeItem("plans"));
  await page.reload();
  await press(page, "Edit this plan");
  await drawn(page, 2);
  assert.equal(await text(page, "#findings-count"), "No errors and no warnings. Format: plan JSON.");
  assert.equal(await page.$eval(await input("text"), (it) => it.value), "Well done.");
  await page.click("#to-runs");
  await page.waitForSelector("#runs a");

  // The timeline is the same when the page is loaded again.
  await page.click("#to-editor");
  await sample(page, "A slow step");
  await drawn(page, 3);
  await page.click('[name=approve][value="none"]');
  await page.click("#start");
  await says(page, "#run-facts", "done");
  const bars = () => page.$$eval("#timeline .row", (all) => all.map((it) => [it.querySelector(".name bdi").textContent, it.querySelector(".status").textContent,
    [...it.querySelectorAll("i")].map((bar) => [bar.className, Math.round(parseFloat(bar.style.left)), Math.round(parseFloat(bar.style.width))])]));
  await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 3);
  const before = await bars();
  assert.deepEqual(before.find(([name]) => name === "step1")[2].map(([name]) => name), ["bad", "bad", ""]);
  await show(page, "server-attempts-light");
  await page.reload();
  await says(page, "#run-facts", "done");
  await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 3);
  const after = await bars();
  const near = (a, b) => a.length === b.length && a.every(([name, status, some], at) => name === b[at][0] && status === b[at][1] && some.length === b[at][2].length
    && some.every(([tone, left, width], bar) => tone === b[at][2][bar][0] && Math.abs(left - b[at][2][bar][1]) <= 2 && Math.abs(width - b[at][2][bar][2]) <= 2));
  assert.ok(near(before, after), `${JSON.stringify(before)} becomes ${JSON.stringify(after)}`);
  await page.click("#to-runs");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 3);
  await page.type("#filter-text", "patience");
  await page.keyboard.press("Enter");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 1);
  await says(page, "#runs", "patience");
  await close(page);
}));

await test("the server, several runs at once", () => served(async (server) => {
  const { origin, hash } = new URL(server.url);
  const begin = async (name, step, approve) => (await fetch(`${origin}/api/runs`, { method: "POST", headers: { Authorization: `Bearer ${hash.slice("#token=".length)}`, "Content-Type": "application/json" }, body: JSON.stringify({ text: JSON.stringify({ name, steps: [{ id: step.id, tool: { name: step.tool }, arguments: { object: step.arguments } }] }), approve }) })).json();
  for (const name of ["b", "c", "a"]) await begin(name, { id: "line", tool: "flaky", arguments: { failures: 1 } }, "none");
  for (const name of ["e", "d"]) await begin(name, { id: "sent", tool: "email_send", arguments: { to: "ada@example.org", subject: name } }, "each");
  const page = await open(server.url, { at: "#/runs?sort=plan" });
  await wait(page, () => [...document.querySelectorAll("#runs tbody a")].map((it) => it.textContent).join("") === "abcde");
  await says(page, "#states", "Failed 3");
  await says(page, "#runs", "for an answer");
  await page.click("#choose-all");
  await press(page, "Cancel 2…");
  await press(page, "Cancel the runs", "#all-dialog");
  await says(page, "#states", "Cancelled 2");
  await page.click("#states a[href*=cancelled]");
  await wait(page, () => [...document.querySelectorAll("#runs tbody a")].map((it) => it.textContent).join("") === "de");
  await page.click("#choose-all");
  await press(page, "Resume 2…");
  await press(page, "Resume the runs", "#all-dialog");
  await says(page, "#states", "Waiting 2");
  assert.equal(server.effects().filter(({ tool }) => tool === "email_send").length, 0);
  await close(page);
}));

// A call whose arguments cannot be computed is not made, and has no duration.
await test("the server, a step without a call", () => served(async (server) => {
  const page = await open(server.url, { width: 390, height: 800 });
  await put(page, JSON.stringify({ steps: [{ id: "found", tool: "contacts_find", arguments: { name: "nobody" } }, { id: "slow", tool: "slow", arguments: { ms: 700 } }, { id: "sent", after: ["slow"], tool: "email_send", arguments: { to: "$ref:found.0.email", subject: "x" } }], output_steps: ["sent"] }));
  await drawn(page, 3);
  await page.click('[name=approve][value="none"]');
  await page.click("#start");
  await says(page, "#run-wrong", "found has 0 elements, so the list has no element 0");
  await says(page, "#step-details", "without a call of email_send");
  await says(page, "#step-details", "The run could not compute the arguments, so it made no call.");
  assert.doesNotMatch(await text(page, "#step-details"), /[Tt]ook/);
  assert.match(await page.$eval("#timeline .row.failed .said", (it) => it.innerText), /^failed: argument/);
  // The labels of the axis do not overlap on a narrow screen.
  await wait(page, () => {
    const labels = [...document.querySelectorAll("#timeline .ticks span")].map((it) => {
      const range = document.createRange();
      range.selectNodeContents(it);
      return range.getBoundingClientRect();
    }).filter(({ width }) => width);
    return labels.length > 1 && labels.every(({ left }, at) => !at || left >= labels[at - 1].right);
  });
  await press(page, "Open the report");
  await page.waitForSelector("#report-dialog[open] iframe");
  const rows = await page.$$eval("#report-dialog .bar-of button", (all) => new Set(all.map((it) => Math.round(it.getBoundingClientRect().top))).size);
  assert.equal(rows, 2);
  // The buttons of the second row fill the row.
  assert.ok(await page.$$eval("#report-dialog .bar-of button", (all) => {
    const below = all.map((it) => it.getBoundingClientRect()).sort((a, b) => b.top - a.top || a.left - b.left).slice(0, 3);
    return below[1].left - below[0].right < 8 && below[2].left - below[1].right < 8;
  }));
  assert.ok(await page.$eval("#report-dialog", (it) => it.scrollWidth <= it.clientWidth));
  const frame = await (await page.$("#report-frame iframe")).contentFrame();
  await frame.waitForSelector("#find");
  // The whole placeholder is visible.
  assert.ok(await frame.$eval("#find", (it) => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = getComputedStyle(it).font;
    const { paddingLeft, paddingRight } = getComputedStyle(it);
    return canvas.measureText(it.placeholder).width <= it.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  }));
  await looks(page, "server-no-call-narrow");
  await close(page);
}));

await test("the server, times after a retry", () => served(async (server) => {
  const page = await open(server.url);
  await sample(page, "Book a meeting");
  await drawn(page, 4);
  await page.click("#start");
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "invite_ada");
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-next", "invite_ada was refused by Ada Lovelace");
  await press(page, "Retry from the failure…");
  await press(page, "Retry the run", "#retry-dialog");
  await says(page, "#questions h3", "book_meeting");
  // Live and after a reload, only the steps of this attempt have times, and the wait began after the retry.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    await says(page, "#timeline .row.waiting", "book_meeting");
    const rows = await page.$$eval("#timeline .row", (all) => Object.fromEntries(all.map((it) => [it.querySelector("bdi").textContent, [it.querySelector(".said").innerText.trim(), ...[...it.querySelectorAll("i:not(.before)")].map((bar) => parseFloat(bar.style.left))]])));
    assert.deepEqual([rows.invite_ada, rows.cancel_meeting], [["not started"], ["not started"]]);
    assert.ok(rows.book_meeting.at(-1) > 3, JSON.stringify(rows));
  }
  await close(page);
}));

// A retry repeats a permanent error, so it is not the first button. An element whose call was refused remains in its list.
await test("the server, permanent errors, and a refused element", () => served(async (server) => {
  const page = await open(server.url);
  const primary = () => page.$$eval("#run-view .bar-of:first-child button.primary", (all) => all.filter((it) => it.getClientRects().length).map((it) => it.textContent));
  const begin = async (steps, approve) => {
    await page.click("#to-editor");
    await put(page, JSON.stringify({ steps, output_steps: [steps.at(-1).id] }));
    await drawn(page, steps.length);
    await page.click(`[name=approve][value="${approve}"]`);
    await page.click("#start");
  };
  await begin([{ id: "line", tool: "flaky", arguments: { failures: 1 } }], "none");
  await says(page, "#run-facts", "failed");
  assert.deepEqual(await primary(), ["Retry from the failure…"]);
  await says(page, "#run-next", "correct the cause of the error, and retry the run.");
  await begin([{ id: "found", tool: "contacts_find", arguments: { name: "nobody" } }, { id: "sent", tool: "email_send", arguments: { to: "$ref:found.0.email", subject: "x" } }], "none");
  await says(page, "#run-facts", "failed");
  assert.deepEqual(await primary(), ["Edit this plan"]);
  await says(page, "#run-next", "change the plan or its inputs, and run the plan again.");
  await begin([{ id: "sent", tool: "email_send", arguments: { to: "ada@example.org", subject: "x" } }], "each");
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-facts", "failed");
  assert.deepEqual(await primary(), ["Edit this plan"]);
  await page.click("#to-editor");
  await put(page, JSON.stringify({ name: "three", steps: [{ id: "sent", for: { pattern: "to", list: ["a@example.org", "b@example.org", "c@example.org"], body: { tool: { name: "email_send" }, arguments: { object: { to: { reference: { local: 0, pointer: "" } }, subject: "Hello" } } } } }] }));
  await drawn(page, 1);
  await page.click('[name=approve][value="each"]');
  await page.click("#start");
  await press(page, "Answer one by one", "#questions");
  await says(page, "#questions .question .question h4", "sent[0]");
  await press(page, "Allow", "#questions .question .question");
  await says(page, "#timeline .said", "1 of 3");
  await press(page, "Refuse…", "#questions .question .question");
  await page.type("#questions .question .question input", "not to them");
  await press(page, "Refuse the call", "#questions .question .question");
  await says(page, "#run-facts", "failed");
  // The list has all elements at once and after a reload.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    assert.deepEqual(await primary(), ["Edit this plan"]);
    await press(page, "Show 3 elements, 1 failed", "#timeline");
    await wait(page, () => document.querySelectorAll("#timeline .row.inner").length === 3);
    const rows = await page.$$eval("#timeline .row.inner", (all) => all.map((it) => [it.querySelector("bdi").textContent, it.querySelector(".status").textContent, it.querySelector(".said > bdi").textContent]));
    assert.deepEqual([rows[0], rows.at(-1)], [["[1]", "failed", "was refused: not to them"], ["[0]", "completed", ""]]);
    assert.deepEqual(rows[1], ["[2]", "cancelled", "the step has ended before an answer"]);
    await says(page, "#run-wrong", "sent: 1 of 3 elements failed: [1]");
  }
  await show(page, "server-refused-element");
  await close(page);
}));
