// Posting data from the page, where the page may.

import * as api from "./api.js";
import { byId, h } from "./dom.js";
import { duration, plural, short } from "./format.js";

export class Post {
  start(space, posted) {
    const numbers = space.dimensions.filter((dimension) => dimension.kind === "number").slice(0, 2);
    const word = space.dimensions.find((dimension) => dimension.kind === "word");
    const parts = [word ? `${word.name}=…` : "", ...numbers.map((number) => `${number.name}=${Math.round((number.low + number.high) / 2)}`)];
    byId("post-profile").placeholder = parts.filter(Boolean).join(" ");
    byId("post-form").addEventListener("submit", async (event) => {
      event.preventDefault();
      await this.#post();
      posted();
    });
  }

  allow(allowed) {
    for (const field of byId("post-form").elements) field.disabled = !allowed;
    if (!allowed) this.#say("This page may only look.");
  }

  async #post() {
    const button = byId("post-button");
    button.disabled = true;
    try {
      const receipt = await api.store(byId("post-profile").value, byId("post-data").value, byId("post-ttl").value);
      const met = receipt.matches ? `, met ${plural(receipt.matches, "interest")}` : "";
      this.#say(h("span", {}, `Stored for ${duration(receipt.ttl)}${met}. `, h("span", { class: "mono" }, short(receipt.id.split(".")[0], 14))), receipt.complete ? "good" : "trouble");
    } catch (problem) {
      this.#say(problem.message.split("\n")[0], "trouble");
    } finally {
      button.disabled = false;
    }
  }

  #say(what, kind = "") {
    byId("post-note").className = `note ${kind}`;
    byId("post-note").replaceChildren(what);
  }
}
