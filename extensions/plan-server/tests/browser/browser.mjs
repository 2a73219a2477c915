// Goes through the page in Chromium. The first argument is the folder of the page, the second where screenshots go, if there are to be any.
// The page is tested against the stub; if `PLAN_SERVER` names the binary of the server, the whole way is gone with it, too, over its end by `kill -9`.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import puppeteer from "puppeteer-core";
import { start } from "./stub.mjs";

const [folder, shown] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const failed = [];
let passed = 0;
let latest = null; // the page that was opened last

// A page on which nothing may go wrong, nor be asked for from elsewhere.
async function open(url, { width = 1400, height = 1000, scheme = "light", allowed = null } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (said) => said.type() === "error" && !allowed?.test(said.text()) && page.wrong.push(said.text()));
  page.on("dialog", (dialog) => (page.wrong.push(`it says ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => /^https?:/.test(request.url()) && !request.url().startsWith(new URL(url).origin) && page.wrong.push(`it asks for ${request.url()}`));
  await page.exposeFunction("violated", (what) => page.wrong.push(`the policy is violated: ${what}`));
  await page.evaluateOnNewDocument(() =>
    addEventListener("securitypolicyviolation", (event) => self.violated?.(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`)));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.setViewport({ width, height });
  await page.goto(url);
  latest = page;
  return page;
}
const close = async (page) => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await page.browserContext().close();
  assert.deepEqual(page.wrong, []);
};
const text = (page, selector) => page.$eval(selector, (it) => it.textContent);
const wait = (page, test, ...given) => page.waitForFunction(test, { polling: 50 }, ...given);
const says = (page, selector, words) => wait(page, (selector, words) => [...document.querySelectorAll(selector)].some((it) => it.getClientRects().length && it.textContent.includes(words)), selector, words);
const button = async (page, label, within = "body") => {
  await wait(page, (label, within) => [...document.querySelectorAll(`${within} button`)].some((it) => it.getClientRects().length && it.textContent === label), label, within);
  const [found] = await page.evaluateHandle((label, within) => [[...document.querySelectorAll(`${within} button`)].find((it) => it.getClientRects().length && it.textContent === label)], label, within)
    .then((all) => all.getProperties()).then((all) => all.values());
  return found.asElement();
};
// A button is pressed once it has stopped moving, which it does while what is above it comes and goes.
const press = async (page, label, within) => {
  for (let [tries, before] = [0, null]; ; tries += 1) {
    const found = await button(page, label, within);
    const now = JSON.stringify(await found.boundingBox());
    if ((now !== "null" && now === before) || tries > 50) return found.click();
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
const put = (page, value) => page.$eval("#text", (area, value) => {
  area.value = value;
  area.dispatchEvent(new Event("input", { bubbles: true }));
}, value);
const show = async (page, name) => shown && page.screenshot({ path: path.join(shown, `${name}.png`), fullPage: true });
const fits = async (page) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
};
// Each visible text has a contrast of at least 4.5 to 1, with what is drawn under it.
const contrast = (page) => page.evaluate(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const parts = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const over = (top, under) => [0, 1, 2].map((at) => (top[at] * top[3] + under[at] * (255 - top[3])) / 255);
  const light = (color) => color.reduce((sum, part, at) => {
    const value = part / 255;
    return sum + [0.2126, 0.7152, 0.0722][at] * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  }, 0);
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg, .marks, .unseen, option") || !element.getClientRects().length) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && element.tagName !== "TEXTAREA") continue;
    const around = [];
    for (let at = element; at; at = at.parentElement) around.unshift(getComputedStyle(at).backgroundColor);
    const under = around.reduce((under, color) => over(parts(color), under), [255, 255, 255]);
    const ink = over(parts(getComputedStyle(element).color), under);
    const [a, b] = [light(ink), light(under)].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName}.${element.className} "${element.textContent.slice(0, 30)}" has ${ratio.toFixed(2)}`);
  }
  return found;
});

// The findings of axe, an independent checker of accessibility, about the page as it is now.
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const axe = async (page) => {
  if (!(await page.evaluate(() => "axe" in self))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => self.axe.run(document, { iframes: false }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map((node) => node.html.slice(0, 200)).join(" | ")}`);
};

async function test(name, run) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  try {
    await run();
    passed += 1;
  } catch (error) {
    if (latest && !latest.isClosed()) await show(latest, `wrong-${failed.length}`);
    failed.push(`${name}: ${error.stack.split("\n").slice(0, 40).join("\n")}`);
  }
}

async function stubbed(options, run) {
  const stub = await start({ page: folder, ...options });
  try {
    await run(stub);
  } finally {
    stub.close();
  }
}

const faulty = async (page) => {
  await wait(page, () => document.querySelectorAll("#sample option").length > 1);
  const value = await page.$$eval("#sample option", (all) => all.find((it) => /faulty|wrong|mistake|error/i.test(it.textContent))?.value);
  await page.select("#sample", value);
  await wait(page, () => document.querySelector("#marks mark") && document.querySelector("#findings .is-error button"));
};

// A folder for the files that a page saves.
const downloads = (page) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "plan-page-"));
  const allowed = page.createCDPSession().then((client) => client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, browserContextId: page.browserContext().id }));
  return {
    async file(name) {
      await allowed;
      for (let tries = 0; tries < 100 && !fs.existsSync(path.join(folder, name)); tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return fs.readFileSync(path.join(folder, name), "utf8");
    },
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
};
const drawn = (page, count) => wait(page, (count) => document.querySelectorAll("#picture .node").length === count, count);

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
  await show(page, "question-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "book_meeting");
  await press(page, "Allow for this step", "#questions");
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
      return String(sessionStorage.length + parent.document.title.length);
    } catch (error) {
      return error.name;
    }
  }), "SecurityError");
  // The report has an address, and is saved as a page and as JSON.
  assert.match(page.url(), /#\/runs\/r0001\/report$/);
  const folder = downloads(page);
  await press(page, "Save as a page", "#report-dialog");
  assert.match(await folder.file("run-r0001.html"), /<h1>mail<\/h1>/);
  await press(page, "Save the run as JSON", "#report-dialog");
  assert.equal(JSON.parse(await folder.file("run-r0001.json")).state, "done");
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
  await press(page, "Cancel the run", "#cancel-dialog");
  await says(page, "#undone", "unsend_mail");
  await says(page, "#run-facts", "cancelled");
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
  await press(page, "Refuse it", "#questions");
  await says(page, "#run-wrong", "refused: not today");
  assert.equal(await page.$eval('#live [data-path="later"]', (it) => it.classList.contains("blocked")), true);
  await show(page, "failed-light");

  // The list: filters and pages.
  for (let run = 0; run < 30; run += 1) {
    await fetch(`${stub.origin}/api/runs`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: JSON.stringify({ text: '[{"id":"a","tool":"list_mails"}]', inputs: {}, approve: "none" }) });
  }
  await page.click("#to-runs");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 25);
  await show(page, "runs-light");
  await page.click("#older");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 7);
  await page.click("#newer");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 25);
  await page.select("#filter-state", "failed");
  await wait(page, () => document.querySelectorAll("#runs tbody tr").length === 1);
  await page.click("#runs a");
  await says(page, "#run-wrong", "not today");
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
  await new Promise((resolve) => setTimeout(resolve, 700));
  await press(page, "Allow", "#questions");
  await says(page, "#step-state", "completed");
  // The time of a person is apart from the time of the tool.
  await wait(page, () => /waited (0\.[7-9]|[78]\d\d ms|\d\.\d s|\d\d\d ms).* for a person/.test(document.querySelector("#step-details").textContent));
  await wait(page, () => /sent.*completed.*the tool took .*waited .* for a person/.test([...document.querySelectorAll("#timeline .row")].find((row) => row.textContent.includes("sent")).textContent));
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
  await says(page, "#together h3", "3 calls of send_mail wait in the step sent");
  await says(page, "#questions h3", "sent[2]");
  // All arguments, on demand.
  assert.ok(!(await text(page, "#questions pre")).includes("the end"));
  await press(page, "Show all arguments", "#questions .question:first-child");
  await says(page, "#questions pre", "the end");
  await show(page, "together-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await fits(page);
  // One answer for all calls that are open, with one reason.
  await press(page, "Refuse all 3…", "#together");
  await page.type("#together input", "not to everybody");
  await press(page, "Refuse all 3", "#together");
  await says(page, "#run-facts", "failed");
  await says(page, "#run-wrong", "not to everybody");
  await press(page, "Show 3 parts, 3 failed", "#timeline");
  await wait(page, () => [...document.querySelectorAll("#timeline .row.inner.failed")].filter((it) => it.textContent.includes("refused: not to everybody")).length === 3);

  // The inbox has the questions of all runs, and the runs that wait for a value.
  const begin = (steps) => fetch(`${stub.origin}/api/runs`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: JSON.stringify({ text: JSON.stringify(steps), inputs: {}, approve: "each" }) });
  await begin([{ id: "one", tool: "send_mail", arguments: { to: "ada" } }]);
  await begin([{ id: "two", tool: "book_room", arguments: { room: 7 } }]);
  await begin([{ id: "value", await: "String" }]);
  await page.click("#to-inbox");
  await says(page, "#inbox h2", "book_room");
  await says(page, "#inbox-count", "2 questions, 1 run waits");
  assert.equal(await text(page, "#to-inbox"), "Waiting (3)");
  await show(page, "inbox-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await press(page, "Allow", "#inbox .question:first-child");
  await says(page, "#inbox-count", "1 question, 1 run waits");
  await says(page, "#inbox h2", "book_room");
  while (stub.runs.get("r0002").state !== "done") await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(stub.runs.get("r0003").state, "waiting");
  await press(page, "Refuse…", "#inbox");
  await page.type("#inbox input", "no room");
  await press(page, "Refuse it", "#inbox");
  await says(page, "#inbox-count", "1 run waits for a value or a time");
  assert.equal(stub.runs.get("r0003").error.message, "refused: no room");
  await page.click("#inbox-runs a");
  await says(page, "#waits h3", "value");
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
  await press(other, "Retry from the failure");
  await says(other, "#run-facts", "done");
  assert.equal(stub.runs.size, 3);
  assert.equal(await other.$eval("#retry", (it) => it.hidden), true);
  await wait(other, () => document.querySelectorAll("#live .node.completed").length === 2);
  await close(other);
  await close(page);
}));

await test("the list of many runs", () => stubbed({}, async (stub) => {
  for (let run = 0; run < 1000; run += 1) {
    const id = `r${String(run + 1).padStart(4, "0")}`;
    stub.runs.set(id, { id, plan: "mail", state: run % 100 === 7 ? "failed" : run % 100 === 8 ? "cancelled" : "done", began: new Date(1_790_000_000_000 + run * 60_000).toISOString(), ended: new Date(1_790_000_030_000 + run * 60_000).toISOString(),
      inputs: { name: run === 444 ? "Sarah Needle" : "nobody" }, questions: [], waits: [], undone: [], events: [], steps: [], values: new Map(), given: new Map(), allowed: new Map(), watchers: new Set() });
  }
  const page = await open(stub.url);
  await page.click("#to-runs");
  await says(page, "#runs-count", "1,000 runs");
  assert.equal(await page.$$eval("#runs tbody tr", (all) => all.length), 25);
  // The longest time in which the page does nothing else.
  const pause = await page.evaluate(async () => {
    const found = [];
    new PerformanceObserver((list) => found.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
    document.querySelector("#older").click();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return Math.max(0, ...found);
  });
  assert.ok(pause < 500, `the page pauses for ${pause} ms`);
  await says(page, "#runs-count", "1,000 runs, page 2");
  assert.match(page.url(), /#\/runs\?before=r0976&page=2$/);
  await page.click("#newer");
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
  await page.$eval("#filter-text", (it) => (it.value = ""));
  await page.select("#filter-state", "failed");
  await says(page, "#runs-count", "10 runs");
  assert.equal(await page.$$eval("#runs .state.failed", (all) => all.length), 10);
  await show(page, "runs-failed-light");
  const address = page.url();
  await page.select("#filter-state", "cancelled");
  await wait(page, () => document.querySelectorAll("#runs .state.cancelled").length === 10);
  await page.goBack();
  await wait(page, () => document.querySelectorAll("#runs .state.failed").length === 10);
  assert.equal(await page.$eval("#filter-state", (it) => it.value), "failed");
  await page.goto("about:blank");
  await page.goto(address);
  await wait(page, () => document.querySelectorAll("#runs .state.failed").length === 10);
  assert.equal(await page.$eval("#filter-state", (it) => it.value), "failed");
  await page.click("#runs a");
  await says(page, "#run-facts", "failed");
  await close(page);
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
  await press(page, "Apply the help", "#findings");
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

await test("a list with many elements", () => stubbed({ pace: 20 }, async (stub) => {
  const page = await open(stub.url);
  await put(page, JSON.stringify([{ id: "all", tool: "list_all", for: 500, fails: [321, 400], arguments: {} }]));
  await drawn(page, 1);
  await page.click("#start");
  await says(page, "#run-facts", "failed");
  // One row, which opens, with the failed elements first.
  await says(page, "#timeline .open", "Show 500 parts, 2 failed");
  assert.equal(await page.$$eval("#timeline .row", (all) => all.length), 1);
  await page.click("#timeline .open");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 301);
  assert.deepEqual(await page.$$eval("#timeline .row.inner bdi", (all) => all.filter((it) => it.textContent.startsWith("all[")).slice(0, 3).map((it) => it.textContent)), ["all[321]", "all[400]", "all[0]"]);
  await says(page, "#timeline .open", "Hide 500 parts, 2 failed (the first 300)");
  await show(page, "elements-light");
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await page.click("#timeline .open");
  await wait(page, () => document.querySelectorAll("#timeline .row").length === 1);
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

await test("the keyboard alone", () => stubbed({ pace: 20 }, async (stub) => {
  // Without the token in the address, the page asks for it.
  const page = await open(stub.origin, { allowed: /401/ });
  await page.waitForSelector("#sign-in:not([hidden])");
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await says(page, "#token-error", "does not know this token");
  assert.deepEqual(await axe(page), []);
  await show(page, "sign-in-light");
  await page.keyboard.type(stub.token);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#editor-view:not([hidden])");
  const at = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  const tab = async (to) => {
    for (let step = 0; step < 60; step += 1) {
      // Whatever has the focus can be seen to have it.
      const seen = await page.evaluate(() => {
        const it = document.activeElement;
        if (it === document.body || it.tagName === "H1" || it.id === "main") return true;
        const style = getComputedStyle(it.id === "text" ? it.closest(".editor") : it);
        return style.outlineStyle !== "none" || it.matches(".node");
      });
      assert.ok(seen, `the focus on ${await at()} cannot be seen`);
      if ((await at()) === to) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not come to ${to}, but to ${await at()}`);
  };
  await tab("text");
  await page.keyboard.type('[{"id": "a", "tool": "list", "arguments": {"x": "{{b.result}}"}}, {"id": "c", "tool": "send", "arguments": {"x": "{{PLACEHOLDER_x}}"}}]');
  await page.waitForSelector("#marks mark");
  await page.keyboard.press("Home");
  await page.keyboard.press("F8");
  await page.keyboard.type("{{c.result}}");
  await wait(page, () => document.querySelectorAll("#picture .node").length === 2);
  await wait(page, () => document.querySelector("#start").getAttribute("aria-disabled") === "false");
  await page.$eval('#picture [data-path="a"]', (it) => it.focus());
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.$eval("#picture .chosen", (it) => it.dataset.path), "c");
  await tab("input-0");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  await says(page, "#questions h3", "send");
  await tab("Allow");
  await page.keyboard.press("Enter");
  await says(page, "#run-facts", "done");
  await close(page);
}));

for (const [name, options] of [["dark", { scheme: "dark" }], ["narrow", { width: 360, height: 740 }], ["zoomed", { width: 640, height: 500 }], ["narrow-dark", { width: 360, height: 740, scheme: "dark" }]]) {
  await test(name, () => stubbed({ pace: 60 }, async (stub) => {
    const page = await open(stub.url, options);
    const looks = async (what) => {
      await show(page, `${what}-${name}`);
      await fits(page);
      assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    };
    await faulty(page);
    await looks("faulty");
    await page.select("#sample", "0");
    await page.waitForSelector("#input-0");
    await page.click("#start");
    await looks("plan");
    await page.type("#input-0", "sarah");
    await page.click("#start");
    await page.waitForSelector("#waits textarea");
    await looks("waiting");
    await page.type("#waits textarea", "Yes.");
    await press(page, "Send the value");
    await says(page, "#questions h3", "send_mail");
    await looks("question");
    await page.$eval('#live [data-path="mail"]', (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true })));
    await says(page, "#step-details pre", "inbox.result");
    await looks("step");
    await page.click("#step-close");
    await press(page, "Refuse…");
    await looks("refusing");
    await page.click("#to-inbox");
    await says(page, "#inbox h2", "send_mail");
    await looks("inbox");
    await page.goBack();
    await press(page, "Refuse…");
    await press(page, "Refuse it");
    await says(page, "#run-facts", "failed");
    await looks("failed");
    await page.click("#to-runs");
    await page.waitForSelector("#runs a");
    await looks("runs");
    await close(page);
  }));
}

// The server itself, as a process with a folder of its own, which can be killed and started again at the same address.
async function served(run) {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), "plan-server-"));
  let [server, url] = [null, null];
  const begin = async () => {
    server = spawn(process.env.PLAN_SERVER, ["--address", url ? new URL(url).host : "127.0.0.1:0", "--data", data],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, RUST_LOG: "warn" } });
    url = await new Promise((resolve, reject) => {
      let said = "";
      const late = setTimeout(() => reject(new Error(`the server prints no address: ${said}`)), 15_000);
      server.stdout.on("data", (part) => {
        said += part;
        const found = /http:\/\/\S+#token=\S+/.exec(said);
        if (found) (clearTimeout(late), resolve(found[0]));
      });
      server.on("exit", (code) => reject(new Error(`the server ends with ${code}: ${said}`)));
    });
  };
  const end = async (signal) => {
    const over = new Promise((resolve) => server.on("exit", resolve));
    server.kill(signal);
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 15_000))]);
  };
  const effects = () => fs.readFileSync(path.join(data, "effects.jsonl"), "utf8").trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  await begin();
  try {
    await run({ url, begin, end, effects });
  } finally {
    if (server.exitCode === null && server.signalCode === null) await end("SIGKILL");
    fs.rmSync(data, { recursive: true, force: true });
  }
}

const sample = async (page, title) => {
  await wait(page, (title) => [...document.querySelectorAll("#sample option")].some((it) => it.textContent.includes(title)), title);
  const value = await page.$$eval("#sample option", (all, title) => all.find((it) => it.textContent.includes(title)).value, title);
  await page.select("#sample", "");
  await page.select("#sample", value);
};
// What a browser says of a server that is gone.
const gone = /ERR_|net::|Failed to load resource/;

if (process.env.PLAN_SERVER) {
  await test("the server, all samples", () => served(async (server) => {
    const page = await open(server.url);
    await faulty(page);
    await show(page, "server-faulty");
    assert.equal(await page.$$eval("#findings .is-error", (all) => all.length), 5);
    const samples = await page.$$eval("#sample option", (all) => all.map((it) => it.value).filter(Boolean));
    assert.equal(samples.length, 7);
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
    assert.equal(started, 6);
    await page.click("#to-runs");
    await wait(page, (started) => document.querySelectorAll("#runs tbody tr").length === started, started);
    await page.select("#filter-state", "waiting");
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
      await wait(page, () => document.querySelectorAll("#questions .question button.primary").length === 2);
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
      await wait(page, () => document.querySelectorAll("#questions .question button.primary").length === 1);
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
      await frame.$eval("svg.graph a.node", (it) => it.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
      await frame.waitForSelector("aside section.shown");
      assert.match(await frame.$eval("header", (it) => it.textContent), /✓ done.*Run[a-z]{2}-[0-9a-f]{16}.*Ended.*Input sender"sarah"/s);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await show(page, `server-report-${name}`);
      await press(page, "Close", "#report-dialog");
      await wait(page, () => !document.querySelector("iframe"));

      // A step that waits for a value, over the end of a server.
      await page.click("#to-editor");
      await sample(page, "Book, wait");
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
      await sample(page, "Book, wait");
      await drawn(page, 4);
      await page.click("#start");
      await says(page, "#waits h3", "room");
      await kill();
      await press(page, "Cancel the run…");
      await press(page, "Cancel the run", "#cancel-dialog");
      await says(page, "#undone", "back");
      await page.waitForSelector('#live [data-path="booked"].undone');
      assert.match(await page.$eval('#live [data-path="back"]', (it) => `${it.classList} ${it.getAttribute("aria-label")}`), /\bundo\b.*undoes booked: event_cancel/);
      assert.match(await page.$eval('#live [data-to="back"][data-from="booked"]', (it) => getComputedStyle(it).strokeDasharray), /5/);
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
    await press(page, "Refuse it", "#questions");
    await says(page, "#run-facts", "failed");
    await says(page, "#run-wrong", "not to her");
    await page.waitForSelector('#live [data-path="sent"].failed');
    await page.click('#live [data-path="sent"] .box');
    await says(page, "#step-details .error", "not to her");
    await show(page, "server-failed-light");
    assert.deepEqual(server.effects(), []);
    await press(page, "Open the report");
    await page.waitForSelector("#report-dialog[open] iframe");
    const report = await (await page.$("#report-frame iframe")).contentFrame();
    await report.waitForSelector("header .error");
    assert.match(await report.$eval("header", (it) => it.textContent), /✗ failed.*not to her.*Input text"Well done\."/s);
    await show(page, "server-report-failed-light");
    await press(page, "Close", "#report-dialog");
    // The failed step runs again, and a person is asked again. The time of the person is not the time of the tool.
    await press(page, "Retry from the failure");
    await says(page, "#questions pre", "Well done.");
    await new Promise((resolve) => setTimeout(resolve, 1200));
    await press(page, "Allow", "#questions");
    await says(page, "#run-facts", "done");
    await page.click('#live [data-path="sent"] .box');
    await wait(page, () => /the tool took (under 1 ms|\d+ ms), waited \d(\.\d)? s for a person/.test(document.querySelector("#step-details").textContent));
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
    await says(page, "#inbox-count", "Nothing waits for you.");
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
    assert.equal(await text(page, "#findings-count"), "Nothing found. Plan json.");
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

  await test("the server, one click for a finding, and its tools", () => served(async (server) => {
    const page = await open(server.url);
    await faulty(page);
    for (let left = 4; left; left -= 1) {
      await press(page, "Apply the help", "#findings");
      await wait(page, (left) => document.querySelectorAll("#findings .is-error").length === left, left);
    }
    // What a person has to decide has no button.
    await says(page, "#findings", "maybe-absent");
    assert.equal(await page.$$eval("#findings button.small", (all) => all.length), 0);
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
    await press(page, "Refuse it", "#questions");
    await says(page, "#run-wrong", "not on a Sunday");
    assert.deepEqual(server.effects(), []);
    await close(page);
  }));

  await test("the server, parts of a step", () => served(async (server) => {
    const page = await open(server.url);
    await sample(page, "Write to everybody");
    await drawn(page, 2);
    await page.click("#start");
    await says(page, "#together h3", "2 calls of email_send wait in the step sent");
    await press(page, "Allow all 2", "#together");
    await says(page, "#questions h3", "sent[2]");
    // A second click at one place soon after the first decides nothing.
    await (await button(page, "Allow", "#questions")).evaluate((it) => it.click());
    await says(page, "#run-facts", "done");
    assert.equal(server.effects().length, 3);
    await press(page, "Show 3 parts", "#timeline");
    await press(page, "sent[1]", "#timeline");
    await says(page, "#step-title", "sent[1]");
    await says(page, "#step-details pre[aria-label=Arguments]", "Lunch on Friday");
    await show(page, "server-part-light");
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
    await press(page, "Refuse it", "#questions");
    await says(page, "#run-facts", "failed");
    await page.click("#live .node .box");
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
    const cards = () => page.$$eval("#questions .question", (all) => all.map((it) => it.dataset.of));
    // So many questions are open, and none of those that were before.
    const asks = (count, before) => wait(page, (count, before) => {
      const all = [...document.querySelectorAll("#questions .question")];
      return all.length === count && all.every((it) => it.querySelector("button") && !before.includes(it.dataset.of));
    }, count, before);
    await sample(page, "Write to everybody");
    await drawn(page, 2);
    await page.click("#start");
    await asks(2, []);
    const first = await cards();
    await server.end("SIGKILL");
    await says(page, "#connection", "Connection lost");
    // An answer that cannot be sent is not lost without a word.
    await press(page, "Allow", "#questions .question:first-child");
    await says(page, "#questions .failed-to-send", "cannot be reached");
    await show(page, "server-lost-light");
    await server.begin();
    await says(page, "#connection", "Live");
    await asks(2, first);
    assert.equal(await page.$("#questions .failed-to-send:not(:empty)"), null);
    // What was answered before is no answer now.
    const [old] = JSON.parse(first[0]);
    const token = await page.evaluate(() => sessionStorage.getItem("token"));
    const late = await fetch(`${new URL(server.url).origin}/api/runs/${page.url().split("/runs/")[1]}/questions/${old}`,
      { method: "POST", headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: '{"decision": "allow"}' });
    assert.equal(late.status, 409);
    assert.deepEqual(server.effects(), []);
    await press(page, "Allow", "#questions .question:first-child");
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
    await press(page, "Allow for this step", "#questions .question:first-child");
    await says(page, "#run-facts", "done");
    // Each of them has one e-mail, whatever was killed in between.
    assert.equal(server.effects().length, 3);
    await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 5);
    await show(page, "server-elements-light");
    await page.reload();
    await says(page, "#timeline .open", "Show 3 parts");
    await page.click("#timeline .open:not([hidden])");
    await wait(page, () => document.querySelectorAll("#timeline .row.completed").length === 5);

    // What is typed for a step that waits stays while the server is away, and a page that is loaded again when it is back goes on, too.
    await page.click("#to-editor");
    await sample(page, "Book, wait");
    await drawn(page, 4);
    await page.click('[name=approve][value="none"]');
    await page.click("#start");
    await says(page, "#waits h3", "room");
    await page.type("#waits textarea", "The small ");
    await server.end("SIGKILL");
    await says(page, "#connection", "Connection lost");
    await page.type("#waits textarea", "one");
    await press(page, "Send the value", "#waits");
    await says(page, "#waits .failed-to-send", "cannot be reached");
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
} else {
  console.log("plan-server/tests/browser: the server itself is not tested, since `PLAN_SERVER` does not name it");
}

await browser.close();
failed.forEach((failure) => console.log(`FAILED ${failure}`));
console.log(`plan-server/tests/browser: ${passed} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
