// Opens the page in Chromium, and has the functions that the tests of the page share. The first argument of the process is the folder of the page, and the second is the folder for screenshots.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import puppeteer from "puppeteer-core";
import { start } from "./stub.mjs";

export const [folder, shown] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"], ignoreDefaultArgs: ["--hide-scrollbars"] });
const failed = [];
let passed = 0;
let latest = null; // the page that was opened last

// A page on which nothing may go wrong, nor be asked for from elsewhere.
export async function open(url, { width = 1400, height = 1000, scheme = "light", allowed = null, at = "#/plan", who = "Ada Lovelace" } = {}) {
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
  // The page asks a person without a name for a name.
  if (who) await page.evaluateOnNewDocument((who) => {
    try {
      localStorage.setItem("plan-name", who);
    } catch {
      // A page such as `about:blank` has no store.
    }
  }, who);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.setViewport({ width, height });
  await page.goto(url);
  // The first page is the list of runs. Most tests begin in the editor.
  if (url.includes("#token=") && at) await page.evaluate((at) => (location.hash = at), at);
  latest = page;
  return page;
}
export const close = async (page) => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  await page.browserContext().close();
  assert.deepEqual(page.wrong, []);
};
export const text = (page, selector) => page.$eval(selector, (it) => it.textContent);
export const wait = (page, test, ...given) => page.waitForFunction(test, { polling: 50 }, ...given);
export const says = (page, selector, words) => wait(page, (selector, words) => [...document.querySelectorAll(selector)].some((it) => it.getClientRects().length && it.textContent.includes(words)), selector, words);
export const button = async (page, label, within = "body") => {
  await wait(page, (label, within) => [...document.querySelectorAll(`${within} button`)].some((it) => it.getClientRects().length && it.textContent === label), label, within);
  const [found] = await page.evaluateHandle((label, within) => [[...document.querySelectorAll(`${within} button`)].find((it) => it.getClientRects().length && it.textContent === label)], label, within)
    .then((all) => all.getProperties()).then((all) => all.values());
  return found.asElement();
};
// A button is pressed once it has stopped moving, which it does while what is above it comes and goes.
export const press = async (page, label, within) => {
  for (let [tries, before] = [0, null]; ; tries += 1) {
    const found = await button(page, label, within);
    const now = JSON.stringify(await found.boundingBox());
    if ((now !== "null" && now === before) || tries > 50) return found.click();
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
export const put = (page, value) => page.$eval("#text", (area, value) => {
  area.value = value;
  area.dispatchEvent(new Event("input", { bubbles: true }));
}, value);
export const show = async (page, name) => shown && page.screenshot({ path: path.join(shown, `${name}.png`), fullPage: true });
export const fits = async (page) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
};
// Each visible text has a contrast of at least 4.5 to 1, with what is drawn under it.
export const contrast = (page) => page.evaluate(() => {
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
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && (element.tagName !== "TEXTAREA" || element.id === "text")) continue;
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

// Each edge, each box of a step and each bar has a contrast of at least 3 to 1, with the card under it.
export const faint = (page) => page.evaluate(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (color, under) => {
    for (const fill of [under, color].filter(Boolean)) {
      canvas.fillStyle = fill;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)].reduce((sum, part, at) => {
      const value = part / 255;
      return sum + [0.2126, 0.7152, 0.0722][at] * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    }, 0);
  };
  return [...document.querySelectorAll(".edge, .node .box, .track i:not(.turn)")].filter((it) => it.getClientRects().length).flatMap((it) => {
    const card = getComputedStyle(it.closest(".card")).backgroundColor;
    const color = getComputedStyle(it)[it.localName === "i" ? "backgroundColor" : "stroke"];
    const [a, b] = [light(color, card), light(card)].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    return ratio < 3 ? [`${it.className.baseVal ?? it.className} of ${it.parentNode.className.baseVal ?? ""} has ${ratio.toFixed(2)}`] : [];
  });
});

// The findings of axe, an independent checker of accessibility, about the page as it is now, or about a part of it.
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const axe = async (page, within = null, rules = {}) => {
  if (!(await page.evaluate(() => "axe" in self))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (within, rules) => {
    const { violations } = await self.axe.run(within ?? document, { iframes: false, preload: false, rules });
    return violations;
  }, within, rules);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map((node) => node.html.slice(0, 200)).join(" | ")}`);
};
// Checks the page as it is now, in one of its shapes.
export const looks = async (page, name) => {
  await show(page, name);
  await fits(page);
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
};
export const SHAPES = [["light", {}], ["dark", { scheme: "dark" }], ["narrow", { width: 390, height: 800 }]];
// Starts a run without the page.
export const begin = (stub, steps, approve = "each") => fetch(`${stub.origin}/api/runs`, { method: "POST", headers: { Authorization: `Bearer ${stub.token}` }, body: JSON.stringify({ text: JSON.stringify(steps), inputs: {}, approve }) });

export async function test(name, run) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  try {
    await run();
    passed += 1;
  } catch (error) {
    if (latest && !latest.isClosed()) await show(latest, `wrong-${failed.length}`);
    failed.push(`${name}: ${error.stack.split("\n").slice(0, 40).join("\n")}`);
  }
}

export async function stubbed(options, run) {
  const stub = await start({ page: folder, ...options });
  try {
    await run(stub);
  } finally {
    stub.close();
  }
}

export const faulty = async (page) => {
  await wait(page, () => document.querySelectorAll("#sample option").length > 1);
  const value = await page.$$eval("#sample option", (all) => all.find((it) => /faulty|wrong|mistake|error/i.test(it.textContent))?.value);
  await page.select("#sample", value);
  await wait(page, () => document.querySelector("#marks mark") && document.querySelector("#findings .is-error button"));
};

// A folder for the files that a page saves.
export const downloads = (page) => {
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
export const drawn = (page, count) => wait(page, (count) => document.querySelectorAll("#picture .node").length === count, count);

// The server itself, as a process with a folder of its own, which can be killed and started again at the same address.
export async function served(run) {
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

export const sample = async (page, title) => {
  await wait(page, (title) => [...document.querySelectorAll("#sample option")].some((it) => it.textContent.includes(title)), title);
  const value = await page.$$eval("#sample option", (all, title) => all.find((it) => it.textContent.includes(title)).value, title);
  await page.select("#sample", "");
  await page.select("#sample", value);
};
// What a browser says of a server that is gone.
export const gone = /ERR_|net::|Failed to load resource/;
// Prints the failed tests and ends the process.
export const finish = async () => {
  await browser.close();
  failed.forEach((failure) => console.log(`FAILED ${failure}`));
  console.log(`plan-server/tests/browser: ${passed} passed, ${failed.length} failed`);
  process.exit(failed.length > 0 ? 1 : 0);
};
