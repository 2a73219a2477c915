// The editor while a person types: completion in each dialect, errors after a pause, and invisible characters, on the stub.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, button, close, contrast, drawn, fits, folder, open, press, put, says, show, stubbed, test, text, wait } from "./harness.mjs";

const value = (page) => page.$eval("#text", (it) => it.value);
// Writes a text with the caret at `|`, asks for choices, and returns their names.
const choices = async (page, marked) => {
  await page.$eval("#text", (it, marked) => {
    const caret = marked.indexOf("|");
    it.value = marked.replace("|", "");
    it.focus();
    it.setSelectionRange(caret, caret);
    it.dispatchEvent(new Event("input"));
  }, marked);
  await page.keyboard.down("Control");
  await page.keyboard.press("Space");
  await page.keyboard.up("Control");
  return page.$$eval("#complete:not([hidden]) li code", (all) => all.map((it) => it.textContent));
};
const MAILS = '{"id": "mails", "tool": "list_mails", "arguments": {"sender": "sarah"}}';

await test("completion in each dialect", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await page.waitForSelector("#tools .tool");
  const is = async (marked, expected) => assert.deepEqual((await choices(page, marked)).slice(0, expected.length), expected, marked);
  const becomes = async (marked, expected) => {
    await choices(page, marked);
    await page.keyboard.press("Enter");
    assert.equal(await value(page), expected);
  };
  // The members of a plan, of a step and of a policy.
  await is('{"ste|', ["steps"]);
  await is(`[${MAILS}, {"id": "a", "|"}]`, ["intent", "tool", "arguments", "if", "for"]);
  await is('[{"id": "a", "tool": "x", "policy": {"|"}}]', ["attempts", "backoff", "timeout"]);
  await is('[{"id": "a", "loop": {}, "policy": {"at|"}}]', ["attempts", "at_most"]);
  await is('{"requestId": "a", "steps": [{"re|"}]}', ["retryCount"]);
  await is('{"name": "a", "inputs": [{"|"}], "steps": []}', ["name", "type", "description"]);
  await is('{"requestId": "a", "steps": [{"tool": "list_mails", "params": {}}, {"tool": "read_mail", "dependsOn": [|]}]}', ["0"]);
  await is(`[${MAILS}, {"id": "b", "after": ["|"]}]`, ["mails"]);
  // A value of the type of the argument comes first.
  await is(`[${MAILS}, {"id": "b", "tool": "read_mail", "arguments": {"id": "|"}}]`, ["{{mails.result[0].id}}"]);
  await is(`[${MAILS}, {"id": "b", "tool": "send_mail", "arguments": {"to": "|"}}]`, ["{{mails.result[0].from}}", "{{mails.result}}"]);
  await is(`{"steps": [${MAILS}, {"id": "b", "tool": "read_mail", "arguments": {"id": |}}]}`, ["$ref:mails.0.id"]);
  await is('{"requestId": "a", "steps": [{"tool": "list_mails", "params": {}}, {"tool": "read_mail", "params": {"id": "|"}}]}', ["${step[0].data[0].id}"]);
  const json = '{"name": "a", "inputs": [{"name": "who", "type": "String"}], "steps": [{"id": "mails", "tool": {"name": "list_mails"}, "arguments": {"object": {}}}, ';
  await is(`${json}{"id": "b", "tool": {"name": "|"}}]}`, ["list_mails", "read_mail", "send_mail"]);
  await is(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"|"}}}]}`, ["to", "text"]);
  await is(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": {"|"}}}}]}`, ["reference", "object", "text"]);
  await is(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": {"reference": {"step": "|"}}}}}]}`, ["mails"]);
  await is(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": {"reference": {"input": "|"}}}}}]}`, ["who"]);
  await is(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": {"reference": {"step": "mails", "pointer": "|"}}}}}]}`, ["/0", "/0/id", "/0/from"]);
  await becomes(`${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": "fro|"}}}]}`,
    `${json}{"id": "b", "tool": {"name": "send_mail"}, "arguments": {"object": {"to": {"reference": {"step": "mails", "pointer": "/0/from"}}}}}]}`);
  // The element of a list, and a reference inside of a string.
  await is(`{"steps": [${MAILS}, {"id": "b", "for": {"pattern": "mail", "list": "|`, ["$ref:mails"]);
  await is(`{"steps": [${MAILS}, {"id": "b", "for": {"pattern": "mail", "list": "$ref:mails", "body": {"tool": "send_mail", "arguments": {"to": "|"}}}}]}`, ["$ref:mail.from"]);
  await becomes(`[${MAILS}, {"id": "b", "tool": "send_mail", "arguments": {"text": "Re: {{mails.result[0].fr|"}}]`, `[${MAILS}, {"id": "b", "tool": "send_mail", "arguments": {"text": "Re: {{mails.result[0].from}}"}}]`);
  // A string without an end ends at the caret, and a name brings the empty value of its type.
  await becomes(`[${MAILS}, {"id": "b", "tool": "send|, "arguments": {}}]`, `[${MAILS}, {"id": "b", "tool": "send_mail", "arguments": {}}]`);
  await becomes(`[${MAILS}, {"id": "b", "arg|}]`, `[${MAILS}, {"id": "b", "arguments": {}}]`);
  await choices(page, "[{|}]");
  await page.keyboard.type("to");
  await page.keyboard.down("Control");
  await page.keyboard.press("Space");
  await page.keyboard.up("Control");
  await page.keyboard.press("Enter");
  // The tools are the next choices.
  await says(page, "#complete", "list_mails");
  await page.keyboard.press("Enter");
  assert.equal(await value(page), '[{"tool": "list_mails"}]');
  await close(page);
}));

await test("a plan from a skeleton", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await says(page, "#begin", "Or begin with one empty step, in one of four formats");
  assert.deepEqual(await choices(page, "|"), ["action plan", "tool plan", "blueprint", "plan JSON"]);
  await show(page, "skeletons-light");
  await page.keyboard.press("Escape");
  await press(page, "action plan", "#begin");
  await page.keyboard.type("list");
  await page.keyboard.press("Enter");
  await drawn(page, 1);
  assert.deepEqual(JSON.parse(await value(page)), [{ id: "first", tool: "list_mails", arguments: {} }]);
  // The arguments of an added step have their own line.
  await put(page, "");
  for (const tool of ["list_mails", "send_mail"]) await page.$$eval("#tools .tool", (all, tool) => all.find((it) => it.querySelector("code").textContent === tool).querySelector("button").click(), tool);
  assert.equal(await value(page), '[\n  {"id": "list_mails", "tool": "list_mails",\n   "arguments": {"sender": ""}},\n  {"id": "send_mail", "tool": "send_mail",\n   "arguments": {"to": "", "text": ""}}\n]\n');
  await close(page);
}));

await test("a sample has a sentence", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await wait(page, () => document.querySelectorAll("#sample option").length > 1);
  await page.select("#sample", "2");
  await says(page, "#sample-about", "Sends a mail after your permission.");
  await page.focus("#text");
  await page.keyboard.type(" ");
  assert.equal(await page.$eval("#sample-about", (it) => it.hidden), true);
  await close(page);
}));

await test("errors wait for a pause", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await put(page, `[${MAILS},\n {"id": "mail", "tool": "read_mail", "arguments": {"id": ""}}]`);
  await drawn(page, 2);
  await page.$eval("#text", (it) => {
    const caret = it.value.lastIndexOf('""') + 1;
    it.focus();
    it.setSelectionRange(caret, caret);
  });
  await page.keyboard.press("Escape");
  // Neither the list nor the graph changes while a person types a reference.
  await page.evaluate(() => {
    self.seen = new Set();
    const look = () => self.seen.add(`${document.querySelector("#findings-count").textContent} ${document.querySelectorAll("#marks mark").length} ${document.querySelector("#picture-old").hidden}`);
    self.look = setInterval(look, 10);
  });
  for (const key of "{{mail.result[0].id}}") {
    await page.keyboard.type(key);
    await new Promise((resolve) => setTimeout(resolve, 320));
  }
  for (let key = 0; key < 18; key += 1) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type("x");
  await new Promise((resolve) => setTimeout(resolve, 450));
  assert.deepEqual(await page.evaluate(() => [...self.seen]), ["No errors and no warnings. Format: action-plan. 0 true"]);
  // After the pause, the error is there.
  await page.waitForSelector("#marks mark");
  assert.match(await text(page, "#findings"), /does not exist/);
  // A caret that leaves the word is the end of typing.
  await page.keyboard.press("Backspace");
  await wait(page, () => !document.querySelector("#marks mark"));
  await page.keyboard.type("x");
  const began = Date.now();
  await page.keyboard.press("ArrowUp");
  await page.waitForSelector("#marks mark");
  assert.ok(Date.now() - began < 600, `the error comes after ${Date.now() - began} ms`);
  await close(page);
}));

// A line of other characters than those of ASCII is measured by the browser.
for (const word of ["", "Grüße an alle Gäste "]) await test(`typing in a long plan, ${word}`, () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const plan = Array.from({ length: 300 }, (_, at) => ({ id: `s${at}`, tool: "read_mail", arguments: { id: at ? `{{s${at - 1}.result.id}}` : 1 }, ...(word ? { intent: `${word}${at}` } : {}) }));
  await put(page, word ? `[${plan.map((step) => JSON.stringify(step)).join(",\n")}]` : JSON.stringify(plan, null, 1));
  await drawn(page, 300);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await page.$eval("#text", (it) => {
    it.focus();
    const caret = it.value.indexOf('s299"') + 1;
    it.setSelectionRange(caret, caret);
  });
  // No task takes more than 50 ms of the processor while a person types, with the answers of the server.
  await page.tracing.start({ categories: ["devtools.timeline", "toplevel"] });
  await page.keyboard.type("xyz", { delay: 330 });
  const { traceEvents } = JSON.parse(Buffer.from(await page.tracing.stop()).toString());
  const threads = new Set(traceEvents.filter(({ name }) => name === "EventDispatch").map(({ tid }) => tid));
  const pause = Math.max(...traceEvents.filter(({ name, tid }) => /RunTask/.test(name) && threads.has(tid)).map(({ tdur }) => (tdur ?? 0) / 1000));
  assert.ok(pause > 0 && pause < 50, `a task takes ${pause} ms`);
  await close(page);
}));

await test("a long word", async () => {
  const { scan } = await import(`data:text/javascript,${encodeURIComponent(fs.readFileSync(path.join(folder, "scan.js"), "utf8"))}`);
  const text = `["${"x".repeat(95_000)}"`;
  const began = performance.now();
  scan(text, text.length);
  assert.ok(performance.now() - began < 500, `the scan takes ${performance.now() - began} ms`);
});

await test("invisible characters", () => stubbed({}, async (stub) => {
  for (const [name, options] of [["light", {}], ["dark", { scheme: "dark" }], ["narrow", { width: 390 }]]) {
    const page = await open(stub.url, options);
    await put(page, '[{"id": "inbox", "tool": "list_mails",\n  "arguments": {"sender": "sarah\u202elive\u{e0041}"}}]\u200b');
    await says(page, "#findings .is-warning", "The text contains 3 invisible characters. The first is \\u{202e}. It can change the order of the text after it.");
    await says(page, "#findings .is-warning", "Line 2: \\u{e0041} at column 38");
    assert.deepEqual(await page.$$eval("#marks [data-sign]", (all) => all.map((it) => it.dataset.sign)), ["\\u{202e}", "\\u{e0041}", "\\u{200b}"]);
    await show(page, `invisible-${name}`);
    await fits(page);
    assert.deepEqual([...(await contrast(page)), ...(await axe(page))], []);
    await press(page, "Escape or remove the characters", "#findings");
    assert.equal(await value(page), '[{"id": "inbox", "tool": "list_mails",\n  "arguments": {"sender": "sarah\\u202elive\\udb40\\udc41"}}]');
    await wait(page, () => !document.querySelector("#findings .is-warning"));
    await put(page, `"${"\u200b".repeat(120)}"`);
    await says(page, "#findings .is-warning", "The text contains 120 invisible characters.");
    await close(page);
  }
}));

await test("corrections of members, arguments and references", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const members = "the members of a step are `id`, `tool`";
  const IF = { condition: { reference: { step: "found", pointer: "/0/email" } }, then: { tool: { name: "email_send" }, arguments: { object: { to: { reference: { step: "found" } }, subject: "Hello" } } } };
  const FAR = `[
  {"id": "booked", "tool": "event_book", "arguments": {"title": "Planning", "day": "2027-03-12"}, "retries": 2}
]`;
  const LONG = `[
  {"id": "found", "tool": "contacts_find", "arguments": {"name": "Ada"}},
  {"id": "invited", "tool": "email_send", "intent": "Invite Ada to the meeting about the plan of the next quarter.",
   "arguments": {"to": "$ref:found.email"}}
]`;
  const after = 'a step starts after the steps that it refers to; to wait for another step, write `"after": ["a"]`';
  for (const [before, marked, code, help, label, now] of [
    ['[{"id": "a", "goal": {"x": [1, "}"]}, "tool": "list_mails"}]', '"goal"', "unknown-member", members, "Remove the member", '[{"id": "a", "tool": "list_mails"}]'],
    ['[{"id": "a", "goal": 1 }]', '"goal"', "unknown-member", members, "Remove the member", '[{"id": "a" }]'],
    ['[{"goal": "x"}]', '"goal"', "unknown-member", members, "Remove the member", "[{}]"],
    ['[{"id": 1, "event": 2}]', '"event"', "unknown-argument", "remove `event`", "Remove the member", '[{"id": 1}]'],
    ['[{"id": "b", "depends_on": ["a"]}]', '"depends_on"', "unknown-member", after, "Apply the correction", '[{"id": "b", "after": ["a"]}]'],
    ['{"fail": 2}', '"fail"', "unknown-argument", "its only argument is `failures`", "Apply the correction", '{"failures": 2}'],
    ['["$a.b"]', "$a.b", "malformed-reference", 'write the reference as `{{a.result.b}}`; to keep the text, write `{{"$a.b"}}`', "Apply the correction", '["{{a.result.b}}"]'],
    ['{"x": "3"}', '"3"', "wrong-type", "remove the quotes: `3`", "Apply the correction", '{"x": 3}'],
    ['{"x": 3}', "3", "wrong-kind", 'write it in quotes: `"3"`', "Apply the correction", '{"x": "3"}'],
    ['{"x": "a"}', '"a"', "wrong-kind", 'put the value in a list: `["a"]`', "Apply the correction", '{"x": ["a"]}'],
    ['{"dependsOn": [0, 1]}', "0", "unneeded-dependency", "remove the step from the list", "Remove the entry", '{"dependsOn": [1]}'],
    ['{"after": ["a", "b"]}', '"b"', "unknown-step", 'remove "b" from `after`', "Remove the entry", '{"after": ["a"]}'],
    ['{"id": "b", "catch": true}', "true", "not-allowed", "remove `catch`", "Remove the member", '{"id": "b"}'],
    ['{"id": "b", "retries": 2}', '"retries"', "unknown-member", 'the attempts include the first call: write `"attempts": 3`', "Apply the correction", '{"id": "b", "attempts": 3}'],
    ['["$ref:step-1"]', "-", "malformed-reference", 'did you mean `$ref:["step-1"]`?', "Apply the correction", '["$ref:[\\"step-1\\"]"]'],
    ['["{{c.result}}"]', "c", "unknown-step", 'the only step is `a`; if this is not a reference, write `{{"{{c.result}}"}}`', "Apply the correction", '["{{a.result}}"]'],
    ["{'a': 'it', b: 1}", "'", "invalid-json", 'names and strings are in double quotes: `"id"`', "Write all names and strings in double quotes", '{"a": "it", "b": 1}'],
    ['{"x": True}', "True", "invalid-json", "JSON writes `true` and `false`", "Apply the correction", '{"x": true}'],
    ['{"x": 1} // y', "/", "invalid-json", "JSON has no comments", "Apply the correction", '{"x": 1} '],
    ['[{"id": "a"}, {"id": "b", "tool": "t", "arguments": {}}]', '"b"', "unordered-effect", 'write `"after": ["a"]` in step `b`, or remove step `a`, whose output nothing uses', "Wait for the check", '[{"id": "a"}, {"id": "b", "after": ["a"], "tool": "t", "arguments": {}}]'],
    ['[{"id": "a"}, {"id": "b"}]', '"a"', "unused-output", "remove the step, or use its output", "Remove the step", '[{"id": "b"}]'],
    ['[{"tool": "t", "params": {"x": "$r"}}]', '"$r"', "maybe-absent", 'stop the reference at null: `"$s"`, or call the tool only if the value is present: `"if": [{"pattern": "Some(x)"}]`', "Call the tool only if the value is present", '[{"if": [{"pattern": "Some(x)"}]}]'],
    // A member without room begins a line.
    [FAR, '"retries"', "unknown-member", 'the attempts include the first call: write `"policy": {"attempts": 3}`', "Apply the correction", FAR.replace(' "retries": 2', '\n   "policy": {"attempts": 3}')],
    // A correction of several members has the line breaks of the samples.
    [LONG, '"$ref:found.email"', "maybe-absent", `stop the reference at null: \`"$s"\`, or call the tool only if the value is present: \`"if": [${JSON.stringify(IF)}]\``, "Call the tool only if the value is present", `[
  {"id": "found", "tool": "contacts_find", "arguments": {"name": "Ada"}},
  {"id": "invited",
   "intent": "Invite Ada to the meeting about the plan of the next quarter.",
   "if": [{"condition": {"reference": {"step": "found", "pointer": "/0/email"}},
           "then": {"tool": {"name": "email_send"},
                    "arguments": {"object": {"to": {"reference": {"step": "found"}},
                                             "subject": "Hello"}}}}]}
]`],
    ['[{"tool": "t", "params": {"x": "$r"}}]', '"$r"', "maybe-absent", 'stop the reference at null: `"$s"`, or call the tool only if the value is present: `"if": [{"pattern": "Some(x)"}]`', "Stop the reference at null", '[{"tool": "t", "params": {"x": "$s"}}]'],
    ['["{{a.result.x}}"]', '"{{a.result.x}}"', "unknown-field", "did you mean `{{a.result.y}}`?", "Apply the correction", '["{{a.result.y}}"]'],
  ]) {
    await put(page, before);
    await page.evaluate(async (value, marked, code, help) => {
      const place = (offset) => ({ offset, line: 1, column: offset + 1 });
      const { editor, found } = await import("/page/editor.js");
      clearTimeout(editor.timer);
      editor.checking?.abort();
      const start = value.indexOf(marked);
      found({ findings: [{ severity: "error", code, message: "x", help, labels: [{ start: place(start), end: place(start + marked.length), text: "" }] }], plan: null }, value, "strict");
    }, before, marked, code, help);
    await press(page, label, "#findings");
    assert.equal(await value(page), now);
  }
  await close(page);
}));

await test("all corrections at once", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const before = '[\n  {"id": "a", "retries": 2, "arguments": {"n": "3", "on": True}},\n  {"id": "b"}\n]';
  await put(page, before);
  const checks = [];
  page.on("request", (request) => request.url().endsWith("/api/check") && checks.push(JSON.parse(request.postData()).text));
  const find = (all) => page.evaluate(async (value, all) => {
    const { editor, found } = await import("/page/editor.js");
    clearTimeout(editor.timer);
    editor.checking?.abort();
    const place = (offset) => ({ offset, line: 1, column: offset + 1 });
    found({ findings: all.map(([marked, code, help]) => ({ severity: "error", code, message: "x", help, labels: [{ start: place(value.indexOf(marked)), end: place(value.indexOf(marked) + marked.length), text: "" }] })), plan: null }, value, "strict");
  }, before, all);
  const one = ['"retries"', "unknown-member", 'the attempts include the first call: write `"attempts": 3`'];
  await find([one]);
  await button(page, "Apply the correction", "#findings");
  assert.deepEqual(await page.$$eval("#findings button", (all) => all.filter((it) => it.textContent.startsWith("Apply all")).length), 0);
  // Two corrections for one place are not applied together, and nobody removes a step with others.
  await find([['"b"', "unused-output", "remove the step, or use its output"], one, ['"3"', "wrong-type", "remove the quotes: `3`"], ['"3"', "wrong-type", "remove the quotes: `3`"], ["True", "invalid-json", "JSON writes `true` and `false`"]]);
  await press(page, "Apply all 3 corrections", "#findings");
  assert.equal(await value(page), '[\n  {"id": "a", "attempts": 3, "arguments": {"n": 3, "on": true}},\n  {"id": "b"}\n]');
  await wait(page, () => document.querySelector("#findings-count").textContent !== "5 errors.");
  // The page checks the text again, and one undo restores the text.
  assert.equal(checks.at(-1), await value(page));
  await page.focus("#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  assert.equal(await value(page), before);
  await close(page);
}));

await test("all corrections at once give no object one key twice", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const their = (text, all) => page.evaluate(async (text, all) => {
    const { corrected, corrections, together } = await import("/page/corrections.js");
    const of = ([marked, help]) => corrections(text, { code: "x", help, labels: [{ start: text.indexOf(marked), end: text.indexOf(marked) + marked.length }] });
    return corrected(text, together(text, all.map(of)));
  }, text, all);
  const only = "its only argument is `failures`";
  const attempts = 'the attempts include the first call: write `"attempts": 3`';
  for (const [before, all, now] of [
    ['[{"arguments": {"times": 1, "key": 3}}]', [['"times"', only], ['"key"', only]], '[{"arguments": {"failures": 1, "key": 3}}]'],
    ['[{"arguments": {"times": 1}}, {"arguments": {"key": 3}}]', [['"times"', only], ['"key"', only]], '[{"arguments": {"failures": 1}}, {"arguments": {"failures": 3}}]'],
    ['[{"arguments": {"failures": {"a": []}, "key": 3}}]', [['"key"', only]], '[{"arguments": {"failures": {"a": []}, "key": 3}}]'],
    ['[{"retries": 2, "tool": "t", "tries": 2}]', [['"retries"', attempts], ['"tries"', attempts]], '[{"attempts": 3, "tool": "t", "tries": 2}]'],
    ['[{"attempts": "3", "n": "4"}]', [['"3"', attempts], ['"4"', "remove the quotes: `4`"]], '[{"attempts": 3, "n": 4}]'],
  ]) assert.equal(await their(before, all), now);
  await close(page);
}));

await test("the graph of a draft has the errors of steps without a name", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const node = (path, at) => `<g class="node acts" data-path="${path}"><rect class="box" x="${at}" y="0" width="90" height="44"/><text class="id">${path}</text></g>`;
  const draft = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 44">${node("step0", 0)}${node("sent", 100)}${node("step2", 200)}</svg>`;
  const before = '[{"tool": "a", "arguments": {"subjct": "x"}}, {"id": "sent", "tool": "b"}, {"tool": "c", "arguments": {"n": 1}}]';
  const find = (all) => page.evaluate(async (value, draft, all) => {
    const { editor, found } = await import("/page/editor.js");
    clearTimeout(editor.timer);
    editor.checking?.abort();
    const place = (offset) => ({ offset, line: 1, column: offset + 1 });
    found({ findings: all.map(([marked, step, severity = "error"]) => ({ severity, step, code: "x", message: "x", labels: [{ start: place(value.indexOf(marked)), end: place(value.indexOf(marked) + marked.length), text: "" }] })), draft, plan: null }, value, "strict");
    return [...document.querySelectorAll("#picture .node.wrong")].map((it) => it.dataset.path);
  }, before, draft, all);
  await put(page, before);
  assert.deepEqual(await find([['"subjct"', null], ['"n"', null, "warning"]]), ["step0"]);
  await says(page, "#picture-old", "The red steps have errors.");
  assert.deepEqual(await find([['{"tool": "c", "arguments": {"n": 1}}', null]]), ["step2"]);
  assert.deepEqual(await find([['"b"', null], ['"n"', "step2"]]), ["sent", "step2"]);
  await close(page);
}));

await test("the arrow keys go to the nearest step", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  // The rows are a; b, c, d; e, f. The step e is below b, and f is below c.
  const of = (id, ...after) => ({ id, tool: "list_mails", arguments: {}, after });
  await put(page, JSON.stringify([of("a"), of("b", "a"), of("e", "b"), of("c", "a"), of("f", "c"), of("d", "a")]));
  await drawn(page, 6);
  for (const [from, keys, to] of [["a", "Down", "b"], ["b", "Right Right", "d"], ["d", "Left", "c"], ["c", "Down", "f"], ["f", "Up", "c"], ["f", "Left Up Up", "a"], ["b", "Left", "b"], ["a", "Up", "a"],
    ["d", "Down", "f"], ["f", "Right", "d"], ["a", "Right", "c"], ["e", "Down", "e"]]) {
    await page.$eval(`#picture [data-path="${from}"]`, (it) => it.focus());
    for (const key of keys.split(" ")) await page.keyboard.press(`Arrow${key}`);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.path), to, `${from} ${keys}`);
  }
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.path), "a");
  await page.keyboard.press("End");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.path), "d");
  assert.deepEqual(await page.$$eval("#picture .node[tabindex='0']", (all) => all.map((it) => it.dataset.path)), ["d"]);
  await close(page);
}));

await test("the caret after a step is added", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const tool = (properties, required = []) => ({ name: "t", parameters: { type: "object", properties, required } });
  for (const [before, one, marked] of [
    ["", tool({ to: { type: "string" } }, ["to"]), '[\n  {"id": "t", "tool": "t",\n   "arguments": {"to": "|"}}\n]\n'],
    ["", tool({ from: { type: ["string", "null"] } }), '[\n  {"id": "t", "tool": "t",\n   "arguments": {|}}\n]\n'],
    ['[\n  {"id": "a", "arguments": {"x": ""}}\n]', tool({}), '[\n  {"id": "a", "arguments": {"x": ""}},\n  {"id": "t", "tool": "t",\n   "arguments": {|}}\n]'],
    ["", tool({ to: { type: "array" } }, ["to"]), '[\n  {"id": "t", "tool": "t",\n   "arguments": {"to": [|]}}\n]\n'],
    ["", tool({ n: { type: "integer" } }, ["n"]), '[\n  {"id": "t", "tool": "t",\n   "arguments": {"n": |0}}\n]\n'],
    ['{"requestId": "r", "steps": []}', tool({}), '{"requestId": "r", "steps": [\n  {"tool": "t",\n   "params": {|}}\n]}'],
    ['{"inputs": [], "steps": []}', tool({}), '{"inputs": [], "steps": [\n  {"id": "t", "tool": {"name": "t"},\n   "arguments": {"object": {|}}}\n]}'],
  ]) {
    await put(page, before);
    assert.equal(await page.evaluate(async (one) => {
      (await import("/page/tools.js")).add(one);
      const { value, selectionStart: at } = document.getElementById("text");
      return `${value.slice(0, at)}|${value.slice(at)}`;
    }, one), marked);
  }
  await close(page);
}));

await test("a text that is not empty", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  await says(page, "#findings-count", "The text is empty.");
  assert.equal((await choices(page, '[{"t|'))[0], "tool");
  await page.keyboard.type("o");
  assert.equal(await page.$eval("#complete", (it) => it.hidden), false);
  assert.equal(await text(page, "#findings-count"), "");
  await close(page);
}));

await test("the graph of a plan with errors states no effects", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const node = (path, kind, y) => `<g class="node ${kind}" data-path="${path}"><rect class="box" x="9" y="${y}" width="90" height="44"/><text class="id">${path}</text></g>`;
  const draft = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">${node("inbox", "acts", 9)}${node("room", "waits", 99)}${node("back", "acts undo", 149)}</svg>`;
  let said = { dialect: "x", findings: [{ severity: "error", code: "x", message: "wrong", step: "room", labels: [] }], plan: null, draft };
  await page.setRequestInterception(true);
  page.on("request", (request) => (request.url().endsWith("/api/check") ? request.respond({ status: 200, contentType: "application/json", body: JSON.stringify(said) }) : request.continue()));
  await put(page, "[1]");
  await drawn(page, 3);
  assert.deepEqual(await page.$$eval("#picture .legend li", (all) => all.map((it) => it.textContent)), ["waits for a value", "undoes a step", "has errors"]);
  const tone = (selector, name = "--tone") => page.$eval(selector, (it, name) => getComputedStyle(it).getPropertyValue(name), name);
  for (const grey of ["inbox", "back"]) assert.equal(await tone(`#picture [data-path=${grey}]`), await tone("body", "--not-started"));
  assert.equal(await tone("#picture .legend .undo"), await tone("body", "--not-started"));
  // A text without a graph keeps the graph of an earlier text, whether or not the text is JSON.
  said = { dialect: "x", findings: [{ severity: "error", code: "x", message: "wrong", labels: [] }], plan: null, draft: null };
  await put(page, "{}");
  await says(page, "#picture-old", "This is the graph of an earlier text.");
  assert.doesNotMatch(await text(page, "#picture-old"), /JSON/);
  await close(page);
}));

await test("the colors are as wide as the text, and the choices are inside", () => stubbed({}, async (stub) => {
  const page = await open(stub.url, { width: 1280 });
  for (const plan of ["[]", "[\n".repeat(60), `[${MAILS}]`, "x".repeat(4000), "[]"]) {
    await page.evaluate(async (plan) => (await import("/page/editor.js")).replaceText(plan), plan);
    await says(page, "#findings-count", "error");
    await wait(page, () => new Set(["text", "colors", "marks"].map((id) => document.getElementById(id).clientWidth)).size === 1);
  }
  await page.setViewport({ width: 320, height: 1000 });
  // The choices scroll, and never the text beside its line numbers.
  await choices(page, `${"\n".repeat(80)}[{"|`);
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.$eval(".pane", (it) => it.scrollTop), 0);
  await choices(page, '[{"id": "a", "too|');
  const [choice, pane] = await page.$$eval("#complete, .pane", (all) => all.map((it) => it.getBoundingClientRect()).sort((a, b) => a.height - b.height).map(({ right }) => right));
  assert.ok(choice <= pane, `${choice} of ${pane}`);
  await says(page, "#spoken", "1 choice: tool.");
  await close(page);
}));

await test("all columns of the steps are below the editor", () => stubbed({}, async (stub) => {
  const step = (path, tool, more) => ({ path, tool, needs: ["reserved_room"], affects: ["released_room", "invitation"], affects_count: 2, ...more });
  const steps = [step("participants", "contacts_find"), step("reserved_room", "event_book", { undone_by: "released_room" }), step("released_room", "event_cancel", { undoes: "reserved_room" }), step("invitation", "email_send")];
  for (const width of [1280, 1000, 700]) {
    const page = await open(stub.url, { width });
    await put(page, `[${MAILS}]`);
    await drawn(page, 1);
    await page.evaluate(async (steps) => (await import("/page/editor.js")).found({ findings: [], plan: { steps, svg: null } }, document.getElementById("text").value, "strict"), steps);
    assert.deepEqual(await page.$$eval("#steps thead th", (all) => all.map((it) => it.textContent)), ["Step", "Tool", "Effect", "Needs", "Undone by", "Steps that a failure blocks"]);
    const [over, card, editor, graph] = await page.evaluate(() => [document.querySelector("#steps .table"), ...["steps-card", "editor", "picture-card"].map((id) => document.getElementById(id).getBoundingClientRect())].map((it) => (it.localName ? it.scrollWidth - it.clientWidth : it.toJSON())));
    assert.equal(over, 0, `the columns at ${width} pixels`);
    assert.ok(card.top > editor.bottom && card.left < editor.left, `${width}: ${JSON.stringify([card, editor])}`);
    // A wide page has the graph beside the steps. Other pages have the steps in their whole width.
    assert.equal(card.right < graph.left, width === 1280);
    assert.equal(card.right >= graph.right, width < 1280);
    await show(page, `steps-${width}`);
    await close(page);
  }
}));

await test("the editor is the wider column", () => stubbed({}, async (stub) => {
  const page = await open(stub.url);
  const [editor, graph] = await page.$$eval("#editor-view > .column", (all) => all.map((it) => it.getBoundingClientRect().width));
  assert.ok(editor > graph, `${editor} and ${graph}`);
  await close(page);
}));

await test("long lines break", () => stubbed({}, async (stub) => {
  for (const width of [1400, 390]) {
    const page = await open(stub.url, { width });
    const line = (text) => `{"id": "a", "text": "${text}"}`;
    const all = ["x".repeat(300), "客户".repeat(90), "a b  ".repeat(60), "\tй".repeat(70), "👩‍🚀 é".repeat(30), "short", "evil\u202e".repeat(30)].map(line);
    await put(page, `${all.join("\n").repeat(3)}\n`);
    // The colors, the marks and the numbers have the rows of the text area.
    const [height, sum, across] = await page.evaluate(() => {
      const area = document.querySelector("#text");
      area.scrollTop = area.scrollHeight;
      area.dispatchEvent(new Event("scroll"));
      return [area.scrollHeight - area.scrollTop - area.clientHeight, document.querySelector("#numbers span:last-child").getBoundingClientRect().bottom - area.getBoundingClientRect().bottom, area.scrollWidth - area.clientWidth];
    });
    assert.equal(across, 0);
    assert.ok(Math.abs(height) <= 1 && Math.abs(sum + 8) < 6, `${width}: the last number is at ${sum}`);
    await close(page);
  }
}));
