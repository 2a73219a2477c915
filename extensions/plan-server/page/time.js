import { h, say } from "./dom.js";

// A time is a text of RFC 3339 or a number of milliseconds.
export const instant = (value) => {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
};
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
export const time = (value) => {
  const date = instant(value);
  return date ? h("time", { datetime: date.toISOString(), title: zoned.format(date) }, clock.format(date)) : "–";
};
// The text of a time, as in the report.
export const took = (ms) => {
  if (!(ms >= 0)) return "–";
  if (ms === 0) return "0";
  if (ms < 0.095) return `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${ms.toFixed(ms < 9.95 ? 1 : 0)} ms`;
  if (ms < 119_500) return `${(ms / 1000).toFixed(ms < 59_995 ? 2 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const [large, small, unit, part] = minutes < 60 ? [minutes, seconds % 60, "min", "s"] : [Math.floor(minutes / 60), minutes % 60, "h", "min"];
  return `${large} ${unit}${small ? ` ${small} ${part}` : ""}`;
};
// The time of an ended run, as in its report, with the time in which nothing ran before a retry.
export const lasted = ({ took_ms: ms, idle_ms: idle }) => `${took(ms)}${idle ? `, ${took(idle)} of that time between an end and a retry` : ""}`;
// The time since an instant, in whole seconds. Its text follows the clock.
const age = (ms) => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : took(ms));
const clocked = (value, sign) => {
  const date = instant(value);
  return date ? h("time", { datetime: date.toISOString(), title: zoned.format(date), "data-sign": sign }, age(sign * (Date.now() - date))) : "–";
};
export const since = (value) => clocked(value, 1);
// The time until an instant. Its text follows the clock.
export const left = (value) => clocked(value, -1);
// The time of today as an age, and of other days as a date, each with the whole time as its title.
export const ago = (value) => {
  const date = instant(value);
  if (!date || Date.now() - date > 86_400_000) return time(value);
  return h("span", {}, since(value), " ago");
};
setInterval(() => {
  for (const one of document.querySelectorAll("time[data-sign]")) say(one, age(Number(one.dataset.sign) * (Date.now() - instant(one.dateTime))));
}, 1000);

// At most six round times of an axis, with their labels. A tick in the last fifth of the axis has its label before its line.
const ROUND = [1, 1000, 60_000, 3_600_000].flatMap((unit, at) => [1, 2, 5, 10, 20, ...(at ? [] : [50, 100, 200, 500])].map((digits) => digits * unit));
const UNITS = [[3_600_000, "h"], [60_000, "min"], [1000, "s"], [1, "ms"]];
export const ticks = (span) => {
  const last = ROUND.at(-1);
  const step = ROUND.find((step) => span / step < 6) ?? last * Math.ceil(span / last / 5);
  const all = Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => at * step);
  // All labels have one unit, of which the step is a multiple or a half.
  const [unit, name] = UNITS.find(([unit]) => unit <= all.at(-1) && (step * 10) % unit === 0) ?? UNITS.at(-1);
  return all.map((at) => [at, at ? `${at / unit} ${name}` : "0"]);
};
