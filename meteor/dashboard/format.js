// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat("en");

export const count = (number) => (number < 0 ? "?" : whole.format(number));

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function share(fraction) {
  const percent = fraction * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return `${percent < 1 ? percent.toFixed(2) : percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

export const milliseconds = (value) =>
  `${value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export const clock = (date = new Date()) => date.toTimeString().slice(0, 8);

/** A long identifier by its beginning. */
export const short = (id, length = 8) => (id.length > length + 1 ? `${id.slice(0, length)}…` : id);

/** What tells the peers of one ring apart: the port where they share a host. */
export function peerNames(peers) {
  const hosts = new Set(peers.map((peer) => host(peer.address)));
  const memory = peers.some((peer) => !peer.address.includes(":"));
  return new Map(peers.map((peer) => [peer.id, hosts.size === 1 && !memory ? `:${port(peer.address)}` : peer.address]));
}

const host = (address) => address.slice(0, address.lastIndexOf(":"));
const port = (address) => address.slice(address.lastIndexOf(":") + 1);

/** The payload of a match as text. */
export function payload(match) {
  if (match.data !== undefined) return match.data;
  const bytes = Math.floor((match.data_base64.length * 3) / 4);
  return `${plural(bytes, "byte")}, not text`;
}
