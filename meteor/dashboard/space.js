// The keyword space: two of its dimensions, the curve through them, whose each cell is.

import * as api from "./api.js";
import { byId, h, s } from "./dom.js";
import { peerNames } from "./format.js";

const SIZE = 400;
const LEFT = 64;
const TOP = 10;
const BOTTOM = 44;
const RIGHT = 14;

export class Space {
  #dimensions = [];
  #select = undefined;
  #found = undefined; // { places, everywhere } of what was asked: places by dimension, where known
  #placed = { of: "", found: [] };
  #picture = null;
  #pointed = null;
  #asked = 0;

  async start() {
    const space = await api.space();
    this.#dimensions = space.dimensions;
    const names = this.#dimensions.map((dimension) => dimension.name);
    const fill = (id, chosen) => byId(id).replaceChildren(
      ...names.map((name, place) => h("option", { value: name, selected: place === chosen }, name)));
    fill("plane-x", 0);
    fill("plane-y", Math.min(1, names.length - 1));
    byId("plane-y").closest("label").hidden = names.length < 2;
    if (matchMedia("(max-width: 40rem)").matches) byId("plane-order").value = "3";
    byId("plane").addEventListener("input", (event) => this.#chosen(event.target));
    byId("plane").addEventListener("submit", (event) => event.preventDefault());
    await this.refresh();
    return space;
  }

  /** Two dimensions are never the same one: the other one gives way. */
  #chosen(input) {
    const [x, y] = [byId("plane-x"), byId("plane-y")];
    if (this.#dimensions.length > 1 && x.value === y.value) {
      const other = input === x ? y : x;
      other.value = this.#dimensions.find((dimension) => dimension.name !== input.value).name;
    }
    this.refresh();
  }

  /** Show a selector's box, and where what it finds lies once it was asked. */
  query(select, found = undefined) {
    if (found === undefined && select === this.#select) return this.refresh();
    [this.#select, this.#found] = [select, found];
    this.#placed = { of: "", found: [] };
    return this.refresh();
  }

  point(id) {
    this.#pointed = id;
    const picture = this.#picture;
    if (picture === null) return;
    const owner = picture.peers.findIndex((peer) => peer.id === id);
    for (const cell of byId("space").querySelectorAll(".cell")) {
      cell.classList.toggle("pointed", owner >= 0 && cell.dataset.owner === String(owner));
    }
  }

  /** The picture as it is now.  Where what a query found lies is known from its list, or asked for
   *  once on each plane: a page that lies open asks the overlay nothing by itself. */
  async refresh() {
    const asked = ++this.#asked;
    const parameters = { x: byId("plane-x").value, order: byId("plane-order").value, select: this.#select };
    if (this.#dimensions.length > 1) parameters.y = byId("plane-y").value;
    const plane = `${parameters.x} ${parameters.y}`;
    const found = this.#found;
    const asks = found && found.places === null && this.#placed.of !== plane;
    if (asks) Object.assign(parameters, { found: true, everywhere: found.everywhere });
    const picture = await api.curve(parameters).catch((problem) => problem);
    if (asked !== this.#asked) return;
    if (picture instanceof Error) {
      byId("space-note").textContent = picture.message;
      return;
    }
    if (asks) this.#placed = { of: plane, found: picture.found };
    picture.found = found?.places ? this.#onPlane(found.places, parameters) : this.#placed.found;
    this.#picture = picture;
    this.#draw(picture);
  }

  /** Places, a fraction of each dimension's axis, on the plane of two of them. */
  #onPlane(places, { x, y }) {
    const at = (name) => this.#dimensions.findIndex((dimension) => dimension.name === name);
    return places.map((place) => ({ x: place[at(x)], y: place[at(y)] ?? 0.5 }));
  }

  #draw(picture) {
    const rows = picture.y === null ? 1 : picture.side;
    const high = picture.y === null ? 60 : SIZE;
    const [width, height] = [SIZE / picture.side, high / rows];
    const x = (fraction) => LEFT + fraction * SIZE;
    const y = (fraction) => TOP + high - fraction * high;
    const names = peerNames(picture.peers);
    const cells = s("g", { class: "cells" }, picture.cells.map((cell) => s("rect", {
      class: `cell tint-${cell.peer < 0 ? "none" : cell.peer % 6}${cell.touched ? " touched" : ""}`,
      x: (LEFT + cell.x * width).toFixed(2), y: (TOP + high - (cell.y + 1) * height).toFixed(2),
      width: width.toFixed(2), height: height.toFixed(2), "data-owner": cell.peer,
    }, s("title", {}, cell.peer < 0 ? "nobody's" : names.get(picture.peers[cell.peer].id)))));
    const middle = (cell) => `${(LEFT + (cell.x + 0.5) * width).toFixed(2)} ${(TOP + high - (cell.y + 0.5) * height).toFixed(2)}`;
    let [line, leaps] = ["", ""];
    picture.cells.forEach((cell, place) => {
      const before = picture.cells[place - 1];
      const follows = before !== undefined && before.index + 1 === cell.index;
      line += `${follows ? "L" : "M"}${middle(cell)}`;
      if (before !== undefined && !follows) leaps += `M${middle(before)}L${middle(cell)}`;
    });
    const view = s("svg", {
      viewBox: `0 0 ${LEFT + SIZE + RIGHT} ${TOP + high + BOTTOM}`, role: "img",
      "aria-label": `Hilbert curve of order ${picture.order} over ${picture.x.name}${picture.y ? ` and ${picture.y.name}` : ""}`,
    }, cells, s("path", { class: "leaps", d: leaps }), s("path", { class: "curve", d: line }));
    view.append(s("g", { class: "points" }, picture.points.map((one) =>
      s("circle", { cx: x(one.x).toFixed(1), cy: y(picture.y ? one.y : 0.5).toFixed(1), r: 2.2 }))));
    view.append(s("g", { class: "found-points" }, picture.found.map((one) =>
      s("circle", { cx: x(one.x).toFixed(1), cy: y(picture.y ? one.y : 0.5).toFixed(1), r: 2.6 }))));
    if (picture.box) {
      const [[left, right], [low, top]] = [picture.box.x, picture.box.y];
      view.append(s("rect", {
        class: "box", x: x(left), y: y(top), width: Math.max(2, (right - left) * SIZE), height: Math.max(2, (top - low) * high), rx: 2,
      }));
    }
    view.append(s("rect", { class: "frame", x: LEFT, y: TOP, width: SIZE, height: high }));
    view.append(...xTicks(picture.x, x, TOP + high), ...(picture.y ? yTicks(picture.y, y) : []));
    byId("space").replaceChildren(view);
    byId("space-note").textContent = note(picture);
    this.point(this.#pointed);
  }
}

function xTicks(axis, x, base) {
  const ticks = apart(axis.ticks, 0.09).map((tick) => s("text", { class: "tick", x: x(tick.at), y: base + 16, "text-anchor": "middle" }, tick.label));
  return [...ticks, s("text", { class: "axis", x: LEFT + SIZE / 2, y: base + 36, "text-anchor": "middle" }, named(axis))];
}

function yTicks(axis, y) {
  const ticks = apart(axis.ticks, 0.05).map((tick) => s("text", { class: "tick", x: LEFT - 7, y: y(tick.at) + 4, "text-anchor": "end" }, tick.label));
  const middle = y(0.5);
  return [...ticks, s("text", { class: "axis", x: 14, y: middle, transform: `rotate(-90 14 ${middle})`, "text-anchor": "middle" }, named(axis))];
}

const named = (axis) => (axis.unit ? `${axis.name} (${axis.unit})` : axis.name);

/** Ticks that do not lie on each other. */
function apart(ticks, least) {
  const kept = [];
  for (const tick of ticks) {
    if (kept.length === 0 || tick.at - kept[kept.length - 1].at >= least) kept.push(tick);
  }
  return kept;
}

function note(picture) {
  const held = picture.points.length ? "Dots are data at this peer" : "";
  const found = picture.found.length ? `${held ? ", red ones" : "Red dots are"} what the query found` : "";
  const dots = held || found ? `${held}${found}. ` : "";
  if (picture.exact) return `${dots}The line is the curve that orders all cells along the ring.`;
  const others = picture.slice.map((one) => one.name).join(", ");
  return `${dots}A slice where ${others} stands still; the line is dotted where the curve leaves it.`;
}
