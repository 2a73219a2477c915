// The keyboard alone, and each state in dark, narrow and zoomed, on the stub.

import assert from "node:assert/strict";
import { axe, begin, close, contrast, faulty, fits, open, press, says, show, stubbed, test, wait } from "./harness.mjs";

await test("the keyboard alone", () => stubbed({ pace: 20 }, async (stub) => {
  // Without the token in the address, the page asks for it.
  const page = await open(stub.origin, { allowed: /401/ });
  await page.waitForSelector("#sign-in:not([hidden])");
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await says(page, "#token-error", "does not accept this token");
  assert.deepEqual(await axe(page), []);
  await show(page, "sign-in-light");
  await page.keyboard.type(stub.token);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#runs-view:not([hidden])");
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
  await tab("to-editor");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#editor-view:not([hidden])");
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
    await press(page, "Refuse the call");
    await says(page, "#run-facts", "failed");
    await looks("failed");
    await page.click("#to-runs");
    await page.waitForSelector("#runs a");
    await looks("runs");
    if (options.width < 400) {
      // The filters are behind a button, and a finger can press each button.
      await page.setViewport({ ...options, hasTouch: true, isMobile: true });
      await page.waitForSelector("#runs a");
      assert.equal(await page.$eval("#filters", (it) => it.getClientRects().length), 0);
      await press(page, "Filters");
      await page.waitForSelector("#filter-text", { visible: true });
      const heights = await page.$$eval("button:not(.link), a.button", (all) => all.filter((it) => it.getClientRects().length).map((it) => [it.textContent, it.getBoundingClientRect().height]));
      assert.deepEqual(heights.filter(([, height]) => height < 40), []);
      await looks("filters");
    }
    await close(page);
  }));
}

await test("the header at twice its size", () => stubbed({}, async (stub) => {
  await begin(stub, [{ id: "sent", tool: "send_mail", arguments: { to: "ada" } }]);
  const page = await open(stub.url, { width: 640, height: 500, at: "#/runs/r0001" });
  await says(page, "#who", "Ada Lovelace");
  await says(page, "#connection", "Live");
  await says(page, "#to-inbox", "1");
  const middles = await page.$$eval("header > *", (all) => all.map((it) => it.getBoundingClientRect()).filter(({ height }) => height).map(({ top, bottom }) => (top + bottom) / 2));
  assert.ok(Math.max(...middles) - Math.min(...middles) < 6, middles.join());
  assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
  await show(page, "header-640");
  await fits(page);
  await close(page);
}));
