// Records `recording.svg` in the folder for screenshots, if a folder is given: a misspelled field, a run, an approval, the kill of the server, and the rest of the run.
// All frames are screenshots of the page of the real server.

import fs from "node:fs";
import path from "node:path";
import { drawn, open, press, sample, says, served, shown, test, text, wait } from "./harness.mjs";

const [WIDTH, HEIGHT, STRIP] = [860, 740, 44];
const escaped = (words) => words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// Each frame covers the earlier frames from its time on, and the last frame stays. Readers who prefer reduced motion see the last frame.
const svg = (frames) => {
  let now = 0;
  const drawn = frames.map(({ image, words, seconds }) => {
    const isCommand = words.startsWith("$");
    const caption = isCommand ? `<tspan fill="#7ee787">$</tspan>${escaped(words.slice(1))}` : escaped(words);
    const frame = `<g class="frame" style="animation-delay:${now.toFixed(1)}s"><image width="${WIDTH}" height="${HEIGHT}" y="${STRIP}" href="data:image/webp;base64,${image}"/>` +
      `<rect width="${WIDTH}" height="${STRIP}" fill="#161b22"/><text x="16" y="28" font-size="17" fill="#e6edf3" font-family="${isCommand ? "ui-monospace, Menlo, Consolas, monospace" : "system-ui, sans-serif"}">${caption}</text></g>`;
    now += seconds;
    return frame;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT + STRIP}" viewBox="0 0 ${WIDTH} ${HEIGHT + STRIP}" role="img">
<title>A misspelled field in a plan, its correction, a run, an approval, the kill of the server, and the end of the run</title>
<style>@keyframes show { from { opacity: 0 } } .frame { animation: show 1ms both } .frame:nth-of-type(1) { animation: none } @media (prefers-reduced-motion: reduce) { .frame { animation: none } }</style>
${drawn.join("\n")}
</svg>
`;
};

await test("the recording", () => served(async (server) => {
  const frames = [];
  const page = await open(server.url, { width: WIDTH, height: HEIGHT, allowed: /ERR_|net::|Failed to load/ });
  const take = async (words, seconds) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    frames.push({ image: await page.screenshot({ type: "webp", quality: 80, encoding: "base64" }), words, seconds });
  };
  const mark = (selector, label) => page.evaluate((selector, label) => {
    const it = [...document.querySelectorAll(selector)].find((it) => it.getClientRects().length && it.textContent === label);
    it.scrollIntoView({ block: "center" });
    it.style.boxShadow = "0 0 0 4px #d29922";
  }, selector, label);
  const see = (selector, block = "start") => page.$eval(selector, (it, block) => it.scrollIntoView({ block }), block);

  await sample(page, "Book a meeting");
  await drawn(page, 4);
  await page.evaluate(() => {
    document.querySelector("#editor").style.height = "450px";
    scrollTo(0, 0);
  });
  await take("A plan: find Ada, book a meeting, invite her", 2);
  // The misspelled field of the last reference.
  await page.$eval("#text", (it) => {
    const caret = it.value.lastIndexOf("email\"");
    it.focus();
    it.setSelectionRange(caret, caret + 5);
  });
  await page.keyboard.type("emial");
  await page.waitForSelector("#marks mark");
  await see(".editor");
  await take("One misspelled field is an error before the run", 2.5);
  await mark("#findings button", "Apply the correction");
  await take("The message has the correction", 1.2);
  await press(page, "Apply the correction", "#findings");
  await says(page, "#findings-count", "No errors");
  await mark("#start", "Run the plan");
  await see("#start");
  await take("The plan as a graph: what reads, what changes something, what undoes it", 2);
  await page.click("#start");
  await says(page, "#questions h3", "event_book");
  await page.evaluate(() => scrollTo(0, 0));
  await take("The run asks before it books the meeting", 2);
  await press(page, "Allow", "#questions");
  await says(page, "#questions h3", "email_send");
  await page.evaluate(() => scrollTo(0, 0));
  await take("The meeting is booked. The run asks before it sends the invitation", 1.8);
  await server.end("SIGKILL");
  await says(page, "#connection", "Connection lost");
  await take("$ kill -9 $(pidof plan-server)", 2);
  await server.begin();
  await says(page, "#connection", "Live");
  await says(page, "#questions h3", "email_send");
  await mark("#questions button", "Allow");
  await take("$ plan-server     # the run still waits", 2.2);
  await press(page, "Allow", "#questions");
  await says(page, "#run-facts", "done");
  await wait(page, () => document.querySelectorAll("#live .node.completed").length === 3);
  await page.evaluate(() => scrollTo(0, 0));
  await take("Done: each call ran once", 4);
  if (shown) fs.writeFileSync(path.join(shown, "recording.svg"), svg(frames));
  console.log(`recorded ${frames.reduce((sum, { seconds }) => sum + seconds, 0)} seconds`, await text(page, "#run-facts"));
}));
