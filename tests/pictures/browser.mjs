// Opens in Chromium what the tests have drawn: every Mermaid flowchart is parsed and drawn by Mermaid, and every report is opened and
// clicked at. The first argument is where the pictures are, the second where screenshots go, if there are to be any.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [pictures, shown] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const files = (ending) => fs.readdirSync(pictures).filter((name) => name.endsWith(ending)).sort();
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const failed = [];

// A page on which nothing may go wrong, nor be asked for from anywhere.
async function open(width = 1400, scheme = "light") {
  const page = await browser.newPage();
  page.on("pageerror", (error) => failed.push(`${page.about}: ${error.message}`));
  page.on("console", (said) => said.type() === "error" && failed.push(`${page.about}: ${said.text()}`));
  page.on("dialog", (dialog) => (failed.push(`${page.about}: it says ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => /^https?:/.test(request.url()) && failed.push(`${page.about}: it asks for ${request.url()}`));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height: 1000 });
  return page;
}

const show = (page, name, whole = true) =>
  shown && page.screenshot({ path: path.join(shown, `${name}.png`), fullPage: whole });

async function flowcharts() {
  const page = await open();
  await page.setContent("<!doctype html><body></body>");
  await page.addScriptTag({ path: path.join(here, "node_modules/mermaid/dist/mermaid.min.js") });
  for (const name of files(".mmd")) {
    page.about = name;
    const text = fs.readFileSync(path.join(pictures, name), "utf8");
    const drawn = await page.evaluate(async (text) => {
      mermaid.initialize({ startOnLoad: false });
      try {
        await mermaid.parse(text);
        const { svg } = await mermaid.render("drawn", text);
        document.body.innerHTML = svg;
      } catch (error) {
        return { error: String(error) };
      }
      const count = (selector) => document.body.querySelectorAll(selector).length;
      return { nodes: count("g.node"), edges: count("path.flowchart-link"), groups: count("g.cluster"), markup: count("script, img, a") };
    }, text);
    const lines = text.split("\n").slice(text.startsWith("---") ? 4 : 1);
    const is = (form) => lines.filter((line) => form.test(line)).length;
    const expected = {
      nodes: is(/^ +\w+[[({]/),
      edges: is(/ (-->|-\.->|==>)/),
      groups: is(/^ *subgraph /),
      markup: 0,
    };
    try {
      assert.deepEqual(drawn, expected);
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
    if (!name.startsWith("hostile")) await show(page, name);
  }
  console.log(`tests/pictures: Mermaid draws ${files(".mmd").length} pictures`);
  await page.close();
}

async function visible(page) {
  return page.$$eval("aside .step", (all) => all.filter((it) => it.getClientRects().length).map((it) => it.id));
}

async function reports() {
  for (const name of files(".html")) {
    for (const [scheme, width] of [["light", 1400], ["dark", 1400], ["light", 480]]) {
      const page = await open(width, scheme);
      page.about = `${name} (${scheme}, ${width})`;
      await page.goto(pathToFileURL(path.resolve(pictures, name)).href);
      assert.deepEqual(await visible(page), [], page.about);
      const rows = await page.$$(".row");
      if (rows.length > 0) {
        const middle = rows[Math.floor(rows.length / 2)];
        await middle.click();
        const step = await middle.evaluate((row) => row.dataset.step);
        assert.deepEqual(await visible(page), [`step-${step}`], page.about);
        await page.keyboard.press("Escape");
        assert.deepEqual(await visible(page), [], page.about);
        // The keyboard does what a click does: Escape has gone back to the row.
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("Enter");
        assert.equal((await visible(page)).length, 1, page.about);
        // As does a click into the graph.
        await page.evaluate(() => document.querySelector("svg .node").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
        assert.equal((await visible(page)).length, 1, page.about);
      }
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${page.about}: it is ${overflow} pixels too wide`);
      await show(page, `${name}-${scheme}-${width}`, rows.length < 100);
      await page.close();
    }
  }
  console.log(`tests/pictures: Chromium shows ${files(".html").length} reports`);
}

async function story() {
  const page = await open();
  page.about = "story.html";
  await page.goto(pathToFileURL(path.resolve(pictures, "story.html")).href + "#step-0");
  const given = () => page.$$eval("aside .step.shown pre", (all) => all.map((it) => it.textContent).join());
  assert.match(await given(), /<script>alert\(1\)<\/script>/);
  assert.equal(await page.$$eval("script", (all) => all.length), 1);
  // What is looked for stays.
  await page.type("#find", "FAILED");
  const rows = await page.$$eval(".row", (all) => all.filter((it) => it.getClientRects().length).map((it) => it.dataset.step));
  assert.deepEqual(rows, ["5"]);
  // Zooming makes the graph wider, and fitting takes it back.
  const width = () => page.$eval(".graph", (graph) => graph.getBoundingClientRect().width);
  const before = await width();
  for (let click = 0; click < 8; click += 1) await page.click('[data-zoom="1.25"]');
  assert.ok((await width()) > before * 4);
  await page.click("#fit");
  assert.ok((await width()) < before * 2);
  await page.close();

  // Without scripts, links alone show a section.
  const plain = await open();
  await plain.setJavaScriptEnabled(false);
  await plain.goto(pathToFileURL(path.resolve(pictures, "story.html")).href + "#step-3");
  const shownWithout = await plain.$eval("#step-3", (section) => section.getClientRects().length);
  assert.equal(shownWithout, 1);
  await plain.close();
}

try {
  await flowcharts();
  await reports();
  await story();
} catch (error) {
  failed.push(error.message);
}
await browser.close();
failed.forEach((failure) => console.log(`FAILED ${failure}`));
console.log(`tests/pictures: ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
