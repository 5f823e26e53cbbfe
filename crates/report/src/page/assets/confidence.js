// Section "Confidence of right and wrong answers": histograms with the
// threshold, and the reliability of confidences that are probabilities.

function histogramChart(figure, view, which) {
  let handed = null;
  let line = null;
  let word = null;
  const edges = () => which().method.raw.histogram.edges.map(num);
  // The bins at the ends hold also what lies beyond them.
  const between = (i) => {
    const all = edges();
    if (i === 0) return `up to ${short(all[1])}`;
    return i + 2 === all.length ? `from ${short(all[i])}` : `${short(all[i])} to ${short(all[i + 1])}`;
  };
  const chart = new Chart(figure, {
    title: () => {
      const { method, position } = which();
      return `Histogram of the confidence of ${method.label}: right answers above the line, wrong ones below. ${share(coverageAt(method, position))} of the rows lie at or above the threshold ${short(method.threshold[position])}.`;
    },
    height: () => 270,
    axes: () => {
      const { raw } = which().method;
      const all = edges();
      const top = Math.max(...raw.histogram.right, 1);
      const low = Math.max(...raw.histogram.wrong, top * 0.12);
      return {
        x: { domain: [all[0], all.at(-1)], label: "Confidence", format: short },
        y: { domain: [-low * 1.05, top * 1.05], label: "Rows (right up, wrong down)", format: (v) => count(Math.abs(v)) },
      };
    },
    draw: (c) => {
      const { right, wrong } = which().method.raw.histogram;
      const all = edges();
      handed = svg("rect", { class: "handed", x: c.left, y: c.top, height: c.bottom - c.top });
      c.plot.append(handed);
      const gap = (all[1] - all[0]) * 0.08;
      right.forEach((n, i) => {
        if (n) c.box(all[i] + gap, 0, all[i + 1] - gap, n, { class: "right" });
        if (wrong[i]) c.box(all[i] + gap, 0, all[i + 1] - gap, -wrong[i], { class: "wrong" });
      });
      c.plot.append(svg("line", { class: "zero", x1: c.left, x2: c.right, y1: c.y(0), y2: c.y(0) }));
      line = c.upright(all[0], { class: "threshold" });
      word = svg("text", { class: "word strong", y: c.top + 11 });
      c.over.append(word);
    },
    update: (c) => {
      const { method, position } = which();
      const place = Math.min(c.right, Math.max(c.left, c.x(method.threshold[position])));
      put(line, { x1: place, x2: place });
      handed.setAttribute("width", place - c.left);
      const late = place > c.width / 2;
      put(word, { x: place + (late ? -6 : 6), "text-anchor": late ? "end" : "start" });
      word.textContent = position === 0 ? "nothing answered" : late ? "← handed over" : "answered →";
    },
    nearest: "x",
    cursor: (c) => {
      const { right, wrong } = which().method.raw.histogram;
      const all = edges();
      return right.map((n, i) => ({
        px: c.x((all[i] + all[i + 1]) / 2), py: c.y(n),
        text: () => [`Confidence ${between(i)}`, `${count(n)} right`, `${count(wrong[i])} wrong`],
      }));
    },
  });
  legend(figure, [
    { label: view.zeroOne ? "right" : "no loss", kind: "box", class: "right" },
    { label: view.zeroOne ? "wrong" : "some loss", kind: "box", class: "wrong" },
    { label: "threshold", kind: "line", class: "threshold" },
    { label: "handed over", kind: "box", class: "handed" },
  ]);
  const refresh = lazyTable(figure, () => {
    const { histogram } = which().method.raw;
    return buildTable({
      caption: `Confidence of ${which().method.label}`,
      plain: true,
      columns: [
        { title: "Confidence", key: between },
        { title: "Right", kind: "number", key: (i) => count(histogram.right[i]) },
        { title: "Wrong", kind: "number", key: (i) => count(histogram.wrong[i]) },
      ],
      rows: range(histogram.right.length),
    }).host;
  });
  const heading = figure.querySelector("h3");
  return (level) => {
    if (level >= View.METHOD) {
      const { method, set } = which();
      const role = method === set.methods[set.choice] ? (view.word === "chosen" ? "Chosen method" : "Measured") : method === set.methods[set.baseline] ? "Baseline" : "Selected method";
      heading.replaceChildren(role, el("small", {}, method.label));
      chart.render();
      refresh();
    } else if (chart.width) chart.options.update(chart);
  };
}

function reliabilityChart(figure) {
  let method = null;
  const bins = () => method.raw.reliability.bins.filter((bin) => bin.rows > 0 && bin.confidence !== null && bin.accuracy !== null);
  const chart = new Chart(figure, {
    title: () => `Reliability of ${method.label}: expected calibration error ${metric(method.raw.reliability.ece)}. ${bins().filter((bin) => bin.accuracy < bin.confidence).length} of ${bins().length} bins claim more than they keep.`,
    height: () => 270,
    axes: () => ({
      x: { domain: [0, 1], label: "What the confidence claims", format: (v) => `${short(100 * v)} %` },
      y: { domain: [0, 1], label: "Share that is right", format: (v) => `${short(100 * v)} %` },
    }),
    draw: (c) => {
      const most = Math.max(...bins().map((bin) => bin.rows), 1);
      for (const bin of bins()) c.box(num(bin.lower), 0, num(bin.upper), (0.3 * bin.rows) / most, { class: "rows" });
      c.line([0, 1], [0, 1], { class: "diagonal" });
      c.line(bins().map((bin) => bin.confidence), bins().map((bin) => bin.accuracy), { class: "curve choice" });
      for (const bin of bins()) c.dot("circle", bin.confidence, bin.accuracy, 4.5, { class: "filled choice" });
    },
    nearest: "x",
    cursor: (c) => bins().map((bin) => ({
      px: c.x(bin.confidence), py: c.y(bin.accuracy),
      text: () => [`Claims ${share(bin.confidence)}`, `${share(bin.accuracy)} are right`, `${count(bin.rows)} rows`],
    })),
  });
  legend(figure, [
    { label: "this method", kind: "circle", class: "filled choice" },
    { label: "perfect", kind: "line", class: "diagonal" },
    { label: "number of rows", kind: "box", class: "rows" },
  ]);
  const refresh = lazyTable(figure, () => buildTable({
    caption: `Reliability of ${method.label}`,
    plain: true,
    columns: [
      { title: "From", kind: "number", key: (bin) => share(bin.lower) },
      { title: "to", kind: "number", key: (bin) => share(bin.upper) },
      { title: "Rows", kind: "number", key: (bin) => count(bin.rows) },
      { title: "Claimed", kind: "number", key: (bin) => share(bin.confidence) },
      { title: "Right", kind: "number", key: (bin) => share(bin.accuracy) },
    ],
    rows: method.raw.reliability.bins,
  }).host);
  return (chosen, instead) => {
    method = chosen;
    figure.hidden = !method;
    if (!method) return;
    figure.querySelector("h3").replaceChildren("Reliability", el("small", {}, method.label));
    figure.querySelector(".more").textContent = `Expected calibration error: ${metric(method.raw.reliability.ece)}.${instead ? " The selected method is no probability, so this is the baseline." : ""}`;
    chart.render();
    refresh();
  };
}

function confidenceSection(view) {
  const first = byId("histogram-baseline");
  const reliability = reliabilityChart(byId("reliability-figure"));
  const selected = histogramChart(byId("histogram-selected"), view, () => view.shown);
  const baseline = histogramChart(first, view, () => {
    // Confidences of two methods do not compare: same coverage instead.
    const { set, method, position } = view.shown;
    const base = set.methods[set.baseline];
    return { set, method: base, position: nearestPosition(base, method.accepted[position]) };
  });
  return (level) => {
    const { set, method } = view.shown;
    const base = set.methods[set.baseline];
    if (level >= View.METHOD) {
      first.hidden = base === method;
      const found = method.raw.reliability;
      reliability(found ? method : base.raw.reliability ? base : null, !found);
    }
    selected(level);
    if (!first.hidden) baseline(level);
  };
}
