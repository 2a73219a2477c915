"use strict";
(() => {
  // Whatever the server sends, and whatever is typed, the page does at most this much of it.
  const LIMITS = {
    text: 256 * 1024, // bytes of a plan that are checked
    findings: 100, // findings that are listed
    marks: 300, // lines of the text with something underlined
    rows: 300, // rows of a table, a list or the timeline
    nodes: 6000, // elements of a picture
    svg: 4_000_000, // characters of a picture
    steps: 2000, // steps whose state is kept
    attempts: 30, // attempts of a step that are kept
    cards: 50, // questions, and waiting steps, that are shown
    shown: 20_000, // characters of an output
    words: 2000, // characters of a message
    event: 4_000_000, // characters of one event
    report: 30_000_000, // characters of a report
    page: 25, // runs on a page of the list
  };
  const STATUSES = ["waiting", "running", "completed", "recovered", "skipped", "failed", "blocked", "cancelled"];
  const SIGNS = { waiting: "…", running: "▸", completed: "✓", recovered: "↺", skipped: "↷", failed: "✗", blocked: "⊘", cancelled: "◌", done: "✓" };
  const ENDED = ["completed", "recovered", "skipped", "failed", "blocked", "cancelled"];

  const $ = (id) => document.getElementById(id);

  // ---- Elements. Texts become text nodes only, so nothing that the server sends is read as markup. ----

  // What nobody sees, or turns the text around it, is shown as the escape that the server has for it, so that people read what programs read.
  const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]|(?<=\p{M}{4})\p{M}/gu;
  const escaped = (c) => ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`;
  const seen = (text) => text.replace(UNSEEN, escaped);
  // The same of a text that may have several lines.
  const lines = (text) => text.replace(UNSEEN, (c) => (c === "\n" ? c : escaped(c)));
  const SHOWN = new Set(["alt", "aria-description", "aria-label", "aria-valuetext", "data-label", "placeholder", "title"]);

  const h = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, SHOWN.has(key) ? seen(String(value)) : value);
    }
    const shown = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
    element.append(...shown.map((child) => (child instanceof Node ? child : lines(String(child)))));
    return element;
  };
  const limited = (text, most) => (text.length > most ? `${text.slice(0, most)}… (${(text.length - most).toLocaleString()} more characters)` : text);
  // A value on one line, unless it is an object, and a text of several lines.
  const cut = (value, most = LIMITS.words) =>
    typeof value === "string" ? limited(seen(value.slice(0, most + 1)) + value.slice(most + 1), most) : value === null || value === undefined ? "" : block(show(value), most);
  const block = (text, most = LIMITS.words) => lines(limited(text, most));
  const show = (value) => {
    try {
      return JSON.stringify(value, null, 2) ?? "";
    } catch {
      return String(value);
    }
  };
  const bdi = (text, most) => h("bdi", {}, cut(text, most));
  // A message, with what is in backquotes as code.
  const prose = (text) => h("bdi", {}, block(typeof text === "string" ? text : cut(text)).split(/(`[^`\n]+`)/).filter(Boolean).map((part) => (/^`[^`]+`$/.test(part) ? h("code", {}, part.slice(1, -1)) : part)));
  const list = (value) => (Array.isArray(value) ? value : []);
  const plural = (count, one, more = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : more}`;
  const hide = (element, hidden) => { element.hidden = hidden; };
  // Replaces what is in an element, unless it would be the same again: a screen reader would say it again.
  const say = (element, text) => {
    const shown = lines(text);
    if (element.textContent !== shown) element.textContent = shown;
  };
  // JSON as text. A string that is written from right to left does not turn what is around it.
  const json = (text) => text.split(/("(?:[^"\\]|\\.)*")/).filter(Boolean).map((part) => (part.startsWith('"') ? h("bdi", {}, part) : part));

  // A time is a text of RFC 3339 or a number of milliseconds.
  const instant = (value) => {
    if (value === null || value === undefined || value === "") return null;
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? null : date;
  };
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
  const time = (value) => {
    const date = instant(value);
    return date ? h("time", { datetime: date.toISOString(), title: zoned.format(date) }, clock.format(date)) : "–";
  };
  const took = (ms) => {
    if (!(ms >= 0)) return "–";
    if (ms < 1) return "under 1 ms";
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
    const minutes = Math.floor(ms / 60_000);
    return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  };
  const stateOf = (state) => {
    const known = ["running", "waiting", "done", "failed", "cancelled"].includes(state) ? state : "not-started";
    return h("span", { class: `state ${known}` }, h("span", { "aria-hidden": "true" }, SIGNS[state] ?? "·"), cut(state, 40));
  };
  const keep = (key, value) => {
    try {
      if (value === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, value);
    } catch {
      // Without a store, the page forgets when it is reloaded.
    }
  };
  const kept = (key) => {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  };

  // What changes is announced now and then, in one sentence, not with every event.
  const announced = [];
  let announcing = 0;
  const announce = (text) => {
    if (announced.length < 6) announced.push(text);
    announcing ||= setTimeout(() => {
      announcing = 0;
      $("spoken").textContent = "";
      say($("spoken"), announced.splice(0).join(". "));
    }, 700);
  };

  // ---- The server. ----

  let token = null;

  class Refused extends Error {
    constructor(status, body) {
      const error = body && typeof body === "object" && body.error && typeof body.error === "object" ? body.error : {};
      super(cut(error.message ?? `the server answered with status ${status}`));
      this.status = status;
      this.code = error.code;
      this.help = error.help ? cut(error.help) : null;
      this.body = body;
    }
  }
  const told = (error) => {
    if (error instanceof Refused) return [capital(error.message), error.help].filter(Boolean).join("\n");
    if (error.name === "TimeoutError") return "The server did not answer in time. Try again.";
    return "The server cannot be reached. Check that it still runs, then try again.";
  };
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const noticed = (error) => {
    if (error.name === "AbortError" || error.status === 401) return;
    const notice = h("div", { class: "notice" }, told(error));
    notice.append(h("button", { type: "button", class: "small", onclick: () => notice.remove() }, "Close"));
    $("notices").replaceChildren(notice);
  };

  const request = async (path, { method = "GET", body, signal, accept, wait = 30_000 } = {}) => {
    const headers = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (accept) headers.Accept = accept;
    const signals = [signal, wait && AbortSignal.timeout(wait)].filter(Boolean);
    const response = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      signal: signals.length ? AbortSignal.any(signals) : undefined, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer", redirect: "error",
    });
    if (response.ok) return response;
    if (response.status === 401) signOut("The server does not know this token. It may have started with other data. Enter the token that it prints.");
    throw new Refused(response.status, await response.json().catch(() => null));
  };
  const api = async (path, options) => {
    const response = await request(path, options);
    const text = await response.text();
    return text ? JSON.parse(text) : null;
  };

  // ---- The token comes in the fragment, which is never sent to a server, and leaves the address bar. ----

  const takeToken = () => {
    const given = /^#token=(.+)$/.exec(location.hash);
    if (!given) return false;
    try {
      token = decodeURIComponent(given[1]).trim();
    } catch {
      token = given[1].trim();
    }
    keep("token", token);
    history.replaceState(null, "", `${location.pathname}${location.search}#/`);
    return true;
  };
  const signOut = (why = "") => {
    token = null;
    keep("token", null);
    route();
    if (why) {
      say($("token-error"), why);
      $("token").setAttribute("aria-invalid", "true");
    }
  };
  // A header has only visible ASCII characters.
  const isToken = (text) => /^[\x21-\x7e]{1,512}$/.test(text);
  $("sign-in-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const given = $("token").value.trim().replace(/^.*#token=/, "");
    const fine = isToken(given);
    say($("token-error"), fine ? "" : given ? "A token has only letters, digits and signs, without spaces." : "Enter the token.");
    $("token").toggleAttribute("aria-invalid", false);
    if (!fine) {
      $("token").setAttribute("aria-invalid", "true");
      $("token").focus();
      return;
    }
    token = given;
    keep("token", token);
    $("token").value = "";
    route(true);
  });
  $("forget").addEventListener("click", () => signOut());

  // ---- Tables and pictures. ----

  // Roles are written out, since a table that is stacked on a narrow screen would lose its own.
  const table = (label, heads, rows, more = 0) => {
    const body = rows.map(({ cells, ...attributes }) => h("tr", { role: "row", ...attributes }, cells.map((cell, at) =>
      h(at ? "td" : "th", { role: at ? "cell" : "rowheader", scope: at ? null : "row", "data-label": heads[at] }, cell))));
    const made = h("table", { class: "stacked", role: "table", "aria-label": label },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) => h("th", { scope: "col", role: "columnheader" }, head)))),
      h("tbody", { role: "rowgroup" }, body));
    return [h("div", { class: "table", tabindex: rows.length > 8 ? "0" : null, role: "group", "aria-label": label }, made),
      more > 0 ? h("p", { class: "hint" }, `${plural(more, "more")} not shown.`.replace("mores", "more")) : null].filter(Boolean);
  };

  // Only these elements and attributes of a picture are taken over, each made again by this page.
  const DRAWN = new Set(["svg", "g", "path", "rect", "text", "tspan", "title", "desc", "line", "polygon", "polyline", "circle", "ellipse"]);
  const DRAWN_WITH = new Set(["class", "viewBox", "width", "height", "d", "x", "y", "dx", "dy", "rx", "ry", "cx", "cy", "r", "x1", "x2", "y1", "y2", "points",
    "transform", "role", "aria-label", "tabindex", "data-path", "data-from", "data-to"]);
  const SVG = "http://www.w3.org/2000/svg";
  const draw = (text) => {
    if (typeof text !== "string" || text.length > LIMITS.svg) return null;
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (parsed.localName !== "svg") return null;
    let left = LIMITS.nodes;
    const copy = (from) => {
      if (!DRAWN.has(from.localName) || (left -= 1) < 0) return null;
      const to = document.createElementNS(SVG, from.localName);
      for (const { name, value } of from.attributes) if (DRAWN_WITH.has(name)) to.setAttribute(name, SHOWN.has(name) ? seen(value) : value);
      for (const child of from.childNodes) {
        const made = child.nodeType === Node.TEXT_NODE ? document.createTextNode(lines(child.data)) : child.nodeType === Node.ELEMENT_NODE ? copy(child) : null;
        if (made) to.append(made);
      }
      return to;
    };
    const svg = copy(parsed);
    if (left < 0) return null;
    svg.classList.add("graph");
    const box = (svg.getAttribute("viewBox") ?? "").trim().split(/[\s,]+/).map(Number);
    if (box.length === 4 && box.every(Number.isFinite)) {
      svg.setAttribute("width", Math.min(box[2], 40_000));
      svg.setAttribute("height", Math.min(box[3], 40_000));
    }
    return svg;
  };

  // A picture with its buttons. `choose` is called with the path of a step that somebody chooses.
  class Picture {
    constructor(place, bar, choose) {
      this.place = place;
      this.svg = null;
      this.nodes = new Map();
      this.choose = choose;
      this.tools = h("span", { hidden: true },
        h("button", { type: "button", class: "small", "aria-label": "Smaller", onclick: () => this.zoom(0.8) }, "−"), " ",
        h("button", { type: "button", class: "small", "aria-label": "Larger", onclick: () => this.zoom(1.25) }, "+"), " ",
        this.fits = h("button", { type: "button", class: "small", "aria-pressed": "true", onclick: () => this.fit(!this.isFit) }, "Fit"));
      bar.append(this.tools);
      this.isFit = true;
    }
    put(text, legend) {
      this.nodes.clear();
      this.svg = text ? draw(text) : null;
      hide(this.tools, !this.svg);
      if (!this.svg) {
        this.frame = null;
        this.place.replaceChildren(h("p", { class: "none" }, text ? "The picture is too large to be shown here." : "There is no picture yet."));
        return;
      }
      const nodes = this.svg.querySelectorAll("[data-path]");
      if (nodes.length) this.svg.removeAttribute("role");
      this.svg.setAttribute("role", "group");
      this.svg.setAttribute("aria-label", "The steps and what they need. Arrow keys go from step to step.");
      nodes.forEach((node, at) => {
        this.nodes.set(node.dataset.path, node);
        node.dataset.spoken = cut(node.getAttribute("aria-label") || node.dataset.path, 300);
        node.setAttribute("role", "button");
        node.setAttribute("aria-label", node.dataset.spoken);
        node.setAttribute("aria-pressed", "false");
        node.setAttribute("tabindex", at ? "-1" : "0");
        const box = node.querySelector(".box");
        if (box) {
          const sign = document.createElementNS(SVG, "text");
          sign.setAttribute("class", "sign");
          sign.setAttribute("x", Number(box.getAttribute("x")) + Number(box.getAttribute("width")) - 9);
          sign.setAttribute("y", Number(box.getAttribute("y")) + 18.5);
          node.append(sign);
        }
      });
      this.svg.addEventListener("click", (event) => this.picked(event.target.closest("[data-path]")));
      this.svg.addEventListener("keydown", (event) => this.key(event));
      this.frame = h("div", { class: "scroll" }, this.svg);
      this.place.replaceChildren(this.frame, legend ?? "");
      this.fit(true);
    }
    picked(node) {
      if (node) this.choose(node.getAttribute("aria-pressed") === "true" ? null : node.dataset.path);
    }
    key(event) {
      const node = event.target.closest("[data-path]");
      if (!node) return;
      const all = [...this.nodes.values()];
      const at = all.indexOf(node);
      const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (event.key === "Enter" || event.key === " ") this.picked(node);
      else if (event.key === "Escape") this.choose(null);
      else if (to === undefined) return;
      else if (all[to]) {
        node.setAttribute("tabindex", "-1");
        all[to].setAttribute("tabindex", "0");
        all[to].focus();
      }
      event.preventDefault();
    }
    fit(isFit) {
      this.isFit = isFit;
      this.fits.setAttribute("aria-pressed", String(isFit));
      this.frame?.classList.toggle("fit", isFit);
      if (isFit && this.svg) this.svg.style.width = "";
    }
    zoom(by) {
      if (!this.svg) return;
      const width = this.svg.getBoundingClientRect().width * by;
      this.fit(false);
      this.svg.style.width = `${Math.min(Math.max(width, 80), 40_000)}px`;
    }
    mark(chosen, affected = []) {
      const hit = new Set(affected);
      for (const [path, node] of this.nodes) {
        node.classList.toggle("chosen", path === chosen);
        node.classList.toggle("affected", hit.has(path));
        node.setAttribute("aria-pressed", String(path === chosen));
      }
      for (const edge of this.svg?.querySelectorAll(".edge") ?? []) {
        edge.classList.toggle("near", chosen !== null && [edge.dataset.from, edge.dataset.to].includes(chosen));
      }
    }
    status(path, status) {
      const node = this.nodes.get(path);
      if (!node) return;
      node.classList.remove(...STATUSES);
      if (STATUSES.includes(status)) node.classList.add(status);
      const sign = node.querySelector(".sign");
      if (sign) say(sign, SIGNS[status] ?? "");
      node.setAttribute("aria-label", `${node.dataset.spoken}: ${status ?? "not started"}`);
    }
  }

  // ---- The editor. ----

  const text = $("text");
  const editor = {
    findings: [], // with `labels` as offsets into the text
    plan: null,
    chosen: null,
    line: 20,
    checking: null,
    timer: 0,
    checked: null, // what was checked last
    before: text.value,
    at: -1,
    mine: null, // the text that a sample has replaced
    sample: "",
    samples: null,
  };
  const editorPicture = new Picture($("picture"), $("editor-zoom"), (path) => chooseStep(path));

  // The numbers of the lines that can be seen.
  const number = () => {
    const first = Math.floor(Math.max(0, text.scrollTop) / editor.line);
    const seen = Math.ceil(text.clientHeight / editor.line) + 1;
    const numbers = [];
    for (let line = first; line < Math.min(first + seen, editor.lines); line += 1) numbers.push(line + 1);
    const width = String(editor.lines).length;
    say($("numbers"), numbers.map((number) => String(number).padStart(width)).join("\n"));
    $("numbers").style.transform = `translateY(${first * editor.line - text.scrollTop}px)`;
    $("marks").style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
  };
  const starts = (value) => {
    const found = [0];
    for (let at = value.indexOf("\n"); at >= 0; at = value.indexOf("\n", at + 1)) found.push(at + 1);
    return found;
  };
  const lineOf = (offset) => {
    let [low, high] = [0, editor.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (editor.starts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  // Underlines what the findings are about: on each line that has something, the line's own text is drawn again, unseen, with marks in it.
  const underline = () => {
    const value = text.value;
    const lines = new Map();
    editor.findings.forEach((finding, index) => finding.labels.forEach(({ start, end }, nth) => {
      if (nth && finding.labels.length > 20) return;
      const last = Math.min(lineOf(Math.max(start, end - 1)), lineOf(start) + 50);
      for (let line = lineOf(start); line <= last; line += 1) {
        const from = editor.starts[line];
        const to = (editor.starts[line + 1] ?? value.length + 1) - 1;
        const begin = Math.max(start, from);
        let until = Math.min(end, to);
        if (until <= begin) until = Math.min(begin + 1, to);
        if (!lines.has(line)) {
          if (lines.size >= LIMITS.marks) return;
          lines.set(line, []);
        }
        lines.get(line).push({ begin: begin - from, until: until - from, error: finding.severity === "error", index });
      }
    }));
    const drawn = [];
    for (const [line, marks] of lines) {
      const from = editor.starts[line];
      const content = value.slice(from, (editor.starts[line + 1] ?? value.length + 1) - 1);
      marks.sort((a, b) => a.begin - b.begin || b.error - a.error);
      const row = h("div", {});
      row.style.top = `${8 + line * editor.line}px`;
      let done = 0;
      for (const { begin, until, error, index } of marks.slice(0, 100)) {
        if (until < done || (until === done && done)) continue;
        const start = Math.max(begin, done);
        // It lies over the text that is edited, and is as wide as that: nothing is escaped, and nothing is seen but the line below.
        row.append(content.slice(done, start), h("mark", { class: error ? "is-error" : "is-warning", "data-finding": index },
          document.createTextNode(content.slice(start, until) || " ")));
        done = Math.max(until, start);
      }
      drawn.push(row);
    }
    $("marks").replaceChildren(...drawn);
  };
  // What somebody types moves what comes after it, and takes away what it changes.
  const shift = () => {
    const [before, now] = [editor.before, text.value];
    let same = 0;
    const shorter = Math.min(before.length, now.length);
    while (same < shorter && before.charCodeAt(same) === now.charCodeAt(same)) same += 1;
    let tail = 0;
    while (tail < shorter - same && before.charCodeAt(before.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail += 1;
    const [changed, by] = [before.length - tail, now.length - before.length];
    for (const finding of editor.findings) {
      finding.labels = finding.labels.flatMap(({ start, end, ...rest }) =>
        end <= same ? [{ start, end, ...rest }] : start >= changed ? [{ start: start + by, end: end + by, ...rest }] : []);
    }
    editor.before = now;
  };
  const measure = () => {
    editor.starts = starts(text.value);
    editor.lines = editor.starts.length;
    editor.line = parseFloat(getComputedStyle(text).lineHeight) || 20;
  };
  const edited = () => {
    shift();
    measure();
    underline();
    number();
    keep("text", text.value.length < LIMITS.text ? text.value : null);
    clearTimeout(editor.timer);
    editor.timer = setTimeout(check, 250);
    ready();
  };
  text.addEventListener("input", edited);
  text.addEventListener("scroll", number, { passive: true });
  new ResizeObserver(number).observe($("editor"));
  $("profile").addEventListener("change", () => {
    keep("profile", $("profile").value);
    check();
  });

  const offset = (place) => Math.min(Math.max(Number(place?.offset) || 0, 0), text.value.length);
  const check = async () => {
    clearTimeout(editor.timer);
    editor.checking?.abort();
    const checking = (editor.checking = new AbortController());
    const value = text.value;
    const profile = $("profile").value;
    const bytes = value.length > LIMITS.text ? value.length : new TextEncoder().encode(value).length;
    if (!value.trim() || bytes > LIMITS.text) {
      const why = value.trim() ? `The text has ${bytes.toLocaleString()} bytes. The server reads at most ${LIMITS.text.toLocaleString()}.` : "";
      found({ findings: [], plan: null }, value, profile, why);
      return;
    }
    try {
      const said = await api("/api/check", { method: "POST", body: { text: value, profile }, signal: checking.signal });
      if (checking.signal.aborted) return;
      found(said ?? {}, value, profile);
    } catch (error) {
      if (checking.signal.aborted || error.status === 401) return;
      found({ findings: [], plan: null }, value, profile, told(error), true);
    }
  };
  const found = (said, value, profile, why = "", failed = false) => {
    // The answer is about the text as it was sent; what was typed since has moved it.
    const now = text.value;
    editor.before = value;
    editor.findings = list(said.findings).slice(0, 1000).map((finding) => ({
      severity: finding?.severity === "warning" ? "warning" : "error", code: cut(finding?.code, 80), message: cut(finding?.message), help: finding?.help ? cut(finding.help) : null,
      labels: list(finding?.labels).slice(0, 50).map((label) => {
        const start = Math.min(Math.max(Number(label?.start?.offset) || 0, 0), value.length);
        return { start, end: Math.min(Math.max(Number(label?.end?.offset) || 0, start), value.length), line: Number(label?.start?.line) || 1,
          column: Number(label?.start?.column) || 1, text: cut(label?.text, 300) };
      }),
    }));
    shift();
    editor.plan = said.plan && typeof said.plan === "object" ? said.plan : null;
    editor.checked = editor.plan ? { text: value, profile } : null;
    editor.at = -1;
    measure();
    underline();
    number();
    listFindings(said.dialect, why, failed, now.trim() !== "");
    showPlan();
  };

  const listFindings = (dialect, why, failed, any) => {
    const errors = editor.findings.filter(({ severity }) => severity === "error").length;
    const warnings = editor.findings.length - errors;
    const counts = [errors && plural(errors, "error"), warnings && plural(warnings, "warning")].filter(Boolean).join(", ");
    const read = dialect ? ` ${capital(String(dialect).slice(0, 40).replaceAll(/[_-]/g, " ").replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase())}.` : "";
    say($("findings-count"), why || (any ? `${counts || "Nothing found"}.${read}` : "The text is empty."));
    $("findings-count").classList.toggle("wrong", Boolean(why));
    if (errors) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    const items = editor.findings.slice(0, LIMITS.findings).map((finding, index) => {
      const [first, ...others] = finding.labels;
      return h("li", { class: `is-${finding.severity}` },
        h("span", { class: "severity" }, finding.severity === "error" ? "Error" : "Warning"),
        h("span", { class: "place" }, first ? ` · line ${first.line}, column ${first.column} · ` : " · ", h("code", {}, finding.code)),
        h("div", {}, first ? h("button", { type: "button", class: "link", onclick: () => goTo(index) }, prose(finding.message)) : prose(finding.message)),
        first?.text ? h("p", { class: "hint" }, prose(first.text)) : null,
        others.filter((label) => label.text).slice(0, 5).map((label) => h("p", { class: "hint" }, `Line ${label.line}: `, prose(label.text))),
        finding.help ? h("p", { class: "help" }, h("strong", {}, "Help: "), prose(finding.help)) : null);
    });
    if (editor.findings.length > LIMITS.findings) items.push(h("li", {}, `${(editor.findings.length - LIMITS.findings).toLocaleString()} more are not shown.`));
    const unseen = text.value.slice(0, LIMITS.text).replaceAll(/[\r\n\t]/g, " ").search(UNSEEN);
    if (unseen >= 0) {
      const line = text.value.slice(0, unseen).split("\n").length;
      items.unshift(h("li", { class: "is-warning" }, h("span", { class: "severity" }, "Warning"), h("span", { class: "place" }, ` · line ${line} · `),
        h("div", {}, "The text has characters that the editor does not show. The first is ", h("code", {}, seen(String.fromCodePoint(text.value.codePointAt(unseen)))), ".")));
    }
    if (failed) items.push(h("li", { class: "is-error" }, h("button", { type: "button", onclick: check }, "Check again")));
    $("findings").replaceChildren(...items);
  };
  const goTo = (index) => {
    const label = editor.findings[index]?.labels[0];
    if (!label) return;
    editor.at = index;
    text.focus();
    text.setSelectionRange(label.start, Math.max(label.end, label.start));
    const line = lineOf(label.start);
    text.scrollTop = Math.max(0, line * editor.line - text.clientHeight / 2);
    const column = label.start - editor.starts[line];
    const wide = column * 7.9;
    if (wide < text.scrollLeft || wide > text.scrollLeft + text.clientWidth - 40) text.scrollLeft = Math.max(0, wide - text.clientWidth / 2);
    number();
    for (const mark of $("marks").querySelectorAll("mark")) mark.classList.toggle("here", mark.dataset.finding === String(index));
    const { severity, message } = editor.findings[index];
    announce(`${severity}: ${message}`);
  };
  text.addEventListener("keydown", (event) => {
    if (event.key !== "F8" || !editor.findings.length) return;
    event.preventDefault();
    const count = editor.findings.length;
    goTo((editor.at + (event.shiftKey ? (editor.at < 0 ? 0 : -1) : 1) + count) % count);
  });

  // What the plan would do.
  const steps = () => list(editor.plan?.steps).filter((step) => step && typeof step === "object");
  const LEGEND = () => h("ul", { class: "legend" }, h("li", { class: "reads" }, "only reads"), h("li", { class: "acts" }, "changes something"),
    h("li", { class: "waits" }, "waits for an answer"), h("li", { class: "affected" }, "would not run if the chosen step failed"));
  const showPlan = () => {
    const { plan } = editor;
    editorPicture.put(plan?.svg, LEGEND());
    if (!plan) $("picture").replaceChildren(h("p", { class: "none" }, "A plan that can be read is drawn here."));
    const all = steps();
    if (all.length) {
      const rows = all.slice(0, LIMITS.rows).map((step) => ({
        "data-step": step.path,
        cells: [h("button", { type: "button", class: "link", "aria-pressed": "false", onclick: () => chooseStep(editor.chosen === step.path ? null : step.path) }, bdi(step.path, 200)),
          step.tool ? h("code", {}, cut(step.tool, 200)) : "–", step.read_only ? "yes" : "no", step.waits ? "yes" : "no", names(step.needs), names(step.affects)],
      }));
      $("steps").replaceChildren(...table("Steps of the plan", ["Step", "Tool", "Only reads", "Waits", "Needs", "Kept from running if it fails"], rows, all.length - rows.length));
    } else {
      $("steps").replaceChildren(h("p", { class: "none" }, plan ? "The plan has no steps." : "The steps of a plan that can be read are listed here."));
    }
    hide($("printed"), !plan?.text);
    say($("printed").querySelector("pre"), plan?.text ? block(plan.text, 60_000) : "");
    chooseStep(all.some((step) => step.path === editor.chosen) ? editor.chosen : null);
    showInputs();
    ready();
  };
  const names = (paths) => {
    const all = list(paths);
    if (!all.length) return "–";
    const shown = all.slice(0, 12).flatMap((path, at) => [at ? ", " : "", bdi(path, 100)]);
    return h("span", {}, shown, all.length > shown.length / 2 && all.length > 12 ? ` and ${all.length - 12} more` : "");
  };
  const chooseStep = (path) => {
    editor.chosen = path;
    const step = steps().find((step) => step.path === path);
    editorPicture.mark(path, list(step?.affects));
    for (const row of $("steps").querySelectorAll("tr[data-step]")) {
      row.classList.toggle("chosen", row.dataset.step === path);
      row.querySelector("button")?.setAttribute("aria-pressed", String(row.dataset.step === path));
    }
    if (step) announce(`${path}: ${list(step.affects).length ? `a failure would keep ${plural(list(step.affects).length, "step")} from running` : "a failure would keep no other step from running"}`);
  };

  // ---- Inputs. ----

  let fields = [];
  // A field for a value. `read` returns the value, undefined if there is none, or throws what is wrong.
  const field = ({ name, type, required, kind, description }, id, multiline = false) => {
    const whole = kind === "number" && /^(Option<)?[iu](8|16|32|64|128|size)>?$/.test(String(type).trim());
    // Names of types that everybody knows, where there are some.
    const named = { text: "text", boolean: "yes or no", number: whole ? "whole number" : "number" }[kind] ?? type ?? kind;
    const error = h("p", { class: "wrong", id: `${id}-error`, role: "alert" });
    const about = h("p", { class: "hint", id: `${id}-about` }, description ? prose(description) : "");
    hide(about, !description);
    const common = { id, "aria-describedby": `${id}-about ${id}-error`, "aria-required": String(Boolean(required)), autocomplete: "off" };
    const control = kind === "boolean" ? h("select", common, h("option", { value: "" }, "Choose…"), h("option", { value: "true" }, "Yes"), h("option", { value: "false" }, "No"))
      : kind === "json" ? h("textarea", { ...common, class: "field mono", rows: "3", spellcheck: "false" })
      : kind === "number" ? h("input", { ...common, type: "text", inputmode: "decimal" })
      : multiline ? h("textarea", { ...common, class: "field", rows: "3" }) : h("input", { ...common, type: "text" });
    const shown = h("label", { for: id }, bdi(name, 200), required ? h("span", { class: "must", title: "required" }, " *") : "",
      h("span", { class: "type" }, " ", bdi(named, 120), required ? "" : ", optional"));
    const fail = (message) => {
      say(error, message);
      if (message) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
      return Boolean(message);
    };
    const read = () => {
      const given = control.value;
      if (!given.trim()) {
        if (required) throw new Error(kind === "boolean" ? "Choose yes or no." : "Enter a value.");
        return undefined;
      }
      if (kind === "boolean") return given === "true";
      if (kind === "number") {
        // The forms of numbers in JSON; others, such as `0x10`, would be another number to a reader.
        if (!/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(given)) throw new Error("Enter a number, such as 12 or 0.5.");
        if (whole && !/^\s*-?\d+\s*$/.test(given)) throw new Error("Enter a whole number, such as 12.");
        if (!Number.isFinite(Number(given))) throw new Error("This number is too large.");
        if (/^\s*-?\d+\s*$/.test(given) && !Number.isSafeInteger(Number(given))) throw new Error("This number has too many digits to be sent exactly.");
        return Number(given);
      }
      if (kind === "json") {
        try {
          return JSON.parse(given);
        } catch (problem) {
          throw new Error(`This is not JSON: ${problem.message.slice(0, 200)}`);
        }
      }
      return given;
    };
    control.addEventListener("input", () => fail(""));
    return { name, control, fail, read, kind, part: h("div", { class: "input" }, shown, about, control, error) };
  };
  const showInputs = () => {
    const inputs = list(editor.plan?.inputs).filter((input) => input && typeof input === "object").slice(0, LIMITS.rows);
    const same = JSON.stringify(inputs);
    hide($("inputs"), !inputs.length);
    if (showInputs.last === same) return;
    showInputs.last = same;
    // What was filled in stays for inputs that are still there.
    const before = new Map(fields.map(({ name, kind, control }) => [`${kind} ${name}`, control.value]));
    fields = inputs.map((input, at) => field({ ...input, name: String(input.name) }, `input-${at}`));
    for (const { name, kind, control } of fields) if (before.has(`${kind} ${name}`)) control.value = before.get(`${kind} ${name}`);
    const hint = fields.some(({ control }) => control.getAttribute("aria-required") === "true") ? h("p", { class: "hint" }, h("span", { class: "must" }, "*"), " must be filled in.") : "";
    $("inputs").querySelector("div").replaceChildren(hint, ...fields.map(({ part }) => part));
  };
  const ready = () => {
    const errors = editor.findings.filter(({ severity }) => severity === "error").length;
    const why = !text.value.trim() ? "Write a plan first." : errors ? "Correct the errors first." : !editor.checked ? "The plan is being checked." : "";
    $("start").setAttribute("aria-disabled", String(Boolean(why)));
    say($("start-why"), why);
    return !why;
  };
  let starting = false;
  $("start-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (starting || !ready()) return;
    starting = true;
    say($("start-error"), "");
    try {
      // What runs is what is in the text now, not what was checked a moment ago.
      if (editor.checked.text !== text.value || editor.checked.profile !== $("profile").value) await check();
      if (!ready()) return;
      const inputs = {};
      let wrong = null;
      for (const one of fields) {
        try {
          const value = one.read();
          one.fail("");
          if (value !== undefined) Object.defineProperty(inputs, one.name, { value, enumerable: true });
        } catch (problem) {
          one.fail(problem.message);
          wrong ??= one;
        }
      }
      if (wrong) {
        wrong.control.focus();
        return;
      }
      $("start").setAttribute("aria-busy", "true");
      const approve = $("start-form").querySelector("[name=approve]:checked").value;
      const { text: source, profile } = editor.checked;
      const { id } = await api("/api/runs", { method: "POST", body: { text: source, profile, inputs, approve } });
      remember(String(id), { text: source, profile, svg: editor.plan.svg, steps: steps().map(({ path, tool }) => ({ path, tool })) });
      location.hash = `#/runs/${encodeURIComponent(id)}`;
    } catch (error) {
      if (error.status === 422) refusedInputs(error);
      else if (error.status !== 401) say($("start-error"), told(error));
    } finally {
      starting = false;
      $("start").removeAttribute("aria-busy");
    }
  });
  // Inputs that the server finds wrong, as a list with names or as an object by name.
  const refusedInputs = (error) => {
    const given = error.body?.inputs ?? error.body?.error?.inputs;
    const wrong = Array.isArray(given) ? given.map((one) => [one?.name, one?.message ?? one?.error ?? "This value is wrong."])
      : Object.entries(given ?? {}).map(([name, one]) => [name, typeof one === "string" ? one : one?.message ?? "This value is wrong."]);
    let first = null;
    for (const [name, message] of wrong.slice(0, LIMITS.rows)) {
      const one = fields.find((one) => one.name === name);
      if (!one) continue;
      one.fail(capital(cut(message)));
      first ??= one;
    }
    say($("start-error"), told(error));
    if (list(error.body?.findings).length) found({ findings: error.body.findings, plan: null }, text.value, $("profile").value);
    first?.control.focus();
  };

  // ---- Samples. ----

  const loadSamples = async () => {
    if (editor.samples) return;
    try {
      editor.samples = list(await api("/api/samples")).slice(0, LIMITS.rows);
      $("sample").replaceChildren(h("option", { value: "" }, "Choose…"), ...editor.samples.map((sample, at) => h("option", { value: String(at) }, cut(sample?.title ?? sample?.name, 120))));
    } catch (error) {
      noticed(error);
    }
  };
  const replaceText = (value) => {
    text.value = value;
    text.setSelectionRange(0, 0);
    text.scrollTop = text.scrollLeft = 0;
    edited();
    check();
  };
  $("sample").addEventListener("change", () => {
    const sample = editor.samples?.[Number($("sample").value)];
    if ($("sample").value === "" || !sample) return;
    if (text.value.trim() && text.value !== editor.sample) editor.mine = text.value;
    hide($("sample-back"), editor.mine === null);
    editor.sample = String(sample.text ?? "");
    replaceText(editor.sample);
    // A text area has line feeds only.
    editor.sample = text.value;
  });
  $("sample-back").querySelector("button").addEventListener("click", () => {
    replaceText(editor.mine ?? "");
    editor.mine = null;
    hide($("sample-back"), true);
    $("sample").value = "";
    text.focus();
  });

  // ---- What this tab knows of the runs that it has started: their plans. ----

  const remember = (id, plan) => {
    const all = JSON.parse(kept("plans") ?? "[]");
    all.unshift([id, plan]);
    const some = all.slice(0, 10);
    while (some.length && JSON.stringify(some).length > 2_000_000) some.pop();
    keep("plans", JSON.stringify(some));
  };
  const remembered = (id) => {
    try {
      return JSON.parse(kept("plans") ?? "[]").find(([known]) => known === id)?.[1] ?? null;
    } catch {
      return null;
    }
  };

  // ---- A run, live. ----

  const live = { id: null, abort: null, run: null, steps: new Map(), order: [], chosen: null, plan: null, drawn: 0, clock: 0, ended: false, skipped: 0 };
  const livePicture = new Picture($("live"), $("run-zoom"), (path) => chooseLive(path));
  $("live").classList.add("live");
  const runPath = (rest = "") => `/api/runs/${encodeURIComponent(live.id)}${rest}`;

  const openRun = (id) => {
    closeRun();
    Object.assign(live, { id, run: null, steps: new Map(), order: [], chosen: null, plan: remembered(id), ended: false, skipped: 0, ahead: 0, picture: null });
    live.abort = new AbortController();
    for (const place of ["questions", "waits", "timeline", "result", "undone", "given", "run-title", "run-facts", "run-wrong"]) {
      $(place).replaceChildren();
      $(place).keyed = undefined;
    }
    for (const place of ["asked", "undone-card", "given-card", "cancel", "report", "again"]) hide($(place), true);
    say($("run-title"), "Run");
    $("result").replaceChildren(h("p", { class: "none" }, "There is no output yet."));
    setPicture();
    follow(live.abort.signal);
  };
  const closeRun = () => {
    live.abort?.abort();
    live.abort = null;
    live.id = null;
    clearInterval(live.clock);
    live.clock = 0;
    connection("");
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  };
  const connection = (text) => say($("connection"), text);
  const pause = (ms, signal) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

  // Events are read with `fetch`, since an `EventSource` sends no header. Whatever breaks is tried again, later each time.
  const follow = async (signal) => {
    for (let tries = 0; !signal.aborted && !live.ended;) {
      let stalled = null;
      const attempt = new AbortController();
      const both = AbortSignal.any([signal, attempt.signal]);
      const watch = () => {
        clearTimeout(stalled);
        stalled = setTimeout(() => attempt.abort(), 90_000);
      };
      try {
        watch();
        const response = await request(runPath("/events"), { signal: both, accept: "text/event-stream", wait: 0 });
        connection("Live");
        await events(response.body, (event, data) => {
          tries = 0;
          happened(event, data);
        }, watch);
      } catch (error) {
        if (signal.aborted) break;
        if (error.status === 404) {
          say($("run-title"), "This run does not exist");
          $("run-wrong").replaceChildren(h("p", { class: "error" }, told(error)));
          break;
        }
        if (error.status === 401) break;
        // There may be too many others who watch: the state itself can still be asked for.
        if (error instanceof Refused) await api(runPath(), { signal }).then((run) => happened("state", run), () => {});
      } finally {
        clearTimeout(stalled);
        attempt.abort();
      }
      if (signal.aborted || live.ended) break;
      const wait = Math.min(15_000, 500 * 2 ** tries) * (0.75 + Math.random() / 2);
      tries = Math.min(tries + 1, 6);
      connection(`Connection lost; trying again${wait > 2000 ? ` in ${Math.round(wait / 1000)} s` : "…"}`);
      await pause(wait, signal);
    }
    if (!signal.aborted) connection("");
  };
  // A parser of server-sent events: fields are lines, an empty line ends an event, lines may end in CR, LF or both.
  const events = async (body, each, alive) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let name = "";
    let data = [];
    let size = 0;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      rest += value;
      // A CR at the end may be followed by its LF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      if (rest.length > LIMITS.event) throw new Error("an event is too large");
      for (const line of lines) {
        if (line === "") {
          if (data.length && size <= LIMITS.event) {
            let parsed;
            try {
              parsed = JSON.parse(data.join("\n"));
            } catch {
              parsed = undefined;
            }
            if (parsed !== undefined || name === "end") each(name || "message", parsed);
          } else if (name === "end") each(name, null);
          [name, data, size] = ["", [], 0];
          continue;
        }
        const colon = line.indexOf(":");
        const key = colon < 0 ? line : line.slice(0, colon);
        const given = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (key === "event") name = given;
        else if (key === "data") {
          size += given.length;
          if (size <= LIMITS.event) data.push(given);
        }
      }
    }
  };

  const happened = (event, data) => {
    if (event === "state" && data && typeof data === "object") {
      // What was asked for before the end may arrive after it.
      if (live.run && isOver(live.run) && !isOver(data)) return;
      const before = live.run?.state;
      live.run = data;
      if (data.plan && typeof data.plan === "object") live.run.plan = data.plan.name;
      if (data.svg || data.steps) setPicture();
      // What the server has recorded replaces what events have told of these steps.
      const told = new Set(list(data.progress).map((step) => step?.path));
      for (const step of live.steps.values()) {
        step.settled = false;
        if (told.has(step.path)) step.attempts = [];
      }
      for (const step of list(data.progress)) if (step?.status) stepHappened(step);
      if (data.progress) for (const step of live.steps.values()) step.settled = ENDED.includes(step.status);
      if (before !== undefined && before !== data.state) announce(`The run is ${data.state}`);
    } else if (event === "step" && data && typeof data === "object") {
      stepHappened(data);
    } else if (event === "question" && live.run) {
      const all = Array.isArray(data) ? data : list(data?.questions).length || data?.questions ? list(data.questions) : [data];
      const known = Array.isArray(data) || data?.questions ? [] : list(live.run.questions).filter((one) => one.id !== data?.id);
      live.run.questions = [...known, ...all.filter((one) => one && typeof one === "object")];
    } else if (event === "waits" && live.run) {
      live.run.waits = Array.isArray(data) ? data : list(data?.waits).length || data?.waits ? list(data.waits) : data?.path ? [...list(live.run.waits).filter(({ path }) => path !== data.path), data] : [];
    } else if (event === "end") {
      live.ended = true;
      if (data && typeof data === "object" && data.state) live.run = { ...live.run, ...data };
      // How it ended is asked for, whatever the event has of it.
      api(runPath(), { signal: live.abort?.signal }).then((run) => {
        if (run) happened("state", run);
        announce(`The run is over: ${run?.state}`);
      }, noticed);
    }
    redraw();
  };
  const number_ = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
  // Milliseconds are those of the clock, or, if they are too few for that, since the run began.
  const moment = (value) => {
    const ms = number_(value);
    if (ms === null) return null;
    return ms < 1e11 ? (instant(live.run?.began)?.getTime() ?? 0) + ms : ms;
  };
  const stepHappened = ({ path, status, attempt, started_ms, ended_ms, error }) => {
    if (typeof path !== "string" || !STATUSES.includes(status)) return;
    let step = live.steps.get(path);
    if (!step) {
      if (live.steps.size >= LIMITS.steps) {
        live.skipped += 1;
        return;
      }
      live.steps.set(path, (step = { path, attempts: [] }));
      live.order.push(path);
    }
    // An event that was under way when the whole state was asked for says less than the state.
    if (step.settled && !ENDED.includes(status)) return;
    const before = step.status;
    const [started, ended] = [moment(started_ms), moment(ended_ms)];
    step.status = status;
    step.error = error ? cut(error) : status === "running" || status === "completed" ? null : step.error;
    // What the server's clock says now, as far as its events tell.
    live.ahead = Math.max(live.ahead ?? -Infinity, Math.max(started ?? -Infinity, ended ?? -Infinity) - Date.now());
    if (started !== null) {
      const nth = number_(attempt) ?? step.attempts.at(-1)?.nth ?? 1;
      let one = step.attempts.find((one) => one.nth === nth);
      if (!one) step.attempts.push((one = { nth }));
      if (step.attempts.length > LIMITS.attempts) step.attempts.splice(1, 1);
      Object.assign(one, { started: one.started ?? started, ended, bad: Boolean(error) });
    } else if (ended !== null && step.attempts.length) {
      step.attempts.at(-1).ended = ended;
    }
    // An attempt that another follows is over, whether or not somebody said so.
    step.attempts.forEach((one, at) => {
      const next = step.attempts[at + 1];
      if (next && one.ended === null) Object.assign(one, { ended: next.started, bad: true });
    });
    if (before !== status && ENDED.includes(status)) announce(`${path}: ${status}`);
  };

  const setPicture = () => {
    const svg = live.run?.svg ?? live.run?.picture ?? live.plan?.svg ?? null;
    if (live.picture !== svg || svg === null) {
      live.picture = svg;
      livePicture.put(svg);
      if (!svg) $("live").replaceChildren(h("p", { class: "none" }, "The picture of this plan is not known here. The timeline has its steps."));
    }
    hide($("again"), !(live.run?.text ?? live.plan?.text));
  };
  const chooseLive = (path) => {
    live.chosen = path;
    livePicture.mark(path);
    redraw();
  };

  const redraw = () => {
    if (live.drawn) return;
    live.drawn = setTimeout(() => {
      live.drawn = 0;
      if (live.id && live.run) showRun();
    }, 60);
  };
  const isOver = (run) => Boolean(run.ended) || ["done", "failed", "cancelled"].includes(run.state);
  const put = (place, key, make) => {
    // What did not change keeps its focus and its place.
    const now = JSON.stringify(key) ?? "";
    if (place.keyed === now) return;
    place.keyed = now;
    place.replaceChildren(...[make()].flat().filter(Boolean));
  };
  const showRun = () => {
    const { run } = live;
    const over = isOver(run);
    const name = cut(run.plan ?? "Run", 200);
    put($("run-title"), name, () => bdi(name));
    document.title = `${name.slice(0, 60)} – run – plan!`;
    const [began, ended] = [instant(run.began), instant(run.ended)];
    // The events say what the run waits for, but not its state.
    const state = over ? run.state : list(run.waits).length || list(run.questions).length ? "waiting" : run.state === "waiting" ? "running" : run.state;
    put($("run-facts"), [state, run.began, run.ended], () => [stateOf(state), " began ", time(run.began), ...(ended ? [", ended ", time(run.ended), `, took ${took(ended - began)}`] : []), "."]);
    put($("run-wrong"), run.error ?? null, () => (run.error ? wrong(run.error) : []));
    hide($("cancel"), over);
    hide($("report"), !(over || run.report));
    questions(over ? [] : list(run.questions));
    waits(over ? [] : list(run.waits));
    hide($("asked"), !$("questions").childElementCount && !$("waits").childElementCount);
    // Events leave the output out; it is asked for once the run is over.
    const known = run.output !== undefined;
    put($("result"), [run.output ?? null, known, over, run.error ?? null], () => {
      if (run.output === undefined || run.output === null) {
        return h("p", { class: "none" }, !over ? "There is no output yet." : run.state === "cancelled" ? "The run was cancelled, so it has no output." : run.error ? "The run failed, so it has no output." : known ? "The output is empty." : "The output is being loaded.");
      }
      const long = typeof run.output === "string" ? run.output : show(run.output);
      return [h("pre", { tabindex: "0", "aria-labelledby": "result-title" }, block(long, LIMITS.shown)),
        h("button", { type: "button", onclick: () => save(`${name.replaceAll(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "output"}.json`, show(run.output)) }, "Save as a file")];
    });
    hide($("undone-card"), !list(run.undone).length);
    put($("undone"), list(run.undone), () => h("ul", { class: "items" }, list(run.undone).slice(0, LIMITS.rows).map(undone)));
    const given = Object.entries(run.inputs ?? {}).slice(0, LIMITS.rows);
    hide($("given-card"), !given.length);
    put($("given"), given, () => h("dl", {}, given.flatMap(([name, value]) => [h("dt", {}, bdi(name, 200)), h("dd", {}, typeof value === "string" ? bdi(value) : h("code", {}, cut(show(value))))])));
    showLive();
    if (over) {
      clearInterval(live.clock);
      live.clock = 0;
    } else {
      live.clock ||= setInterval(showLive, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2000 : 400);
    }
  };
  const wrong = (error) => {
    if (typeof error === "string") return h("p", { class: "error" }, h("strong", {}, "Error: "), prose(error));
    const lines = [error.message ?? show(error), error.help].filter(Boolean);
    return h("p", { class: "error" }, h("strong", {}, error.path ?? error.step ? "Error in " : "Error: "), error.path ?? error.step ? h("code", {}, cut(error.path ?? error.step, 300)) : "",
      error.path ?? error.step ? ": " : "", lines.flatMap((line, at) => [at ? h("br") : "", prose(line)]));
  };
  const undone = (one) => {
    if (one === null || typeof one !== "object") return h("li", {}, bdi(one));
    const { path, step, tool, undoes, status, error, ...others } = one;
    return h("li", {}, h("code", {}, cut(path ?? step ?? tool ?? show(others), 300)), tool && (path ?? step) ? [" by ", h("code", {}, cut(tool, 200))] : "",
      undoes ? [" undoes ", h("code", {}, cut(undoes, 300))] : "", status ? [" ", stateLike(status)] : "", error ? h("p", { class: "error" }, bdi(typeof error === "string" ? error : error.message ?? error)) : "");
  };
  const stateLike = (status) => h("span", { class: `state ${STATUSES.includes(status) ? status : "not-started"}` }, h("span", { "aria-hidden": "true" }, SIGNS[status] ?? "·"), cut(status, 40));
  const save = (name, content) => {
    const url = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    h("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };

  // The picture and the timeline.
  const showLive = () => {
    const { run } = live;
    if (!run || !live.id) return;
    const over = isOver(run);
    const known = list(run.steps ?? live.plan?.steps).map((step) => step?.path).filter((path) => typeof path === "string");
    const waiting = new Set([...list(run.waits), ...list(run.questions)].map((one) => one?.step ?? one?.path));
    // A step has the state of the calls in it, if there is none of its own.
    const of = (path) => {
      const own = live.steps.get(path)?.status;
      const within = (other) => typeof other === "string" && other !== path && other.startsWith(path) && /[^\p{L}\p{N}_]/u.test(other[path.length]);
      if (!over && (waiting.has(path) || [...waiting].some(within)) && !ENDED.includes(own)) return "waiting";
      return own ?? (live.order.some(within) ? "running" : undefined);
    };
    for (const path of livePicture.nodes.keys()) livePicture.status(path, of(path));
    livePicture.mark(live.chosen);

    const all = [...new Set([...known.slice(0, LIMITS.rows), ...live.order])];
    const rows = all.slice(0, LIMITS.rows);
    const now = over ? instant(run.ended)?.getTime() : Date.now() + Math.min(Math.max(Number.isFinite(live.ahead) ? live.ahead : 0, 0), 3_600_000);
    let [from, to] = [instant(run.began)?.getTime() ?? Infinity, now ?? -Infinity];
    for (const path of rows) {
      for (const one of live.steps.get(path)?.attempts ?? []) {
        from = Math.min(from, one.started);
        to = Math.max(to, one.ended ?? one.started);
      }
    }
    if (!rows.length || !Number.isFinite(from)) {
      put($("timeline"), "none", () => h("p", { class: "none" }, over ? "What each step did is in the report." : "No step has started yet."));
      return;
    }
    const span = Math.max(to - from, 1);
    const place = $("timeline");
    if (place.keyed !== "rows") {
      place.keyed = "rows";
      live.rows = new Map();
      place.replaceChildren(h("div", { class: "timeline" }, h("div", { class: "axis", "aria-hidden": "true" }, h("span"), h("div", { class: "ticks" })), h("ul", { class: "rows" }), h("p", { class: "hint" })));
    }
    const ticks = [0, 0.25, 0.5, 0.75].map((part) => {
      const tick = h("span", {}, part ? took(part * span) : "0");
      tick.style.left = `${part * 100}%`;
      return tick;
    });
    place.querySelector(".ticks").replaceChildren(...ticks);
    const left = all.length - rows.length + live.skipped;
    say(place.querySelector(".hint"), left > 0 ? `${left.toLocaleString()} more ${left === 1 ? "step is" : "steps are"} not shown here. The report has them.` : "");
    const items = place.querySelector(".rows");
    rows.forEach((path, at) => {
      let row = live.rows.get(path);
      if (!row) {
        row = { item: h("li", { class: "row" }), name: h("bdi"), sign: h("span", { class: "sign", "aria-hidden": "true" }), track: h("div", { class: "track", "aria-hidden": "true" }), status: h("span", { class: "status" }), said: h("span"), why: h("bdi") };
        say(row.name, cut(path, 200));
        row.item.append(h("span", { class: "name", title: cut(path, 200) }, row.sign, row.name), row.track, h("div", { class: "said" }, row.status, row.said, row.why));
        live.rows.set(path, row);
      }
      if (items.children[at] !== row.item) items.insertBefore(row.item, items.children[at] ?? null);
      const step = live.steps.get(path);
      const status = of(path);
      const className = `row ${status ?? "not-started"}${path === live.chosen ? " chosen" : ""}`;
      if (row.item.className !== className) row.item.className = className;
      say(row.sign, SIGNS[status] ?? "·");
      say(row.status, status === "waiting" ? "waiting for you" : status ?? "not started");
      const attempts = step?.attempts ?? [];
      const spent = attempts.reduce((sum, one) => sum + Math.max(0, (one.ended ?? (over ? to : now)) - one.started), 0);
      const nth = attempts.at(-1)?.nth ?? 1;
      say(row.said, `${attempts.length && ENDED.includes(status) ? `, ${took(spent)}` : ""}${nth > 1 ? `, attempt ${nth}` : ""}${step?.error ? ": " : ""}`);
      say(row.why, step?.error ?? "");
      while (row.track.childElementCount > attempts.length) row.track.lastChild.remove();
      attempts.forEach((one, index) => {
        const bar = row.track.children[index] ?? row.track.appendChild(h("i"));
        const start = Math.min(Math.max((one.started - from) / span, 0), 1);
        const end = Math.min(Math.max(((one.ended ?? (over ? to : now)) - from) / span, start), 1);
        bar.style.left = `${(start * 100).toFixed(2)}%`;
        bar.style.width = `${((end - start) * 100).toFixed(2)}%`;
        bar.className = one.bad ? "bad" : "";
      });
    });
    while (items.childElementCount > rows.length) items.lastChild.remove();
  };

  // ---- Questions and waiting steps. A card stays the same element as long as its question is open, with what is typed in it. ----

  // Its key says all that somebody decides about, so that a card never stands for another question than the one that it shows.
  const cards = (place, all, key, make) => {
    const wanted = new Map(all.filter((one) => one && typeof one === "object").slice(0, LIMITS.cards).map((one) => [key(one), one]));
    for (const card of [...place.children]) {
      if (wanted.has(card.dataset.of)) wanted.delete(card.dataset.of);
      else {
        const had = card.contains(document.activeElement);
        card.remove();
        // The focus does not get lost with a card that is answered.
        if (had) (document.querySelector("#asked button") ?? $("run-title")).focus();
      }
    }
    for (const [of, one] of wanted) {
      const card = make(one);
      card.dataset.of = of;
      place.append(card);
    }
  };
  let ids = 0;
  // Sends an answer, once, with the buttons of its card turned off while it is under way.
  const answering = async (card, path, body, done) => {
    if (card.dataset.busy) return;
    card.dataset.busy = "yes";
    card.setAttribute("aria-busy", "true");
    const error = card.querySelector(".failed-to-send");
    say(error, "");
    try {
      await api(path, { method: "POST", body });
      announce(done);
      card.dataset.answered = "yes";
      card.replaceChildren(h("p", { class: "hint" }, `${done}…`));
      hide(card, false);
      const { id } = live;
      const run = await api(runPath(), { signal: live.abort?.signal }).catch(() => null);
      if (run && id === live.id) happened("state", run);
    } catch (problem) {
      if (problem.status === 404 || problem.status === 409) say(error, `${told(problem)}\nSomebody else may have answered.`);
      else if (problem.status !== 401) say(error, told(problem));
    } finally {
      delete card.dataset.busy;
      card.removeAttribute("aria-busy");
    }
  };
  const questions = (all) => cards($("questions"), all, ({ id, path, tool, arguments: given, text }) => show([id, path, tool, given, text]), (question) => {
    const nth = (ids += 1);
    const card = h("section", { class: "question", "aria-labelledby": `question-${nth}` });
    const path = runPath(`/questions/${encodeURIComponent(question.id)}`);
    // The second click of a double click may be on the card that has moved to the place of an answered one, and decides nothing.
    const once = (decision) => (event) => event.detail < 2 && answer(decision);
    const answer = (decision, reason) => answering(card, path, reason ? { decision, reason } : { decision }, decision === "refuse" ? "Refused" : "Allowed");
    const reason = h("input", { type: "text", id: `reason-${nth}`, maxlength: "1000", autocomplete: "off" });
    const refusing = h("form", { hidden: true, novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      answer("refuse", reason.value.trim());
    } }, h("div", { class: "input" }, h("label", { for: `reason-${nth}` }, "Why? ", h("span", { class: "type" }, "The run is told; optional")), reason),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "danger" }, "Refuse it"), h("button", { type: "button", onclick: () => refuse(false) }, "Back")));
    const refuse = (open) => {
      hide(refusing, !open);
      hide(choices, open);
      (open ? reason : choices.lastChild).focus();
    };
    const choices = h("div", { class: "buttons" },
      h("button", { type: "button", class: "primary", onclick: once("allow") }, "Allow"),
      h("button", { type: "button", onclick: once("allow_step") }, "Allow for this step"),
      h("button", { type: "button", class: "danger", onclick: () => refuse(true) }, "Refuse…"));
    card.append(h("h3", { id: `question-${nth}` }, "May ", h("code", {}, cut(question.tool, 200)), " run in the step ", h("code", {}, cut(question.path, 300)), "?"),
      question.description ? h("p", {}, prose(question.description)) : "",
      h("p", { class: "hint" }, "It would get:"),
      h("pre", { tabindex: "0", "aria-label": "What the tool would get" }, json(block(typeof question.text === "string" ? question.text : show(question.arguments ?? null), 20_000))),
      choices, refusing, h("p", { class: "wrong failed-to-send", role: "alert" }));
    announce(`A question: may ${question.tool} run?`);
    return card;
  });
  const waits = (all) => cards($("waits"), all, ({ path, type }) => show([path, type]), (wait) => {
    const nth = (ids += 1);
    const type = typeof wait.type === "string" ? wait.type : wait.type === undefined || wait.type === null ? "" : show(wait.type);
    const plain = type.trim().toLowerCase();
    const kind = /^(string|text|str)$/.test(plain) ? "text" : /^bool(ean)?$/.test(plain) ? "boolean" : /^([iu](8|16|32|64|128|size)|f32|f64|number|integer|int|float)$/.test(plain) ? "number" : "json";
    const name = `wait-${nth}`;
    const format = h("select", { id: `${name}-format` }, h("option", { value: "text" }, "Text"), h("option", { value: "json" }, "JSON"));
    const place = h("div", {});
    let one;
    const make = (kind) => {
      const value = one?.control.value ?? "";
      one = field({ name: "Value", type: type || "any value", required: true, kind }, name, true);
      if (one.control.tagName !== "SELECT") one.control.value = value;
      place.replaceChildren(one.part);
    };
    format.value = kind === "text" ? "text" : "json";
    format.addEventListener("change", () => make(format.value));
    make(kind);
    const card = h("form", { class: "wait", novalidate: true, "aria-labelledby": `${name}-title`, onsubmit: (event) => {
      event.preventDefault();
      let value;
      try {
        value = one.kind === "text" ? one.control.value : one.read();
      } catch (problem) {
        one.fail(problem.message);
        one.control.focus();
        return;
      }
      answering(card, runPath("/signals"), { path: wait.path, value }, "Answered");
    } }, h("h3", { id: `${name}-title` }, "The step ", h("code", {}, cut(wait.step ?? wait.path, 300)), " waits for a value"), place,
      kind === "text" || kind === "json" ? h("p", {}, h("label", { for: `${name}-format` }, "Written as "), format) : "",
      h("p", { class: "wrong failed-to-send", role: "alert" }), h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Send the value")));
    announce(`The step ${wait.step ?? wait.path} waits for a value`);
    return card;
  });

  // ---- Cancelling, and the report. ----

  $("cancel").addEventListener("click", () => $("cancel-dialog").showModal());
  $("cancel-no").addEventListener("click", () => $("cancel-dialog").close());
  $("cancel-yes").addEventListener("click", async () => {
    $("cancel-dialog").close();
    try {
      await api(runPath("/cancel"), { method: "POST", body: {} });
      announce("The run is being cancelled");
    } catch (error) {
      noticed(error);
    }
  });
  // The report is shown in a frame without this page's origin: whatever is in it, it can read neither the token nor this page. It is not a
  // link, since a link cannot send the token, and not a page of its own from a `blob:` address, since that would have this page's origin.
  $("report").addEventListener("click", async () => {
    const { id } = live;
    $("report").setAttribute("aria-busy", "true");
    try {
      const response = await request(runPath("/report.html"), { accept: "text/html", wait: 60_000 });
      const page = await response.text();
      if (id !== live.id) return;
      if (page.length > LIMITS.report) throw new Refused(413, { error: { message: "the report is too large to be shown here" } });
      $("report-frame").replaceChildren(h("iframe", { sandbox: "allow-scripts", title: "The report of the run", srcdoc: page }));
      $("report-dialog").showModal();
    } catch (error) {
      noticed(error);
    } finally {
      $("report").removeAttribute("aria-busy");
    }
  });
  $("report-close").addEventListener("click", () => $("report-dialog").close());
  $("report-dialog").addEventListener("close", () => $("report-frame").replaceChildren());
  $("again").addEventListener("click", () => {
    const plan = live.run?.text ? { text: live.run.text, profile: live.run.profile } : live.plan;
    if (!plan) return;
    if (["strict", "compatible"].includes(plan.profile)) $("profile").value = plan.profile;
    if (text.value.trim() && text.value !== plan.text) {
      editor.mine = text.value;
      hide($("sample-back"), false);
    }
    location.hash = "#/";
    replaceText(String(plan.text));
  });

  // ---- The list of runs. ----

  const runs = { state: "", plan: "", before: [], next: null, timer: 0, abort: null };
  const loadRuns = async (quiet = false) => {
    runs.abort?.abort();
    const abort = (runs.abort = new AbortController());
    const query = new URLSearchParams({ limit: String(LIMITS.page) });
    if (runs.state) query.set("state", runs.state);
    if (runs.plan) query.set("plan", runs.plan);
    if (runs.before.length) query.set("before", runs.before.at(-1));
    try {
      const said = await api(`/api/runs?${query}`, { signal: abort.signal });
      if (abort.signal.aborted) return;
      runs.next = said?.next ?? null;
      const all = list(said?.runs).slice(0, LIMITS.page);
      const focused = document.activeElement?.closest?.("#runs a")?.getAttribute("href");
      put($("runs"), all, () => {
        const rows = all.map((run) => ({ cells: [
          h("a", { href: `#/runs/${encodeURIComponent(run?.id)}` }, bdi(run?.plan || "without a name", 200)), stateOf(run?.state), time(run?.began),
          run?.ended ? took(instant(run.ended) - instant(run.began)) : "–", h("code", {}, cut(run?.id, 80))] }));
        return rows.length ? table("Runs, the latest first", ["Plan", "State", "Began", "Took", "Run"], rows)
          : h("p", { class: "none" }, runs.state || runs.plan ? "No run has this state and plan." : "There are no runs yet.");
      });
      if (focused) [...$("runs").querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
      say($("runs-count"), `${plural(all.length, "run")}${runs.before.length ? `, page ${runs.before.length + 1}` : ""}`);
      hide($("older"), runs.next === null);
      hide($("newer"), !runs.before.length);
    } catch (error) {
      if (!quiet) noticed(error);
    }
  };
  $("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    Object.assign(runs, { state: $("filter-state").value, plan: $("filter-plan").value.trim(), before: [] });
    loadRuns();
  });
  $("filter-state").addEventListener("change", () => $("filters").requestSubmit());
  const turn = (step) => {
    step();
    loadRuns().then(() => $("runs-title").focus());
  };
  $("older").addEventListener("click", () => turn(() => runs.before.push(runs.next)));
  $("newer").addEventListener("click", () => turn(() => runs.before.pop()));

  // ---- Which view is shown. ----

  const VIEWS = ["sign-in", "editor-view", "runs-view", "run-view"];
  let shown = null;
  const route = (focus = false) => {
    if (takeToken()) focus = false;
    const run = /^#\/runs\/(.+)$/.exec(location.hash);
    const view = !token ? "sign-in" : run ? "run-view" : location.hash === "#/runs" ? "runs-view" : "editor-view";
    for (const id of VIEWS) hide($(id), id !== view);
    hide($("forget"), !token);
    hide(document.querySelector("nav"), !token);
    for (const [id, current] of [["to-editor", view === "editor-view"], ["to-runs", view === "runs-view"]]) {
      if (current) $(id).setAttribute("aria-current", "page");
      else $(id).removeAttribute("aria-current");
    }
    $("notices").replaceChildren();
    clearInterval(runs.timer);
    if (view !== "run-view") closeRun();
    if (view === "sign-in") {
      document.title = "Sign in – plan!";
      $("token").focus();
    } else if (view === "editor-view") {
      document.title = "Plan – plan!";
      loadSamples();
      measure();
      number();
      if (!editor.plan && text.value.trim()) check();
      else if (!text.value.trim()) found({}, text.value, $("profile").value);
    } else if (view === "runs-view") {
      document.title = "Runs – plan!";
      loadRuns();
      runs.timer = setInterval(() => document.visibilityState === "visible" && !runs.before.length && loadRuns(true), 5000);
    } else {
      document.title = "Run – plan!";
      let id;
      try {
        id = decodeURIComponent(run[1]);
      } catch {
        id = run[1];
      }
      if (live.id !== id || !live.abort) openRun(id);
    }
    if (focus && shown !== view) document.querySelector(`#${view} h1`)?.focus();
    shown = view;
  };
  addEventListener("hashchange", () => route(true));

  token = kept("token");
  if (token !== null && !isToken(token)) token = null;
  text.value = kept("text") ?? "";
  editor.before = text.value;
  if (["strict", "compatible"].includes(kept("profile"))) $("profile").value = kept("profile");
  measure();
  route();
})();
