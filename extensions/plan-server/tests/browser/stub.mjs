// A server that answers what `API.md` says, so that the page can be tested without the real one: it knows action plans, a few tools, and
// runs that take a moment for each step. It is in memory, and checks only what the tests of the page need.

import http from "node:http";
import fs from "node:fs";
import path from "node:path";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const READS = /^(find|list|read|look|search|track)/;

const SAMPLES = [
  {
    name: "reply", title: "Reply to the last mail (an input and an answer)", about: "Replies to a mail.", is_ready: false, dialect: "action-plan", text: `[
    {"id": "inbox", "intent": "Find the mail.", "tool": "list_mails", "arguments": {"sender": "{{PLACEHOLDER_sender}}"}},
    {"id": "mail", "tool": "read_mail", "arguments": {"id": "{{inbox.result[0].id}}"}},
    {"id": "answer", "await": "String"},
    {"id": "sent", "tool": "send_mail", "arguments": {"to": "{{mail.result.from}}", "text": "{{answer.result}}"}},
    {"id": "booked", "tool": "book_meeting", "arguments": {"with": "{{mail.result.from}}", "after": "{{sent.result}}"}}
]
` },
  {
    name: "faulty", title: "Faulty: a step that does not exist", about: "Has an error.", is_ready: false, dialect: "action-plan", text: `[
    {"id": "inbox", "tool": "list_mails", "arguments": {"sender": "sarah"}},
    {"id": "mail", "tool": "read_mail", "arguments": {"id": "{{inbx.result[0].id}}"}},
    {"id": "sent", "tool": "send_mail", "arguments": {"to": "{{mail.result.from}}", "text": "See you."}}
]
` },
  { name: "ready", title: "Send a mail", about: "Sends a mail after your permission.", is_ready: true, dialect: "action-plan", text: '[{"id": "sent", "intent": "Tell Ada.", "tool": "send_mail", "arguments": {"to": "ada", "text": "Hello."}}]' },
];

const TEXT = { type: "string" };
const MAIL = { type: "object", properties: { id: { type: "integer" }, from: TEXT, cc: { type: ["string", "null"] } } };
const TOOLS = [
  { name: "list_mails", description: "Lists mails.", read_only: true, parameters: { type: "object", properties: { sender: { ...TEXT, description: "Only those of this sender." }, limit: { type: ["integer", "null"] } }, required: ["sender"] }, output: { type: "array", items: { $ref: "#/$defs/Mail" }, $defs: { Mail: MAIL } } },
  { name: "read_mail", description: "Reads a mail.", read_only: true, parameters: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }, output: MAIL },
  { name: "send_mail", description: "Sends a mail.", parameters: { type: "object", properties: { to: TEXT, text: TEXT }, required: ["to", "text"] }, output: { type: "object", properties: { number: { type: "integer" } } } },
  { name: "tell_all", description: "Tells something to several people.", parameters: { type: "object", properties: { to: { type: "array", items: TEXT }, days: { type: ["array", "null"], items: { type: "integer" } }, mails: { type: "array", items: { $ref: "#/$defs/Mail" } } }, required: ["to", "days"], $defs: { Mail: MAIL } }, output: TEXT },
];
const escaped = (text) => String(text).replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const place = (text, offset) => {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: [...before.slice(before.lastIndexOf("\n") + 1)].length + 1, offset };
};

function check(text) {
  const findings = [];
  const find = (severity, code, message, help, start, end, words = "") =>
    findings.push({ severity, code, message, help, labels: [{ start: place(text, start), end: place(text, end), text: words }] });
  let list;
  try {
    list = JSON.parse(text);
  } catch (error) {
    const at = Number(/position (\d+)/.exec(error.message)?.[1] ?? text.length);
    find("error", "malformed-json", `the text is not JSON: ${error.message}`, "check the commas, quotes and brackets before this place", Math.min(at, text.length), Math.min(at + 1, text.length));
    return { dialect: null, findings, plan: null };
  }
  if (!Array.isArray(list)) {
    find("error", "not-a-plan", "a plan is a list of steps", null, 0, text.length);
    return { dialect: null, findings, plan: null };
  }
  const ids = list.map((step, at) => String(step.id ?? `step${at}`));
  const inputs = new Map();
  const steps = list.map((step, at) => {
    const needs = new Set();
    const sources = {};
    for (const [name, value] of Object.entries(step.arguments ?? {})) for (const [, id] of JSON.stringify(value).matchAll(/\{\{(?:PLACEHOLDER_)?(\w+)/g)) (sources[name] ??= []).push(id);
    for (const [whole, name] of JSON.stringify(step.arguments ?? {}).matchAll(/\{\{([^{}]+?)\}\}/g)) {
      const placeholder = /^PLACEHOLDER_(\w+)/.exec(name)?.[1];
      if (placeholder) {
        const kind = /count|number/.test(placeholder) ? "number" : /urgent/.test(placeholder) ? "boolean" : /list|json/.test(placeholder) ? "json" : "text";
        inputs.set(placeholder, { name: placeholder, type: kind === "json" ? (/list/.test(placeholder) ? "Vec<String>" : "object[]") : kind, required: !/^maybe/.test(placeholder), kind, description: `What \`${step.tool}\` gets.` });
        continue;
      }
      const id = name.split(".")[0];
      const where = text.indexOf(whole);
      if (!ids.includes(id)) find("error", "unknown-step", `the step \`${id}\` does not exist`, ids.some((other) => other[0] === id[0]) ? `did you mean \`${whole.replace(id, ids.find((other) => other[0] === id[0]))}\`?` : `the steps are ${ids.map((id) => `\`${id}\``).join(", ")}`, where, where + whole.length, "this reference");
      else if (!/\.result/.test(name)) find("warning", "odd-reference", `\`${whole}\` has no \`.result\``, `write \`{{${id}.result}}\``, where, where + whole.length);
      else needs.add(id);
    }
    const waits = "await" in step;
    return { path: ids[at], intent: step.intent ?? "", tool: step.tool ?? null, read_only: !waits && READS.test(step.tool ?? ""), waits, needs: [...new Set([...needs, ...(step.after ?? []).filter((id) => ids.includes(id))])], after: step.after ?? [], sources, undoes: step.undoes ?? null, undone_by: list.find((one) => one.undoes === ids[at])?.id ?? null, affects: [], type: step.await, arguments: step.arguments ?? {}, each: step.for ?? 0, fails: step.fails ?? [] };
  });
  for (const step of steps) {
    const hit = new Set([step.path]);
    for (let round = 0; round < steps.length; round += 1) for (const other of steps) if (other.needs.some((need) => hit.has(need))) hit.add(other.path);
    hit.delete(step.path);
    step.affects = [...hit];
  }
  const failed = findings.some(({ severity }) => severity === "error");
  const plan = failed ? null : { name: "mail", text: `plan mail\n${steps.map((step) => `\n  step ${step.path} = ${step.tool ?? `await ${step.type}`}`).join("")}\n`, mermaid: "flowchart TB\n", dot: "digraph {}\n",
    inputs: [...inputs.values()], steps: steps.map(({ type, arguments: given, each, fails, sources, affects, ...step }) => ({ ...step, affects: affects.slice(0, 100), affects_count: affects.length })), svg: draw(steps) };
  return { dialect: "action-plan", findings, plan, steps };
}

function draw(steps) {
  const level = new Map();
  for (const step of steps) level.set(step.path, Math.max(-1, ...step.needs.map((need) => level.get(need) ?? 0)) + 1);
  const column = new Map();
  const at = new Map();
  for (const step of steps) {
    const row = level.get(step.path);
    const nth = column.get(row) ?? 0;
    column.set(row, nth + 1);
    at.set(step.path, [10 + nth * 210, 10 + row * 80]);
  }
  const width = 20 + 210 * Math.max(1, ...column.values());
  const height = 20 + 80 * Math.max(1, column.size);
  const edges = steps.flatMap((step) => step.needs.map((need) => {
    const [[x, y], [u, v]] = [at.get(need), at.get(step.path)];
    return `<path class="edge${step.undoes === need ? " undo" : step.after.includes(need) ? " after" : ""}" data-from="${escaped(need)}" data-to="${escaped(step.path)}" d="M${x + 95} ${y + 44}C${x + 95} ${y + 62} ${u + 95} ${v - 20} ${u + 95} ${v}"><title>${escaped(need)} → ${escaped(step.path)}</title></path>`;
  }));
  const nodes = steps.map((step) => {
    const [x, y] = at.get(step.path);
    const kind = `${step.waits ? "waits" : step.read_only ? "reads" : "acts"}${step.undoes ? " undo" : ""}${step.each ? " is-for" : ""}`;
    const short = (text) => escaped([...String(text)].slice(0, 24).join(""));
    return `<g class="node ${kind}" data-path="${escaped(step.path)}" tabindex="0" role="button" aria-label="${escaped(step.path)}"><title>${escaped(step.path)}</title><rect class="box" x="${x}" y="${y}" width="190" height="44" rx="7"/><rect class="mark" x="${x}" y="${y}" width="6" height="44" rx="3"/><text class="id" x="${x + 15}" y="${y + 18.5}">${short(step.path)}</text><text class="what" x="${x + 15}" y="${y + 34.5}">${short(step.tool ?? `waits for ${step.type}`)}</text></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 ${width} ${height}"><defs><marker id="tip"><path d="M0 0L8 4L0 8z"/></marker></defs>${edges.join("")}${nodes.join("")}</svg>`;
}

// Starts the stub on a free port. `pace` is how many milliseconds a step takes, and `late` is how many milliseconds the state of a run takes to arrive.
export async function start({ page, pace = 120, late = 0 }) {
  const token = randomBytes(16).toString("hex");
  const runs = new Map();
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // The report of a run, as far as its events tell, with or without arguments and outputs.
  const reported = (run, whole) => ({ plan: run.plan, started_at: run.began, steps: run.steps.map((step) => {
    const events = run.events.filter(({ path }) => path === step.path);
    const last = events.at(-1);
    const since = (ms) => ms - Date.parse(run.began);
    const started = events.find((event) => event.started_ms)?.started_ms;
    const attempts = [];
    for (const { attempt, started_ms, ended_ms, error, status } of events) {
      if (!started_ms || status === "waiting") continue;
      const one = (attempts[attempt - 1] ??= { number: attempt, tool: step.tool, started_ms: since(attempt === 1 ? run.allowed.get(step.path) ?? started_ms : started_ms), arguments: whole ? run.given.get(step.path) : undefined });
      if (run.changed?.has(step.path)) one.changed = true;
      if (ended_ms) one.duration_ms = since(ended_ms) - one.started_ms;
      if (error) one.error = error;
    }
    const asked = run.allowed.has(step.path) || (run.approve === "each" && /refused/.test(last?.error ?? ""));
    const until = run.allowed.get(step.path) ?? last?.ended_ms;
    if (asked && !run.allowed.has(step.path)) attempts.length = 0;
    const waits = asked && started ? [{ reason: "answer", started_ms: since(started), duration_ms: until - started }] : [];
    if (run.elements) attempts.splice(0, attempts.length, ...run.elements);
    return { id: step.path, tool: step.tool, waits: run.asked ?? waits, waited_ms: waits.length ? { answer: waits[0].duration_ms } : undefined, status: last?.status ?? "not started", error: last?.error ?? undefined, started_ms: started && since(started),
      duration_ms: last?.ended_ms ? since(last.ended_ms) - since(started) : undefined, output: whole ? run.values.get(step.path) : undefined, attempts: attempts.filter(Boolean) };
  }) });
  const waitsFor = ({ state, questions, waits, waits_for }) => (state !== "waiting" ? null : waits_for ? waits_for : questions.length ? "answer" : waits.length ? "value" : "time");
  const expires = ({ began }) => new Date(Date.parse(began) + 86_400_000).toISOString();
  const lasted = ({ began, ended, earlier }) => ({ took_ms: ended ? Date.parse(ended) - Date.parse(began) : null, idle_ms: (earlier ?? []).reduce((sum, { idle_ms: idle }) => sum + (idle ?? 0), 0) || null });
  const told = (run, whole = false) => {
    const { id, name, plan, state, began, ended, inputs, output, error, waits, questions, undone, approve, steps, svg } = run;
    return { id, name, plan, state, began, ended, ...lasted(run), is_transient: run.is_transient ?? null, expires: ended ? null : expires(run), refusal: run.refusal ?? null, waits_for: waitsFor(run), inputs, error, waits, questions: questions.map(({ settle, ...rest }) => rest), decisions: (run.decisions ?? []).map(({ original, arguments: given, value, ...rest }) => (whole ? { ...rest, original, arguments: given, value } : rest)), not_undone: run.not_undone ?? [], restarts: run.restarts ?? [], earlier: run.earlier ?? [], undone, approve, steps, svg, report: reported(run, whole), ...(whole ? { output } : {}) };
  };
  const send = (run, event, data) => {
    for (const response of run.watchers) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const step = (run, event) => {
    run.events.push(event);
    send(run, "step", event);
  };
  async function execute(run, steps, approve) {
    const { values } = run;
    const failed = (one, error, started) => {
      step(run, { path: one.path, status: "failed", attempt: 1, started_ms: started, ended_ms: Date.now(), error });
      run.error = { path: one.path, message: error, help: null };
      for (const path of one.affects) step(run, { path, status: "blocked", attempt: 0, started_ms: null, ended_ms: null, error: null });
    };
    for (const one of steps) {
      if (run.cancelled) break;
      if (values.has(one.path) || one.undoes) continue;
      if (one.needs.some((need) => !values.has(need))) continue;
      const started = Date.now();
      const event = (status, attempt = 1, error = null, ended = null) => step(run, { path: one.path, status, attempt, started_ms: started, ended_ms: ended, error });
      if (one.waits) {
        event("waiting");
        run.state = "waiting";
        run.waits = [{ path: one.path, type: one.type, intent: one.intent }];
        send(run, "waits", run.waits);
        const value = await new Promise((resolve) => (run.answer = resolve));
        if (run.cancelled) break;
        run.waits = [];
        run.state = "running";
        values.set(one.path, value);
        send(run, "waits", []);
        event("completed", 1, null, Date.now());
        continue;
      }
      const ask = async (path) => {
        const whole = JSON.stringify(one.arguments, null, 2);
        const shown = whole.length > 8000 ? `${whole.slice(0, 8000)}\n… and ${whole.length - 8000} more characters, which are not shown` : whole;
        const question = { id: randomBytes(4).toString("hex"), path, tool: one.tool, description: "Changes something, so somebody has to agree.", intent: one.intent, arguments: one.arguments, sources: one.sources, text: shown, asked: new Date().toISOString() };
        run.state = "waiting";
        run.questions.push(question);
        const { settle, ...open } = question;
        send(run, "question", open);
        const answer = await new Promise((resolve) => (question.settle = resolve));
        run.questions = run.questions.filter((other) => other !== question);
        if (!run.questions.length) run.state = "running";
        send(run, "state", told(run));
        return answer;
      };
      if (one.each) {
        // The elements of a list, all at one time.
        event("running");
        step(run, { path: one.path, status: "running", elements: one.each });
        const elements = Array.from({ length: one.each }, (_, at) => `${one.path}[${at}]`);
        const done = await Promise.all(elements.map(async (path, at) => {
          const { decision, reason } = approve === "each" && !one.read_only ? await ask(path) : {};
          const error = decision === "refuse" ? `refused: ${reason ?? "without a reason"}` : one.fails.includes(at) && !run.retried ? "the line was busy" : null;
          step(run, { path, status: "running", attempt: 1, started_ms: Date.now(), ended_ms: null, error: null });
          await sleep(pace);
          step(run, { path, status: error ? "failed" : "completed", attempt: 1, started_ms: Date.now() - pace, ended_ms: Date.now(), error });
          return error;
        }));
        const error = done.find(Boolean);
        if (error) {
          failed(one, error, started);
          break;
        }
        values.set(one.path, elements);
        event("completed", 1, null, Date.now());
        continue;
      }
      if (approve === "each" && !one.read_only) {
        event("waiting");
        const { decision, reason, arguments: changed } = await ask(one.path);
        if (changed) run.changed.set(one.path, changed);
        run.allowed.set(one.path, Date.now());
        if (run.cancelled) break;
        if (decision === "refuse") {
          failed(one, `refused: ${reason ?? "without a reason"}`, started);
          break;
        }
      }
      event("running");
      run.given.set(one.path, run.changed.get(one.path) ?? one.arguments);
      if (/flaky/.test(one.tool)) {
        await sleep(pace);
        event("running", 1, "the service is not available", Date.now());
        step(run, { path: one.path, status: "running", attempt: 2, started_ms: Date.now(), ended_ms: null, error: null });
      }
      for (let waited = 0; waited < (one.tool === "slow" ? 60_000 : pace) && !run.cancelled; waited += 20) await sleep(Math.min(20, pace));
      if (run.cancelled) {
        event("cancelled", 1, null, Date.now());
        break;
      }
      values.set(one.path, { from: "sarah@example.org", id: one.path });
      step(run, { path: one.path, status: "completed", attempt: /flaky/.test(one.tool) ? 2 : 1, started_ms: /flaky/.test(one.tool) ? Date.now() - pace : started, ended_ms: Date.now(), error: null });
      if (/^(send|book)/.test(one.tool)) run.acted.push(one);
    }
    if (run.cancelled || run.error) {
      run.undone = run.acted.toReversed().map((one) => ({ path: `un${one.path}`, undoes: one.path, tool: `un${one.tool}`, status: "completed" }));
      run.state = run.cancelled ? "cancelled" : "failed";
      if (run.cancelled) run.error = { message: "the run was cancelled", help: null };
    } else {
      run.state = "done";
      run.output = Object.fromEntries(values);
    }
    run.ended = new Date().toISOString();
    send(run, "end", told(run));
    for (const response of run.watchers) response.end();
  }
  const begin = (text, { steps, plan }, inputs, approve) => {
    const run = { text, id: `r${String(runs.size + 1).padStart(4, "0")}`, plan: plan.name, state: "running", began: new Date().toISOString(), ended: null, inputs: inputs, output: null,
      error: null, waits: [], questions: [], undone: [], approve: approve, steps: plan.steps, svg: plan.svg, values: new Map(), given: new Map(), changed: new Map(), allowed: new Map(), watchers: new Set(), events: [], acted: [], decisions: [], earlier: [] };
    runs.set(run.id, run);
    execute(run, steps, approve);
    return run.id;
  };
  const report = (run) => {
    const nonce = randomBytes(16).toString("hex");
    return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'"><link rel="stylesheet" nonce="${nonce}" href="/report.css"></head><body><header><h1>${escaped(run.plan)}</h1></header><p id="said">${escaped(run.state)}</p><pre>${escaped(JSON.stringify(run.output))}</pre><script nonce="${nonce}" src="/report.js"></script></body></html>`;
  };

  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://stub");
    const headers = { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };
    const answer = (status, type, body) => response.writeHead(status, { ...headers, "Content-Type": type, "Cache-Control": "no-store" }).end(body);
    // A string such as "#1.0#" stands for a number with these digits.
    const json = (status, value) => answer(status, "application/json", JSON.stringify(value).replaceAll(/"#([-+.\dEe]+)#"/g, "$1"));
    const wrong = (status, code, message, help = null, more = {}) => json(status, { error: { code, message, help }, ...more });
    const files = { "/": ["index.html", "text/html"], "/page.css": ["page.css", "text/css"] };
    const script = /^\/page\/([a-z-]+\.js)$/.exec(url.pathname)?.[1];
    if (script && fs.existsSync(path.join(page, script))) return answer(200, "text/javascript; charset=utf-8", fs.readFileSync(path.join(page, script)));
    if (files[url.pathname]) return answer(200, `${files[url.pathname][1]}; charset=utf-8`, fs.readFileSync(path.join(page, files[url.pathname][0])));
    if (url.pathname === "/report.css") return answer(200, "text/css", "h1 { color: rgb(1, 2, 3); }");
    if (url.pathname === "/report.js") return answer(200, "text/javascript", "document.documentElement.classList.add('scripted');");
    if (url.pathname === "/health") return answer(200, "text/plain", "ok\n");
    if (request.headers.authorization !== `Bearer ${token}`) return wrong(401, "unauthorized", "the token is missing or wrong", "send the token that the server printed");
    let body = "";
    for await (const part of request) body += part;
    let given = null;
    try {
      given = body ? JSON.parse(body) : null;
    } catch {
      return wrong(400, "malformed", "the body is not JSON");
    }
    if (url.pathname === "/api/questions") {
      const questions = [...runs.values()].flatMap((run) => run.questions.map(({ settle, arguments: given, ...rest }) => ({ run: run.id, name: run.name, plan: run.plan, expires: expires(run), ...rest, ...(/not shown$/.test(rest.text) ? {} : { arguments: given }) })));
      return json(200, { questions, count: questions.length });
    }
    const [, , , id, what, which] = url.pathname.split("/").map(decodeURIComponent);
    const run = runs.get(id);
    if (url.pathname === "/api/samples") return json(200, SAMPLES);
    if (url.pathname === "/api/tools") return json(200, TOOLS);
    if (url.pathname === "/api/check") {
      const { steps, ...said } = check(given.text);
      return json(200, said);
    }
    if (url.pathname === "/api/runs" && request.method === "POST") {
      const { plan, findings } = check(given.text);
      if (!plan) return wrong(422, "findings", "the plan has errors", null, { findings });
      const inputs = Object.fromEntries(plan.inputs.flatMap(({ name, required }) => (required && given.inputs[name] === undefined ? [[name, "a value is missing"]]
        : given.inputs[name] === "nobody" ? [[name, "nobody has this name"]] : [])));
      if (Object.keys(inputs).length) return wrong(422, "inputs", "the inputs do not fit", null, { inputs });
      const checked = check(given.text);
      const id = begin(given.text, checked, given.inputs, given.approve);
      runs.get(id).name = given.name ?? null;
      return json(201, { id });
    }
    if (url.pathname === "/api/plans") return json(200, { plans: [...new Set([...runs.values()].map(({ plan }) => plan))].sort() });
    if (url.pathname === "/api/runs") {
      const [state, text, before, plan, since, from, to, waits] = ["state", "text", "before", "plan", "since", "from", "to", "waits_for"].map((name) => url.searchParams.get(name));
      const oldest = Math.max(since ? Date.now() - { "1h": 1, "1day": 24, "7days": 168 }[since] * 3_600_000 : -Infinity, from ? Date.parse(from) : -Infinity);
      const limit = Number(url.searchParams.get("limit") ?? 50);
      const all = [...runs.values()].toReversed().filter((run) => (!waits || waitsFor(run) === waits) && (!plan || run.plan === plan) && Date.parse(run.began) >= oldest && (!to || run.began < to) && (!text || JSON.stringify([run.id, run.name, run.plan, run.inputs]).toLowerCase().includes(text.toLowerCase())));
      const matching = all.filter((run) => !state || run.state === state);
      const sort = url.searchParams.get("sort");
      const keys = { began: ({ began }) => Date.parse(began), took: ({ began, ended }) => (Date.parse(ended) || Date.now()) - Date.parse(began), state: (run) => run.state, plan: ({ plan }) => plan.toLowerCase() };
      const key = keys[sort?.replace("-", "")];
      if (key) matching.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (sort.startsWith("-") ? -1 : 1));
      const rest = key ? matching.slice(Number(before ?? 0)) : matching.filter(({ id }) => !before || id < before);
      const next = rest.length <= limit ? null : key ? String(Number(before ?? 0) + limit) : rest[limit - 1].id;
      const states = {};
      for (const run of all) states[run.state] = (states[run.state] ?? 0) + 1;
      return json(200, { runs: rest.slice(0, limit).map((run) => [run, waitsFor(run)]).map(([{ id, name, plan, state, began, ended, error, inputs, lists, earlier }, waits_for]) => ({ ...lasted({ began, ended, earlier }), lists: lists ?? [], id, name, plan, state, waits_for, began, ended, inputs_text: Object.entries(inputs ?? {}).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ").slice(0, 200), error: state === "failed" && error ? `step \`${error.path}\`: ${error.message}` : null })), next, ...(url.searchParams.has("count") ? { count: { least: matching.length, is_exact: true, states } } : {}) });
    }
    if (!run) return wrong(404, "unknown-run", `the run \`${id}\` does not exist`, "the list of runs has those that exist");
    if (!what) {
      const whole = told(run, true);
      await sleep(late);
      return json(200, whole);
    }
    if (what === "events") {
      response.writeHead(200, { ...headers, "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
      response.write(`: hello\r\nevent: state\r\ndata: ${JSON.stringify(told(run))}\r\n\r\n`);
      for (const event of run.events) response.write(`event: step\ndata: ${JSON.stringify(event)}\n\n`);
      if (run.ended) return response.end(`event: end\ndata: ${JSON.stringify(told(run))}\n\n`);
      run.watchers.add(response);
      response.on("close", () => run.watchers.delete(response));
      return undefined;
    }
    if (what === "report.md") return answer(200, "text/markdown; charset=utf-8", `## Run ${run.state}\n`);
    if (what === "report.html") return answer(200, "text/html; charset=utf-8", report(run));
    if (what === "questions" && !which) {
      const open = run.questions.filter(({ id }) => given.questions.includes(id));
      for (const one of open) run.decisions.push({ question: one.id, path: one.path, tool: one.tool, decision: given.decision, changed: false, by: given.by ?? null, reason: given.reason ?? null, at: new Date().toISOString() });
      for (const one of open) one.settle(given);
      return open.length ? json(200, { answered: open.length }) : wrong(409, "answered", "the question is not open");
    }
    if (what === "questions") {
      const question = run.questions.find((one) => one.id === which);
      const answered = run.decisions.find((one) => one.question === which);
      if (!question && answered) return json(409, { error: { code: "NO_SUCH_QUESTION", message: `the call was answered by ${answered.by}`, help: "Look at the run.", decision: answered } });
      if (!question) return wrong(409, "answered", "the question is not open");
      if (request.method === "GET") return json(200, { text: JSON.stringify(question.arguments, null, 2), json: JSON.stringify(question.arguments, null, 2) });
      const required = TOOLS.find(({ name }) => name === question.tool)?.parameters.required ?? [];
      const missing = given.arguments && required.filter((name) => !(name in given.arguments));
      if (missing?.length) return wrong(422, "ARGUMENTS", `the argument \`${missing[0]}\` of \`${question.tool}\` is missing`, "Correct the arguments. The call still waits.");
      run.decisions.push({ question: which, path: question.path, tool: question.tool, decision: given.decision, changed: Boolean(given.arguments), original: given.arguments && question.arguments, arguments: given.arguments ?? (given.decision === "refuse" ? question.arguments : undefined), by: given.by ?? null, reason: given.reason ?? null, at: new Date().toISOString() });
      for (const one of run.questions.filter((one) => one === question || (given.decision === "allow_step" && one.path.replace(/\[\d+\]$/, "") === question.path.replace(/\[\d+\]$/, "")))) one.settle(given);
      return json(200, {});
    }
    if (what === "signals") {
      if (!run.waits.some(({ path }) => path === given.path)) return wrong(409, "not-waiting", `the step \`${given.path}\` does not wait`);
      if (typeof given.value !== "string") return wrong(422, "wrong-type", `the step \`${given.path}\` waits for a String`, "send a text");
      run.decisions.push({ question: null, path: given.path, tool: null, decision: "send", changed: false, value: given.value, by: given.by ?? null, reason: null, at: new Date().toISOString() });
      run.answer(given.value);
      return json(200, {});
    }
    if (what === "plan") return json(200, { text: run.text, inputs: run.inputs, printed: `plan ${run.plan}\n${run.text}`, mermaid: "flowchart TB\n", dot: "digraph {}\n" });
    if (what === "again") return json(201, { id: begin(run.text, check(run.text), run.inputs, run.approve) });
    if (what === "cancel" || what === "retry") run.decisions.push({ question: null, path: "", tool: null, decision: what === "cancel" ? what : run.state === "cancelled" ? "resume" : "retry", changed: false, by: given.by ?? null, reason: given.reason || null, at: new Date().toISOString() });
    if (what === "retry") {
      if (!["failed", "cancelled"].includes(run.state)) return wrong(409, "CANNOT_RETRY", "the run has not failed");
      for (const { path } of run.acted) run.values.delete(path);
      const tried = run.events.filter(({ path, attempt, started_ms, ended_ms }) => attempt && started_ms && ended_ms && !run.values.has(path));
      run.earlier.push({ at: new Date().toISOString(), attempts: tried.map(({ path, attempt, started_ms, ended_ms, error }) => ({ path, attempt, started_ms: started_ms - Date.parse(run.began), ended_ms: ended_ms - Date.parse(run.began), error })) });
      Object.assign(run, { state: "running", ended: null, error: null, undone: [], acted: [], cancelled: false, retried: true });
      run.events = run.events.filter(({ path }) => run.values.has(path));
      execute(run, check(run.text).steps, run.approve);
      return json(200, {});
    }
    if (what === "cancel") {
      run.cancelled = true;
      run.answer?.(null);
      run.questions.forEach(({ settle }) => settle({}));
      return json(202, {});
    }
    return wrong(404, "unknown-path", "there is nothing here");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    url: `${origin}/#token=${token}`, origin, token, runs,
    // Breaks the streams of all who watch.
    drop: () => runs.forEach((run) => run.watchers.forEach((response) => response.destroy())),
    close: () => (server.closeAllConnections(), server.close()),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await start({ page: path.resolve(process.argv[2] ?? path.join(here, "../../page")), pace: 800 });
  console.log(url);
}
