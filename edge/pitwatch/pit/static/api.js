// The server's answers as the views use them. Everything that depends on the HTTP contract stands here.
export class ApiError extends Error {
  constructor(message, status, code = "") {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

let csrf = "";

/** A path with its parameters; a list is given as often as it has members, what is empty is left out. */
export function address(path, params = {}) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    for (const one of Array.isArray(value) ? value : [value]) if (one != null && one !== "" && one !== false) q.append(name, one);
  const text = q.toString();
  return text ? `${path}?${text}` : path;
}

async function call(method, path, { params = {}, body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response, answer = null;
  try {
    response = await fetch(address(path, params), { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin", redirect: "error" });
    const text = await response.text();
    answer = text && /json/.test(response.headers.get("Content-Type") ?? "") ? JSON.parse(text) : null;
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new ApiError("pitwatch cannot be reached; the network or the server may be down.", 0, "unreachable");
  }
  if (response.ok) return answer;
  const { code = "", message } = answer?.error ?? {};
  if (code === "signed_out") dispatchEvent(new Event("session-ended"));
  if (code === "csrf") dispatchEvent(new Event("session-changed"));
  throw new ApiError(message || OTHERWISE[response.status] || `pitwatch answered with status ${response.status}.`, response.status, code);
}

const OTHERWISE = { 401: "You are not signed in.", 403: "Your role does not allow this.", 404: "There is no such thing.", 429: "Too many attempts; wait a minute.", 502: "pitwatch does not answer behind its proxy.", 503: "pitwatch is busy; try again." };

const get = (path, params, signal) => call("GET", path, { params, signal });
const post = (path, body) => call("POST", path, { body });
const id = encodeURIComponent;
const items = async (answer) => (await answer).items;

function keep(me) {
  csrf = me.csrf;
  return me;
}

/** The same question once for all who ask it within `ms`. */
function remembered(ms, ask) {
  const known = new Map();
  return (...by) => {
    const key = JSON.stringify(by);
    const had = known.get(key);
    if (had && performance.now() - had.at < ms) return had.answer;
    const answer = ask(...by);
    known.set(key, { at: performance.now(), answer });
    answer.catch(() => known.delete(key));
    return answer;
  };
}

export const api = {
  me: async () => keep(await get("/api/me")),
  login: async (name, password) => keep(await post("/api/login", { name, password })),
  setupNeeded: async () => (await get("/api/setup")).needed,
  setup: async (token, name, password) => keep(await post("/api/setup", { token, name, password })),
  logout: () => post("/api/logout", {}),
  password: (old, next) => post("/api/me/password", { old, new: next }),

  tables: (signal) => items(get("/api/tables", { limit: 500 }, signal)),
  table: (t, signal) => get(`/api/tables/${id(t)}`, {}, signal),
  stillUrl: (t, n) => `/api/tables/${id(t)}/still.jpg?n=${encodeURIComponent(n)}`,
  askStill: (t) => post(`/api/tables/${id(t)}/still`, {}),
  signDealer: (t, dealer) => post(`/api/tables/${id(t)}/dealer`, { dealer }),
  dealers: (signal) => items(get("/api/dealers", {}, signal)),
  makeDealer: (name, badge) => post("/api/dealers", { name, badge }),

  findings: (filters, signal) => get("/api/findings", filters, signal),
  finding: (f, signal) => get(`/api/findings/${id(f)}`, {}, signal),
  openCount: async (signal) => (await get("/api/findings", { status: "open", severity: "alert", limit: 1 }, signal)).total,
  verdict: (f, body) => post(`/api/findings/${id(f)}/verdict`, body),
  note: (f, text) => post(`/api/findings/${id(f)}/notes`, { text }),
  assign: (f, user) => post(`/api/findings/${id(f)}/assign`, { user }),
  reasons: remembered(600_000, () => items(get("/api/reasons"))),
  people: remembered(60_000, () => items(get("/api/people"))),
  precision: remembered(30_000, (filters) => items(get("/api/findings/precision", filters))),
  caseUrl: (f) => `/api/findings/${id(f)}/case.jsonl`,
  casesUrl: (filters) => address("/api/findings/cases.zip", filters),

  rounds: (filters, signal) => get("/api/rounds", filters, signal),
  round: (r, signal) => get(`/api/rounds/${id(r)}`, {}, signal),
  hold: (r, held, reason) => post(`/api/rounds/${id(r)}/hold`, { held, reason }),
  bundleUrl: (r) => `/api/rounds/${id(r)}/bundle.zip`,
  exportUrl: (kind, filters) => address(`/api/rounds/export.${kind}`, filters),

  report: (by, filters, signal) => items(get(`/api/reports/${by}`, filters, signal)),
  reportUrl: (by, filters) => address(`/api/reports/${by}.csv`, filters),

  settings: remembered(30_000, () => get("/api/settings")),
  saveSettings: (settings) => call("PUT", "/api/settings", { body: settings }),
  users: (signal) => items(get("/api/users", {}, signal)),
  makeUser: (user) => post("/api/users", user),
  changeUser: (u, part) => call("PATCH", `/api/users/${id(u)}`, { body: part }),
  tokens: (signal) => items(get("/api/tokens", {}, signal)),
  endToken: (t) => call("DELETE", `/api/tokens/${id(t)}`),
  audit: (filters, signal) => get("/api/audit", filters, signal),
};
