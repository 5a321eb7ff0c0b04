// Where the spots are: from the printed circles or an arc, then dragged over the live picture.
import { button, field, h, number, select } from './dom.js';

const AREAS = { rack: [-170, 15, 170, 120], shoe: [380, 60, 540, 240], discard: [-540, 60, -400, 200] };
const round = (v) => Math.round(v * 10) / 10;

export default {
  name: 'Layout',
  title: 'Where are the spots?',

  enter(app) {
    this.felt = structuredClone(app.state.layout);
    this.start = h('div', { class: 'group' });
    this.more = h('div', { class: 'group' });
    app.panel.append(this.start, this.more);
    this.build(app);
  },

  build(app) {
    const felt = this.felt;
    const seats = select([5, 6, 7].map((n) => [String(n), String(n)]), String(felt?.n ?? 6));
    const first = felt ? (Math.atan2(felt.spots[0][1] - felt.cy, felt.spots[0][0] - felt.cx) * 180) / Math.PI : 158;
    const values = { radius: felt?.spot_r ?? 600, first: round(first < 0 ? first + 360 : first), cy: felt?.cy ?? 60, circle: felt?.circle_r ?? 45 };
    const inputs = Object.fromEntries(Object.entries(values).map(([k, v]) => [k, number(round(v))]));
    const labels = { radius: 'radius of the arc, mm', first: 'seat 1 at, degrees', cy: 'its middle from the dealer’s edge, mm', circle: 'radius of a circle, mm' };
    this.start.replaceChildren(
      h('p', {}, felt ? 'Every ring should lie on its print. Drag what does not; a dragged thing is kept at once.'
        : 'Begin with the printed circles, or with the arc of the usual felt.'),
      h('div', { class: 'row' }, field('Seats', seats),
        button('Find the printed circles', () => this.redo(app, '/api/layout/print', { seats: Number(seats.value) }), felt ? '' : 'main'),
        button('The usual felt', () => {
          const n = Number(seats.value);
          return this.redo(app, '/api/layout/arc', { seats: n, radius: n === 7 ? 640 : 600, first: { 5: 152, 6: 158, 7: 164 }[n], cy: 60, circle: 45 });
        })),
      h('details', {}, h('summary', {}, 'The arc in numbers'),
        h('div', { class: 'row' }, ...Object.entries(inputs).map(([k, i]) => field(labels[k], i))),
        button('Use these', () => this.redo(app, '/api/layout/arc', {
          seats: Number(seats.value),
          ...Object.fromEntries(Object.entries(inputs).map(([k, i]) => [k, Number(i.value)])),
        }))),
    );
    this.more.replaceChildren(...(felt ? this.extras(app, felt) : []));
  },

  extras(app, felt) {
    const name = h('input', { type: 'text', placeholder: '21+3', 'aria-label': 'name of a side bet', maxlength: 24 });
    const areas = Object.keys(AREAS).map((a) => h('label', { class: 'tick' }, h('input', {
      type: 'checkbox', checked: Boolean(felt.areas?.[a]), 'data-area': a,
      onchange: (e) => {
        felt.areas = { ...felt.areas };
        if (e.target.checked) felt.areas[a] = [...AREAS[a]]; else delete felt.areas[a];
        this.save(app);
      },
    }), a === 'discard' ? 'discard rack' : a));
    return [
      h('h3', {}, 'What else is on this table'),
      h('div', { class: 'row' },
        h('label', { class: 'tick' }, h('input', {
          type: 'checkbox', checked: felt.insurance_r !== null,
          onchange: (e) => { felt.insurance_r = e.target.checked ? round(0.67 * felt.spot_r) : null; this.save(app); },
        }), 'insurance line'), ...areas),
      h('div', { class: 'row' }, h('span', {}, 'Side bets:'),
        ...Object.keys(felt.side).map((n) => button(`${n} ✕`, () => { delete felt.side[n]; this.save(app); }, 'plain')),
        name, button('Add', () => {
          const said = name.value.trim();
          if (!said || felt.side[said]) return;
          felt.side[said] = felt.spots.map((p) => this.inward(felt, p, 85 + 60 * Object.keys(felt.side).length));
          this.save(app);
        })),
    ];
  },

  // A point so many mm from a spot toward the middle of the arc.
  inward(felt, [x, y], mm) {
    const d = Math.hypot(felt.cx - x, felt.cy - y);
    return [round(x + ((felt.cx - x) / d) * mm), round(y + ((felt.cy - y) / d) * mm)];
  },

  async redo(app, path, body) {
    if (await app.post(path, body)) {
      this.felt = structuredClone(app.state.layout);
      this.build(app);
      this.draw(app);
    }
  },

  async save(app) {
    const answer = await app.ask('PUT', '/api/layout', this.felt);
    // what was refused is dragged back
    this.felt = structuredClone(app.state.layout);
    this.build(app);
    this.draw(app);
    return Boolean(answer);
  },

  update(app) {
    if (!this.felt && app.state.layout) {
      this.felt = structuredClone(app.state.layout);
      this.build(app);
    }
    document.getElementById('under').textContent = app.state.progress.layout?.said ?? '';
    this.draw(app);
  },

  draw(app, holding = false) {
    const { view, grid } = app;
    const felt = this.felt;
    view.shapes.replaceChildren();
    if (!holding) view.handles.replaceChildren();
    if (!grid || !felt) return;
    felt.spots.forEach((p) => view.path(grid.ring(p, felt.circle_r), 'ring'));
    for (const points of Object.values(felt.side)) points.forEach((p) => view.path(grid.ring(p, felt.side_r), 'ring side'));
    const ends = [felt.spots[0], felt.spots[felt.n - 1]].map(([x, y]) => Math.atan2(y - felt.cy, x - felt.cx));
    const on = (a) => [felt.cx + felt.insurance_r * Math.cos(a), felt.cy + felt.insurance_r * Math.sin(a)];
    if (felt.insurance_r !== null) {
      view.path(grid.path([...Array(41).keys()].map((i) => on(ends[0] + ((ends[1] - ends[0]) * i) / 40))), 'line');
    }
    const [x0, x1, row] = felt.dealer_row;
    view.path(grid.path([[x0, row], [x1, row]]), 'area');
    view.text(grid.toPixel([(x0 + x1) / 2, row - 45]), 'dealer’s cards', 'word');
    for (const [name, [ax, ay, bx, by]] of Object.entries(felt.areas ?? {})) {
      view.path(grid.path([[ax, ay], [bx, ay], [bx, by], [ax, by]], true), 'area');
      view.text(grid.toPixel([(ax + bx) / 2, (ay + by) / 2]), name, 'word');
    }
    if (!holding) this.grips(app);
  },

  grips(app) {
    const { grid } = app;
    const felt = this.felt;
    const grip = (mm, name, kind, set) => app.view.handle(grid.toPixel(mm), name, kind, (px) => {
      const place = grid.toFelt(px);
      if (!place) return;
      set(place.map(round));
      document.getElementById('under').textContent = `${name.length > 2 ? name : `seat ${name}`}: x ${place[0].toFixed(0)}, y ${place[1].toFixed(0)} mm`;
      this.draw(app, true);
    }, () => this.save(app));
    for (const [name, points] of Object.entries(felt.side)) {
      points.forEach((p, i) => grip(p, `${name}, seat ${i + 1}`, 'small', (mm) => { points[i] = mm; }));
    }
    if (felt.insurance_r !== null) {
      grip([felt.cx, felt.cy + felt.insurance_r], 'the insurance line', 'small', ([x, y]) => {
        felt.insurance_r = round(Math.hypot(x - felt.cx, y - felt.cy));
      });
    }
    grip([felt.dealer_row[0], felt.dealer_row[2]], 'left end of the dealer’s cards', 'small', ([x, y]) => { [felt.dealer_row[0], felt.dealer_row[2]] = [x, y]; });
    grip([felt.dealer_row[1], felt.dealer_row[2]], 'right end of the dealer’s cards', 'small', ([x, y]) => { [felt.dealer_row[1], felt.dealer_row[2]] = [x, y]; });
    for (const [name, a] of Object.entries(felt.areas ?? {})) {
      grip([a[0], a[1]], `${name}, one corner`, 'small', ([x, y]) => { [a[0], a[1]] = [x, y]; });
      grip([a[2], a[3]], `${name}, the other corner`, 'small', ([x, y]) => { [a[2], a[3]] = [x, y]; });
    }
    felt.spots.forEach((p, i) => grip(p, String(i + 1), '', (mm) => { felt.spots[i] = mm; }));
  },
};
