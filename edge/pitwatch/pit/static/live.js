// The live stream: server-sent events, read by fetch so that its status and its silence are seen, and reconnected for
// as long as the page is open. Each `hello` after the first tells the views to fetch anew what they show.
const SILENCE = 25_000; // ms without a byte, comments included, after which the connection is broken
const BACKOFF = [500, 1000, 2000, 4000, 8000];

/** Messages of a stream, cut out of its text as it comes. */
export class Parser {
  constructor(onmessage) {
    this._rest = "";
    this._onmessage = onmessage;
  }

  push(text) {
    this._rest += text;
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this._rest);
      if (!end) return;
      const block = this._rest.slice(0, end.index);
      this._rest = this._rest.slice(end.index + end[0].length);
      let type = "message";
      const data = [];
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith("event:")) type = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      }
      if (data.length) this._onmessage(type, data.join("\n"));
    }
  }
}

export class Live {
  constructor() {
    this._listeners = new Map();
    this._tries = 0;
    this._wasLive = false;
    this._table = null;
    this.state = "trying";
    this.onstate = () => {};
  }

  /** Call `listener` with each message of this type, until `ending` aborts. */
  on(type, listener, ending = null) {
    if (!this._listeners.has(type)) this._listeners.set(type, new Set());
    this._listeners.get(type).add(listener);
    ending?.addEventListener("abort", () => this._listeners.get(type).delete(listener));
  }

  _emit(type, data) {
    for (const listener of [...(this._listeners.get(type) ?? [])]) {
      try {
        listener(data);
      } catch (e) {
        console.error(e); // one view's fault must not end the stream for the others
      }
    }
  }

  start() {
    this.stop();
    this._wanted = true;
    this._open();
  }

  stop() {
    this._wanted = this._wasLive = false;
    this._tries = 0;
    this._close();
  }

  /** Have this table's felt and rounds in the stream too, until `ending` aborts. */
  watch(table, ending) {
    this._table = table;
    this._open();
    ending.addEventListener("abort", () => {
      if (this._table !== table) return;
      this._table = null;
      if (this._wanted) this._open();
    });
  }

  _close() {
    clearTimeout(this._retry);
    clearTimeout(this._watchdog);
    this._ending?.abort();
    this._ending = null;
  }

  async _open() {
    if (!this._wanted) return;
    this._close();
    const ending = (this._ending = new AbortController());
    this._arm();
    try {
      const response = await fetch(this._table == null ? "/api/stream" : `/api/stream?table=${encodeURIComponent(this._table)}`,
        { signal: ending.signal, headers: { Accept: "text/event-stream" }, cache: "no-store" });
      if (response.status === 401) return void dispatchEvent(new Event("session-ended"));
      if (!response.ok) throw new Error(`status ${response.status}`);
      const parser = new Parser((type, text) => this._message(type, text));
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this._arm();
        parser.push(decoder.decode(value, { stream: true }));
      }
    } catch (e) {
      if (ending.signal.aborted) return undefined;
    }
    if (this._ending === ending) this._broken();
    return undefined;
  }

  _message(type, text) {
    let data;
    try {
      data = JSON.parse(text);
    } catch {
      return;
    }
    if (type === "bye" && data.why === "signed_out") return void dispatchEvent(new Event("session-ended"));
    if (type === "hello") {
      this._tries = 0;
      this._wasLive = true;
      this.state = "live";
      this.onstate("live");
      // whatever was missed before this moment is not in the stream
      this._emit("resync", data);
    }
    this._emit(type, data);
    return undefined;
  }

  _arm() {
    clearTimeout(this._watchdog);
    this._watchdog = setTimeout(() => this._broken(), SILENCE);
  }

  _broken() {
    if (!this._wanted) return;
    this._close();
    const state = this._wasLive || this._tries > 1 ? "lost" : "trying";
    if (state !== this.state) {
      this.state = state;
      this.onstate(state);
    }
    this._retry = setTimeout(() => this._open(), BACKOFF[Math.min(this._tries, BACKOFF.length - 1)]);
    this._tries += 1;
  }
}
