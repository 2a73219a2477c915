// Opens in Chromium what the tests have drawn: every Mermaid flowchart is parsed and drawn by Mermaid, and every report is opened and
// clicked at, as a file and from a server that allows no styles and no scripts inside pages. The first argument is where the pictures are, the second where screenshots go, if there are to be any.

import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [pictures, shown] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const files = (ending) => fs.readdirSync(pictures).filter((name) => name.endsWith(ending)).sort();
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const failed = [];

// The pages with links to a style sheet and a script, under the policy that they promise to work under.
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" };
const server = http.createServer((request, response) => {
  const file = path.join(pictures, "linked", path.basename(new URL(request.url, "http://localhost").pathname));
  const type = types[path.extname(file)];
  const known = type && fs.existsSync(file);
  response.writeHead(known ? 200 : 404, {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'",
    "Content-Type": `${type ?? "text/plain"}; charset=utf-8`,
    "X-Content-Type-Options": "nosniff",
  });
  response.end(known ? fs.readFileSync(file) : "");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const served = `http://127.0.0.1:${server.address().port}/`;
// Where reports are opened from, and what is added to the names of their screenshots.
const places = [[`${pathToFileURL(path.resolve(pictures)).href}/`, ""], [served, "served-"]];

// A page on which nothing may go wrong, nor be asked for from anywhere but the server, if it is from there.
async function open(width = 1400, scheme = "light", server = null) {
  const page = await browser.newPage();
  const isForeign = (url) => /^https?:/.test(url) && !(server && url.startsWith(server));
  await page.exposeFunction("violated", (what) => failed.push(`${page.about}: against its policy: ${what}`));
  await page.evaluateOnNewDocument(() => {
    const told = (event) => violated(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
    document.addEventListener("securitypolicyviolation", told);
  });
  page.on("pageerror", (error) => failed.push(`${page.about}: ${error.message}`));
  page.on("console", (said) => said.type() === "error" && failed.push(`${page.about}: ${said.text()}`));
  page.on("dialog", (dialog) => (failed.push(`${page.about}: it says ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => isForeign(request.url()) && failed.push(`${page.about}: it asks for ${request.url()}`));
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
      // A label with more lines than its text is broken by Mermaid.
      const labels = [...document.body.querySelectorAll("g.node foreignObject p")].map((it) => it.getBoundingClientRect().height / ((it.querySelectorAll("br").length + 1.5) * parseFloat(getComputedStyle(it).lineHeight)));
      const [measured, broken] = [labels.filter((it) => it > 0).length, labels.filter((it) => it > 1).length];
      return { nodes: count("g.node"), edges: count("path.flowchart-link"), groups: count("g.cluster"), markup: count("script, img, a"), measured, broken };
    }, text);
    const lines = text.slice(text.indexOf("\nflowchart")).split("\n").slice(2);
    const is = (form) => lines.filter((line) => form.test(line)).length;
    const expected = {
      nodes: is(/^ +\w+[[({]/),
      edges: is(/ (-->|-\.->|==>)/),
      groups: is(/^ *subgraph /),
      markup: 0,
      measured: is(/^ +\w+[[({]/),
      broken: 0,
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

// Every bar is where its step's times are on the axis, as far as the times that the page says are exact.
async function timeline(page) {
  const rows = await page.evaluate(() => {
    const millis = (text) => {
      const units = { "µs": 0.001, ms: 1, s: 1000, min: 60000, h: 3600000 };
      const parts = [...text.matchAll(/([\d.]+)(?: (µs|ms|s|min|h))?/g)];
      // The last digit is rounded.
      const unsure = Math.max(...parts.map(([, number, unit]) => (units[unit] ?? 0) / 10 ** (number.split(".")[1] ?? "").length));
      return { time: parts.reduce((sum, [, number, unit]) => sum + Number(number) * (units[unit] ?? 0), 0), unsure };
    };
    const box = (element) => element.getBoundingClientRect();
    const lines = [...document.querySelectorAll(".ticks line")].map((line) => box(line).left);
    const ticks = [...document.querySelectorAll(".ticks text")].map((text) => millis(text.textContent).time);
    if (ticks.length < 2) return [];
    const last = ticks.length - 1;
    const scale = (lines[last] - lines[0]) / ticks[last];
    const timeline = box(document.querySelector(".timeline"));
    return [...document.querySelectorAll(".row")].filter((row) => row.querySelector(".bar")).map((row) => {
      const said = (name) => {
        const terms = [...document.querySelectorAll(`#step-${row.dataset.step} dt`)];
        return millis(terms.find((term) => term.textContent === name).nextElementSibling.textContent);
      };
      const [started, took, bar, text] = [said("Started"), said("Took"), box(row.querySelector(".bar")), box(row.querySelector(".took"))];
      const narrowest = row.querySelector(".track").getBoundingClientRect().width * 0.0015;
      return {
        step: row.dataset.step,
        left: bar.left - (lines[0] + started.time * scale),
        width: bar.width - Math.max(took.time * scale, narrowest),
        unsure: [started, took].map((time) => 0.5 + (time.unsure / 2) * scale),
        inside: row.querySelector(".track").getClientRects().length === 1 && text.left >= timeline.left && text.right <= timeline.right,
        over: [...row.querySelectorAll(".good, .bad, .dropped")].every((it) => box(it).left >= bar.left - 0.5 && box(it).top >= bar.top - 0.5 && box(it).bottom <= bar.bottom + 0.5),
        tone: getComputedStyle(row.querySelector(".bar")).fill,
      };
    });
  });
  for (const row of rows) {
    const isRight = Math.abs(row.left) <= row.unsure[0] && Math.abs(row.width) <= row.unsure[1] && row.inside && row.over;
    assert.ok(isRight && row.tone !== "rgb(0, 0, 0)", `${page.about}: a bar at the wrong place: ${JSON.stringify(row)}`);
  }
  return rows.length;
}

async function reports(base, prefix) {
  let bars = 0;
  for (const name of files(".html")) {
    for (const [scheme, width] of [["light", 1400], ["dark", 1400], ["light", 480]]) {
      const page = await open(width, scheme, base);
      page.about = `${prefix}${name} (${scheme}, ${width})`;
      await page.goto(base + name);
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
      bars += await timeline(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${page.about}: it is ${overflow} pixels too wide`);
      await show(page, `${prefix}${name}-${scheme}-${width}`, rows.length < 100);
      await page.close();
    }
  }
  assert.ok(bars > 0);
  console.log(`tests/pictures: Chromium shows ${files(".html").length} reports${prefix && " from a server"}, with ${bars} bars`);
}

async function story(base, prefix) {
  const page = await open(1400, "light", base);
  page.about = `${prefix}story.html`;
  await page.goto(`${base}story.html#step-0`);
  const given = () => page.$$eval("aside .step.shown pre", (all) => all.map((it) => it.textContent).join());
  assert.match(await given(), /<script>alert\(1\)<\/script>/);
  assert.equal(await page.$$eval("script", (all) => all.length), 1);
  assert.equal(await page.$$eval("[style]", (all) => all.length), 0);
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
  // And nothing of that was a style.
  assert.equal(await page.$$eval("[style]", (all) => all.length), 0);
  await page.close();

  // Without scripts, links alone show a section.
  const plain = await open(1400, "light", base);
  plain.about = `${prefix}story.html without scripts`;
  await plain.setJavaScriptEnabled(false);
  await plain.goto(`${base}story.html#step-3`);
  const shownWithout = await plain.$eval("#step-3", (section) => section.getClientRects().length);
  assert.equal(shownWithout, 1);
  await plain.close();
}

// A report in a frame without an origin, where it may not change its address, does the same.
async function framed() {
  const page = await open();
  page.about = "story.html in a frame";
  const text = fs.readFileSync(path.join(pictures, "story.html"), "utf8");
  await page.setContent("<!doctype html><body></body>");
  await page.evaluate((text) => {
    const frame = Object.assign(document.createElement("iframe"), { srcdoc: text, width: 1300, height: 900 });
    frame.setAttribute("sandbox", "allow-scripts");
    document.body.append(frame);
  }, text);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await frame.waitForSelector(".row");
  await (await frame.$(".row")).click();
  await frame.waitForFunction(() => document.querySelectorAll("aside .step.shown").length === 1, { timeout: 5000 });
  await frame.evaluate(() => document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })));
  await frame.waitForFunction(() => !document.querySelector("aside .step.shown"), { timeout: 5000 });
  await page.close();
}

// What a page must not do is found by this test.
async function violations() {
  const page = await open(1400, "light", served);
  page.about = "on purpose";
  await page.goto(`${served}story.html`);
  const before = failed.length;
  await page.evaluate(() => {
    document.body.setAttribute("style", "color: red");
    document.body.append(Object.assign(document.createElement("style"), { textContent: "p { color: red }" }));
    document.body.append(Object.assign(document.createElement("script"), { textContent: "document.title = 'run'" }));
  });
  await page.waitForFunction(() => document.title === "story", { timeout: 1000 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const found = failed.splice(before).filter((failure) => failure.includes("against its policy"));
  for (const directive of ["style-src-attr", "style-src-elem", "script-src-elem"]) {
    assert.ok(found.some((failure) => failure.includes(directive)), `${directive} is not found in ${found}`);
  }
  await page.close();
}

try {
  await flowcharts();
  for (const [base, prefix] of places) {
    await reports(base, prefix);
    await story(base, prefix);
  }
  await framed();
  await violations();
} catch (error) {
  failed.push(error.message);
}
await browser.close();
server.close();
failed.forEach((failure) => console.log(`FAILED ${failure}`));
console.log(`tests/pictures: ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
