// How good the links are: each row is what one peer measures towards the others.

import * as api from "./api.js";
import { byId, empty, h } from "./dom.js";
import { milliseconds, peerNames, plural } from "./format.js";

const TABLE_MAX = 20;
const WORST = 24;

export class Links {
  async refresh(ring) {
    let report;
    try {
      report = await api.links();
    } catch (problem) {
      byId("links-count").textContent = problem.message;
      return;
    }
    const { links } = report;
    const silences = links.reduce((sum, link) => sum + link.silences, 0);
    byId("links-count").textContent = links.length ? `median ${milliseconds(median(links.map((link) => link.round_trip_ms)))} · ${silences ? plural(silences, "silence") : "no silence"}` : "";
    if (links.length === 0) {
      byId("links").replaceChildren(empty("Nothing measured yet", "A link is measured by what goes over it. Ask or post something."));
      return;
    }
    const names = peerNames(ring.peers);
    const small = ring.peers.length <= TABLE_MAX && !matchMedia("(max-width: 40rem)").matches;
    byId("links").replaceChildren(small ? table(ring.peers, links, names) : worst(links, names));
  }
}

function table(peers, links, names) {
  const known = new Map(links.map((link) => [`${link.from} ${link.to}`, link]));
  const slowest = Math.max(...links.map((link) => link.round_trip_ms));
  const head = h("tr", {}, h("td", {}, ""), peers.map((peer) => h("th", { scope: "col", class: "mono" }, h("span", {}, names.get(peer.id)))));
  const rows = peers.map((from) => h("tr", {}, h("th", { scope: "row", class: "mono" }, names.get(from.id)), peers.map((to) => cell(from, to, known.get(`${from.id} ${to.id}`), slowest, names))));
  return h("table", { class: "matrix" }, h("caption", { class: "hidden" }, "Round trip from the peer of the row to that of the column"), h("thead", {}, head), h("tbody", {}, rows));
}

function cell(from, to, link, slowest, names) {
  if (from.id === to.id) return h("td", { class: "self" });
  if (link === undefined) return h("td", { class: "unknown", title: "no link" });
  const level = Math.min(4, Math.floor((link.round_trip_ms / slowest) * 5));
  return h("td", { class: `rtt-${level}${link.silences ? " silent" : ""}`, title: `${names.get(from.id)} to ${names.get(to.id)}: ${said(link)}` },
    h("span", {}, link.round_trip_ms < 10 ? link.round_trip_ms.toFixed(1) : Math.round(link.round_trip_ms)));
}

function worst(links, names) {
  const sorted = [...links].sort((a, b) => loss(b) - loss(a) || b.round_trip_ms - a.round_trip_ms).slice(0, WORST);
  return h("ul", { class: "worst" }, sorted.map((link) => h("li", {}, h("span", { class: "mono" }, `${names.get(link.from)} → ${names.get(link.to)}`), h("span", {}, said(link)))));
}

const loss = (link) => (link.frames ? link.silences / link.frames : 0);

function said(link) {
  const lossy = link.silences ? `, ${plural(link.silences, "silence")} in ${plural(link.frames, "frame")}` : "";
  return `${milliseconds(link.round_trip_ms)} ± ${milliseconds(link.deviation_ms)}${lossy}`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
