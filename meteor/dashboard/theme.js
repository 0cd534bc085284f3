// Light and dark: as the system says, until somebody chooses.

import { byId } from "./dom.js";

const KEY = "meteor-theme";
const NEXT = { system: "light", light: "dark", dark: "system" };
const SAID = { system: "as the system says", light: "light", dark: "dark" };

export function theme() {
  const button = byId("theme");
  let chosen = localStorage.getItem(KEY) ?? "system";
  const show = () => {
    document.documentElement.dataset.theme = chosen;
    button.setAttribute("aria-label", `Colours: ${SAID[chosen]}`);
    button.title = `Colours: ${SAID[chosen]}`;
  };
  button.addEventListener("click", () => {
    chosen = NEXT[chosen] ?? "system";
    localStorage.setItem(KEY, chosen);
    show();
  });
  if (!(chosen in NEXT)) chosen = "system";
  show();
}
