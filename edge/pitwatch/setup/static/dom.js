// Elements in one call: h('p', { class: 'soft' }, 'text', child). Functions named on… are listeners.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
export const button = (text, onclick, kind) => h('button', { type: 'button', class: kind, onclick }, text);
export const lines = (texts) => h('ul', { class: 'said' }, ...texts.map((t) => h('li', {}, t)));

export function field(label, input, note) {
  return h('label', { class: 'field' }, h('span', {}, label), input, note ? h('small', {}, note) : null);
}

export function number(value, attributes) {
  return h('input', { type: 'number', inputmode: 'decimal', step: 'any', value: value ?? '', ...attributes });
}

export function select(options, value, onchange) {
  const element = h('select', { onchange }, ...options.map(([v, t]) => h('option', { value: v }, t)));
  element.value = value;
  return element;
}

// Links to a sheet to print, one for each paper.
export const prints = (what, said) => h('p', {}, said, ' ', ...['a3', 'a4', 'letter', 'tabloid'].flatMap((paper, i) => [
  i ? ', ' : '', h('a', { href: `/print/${what}-${paper}.pdf`, target: '_blank' }, paper.length < 3 ? paper.toUpperCase() : paper)]));
