// One round: replayed on the drawn felt step by step, its transcript, its findings, its evidence.
import { h, icon, s, say, setAttribute, setText, toast } from "../dom.js";
import { drawFelt, rows, standing } from "../felt.js";
import { playClip } from "../clip.js";
import { bind } from "../keys.js";
import { ask, cardsText, pictures, severityTag, stateTag, tableLink, when } from "../parts.js";
import { go, href, note } from "../router.js";
import { clock, count, money, number, seatName, titleOf } from "../words.js";

const PACE = 900; // ms a step while playing

export async function mount(view, place, app, ending) {
  const id = Number(place.parts[1]);
  if (!Number.isSafeInteger(id)) return go(["rounds"], {}, { replace: true });
  let round = await app.api.round(id, ending);
  app.title(`${round.table.name}, round ${round.number}`);
  const steps = round.steps ?? [], findings = round.all_findings ?? [];
  let at = Math.max(0, Math.min((Number(place.query.get("step")) || telling(steps, findings) + 1) - 1, steps.length - 1)), playing = 0;

  const felt = s("svg", { id: "felt" });
  const slider = h("input", { type: "range", min: 1, max: Math.max(steps.length, 1), value: at + 1, "aria-label": "Step" });
  const where = h("span", { class: "num soft small" });
  const what = h("p", { class: "what", role: "status" });
  const shots = h("section", { class: "shots", "aria-label": "Pictures of this step" });
  const playButton = h("button", { type: "button", class: "primary", on: { click: () => play() } });
  const hands = h("tbody");
  const list = h("ol", { class: "steps", "aria-label": "Steps" }, steps.map((x, i) => h("li", null, h("button", { type: "button", on: { click: () => { stop(); show(i); } } }, h("span", { class: "num soft" }, clockOf(x)), h("span", null, sentence(x.text))))));
  const holdButton = h("button", { type: "button", on: { click: () => hold() } });
  const offsetLine = round.recorder_at && h("span", { class: "num soft only-wide" }, `Recorder ${clock(round.recorder_at)}`);

  view.classList.add("fills");
  const facts = [["Handle", money(round.handle)], ["Players’ net", money(round.net, { signed: true })], ["Dealer", round.dealer?.name ?? "not signed in"], ["Gaming day", [round.gaming_day, round.shift].filter(Boolean).join(", ")]];
  view.replaceChildren(h("div", { class: "round-page" },
    h("div", { class: "head" }, h("a", { class: "button plain square", href: "#/rounds", "aria-label": "Back to the rounds" }, icon("back")),
      h("h1", null, `Round ${round.number}`), h("span", { class: "row" }, tableLink(round.table), h("span", { class: "soft num" }, when(round.ended_at, true)), offsetLine),
      h("span", { class: "row spread" }, holdButton, app.may("supervisor") && h("a", { class: "button", href: app.api.bundleUrl(id), download: "" }, icon("package"), "Evidence bundle"), walk("previous", "Round before", round.previous), walk("next", "Next round", round.next))),
    h("section", { class: "player", "aria-label": "Replay" }, h("div", { class: "felt-box" }, felt, h("table", { class: "data hands" }, h("caption", { class: "unseen" }, "Hands at this step"), h("thead", null, h("tr", null, ["Seat", "Cards", "Total", "Wager"].map((x) => h("th", { scope: "col" }, x)))), hands)),
      what,
      h("div", { class: "controls row" }, button("first", "First step", () => show(0)), button("previous", "Step back", () => show(at - 1)), playButton, button("next", "Step forward", () => show(at + 1)), button("last", "Last step", () => show(steps.length - 1)), slider, where)),
    h("aside", { class: "side stack" }, shots,
      findings.length ? h("section", { class: "panel" }, h("h2", null, count(findings.length, "finding")), h("ul", { class: "brief" }, findings.map((f) =>
        h("li", { class: f.severity }, h("a", { href: href(["alerts", f.id], { state: "all" }) }, h("span", { class: "row" }, severityTag(f.severity), h("b", null, titleOf(f)), stateTag(f.status)), h("span", { class: "what" }, f.text), h("span", { class: "soft small" }, seatName(f.seat, f.hand))), f.clip && h("button", { type: "button", "aria-label": `Clip: ${titleOf(f)}`, on: { click: () => playClip(f, app.live) } }, icon("film"), "Clip"))))) : null,
      h("section", { class: "panel" }, h("h2", null, "Transcript"), h("dl", { class: "row small soft pairs" }, facts.map(([k, v]) => h("div", null, h("dt", null, k), h("dd", { class: "num" }, v)))), h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Transcript" }, h("pre", { class: "mono transcript" }, round.notation ?? ""))),
      h("section", { class: "panel steps-panel" }, h("h2", null, "Steps"), list),
      round.unverified?.length ? h("section", { class: "panel" }, h("h2", null, "Could not be judged"), h("ul", { class: "plain-list small" }, round.unverified.map((x) => h("li", null, h("b", null, seatName(x.seat, x.hand)), ` ${x.why}`)))) : null,
      round.seen?.length ? h("section", { class: "panel" }, h("h2", null, "Who looked at it"), h("ul", { class: "plain-list small" }, round.seen.slice(0, 12).map((x) => h("li", null, h("b", null, x.by?.name ?? x.by), " ", h("span", { class: "soft num" }, when(x.at, true)))))) : null)));

  function walk(sign, words, to) {
    return to ? h("a", { class: "button square", href: href(["round", to]), "aria-label": words, title: words }, icon(sign)) : null;
  }

  function sentence(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
  function button(sign, words, run) {
    return h("button", { type: "button", class: "square", "aria-label": words, title: words, on: { click: () => { stop(); run(); } } }, icon(sign));
  }
  function clockOf(x) {
    return `${number(x.t - (steps[0]?.t ?? 0), 1)} s`;
  }

  function show(i, { silent = false } = {}) {
    if (!steps.length) {
      drawFelt(felt, asEnded(round), { seats: round.table_seats });
      setText(what, "The single steps of this round were not stored; this is how it ended.");
      return;
    }
    at = Math.max(0, Math.min(steps.length - 1, i));
    const x = steps[at];
    const made = new Set(steps.slice(0, at + 1).flatMap((y) => y.findings ?? []));
    const flagged = new Set(findings.filter((f) => made.has(f.id)).map((f) => f.seat));
    const now = x.event && x.event.seat != null ? new Set([`${x.event.seat}.${x.event.hand ?? 0}`]) : new Set();
    drawFelt(felt, x.live, { seats: round.table_seats, flagged, changed: /card|turn/.test(x.event?.type ?? "") ? now : new Set() });
    hands.replaceChildren(...rows(x.live).map(({ name, hand }) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, cardsText(hand.cards, hand.seat ? "?" : "▮")), h("td", null, standing(hand).join(", ")), h("td", null, hand.seat && hand.wager !== 0 ? money(hand.wager) : ""))));
    slider.value = at + 1;
    setAttribute(slider, "aria-valuetext", `${at + 1} of ${steps.length}: ${x.text}`);
    setText(where, `${at + 1} / ${steps.length}`);
    const found = findings.filter((f) => x.findings?.includes(f.id));
    setText(what, [sentence(x.text).replace(/([^.!?])$/, "$1."), ...found.map((f) => f.text)].join(" "));
    what.className = `what${found.length ? " alert-text" : ""}`;
    shots.replaceChildren(...(x.pictures?.length ? [pictures({ text: x.text, pictures: x.pictures })] : []));
    [...list.children].forEach((li, k) => setAttribute(li.firstElementChild, "aria-current", k === at ? "step" : null));
    const line = list.children[at];
    if (line) list.scrollTop = Math.max(0, line.offsetTop - list.clientHeight / 2);
    if (!silent) note(["round", id], { step: at + 1 });
  }

  const stop = () => { clearInterval(playing); playing = 0; drawPlay(); };
  function play() {
    if (playing) return stop();
    if (at >= steps.length - 1) show(0);
    playing = setInterval(() => (at >= steps.length - 1 ? stop() : show(at + 1)), PACE);
    return drawPlay();
  }
  function drawPlay() {
    playButton.replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause" : "Play", h("kbd", { class: "only-wide", "aria-hidden": "true" }, "Space"));
  }

  async function hold() {
    const given = round.held
      ? await ask({ title: "Release the legal hold?", action: "Release", danger: true, fields: h("p", null, "After this the round, its pictures and its clip are deleted when their time is over.") })
      : await ask({ title: "Put a legal hold on this round", action: "Hold it", fields: h("label", { class: "field" }, "Why (a case number, a name)", h("input", { name: "reason", required: true, maxlength: 300, autofocus: true, autocomplete: "off" })), check: (v) => (v.reason.trim() ? "" : "Write why.") });
    if (!given) return;
    try {
      await app.api.hold(id, !round.held, (given.reason ?? "").trim());
      round = { ...round, ...(await app.api.round(id, ending)) };
      drawHold();
      toast(round.held ? "This round is kept until the hold is released." : "The hold is released.");
      say(round.held ? "Legal hold." : "No legal hold.");
    } catch (e) {
      toast(e.message, { kind: "bad" });
    }
  }
  function drawHold() {
    holdButton.replaceChildren(icon("lock"), round.held ? "On legal hold" : "Legal hold");
        setAttribute(holdButton, "aria-pressed", String(Boolean(round.held)));
    holdButton.disabled = !app.may("supervisor");
  }

  slider.addEventListener("input", () => { stop(); show(Number(slider.value) - 1); });
  const unbind = bind("Round", [
    { keys: [" "], words: "Play or pause", run: () => { play(); } },
    { keys: ["ArrowRight", "l"], words: "Step forward", run: () => { stop(); show(at + 1); } },
    { keys: ["ArrowLeft", "h"], words: "Step back", run: () => { stop(); show(at - 1); } },
    { keys: ["Home"], words: "First step", run: () => { stop(); show(0); } },
    { keys: ["End"], words: "Last step", run: () => { stop(); show(steps.length - 1); } },
    { keys: ["L"], words: "Legal hold", run: () => { hold(); } },
    { keys: ["Backspace"], words: "Back", run: () => history.back() },
    { keys: ["b"], words: "Evidence bundle", run: () => view.querySelector(".head a[download]")?.click() },
    { keys: ["n"], words: "Next round", run: () => (round.next ? go(["round", round.next]) : false) },
    { keys: ["p"], words: "Round before", run: () => (round.previous ? go(["round", round.previous]) : false) },
  ]);
  ending.addEventListener("abort", () => { unbind(); clearInterval(playing); });
  drawHold();
  drawPlay();
  show(at, { silent: true });
  return { update: (p) => Number(p.parts[1]) === id };
}

/** The step to begin with: the last before the first finding at which its hand still lay there, else the last at which the
 * dealer's and other cards lay there. */
function telling(steps, findings) {
  const found = steps.findIndex((x) => x.findings?.length);
  if (found >= 0) {
    const { seat } = findings.find((f) => f.id === steps[found].findings[0]) ?? {};
    for (let i = found; i >= 0; i--) if ([steps[i].live?.dealer, ...(steps[i].live?.hands ?? [])].some((x) => x?.seat === seat && x.cards.length)) return i;
    return found;
  }
  for (let i = steps.length - 1; i >= 0; i--) if (steps[i].live?.dealer?.cards?.length && steps[i].live.hands.some((x) => x.cards.length)) return i;
  return steps.length - 1;
}

/** How a round ended, for one whose events are not stored. */
function asEnded(round) {
  const hands = (round.record?.hands ?? []).map((x) => ({ ...x, total: "", status: x.outcome, wager: x.stake ?? x.wager }));
  return { phase: "", hands, dealer: { seat: 0, hand: 0, cards: round.record?.dealer ?? round.dealer_cards ?? [], total: "", wager: null, status: "" } };
}
