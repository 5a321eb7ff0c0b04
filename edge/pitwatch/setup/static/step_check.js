// What this mounting can judge, place by place.
import { button, h, lines } from './dom.js';

const VERDICTS = { good: 'all', some: 'in part', none: 'nothing' };
const cards = { 'ranks and suits': 'ranks and suits', ranks: 'ranks only', none: 'none' };
const chips = (r) => (r.chips === 'heights' ? 'by height only' : r.chips_said || '–');

export default {
  name: 'Check',
  title: 'What can be judged from here?',

  enter(app) {
    this.result = h('div', { class: 'group', id: 'check' });
    app.panel.append(
      h('p', {}, 'Clear the table. Its picture is also what the camera is compared with later, to notice that it was bumped.'),
      h('div', { class: 'row' }, button('Check now', async () => {
        if (app.state.live?.kind === 'practice') await app.change('/api/camera/practise', { lay: 'nothing' });
        await app.post('/api/check');
      }, 'main'),
      app.state.live?.kind === 'folder' ? button('Next picture ▶', () => app.change('/api/camera/picture', { by: 1 }), 'plain') : null),
      this.result,
    );
  },

  update(app) {
    const { check, pose } = app.state.progress;
    const sure = Object.fromEntries((pose?.spread ?? []).map((s) => [s.place, s.mm]));
    if (!check) {
      this.result.replaceChildren();
      return;
    }
    this.result.replaceChildren(
      h('table', { class: 'figures' },
        h('thead', {}, h('tr', {}, ...['', 'cards', 'chips', '± mm', 'judged'].map((t) => h('th', { scope: 'col' }, t)))),
        h('tbody', {}, ...check.rows.map((r) => h('tr', { class: r.verdict === 'good' ? 'fine' : r.verdict },
          h('th', { scope: 'row' }, r.place),
          h('td', {}, r.in_view ? `${cards[r.cards]}` : 'not in the picture', h('small', {}, `index ${r.index_px.toFixed(1)} px`)),
          h('td', {}, chips(r), r.layer_px === null ? null : h('small', {}, `${r.layer_px.toFixed(1)} px a chip`)),
          h('td', {}, this.mm(sure[r.seat === 0 ? 'dealer\'s cards' : r.place])),
          h('td', {}, h('b', {}, VERDICTS[r.verdict]), r.faults.length ? h('small', {}, r.faults.join(', ')) : null))))),
      h('h3', {}, 'What would help'),
      lines(check.advice),
      h('a', { href: `/check.jpg?${check.when}`, target: '_blank' },
        h('img', { class: 'wide', src: `/check.jpg?${check.when}`, alt: 'The verdicts over the picture' })),
    );
  },

  mm: (v) => (v === undefined ? '–' : v.toFixed(1)),
};
