// The lens from views of the board, or skipped.
import { button, h, lines, prints } from './dom.js';

export default {
  name: 'Lens',
  title: 'The lens',

  enter(app) {
    this.state = h('div', { class: 'group' });
    app.panel.append(
      h('p', {}, 'A wide lens, one that bends straight lines, has to be calibrated with a printed board. An ordinary one need not: its focal length follows from the cards.'),
      prints('board', 'Print the board at 100 % and glue it on a flat plate:'),
      h('div', { class: 'row' },
        button('Skip: an ordinary lens', () => app.post('/api/lens/skip'), 'main'),
        button('Collect views of the board', async () => {
          if (app.state.live?.kind === 'practice') await app.post('/api/camera/practise', { lay: 'board' });
          await app.post('/api/lens/start');
        })),
      this.state,
    );
  },

  update(app) {
    const { lens_job: job, progress } = app.state;
    app.view.clear();
    if (job) {
      const [w, hh] = app.view.size;
      job.coverage.forEach((row, j) => row.forEach((n, i) => {
        const [dx, dy] = [w / row.length, hh / job.coverage.length];
        const d = `M${i * dx + 3} ${j * dy + 3}h${dx - 6}v${dy - 6}h${6 - dx}z`;
        app.view.path(d, `cell ${n >= 10 ? 'full' : n ? 'some' : 'none'}`);
      }));
      for (const [x, y] of job.outline) app.view.path(`M${x - 4} ${y}h8M${x} ${y - 4}v8`, 'corner');
    }
    document.getElementById('under').textContent = job ? 'Green: the board has been here' : '';
    this.state.replaceChildren(...(job ? [
      h('p', { class: 'big' }, `${job.views} of ${job.enough} views`),
      h('progress', { max: job.enough, value: String(Math.min(job.views, job.enough)) }),
      h('p', { id: 'lens-said' }, job.running ? job.said : 'Collected.'),
      job.missing.length ? h('p', { class: 'notice' }, `Next: ${job.missing[0]}`) : h('p', { class: 'good' }, 'Enough; more makes it better.'),
      button('Make the lens', () => app.post('/api/lens/solve'), job.missing.length ? '' : 'main'),
    ] : progress.lens ? [
      progress.lens.skipped
        ? h('p', { class: 'good' }, 'Skipped: the focal length comes with the pose.')
        : h('div', {}, lines(progress.lens.said), h('img', { class: 'wide', src: `/lens.jpg?${Date.now()}`, alt: 'Where the board was, and how far each corner is off' })),
    ] : []));
  },
};
