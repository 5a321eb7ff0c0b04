// The end: who did it, the table's file, the sheet and the backup.
import { button, field, h } from './dom.js';

export default {
  name: 'Finish',
  title: 'Finish',

  enter(app) {
    const who = h('input', { type: 'text', id: 'who', autocomplete: 'name', maxlength: 80, value: app.state.progress.finish?.who ?? '' });
    this.files = h('div', { class: 'group', id: 'files' });
    app.panel.append(
      field('Set up by', who),
      button('Write the table’s file', () => app.post('/api/finish', { who: who.value }), 'main'),
      this.files,
    );
  },

  update(app) {
    const { finish, house } = app.state.progress;
    this.draw(app);
    const open = { target: '_blank', rel: 'noopener' };
    this.files.replaceChildren(...(finish ? [
      h('p', { class: 'good' }, `Table ${house.name} is set up.`),
      h('ul', { class: 'files' },
        h('li', {}, h('a', { href: '/commissioning.pdf', ...open }, 'Commissioning sheet'), h('small', {}, 'PDF, to print and sign')),
        h('li', {}, h('a', { href: '/backup.zip', download: `${house.name}-backup.zip` }, 'Backup'),
          h('small', {}, 'keep it elsewhere: a swapped device goes on from it with pitwatch setup --restore')),
        h('li', {}, h('a', { href: '/table.toml', ...open }, 'The table’s file'), h('small', {}, app.state.folder))),
      h('p', {}, 'To watch this table:'),
      h('pre', {}, `pitwatch watch --table ${app.state.folder}/table.toml --page`),
    ] : [h('p', { class: 'soft' }, 'Nothing has been written to the table’s file yet.')]));
  },

  draw(app) {
    const { view, grid } = app;
    const felt = app.state.layout;
    view.clear();
    if (!grid || !felt) return;
    const rows = Object.fromEntries((app.state.progress.check?.rows ?? []).map((r) => [r.seat, r.verdict]));
    felt.spots.forEach((p, i) => {
      view.path(grid.ring(p, felt.circle_r), `ring ${rows[i + 1] ?? ''}`);
      view.text(grid.toPixel(p), String(i + 1), 'word');
    });
    for (const points of Object.values(felt.side)) points.forEach((p) => view.path(grid.ring(p, felt.side_r), 'ring side'));
    const [x0, x1, row] = felt.dealer_row;
    view.path(grid.path([[x0, row], [x1, row]]), 'area');
    for (const [name, [ax, ay, bx, by]] of Object.entries(felt.areas ?? {})) {
      view.path(grid.path([[ax, ay], [bx, ay], [bx, by], [ax, by]], true), 'area');
      view.text(grid.toPixel([(ax + bx) / 2, (ay + by) / 2]), name, 'word');
    }
  },
};
