// What happens at this peer, as it happens.

import * as api from "./api.js";
import { byId, code, empty, h } from "./dom.js";
import { clock, short } from "./format.js";

const SHOWN = 80;
const SAID = { post: "post", match: "match", notification: "notified", amend: "amend" };

export class Live {
  #paused = false;
  #waiting = [];
  #rows = 0;

  start(changed) {
    byId("live").replaceChildren(nothing());
    byId("live-pause").addEventListener("click", (event) => this.#pause(event.currentTarget));
    const source = api.live();
    source.addEventListener("open", () => changed(true));
    source.addEventListener("error", () => changed(false));
    for (const kind of Object.keys(SAID)) {
      source.addEventListener(kind, (event) => this.#take(row(kind, JSON.parse(event.data))));
    }
    source.addEventListener("dropped", (event) => this.#take(h("li", { class: "row live-row" }, h("p", { class: "muted" }, `${event.data} were too fast to show`))));
    addEventListener("pagehide", () => source.close());
  }

  #pause(button) {
    this.#paused = !this.#paused;
    button.setAttribute("aria-pressed", String(this.#paused));
    button.textContent = this.#paused ? "Resume" : "Pause";
    if (!this.#paused) this.#waiting.splice(0).forEach((one) => this.#add(one));
  }

  #take(one) {
    if (!this.#paused) return this.#add(one);
    this.#waiting.push(one);
    if (this.#waiting.length > SHOWN) this.#waiting.shift();
    byId("live-pause").textContent = `Resume (${this.#waiting.length})`;
  }

  #add(one) {
    if (this.#rows === 0) byId("live").replaceChildren();
    this.#rows += 1;
    byId("live").prepend(one);
    while (byId("live").children.length > SHOWN) byId("live").lastChild.remove();
  }
}

function row(kind, one) {
  const what = kind === "match" && one.selector ? [code(one.profile), h("span", { class: "meets" }, " meets "), code(one.selector)] : [one.profile ? code(one.profile) : h("span", { class: "mono" }, short(one.id, 18))];
  const action = kind === "post" || kind === "amend" ? one.action : SAID[kind];
  return h("li", { class: "row live-row" },
    h("p", { class: "live-head" }, h("span", { class: `badge ${kind} ${one.action ?? ""}` }, action.replace("_", " ")), h("time", {}, clock())),
    h("p", {}, ...what),
    one.text ? h("p", { class: "payload" }, one.text) : null);
}

const nothing = () => h("li", {}, empty("Quiet", "Posts that enter here, pairs that meet here and notifications that leave here will show, newest first."));
