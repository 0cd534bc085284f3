// Elements, made one by one: no text ever becomes markup (the page's policy would refuse it too).

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element with attributes, listeners (`onclick: f`) and children; null children are left out. */
export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Let one element show what another would, which is given up; its listeners stay, and so do the
 *  elements below that are of the same kinds: a click whose press was on one that goes is lost. */
export function become(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  for (const { name } of [...shown.attributes]) {
    if (!fresh.hasAttribute(name)) shown.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) shown.setAttribute(name, value);
  const [parts, others] = [[...shown.childNodes], [...fresh.childNodes]];
  const kinds = (nodes) => nodes.map((node) => node.nodeName).join();
  const alike = shown.childElementCount > 0 && kinds(parts) === kinds(others);
  if (alike && shown.childElementCount === parts.length) parts.forEach((part, at) => become(part, others[at]));
  else shown.replaceChildren(...others);
}

/** A selector or profile with its names, operators and values told apart. */
export function code(text) {
  const parts = text.split(/("(?:[^"\\]|\\.)*"|>=|<=|[=<>|()]|\s+)/).filter((part) => part);
  return h("code", {}, parts.map((part, place) => {
    if (/^(>=|<=|[=<>|()])$/.test(part)) return h("span", { class: "operator" }, part);
    const named = /^(>=|<=|[=<>])$/.test(parts[place + 1] ?? "");
    return named ? h("span", { class: "name" }, part) : part;
  }));
}

/** What stands where there is nothing yet. */
export function empty(title, ...hint) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, ...hint));
}

/** Let one button of a group be pressed, and say which. */
export function segments(group, changed) {
  group.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button === null) return;
    for (const other of group.querySelectorAll("button")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
    changed(button.dataset);
  });
}
