// Choose the camera, look at its picture, lock its controls.
import { button, field, h, lines, select } from './dom.js';

const SIZES = [['3840x2160', 'the largest'], ['1920x1080', '1920 × 1080'], ['1280x720', '1280 × 720']];

export default {
  name: 'Camera',
  title: 'Which camera looks at this table?',

  enter(app) {
    this.list = h('div', { class: 'choices', id: 'cameras' });
    this.size = select(SIZES, '3840x2160');
    this.own = h('input', { type: 'text', id: 'source', placeholder: '/home/me/table.mp4 or a folder', value: '' });
    this.folder = h('div', { class: 'row' });
    this.controls = h('div', { class: 'group' });
    this.again = h('div', { class: 'group' });
    app.panel.append(
      this.list,
      h('div', { class: 'row' }, button('Look again', () => this.look(app)), field('Resolution', this.size)),
      h('details', {}, h('summary', {}, 'A recording instead, or no camera at all'),
        h('div', { class: 'row' }, field('File or folder', this.own),
          button('Open', () => this.open(app, this.own.value))),
        h('p', { class: 'soft' }, 'To practise, a drawn table can be set up: it lays out by itself what each step asks for.'),
        button('Practise', () => this.open(app, 'sim:'))),
      this.folder, this.again, this.controls,
    );
    this.look(app);
  },

  async look(app) {
    const found = await app.ask('GET', '/api/cameras', undefined, true);
    const cameras = found?.cameras ?? [];
    this.list.replaceChildren(...cameras.map((c) => h('button', {
      type: 'button',
      disabled: !c.spec,
      class: `choice ${app.state.progress.source?.spec === c.spec ? 'chosen' : ''}`,
      onclick: () => this.open(app, c.spec),
    }, h('b', {}, c.name), h('span', {}, c.detail))));
    if (cameras.length === 0) {
      this.list.append(h('p', { class: 'soft' }, 'No camera is connected to this computer. Plug one in and look again.'));
    }
  },

  async open(app, spec) {
    const size = this.size.value.split('x').map(Number);
    await app.change('/api/camera', { spec, size });
    await this.look(app);
  },

  update(app) {
    const { live, progress, device, controls, restored, reference, live_error } = app.state;
    if (live_error && !live) app.refuse(live_error);
    document.getElementById('under').textContent = live
      ? `${live.width} × ${live.height} pixels, ${progress.source?.card || live.spec}` : '';
    this.folder.replaceChildren(...(live?.kind === 'folder' ? [
      button('◀ Earlier', () => app.change('/api/camera/picture', { by: -1 })),
      h('span', { class: 'soft' }, live.place),
      button('Next ▶', () => app.change('/api/camera/picture', { by: 1 })),
    ] : []));
    this.again.replaceChildren(...(reference && live ? [
      h('p', {}, progress.restored
        ? `This set-up comes from ${progress.restored}. See whether the camera stands as it did:`
        : 'This table was set up before. See whether the camera stands as it did:'),
      button('Compare', async () => {
        const answer = await app.post('/api/camera/stands');
        if (answer) this.again.append(h('p', { class: `verdict ${answer.stands.state}`, id: 'stands' }, answer.stands.said));
      }),
    ] : []));
    this.controls.replaceChildren(...(live ? this.locking(app, device, progress.source, controls) : []));
  },

  locking(app, device, source, controls) {
    if (!device) {
      return [h('p', { class: 'soft' }, 'A recording has no exposure, white balance or focus to lock; a camera has.')];
    }
    const mains = select([['', 'leave as it is'], ['50', '50 Hz'], ['60', '60 Hz']], String(source?.mains_hz ?? ''));
    const knobs = controls.map((c) => field(c.label, h('input', {
      type: 'range', min: c.minimum, max: c.maximum, step: c.step, value: c.value,
      onchange: (e) => app.post('/api/camera/control', { name: c.name, value: Number(e.target.value) }),
    }), String(c.value)));
    const locked = Object.keys(source?.controls ?? {}).length;
    return [
      h('h3', {}, 'Exposure, white balance, focus'),
      h('p', { class: 'soft' }, 'Wait until the picture looks right, with the table’s lamps on; then lock it, so that it stays so.'),
      field('Mains of the lamps', mains),
      button(locked ? 'Lock anew' : 'Lock', () => app.post('/api/camera/lock', { mains_hz: mains.value ? Number(mains.value) : null }), 'main'),
      locked ? h('p', { class: 'good' }, `${locked} controls are locked, read back, and set again at each start.`) : null,
      source?.said?.length ? lines(source.said) : null,
      ...knobs,
    ].filter(Boolean);
  },
};
