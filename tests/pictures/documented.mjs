// Opens in Chromium what rustdoc has made of the plans in `documented/`, in each theme of rustdoc. The first argument is where the
// documentation is, the second where screenshots go, if there are to be any.

import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [documentation, shown] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const failed = [];

// What each page has: columns and rows of its tables, boxes and arrows.
const pages = {
  "struct.Nothing": { tables: ["2x1"], boxes: 0, arrows: 0 },
  "struct.Judge": { tables: ["2x1", "4x1", "2x1"], boxes: 1, arrows: 0 },
  "struct.ReplyToLatest": { tables: ["3x2", "5x5", "2x1"], boxes: 5, arrows: 6 },
  "struct.AnswerAll": { tables: ["2x3", "5x6", "2x1"], boxes: 6, arrows: 6 },
  "struct.Nightly": { tables: ["3x1", "5x40", "2x1"], boxes: 40, arrows: 48 },
  "hostile/struct.Hostile": { tables: ["3x2", "5x4", "2x1"], boxes: 4, arrows: 3 },
};

// What stands in the documentation of a struct, and how it can be read.
function look() {
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const docs = document.querySelector(".top-doc .docblock");
  const rgb = (color) => color.match(/[\d.]+/g).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = rgb(getComputedStyle(at).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const page = behind(docs);
  const contrasts = all(docs, "svg g:has(> rect)").flatMap((box) => {
    const rect = getComputedStyle(box.querySelector("rect"));
    const fill = rgb(rect.fill);
    const below = fill.length > 3 && fill[3] === 0 ? page : fill.slice(0, 3);
    const text = all(box, "text").map((it) => {
      const style = getComputedStyle(it);
      const [color, opacity] = [rgb(style.fill), Number(style.opacity)];
      return contrast(color.slice(0, 3).map((c, i) => c * opacity + below[i] * (1 - opacity)), below);
    });
    // The border of a box is no text.
    return [...text, contrast(rgb(rect.stroke).slice(0, 3), page) * 1.5];
  });
  // No text is wider than its box, nor is anything drawn outside of the picture.
  const outside = all(docs, "svg g:has(> rect)").filter((box) => {
    const rect = box.querySelector("rect").getBoundingClientRect();
    return all(box, "text").some((text) => text.getBoundingClientRect().width > rect.width);
  });
  const svg = docs.querySelector("svg");
  return {
    tables: all(docs, "table").map((table) => {
      const rows = all(table, "tr").map((row) => row.children.length);
      return rows.every((cells) => cells === rows[0]) ? `${rows[0]}x${rows.length - 1}` : `uneven ${rows}`;
    }),
    boxes: all(docs, "svg rect").length,
    arrows: all(docs, "svg path[marker-end]").length,
    markup: all(docs, "script, img, h1, h2, b, td a, svg a").length,
    contrast: Math.min(21, ...contrasts),
    outside: outside.length,
    shrunk: svg && Math.abs(svg.getBoundingClientRect().width - Number(svg.getAttribute("width"))) > 0.5,
    overflow: document.documentElement.scrollWidth - innerWidth,
    titles: all(docs, "svg g > title").map((title) => title.textContent),
  };
}

async function see(theme, name, width) {
  const page = await browser.newPage();
  const about = `${name} (${theme}, ${width})`;
  page.on("pageerror", (error) => failed.push(`${about}: ${error.message}`));
  page.on("dialog", (dialog) => (failed.push(`${about}: it says ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => /^https?:/.test(request.url()) && failed.push(`${about}: it asks for ${request.url()}`));
  await page.setViewport({ width, height: 900 });
  await page.evaluateOnNewDocument((theme) => {
    localStorage.setItem("rustdoc-use-system-theme", "false");
    localStorage.setItem("rustdoc-theme", theme);
  }, theme);
  await page.goto(pathToFileURL(path.resolve(documentation, `${name}.html`)).href);
  await page.evaluate(() => document.fonts.ready);
  const { tables, boxes, arrows, ...seen } = await page.evaluate(look);
  try {
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    assert.deepEqual({ tables, boxes, arrows }, pages[name]);
    assert.equal(seen.markup, 0, "there is markup out of a text");
    assert.ok(seen.contrast >= 4.5, `the contrast is ${seen.contrast}`);
    assert.equal(seen.outside, 0, "a text is wider than its box");
    assert.ok(!seen.shrunk, "the picture is not as large as it is");
    assert.ok(seen.overflow <= 0, `it is ${seen.overflow} pixels too wide`);
    if (name === "hostile/struct.Hostile") assert.match(seen.titles[0], /^match: <\/svg><\/div><\/title> <b>bold<\/b> \*\*bold\*\* \|\| two/);
  } catch (error) {
    failed.push(`${about}: ${error.message}`);
  }
  if (shown) {
    const height = await page.evaluate(() => Math.ceil(document.querySelector(".top-doc").getBoundingClientRect().bottom) + 20);
    const clip = { x: 0, y: 0, width, height: Math.min(height, 4000) };
    await page.screenshot({ path: path.join(shown, `${name.replace("/", "-")}-${theme}-${width}.png`), clip, captureBeyondViewport: true });
  }
  await page.close();
}

for (const theme of ["light", "dark", "ayu"]) {
  for (const name of Object.keys(pages)) {
    for (const width of theme === "light" ? [1300, 480] : [1300]) await see(theme, name, width);
  }
}
await browser.close();
failed.forEach((failure) => console.log(`FAILED ${failure}`));
console.log(`tests/pictures: Chromium shows the documentation of ${Object.keys(pages).length} plans, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
