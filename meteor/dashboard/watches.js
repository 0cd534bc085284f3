// Interests that live as long as this page: each is an event stream of its own.

import * as api from "./api.js";
import { byId, code, empty, h } from "./dom.js";
import { clock, plural } from "./format.js";
import { matchRow } from "./query.js";

const SHOWN = 20;
const OPEN_MAX = 4; // a browser has six connections to one host; the page needs some itself

export class Watches {
  #open = new Map();

  start() {
    this.#show();
    addEventListener("pagehide", () => this.#open.forEach((watch) => watch.source.close()));
  }

  open(select, everywhere) {
    if (this.#open.has(select)) {
      this.#open.get(select).card.scrollIntoView({ block: "nearest" });
      return;
    }
    if (this.#open.size >= OPEN_MAX) this.#stop(this.#open.keys().next().value);
    const state = h("span", { class: "watch-state" }, "opening");
    const rows = h("div", { class: "watch-rows" });
    const stop = h("button", { type: "button", class: "quiet", "aria-label": `Stop watching ${select}`, onclick: () => this.#stop(select) }, "Stop");
    const card = h("article", { class: "watch", "data-select": select }, h("header", {}, h("p", {}, code(select)), state, stop), rows);
    const watch = { source: api.events(select, everywhere), card, state, rows, seen: new Set(), count: 0 };
    this.#open.set(select, watch);
    this.#listen(watch);
    this.#show();
  }

  #listen(watch) {
    const { source, state } = watch;
    const say = (text, kind = "") => {
      state.textContent = text;
      state.className = `watch-state ${kind}`;
    };
    source.addEventListener("open", (event) => {
      if (event.data !== undefined) say("waiting", "good");
    });
    source.addEventListener("match", (event) => {
      this.#match(watch, JSON.parse(event.data));
      say(plural(watch.count, "match", "matches"), "good");
    });
    source.addEventListener("incomplete", () => say("a part of the region does not answer", "trouble"));
    source.addEventListener("reset", () => say("began anew", "trouble"));
    source.addEventListener("overflow", () => say("too fast for this page", "trouble"));
    source.addEventListener("error", () => say(source.readyState === EventSource.CLOSED ? "refused" : "reconnecting", "trouble"));
  }

  /** A notification may come again after a break: its id is the same. */
  #match(watch, notification) {
    if (watch.seen.has(notification.notification)) return;
    watch.seen.add(notification.notification);
    watch.count += 1;
    const row = matchRow(notification);
    row.querySelector(".row-foot").prepend(h("span", {}, clock()));
    row.classList.add("fresh");
    watch.rows.prepend(row);
    while (watch.rows.children.length > SHOWN) watch.rows.lastChild.remove();
  }

  #stop(select) {
    this.#open.get(select)?.source.close();
    this.#open.delete(select);
    this.#show();
  }

  #show() {
    byId("watch-count").textContent = this.#open.size ? plural(this.#open.size, "interest") : "";
    const cards = [...this.#open.values()].map((watch) => watch.card);
    byId("watches").replaceChildren(...(cards.length ? cards.reverse() : [
      empty("No interest yet", "Watch a selector to be told of what lives and of what comes. It ends with this page."),
    ]));
  }
}
