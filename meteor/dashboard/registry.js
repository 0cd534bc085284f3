// What this peer answers for: profiles, interests and watches, to be looked through.

import * as api from "./api.js";
import { byId, code, empty, h, segments } from "./dom.js";
import { count, duration, short } from "./format.js";

const SEARCH_AFTER_MS = 200;
const PAGE = 40;

export class Registry {
  #kind = "";
  #timer = 0;
  #asked = 0;

  start() {
    const form = byId("registry-form");
    form.addEventListener("submit", (event) => event.preventDefault());
    byId("registry-search").addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.refresh(), SEARCH_AFTER_MS);
    });
    segments(form.querySelector(".segments"), ({ kind }) => {
      this.#kind = kind;
      this.refresh();
    });
    return this.refresh();
  }

  async refresh() {
    const asked = ++this.#asked;
    const page = await this.#page(undefined);
    if (asked !== this.#asked || page === null) return;
    byId("registry-count").textContent = `${count(page.kept)} kept, copies included`;
    const rows = this.#rows(page, asked);
    byId("registry").replaceChildren(...(rows.length ? rows : [this.#nothing()]));
  }

  async #page(after) {
    const search = byId("registry-search").value.trim();
    try {
      return await api.records({ kind: this.#kind, search, limit: PAGE, after });
    } catch (problem) {
      byId("registry-count").textContent = problem.message;
      return null;
    }
  }

  #rows(page, asked) {
    const rows = page.records.map(recordRow);
    if (page.more) {
      const after = new URL(page.next, location.origin).searchParams.get("after");
      const more = h("button", { type: "button", class: "quiet more", onclick: async () => {
        const next = await this.#page(after);
        if (next === null || asked !== this.#asked) return;
        more.replaceWith(...this.#rows(next, asked));
      } }, "More");
      rows.push(more);
    }
    return rows;
  }

  #nothing() {
    if (byId("registry-search").value.trim() || this.#kind) return empty("None of these", "This peer answers for nothing that fits. Another peer may: choose one in the ring.");
    return empty("Empty arc", "Nothing lives in this peer's part of the space yet.");
  }
}

function recordRow(record) {
  return h("article", { class: "row" },
    h("p", { class: "row-head" }, h("span", { class: `badge ${record.kind}` }, record.kind), " ", code(record.profile)),
    h("p", { class: "row-foot" }, h("span", {}, `lives ${duration(record.ttl)}`), h("span", {}, `${count(record.bytes)} bytes`),
      h("span", { class: "mono", title: record.id }, short(record.id.split(".")[0], 14))));
}
