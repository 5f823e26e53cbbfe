// Section "Search": every setting that was tried for a method. One parameter
// is a line, two are a heat map, of three the middle one is folded away.

const GREEK = { tau: "τ", gamma: "γ" };

// Points as {x, y, value}, sorted; with three parameters only the best of
// the middle one is used.
function surfacePoints(surface) {
  const n = surface.parameters.length;
  const better = (a, b) => (surface.lower_is_better ? a < b : a > b);
  const best = new Map();
  for (const point of surface.points) {
    const value = num(point[n]);
    const x = num(point[0]);
    const y = n > 1 ? num(point[n - 1]) : 0;
    const old = best.get(`${x} ${y}`);
    if (!old || better(value, old.value) || Number.isNaN(old.value)) best.set(`${x} ${y}`, { x, y, value });
  }
  return [...best.values()].sort((a, b) => (a.x === b.x ? a.y - b.y : a.x - b.x));
}

function quantile(sorted, q) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(q * (sorted.length - 1))))];
}

function searchSection(view) {
  const section = byId("search");
  const figure = byId("search-figure");
  const select = byId("surface");
  let method = null;
  let points = [];
  let chart = null;
  let cells = [];

  const surface = () => method.raw.surface;
  const names = () => surface().parameters.map((name) => GREEK[name] ?? name);
  const flat = () => names().length === 1;
  const values = () => points.map((p) => p.value).filter(Number.isFinite).sort((a, b) => a - b);
  const bestPoint = () => {
    const [x, y] = [num(surface().best[0]), flat() ? 0 : num(surface().best[names().length - 1])];
    return points.find((p) => p.x === x && p.y === y) ?? null;
  };
  const tuple = (p) => (flat() ? `${names()[0]} = ${short(p.x)}` : `${names()[0]} = ${short(p.x)}, ${names().at(-1)} = ${short(p.y)}`);

  // An infinite p stands one step behind the last finite one.
  const lineX = () => {
    const finite = [...new Set(points.map((p) => p.x).filter(Number.isFinite))];
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    const endless = points.some((p) => p.x === Infinity);
    const log = low > 0 && high / low > 20;
    const place = (x) => (x !== Infinity ? x : log ? high * (high / low) ** 0.12 : high + (high - low || 1) * 0.1);
    const top = endless ? place(Infinity) : high;
    return { low, high, top: top > low ? top : low + 1, endless, log, place };
  };

  const lineOptions = {
    height: (width) => Math.max(260, Math.min(360, width * 0.45)),
    axes: (width) => {
      const all = values();
      const base = num(surface().baseline);
      const down = surface().lower_is_better;
      const lo = Math.min(down ? all[0] : quantile(all, 0.1), base || Infinity);
      const hi = Math.max(down ? quantile(all, 0.9) : all.at(-1), base || -Infinity);
      const room = (hi - lo || Math.abs(hi) || 1) * 0.1;
      const x = lineX();
      const finite = x.log ? logTicks(x.low, x.high, width / 110) : ticks(x.low, x.high, width / 110);
      return {
        x: {
          domain: [x.low, x.top], log: x.log, label: names()[0],
          ticks: x.endless ? [...finite, x.top] : finite,
          format: (v) => (x.endless && v === x.top ? "∞" : short(v)),
        },
        y: { domain: [lo - room, hi + room], label: surface().objective, format: short },
      };
    },
    draw: (c) => {
      const { place } = lineX();
      c.across(num(surface().baseline), { class: "target" }, "baseline");
      c.line(points.map((p) => place(p.x)), points.map((p) => p.value), { class: "curve choice" });
      for (const p of points) {
        const at = c.y(p.value);
        if (Number.isFinite(at) && at >= c.top && at <= c.bottom) c.dot("circle", place(p.x), p.value, 3, { class: "filled choice" });
      }
      const best = bestPoint();
      if (best) c.dot("diamond", place(best.x), best.value, 7, { class: "cheapest" });
    },
    nearest: "x",
    cursor: (c) => points.map((p) => ({
      px: c.x(lineX().place(p.x)), py: Math.min(c.bottom, Math.max(c.top, c.y(p.value) || c.bottom)),
      text: () => [tuple(p), `${surface().objective} ${metric(p.value)}`],
    })),
  };

  // Temperatures go by factors; a shift may be negative.
  const upwards = () => (names().at(-1) === GREEK.gamma
    ? { log: false, to: (y) => y, back: (y) => y }
    : { log: true, to: Math.log, back: Math.exp });

  // One column per x; a cell reaches half way (on the axis as it is drawn) to
  // its neighbours.
  const columnsOf = () => {
    const { to, back } = upwards();
    const xs = [...new Set(points.map((p) => p.x))];
    const columns = xs.map((x) => points.filter((p) => p.x === x && Number.isFinite(p.y)).map((p) => ({ ...p, at: to(p.y) })));
    let [low, high] = [Infinity, -Infinity];
    for (const column of columns) {
      column.forEach((p, i) => {
        const before = column[i - 1]?.at;
        const after = column[i + 1]?.at;
        const gap = after !== undefined ? after - p.at : before !== undefined ? p.at - before : 0.3;
        p.from = before !== undefined ? (before + p.at) / 2 : p.at - gap / 2;
        p.to = after !== undefined ? (after + p.at) / 2 : p.at + (before !== undefined ? p.at - before : gap) / 2;
        low = Math.min(low, p.from);
        high = Math.max(high, p.to);
      });
    }
    return { xs, columns, low: back(low), high: back(high) };
  };

  // Colour shows only what beats the baseline; the rest is hatched. If
  // nothing does, the ramp spans all values.
  const colours = () => {
    const all = values();
    const down = surface().lower_is_better;
    const best = down ? all[0] : all.at(-1);
    const base = num(surface().baseline);
    const beaten = Number.isFinite(base) && (down ? best < base : best > base);
    const worst = beaten ? base : down ? quantile(all, 0.95) : quantile(all, 0.05);
    return { best, worst, beaten, fraction: (v) => (best === worst ? 0 : (v - best) / (worst - best)) };
  };

  const mapOptions = {
    height: (width) => Math.max(300, Math.min(440, width * 0.5)),
    axes: () => {
      const { xs, low, high } = columnsOf();
      const { log } = upwards();
      const every = Math.ceil(xs.length / Math.max(4, (figure.clientWidth - 80) / 44));
      return {
        x: { domain: [-0.5, xs.length - 0.5], label: names()[0], ticks: range(xs.length).filter((i) => i % every === 0), format: (i) => short(xs[i]) },
        y: { domain: [low, high], log, label: `${names().at(-1)}${log ? " (log scale)" : ""}`, format: short },
      };
    },
    draw: (c) => {
      const { columns } = columnsOf();
      const { back } = upwards();
      const { beaten, fraction } = colours();
      const best = bestPoint();
      cells = [];
      columns.forEach((column, i) => {
        for (const p of column) {
          const f = fraction(p.value);
          const worse = Number.isNaN(f) || (beaten && f >= 1);
          const node = c.box(i - 0.5, back(p.from), i + 0.5, back(p.to), worse ? { class: "worse" } : { fill: rampColour(f), class: "cell" });
          cells.push({ p, node, px: c.x(i), py: c.y(back(p.at)) });
        }
      });
      const at = best && cells.find((cell) => cell.p.x === best.x && cell.p.y === best.y);
      if (at) {
        for (const name of ["best-outer", "best-inner"]) c.over.append(svg("path", { d: shapePath("diamond", at.px, at.py, 8), class: name }));
      }
    },
    nearest: "xy",
    cursor: () => cells.map(({ p, px, py }) => ({ px, py, text: () => [tuple(p), `${surface().objective} ${metric(p.value)}`] })),
  };

  const both = (name) => (...args) => (flat() ? lineOptions : mapOptions)[name](...args);
  chart = new Chart(figure, {
    title: () => `${surface().objective} of ${method.label} for ${count(points.length)} settings of ${names().join(", ")}. Best: ${bestPoint() ? `${tuple(bestPoint())} with ${metric(bestPoint().value)}` : MISSING}; baseline ${metric(surface().baseline)}.`,
    height: both("height"), axes: both("axes"), draw: both("draw"), cursor: both("cursor"), nearest: "xy",
  });

  const refresh = lazyTable(figure, () => buildTable({
    caption: `Settings tried for ${method.label}`,
    columns: [
      { title: names()[0], kind: "number", key: (p) => p.x, text: (p) => short(p.x) },
      ...(flat() ? [] : [{ title: names().at(-1), kind: "number", key: (p) => p.y, text: (p) => short(p.y) }]),
      { title: surface().objective, kind: "number", better: surface().lower_is_better ? "lower" : "higher", key: (p) => p.value, text: (p) => metric(p.value) },
    ],
    rows: points,
  }).host);

  const show = () => {
    method = view.reference.methods[Number(select.value)];
    points = surfacePoints(surface());
    chart.options.nearest = flat() ? "x" : "xy";
    const { objective, lower_is_better: down } = surface();
    const best = surface().best.map((v, i) => `${names()[i]} = ${short(v)}`).join(", ");
    const found = bestPoint();
    byId("search-best").textContent = `${count(surface().points.length)} settings were tried; ${down ? "lower" : "higher"} ${objective} is better. Best: ${best}${found ? ` (${metric(found.value)})` : ""}; the baseline reaches ${metric(surface().baseline)}.${names().length > 2 ? ` Each cell shows the best over ${names()[1]}.` : ""}`;
    chart.render();
    if (flat()) {
      legend(figure, [
        { label: "tried", kind: "circle", class: "filled choice" },
        { label: "best", kind: "diamond", class: "cheapest" },
        { label: "baseline", kind: "line", class: "target" },
      ]);
    } else {
      const { best: good, worst, beaten } = colours();
      legend(figure, [
        { label: "best", kind: "diamond", class: "best-key" },
        ...(beaten ? [{ label: "no better than the baseline", kind: "box", class: "worse" }] : []),
      ]);
      const steps = 24;
      const key = svg("svg", { viewBox: `0 0 ${steps * 5} 12`, width: steps * 5, height: 12, "aria-hidden": "true" },
        ...range(steps).map((i) => svg("rect", { x: i * 5, width: 5.2, height: 12, fill: rampColour(i / (steps - 1)) })));
      figure.querySelector("ul.legend").prepend(el("li", {}, `${metric(good)}`, key, `${metric(worst)}`));
    }
    refresh();
  };

  const having = range(view.reference.methods.length).filter((i) => view.reference.methods[i].raw.surface?.points.length);
  section.hidden = having.length === 0;
  if (having.length) {
    select.replaceChildren(...having.map((i) => el("option", { value: i }, view.reference.methods[i].label)));
    // The choice if it was searched, else a map, which says more than a line.
    const map = having.find((i) => view.reference.methods[i].raw.surface.parameters.length > 1);
    select.value = String(having.includes(view.reference.choice) ? view.reference.choice : map ?? having[0]);
    select.addEventListener("change", show);
  }

  return (level) => {
    if (level < View.METHOD || !having.length) return;
    // The selected method, if it was searched, comes into view by itself.
    if (having.includes(view.index)) select.value = String(view.index);
    else if (method) return;
    show();
  };
}
