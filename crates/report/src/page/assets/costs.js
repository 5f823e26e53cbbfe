// "What does it cost?": errors and hand-overs priced, and the cheapest point.

function costSection(view) {
  const figure = byId("cost-figure");
  const price = { error: 10, referral: 1 };
  let cheapest = 0;
  let marker = null;

  const per = (i) => 1000 * costAt(view.method, i, price.error, price.referral);

  const chart = new Chart(figure, {
    title: () => `Cost per 1,000 inputs over coverage with ${view.method.label}: lowest, ${amount(per(cheapest))}, at ${share(coverageAt(view.method, cheapest))} coverage.`,
    height: (width) => Math.max(190, Math.min(260, width * 0.5)),
    axes: () => {
      const all = range(lastOf(view.method) + 1).map(per);
      return {
        x: { domain: [0, 1], label: "Coverage", format: (v) => `${short(100 * v)} %` },
        y: { domain: [0, Math.max(...all, 1e-9) * 1.08], label: "Cost per 1,000 inputs", format: amount },
      };
    },
    draw: (c) => {
      const { method } = view;
      const all = range(lastOf(method) + 1);
      c.line(all.map((i) => coverageAt(method, i)), all.map(per), { class: "curve choice" });
      c.dot("diamond", coverageAt(method, cheapest), per(cheapest), 6, { class: "cheapest" });
      marker = svg("circle", { r: 6, class: "marker" });
      c.over.append(marker);
    },
    update: (c) => put(marker, { cx: c.x(coverageAt(view.method, view.position)), cy: c.y(per(view.position)) }),
    nearest: "x",
    cursor: (c) => range(lastOf(view.method) + 1).map((i) => ({
      px: c.x(coverageAt(view.method, i)), py: c.y(per(i)),
      text: () => [`Coverage ${share(coverageAt(view.method, i))}`, `costs ${amount(per(i))} per 1,000`],
    })),
    drag: (coverage) => view.request("coverage", coverage),
  });
  legend(figure, [
    { label: "cheapest point", kind: "diamond", class: "cheapest" },
    { label: "your point", kind: "circle", class: "marker" },
  ]);
  const refresh = lazyTable(figure, () => buildTable({
    caption: `Cost per 1,000 inputs with ${view.method.label}`,
    plain: true,
    columns: [
      { title: "Coverage", kind: "number", key: (i) => share(coverageAt(view.method, i)) },
      { title: "Cost", kind: "number", key: (i) => amount(per(i)) },
    ],
    rows: range(21).map((k) => nearestPosition(view.method, (k / 20) * view.method.rows)),
  }).host);

  const point = () => writeOutput("cost", per(view.position), amount(per(view.position)));
  const all = () => {
    cheapest = cheapestPosition(view.method, price.error, price.referral);
    writeOutput("cheapest-cost", per(cheapest), amount(per(cheapest)));
    writeOutput("cheapest-coverage", coverageAt(view.method, cheapest), share(coverageAt(view.method, cheapest)));
    writeOutput("everything-cost", per(lastOf(view.method)), amount(per(lastOf(view.method))));
    writeOutput("nothing-cost", per(0), amount(per(0)));
    chart.render();
    refresh();
  };
  for (const [name, id] of [["error", "error-cost"], ["referral", "referral-cost"]]) {
    byId(id).addEventListener("input", (event) => {
      const value = event.target.valueAsNumber;
      if (!(value >= 0) || !Number.isFinite(value)) return;
      price[name] = value;
      all();
      point();
    });
    // What is not a price is not stored.
    byId(id).addEventListener("change", (event) => { event.target.value = price[name]; });
  }
  byId("cheapest").addEventListener("click", () => view.go(cheapest));

  return (level) => {
    if (level >= View.METHOD) all();
    else if (chart.width) chart.options.update(chart);
    point();
  };
}
