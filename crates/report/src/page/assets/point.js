// The arithmetic of operating points, free of the page. A point is an index
// into a method's positions; index 0 always means "answer nothing".

function readMethod(raw, rows) {
  const given = raw.positions;
  const lead = given.accepted[0] === 0 ? 0 : 1;
  const column = (list, first) => (list ? [...Array(lead).fill(first), ...list.map(num)] : null);
  return {
    raw,
    rows,
    name: raw.name,
    label: raw.detail ? `${raw.name} (${raw.detail})` : raw.name,
    accepted: column(given.accepted, 0),
    loss: column(given.loss, 0),
    threshold: column(given.threshold, Infinity),
    value: column(given.value, NaN),
    bound: column(given.bound, NaN),
    alone: column(given.alone, NaN),
  };
}

const coverageAt = (method, i) => method.accepted[i] / method.rows;
const riskAt = (method, i) => (method.accepted[i] > 0 ? method.loss[i] / method.accepted[i] : NaN);
const lastOf = (method) => method.accepted.length - 1;

// The first index whose entry passes a test that, once true, stays true.
function firstIndex(list, test) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(list[middle])) high = middle; else low = middle + 1;
  }
  return low;
}

// Nearest number of accepted rows; of two equally near, the narrower.
function nearestPosition(method, accepted) {
  const above = firstIndex(method.accepted, (k) => k >= accepted);
  if (above === 0) return 0;
  if (above > lastOf(method)) return lastOf(method);
  const before = accepted - method.accepted[above - 1];
  const after = method.accepted[above] - accepted;
  return after < before ? above : above - 1;
}

// The strictest position that accepts at least so many rows: what the core
// means by the risk at a coverage.
function coveringPosition(method, accepted) {
  const tolerance = 1e-12 * method.rows;
  return Math.min(lastOf(method), firstIndex(method.accepted, (k) => k >= accepted - tolerance));
}

// A row is answered if its confidence is at least the threshold.
function positionAt(method, threshold) {
  return Math.max(0, firstIndex(method.threshold, (t) => t < threshold) - 1);
}

// The tolerance only forgives rounding: 95 of 100 does meet 0.95.
function meets(target, accepted, loss) {
  if (accepted === 0) return false;
  return "accuracy" in target
    ? accepted - loss >= target.accuracy * accepted * (1 - 1e-12)
    : loss <= target.risk * accepted * (1 + 1e-12);
}

// The widest position that meets the target, or 0: answer nothing.
function widestMeeting(method, target) {
  for (let i = lastOf(method); i > 0; i -= 1) {
    if (meets(target, method.accepted[i], method.loss[i])) return i;
  }
  return 0;
}

// Cost per input; a right answer is free.
const costAt = (method, i, error, referral) =>
  (error * method.loss[i] + referral * (method.rows - method.accepted[i])) / method.rows;

// Of equally cheap points the widest: it spares a person some work.
function cheapestPosition(method, error, referral) {
  let best = lastOf(method);
  for (let i = best - 1; i >= 0; i -= 1) {
    if (costAt(method, i, error, referral) < costAt(method, best, error, referral)) best = i;
  }
  return best;
}
