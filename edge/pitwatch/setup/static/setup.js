// The wizard: which step it stands at, the live picture, and what the server answers.
import { h } from './dom.js';
import { Grid } from './grid.js';
import { View } from './view.js';
import camera from './step_camera.js';
import lens from './step_lens.js';
import pose from './step_pose.js';
import layout from './step_layout.js';
import check from './step_check.js';
import house from './step_house.js';
import deal from './step_deal.js';
import finish from './step_finish.js';

const STEPS = { camera, lens, pose, layout, check, house, deal, finish };
const el = (id) => document.getElementById(id);
const PICTURE_MS = 350, STATE_MS = 1500;

const view = new View(el('picture'), el('loupe'));

// What every step works with. state: the server's; still: the held picture is shown instead of the live one.
const app = {
  state: null,
  view,
  panel: el('panel'),
  grid: null,
  still: false,
  step: null,

  // Ask the server; its state is taken over. A refusal is shown, and undefined returned.
  async ask(method, path, body, quiet = false) {
    if (!quiet) {
      refuse('');
      working(1);
    }
    try {
      const answer = await fetch(path, {
        method,
        headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      }).catch(() => null);
      const value = await answer?.json().catch(() => null);
      if (answer?.status === 403) location.replace('/enter');
      if (!answer?.ok || !value) {
        if (!quiet) refuse(value?.error ?? value?.detail ?? 'The wizard does not answer; is `pitwatch setup` still running? What was done is kept.');
        return undefined;
      }
      if (value.steps) await this.take(value);
      return value;
    } finally {
      if (!quiet) working(-1);
    }
  },

  post(path, body) {
    return this.ask('POST', path, body ?? {});
  },

  async take(state) {
    const before = JSON.stringify(this.state?.camera ?? null);
    this.state = state;
    if (JSON.stringify(state.camera) !== before) {
      this.grid = null;
      if (state.camera) {
        const answer = await fetch('/api/grid');
        this.grid = answer.ok ? new Grid(await answer.json()) : null;
      }
    }
    if (state.live) view.setSize(state.live.width, state.live.height);
    show();
  },

  // Hold the picture of now, or go on with the live one.
  async hold() {
    if ((await this.post('/api/still')) === undefined) return false;
    this.still = true;
    await load(`/still.jpg?${Date.now()}`);
    return true;
  },

  live() {
    this.still = false;
  },

  // The picture changes because of something that was asked for: no longer the held one.
  async change(path, body) {
    this.still = false;
    await this.post(path, body);
    await load(`/picture.jpg?${Date.now()}`);
  },

  refuse,
};

function refuse(text) {
  el('refused').textContent = text ? text[0].toUpperCase() + text.slice(1) : '';
  el('refused').hidden = !text;
  if (text) el('refused').scrollIntoView({ block: 'nearest' });
}

let waiting = 0;
function working(by) {
  waiting += by;
  document.body.classList.toggle('working', waiting > 0);
  if (waiting === 0) el('busy').textContent = '';
}

// The held or live picture; the last one stays until the next is there.
let shown = null, seen = '';
async function load(url, live = false) {
  const answer = await fetch(url).catch(() => null);
  // a picture may have been held in the meantime
  if (answer?.status === 204 || (live && app.still)) return;
  if (!answer?.ok) {
    const said = answer ? await answer.json().catch(() => ({})) : {};
    el('waiting').textContent = said.error ?? said.detail ?? 'No picture: the wizard does not answer';
    el('waiting').hidden = false;
    return;
  }
  const next = URL.createObjectURL(await answer.blob());
  const image = new Image();
  image.src = next;
  await image.decode().catch(() => null);
  view.setPicture(next);
  el('waiting').hidden = true;
  if (shown) URL.revokeObjectURL(shown);
  shown = next;
  seen = answer.headers.get('X-Picture') ?? '';
}

async function film() {
  if (app.state?.live && !app.still && !document.hidden) await load(`/picture.jpg?seen=${encodeURIComponent(seen)}`, true);
  setTimeout(film, PICTURE_MS);
}

async function poll() {
  if (document.body.classList.contains('working')) {
    // only what is going on; the answer that is waited for brings the rest
    const state = await fetch('/api/state').then((a) => a.json()).catch(() => null);
    if (state && waiting > 0) el('busy').textContent = state.busy ? `${state.busy} …` : '';
  } else if (app.state?.lens_job?.running || !app.state) {
    await app.ask('GET', '/api/state', undefined, true);
  }
  setTimeout(poll, app.state?.lens_job?.running ? 400 : STATE_MS);
}

function show() {
  const { state } = app;
  const name = state.progress.house?.name;
  el('table').textContent = name ? name : '';
  el('steps').replaceChildren(...state.steps.map((step) => {
    const done = state.done.includes(step);
    const here = state.progress.step === step;
    return h('li', {}, h('button', {
      type: 'button',
      class: `${done ? 'done' : ''} ${here ? 'here' : ''}`,
      'aria-current': here ? 'step' : null,
      'data-step': step,
      onclick: () => app.post('/api/step', { step }),
    }, STEPS[step].name));
  }));
  el('mismatch').replaceChildren(...state.mismatch.map((m) => h('li', {}, m)));
  el('mismatch').hidden = state.mismatch.length === 0;
  const step = state.progress.step;
  if (app.step !== step) {
    STEPS[app.step]?.leave?.(app);
    app.step = step;
    app.still = false;
    view.ontap = null;
    view.clear();
    el('under').textContent = '';
    refuse('');
    el('title').textContent = STEPS[step].title;
    el('seen').hidden = Boolean(STEPS[step].blind);
    document.body.dataset.step = step;
    app.panel.replaceChildren();
    STEPS[step].enter(app);
    el('steps').querySelector('.here')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    el('panel-side').scrollTop = 0;
  }
  STEPS[step].update?.(app);
  const at = state.steps.indexOf(step);
  el('back').hidden = at === 0;
  el('next').hidden = at === state.steps.length - 1;
  el('next').disabled = !state.done.includes(step);
}

function turn(by) {
  const { steps, progress } = app.state;
  app.post('/api/step', { step: steps[steps.indexOf(progress.step) + by] });
}

el('back').addEventListener('click', () => turn(-1));
el('next').addEventListener('click', async () => {
  // what a step has not sent yet, like a form, goes first
  const ready = await STEPS[app.step].done?.(app);
  if (ready !== false) turn(1);
});
el('zoom').addEventListener('click', (e) => {
  const how = e.target.dataset?.zoom;
  if (how === 'whole') view.whole();
  else if (how) view.zoom(how === 'in' ? 1.6 : 0.625);
});

globalThis.pitwatchSetup = app;
await app.ask('GET', '/api/state');
film();
poll();
