// Numbers as text: the only place that decides how a number looks on the page.
"use strict"; // first statement of the joined script, so it holds for all files

const MISSING = "—";

// JSON has no infinities and no NaN: they arrive as "inf", "-inf" and null.
function num(x) {
  if (x === null || x === undefined) return NaN;
  if (x === "inf") return Infinity;
  if (x === "-inf") return -Infinity;
  return Number(x);
}

// "-0.0" says nothing that "0.0" does not.
function fixed(x, places) {
  const text = x.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text;
}

function infinite(x) {
  return x > 0 ? "∞" : "-∞";
}

function asText(x, format) {
  const n = num(x);
  if (Number.isNaN(n)) return MISSING;
  return Number.isFinite(n) ? format(n) : infinite(n);
}

const share = (x) => asText(x, (n) => `${fixed(100 * n, 1)} %`);
const metric = (x) => asText(x, (n) => fixed(n, 4));
const count = (x) => asText(x, (n) => Math.round(n).toLocaleString("en-US"));
const amount = (x) => asText(x, (n) => n.toLocaleString("en-US", { maximumFractionDigits: 1 }));

// A threshold is copied into programs, so it keeps every digit.
const digits = (x) => asText(x, (n) => String(n));

// For axes and tips: short, but never "0" for something that is not zero.
const short = (x) => asText(x, (n) => String(Number(n.toPrecision(4))));

// Out of 1,000: whole numbers, unless that would turn "rare" into "never".
const ofThousand = (x) => asText(x, (n) => (n > 0 && n < 1 ? fixed(n, 1) : count(n)));

// "0.0512 ± 0.0021" from {mean, std}; the format is that of the metric.
function spread(stat, format) {
  if (!stat || Number.isNaN(num(stat.mean))) return MISSING;
  const std = num(stat.std);
  return Number.isFinite(std) && std > 0 ? `${format(stat.mean)} ± ${format(std)}` : format(stat.mean);
}
