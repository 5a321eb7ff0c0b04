// Deep links: #/alerts/<id>?table=… and back. A link is data from outside; a broken one is no page, not an error.

/** The place that a hash names: its path's parts, decoded, and its query. */
export function parse(hash) {
  // the link that the terminal shows for the first account
  const setup = /^#setup=(.+)$/.exec(hash);
  if (setup) return { parts: ["setup"], query: new URLSearchParams({ token: setup[1] }) };
  const [path, query = ""] = hash.replace(/^#/, "").split("?", 2);
  try {
    const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
    return { parts, query: new URLSearchParams(query) };
  } catch {
    return { parts: ["unknown"], query: new URLSearchParams() };
  }
}

/** The hash of a place. parts: ["alerts", id]; query: an object, what is empty is left out. */
export function href(parts, query = {}) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v != null && v !== "" && v !== false) q.set(k, v);
  const text = q.toString();
  return `#/${parts.map((p) => encodeURIComponent(p)).join("/")}${text ? `?${text}` : ""}`;
}

export function go(parts, query = {}, { replace = false } = {}) {
  const next = href(parts, query);
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = next;
}

/** Change the address without opening anything, for a selection that the page has made already. */
export const note = (parts, query = {}) => history.replaceState(null, "", href(parts, query));
