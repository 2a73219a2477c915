// The calls of a step in pages, with a search in their errors, arguments and outputs.

import { h, hide, plural, say, show } from "./dom.js";
import { LIMITS } from "./limits.js";

const textOf = (one) => [`[${(one.element ?? []).join("][")}]`, one.error ?? "", show(one.arguments), show(one.output)].join(" ").toLowerCase();
export class Calls {
  constructor() {
    Object.assign(this, { all: [], page: 0, make: null });
    this.search = h("input", { type: "search", id: "calls-search", autocomplete: "off", spellcheck: "false", maxlength: "200", oninput: () => this.go(0) });
    this.count = h("p", { class: "count", role: "status" });
    this.list = h("ol", { class: "items attempts", "aria-label": "Calls" });
    this.bar = h("div", { class: "bar-of" }, h("label", { for: "calls-search" }, "Search"), this.search, this.count);
    this.previous = h("button", { type: "button", class: "small", onclick: () => this.go(this.page - 1) }, "Previous calls");
    this.next = h("button", { type: "button", class: "small", onclick: () => this.go(this.page + 1) }, "Next calls");
    this.place = h("div", {}, this.bar, this.list, h("div", { class: "buttons" }, this.previous, this.next));
  }
  // Shows calls. `make` returns the item of a call.
  put(all, make) {
    Object.assign(this, { all, make });
    hide(this.bar, all.length <= LIMITS.cards);
    if (this.bar.hidden) this.search.value = "";
    this.go(this.page);
    return this.place;
  }
  go(page) {
    const words = this.search.value.trim().toLowerCase();
    const found = words ? this.all.filter((one) => textOf(one).includes(words)) : this.all;
    const last = Math.max(0, Math.ceil(found.length / LIMITS.cards) - 1);
    this.page = Math.min(Math.max(page, 0), last);
    const from = this.page * LIMITS.cards;
    const shown = found.slice(from, from + LIMITS.cards);
    this.list.replaceChildren(...shown.map(this.make));
    if (shown.length > 8) this.list.setAttribute("tabindex", "0");
    else this.list.removeAttribute("tabindex");
    const count = found.length === this.all.length ? plural(found.length, "call") : `${found.length.toLocaleString()} of ${plural(this.all.length, "call")}`;
    say(this.count, found.length > LIMITS.cards ? `${(from + 1).toLocaleString()}–${(from + shown.length).toLocaleString()} of ${count}` : count);
    hide(this.previous, this.page === 0);
    hide(this.next, this.page === last);
  }
}
