// Section "Other sets": the same threshold on every set, side by side.

function setsSection(view) {
  if (view.sets.length < 2) return () => {};
  const grid = byId("set-grid");
  const select = byId("set");
  const bar = byId("set-line");
  select.addEventListener("change", () => view.showSet(Number(select.value)));

  const charts = view.sets.map((set, s) => {
    const figure = el("figure", { class: "chart small" },
      el("h3", {}, s === 0 ? `${set.name} · reference` : set.name),
      el("div", { class: "plot" }));
    grid.append(figure);
    let marker = null;
    const lines = () => [...new Set([set.baseline, set.choice])];
    // The same axes everywhere, or the eye compares the wrong thing.
    const ceiling = () => riskCeiling(view, view.sets.flatMap((other) => [other.baseline, other.choice].map((i) => ({ set: other, method: other.methods[i] }))));
    return new Chart(figure, {
      title: () => {
        const { method, position } = view.on(set);
        return `Curves on ${set.name}. At the current threshold of ${method.label}: ${share(coverageAt(method, position))} coverage, ${view.quality(riskAt(method, position))}.`;
      },
      height: () => 230,
      axes: () => ({ x: { ...coverageAxis(), label: "Coverage" }, y: { ...riskAxis(view, ceiling()), label: view.zeroOne ? "Wrong answers" : "Mean loss" } }),
      draw: (c) => {
        c.across(view.targetRisk, { class: "target" });
        for (const i of lines()) {
          const { xs, ys } = curvePoints(set.methods[i]);
          c.line(xs, ys, { class: curveClass(set, i, -1) });
        }
        marker = svg("circle", { r: 6, class: "marker" });
        c.over.append(marker);
      },
      update: (c) => {
        const { method, position } = view.on(set);
        const risk = riskAt(method, position);
        marker.setAttribute("visibility", Number.isFinite(risk) ? "visible" : "hidden");
        if (Number.isFinite(risk)) put(marker, { cx: c.x(coverageAt(method, position)), cy: Math.max(c.top, c.y(risk)) });
      },
      nearest: "x",
      cursor: (c) => {
        const method = set.methods[set.choice];
        return range(lastOf(method) + 1).filter((i) => method.accepted[i] > 0).map((i) => ({
          px: c.x(coverageAt(method, i)), py: Math.max(c.top, c.y(riskAt(method, i))),
          text: () => [`Coverage ${share(coverageAt(method, i))}`, ...lines().map((k) => {
            const other = set.methods[k];
            return `${other.label}: ${view.quality(riskAt(other, coveringPosition(other, method.accepted[i])))}`;
          })],
        }));
      },
    });
  });
  const { reference } = view;
  legend(byId("sets-figure"), [
    { label: `${reference.methods[reference.choice].label} · ${view.word}`, kind: "line", class: "curve choice" },
    ...(reference.choice === reference.baseline ? [] : [{ label: `${reference.methods[reference.baseline].label} · baseline`, kind: "line", class: "curve baseline" }]),
    { label: "target", kind: "line", class: "target" },
    { label: "current threshold", kind: "circle", class: "marker" },
  ]);

  const refresh = lazyTable(byId("sets-figure"), () => buildTable({
    caption: `${view.zeroOne ? "Selective risk" : "Mean loss"} by coverage`,
    plain: true,
    columns: [
      { title: "Coverage of at least", kind: "number", key: share },
      ...view.sets.flatMap((set) => [...new Set([set.baseline, set.choice])].map((i) => ({
        title: `${set.name}, ${set.methods[i].label}`, kind: "number",
        key: (c) => view.risk(riskAt(set.methods[i], coveringPosition(set.methods[i], c * set.rows))),
      }))),
    ],
    rows: range(10).map((k) => (k + 1) / 10),
  }).host);

  const cell = (row, name, value, text) => {
    const node = row.querySelector(`td[data-out="${name}"]`);
    node.dataset.value = Number.isNaN(value) ? "" : String(value);
    node.textContent = text;
  };
  const table = () => view.sets.forEach((set, s) => {
    const row = document.querySelector(`#sets tr[data-set="${s}"]`);
    const { method, position, same } = view.on(set);
    cell(row, "rows", set.rows, count(set.rows));
    const coverage = coverageAt(method, position);
    const risk = riskAt(method, position);
    const errors = (1000 * method.loss[position]) / method.rows;
    if (!same) {
      for (const name of ["coverage", "accuracy", "errors", "referred"]) cell(row, name, NaN, MISSING);
      cell(row, "met", NaN, "method not measured here");
      return;
    }
    cell(row, "coverage", coverage, share(coverage));
    cell(row, "accuracy", view.zeroOne ? 1 - risk : risk, view.zeroOne ? share(1 - risk) : metric(risk));
    cell(row, "errors", errors, view.zeroOne ? ofThousand(errors) : amount(errors));
    cell(row, "referred", 1000 * (1 - coverage), count(1000 * (1 - coverage)));
    const met = meets(view.target, method.accepted[position], method.loss[position]);
    cell(row, "met", Number(met), position === 0 ? "nothing answered" : met ? "✓ yes" : "✗ no");
    row.dataset.met = position === 0 ? "none" : met ? "yes" : "no";
  });

  return (level) => {
    if (level >= View.METHOD) { refresh(); }
    for (const chart of charts) {
      if (!chart.width) chart.render();
      else {
        chart.options.update(chart);
        chart.svg.firstChild.textContent = chart.options.title();
      }
    }
    table();
    const { method, position, same } = view.shown;
    select.value = String(view.set);
    bar.textContent = `${same ? "" : `${view.method.name} was not measured here; `}${method.label} at ${same ? "your threshold" : "the same coverage"}: ${share(coverageAt(method, position))} answered, ${view.quality(riskAt(method, position))}`;
  };
}
