// The picture: zoomed, panned, tapped, and with things that can be dragged, by finger, mouse or keys.
import { s } from './dom.js';

const TAP = 9; // css pixels that a finger may slip in a tap
const HANDLE = 13; // css pixels, radius

export class View {
  constructor(svg, loupe) {
    this.svg = svg;
    this.loupe = loupe;
    this.size = [16, 9];
    this.box = [0, 0, 16, 9];
    this.image = s('image', { width: 16, height: 9, preserveAspectRatio: 'none' });
    this.shapes = s('g', { class: 'shapes' });
    this.scene = s('g', { id: 'scene' }, this.image, this.shapes);
    this.handles = s('g', { class: 'handles' });
    svg.append(this.scene, this.handles);
    loupe.append(s('use', { href: '#scene' }), s('path', { class: 'cross' }));
    this.pointers = new Map();
    this.ontap = null;
    this.focused = null;
    svg.addEventListener('pointerdown', (e) => this.#down(e));
    svg.addEventListener('pointermove', (e) => this.#move(e));
    for (const end of ['pointerup', 'pointercancel']) svg.addEventListener(end, (e) => this.#up(e));
    svg.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.zoom(e.deltaY < 0 ? 1.25 : 0.8, this.toPicture(e));
    }, { passive: false });
    new ResizeObserver(() => this.refresh()).observe(svg);
  }

  setSize(width, height) {
    if (this.size[0] === width && this.size[1] === height) return;
    this.size = [width, height];
    this.image.setAttribute('width', width);
    this.image.setAttribute('height', height);
    this.svg.parentElement.style.aspectRatio = `${width} / ${height}`;
    this.whole();
  }

  setPicture(url) {
    this.image.setAttribute('href', url);
  }

  whole() {
    this.box = [0, 0, ...this.size];
    this.refresh();
  }

  // About a picture point, which stays where it is on the screen.
  zoom(by, about) {
    const [w, h] = this.size;
    const [x, y, bw] = this.box;
    const wide = Math.min(w, Math.max(w / 16, bw / by));
    const k = wide / bw;
    const [ax, ay] = about ?? [x + bw / 2, y + (bw * h) / w / 2];
    this.box = [ax - (ax - x) * k, ay - (ay - y) * k, wide, (wide * h) / w];
    this.refresh();
  }

  refresh() {
    const [w, h] = this.size;
    const [, , bw, bh] = this.box;
    this.box[0] = Math.min(Math.max(this.box[0], 0), w - bw);
    this.box[1] = Math.min(Math.max(this.box[1], 0), h - bh);
    this.svg.setAttribute('viewBox', this.box.join(' '));
    const wide = this.svg.clientWidth || 1;
    // picture pixels a css pixel
    this.grain = bw / wide;
    this.svg.style.setProperty('--grain', this.grain);
    for (const g of this.handles.children) this.#place(g);
  }

  toPicture(event) {
    const r = this.svg.getBoundingClientRect();
    return [
      this.box[0] + ((event.clientX - r.left) / r.width) * this.box[2] - 0.5,
      this.box[1] + ((event.clientY - r.top) / r.height) * this.box[3] - 0.5,
    ];
  }

  clear() {
    this.shapes.replaceChildren();
    this.handles.replaceChildren();
    this.loupe.setAttribute('hidden', '');
  }

  path(d, kind) {
    if (!d) return null;
    const path = s('path', { d, class: kind });
    this.shapes.append(path);
    return path;
  }

  text(at, said, kind) {
    if (!at) return;
    this.shapes.append(s('text', { x: at[0], y: at[1], class: kind }, said));
  }

  // Something to drag. moved(px) while it is, dropped(px) at the end.
  handle(at, name, kind, moved, dropped) {
    if (!at) return;
    const g = s('g', { class: `handle ${kind ?? ''}`, tabindex: 0, role: 'button', 'aria-label': name },
      s('circle', { r: HANDLE + 7, class: 'reach' }), s('circle', { r: HANDLE, class: 'disc' }),
      s('text', {}, name.length <= 2 ? name : ''));
    g.at = at;
    this.#place(g);
    g.addEventListener('pointerdown', (e) => {
      e.stopPropagation();
      this.focused = null;
      g.setPointerCapture(e.pointerId);
      const from = this.toPicture(e);
      // the finger need not hit the middle
      const slip = [g.at[0] - from[0], g.at[1] - from[1]];
      const follow = (m) => {
        const p = this.toPicture(m);
        g.at = [p[0] + slip[0], p[1] + slip[1]];
        this.#place(g);
        this.look(g.at);
        moved(g.at);
      };
      const end = () => {
        g.removeEventListener('pointermove', follow);
        this.loupe.setAttribute('hidden', '');
        dropped(g.at);
      };
      g.addEventListener('pointermove', follow);
      g.addEventListener('lostpointercapture', end, { once: true });
    });
    g.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (!step) return;
      e.preventDefault();
      this.focused = name;
      const by = e.shiftKey ? 10 : 1;
      g.at = [g.at[0] + step[0] * by, g.at[1] + step[1] * by];
      this.#place(g);
      moved(g.at);
      dropped(g.at);
    });
    this.handles.append(g);
    // drawn anew after each step of the keys: these go on with the same one
    if (this.focused === name) g.focus({ preventScroll: true });
    return g;
  }

  #place(g) {
    g.setAttribute('transform', `translate(${g.at[0] + 0.5} ${g.at[1] + 0.5}) scale(${this.grain})`);
  }

  // The surroundings of a point, larger, in the corner that the finger is not in.
  look(at) {
    const half = this.grain * 22;
    const [x, y] = [at[0] + 0.5, at[1] + 0.5];
    this.loupe.setAttribute('viewBox', `${x - half} ${y - half} ${2 * half} ${2 * half}`);
    this.loupe.querySelector('.cross').setAttribute('d', `M${x - half} ${y}H${x + half}M${x} ${y - half}V${y + half}`);
    const left = (at[0] - this.box[0]) / this.box[2] < 0.5;
    this.loupe.classList.toggle('right', left);
    this.loupe.removeAttribute('hidden');
  }

  #down(e) {
    this.svg.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY, from: [e.clientX, e.clientY], far: false });
  }

  #move(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    const [dx, dy] = [e.clientX - p.x, e.clientY - p.y];
    p.far ||= Math.hypot(e.clientX - p.from[0], e.clientY - p.from[1]) > TAP;
    if (this.pointers.size === 1 && p.far) {
      this.box[0] -= dx * this.grain;
      this.box[1] -= dy * this.grain;
      this.refresh();
    } else if (this.pointers.size === 2) {
      const other = [...this.pointers.entries()].find(([id]) => id !== e.pointerId)[1];
      other.far = p.far = true;
      const before = Math.hypot(p.x - other.x, p.y - other.y);
      const after = Math.hypot(e.clientX - other.x, e.clientY - other.y);
      const middle = { clientX: (e.clientX + other.x) / 2, clientY: (e.clientY + other.y) / 2 };
      if (before > 5) this.zoom(after / before, this.toPicture(middle));
    }
    [p.x, p.y] = [e.clientX, e.clientY];
  }

  #up(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    if (p && !p.far && e.type === 'pointerup' && this.ontap) this.ontap(this.toPicture(e));
  }
}
