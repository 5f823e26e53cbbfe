// Section "Risk–coverage curves": what each method makes of the same rows,
// with the operating point on the curve.

// A method's look: the three that matter have fixed looks, the others take
// turns, so that hue and dash together tell them apart.
function curveClass(set, index, selected) {
  if (index === "oracle") return "curve oracle";
  if (index === set.choice) return "curve choice";
  if (index === set.baseline) return "curve baseline";
  if (index === selected) return "curve selected";
  return `curve other hue-${index % 7} dash-${Math.floor(index / 7) % 4}`;
}

function curvePoints(method) {
  const keep = range(lastOf(method) + 1).filter((i) => method.accepted[i] > 0);
  return { xs: keep.map((i) => coverageAt(method, i)), ys: keep.map((i) => riskAt(method, i)) };
}

// The first few rows swing wildly; they must not set the scale.
function riskCeiling(view, entries) {
  let top = view.targetRisk * 1.25;
  for (const { set, method } of entries) {
    for (let i = 1; i <= lastOf(method); i += 1) {
      if (method.accepted[i] >= 0.1 * set.rows) top = Math.max(top, riskAt(method, i));
    }
  }
  return top > 0 ? top * 1.08 : 1;
}

const coverageAxis = () => ({ domain: [0, 1], label: "Coverage: share of inputs answered", format: (v) => `${short(100 * v)} %` });
const riskAxis = (view, top) => ({
  domain: [0, top],
  label: view.zeroOne ? "Selective risk: share of wrong answers" : "Mean loss of the answers",
  format: (v) => (view.zeroOne ? `${short(100 * v)} %` : short(v)),
});

function curvesSection(view) {
  const figure = byId("curves-figure");
  const boxes = byId("curve-list");
  const wanted = new Set(["oracle"]); // labels, so that a choice outlives a change of set
  for (const i of [view.reference.baseline, view.reference.choice]) wanted.add(view.reference.methods[i].label);
  let parts = null;

  const drawn = () => {
    const { set, index } = view.shown;
    return range(set.methods.length).filter((i) => i === index || wanted.has(set.methods[i].label));
  };

  const chart = new Chart(figure, {
    title: () => {
      const { set, method, position } = view.shown;
      const base = set.methods[set.baseline];
      return `Risk–coverage curves on ${set.name}. Answering everything: ${view.quality(riskAt(base, lastOf(base)))}. With ${method.label} at ${share(coverageAt(method, position))} coverage: ${view.quality(riskAt(method, position))}.`;
    },
    height: (width) => Math.max(280, Math.min(440, width * 0.55)),
    axes: () => {
      const { set } = view.shown;
      return { x: coverageAxis(), y: riskAxis(view, riskCeiling(view, drawn().map((i) => ({ set, method: set.methods[i] })))) };
    },
    draw: (c) => {
      const { set, index } = view.shown;
      const list = drawn();
      // The selected curve last, on top.
      list.sort((a, b) => Number(a === index) - Number(b === index));
      for (const i of list) {
        const band = set.methods[i].raw.band;
        const role = curveClass(set, i, index).split(" ")[1];
        if (band && role !== "other") c.area(band.coverage.map(num), band.low.map(num), band.high.map(num), { class: `band ${role}` });
      }
      c.across(view.targetRisk, { class: "target" }, "target");
      if (wanted.has("oracle")) {
        c.line(set.oracle.coverage.map(num), set.oracle.selective_risk.map(num), { class: "curve oracle", "data-curve": "oracle" });
      }
      for (const i of list) {
        const { xs, ys } = curvePoints(set.methods[i]);
        c.line(xs, ys, { class: `${curveClass(set, i, index)}${i === index ? " on-top" : ""}`, "data-curve": i });
      }
      parts = {
        down: svg("line", { class: "guide", y2: c.bottom }),
        side: svg("line", { class: "guide", x1: c.left }),
        marker: svg("circle", { r: 7, class: "marker" }),
        word: svg("text", { class: "word strong" }),
      };
      c.over.append(...Object.values(parts));
    },
    update: (c) => {
      const { method, position } = view.shown;
      const risk = riskAt(method, position);
      const shown = Number.isFinite(risk);
      for (const part of Object.values(parts)) part.setAttribute("visibility", shown ? "visible" : "hidden");
      if (!shown) return;
      const x = c.x(coverageAt(method, position));
      const y = Math.max(c.top, c.y(risk));
      put(parts.down, { x1: x, x2: x, y1: y });
      put(parts.side, { x2: x, y1: y, y2: y });
      put(parts.marker, { cx: x, cy: y });
      const words = `${share(coverageAt(method, position))} answered, ${view.quality(risk)}`;
      parts.word.textContent = words;
      // Left of the marker, above a rising curve, there is most often room.
      const wide = textWidth(words);
      const anchor = x - 12 - wide > c.left ? "end" : x + 12 + wide < c.right ? "start" : "middle";
      const middle = Math.min(c.right - wide / 2, Math.max(c.left + wide / 2, x));
      put(parts.word, {
        x: { end: x - 12, start: x + 12, middle }[anchor],
        y: Math.max(c.top + 12, y - (anchor === "middle" ? 18 : 12)), "text-anchor": anchor,
      });
    },
    nearest: "x",
    cursor: (c) => {
      const { set, method } = view.shown;
      return range(lastOf(method) + 1).filter((i) => method.accepted[i] > 0).map((i) => ({
        px: c.x(coverageAt(method, i)),
        py: Math.max(c.top, c.y(riskAt(method, i))),
        text: () => [
          `Coverage ${share(coverageAt(method, i))}`,
          ...drawn().slice(0, 8).map((k) => {
            const other = set.methods[k];
            return `${other.label}: ${view.quality(riskAt(other, coveringPosition(other, method.accepted[i])))}`;
          }),
        ],
      }));
    },
    drag: (coverage) => view.dragTo(coverage),
  });

  const refresh = lazyTable(figure, () => {
    const { set } = view.shown;
    const columns = drawn().map((i) => ({
      title: set.methods[i].label, kind: "number",
      key: (c) => view.risk(riskAt(set.methods[i], coveringPosition(set.methods[i], c * set.rows))),
    }));
    return buildTable({
      caption: `${view.zeroOne ? "Selective risk" : "Mean loss"} by coverage on ${set.name}`,
      plain: true,
      columns: [{ title: "Coverage of at least", kind: "number", key: share }, ...columns],
      rows: range(20).map((k) => (k + 1) / 20),
    }).host;
  });

  const keys = () => {
    const { set, index } = view.shown;
    const role = (i) => (i === set.choice ? ` · ${view.word}` : i === set.baseline ? " · baseline" : i === index ? " · selected" : "");
    const items = drawn().map((i) => ({ label: `${set.methods[i].label}${role(i)}`, kind: "line", class: curveClass(set, i, index) }));
    if (wanted.has("oracle")) items.push({ label: "ideal confidence", kind: "line", class: "curve oracle" });
    items.push({ label: "target", kind: "line", class: "target" }, { label: "operating point", kind: "circle", class: "marker" });
    if (drawn().some((i) => set.methods[i].raw.band)) items.push({ label: "95 % band", kind: "box", class: "band choice" });
    legend(figure, items);
  };

  const redraw = () => { chart.render(); keys(); refresh(); };

  const list = () => {
    const { set, index } = view.shown;
    const box = (value, label, key) => el("label", { class: "check" },
      el("input", {
        type: "checkbox", name: "curve", value, checked: value === index || wanted.has(key), disabled: value === index,
        on: { change: (event) => { if (event.target.checked) wanted.add(key); else wanted.delete(key); redraw(); } },
      }), el("span", {}, label));
    boxes.replaceChildren(
      ...set.methods.map((method, i) => box(i, method.label, method.label)),
      box("oracle", "ideal confidence", "oracle"),
    );
  };
  const all = (on) => () => {
    const { set } = view.shown;
    for (const method of set.methods) if (on) wanted.add(method.label); else wanted.delete(method.label);
    if (!on) for (const i of [set.baseline, set.choice]) wanted.add(set.methods[i].label);
    list();
    redraw();
  };
  byId("curves-all").addEventListener("click", all(true));
  byId("curves-few").addEventListener("click", all(false));

  return (level) => {
    if (level >= View.METHOD) { list(); redraw(); } else if (chart.width) {
      chart.options.update(chart);
      chart.svg.firstChild.textContent = chart.options.title();
    }
  };
}
