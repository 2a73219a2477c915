// Changed arguments, large pictures and comparisons of two runs.

import assert from "node:assert/strict";
import { axe, begin, close, contrast, drawn, faint, fits, gone, open, press, put, says, served, show, stubbed, test, text, wait } from "./harness.mjs";

const SHAPES = [["light", {}], ["dark", { scheme: "dark" }], ["narrow", { width: 360, height: 740 }]];
const looks = async (page, name, within) => {
  await show(page, name);
  await fits(page);
  assert.deepEqual([...(await contrast(page)), ...(await axe(page, within))], []);
};
const chain = (count) => JSON.stringify(Array.from({ length: count }, (_, at) => ({ id: `s${at}`, tool: "list_mails", arguments: { sender: at ? `{{s${at - 1}.result.id}}` : "sarah" } })));
const FIELDS = "#questions form:not([hidden]) :is(input, textarea)";
const field = (page, at, value) => page.$$eval(FIELDS, (all, at, value) => {
  all[at].value = value;
  all[at].dispatchEvent(new Event("input", { bubbles: true }));
}, at, value);
const type = (page, value) => field(page, 0, value);
const values = (page) => page.$$eval(FIELDS, (all) => all.filter((it) => it.getClientRects().length).map((it) => it.value));

// Events have no values of answers, so the page asks for the values.
await test("changed arguments of a run that still waits", () => stubbed({ pace: 40 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "sarah", text: "Hello" } }, { id: "last", tool: "send_mail", arguments: { to: "ada", text: "{{sent.result}}" } }]));
  await drawn(page, 2);
  await page.click("#start");
  await press(page, "Edit…", "#questions");
  await page.waitForSelector("#questions form:not([hidden]) .input", { visible: true });
  await field(page, 0, "sam");
  await press(page, "Allow with these arguments", "#questions");
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    await says(page, "#questions h3", "last");
    await says(page, "#decisions .changes del", "sarah");
    await says(page, "#decisions .changes ins", "sam");
  }
  await close(page);
}));

for (const [shape, options] of SHAPES) {
  await test(`changed arguments, ${shape}`, () => stubbed({ pace: 40 }, async (stub) => {
    const page = await open(stub.url, { ...options, allowed: /422/ });
    await put(page, JSON.stringify([{ id: "sent", tool: "send_mail", arguments: { to: "sarah", text: "evil\u202e" } }, { id: "last", tool: "list_mails", arguments: { sender: "{{sent.result}}" } }]));
    await drawn(page, 2);
    await page.click("#start");
    await page.waitForSelector("#questions .arguments");
    // Each argument is a field, and its value is not shortened.
    assert.deepEqual(await page.$$eval("#questions .arguments > *", (all) => all.map((it) => it.textContent)), ["to", "sarah", "text", '"evil\\u{202e}"']);
    await press(page, "Edit…", "#questions");
    // Each argument has a field in the place of its value. Unseen characters have the escapes of JSON.
    await page.waitForSelector("#questions form:not([hidden]) .input", { visible: true });
    assert.deepEqual(await page.$$eval("#questions form:not([hidden]) label > bdi", (all) => all.map((it) => it.textContent)), ["to", "text"]);
    assert.deepEqual(await values(page), ["sarah", '"evil\\u202e"']);
    assert.equal(await page.$eval("#questions .given", (it) => it.hidden), true);
    assert.match(await page.evaluate(() => document.activeElement.id), /^arguments-\d+-0$/);
    await looks(page, `change-${shape}`);
    // A wrong value is not sent, and has its error beside its field.
    await field(page, 1, '"Hello');
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions .input .wrong", "The value is not JSON");
    assert.equal(await text(page, "#questions [aria-label=Changes]"), "");
    await field(page, 1, '"Hello."');
    // JSON is the second choice. The server rejects arguments that do not fit.
    await press(page, "Edit as JSON", "#questions");
    await says(page, "#questions label", "Changed arguments");
    await type(page, '{"to": "ada"}');
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions form .wrong", "The argument text of send_mail is missing");
    await press(page, "Edit as fields", "#questions");
    assert.deepEqual(await values(page), ["ada", ""]);
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions .input .wrong", "Enter a value.");
    await looks(page, `change-wrong-${shape}`);
    assert.equal(stub.runs.get("r0001").state, "waiting");
    // The way back and a second edit begin with the arguments of the plan.
    await press(page, "Back", "#questions");
    await says(page, "#questions .given pre", "sarah");
    await press(page, "Edit…", "#questions");
    await wait(page, () => document.querySelector("#questions form:not([hidden]) textarea")?.value === "sarah");
    await field(page, 0, "sarah.b");
    await field(page, 1, '"Hello."');
    // Each changed argument is beside its original value.
    assert.deepEqual(await page.$$eval("#questions .changes", (all) => all.map((it) => [...it.querySelectorAll("code, pre")].map((one) => one.innerHTML))), [
      ["to", "sarah", "sarah<ins>.b</ins>"], ["text", '<del>"evil\\u{202e}"</del>', "<ins>Hello.</ins>"]]);
    await looks(page, `changes-${shape}`);
    await field(page, 0, "ada");
    // Typed arguments stay in another view.
    await page.click("#to-inbox");
    await wait(page, () => document.querySelectorAll("#inbox form textarea")[1]?.value.includes("Hello."));
    await page.goBack();
    await wait(page, () => document.querySelectorAll("#questions form textarea")[1]?.value.includes("Hello."));
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#run-facts", "done");
    assert.deepEqual(stub.runs.get("r0001").changed.get("sent"), { to: "ada", text: "Hello." });
    await page.$eval('#live [data-path="sent"]', (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true })));
    await says(page, "#step-details pre[aria-label=Arguments]", "Hello.");
    await says(page, "#step-details", "A person changed the arguments before the call.");
    // The original arguments are in the card, and in the list of answers.
    await says(page, "#step-details .changes del", "sarah");
    await says(page, "#decisions .changes del", "sarah");
    await looks(page, `changed-${shape}`);
    await close(page);
  }));

  await test(`a large picture, ${shape}`, () => stubbed({ pace: 1 }, async (stub) => {
    const page = await open(stub.url, options);
    await put(page, chain(300));
    await drawn(page, 300);
    // The picture is a graph of groups, and no group is open.
    const opened = (place, name) => says(page, `${place} .group-title`, name);
    assert.equal(await page.$$eval("#picture .group", (all) => all.length), 12);
    assert.equal(await text(page, "#picture .group"), "s0 … s24 25 steps 25 only read");
    await wait(page, () => document.querySelectorAll("#picture .group-graph .edge").length === 11);
    // Each group is below the group whose outputs it uses.
    const tops = await page.$$eval("#picture .group", (all) => all.map((it) => it.getBoundingClientRect().top));
    assert.ok(tops.every((top, at) => at === 0 || top > tops[at - 1]), `the tops are ${tops}`);
    assert.deepEqual(await faint(page), []);
    assert.equal(await page.$eval("#picture .scroll", (it) => it.hidden), true);
    await looks(page, `groups-${shape}`, "#picture");
    const seen = () => page.$$eval("#picture .node", (all) => {
      const frame = document.querySelector("#picture svg.graph").getBoundingClientRect();
      return all.filter((node) => {
        const { top, bottom } = node.getBoundingClientRect();
        return bottom > frame.top && top < frame.bottom;
      }).length;
    });
    await page.click("#picture .group:nth-of-type(2)");
    await opened("#picture", "s25 … s49, 25 steps");
    assert.ok((await seen()) >= 25 && (await seen()) <= 27, `${await seen()} steps are visible`);
    const here = () => page.$eval("#picture .map .here", (it) => Math.round(Number(it.getAttribute("y"))));
    assert.ok(Math.abs((await here()) - (25 * 80 + 10)) < 40, `the map marks ${await here()}`);
    await looks(page, `group-${shape}`, "#picture");
    // The keyboard goes into the next group, which opens.
    await page.$eval('#picture [data-path="s49"]', (it) => it.focus());
    await page.keyboard.press("ArrowDown");
    await wait(page, () => document.activeElement.dataset.path === "s50");
    await opened("#picture", "s50 … s74, 25 steps");
    // A click on the map opens the group of the place.
    await page.$eval("#picture .map", (it) => {
      const { left, top, height, width } = it.getBoundingClientRect();
      it.dispatchEvent(new MouseEvent("click", { clientX: left + width / 2, clientY: top + height - 1 }));
    });
    await opened("#picture", "s275 … s299");
    await press(page, "Previous group", "#picture");
    await opened("#picture", "s250 … s274");
    await press(page, "All groups", "#picture");
    assert.equal(await page.evaluate(() => document.activeElement.textContent.slice(0, 11)), "s250 … s274");
    // The whole picture scrolls, and the map follows.
    await press(page, "Show all steps", "#picture");
    await page.$eval("#picture .scroll", (it) => (it.scrollTop = 4000));
    await wait(page, () => Number(document.querySelector("#picture .map .here").getAttribute("y")) > 3000);
    await looks(page, `whole-${shape}`, "#picture");
    await press(page, "Show groups", "#picture");
    // A run counts the states of each group, and a chosen step opens its group.
    await put(page, chain(120));
    await drawn(page, 120);
    await page.click("#start");
    await says(page, "#run-facts", "done");
    await says(page, "#live .group", "10 steps 10 completed");
    await wait(page, () => [...document.querySelectorAll("#live .group")].every((it) => it.className === "group completed"));
    await looks(page, `groups-run-${shape}`, "#live");
    await press(page, "s104", "#timeline");
    await opened("#live", "s100 … s109");
    await press(page, "s109", "#timeline");
    await wait(page, () => {
      const [node, frame] = ['#live [data-path="s109"]', "#live .scroll"].map((it) => document.querySelector(it).getBoundingClientRect());
      return node.height > 0 && node.top >= frame.top && node.bottom <= frame.bottom;
    });
    await looks(page, `group-run-${shape}`, "#live");
    await close(page);
  }));

  // Failed steps come first, and the edges between groups have the number of their steps as a width.
  await test(`a large picture of a failed run, ${shape}`, () => stubbed({ pace: 1 }, async (stub) => {
    const page = await open(stub.url, options);
    const first = Array.from({ length: 40 }, (_, at) => ({ id: `found${at}`, tool: "list_mails", arguments: { sender: "sarah" } }));
    const second = Array.from({ length: 40 }, (_, at) => ({ id: `sent${at}`, tool: "list_all", ...(at === 20 ? { for: 2, fails: [1] } : {}), arguments: { x: `{{found${at}.result.id}}` } }));
    await put(page, JSON.stringify([...first, ...second]));
    await drawn(page, 80);
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await says(page, "#run-facts", "failed");
    await press(page, "All groups", "#live");
    await says(page, "#live .group.failed", "1 failed");
    assert.match(await text(page, "#live .group.failed .counts"), /^1 failed, \d completed$/);
    assert.ok((await page.$$eval("#live .group-graph .edge", (all) => all.length)) > 5);
    // In several columns, no edge crosses a group.
    await page.setViewport({ width: 2400, height: 1000 });
    await wait(page, () => new Set([...document.querySelectorAll("#live .group")].map((it) => it.style.left)).size > 1);
    const crossed = await page.$$eval("#live .group-graph", ([graph]) => {
      const frame = graph.getBoundingClientRect();
      const boxes = [...graph.querySelectorAll(".group")].map((it) => it.getBoundingClientRect());
      return [...graph.querySelectorAll(".edge")].flatMap((edge) => {
        const length = edge.getTotalLength();
        const points = Array.from({ length: 200 }, (_, at) => edge.getPointAtLength((length * at) / 199));
        const hit = boxes.filter((box) => points.some(({ x, y }) => x + frame.left > box.left + 2 && x + frame.left < box.right - 2 && y + frame.top > box.top + 2 && y + frame.top < box.bottom - 2));
        return hit.length > 0 ? [edge.getAttribute("d")] : [];
      });
    });
    assert.deepEqual(crossed, []);
    await page.setViewport({ width: 1400, height: 1000, ...options });
    await looks(page, `groups-failed-${shape}`, "#live");
    await close(page);
  }));

  await test(`two runs, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    const run = async (steps, name) => {
      await page.click("#to-editor");
      await put(page, JSON.stringify(steps));
      await drawn(page, steps.length);
      await page.$eval("#input-0", (it, name) => (it.value = name), name);
      await page.click('[name=approve][value="none"]');
      const before = page.url();
      await page.click("#start");
      await wait(page, (before) => location.hash.includes("/runs/r") && location.href !== before && /done|failed/.test(document.querySelector("#run-facts").textContent), before);
      while ([...stub.runs.values()].some(({ ended }) => !ended)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const each = (fails) => ({ id: "each", tool: "list_all", for: 2, fails, arguments: { x: "{{sent.result}}" } });
    const sent = { id: "sent", tool: "send_mail", arguments: { to: "{{PLACEHOLDER_name}}" } };
    const calm = { id: "calm", tool: "list_mails", arguments: {} };
    await run([calm, sent, each([1])], "Sarah");
    await press(page, "Compare…");
    await says(page, "#compare-runs", "There is no other run of a plan with this name.");
    await looks(page, `compare-none-${shape}`);
    await run([calm, sent, each([])], "Ada");
    // Each step takes 20 ms, except one step of the second run.
    for (const { id, began, events } of stub.runs.values()) {
      for (const event of events) {
        if (event.started_ms) event.started_ms = Date.parse(began);
        if (event.ended_ms) event.ended_ms = Date.parse(began) + (id === "r0002" && event.path === "sent" ? 500 : 20);
      }
    }
    await press(page, "Compare…");
    await says(page, "#compare-runs", "Compare with r0001");
    await looks(page, `compare-choose-${shape}`);
    await page.click("#compare-runs td a, #compare-runs th a");
    await says(page, "#compare-title", "Two runs of mail");
    assert.match(page.url(), /#\/compare\/r0002\/r0001$/);
    await says(page, "#compare-plan .hint", "The plan has changed between these runs.");
    assert.deepEqual(await page.$$eval("#compare-plan :is(del, ins)", (all) => all.map((it) => [it.localName, /"fails":(\[.*?\])/.exec(it.textContent)[1]])), [["del", "[1]"], ["ins", "[]"]]);
    // The differing input and step are listed, and equal ones are counted.
    await says(page, "#compare-inputs pre", "Ada");
    await says(page, "#compare-inputs pre", "Sarah");
    await says(page, "#compare-inputs .hint", "All inputs differ.");
    assert.deepEqual(await page.$$eval("#compare-steps tbody tr", (all) => all.map((row) => [row.firstChild.textContent, row.lastChild.textContent])), [["sent", "time"], ["each", "status, output, error"]]);
    await says(page, "#compare-steps .hint", "1 other step has equal arguments, an equal status, output and error");
    // The differences are marked, and what differs is open.
    assert.deepEqual(await page.$$eval("#compare-inputs pre", (all) => all.map((it) => it.innerHTML)), ["<del>Sarah</del>", "<ins>Ada</ins>"]);
    assert.deepEqual(await page.$$eval("#compare-steps .differs", (all) => all.map((it) => it.textContent)), ["20 ms", "500 ms", "✗failed", "✓completed"]);
    assert.deepEqual(await page.$$eval("#compare-steps details", (all) => all.filter(({ open }) => open).map((it) => [it.closest("tr").firstChild.textContent, it.firstChild.textContent])), [["each", "Output"]]);
    await page.$$eval("#compare-steps details", (all) => all.forEach((it) => (it.open = true)));
    await says(page, "#compare-steps pre", "each[1]");
    await looks(page, `compare-${shape}`);
    // The address shows the comparison again.
    stub.runs.get("r0001").plan = "other";
    await page.reload();
    await says(page, "#compare-steps", "the line was busy");
    await says(page, "#compare-title", "Two runs of different plans");
    await page.evaluate(() => (location.hash = "#/nosuch"));
    await says(page, "#notices", "There is no page at this address");
    await close(page);
  }));
}

for (const [shape, options] of SHAPES) {
  await test(`lists of texts and numbers, ${shape}`, () => stubbed({ pace: 20 }, async (stub) => {
    const page = await open(stub.url, options);
    await put(page, JSON.stringify([{ id: "sent", tool: "tell_all", arguments: { to: "{{PLACEHOLDER_list}}", days: [1, 2], mails: [{ id: 1 }] } }]));
    await drawn(page, 1);
    // The input of a run.
    await page.click("#start");
    await says(page, "#input-0-error", "Add an entry.");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Add an entry");
    await page.keyboard.press("Enter");
    await page.keyboard.type("ada");
    await page.keyboard.press("Enter");
    await page.click("#start");
    await says(page, "#input-0-error", "Entry 2: Enter a value, or remove the entry.");
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Entry 2 of list");
    await looks(page, `list-wrong-${shape}`);
    await page.keyboard.type("bob");
    await page.click("#start");
    await press(page, "Edit…", "#questions");
    await page.waitForSelector("#questions form:not([hidden]) .entry", { visible: true });
    assert.deepEqual(stub.runs.get("r0001").inputs, { list: ["ada", "bob"] });
    // The arguments of the call. A list of objects is JSON.
    const entries = () => page.$$eval("#questions .list-of", (all) => all.map((it) => [...it.querySelectorAll("input")].map(({ value }) => value)));
    stub.runs.get("r0001").questions[0].arguments.to = ["ada", "bob"];
    await press(page, "Back", "#questions");
    await press(page, "Edit…", "#questions");
    await wait(page, () => document.querySelectorAll("#questions .entry").length === 4);
    assert.deepEqual(await entries(), [["ada", "bob"], ["1", "2"]]);
    assert.equal((await page.$$("#questions form:not([hidden]) textarea")).length, 1);
    const remove = await page.$("#questions [aria-label='Remove entry 1 of to']");
    await remove.click();
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Entry 1 of to");
    await page.$$eval("#questions .list-of > button", ([, it]) => it.click());
    await page.keyboard.type("x");
    await looks(page, `list-${shape}`);
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions .wrong", "Entry 3: Enter a number, such as 12 or 0.5.");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("30");
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#run-facts", "done");
    assert.deepEqual(stub.runs.get("r0001").changed.get("sent"), { to: ["bob"], days: [1, 2, 30], mails: [{ id: 1 }] });
    await close(page);
  }));
}

await test("a comparison of steps that did not run", () => stubbed({ pace: 1 }, async (stub) => {
  for (const fails of [[1], [1], []]) await begin(stub, [{ id: "each", tool: "list_all", for: 2, fails, arguments: {} }, { id: "after", tool: "list_mails", arguments: { x: "{{each.result}}" } }], "none");
  const page = await open(stub.url, { at: "#/compare/r0001/r0002" });
  await says(page, "#compare-steps .hint", "1 step has equal arguments");
  await says(page, "#compare-steps .hint", "1 step ran in neither run.");
  await page.evaluate(() => (location.hash = "#/compare/r0002/r0003"));
  await says(page, "#compare-steps td", "blocked did not run");
  assert.ok(!(await text(page, "#compare-steps .hint")).includes("neither"));
  await close(page);
}));

await test("a comparison of undone steps", () => stubbed({ pace: 1 }, async (stub) => {
  const page = await open(stub.url);
  const differences = (first, second) => page.evaluate(async (...both) => (await import("/page/compare.js")).differences(...both), first, second);
  assert.deepEqual(await differences({ status: "completed", undone: true }, { status: "completed" }), ["status"]);
  assert.deepEqual(await differences({ status: "completed", undone: true }, { status: "completed", undone: true }), []);
  const shown = (status) => page.evaluate(async (status) => {
    const { className, textContent } = (await import("/page/dom.js")).stateLike(status);
    return [className, textContent];
  }, status);
  assert.deepEqual(await shown("undone"), ["state undone", "⤺undone"]);
  assert.deepEqual(await shown("completed"), ["state completed", "✓completed"]);
  assert.deepEqual(await shown("constructor"), ["state not-started", "·constructor"]);
  await close(page);
}));

await test("numbers as written", () => stubbed({}, async (stub) => {
  const run = (id, value) => {
    const steps = [{ path: "sent", tool: "send_mail", needs: [], affects: [], affects_count: 0 }];
    const [began, ended] = [Date.parse("2026-01-01T00:00:00Z"), Date.parse("2026-01-01T00:00:01Z")];
    stub.runs.set(id, { id, plan: "mail", state: "done", began: new Date(began).toISOString(), ended: new Date(ended).toISOString(), inputs: { id: value, same: "#1.0#" }, output: { id: value }, questions: [], waits: [], undone: [], watchers: new Set(), svg: null, steps,
      events: [{ path: "sent", status: "completed", attempt: 1, started_ms: began, ended_ms: ended, error: null }], values: new Map([["sent", [value, 2.5]]]), given: new Map([["sent", { id: value }]]), allowed: new Map() });
  };
  // JavaScript reads both as 9007199254740992.
  run("r0001", "#9007199254740993#");
  run("r0002", "#9007199254740992#");
  run("r0003", "#1.0#");
  run("r0004", "#1#");
  const page = await open(stub.url);
  for (const [first, second, ...values] of [["r0001", "r0002", "9007199254740993", "9007199254740992"], ["r0003", "r0004", "1.0", "1"]]) {
    await page.evaluate((hash) => (location.hash = hash), `#/compare/${first}/${second}`);
    await says(page, "#compare-inputs pre", values[0]);
    assert.deepEqual(await page.$$eval("#compare-inputs pre", (all) => all.map((it) => it.textContent)), values);
    await says(page, "#compare-inputs .hint", "1 other input is equal in both runs.");
    await page.$$eval("#compare-steps details", (all) => all.forEach((it) => (it.open = true)));
    assert.deepEqual(await page.$$eval("#compare-steps pre", (all) => all.map((it) => it.textContent)), values.flatMap((value) => [`{\n  "id": ${value}\n}`, `[\n  ${value},\n  2.5\n]`]));
    assert.equal(await text(page, "#compare-steps td:last-child"), "output, arguments");
    await says(page, "#compare-steps td", "1.00 s");
  }
  // The page of a run, and its plan in the editor, have all digits as well.
  await page.evaluate(() => (location.hash = "#/runs/r0001"));
  await says(page, "#given", "9007199254740993");
  await says(page, "#result pre", "9007199254740993");
  await press(page, "sent", "#timeline");
  for (const label of ["Arguments", "Output"]) await says(page, `#step-details pre[aria-label=${label}]`, "9007199254740993");
  await close(page);
}));

if (process.env.PLAN_SERVER) {
  await test("the server, changed arguments outlive the server", () => served(async (server) => {
    const page = await open(server.url, { allowed: new RegExp(`422|${gone.source}`) });
    const steps = [{ id: "sent", tool: "email_send", arguments: { to: "ada@example.org", subject: "x" } }, { id: "again", tool: "email_send", arguments: { to: "{{sent.result.to}}", subject: "{{sent.result.subject}}" } }];
    await put(page, JSON.stringify(steps));
    await drawn(page, 2);
    await page.click("#start");
    await says(page, "#questions h3", "sent");
    // The call has not begun, since a person has not allowed it.
    await page.click('#live [data-path="sent"] .box');
    await says(page, "#step-details", "The step waits for you.");
    assert.doesNotMatch(await text(page, "#step-card"), /running/);
    await page.click("#step-close");
    await press(page, "Edit…", "#questions");
    await press(page, "Edit as JSON", "#questions");
    await type(page, '{"to": "ada@example.org", "subject": 5}');
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions form .wrong", "subject");
    await type(page, '{"to": "grace@example.org", "subject": "Lunch"}');
    await press(page, "Allow with these arguments", "#questions");
    await says(page, "#questions h3", "again");
    await server.end("SIGKILL");
    await says(page, "#connection", "Connection lost");
    await server.begin();
    await says(page, "#connection", "Live");
    await says(page, "#questions pre", "grace@example.org");
    await press(page, "Allow", "#questions");
    await says(page, "#run-facts", "done");
    assert.deepEqual(server.effects().map(({ output }) => output.to), ["grace@example.org", "grace@example.org"]);
    await page.click('#live [data-path="sent"] .box');
    await says(page, "#step-details pre[aria-label=Arguments]", "Lunch");
    await says(page, "#step-details", "A person changed the arguments before the call.");
    await press(page, "Open the report");
    await page.waitForSelector("#report-dialog[open] iframe");
    const report = await (await page.$("#report-frame iframe")).contentFrame();
    await report.waitForSelector("svg.graph a.node");
    await wait(report, () => document.body.textContent.includes("The arguments were changed before the call, so they differ from the plan."));
    await press(page, "Close", "#report-dialog");
    // A second run without a change differs in both steps.
    await press(page, "Run again…");
    await press(page, "Run the plan again", "#again-dialog");
    for (const step of ["sent", "again"]) {
      await says(page, "#questions h3", step);
      await press(page, "Allow", "#questions");
    }
    await says(page, "#run-facts", "done");
    await press(page, "Compare…");
    await page.waitForSelector("#compare-runs a[href*=compare]").then((it) => it.click());
    await wait(page, () => document.querySelectorAll("#compare-steps tbody tr").length === 2);
    await says(page, "#compare-steps .hint", "All steps differ.");
    await show(page, "server-compare-light");
    assert.deepEqual(await axe(page), []);
    await close(page);
  }));
}
