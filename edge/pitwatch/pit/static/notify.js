// Sound and the browser's own notification for new alerts; both are off until somebody turns them on here.
import { toast } from "./dom.js";
import { go } from "./router.js";
import { store, stored } from "./theme.js";
import { kindName, seatName } from "./words.js";

const QUIET = 4000; // ms between two sounds or notifications: a burst is one
let audio = null, last = 0, held = 0;

/** Two soft tones, made here; a file would have to be fetched just when the network is bad. */
function chime() {
  audio ??= new AudioContext();
  audio.resume();
  [880, 1174].forEach((pitch, i) => {
    const at = audio.currentTime + i * 0.16;
    const tone = audio.createOscillator(), loud = audio.createGain();
    tone.frequency.value = pitch;
    loud.gain.setValueAtTime(0, at);
    loud.gain.linearRampToValueAtTime(0.22, at + 0.015);
    loud.gain.exponentialRampToValueAtTime(0.001, at + 0.5);
    tone.connect(loud).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.55);
  });
}

export const notify = {
  known: new Set(), // a finding comes again when it is judged or gets a note
  sound: stored("sound") === "on",
  desktop: stored("desktop") === "on" && "Notification" in window && Notification.permission === "granted",

  toggleSound() {
    this.sound = !this.sound;
    store("sound", this.sound ? "on" : null);
    if (this.sound) chime();
    toast(this.sound ? "Sound is on: two tones for a new alert." : "Sound is off.");
    dispatchEvent(new CustomEvent("notify"));
  },

  async toggleDesktop() {
    if (!this.desktop) {
      if (!("Notification" in window)) return toast("This browser has no notifications.", { kind: "bad" });
      if ((await Notification.requestPermission()) !== "granted")
        return toast("The browser does not allow notifications for this page; its settings can change that.", { kind: "bad" });
    }
    this.desktop = !this.desktop;
    store("desktop", this.desktop ? "on" : null);
    toast(this.desktop ? "Notifications are on." : "Notifications are off.");
    dispatchEvent(new CustomEvent("notify"));
    return undefined;
  },

  /** Tell of a new finding; notices are silent, and a burst is told once. */
  finding(f) {
    if (f.severity !== "alert" || f.status !== "open" || this.known.has(f.id)) return;
    this.known.add(f.id);
    if (this.known.size > 5000) this.known.clear();
    const now = Date.now();
    if (now - last < QUIET) {
      held += 1;
      return;
    }
    last = now;
    if (this.sound) chime();
    if (!this.desktop || !document.hidden) return;
    const more = held ? ` And ${held} more.` : "";
    held = 0;
    const shown = new Notification(`${f.table.name}: ${f.title || kindName(f.kind)}`, { body: `${seatName(f.seat, f.hand)}. ${f.text}${more}`, tag: "pitwatch", icon: "/static/icon.svg" });
    shown.onclick = () => { focus(); go(["alerts", f.id]); };
  },

  reset() {
    held = 0;
    this.known.clear();
  },
};
