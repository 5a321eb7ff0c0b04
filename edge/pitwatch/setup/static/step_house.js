// The table's name, the house's rules, and who is told.
import { button, field, h, select } from './dom.js';

const cents = (text) => (text.trim() === '' ? null : Math.round(Number(text.replace(/[$,]/g, '')) * 100));
const dollars = (v) => (v === null || v === undefined ? '' : String(v / 100));

export default {
  name: 'House',
  title: 'The table and its rules',
  blind: true,

  async enter(app) {
    const house = app.state.progress.house ?? {};
    const text = (id, value, attributes) => h('input', { type: 'text', id, value: value ?? '', autocapitalize: 'off', autocomplete: 'off', ...attributes });
    this.form = {
      name: text('name', house.name, { placeholder: 'BJ-07' }),
      site: text('site', house.site ?? 'casino'),
      rules: select([], ''),
      decks: text('decks', house.decks, { inputmode: 'numeric', placeholder: 'not known' }),
      minimum: text('minimum', dollars(house.minimum), { inputmode: 'decimal', placeholder: 'not judged' }),
      maximum: text('maximum', dollars(house.maximum), { inputmode: 'decimal', placeholder: 'not judged' }),
      mqtt: text('mqtt', house.mqtt, { placeholder: 'mqtt://BJ-07@pit.example', inputmode: 'url' }),
    };
    const f = this.form;
    const about = h('p', { class: 'soft' });
    const broker = h('p', { id: 'broker-said' });
    app.panel.append(
      h('div', { class: 'row' }, field('Table', f.name), field('House', f.site)),
      field('Rules', f.rules), about,
      h('div', { class: 'row' }, field('Decks in the shoe', f.decks), field('Smallest wager, $', f.minimum), field('Largest wager, $', f.maximum)),
      field('Alerts go to (MQTT)', f.mqtt, 'Left empty: a small broker on this computer. The password is never written into a file; it comes from PITWATCH_MQTT_PASSWORD.'),
      h('div', { class: 'row' }, button('Try the broker', async () => {
        broker.textContent = '';
        const answer = await app.post('/api/house/broker', { url: f.mqtt.value.trim() });
        if (answer) broker.textContent = answer.said;
      }, 'plain'), button('Keep', () => this.done(app), 'main')), broker,
    );
    const { rules } = (await app.ask('GET', '/api/rules', undefined, true)) ?? { rules: [] };
    f.rules.replaceChildren(...rules.map((r) => h('option', { value: r.name }, r.document)));
    f.rules.value = house.rules ?? 'greektown';
    const say = () => { about.textContent = rules.find((r) => r.name === f.rules.value)?.short ?? ''; };
    f.rules.addEventListener('change', say);
    say();
    // the form may be complete without having been sent
    document.getElementById('next').disabled = false;
  },

  update() {
    document.getElementById('next').disabled = false;
    queueMicrotask(() => { document.getElementById('next').disabled = false; });
  },

  async done(app) {
    const f = this.form;
    const decks = f.decks.value.trim();
    const answer = await app.ask('PUT', '/api/house', {
      name: f.name.value.trim(),
      site: f.site.value.trim(),
      rules: f.rules.value,
      decks: decks === '' ? null : Number(decks),
      minimum: cents(f.minimum.value),
      maximum: cents(f.maximum.value),
      mqtt: f.mqtt.value.trim(),
    });
    return answer !== undefined;
  },
};
