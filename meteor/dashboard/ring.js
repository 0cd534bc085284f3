// The ring: peers in the order of their identifiers, the arcs that they answer for, what they hold.

import { become, byId, h, s, segments } from "./dom.js";
import { count, peerNames, plural, share, short } from "./format.js";

const SIZE = 440;
const CENTRE = SIZE / 2;
const RADIUS = 150;
const BAND = 15;
const LOAD = 44;
const GAP = 0.012;

export class Ring {
  #ring = null;
  #touched = new Set();
  #scale = null;
  #chosen = null;
  #listeners = [];

  constructor() {
    segments(document.querySelector("[aria-label='Scale of the arcs']"), ({ scale }) => {
      this.#scale = scale;
      this.#draw();
    });
  }

  /** Tell when another peer is pointed at or chosen. */
  onPeer(listener) {
    this.#listeners.push(listener);
  }

  show(ring) {
    this.#ring = ring;
    this.#chosen ??= ring.here;
    this.#draw();
  }

  touch(ids) {
    this.#touched = new Set(ids);
    this.#draw();
  }

  #draw() {
    const ring = this.#ring;
    if (ring === null) return;
    const places = this.#places(ring.peers);
    const most = Math.max(1, ...ring.peers.map((peer) => peer.stored));
    const names = peerNames(ring.peers);
    const picture = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": `Ring of ${plural(ring.peers.length, "peer")}` });
    picture.append(s("circle", { class: "orbit", cx: CENTRE, cy: CENTRE, r: RADIUS + BAND + LOAD }));
    ring.peers.forEach((peer, place) => {
      picture.append(this.#peer(peer, places[place], most, names.get(peer.id), ring));
    });
    picture.append(s("g", {}, this.#middle(ring)));
    this.#put(picture);
    this.#detail();
  }

  /** A peer that stays is the same element however often it is drawn: new ones would be read out
   *  anew while they have the focus, and a click that the drawing falls into would be lost. */
  #put(picture) {
    const ids = (drawn) => [...(drawn?.querySelectorAll(".peer") ?? [])].map((one) => one.dataset.peer);
    const shown = byId("ring").firstElementChild;
    if (shown !== null && String(ids(shown)) === String(ids(picture))) {
      [...picture.children].forEach((part, place) => become(shown.children[place], part));
      return;
    }
    const focused = document.activeElement?.dataset?.peer;
    byId("ring").replaceChildren(picture);
    if (focused) picture.querySelector(`[data-peer="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** Where each arc begins and ends, as fractions of the circle. */
  #places(peers) {
    const even = (this.#scale ?? "even") === "even";
    const whole = peers.reduce((sum, peer) => sum + (even ? 1 : peer.share), 0) || 1;
    let at = 0;
    return peers.map((peer) => {
      const width = (even ? 1 : peer.share) / whole;
      at += width;
      return [at - width, at];
    });
  }

  #peer(peer, [from, to], most, name, ring) {
    const middle = (from + to) / 2;
    const gap = Math.min(GAP, (to - from) / 5);
    const classes = ["peer"];
    if (peer.id === ring.here) classes.push("here");
    if (this.#touched.has(peer.id)) classes.push("touched");
    if (!peer.answers) classes.push("silent");
    if (peer.lost.length) classes.push("lost");
    if (peer.id === this.#chosen) classes.push("chosen");
    const length = peer.stored > 0 ? 4 + (LOAD - 4) * (peer.stored / most) : 0;
    const wide = Math.max(0.6, (to - from) * Math.PI * 2 * (RADIUS + BAND));
    const labelled = wide > 26;
    const label = point(RADIUS - 16, middle);
    const group = s("g", {
      class: classes.join(" "), tabindex: 0, role: "button", "data-peer": peer.id,
      "aria-pressed": String(peer.id === this.#chosen),
      "aria-label": `${peer.address}, ${share(peer.share)} of the ring, ${peer.answers ? plural(peer.stored, "record") : "silent"}${this.#touched.has(peer.id) ? ", touched by the query" : ""}`,
      onclick: () => this.#choose(peer.id),
      onkeydown: (event) => this.#key(event, peer.id),
      onpointerenter: () => this.#tell(peer.id),
      onpointerleave: () => this.#tell(null),
    });
    group.append(
      s("path", { class: "target", d: band(from, to, RADIUS - 6, RADIUS + BAND + LOAD) }),
      s("path", { class: "arc", d: band(from + gap / 2, to - gap / 2, RADIUS, RADIUS + BAND) }),
    );
    if (length) group.append(s("path", { class: "load", d: band(from + gap / 2, to - gap / 2, RADIUS + BAND + 3, RADIUS + BAND + 3 + length) }));
    const dot = point(RADIUS + BAND / 2, to - gap);
    group.append(s("circle", { class: "dot", cx: dot[0], cy: dot[1], r: 4 }));
    if (labelled) group.append(s("text", { class: "label", x: label[0], y: label[1], transform: turned(label, middle), "text-anchor": anchor(middle) }, name));
    return group;
  }

  #middle(ring) {
    const known = ring.peers.filter((peer) => peer.answers);
    const sum = (field) => known.reduce((total, peer) => total + Math.max(0, peer[field]), 0);
    const lost = ring.peers.filter((peer) => peer.lost.length).length;
    const lines = [
      s("text", { class: "big", x: CENTRE, y: CENTRE - 14, "text-anchor": "middle" }, count(ring.peers.length)),
      s("text", { class: "small", x: CENTRE, y: CENTRE + 6, "text-anchor": "middle" }, ring.peers.length === 1 ? "peer" : "peers"),
      s("text", { class: "small", x: CENTRE, y: CENTRE + 27, "text-anchor": "middle" }, plural(Math.max(0, sum("data")), "profile")),
    ];
    const trouble = lost ? `${plural(lost, "arc")} lost` : ring.closed ? "" : "the walk did not come round";
    if (trouble) lines.push(s("text", { class: "small trouble", x: CENTRE, y: CENTRE + 46, "text-anchor": "middle" }, trouble));
    return lines;
  }

  #key(event, id) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") this.#choose(id);
    else if (step === undefined) return;
    else {
      const peers = this.#ring.peers;
      const place = peers.findIndex((peer) => peer.id === id);
      const next = peers[(place + step + peers.length) % peers.length];
      byId("ring").querySelector(`[data-peer="${CSS.escape(next.id)}"]`)?.focus();
    }
    event.preventDefault();
  }

  #choose(id) {
    this.#chosen = id;
    this.#draw();
    this.#tell(id);
  }

  #tell(id) {
    for (const listener of this.#listeners) listener(id);
  }

  #detail() {
    const peer = this.#ring.peers.find((one) => one.id === this.#chosen) ?? this.#ring.peers[0];
    const here = peer.id === this.#ring.here;
    const facts = [
      ["Arc", share(peer.share)],
      ["Data", count(peer.data)],
      ["Interests", count(peer.interests)],
      ["Copies", count(peer.copies)],
    ];
    const page = peer.address.includes(":") && !here;
    const name = page ? h("a", { href: `${location.protocol}//${peer.address}/` }, peer.address) : peer.address;
    const flags = [here ? "this peer" : "", peer.answers ? "" : "does not answer", peer.lost.length ? "past is lost" : ""];
    byId("peer-detail").replaceChildren(
      h("p", { class: "mono detail-name" }, name, h("span", { class: "muted" }, ` ${short(peer.id)} ${flags.filter(Boolean).join(", ")}`)),
      h("dl", {}, facts.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value)))),
    );
  }
}

const angle = (fraction) => fraction * Math.PI * 2 - Math.PI / 2;
const point = (radius, fraction) => [CENTRE + radius * Math.cos(angle(fraction)), CENTRE + radius * Math.sin(angle(fraction))];
const pair = ([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`;
const anchor = (fraction) => (fraction < 0.5 ? "end" : "start");

/** Labels lie along the radius, and none stands on its head. */
function turned([x, y], fraction) {
  const degrees = fraction * 360 - 90;
  return `rotate(${(fraction < 0.5 ? degrees : degrees + 180).toFixed(2)} ${x.toFixed(2)} ${y.toFixed(2)}) translate(0 4)`;
}

/** A piece of a ring between two radii; a whole one is drawn as nearly whole. */
function band(from, to, inner, outer) {
  const end = Math.min(to, from + 0.9999);
  const large = end - from > 0.5 ? 1 : 0;
  return `M${pair(point(outer, from))}A${outer} ${outer} 0 ${large} 1 ${pair(point(outer, end))}` +
    `L${pair(point(inner, end))}A${inner} ${inner} 0 ${large} 0 ${pair(point(inner, from))}Z`;
}
