// The page of many models: one filter for all sections.

const ZOO_METRICS = {
  naurc: { name: "NAURC", better: "lower", format: metric },
  aurc: { name: "AURC", better: "lower", format: metric },
  auroc: { name: "AUROC", better: "higher", format: metric },
  coverage: { name: "Coverage at the target", better: "higher", format: share },
};

function startPage(page) {
  const models = page.scatter.models;
  const titles = new Map(models.map((m) => [m.model, m.title || m.model]));
  const titleOf = (name) => titles.get(name) ?? name;
  const names = [...new Set([...models.map((m) => m.model), ...page.gains.order])];
  const checked = new Set(names);
  const filter = byId("filter");

  // The gain of the method in the verdict.
  const gain = (name) => num(page.gains.methods.find((m) => m.method === "MaxLogit-pNorm")?.gains[page.gains.order.indexOf(name)]?.mean);
  const shown = (name) => {
    const words = filter.value.trim().toLowerCase();
    return checked.has(name) && (!words || name.toLowerCase().includes(words) || titleOf(name).toLowerCase().includes(words));
  };

  zooApg(page);
  const sections = [zooTable(shown), zooScatter(page, shown, titleOf), zooGains(page, shown, titleOf)];
  const update = oncePerFrame(() => {
    for (const section of sections) section();
    const n = names.filter(shown).length;
    byId("filter-count").textContent = `${count(n)} of ${count(names.length)} models shown`;
    announce(byId("filter-count").textContent);
  });

  const list = byId("model-list");
  const boxes = names.map((name) => {
    const input = el("input", {
      type: "checkbox", name: "model", value: name, checked: true,
      on: { change: () => { if (input.checked) checked.add(name); else checked.delete(name); update(); } },
    });
    return { name, input };
  });
  list.append(...boxes.map(({ name, input }) => el("label", { class: "check" }, input, el("span", {}, titleOf(name)))));
  const only = (test) => () => {
    for (const { name, input } of boxes) {
      input.checked = test(name);
      if (input.checked) checked.add(name); else checked.delete(name);
    }
    update();
  };
  byId("models-all").addEventListener("click", only(() => true));
  byId("models-none").addEventListener("click", only(() => false));
  byId("models-gain").addEventListener("click", only((name) => gain(name) > page.epsilon));
  filter.addEventListener("input", update);
  update();
  for (const section of sections) section();
}

function zooTable(shown) {
  const table = document.querySelector("table.models");
  sortable(table);
  return () => {
    for (const row of table.tBodies[0].rows) row.hidden = row.dataset.model !== undefined && !shown(row.dataset.model);
  };
}

// A domain with a margin around some numbers; never empty.
function roomyDomain(values, share_ = 0.06) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [0, 1];
  const [lo, hi] = [Math.min(...finite), Math.max(...finite)];
  const room = (hi - lo || Math.abs(hi) || 1) * share_;
  return [lo - room, hi + room];
}

function zooScatter(page, shown, titleOf) {
  const figure = byId("scatter-figure");
  const select = byId("metric");
  const { models, correlations } = page.scatter;
  const mean = (stat) => num(stat?.mean);
  const here = () => models.filter((m) => shown(m.model) && Number.isFinite(mean(m.accuracy))
    && (Number.isFinite(mean(m[select.value]?.before)) || Number.isFinite(mean(m[select.value]?.after))));
  const ends = (m) => [mean(m[select.value]?.before), mean(m[select.value]?.after)];
  const chart = new Chart(figure, {
    title: () => {
      const { name, better } = ZOO_METRICS[select.value];
      const improved = here().filter((m) => { const [a, b] = ends(m); return better === "lower" ? b < a : b > a; }).length;
      return `${name} over accuracy for ${count(here().length)} models, before and after tuning. ${count(improved)} of them improve.`;
    },
    height: (width) => Math.max(320, Math.min(480, width * 0.55)),
    axes: () => {
      const { name, better, format } = ZOO_METRICS[select.value];
      const [low, high] = roomyDomain(here().flatMap(ends));
      return {
        x: { domain: roomyDomain(here().map((m) => mean(m.accuracy))), label: "Accuracy at full coverage", format: (v) => `${short(100 * v)} %` },
        y: { domain: [Math.max(0, low), high], label: `${name} (${better} is better)`, format: (v) => (format === share ? `${short(100 * v)} %` : short(v)) },
      };
    },
    draw: (c) => {
      for (const m of here()) {
        const [before, after] = ends(m);
        const x = c.x(mean(m.accuracy));
        const group = svg("g", { "data-model": m.model });
        if (Number.isFinite(before) && Number.isFinite(after)) group.append(svg("line", { class: "link", x1: x, x2: x, y1: c.y(before), y2: c.y(after) }));
        if (Number.isFinite(before)) group.append(svg("path", { class: "hollow baseline", d: shapePath("square", x, c.y(before), 6) }));
        if (Number.isFinite(after)) group.append(svg("path", { class: "filled choice", d: shapePath("circle", x, c.y(after), 4.8) }));
        c.over.append(group);
      }
    },
    nearest: "xy",
    cursor: (c) => here().sort((a, b) => mean(a.accuracy) - mean(b.accuracy)).map((m) => {
      const { name, format } = ZOO_METRICS[select.value];
      const [before, after] = ends(m);
      return {
        px: c.x(mean(m.accuracy)), py: c.y(Number.isFinite(after) ? after : before),
        text: () => [
          titleOf(m.model), `accuracy ${spread(m.accuracy, share)}`,
          `${name}, MSP: ${spread(m[select.value]?.before, format)}`, `${name}, tuned: ${spread(m[select.value]?.after, format)}`,
          `p = ${m.p === "F" ? "none (fell back to MSP)" : m.p === null ? MISSING : short(m.p)}`,
        ],
      };
    }),
  });
  legend(figure, [
    { label: "before: MSP", kind: "square", class: "hollow baseline" },
    { label: "after: MaxLogit-pNorm", kind: "circle", class: "filled choice" },
  ]);
  const refresh = lazyTable(figure, () => {
    const { name, better, format } = ZOO_METRICS[select.value];
    return buildTable({
      caption: `${name} before and after`,
      columns: [
        { title: "Model", key: (m) => titleOf(m.model) },
        { title: "Accuracy", kind: "number", better: "higher", key: (m) => mean(m.accuracy), text: (m) => spread(m.accuracy, share) },
        { title: `${name}, MSP`, kind: "number", better, key: (m) => ends(m)[0], text: (m) => spread(m[select.value]?.before, format) },
        { title: `${name}, tuned`, kind: "number", better, key: (m) => ends(m)[1], text: (m) => spread(m[select.value]?.after, format) },
      ],
      rows: here(), sort: [1, true],
    }).host;
  });
  const update = () => {
    const found = correlations[select.value] ?? {};
    const two = (x) => asText(x, (n) => fixed(n, 2));
    byId("scatter-more").textContent = `Rank correlation with accuracy (Spearman, over all ${count(models.length)} models): ${two(found.before)} before, ${two(found.after)} after. ${select.value === "coverage" ? `Coverage at ${share(page.scatter.target)} accuracy${page.scatter.delta === null ? "" : ` guaranteed with ${short(100 * (1 - page.scatter.delta))} % confidence`}.` : ""}`;
    chart.render();
    refresh();
  };
  select.addEventListener("change", update);
  return update;
}

function zooGains(page, shown, titleOf) {
  const figure = byId("gains-figure");
  const { order, methods } = page.gains;
  const rows = () => range(order.length).filter((i) => shown(order[i]));
  const stat = (m, i) => methods[m].gains[i];
  const look = (m) => `mark hue-${m % 7}`;
  const reach = () => {
    const ends = rows().flatMap((i) => methods.flatMap((_, m) => {
      const s = stat(m, i);
      if (!s || Number.isNaN(num(s.mean))) return [];
      return [num(s.mean) - (num(s.std) || 0), num(s.mean) + (num(s.std) || 0)];
    }));
    return roomyDomain([...ends, 0, page.epsilon, -page.epsilon], 0.04);
  };
  const chart = new Chart(figure, {
    title: () => `Gain over MSP of ${methods.map((m) => m.method).join(", ")} for ${count(rows().length)} models, largest first.`,
    height: () => {
      const n = rows().length;
      // A printed chart must fit one page.
      const step = document.documentElement.dataset.printing ? Math.min(20, Math.max(8.5, 770 / Math.max(1, n))) : 22;
      return 76 + n * step;
    },
    axes: () => ({
      x: { domain: reach(), label: "Gain in NAURC over MSP (right is better)", format: short },
      y: { bands: rows().map((i) => titleOf(order[i])) },
    }),
    draw: (c) => {
      // Every other row is shaded, which separates the markers of models.
      for (let row = 1; row < rows().length; row += 2) {
        c.plot.append(svg("rect", { class: "stripe", x: c.left, width: c.right - c.left, y: c.y(row) - c.step / 2, height: c.step }));
      }
      c.plot.append(svg("rect", { class: "epsilon", x: c.x(-page.epsilon), width: c.x(page.epsilon) - c.x(-page.epsilon), y: c.top, height: c.bottom - c.top }));
      c.upright(0, { class: "zero" });
      const slim = Math.min(5, c.step / (methods.length + 1.5));
      rows().forEach((i, row) => {
        const group = svg("g", { "data-model": order[i] });
        methods.forEach((_, m) => {
          const s = stat(m, i);
          const value = num(s?.mean);
          if (!Number.isFinite(value)) return;
          const y = c.y(row) + (m - (methods.length - 1) / 2) * slim;
          const std = num(s.std);
          if (std > 0) group.append(svg("line", { class: `whisker hue-${m % 7}`, x1: c.x(value - std), x2: c.x(value + std), y1: y, y2: y }));
          group.append(svg("path", { class: look(m), d: shapePath(SHAPES[m % SHAPES.length], c.x(value), y, Math.min(4.2, c.step / 3)) }));
        });
        c.over.append(group);
      });
    },
    nearest: "xy",
    cursor: (c) => rows().map((i, row) => ({
      px: c.x(num(stat(0, i)?.mean) || 0), py: c.y(row),
      text: () => [titleOf(order[i]), ...methods.map((method, m) => `${method.method}: ${spread(stat(m, i), metric)}`)],
    })),
  });
  // The cursor selects a row, whatever its horizontal position.
  chart.find = (px, py) => {
    const row = Math.floor((py - chart.top) / chart.step);
    return row >= 0 && row < rows().length ? row : -1;
  };
  legend(figure, [
    ...methods.map((method, m) => ({ label: method.method, kind: SHAPES[m % SHAPES.length], class: look(m) })),
    { label: `within ε = ${short(page.epsilon)}`, kind: "box", class: "epsilon" },
  ]);
  const refresh = lazyTable(figure, () => buildTable({
    caption: "Gain in NAURC over MSP",
    columns: [
      { title: "Model", key: (i) => titleOf(order[i]) },
      ...methods.map((method, m) => ({
        title: method.method, kind: "number", better: "higher",
        key: (i) => num(stat(m, i)?.mean), text: (i) => spread(stat(m, i), metric),
      })),
    ],
    rows: rows(),
  }).host);
  return () => { chart.render(); refresh(); };
}

// Averages are over all models: they do not follow the filter.
function zooApg(page) {
  const most = Math.max(...page.apg.map((row) => num(row.apg?.mean)).filter(Number.isFinite), 1e-12);
  byId("apg-list").replaceChildren(...page.apg.map(({ method, apg }) => el("tr", {},
    el("th", { scope: "row" }, method),
    el("td", { class: "number" }, spread(apg, metric)),
    el("td", { class: "bar" }, svg("svg", { width: "100%", height: 14, "aria-hidden": "true" },
      svg("rect", { height: 14, rx: 2, class: "filled choice", width: `${Math.max(0, (100 * (num(apg?.mean) || 0)) / most)}%` }))))));
}
