// Section "Who pays for the abstentions?": coverage and accuracy by true
// class, for the baseline and the chosen method at the same coverage.

const FEW_CLASSES = 30; // more than this many rows of dots read as noise

function nearestLevel(table, accepted) {
  let best = 0;
  table.accepted.forEach((k, j) => {
    if (Math.abs(k - accepted) < Math.abs(table.accepted[best] - accepted)) best = j;
  });
  return best;
}

// Per class: rows, coverage, quality (accuracy, or mean loss if graded).
function classNumbers(view, method, accepted) {
  const table = method.raw.by_class;
  if (!table) return null;
  const level = accepted === 0 ? -1 : nearestLevel(table, accepted);
  const none = table.rows.map(() => 0); // nothing is answered
  const answered = table.answered[level] ?? none;
  const loss = table.loss[level] ?? none;
  return {
    coverage: (table.accepted[level] ?? 0) / method.rows,
    classes: table.rows.map((rows, k) => {
      const risk = answered[k] > 0 ? num(loss[k]) / answered[k] : NaN;
      return { k, rows, coverage: rows > 0 ? answered[k] / rows : NaN, quality: view.zeroOne ? 1 - risk : risk };
    }),
    key: `${method.label} ${level}`,
  };
}

function classesSection(view) {
  const section = byId("classes");
  const figures = { coverage: byId("class-coverage"), quality: byId("class-quality"), scatter: byId("class-scatter") };
  const wordQuality = view.zeroOne ? "accuracy of the answers" : "mean loss of the answers";
  const qualityText = view.zeroOne ? share : metric;
  const filter = byId("class-filter");
  const which = byId("class-method");
  let now = null; // {choice, baseline, order}: what is on the screen
  let seen = "";
  let table = null;

  const side = (name) => now[name] ?? now.choice ?? now.baseline;
  const matches = (k) => view.className(k).toLowerCase().includes(filter.value.trim().toLowerCase());

  // ---- few classes: one row of dots for each -------------------------------

  // `ends` gives the domain; it is called again while sliding, and a dot that
  // would fall outside makes the chart draw itself anew.
  const dots = (figure, field, format, label, ends) => {
    let nodes = [];
    let domain = null;
    const values = (k) => ["baseline", "choice"].filter((name) => now[name]).map((name) => [name, now[name].classes[k][field]]);
    const chart = new Chart(figure, {
      title: () => `${label} by class. Lowest with the chosen method: ${[...side("choice").classes].filter((c) => Number.isFinite(c[field])).sort((a, b) => a[field] - b[field]).slice(0, 3).map((c) => `${view.className(c.k)} ${format(c[field])}`).join(", ")}.`,
      height: () => 60 + now.order.length * 24,
      axes: () => ({
        x: { domain: (domain = ends()), label, format: (v) => (field === "quality" && !view.zeroOne ? short(v) : `${short(100 * v)} %`) },
        y: { bands: now.order.map((k) => view.className(k)) },
      }),
      draw: (c) => {
        nodes = now.order.map(() => {
          const made = {
            link: svg("line", { class: "link" }),
            baseline: svg("path", { class: "hollow baseline" }),
            choice: svg("path", { class: "filled choice" }),
          };
          c.over.append(made.link, made.baseline, made.choice);
          return made;
        });
      },
      update: (c) => now.order.forEach((k, i) => {
        const found = Object.fromEntries(values(k));
        const y = c.y(i);
        for (const [name, shape] of [["baseline", "square"], ["choice", "circle"]]) {
          const x = c.x(found[name]);
          nodes[i][name].setAttribute("d", Number.isFinite(x) ? shapePath(shape, x, y, name === "choice" ? 5.5 : 5) : "");
        }
        const both = Number.isFinite(found.baseline) && Number.isFinite(found.choice);
        put(nodes[i].link, { x1: both ? c.x(found.baseline) : 0, x2: both ? c.x(found.choice) : 0, y1: y, y2: y });
      }),
      cursor: (c) => now.order.map((k, i) => ({
        px: c.x(side("choice").classes[k][field] || 0), py: c.y(i),
        text: () => [view.className(k), ...values(k).map(([name, value]) => `${name === "choice" ? view.word : "baseline"}: ${format(value)}`), `${count(side("choice").classes[k].rows)} rows`],
      })),
    });
    chart.move = () => {
      if (String(ends()) !== String(domain)) chart.render();
      else chart.options.update(chart);
      chart.points = null;
    };
    return chart;
  };
  const qualityEnds = () => {
    const all = [now.choice, now.baseline].filter(Boolean).flatMap((n) => n.classes.map((c) => c.quality)).filter(Number.isFinite);
    if (!view.zeroOne) return [0, Math.max(...all, 1e-9) * 1.05];
    return [Math.max(0, Math.floor(10 * Math.min(...all, 0.95) - 0.2) / 10), 1];
  };
  const fewCharts = [
    [figures.coverage, dots(figures.coverage, "coverage", share, "Coverage of the class", () => [0, 1])],
    [figures.quality, dots(figures.quality, "quality", qualityText, `${wordQuality.charAt(0).toUpperCase()}${wordQuality.slice(1)}`,
      qualityEnds)],
  ];

  // ---- many classes: a cloud ---------------------------------------------

  const scatter = (() => {
    let nodes = [];
    const classes = () => side(which.value).classes;
    const radius = () => {
      const most = Math.max(...classes().map((c) => c.rows), 1);
      return (c) => 2 + 5 * Math.sqrt(c.rows / most);
    };
    const top = () => (view.zeroOne ? 1 : Math.max(...classes().map((c) => c.quality || 0), 1e-9) * 1.05);
    return new Chart(figures.scatter, {
      title: () => `Each of ${count(classes().length)} classes: coverage to the right, ${wordQuality} upwards. ${count(classes().filter((c) => c.coverage === 0).length)} classes are never answered.`,
      height: (width) => Math.max(280, Math.min(420, width * 0.5)),
      axes: () => ({
        x: { domain: [0, 1], label: "Coverage of the class", format: (v) => `${short(100 * v)} %` },
        y: { domain: [0, top() * 1.03], label: `${wordQuality.charAt(0).toUpperCase()}${wordQuality.slice(1)}`, format: (v) => (view.zeroOne ? `${short(100 * v)} %` : short(v)), ticks: view.zeroOne ? [0, 0.2, 0.4, 0.6, 0.8, 1] : undefined },
      }),
      draw: (c) => {
        nodes = classes().map(() => svg("circle", { class: "cloud" }));
        c.over.append(...nodes);
      },
      update: (c) => {
        const size = radius();
        const searching = filter.value.trim() !== "";
        classes().forEach((item, i) => {
          const seenHere = Number.isFinite(item.coverage) && Number.isFinite(item.quality);
          nodes[i].setAttribute("visibility", seenHere ? "visible" : "hidden");
          if (seenHere) put(nodes[i], { cx: c.x(item.coverage), cy: c.y(item.quality), r: size(item) });
          nodes[i].setAttribute("class", !searching ? "cloud" : matches(item.k) ? "cloud found" : "cloud dim");
        });
        c.points = null;
      },
      cursor: (c) => classes().filter((item) => Number.isFinite(item.quality) && matches(item.k)).map((item) => ({
        px: c.x(item.coverage), py: c.y(item.quality),
        text: () => [view.className(item.k), `coverage ${share(item.coverage)}`, `${wordQuality}: ${qualityText(item.quality)}`, `${count(item.rows)} rows`],
      })),
    });
  })();

  // ---- the numbers -------------------------------------------------------

  const columns = () => {
    const list = [
      { title: "Class", key: (row) => view.className(row.k) },
      { title: "Rows", kind: "number", key: (row) => row.rows, text: (row) => count(row.rows) },
    ];
    for (const [name, word] of [["choice", view.word], ["baseline", "baseline"]]) {
      if (!now[name]) continue;
      list.push(
        { title: `Coverage, ${word}`, kind: "number", key: (row) => now[name].classes[row.k].coverage, text: (row) => share(now[name].classes[row.k].coverage) },
        { title: `${view.zeroOne ? "Accuracy" : "Mean loss"}, ${word}`, kind: "number", key: (row) => now[name].classes[row.k].quality, text: (row) => qualityText(now[name].classes[row.k].quality) },
      );
    }
    return list;
  };
  const rows = () => side("choice").classes.filter((row) => row.rows > 0);
  const caption = () => `Classes at ${share(side("choice").coverage)} coverage`;
  const refreshFew = fewCharts.map(([figure]) => lazyTable(figure, () => buildTable({ caption: caption(), columns: columns(), rows: rows(), sort: [2, false] }).host));
  const refreshMany = lazyTable(figures.scatter, () => buildTable({ caption: caption(), columns: columns(), rows: rows(), sort: [2, false] }).host);

  const worst = () => {
    const found = rows().filter((row) => matches(row.k));
    byId("class-count").textContent = `${count(found.length)} of ${count(rows().length)} classes match; up to 20 are listed, sorted by the column you choose.`;
    if (table) { table.update(found); return; }
    table = buildTable({ caption: "Classes, sorted by the marked column", columns: columns(), rows: found, limit: 20, sort: [2, false] });
    byId("class-table").replaceChildren(table.host);
  };
  filter.addEventListener("input", oncePerFrame(() => { worst(); if (scatter.width) scatter.options.update(scatter); }));
  which.addEventListener("change", () => { scatter.render(); });

  const items = () => [
    now.choice ? { label: `${now.names.choice} · ${view.word}`, kind: "circle", class: "filled choice" } : null,
    now.baseline ? { label: `${now.names.baseline} · baseline`, kind: "square", class: "hollow baseline" } : null,
  ].filter(Boolean);

  // A thousand circles and a table are too much for every step of a slider.
  let timer = 0;
  const many = () => (view.sets[view.set].classes ?? 0) > FEW_CLASSES;
  return (level) => {
    clearTimeout(timer);
    if (level < View.METHOD && many()) timer = setTimeout(show, 120, level); else show(level);
  };

  function show(level) {
    const { set, method, position } = view.shown;
    const [choice, base] = [set.methods[set.choice], set.methods[set.baseline]];
    section.hidden = !choice.raw.by_class && !base.raw.by_class;
    if (section.hidden) return;
    const accepted = method.accepted[position];
    const fresh = {
      choice: classNumbers(view, choice, accepted),
      baseline: choice === base ? null : classNumbers(view, base, accepted),
      names: { choice: choice.label, baseline: base.label },
    };
    const key = `${view.set} ${fresh.choice?.key} ${fresh.baseline?.key}`;
    if (level < View.METHOD && key === seen) return; // still the same level
    const whole = level >= View.SET || now === null;
    seen = key;
    const crowded = (fresh.choice ?? fresh.baseline).classes.length > FEW_CLASSES;
    // Sorted once per set: rows that jump while one drags cannot be read.
    fresh.order = whole && !crowded
      ? [...(fresh.choice ?? fresh.baseline).classes].sort((a, b) => compareKeys(a.coverage, b.coverage, false)).map((c) => c.k)
      : now?.order;
    now = fresh;
    const of = side("choice").classes;
    const never = of.filter((c) => c.rows > 0 && c.coverage === 0).length;
    const absent = of.filter((c) => c.rows === 0).length;
    byId("class-level").textContent = `Shown for ${[now.choice && now.names.choice, now.baseline && now.names.baseline].filter(Boolean).join(" and ")} at ${share(side("choice").coverage)} coverage of ${set.name}, the stored level nearest to your point.${
      never ? ` Classes of which nothing is answered: ${count(never)}${crowded ? ", which are not drawn" : ""}.` : ""}${
      absent ? ` Classes without a row: ${count(absent)}.` : ""}`;
    byId("classes-few").hidden = crowded;
    byId("classes-many").hidden = !crowded;
    if (crowded) {
      which.closest("label").hidden = !now.baseline || !now.choice;
      if (whole) {
        table = null;
        scatter.render();
      } else if (scatter.width) scatter.options.update(scatter);
      if (whole || scatter.width) worst();
      refreshMany();
    } else {
      for (const [figure, chart] of fewCharts) {
        if (whole) { chart.render(); legend(figure, items()); } else if (chart.width) chart.move();
      }
      refreshFew.forEach((refresh) => refresh());
    }
  }
}
