// The peer's own routes; every error is its problem document.

const TOKEN = "meteor-token";

export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? `status ${status}`);
    this.status = status;
    this.position = document.position;
    this.rule = document.rule;
    this.kind = (document.type ?? "").split(":").pop();
  }
}

/** Keep the token while the page is open; throws for what no request could carry. */
export function setToken(token) {
  if (!/^[\x20-\x7e]*$/.test(token)) throw new Problem(0, { detail: "This is no token: it has other characters than ASCII." });
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
}

const query = (parameters) => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

async function ask(method, path, parameters = {}, body = undefined) {
  const headers = { Accept: "application/json" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path + query(parameters), { method, headers, body, signal: AbortSignal.timeout(30000) });
  } catch (error) {
    throw new Problem(0, { detail: error.name === "TimeoutError" ? "The peer did not answer in time." : "The peer cannot be reached." });
  }
  const document = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, document);
  return document;
}

export const access = () => ask("GET", "/access");
export const ring = () => ask("GET", "/ring");
export const links = () => ask("GET", "/links");
export const space = () => ask("GET", "/space");
export const explain = (select) => ask("GET", "/explain", { select });
export const curve = (parameters) => ask("GET", "/curve", parameters);
export const records = (parameters) => ask("GET", "/records", parameters);
export const retrieve = (select, everywhere) => ask("GET", "/profiles", { select, everywhere, limit: 200, places: true });
export const store = (profile, data, ttl) => ask("POST", "/profiles", { profile, ttl }, new Blob([data]));

/** Live events of a selector; the browser comes back by itself with the last id. */
export const events = (select, everywhere) => new EventSource("/events" + query({ select, everywhere }));
export const live = () => new EventSource("/live");
