// A card is asked for; the table says when it sees it.
import { button, h, lines } from './dom.js';

const PERIOD = 700;

export default {
  name: 'Test deal',
  title: 'Does it see?',

  enter(app) {
    this.over = false;
    this.task = h('p', { class: 'big', id: 'deal' }, 'Opening the eyes …');
    this.seen = h('p', { class: 'verdict', id: 'deal-said' });
    this.list = h('div', { class: 'group' });
    this.practise = h('span');
    app.panel.append(this.task, this.seen,
      h('div', { class: 'row' }, this.practise,
        app.state.live?.kind === 'folder' ? button('Next picture ▶', () => app.change('/api/camera/picture', { by: 1 }), 'plain') : null,
        button('Another card', async () => { await app.post('/api/deal/ask'); this.seen.textContent = ''; }),
        button('It lies there, but is not seen', () => app.post('/api/deal/missed'), 'plain'),
        button('Skip', () => app.post('/api/deal/skip'), 'plain')),
      this.list);
    this.look(app);
  },

  leave() {
    this.over = true;
  },

  async look(app) {
    if (this.over) return;
    const answer = await app.ask('POST', '/api/deal/look', {}, true);
    if (this.over) return;
    if (answer) {
      this.task.textContent = `Lay the ${answer.name} on seat ${answer.seat}`;
      this.seen.textContent = answer.said;
      this.seen.className = `verdict ${answer.seen ? 'steady' : ''}`;
      if (app.state.live?.kind === 'practice') {
        this.practise.replaceChildren(button('Lay it', () => app.change('/api/camera/practise', { lay: `${answer.card}@${answer.seat}` }), 'main'));
      }
      this.draw(app, answer);
      if (answer.seen && !this.counted) await app.ask('GET', '/api/state', undefined, true);
      this.counted = answer.seen;
    }
    setTimeout(() => this.look(app), PERIOD);
  },

  draw(app, answer) {
    const { view, grid } = app;
    const felt = app.state.layout;
    view.clear();
    if (!grid || !felt) return;
    felt.spots.forEach((p, i) => {
      view.path(grid.ring(p, felt.circle_r), i + 1 === answer.seat ? 'ring wanted' : 'ring');
      view.text(grid.toPixel(p), String(i + 1), 'word');
    });
    for (const c of answer.sights) view.text(grid.toPixel([c.x, c.y]), c.card ?? '?', c.card === answer.card ? 'word right' : 'word');
  },

  update(app) {
    const { deals } = app.state.progress;
    const said = deals.map((d) => `${d.card} on seat ${d.seat}: ${d.seconds === null ? 'not seen' : `seen after ${d.seconds.toFixed(0)} s`}`);
    this.list.replaceChildren(...(said.length ? [h('h3', {}, 'So far'), lines(said)] : []));
  },
};
