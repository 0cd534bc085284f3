// The page put together: what is asked at the start, what is asked again, who tells whom.

import * as api from "./api.js";
import { byId } from "./dom.js";
import { Links } from "./links.js";
import { Live } from "./live.js";
import { Post } from "./post.js";
import { Query } from "./query.js";
import { Registry } from "./registry.js";
import { Ring } from "./ring.js";
import { Space } from "./space.js";
import { theme } from "./theme.js";
import { Watches } from "./watches.js";

const RING_EVERY_MS = 3000;
const REST_EVERY_MS = 10000;

const parts = { ring: new Ring(), space: new Space(), watches: new Watches(), live: new Live(), post: new Post(), registry: new Registry(), links: new Links() };
let ring = null;
let live = null; // whether the stream of events is open; null before it was tried
let trouble = ""; // why the ring could not be asked the last time

function state(text, good) {
  byId("state-text").textContent = text;
  byId("state").classList.toggle("good", good);
  byId("state").classList.toggle("bad", !good);
}

function showState() {
  if (live === false) state("reconnecting", false);
  else if (trouble) state(trouble, false);
  else if (live) state("live", true);
}

async function showRing() {
  try {
    ring = await api.ring();
    parts.ring.show(ring);
    trouble = "";
  } catch (problem) {
    trouble = problem.message;
  }
  showState();
}

/** Ask again while somebody looks; a hidden page asks nothing. */
function every(milliseconds, ask) {
  setInterval(() => {
    if (!document.hidden) ask();
  }, milliseconds);
}

async function showAccess() {
  const { access, address, space } = await api.access();
  byId("space-name").textContent = space;
  byId("peer-address").textContent = address;
  document.title = `${address} · Meteor`;
  const button = byId("access");
  button.hidden = access === "write";
  button.textContent = access === "read" ? "Read only" : "Unlock";
  byId("token-text").textContent = access === "read"
    ? "It does not come from the peer's own machine, and the peer was started without a token. Start it with --token-file to change things from here."
    : "It does not come from the peer's own machine. With the peer's token it may also post.";
  parts.post.allow(access === "write");
}

function tokenDialog() {
  const dialog = byId("token-dialog");
  byId("access").addEventListener("click", () => {
    dialog.returnValue = ""; // else Escape would mean what was chosen before
    dialog.showModal();
  });
  // No button of the form: Enter would press it, as the first one.
  byId("token-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", async () => {
    const token = byId("token").value;
    byId("token").value = "";
    if (dialog.returnValue !== "use" || !token) return;
    try {
      api.setToken(token);
      await showAccess();
    } catch (problem) {
      state(problem.message, false);
    }
  });
}

async function start() {
  theme();
  tokenDialog();
  await showAccess();
  parts.watches.start();
  parts.live.start((good) => {
    live = good;
    showState();
  });
  const [space] = await Promise.all([parts.space.start(), showRing(), parts.registry.start()]);
  parts.ring.onPeer((id) => parts.space.point(id));
  new Query(parts.ring, parts.space, parts.watches).start(space);
  parts.post.start(space, () => Promise.all([showRing(), parts.registry.refresh()]));
  if (ring !== null) parts.links.refresh(ring);
  every(RING_EVERY_MS, showRing);
  every(REST_EVERY_MS, () => {
    parts.space.refresh();
    if (ring !== null) parts.links.refresh(ring);
  });
  document.documentElement.dataset.ready = "true";
}

start().catch((problem) => state(problem.message, false));
