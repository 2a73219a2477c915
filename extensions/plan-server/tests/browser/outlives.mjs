// The server itself: tools, reasons and questions that outlive a kill, deceptive text.

import assert from "node:assert/strict";
import { axe, button, close, drawn, faulty, gone, open, press, put, sample, says, served, show, test, text, wait } from "./harness.mjs";

await test("the server, one click for a finding, and its tools", () => served(async (server) => {
  const page = await open(server.url);
  await faulty(page);
  assert.equal(await text(page, "#findings-count"), "5 errors. Format: action plan.");
  for (let left = 4; left; left -= 1) {
    await press(page, "Apply the correction", "#findings");
    await wait(page, (left) => document.querySelectorAll("#findings .is-error").length === left, left);
  }
  // The graph shows the step with the error.
  await says(page, "#findings", "maybe-absent");
  assert.deepEqual(await page.$$eval("#picture .node.wrong", (all) => all.map((it) => it.dataset.path)), ["copy"]);
  await show(page, "server-draft-light");
  assert.deepEqual(await axe(page), []);
  await press(page, "Call the tool only if the value is present", "#findings");
  await wait(page, () => !document.querySelector("#findings")?.textContent.includes("maybe-absent"));
  assert.equal(await page.$$eval("#tools .tool", (all) => all.length), 14);
  await page.$eval("#text", (it) => (it.value = ""));
  await page.type("#tools-search", "contacts_find");
  await page.click("#tools .tool summary");
  await press(page, "Add a step", "#tools");
  await page.keyboard.type("a");
  await drawn(page, 1);
  await show(page, "server-tools-light");
  await close(page);
}));

await test("the server, the intent of a question in a block of a list", () => served(async (server) => {
  const page = await open(server.url);
  await put(page, JSON.stringify({ steps: [{ id: "all", intent: "Book all days.", for: { pattern: "day", list: ["2027-03-12", "2027-03-13"], body: { block: { steps: [
    { id: "booked", intent: "Book one day.", tool: "event_book", arguments: { title: "x", day: "$ref:day" } }, { id: "told", tool: "email_send", arguments: { to: "ada@example.org", subject: "$ref:booked.day" } }], value: "$ref:told.number" } } } }], output_steps: ["all"] }));
  await drawn(page, 1);
  await page.click("#start");
  const intent = (path) => page.$$eval("#questions .question", (all, path) => all.find((it) => it.querySelector("h3, h4").textContent.includes(`${path}?`))?.querySelector(".intent")?.textContent, path);
  // The first state may come after the questions, so the later questions come as events.
  await says(page, "#questions h3", "2 calls of event_book wait in the step all.booked");
  await says(page, "#questions .together .intent", "Book one day.");
  await press(page, "Answer one by one", "#questions");
  await says(page, "#questions h4", "all[0].booked");
  assert.equal(await intent("all[0].booked"), "The plan states: Book one day.");
  // The card moves while other cards appear, so a click at its position would miss the button.
  await (await button(page, "Allow", "#questions .each .question:first-child")).evaluate((it) => it.click());
  await says(page, "#questions h3", ".told");
  assert.equal(await intent((await text(page, "#questions .question:last-child h3 code:last-child"))), "The plan states: Book all days.");
  await says(page, "#timeline .row .said", "0 of 2");
  await show(page, "server-intent-light");
  await close(page);
}));

await test("the server, a reason outlives the server", () => served(async (server) => {
  const page = await open(server.url, { allowed: gone });
  await put(page, '[{"id": "sent", "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}}]');
  await drawn(page, 1);
  await page.click("#start");
  await press(page, "Refuse…", "#questions");
  await page.type("#questions input", "not on a Sunday");
  const before = await page.$eval("#questions .question", (it) => it.dataset.of);
  await server.end("SIGKILL");
  await says(page, "#connection", "Connection lost");
  await server.begin();
  // The server asks again, under another id.
  await wait(page, (before) => document.querySelector("#questions .question")?.dataset.of !== before && document.querySelector("#questions input"), before);
  assert.equal(await page.$eval("#questions input", (it) => it.value), "not on a Sunday");
  await says(page, "#run-moments", "The server stopped, and started again at ");
  assert.equal(await text(page, "#timeline .moments"), "▸ server restarted");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-wrong", "not on a Sunday");
  assert.deepEqual(server.effects(), []);
  await close(page);
}));

await test("the server, parts of a step", () => served(async (server) => {
  const page = await open(server.url);
  await sample(page, "Find people");
  await drawn(page, 2);
  await page.click("#start");
  await says(page, "#questions h3", "2 calls of email_send wait in the step sent");
  await press(page, "Allow all 2", "#questions");
  await says(page, "#questions h3", "sent[2]");
  // A second click at one place soon after the first decides nothing.
  await (await button(page, "Allow", "#questions")).evaluate((it) => it.click());
  await says(page, "#run-facts", "done");
  assert.equal(server.effects().length, 3);
  await press(page, "Show 3 elements", "#timeline");
  await press(page, "[1]", "#timeline");
  await says(page, "#step-title", "sent[1]");
  await says(page, "#step-details pre[aria-label=Arguments]", "Lunch on Friday");
  await show(page, "server-part-light");
  await close(page);
}));

await test("the server, parts that remain", () => served(async (server) => {
  const page = await open(server.url);
  await sample(page, "Find people");
  await drawn(page, 2);
  await page.click("#start");
  await press(page, "Allow all 2", "#questions");
  await says(page, "#questions h3", "sent[2]");
  await new Promise((resolve) => setTimeout(resolve, 600));
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#remains", "sent[0] with email_send: the step has no undo step");
  await press(page, "Open the report");
  const frame = await (await page.waitForSelector("#report-frame iframe")).contentFrame();
  await frame.waitForFunction(() => document.body.textContent.includes("2 calls of sent with email_send: the step has no undo step"));
  await close(page);
}));

await test("the server, a refused part", () => served(async (server) => {
  const page = await open(server.url);
  // The choice to make all calls without questions does not outlive its plan.
  const choice = () => page.$eval("#start-form", (it) => it.elements.approve.value);
  await sample(page, "A slow step");
  await page.click('[name=approve][value="none"]');
  assert.equal(await choice(), "none");
  await sample(page, "Find people");
  assert.equal(await choice(), "each");
  await drawn(page, 2);
  await page.click("#start");
  await says(page, "#questions h3", "2 calls of email_send wait in the step sent");
  await new Promise((resolve) => setTimeout(resolve, 600));
  await press(page, "Answer one by one", "#questions");
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-facts", "failed");
  // Nobody has made a call, so the bar is the wait for the person.
  await wait(page, () => document.querySelector("#timeline .row.failed .said")?.textContent.includes("the wait for an answer took"));
  assert.deepEqual(await page.$$eval("#timeline .row.failed i", (all) => all.map((it) => it.className)), ["turn"]);
  await show(page, "server-refused-part-light");
  await close(page);
}));

await test("the server, texts that would deceive", () => served(async (server) => {
  const page = await open(server.url);
  const evil = "to\u202egro.elpmaxe@live\u202c\u200b\n\u001b[2J";
  const step = { id: evil, intent: evil, tool: { name: "slow" }, arguments: { object: { ms: 1, text: `\u05e9\u05dc ${evil}` } } };
  await put(page, JSON.stringify({ name: evil, steps: [step] }).replace('"ms":1', '"ms":9007199254740993'));
  await drawn(page, 1);
  // The editor shows a text as it is, so that the list tells what is not seen of it.
  await says(page, "#findings", "\\u{202e}");
  await page.click("#start");
  await says(page, "#questions pre", "to\\u{202e}gro.elpmaxe@live\\u{202c}\\u{200b}\\n\\u001b[2J");
  await says(page, "#questions pre", "9007199254740993");
  await says(page, "#run-title", "to\\u{202e}gro");
  await page.waitForSelector("#live .node.waiting");
  const unseen = () => page.evaluate(() => {
    const found = [];
    const look = (text) => /[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u.test(text ?? "") && found.push(text);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) if (!texts.currentNode.parentElement.closest("textarea, #marks")) look(texts.currentNode.data);
    for (const element of document.querySelectorAll("[title], [aria-label]")) [element.title, element.getAttribute("aria-label")].forEach(look);
    look(document.title);
    return found;
  });
  assert.deepEqual(await unseen(), []);
  await page.click("#to-inbox");
  await says(page, "#inbox pre", "to\\u{202e}gro");
  assert.deepEqual([...(await unseen()), ...(await axe(page))], []);
  await page.goBack();
  await press(page, "Refuse…", "#questions");
  await press(page, "Refuse the call", "#questions");
  await says(page, "#run-facts", "failed");
  // The failed step is open.
  await says(page, "#step-details", "refused");
  assert.deepEqual([...(await unseen()), ...(await axe(page))], []);
  await page.waitForSelector("#live .node.failed");
  assert.deepEqual(await unseen(), []);
  await page.click("#to-runs");
  await says(page, "#runs tbody", "to\\u{202e}gro");
  assert.deepEqual(await unseen(), []);
  await close(page);
}));

await test("the server, questions of a server that was killed", () => served(async (server) => {
  const page = await open(server.url, { allowed: gone });
  const cards = () => page.$$eval("#questions .question:not(.together)", (all) => all.map((it) => it.dataset.of));
  // So many questions are open, and none of those that were before.
  const asks = (count, before) => wait(page, (count, before) => {
    const all = [...document.querySelectorAll("#questions .question:not(.together)")];
    return all.length === count && all.every((it) => it.querySelector("button") && !before.includes(it.dataset.of));
  }, count, before);
  await sample(page, "Find people");
  await drawn(page, 2);
  await page.click("#start");
  await press(page, "Answer one by one", "#questions");
  await asks(2, []);
  const first = await cards();
  await server.end("SIGKILL");
  await says(page, "#connection", "Connection lost");
  // Nobody can answer without a connection.
  await says(page, "#lost", "Not connected since");
  assert.equal(await page.$$eval("#questions button", (all) => all.every((it) => it.getAttribute("aria-disabled") === "true")), true);
  await show(page, "server-lost-light");
  await server.begin();
  await says(page, "#connection", "Live");
  await asks(2, first);
  assert.equal(await page.$("#questions .failed-to-send:not(:empty)"), null);
  // What was answered before is no answer now.
  const [old] = JSON.parse(first[0]);
  const token = await page.evaluate(() => localStorage.getItem("token"));
  const late = await fetch(`${new URL(server.url).origin}/api/runs/${page.url().split("/runs/")[1].split("?")[0]}/questions/${old}`,
    { method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: '{"decision": "allow"}' });
  assert.equal(late.status, 409);
  assert.deepEqual(server.effects(), []);
  await press(page, "Allow", "#questions .each .question:first-child");
  await page.waitForSelector("#timeline .open:not([hidden])").then((it) => it.click());
  await page.waitForSelector("#timeline .row.completed .name[title^='sent[']");
  await asks(2, []);
  assert.equal(server.effects().length, 1);
  // And again, between two elements.
  const second = await cards();
  await server.end("SIGKILL");
  await says(page, "#connection", "Connection lost");
  await server.begin();
  await asks(2, second);
  await press(page, "Allow for all elements", "#questions .each .question:first-child");
  await says(page, "#run-facts", "done");
  // Each of them has one e-mail, whatever was killed in between.
  assert.equal(server.effects().length, 3);
  await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 5);
  await show(page, "server-elements-light");
  await page.reload();
  await says(page, "#timeline .open", "Show 3 elements");
  await page.click("#timeline .open:not([hidden])");
  await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 5);

  // What is typed for a step that waits stays while the server is away, and a page that is loaded again when it is back goes on, too.
  await page.click("#to-editor");
  await sample(page, "Book an event");
  await drawn(page, 4);
  await page.click('[name=approve][value="none"]');
  await page.click("#start");
  await says(page, "#waits h3", "room");
  await page.type("#waits textarea", "The small ");
  await server.end("SIGKILL");
  await says(page, "#connection", "Connection lost");
  await page.type("#waits textarea", "one");
  await server.begin();
  await says(page, "#connection", "Live");
  await press(page, "Send the value", "#waits");
  await says(page, "#run-facts", "done");
  await says(page, "#result pre", "The small one");
  await page.click("#to-editor");
  await page.click("#start");
  await says(page, "#waits h3", "room");
  await server.end("SIGKILL");
  await server.begin();
  await page.reload();
  await says(page, "#waits h3", "room");
  await page.waitForSelector('#live [data-path="booked"].completed');
  await page.waitForSelector('#live [data-path="room"].waiting');
  await press(page, "Cancel the run…");
  await press(page, "Cancel the run", "#cancel-dialog");
  await says(page, "#undone", "undoes booked");
  await close(page);
}));

// The dialog of a retry lists each completed step whose call the retry repeats.
await test("the server, the steps of a retry", () => served(async (server) => {
  const page = await open(server.url);
  const plan = (after, undo) => JSON.stringify({ steps: [
    { id: "booked", tool: "event_book", arguments: { title: "Offsite", day: "2027-03-12", with: ["ada@example.org"] } },
    ...(undo ? [{ id: "back", undo: "booked", tool: "event_cancel", arguments: { id: "$ref:booked.id" } }] : []),
    { id: "notified", tool: "email_send", arguments: { to: "ada@example.org", subject: "Offsite" }, ...(after ? { after: ["booked"] } : {}) },
    { id: "bad", tool: "flaky", arguments: { failures: 9 }, after: ["booked", "notified"] },
  ], output_steps: ["bad"] });
  const ran = async () => {
    await page.waitForSelector("#retry:not([hidden])", { visible: true });
    await says(page, "#run-facts", "failed");
  };
  for (const [after, undo, expected] of [[true, true, ["booked", "notified"]], [false, true, ["booked"]], [true, false, []]]) {
    await page.click("#to-editor");
    await put(page, plan(after, undo));
    await drawn(page, undo ? 4 : 3);
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await ran();
    await press(page, "Retry from the failure…");
    const lists = await page.$$eval("#retry-steps h3", (all) => Object.fromEntries(all.map((it) => [it.textContent, [...it.nextElementSibling.children].map((one) => one.querySelector("bdi").textContent)])));
    const { "These steps run": run = [], "These completed steps run again": again = [], "These steps keep their outputs": kept = [] } = lists;
    assert.deepEqual([...run, ...again, ...kept].toSorted(), ["bad", "booked", "notified"]);
    const before = server.effects().length;
    await press(page, "Retry the run", "#retry-dialog");
    // The page may show the end of the first try for a moment.
    const effects = () => server.effects().slice(before).map(({ call }) => call.split(/[ /]/).at(-1)).filter((path) => path !== "back").toSorted();
    for (let tries = 0; tries < 100 && effects().length < expected.length; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await ran();
    const repeated = [...run, ...again].filter((path) => path !== "bad").toSorted();
    assert.deepEqual(repeated, expected);
    assert.deepEqual(effects(), expected);
    // Nobody was asked, so no step has waited for an answer.
    await page.click('#live [data-path="booked"] .box');
    await says(page, "#step-details dl", "Took");
    assert.doesNotMatch(await text(page, "#step-details dl"), /the wait for/);
  }
  await close(page);
}));
