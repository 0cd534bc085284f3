// The query line: what a selector costs, what it finds, and where the overlay looks for it.

import * as api from "./api.js";
import { byId, code, empty, h } from "./dom.js";
import { count, duration, payload, plural, share } from "./format.js";

const EXPLAIN_AFTER_MS = 220;

export class Query {
  #ring;
  #space;
  #watches;
  #timer = 0;
  #asked = 0;
  #turn = 0;

  constructor(ring, space, watches) {
    [this.#ring, this.#space, this.#watches] = [ring, space, watches];
  }

  start(space) {
    const input = byId("selector");
    input.placeholder = examples(space)[0] ?? "";
    input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#explain(), EXPLAIN_AFTER_MS);
    });
    byId("ask-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#retrieve();
    });
    byId("watch-button").addEventListener("click", () => this.#watch());
    byId("examples").append(...examples(space).map((text) =>
      h("button", { type: "button", class: "example mono", onclick: () => this.#use(text) }, text)));
    this.#nothing();
  }

  #use(text) {
    byId("selector").value = text;
    this.#retrieve();
  }

  #nothing() {
    byId("found-count").textContent = "";
    byId("found").replaceChildren(empty("Nothing asked yet", "Type a selector above, or take one of the examples."));
    byId("ask-note").textContent = "";
  }

  /** Show the box and the peers that it touches while somebody types.  What comes late is not
   *  shown any more, but returned all the same to whoever asked; null for what is no selector. */
  async #explain() {
    clearTimeout(this.#timer);
    const asked = ++this.#asked;
    const select = byId("selector").value.trim();
    if (select === "") {
      this.#light(null);
      byId("ask-note").replaceChildren();
      return null;
    }
    try {
      const explanation = await api.explain(select);
      if (asked === this.#asked) {
        this.#light(explanation, select);
        this.#say(cost(explanation));
      }
      return explanation;
    } catch (problem) {
      if (asked === this.#asked) this.#refuse(problem, select);
      return null;
    }
  }

  async #retrieve() {
    const select = byId("selector").value.trim();
    if (select === "") {
      byId("selector").focus();
      this.#say("Type a selector first: a name, an operator, a value.", "trouble");
      return;
    }
    const turn = ++this.#turn;
    const explanation = await this.#explain();
    if (explanation === null) return;
    const began = performance.now();
    try {
      const answer = await api.retrieve(select, explanation.needs_everywhere || undefined);
      if (turn !== this.#turn) return; // something else was asked meanwhile
      this.#found(answer, performance.now() - began);
      // A list that is whole says itself where everything lies; of a longer one the peer is asked.
      const whole = answer.total === answer.matches.length;
      const places = whole ? answer.matches.map((match) => match.place) : null;
      this.#space.query(select, { places, everywhere: explanation.needs_everywhere || undefined });
    } catch (problem) {
      if (turn === this.#turn) this.#refuse(problem, select);
    }
  }

  async #watch() {
    const select = byId("selector").value.trim();
    const explanation = await this.#explain();
    if (explanation === null) {
      if (select === "") this.#say("Type what to watch for first.", "trouble");
      byId("selector").focus();
      return;
    }
    this.#watches.open(select, explanation.needs_everywhere || undefined);
  }

  #light(explanation, select) {
    this.#ring.touch(explanation === null ? [] : explanation.touched.map((peer) => peer.id));
    this.#space.query(explanation === null ? undefined : select);
  }

  #say(text, kind = "") {
    byId("ask-note").className = `note ${kind}`;
    byId("ask-note").replaceChildren(text);
    byId("selector").removeAttribute("aria-invalid");
  }

  /** A refused selector: the peer's own words, and the place. */
  #refuse(problem, select) {
    this.#light(null);
    this.#say(problem.message.split("\n")[0], "trouble");
    byId("selector").setAttribute("aria-invalid", "true");
    if (typeof problem.position === "number" && problem.position <= select.length) {
      const [before, rest] = [select.slice(0, problem.position), select.slice(problem.position)];
      byId("ask-note").prepend(h("code", { class: "caret" }, before, h("mark", {}, rest[0] ?? "\u2423"), rest.slice(1)), " ");
    }
  }

  #found(answer, took) {
    const matches = answer.matches;
    const part = answer.complete ? "" : " · incomplete: part of the region did not answer";
    byId("found-count").textContent = `${plural(answer.total, "match", "matches")} · ${Math.round(took)} ms${part}`;
    byId("found-count").classList.toggle("trouble", !answer.complete);
    const list = matches.map(matchRow);
    if (answer.total > matches.length) list.push(h("p", { class: "more" }, `${count(answer.total - matches.length)} more are not shown.`));
    byId("found").replaceChildren(...(list.length ? list : [empty("No match", `${plural(answer.peers, "peer")} looked; nothing that lives matches. Watch it to be told when something comes.`)]));
  }
}

/** One match as a row. */
export function matchRow(match) {
  const text = payload(match);
  return h("article", { class: "row" },
    h("p", { class: "row-head" }, code(match.profile)),
    text ? h("p", { class: "payload" }, text.slice(0, 400)) : null,
    h("p", { class: "row-foot" }, h("span", {}, `lives ${duration(match.ttl)}`), h("span", { class: "mono", title: match.id }, match.id.split(".")[0])));
}

function cost(explanation) {
  const { touched, peers, clusters, exact } = explanation;
  const stretches = `${exact ? "" : "more than "}${plural(clusters.length, "stretch", "stretches")} of the curve`;
  const everywhere = explanation.needs_everywhere ? " It asks everybody." : "";
  return `Concerns ${count(touched.length)} of ${plural(peers, "peer")}: ${stretches}, ${exact ? "" : "at most "}${share(explanation.share)} of the space.${everywhere}`;
}

/** Selectors that fit the space: one of each kind. */
function examples(space) {
  const words = space.dimensions.filter((dimension) => dimension.kind === "word");
  const numbers = space.dimensions.filter((dimension) => dimension.kind === "number");
  const found = [];
  const at = (number, part) => Number((number.low + (number.high - number.low) * part).toPrecision(3));
  if (numbers[0]) found.push(`${numbers[0].name}=${at(numbers[0], 0.4)}..${at(numbers[0], 0.6)}`);
  if (words[0]) found.push(`${words[0].name}=l*`);
  if (words[0] && numbers[0]) found.push(`${words[0].name}=* ${numbers[0].name}>=${at(numbers[0], 0.7)}`);
  if (numbers[1]) found.push(`${numbers[0].name}<=${at(numbers[0], 0.5)} ${numbers[1].name}>=${at(numbers[1], 0.6)}`);
  const choice = space.dimensions.find((dimension) => dimension.kind === "choice");
  if (choice) found.push(`${choice.name}=${choice.values[0]}`);
  return found.slice(0, 4);
}
