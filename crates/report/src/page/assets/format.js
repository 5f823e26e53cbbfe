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

// All but a few is not all: "100.0 %" stands for nothing less.
const share = (x) => asText(x, (n) => {
  const text = fixed(100 * n, 1);
  return `${n < 1 && text === "100.0" ? floored(n, 3) : text} %`;
});
const floored = (n, places) => fixed(Math.floor(100 * n * 10 ** places + 1e-9) / 10 ** places, places);

// A share that is promised is never rounded up.
const leastShare = (x) => asText(x, (n) => `${floored(n, n > 0.999 ? 3 : 1)} %`);

// Decimals that would be all zeros, or too many to read, give way to powers.
const odd = (n) => n !== 0 && (Math.abs(n) < 0.001 || Math.abs(n) >= 1e6);
const metric = (x) => asText(x, (n) => (odd(n) ? n.toExponential(2) : fixed(n, 4)));
const count = (x) => asText(x, (n) => Math.round(n).toLocaleString("en-US"));
const amount = (x) => asText(x, (n) => (odd(n) ? n.toExponential(2)
  : n.toLocaleString("en-US", Math.abs(n) < 10 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 1 })));

// A threshold is copied into programs, so it keeps every digit.
const digits = (x) => asText(x, (n) => String(n));

// For axes and tips: short, but never "0" for something that is not zero.
const short = (x) => asText(x, (n) => (Math.abs(n) >= 1e6 ? n.toExponential(2) : String(Number(n.toPrecision(4)))));

// Out of 1,000: whole numbers, unless that would turn "rare" into "never".
const ofThousand = (x) => asText(x, (n) => (n > 0 && n < 1 ? fixed(n, 1) : count(n)));

// "0.0512 ± 0.0021" from {mean, std}; the format is that of the metric.
function spread(stat, format) {
  if (!stat || Number.isNaN(num(stat.mean))) return MISSING;
  const std = num(stat.std);
  return Number.isFinite(std) && std > 0 ? `${format(stat.mean)} ± ${format(std)}` : format(stat.mean);
}
