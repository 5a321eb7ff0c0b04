// The clip of a finding: the seconds before it, played or picture by picture. A clip is JPEGs one behind the other,
// each with its time in its comment; the browser shows each as a picture, so that every one of them can be looked at.
import { h, icon, setAttribute, setText } from "./dom.js";
import { number } from "./words.js";

const WAIT = 20_000; // ms for the table to bring it
const LONGEST_STEP = 1500; // ms a picture is shown at most while playing

/** The pictures of a clip, [{ t, jpeg }]; t is null where none is said. */
export function cut(bytes) {
  const out = [];
  let start = -1;
  for (let i = 0; i + 1 < bytes.length; i++) {
    if (bytes[i] !== 0xff) continue;
    if (bytes[i + 1] === 0xd8 && start < 0) start = i;
    else if (bytes[i + 1] === 0xd9 && start >= 0) {
      const jpeg = bytes.subarray(start, i + 2);
      const text = String.fromCharCode(...jpeg.subarray(2, 24));
      const said = /^\xff\xfe..t=(\d{1,9}\.\d\d)/s.exec(text);
      out.push({ t: said ? Number(said[1]) : null, jpeg });
      start = -1;
    }
  }
  return out;
}

/** Fetch a clip; one that is not here yet is asked of its table, and waited for. */
async function bring(clip, live, signal, saying) {
  const fetched = async () => {
    const answer = await fetch(clip.url, { signal, cache: "no-store" });
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    if (answer.status !== 404) throw new Error(`pitwatch answered with status ${answer.status}.`);
    return null;
  };
  const first = await fetched();
  if (first) return first;
  saying("Asked of the table …");
  const gone = await new Promise((resolve) => {
    live.on("picture", (p) => { if (p.ref === clip.ref) resolve(p.gone); }, signal);
    setTimeout(() => resolve(null), WAIT);
    signal.addEventListener("abort", () => resolve(null));
  });
  if (gone) throw new Error("The table has no clip of this (any more).");
  const second = await fetched();
  if (!second) throw new Error("The table did not bring it; it may be switched off. Try again later.");
  return second;
}

/** A dialog that plays the clip of a finding. */
export function playClip(f, live) {
  if (document.querySelector("dialog[open]")) return;
  const ending = new AbortController();
  const image = h("img", { alt: `Clip: ${f.text}` });
  const said = h("p", { class: "clip-said", role: "status" }, "Fetching the clip …");
  const where = h("span", { class: "num soft" });
  const slider = h("input", { type: "range", min: 1, max: 1, value: 1, "aria-label": "Picture of the clip" });
  const button = (sign, words, run) => h("button", { type: "button", class: "square", "aria-label": words, title: words, on: { click: run } }, icon(sign));
  const play = h("button", { type: "button", class: "primary", on: { click: () => (playing ? stop() : begin()) } });
  const controls = h("div", { class: "controls row", hidden: true },
    button("first", "First picture", () => { stop(); show(0); }), button("previous", "Picture before", () => { stop(); show(at - 1); }), play,
    button("next", "Next picture", () => { stop(); show(at + 1); }), button("last", "Last picture", () => { stop(); show(pictures.length - 1); }), slider, where);
  const dialog = h("dialog", { class: "viewer clip", "aria-label": "Clip of the seconds before the finding" },
    h("figure", null, image, said, controls, h("figcaption", null, f.text)),
    h("div", { class: "actions" }, h("a", { class: "button", href: f.clip.url, download: `finding-${f.id}.mjpeg` }, icon("download"), "Save"),
      h("button", { type: "button", on: { click: () => dialog.close() } }, "Close ", h("kbd", null, "Esc"))));
  let pictures = [], at = 0, playing = 0;

  function show(i) {
    at = Math.max(0, Math.min(pictures.length - 1, i));
    const last = pictures.at(-1).t, t = pictures[at].t;
    image.src = pictures[at].url;
    slider.value = at + 1;
    const words = t == null || last == null ? `${at + 1} of ${pictures.length}` : `${number(t - last, 1)} s`;
    setText(where, words);
    setAttribute(slider, "aria-valuetext", words);
  }
  function drawPlay() {
    play.replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause" : "Play", h("kbd", { class: "only-wide", "aria-hidden": "true" }, "Space"));
  }
  function stop() {
    clearTimeout(playing);
    playing = 0;
    drawPlay();
  }
  function begin() {
    if (at >= pictures.length - 1) show(0);
    const step = () => {
      const from = pictures[at].t, to = pictures[at + 1]?.t;
      playing = setTimeout(() => {
        if (at >= pictures.length - 1) return stop();
        show(at + 1);
        return step();
      }, Math.max(60, Math.min(LONGEST_STEP, from == null || to == null ? 330 : (to - from) * 1000)));
    };
    step();
    drawPlay();
  }

  slider.addEventListener("input", () => { stop(); show(Number(slider.value) - 1); });
  dialog.addEventListener("keydown", (e) => {
    if (!pictures.length) return;
    if (e.key === "ArrowLeft") { stop(); show(at - 1); }
    else if (e.key === "ArrowRight") { stop(); show(at + 1); }
    else if (e.key === "Home") { stop(); show(0); }
    else if (e.key === "End") { stop(); show(pictures.length - 1); }
    else if (e.key === " " && e.target !== play && !e.target.closest(".actions")) (playing ? stop() : begin());
    else return;
    e.preventDefault();
  });
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    clearTimeout(playing);
    ending.abort();
    for (const p of pictures) URL.revokeObjectURL(p.url);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  bring(f.clip, live, ending.signal, (words) => setText(said, words)).then((bytes) => {
    if (ending.signal.aborted) return;
    pictures = cut(bytes).map((p) => ({ ...p, url: URL.createObjectURL(new Blob([p.jpeg], { type: "image/jpeg" })) }));
    if (!pictures.length) throw new Error("This is no clip.");
    said.hidden = true;
    controls.hidden = false;
    slider.max = pictures.length;
    show(0);
    begin();
    play.focus();
  }).catch((e) => { if (!ending.signal.aborted) setText(said, e.message); });
}
