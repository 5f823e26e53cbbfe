// The page of a stream: each panel is a chart that reads its values out. The
// pictures that stand there without a script give way to them.

const panelLook = (i) => `curve hue-${i % 7} dash-${Math.floor(i / 7) % 4}`;

// The value of a line at a place: that of its last point until there.
function valueAt(line, place) {
  let found = -1;
  line.points.forEach(([x], i) => { if (x <= place) found = i; });
  return found;
}

function panelChart(figure, panel) {
  const values = (v) => (panel.y.percent ? share(v) : amount(v));
  const xs = panel.lines.flatMap((line) => line.points.map(([x]) => x));
  const ys = panel.lines.flatMap((line) => line.points.map(([, y]) => y).concat((line.band ?? []).flat()));
  const levels = panel.rules.filter((rule) => rule.y !== null).map((rule) => rule.y);
  const span = (list) => {
    const known = list.filter(Number.isFinite);
    const [lo, hi] = [Math.min(...known), Math.max(...known)];
    const pad = (hi - lo || 1) * 0.05;
    return known.length ? [lo - pad, hi + pad] : [0, 1];
  };
  const longest = panel.lines.reduce((a, b) => (b.points.length > a.points.length ? b : a), { points: [] });
  const text = (place) => panel.lines.map((line) => {
    const i = valueAt(line, place);
    if (i < 0) return `${line.label}: ${MISSING}`;
    const band = line.band?.[i];
    return `${line.label}: ${values(line.points[i][1])}${band ? ` (${values(band[0])} to ${values(band[1])})` : ""}`;
  });
  const chart = new Chart(figure, {
    title: () => {
      const last = longest.points.at(-1);
      return `${panel.title}. ${last ? `${panel.x.label} ${count(last[0])}: ${text(last[0]).join(", ")}.` : ""}`;
    },
    height: (width) => Math.max(240, Math.min(340, width * 0.5)),
    axes: () => ({
      x: { domain: xs.length ? [Math.min(...xs), Math.max(...xs)] : [0, 1], label: panel.x.label, format: count },
      y: {
        domain: panel.y.range ?? span(ys.concat(levels)), label: panel.y.label,
        format: (v) => (panel.y.percent ? `${short(100 * v)} %` : short(v)),
      },
    }),
    draw: (c) => {
      panel.lines.forEach((line, i) => {
        if (!line.band) return;
        c.area(line.points.map(([x]) => x), line.band.map(([low]) => low), line.band.map(([, high]) => high), { class: `band hue-${i % 7}` });
      });
      for (const rule of panel.rules) {
        if (rule.y !== null) c.across(rule.y, { class: "target" }, rule.label);
        else c.upright(rule.x, { class: "target" });
      }
      panel.lines.forEach((line, i) => {
        c.line(line.points.map(([x]) => x), line.points.map(([, y]) => y), { class: panelLook(i), "data-curve": line.label });
      });
    },
    nearest: "x",
    cursor: (c) => longest.points.map(([x, y]) => ({
      px: c.x(x),
      py: Math.min(c.bottom, Math.max(c.top, c.y(y))),
      text: () => [`${panel.x.label} ${count(x)}`, ...text(x)],
    })),
  });
  lazyTable(figure, () => buildTable({
    caption: panel.title,
    plain: true,
    columns: [
      { title: panel.x.label, kind: "number", key: ([x]) => count(x) },
      ...panel.lines.map((line) => ({
        title: line.label, kind: "number",
        key: ([x]) => { const i = valueAt(line, x); return i < 0 ? MISSING : values(line.points[i][1]); },
      })),
    ],
    rows: longest.points,
  }).host);
  legend(figure, [
    ...panel.lines.map((line, i) => ({ label: line.label, kind: "line", class: panelLook(i) })),
    ...panel.rules.map((rule) => ({ label: rule.label, kind: "line", class: "target" })),
  ]);
  chart.render();
}

function startPage(page) {
  for (const node of document.querySelectorAll("[data-static]")) node.hidden = true;
  page.panels.forEach((panel, i) => panelChart(byId(`panel-${i}`), panel));
}
