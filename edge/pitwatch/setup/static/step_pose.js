// How the camera stands: from cards, tapped points, the board or tags.
import { button, field, h, lines, number, prints, select } from './dom.js';

const METHODS = [['cards', 'Cards'], ['points', 'Known points'], ['board', 'Board'], ['tags', 'Tags']];
const SEATS = [5, 6, 7].map((n) => [String(n), `${n} seats`]);
const TAGS = { 0: [-520, 120], 1: [520, 120], 2: [-330, 560], 3: [330, 560], 4: [0, 420] };

export default {
  name: 'Pose',
  title: 'How does the camera stand?',
  method: 'cards',
  seats: '6',
  anchor: 'edge',
  edge: null,
  tapped: [],
  outlines: [],
  paper: 'a3',
  bar: '100',
  at: [0, 330, 0],
  laid: TAGS,

  enter(app) {
    this.seats = String(app.state.layout?.n ?? this.seats);
    this.tabs = h('div', { class: 'tabs', role: 'tablist' });
    this.body = h('div', { class: 'group' });
    this.result = h('div', { class: 'group', id: 'pose-result' });
    app.panel.append(this.tabs, this.body, this.result);
    app.view.ontap = (px) => this.tap(app, px);
    this.build(app);
  },

  leave() {
    this.outlines = [];
  },

  build(app) {
    const practice = app.state.live?.kind === 'practice';
    this.tabs.replaceChildren(...METHODS.map(([key, text]) => h('button', {
      type: 'button', role: 'tab', 'aria-selected': String(this.method === key), 'data-method': key,
      onclick: () => { this.method = key; this.build(app); this.draw(app); },
    }, text)));
    const hold = h('div', { class: 'row' },
      button(app.still ? 'Live picture again' : 'Hold the picture', async () => {
        if (app.still) app.live(); else await app.hold();
        this.build(app);
      }, 'plain'),
      app.state.live?.kind === 'folder' ? button('Next picture ▶', async () => {
        await app.change('/api/camera/picture', { by: 1 });
        this.build(app);
      }, 'plain') : null,
      practice && this.method === 'cards' ? button('Lay the cards', () => app.change('/api/camera/practise', { lay: 'cards' }), 'plain') : null);
    this.body.replaceChildren(...this[this.method](app), hold,
      h('div', { class: 'row' }, button('Find out', () => this.solve(app), 'main')));
  },

  choose(app, key) {
    return (e) => { this[key] = e.target.value; this.build(app); this.draw(app); };
  },

  cards(app) {
    const anchors = [['edge', 'printed circles'], ['points', 'measured points']];
    return [
      h('p', {}, 'Lay ', h('b', {}, 'six to ten cards'), ' face up, flat and apart from each other, all over the felt. They are the ruler.'),
      h('div', { class: 'row' },
        field('The felt has', select(SEATS, this.seats, this.choose(app, 'seats'))),
        field('Its place from', select(anchors, this.anchor, this.choose(app, 'anchor')))),
      this.anchor === 'edge'
        ? h('p', { class: 'task' }, this.edge ? 'The middle of the dealer’s edge is marked; tap again to move it.'
          : 'Tap the middle of the dealer’s edge in the picture.')
        : this.known(app, 'Tap two points whose place you measured.'),
    ];
  },

  points(app) {
    return [this.known(app, 'Tap four points or more, better six, all over the felt, and say which they are.')];
  },

  board(app) {
    const papers = ['a3', 'a4', 'letter', 'tabloid'].map((p) => [p, p.toUpperCase()]);
    const set = (i) => (e) => { this.at[i] = Number(e.target.value); };
    return [
      h('p', {}, 'Lay the board flat, its text upright for the dealer, the middles of its sides on marks; or lay it anywhere and tap two points that you measured.'),
      prints('board', 'To print:'),
      h('div', { class: 'row' },
        field('Paper', select(papers, this.paper, this.choose(app, 'paper'))),
        field('Its 100 mm bar measures', number(this.bar, { onchange: (e) => { this.bar = e.target.value; } }), 'mm')),
      h('div', { class: 'row' },
        field('Its middle: x', number(this.at[0], { onchange: set(0) }), 'mm'),
        field('y', number(this.at[1], { onchange: set(1) }), 'mm'),
        field('turned', number(this.at[2], { onchange: set(2) }), '°')),
      this.known(app, 'Or tap two points instead:'),
    ];
  },

  tags() {
    return [
      h('p', {}, 'Lay four tags or more, as far apart as the felt allows, and say where their middles are (mm).'),
      prints('tags', 'To print:'),
      ...Object.entries(this.laid).map(([id, place]) => h('div', { class: 'row' }, h('b', {}, `Tag ${id}`),
        ...[0, 1].map((k) => field('xy'[k], number(place[k], { onchange: (e) => { place[k] = Number(e.target.value); } }))))),
    ];
  },

  // The tapped points, each with its place; places that the usual felt knows can be picked by name.
  known(app, task) {
    const named = this.places(app);
    return h('div', { class: 'group' }, h('p', { class: 'task' }, task), h('ol', { class: 'points' },
      ...this.tapped.map((p, i) => h('li', {},
        select([['', 'own'], ...named.map((n, k) => [String(k), n.name])], p.named, (e) => {
          p.named = e.target.value;
          if (p.named) p.mm = [...named[Number(p.named)].mm];
          this.build(app);
        }),
        ...[0, 1].map((k) => h('label', {}, 'xy'[k], number(p.mm[k], {
          'aria-label': `point ${i + 1}, ${'xy'[k]} in mm`,
          onchange: (e) => { p.mm[k] = e.target.value === '' ? null : Number(e.target.value); p.named = ''; },
        }))),
        button('✕', () => { this.tapped.splice(i, 1); this.build(app); this.draw(app); }, 'plain')))));
  },

  places(app) {
    const felt = app.state.layout;
    const spots = felt?.spots ?? app.usual?.[this.seats] ?? [];
    return [{ name: 'dealer’s edge, middle', mm: [0, 0] }, ...spots.map((mm, i) => ({ name: `seat ${i + 1}’s circle`, mm }))];
  },

  async tap(app, px) {
    const needed = this.method !== 'tags' && !(this.method === 'cards' && this.anchor === 'edge');
    app.refuse('');
    if (!app.still && !(await app.hold())) return;
    if (this.method === 'cards' && this.anchor === 'edge') this.edge = px;
    else if (needed) this.tapped.push({ px, mm: [null, null], named: '' });
    this.build(app);
    this.draw(app);
  },

  async solve(app) {
    const asked = { method: this.method, seats: Number(this.seats) };
    const points = this.tapped.map((p) => ({ px: p.px, mm: p.mm }));
    const complete = points.every((p) => p.mm.every((v) => v !== null));
    const wanted = this.method === 'points' || this.method === 'board' || (this.method === 'cards' && this.anchor === 'points');
    if (wanted && !complete) return app.refuse('a tapped point has no place yet: say where it is, or take it out');
    if (wanted) asked.points = points;
    if (this.method === 'cards' && this.anchor === 'edge') asked.edge = this.edge;
    if (this.method === 'board') {
      asked.paper = this.paper;
      asked.bar_mm = Number(this.bar);
      if (points.length < 2) { asked.at = this.at; asked.points = []; }
    }
    if (this.method === 'tags') asked.tags = this.laid;
    if (!app.still && !(await app.hold())) return undefined;
    const answer = await app.post('/api/pose', asked);
    if (answer) this.outlines = answer.outlines;
    this.build(app);
    this.draw(app);
    if (answer) this.result.scrollIntoView({ block: 'nearest' });
    return undefined;
  },

  update(app) {
    const { pose } = app.state.progress;
    this.result.replaceChildren(...(pose ? [
      h('p', { class: 'good' }, 'Known. The blue grid should lie on the felt, 100 mm a square.'),
      lines(pose.said),
      pose.spread.length ? h('table', { class: 'figures' },
        h('caption', {}, 'How sure each place is (one standard deviation)'),
        h('tbody', {}, ...pose.spread.map((p) => h('tr', { class: p.mm > 5 ? 'none' : p.mm > 3 ? 'some' : 'fine' },
          h('th', { scope: 'row' }, p.place), h('td', {}, `± ${p.mm.toFixed(1)} mm`))))) : null,
    ].filter(Boolean) : []));
    this.draw(app);
  },

  draw(app) {
    const { view, grid } = app;
    view.clear();
    if (grid && app.state.progress.pose) {
      const along = [...Array(31).keys()].map((i) => -100 + i * 40);
      for (let x = -900; x <= 900; x += 100) view.path(this.seen(grid, along.map((y) => [x, y])), x ? 'grid' : 'grid axis');
      const across = [...Array(46).keys()].map((i) => -900 + i * 40);
      for (let y = 0; y <= 900; y += 100) view.path(this.seen(grid, across.map((x) => [x, y])), y ? 'grid' : 'grid axis');
    }
    for (const o of this.outlines) view.path(`M${o.map((p) => p.join(' ')).join('L')}Z`, 'card');
    if (this.method === 'cards' && this.anchor === 'edge' && this.edge) {
      view.handle(this.edge, 'the middle of the dealer’s edge', 'edge', () => {}, (px) => { this.edge = px; });
    } else if (this.method !== 'tags') {
      this.tapped.forEach((p, i) => view.handle(p.px, String(i + 1), '', () => {}, (px) => { p.px = px; }));
    }
  },

  // Only what the camera can see of a line.
  seen(grid, points) {
    return points.slice(1).map((p, i) => grid.path([points[i], p])).join('');
  },
};
