// Elements are made here and nowhere else: what comes from outside is always text, never markup.
const NS = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (name === "data") for (const [key, v] of Object.entries(value)) { if (v != null) element.dataset[key] = v; }
    else if (name === "css") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((c) => c != null && c !== false && c !== ""));
  return element;
}

/** An HTML element. attributes: `on` listeners, `data` dataset, `css` style properties, the rest as they are. */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element, the same way. */
export const s = (tag, attributes, ...children) => fill(document.createElementNS(NS, tag), attributes, children);

/** A sign of the sprite in icons.svg; decoration only, the words stand beside it. */
export const icon = (name, attributes) =>
  s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false", ...attributes },
    s("use", { href: `/static/icons.svg#${name}` }));

/** Touch a text only when it changes, so that screen readers do not repeat themselves. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value == null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : String(value));
}

/** Bring `parent`'s children in line with `items`, keeping the elements (and the focus) of what stays. */
export function keyed(parent, items, key, make, update) {
  const have = new Map([...parent.children].map((c) => [c.dataset.key, c]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const k = String(key(item));
    let element = have.get(k);
    if (element) have.delete(k);
    else {
      element = make(item);
      element.dataset.key = k;
    }
    update?.(element, item);
    if (element === place) place = place.nextElementSibling;
    else {
      // a moved element loses the focus, so it is given back
      const focused = element.contains(document.activeElement) ? document.activeElement : null;
      parent.insertBefore(element, place);
      focused?.focus({ preventScroll: true });
    }
  }
  for (const gone of have.values()) gone.remove();
}

let speaker = null;
let speaking = 0;
/** Say something once to screen readers; what comes within a second is said together. */
export function say(text) {
  speaker ??= document.getElementById("said");
  clearTimeout(speaking);
  const waiting = speaker.dataset.waiting ? `${speaker.dataset.waiting} ${text}` : text;
  speaker.dataset.waiting = waiting.slice(-300);
  speaking = setTimeout(() => {
    speaker.textContent = speaker.dataset.waiting;
    delete speaker.dataset.waiting;
  }, 700);
}

/** A short message at the foot of the page, gone after a while. action: [words, what to do] for an undo. */
export function toast(text, { kind = "", action = null, seconds = action ? 12 : 6 } = {}) {
  const list = document.getElementById("toasts");
  const item = h("li", { class: kind || null }, h("span", null, text));
  const close = () => item.remove();
  if (action) item.append(h("button", { type: "button", on: { click: () => { close(); action[1](); } } }, action[0]));
  item.append(h("button", { type: "button", class: "close", "aria-label": "Close this message", on: { click: close } }, "×"));
  list.append(item);
  while (list.childElementCount > 4) list.firstElementChild.remove();
  setTimeout(close, seconds * 1000);
  return close;
}
