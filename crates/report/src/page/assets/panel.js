// Section "Choose the operating point": three linked controls, the marks,
// and what the point means for 1,000 inputs.

// Each result says its number twice: for people, and in full for programs.
function writeOutput(name, value, text) {
  for (const node of document.querySelectorAll(`output[data-out="${name}"]`)) {
    node.dataset.value = Number.isNaN(value) ? "" : Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
    if (node.textContent !== text) node.textContent = text;
  }
}

// Per cent as a share, without the last digits that the division brings. A threshold is the confidence of
// a row and stays as it is: rounded up, it would leave that row out.
const inUnits = (value, unit) => (unit === 1 ? value : Number((value / unit).toPrecision(15)));

function linkedControl(name, view, { kind, unit, read, places, byStep }) {
  const slider = byId(name);
  const field = byId(`${name}-number`);
  const text = (value) => (Number.isFinite(value) ? (places === null ? String(value) : fixed(value, places)) : "");
  const writeField = () => { field.value = text(unit * read()); };
  const write = () => {
    const value = unit * read();
    writeField();
    slider.value = Number.isFinite(value) ? value : value > 0 ? slider.max : slider.min;
  };
  slider.addEventListener("input", () => {
    const value = slider.valueAsNumber;
    // A target stays as requested; anything else is shown as it came out.
    if (kind === "target") field.value = text(value);
    // The ends mean all and nothing, however the browser rounds them.
    const end = kind !== "threshold" ? 0 : value <= Number(slider.min) * (1 + Math.sign(slider.min) * 1e-12) ? -Infinity
      : value >= Number(slider.max) * (1 - Math.sign(slider.max) * 1e-12) ? Infinity : 0;
    view.request(kind, end || inUnits(value, unit), { name, field: kind === "target" });
  });
  const within = (value) => !Number.isNaN(value)
    && (field.min === "" || value >= Number(field.min)) && (field.max === "" || value <= Number(field.max));
  field.addEventListener("input", () => {
    const value = field.valueAsNumber;
    if (!within(value)) return; // half-typed, or out of the question
    slider.value = value;
    view.request(kind, inUnits(value, unit), { name, field: true });
  });
  // Done with the field, it shows what the data allow; a target stays a target.
  field.addEventListener("change", () => { if (kind !== "target" || !within(field.valueAsNumber)) write(); });
  // One key press is one threshold, however many rows there are.
  if (byStep) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    slider.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      view.step(byStep * steps[event.key]);
    });
  }
  return { name, slider, write, writeField };
}

function panelSection(view) {
  const { zeroOne, reference } = view;
  const select = byId("method");
  select.replaceChildren(...reference.methods.map((method, i) => {
    const role = i === reference.choice ? ` · ${view.word}` : i === reference.baseline ? " · baseline" : "";
    return el("option", { value: i }, `${method.label}${role}`);
  }));
  select.addEventListener("change", () => view.select(Number(select.value)));

  const controls = [
    linkedControl("coverage", view, {
      kind: "coverage", unit: 100, places: 1, byStep: 1,
      read: () => coverageAt(view.method, view.position),
    }),
    linkedControl("accuracy", view, {
      kind: "target", unit: zeroOne ? 100 : 1, places: zeroOne ? 1 : 4,
      read: () => (zeroOne ? 1 - riskAt(view.method, view.position) : riskAt(view.method, view.position)),
    }),
    linkedControl("threshold", view, {
      kind: "threshold", unit: 1, places: null, byStep: -1,
      read: () => view.threshold,
    }),
  ];

  const marks = byId("marks");
  const met = el("button", { type: "button", on: { click: () => view.go(widestMeeting(view.method, view.target)) } });
  marks.append(met, ...reference.marks.map((mark) => el("button", {
    type: "button",
    on: {
      click: () => {
        if (mark.method !== view.index) view.select(mark.method);
        view.go(nearestPosition(view.method, mark.accepted));
      },
    },
  }, `${mark.name.charAt(0).toUpperCase()}${mark.name.slice(1)} (${share(mark.accepted / reference.rows)})`)));
  const showMarks = () => {
    const widest = widestMeeting(view.method, view.target);
    met.hidden = widest === 0;
    met.textContent = `Target met here (${share(coverageAt(view.method, widest))})`;
    marks.hidden = met.hidden && !reference.marks.length;
  };

  const confidence = `${short(100 * (1 - view.page.delta))} %`;
  for (const node of document.querySelectorAll("[data-confidence]")) node.textContent = confidence;

  byId("copy").addEventListener("click", () => copyText(digits(view.threshold).replace("∞", "inf"), byId("copy")));

  // The ends of the sliders belong to the method.
  const ends = () => {
    const { method } = view;
    const wide = range(lastOf(method) + 1).filter((i) => method.accepted[i] > 0 && coverageAt(method, i) >= 0.05);
    const worst = Math.max(...wide.map((i) => riskAt(method, i)), 0);
    const accuracy = byId("accuracy");
    if (zeroOne) {
      const lowest = Math.floor(100 * (1 - worst));
      Object.assign(accuracy, { min: lowest < 100 ? lowest : 0, max: 100, step: 0.1 });
    } else {
      const most = worst > 0 ? worst : 1;
      Object.assign(accuracy, { min: 0, max: most, step: 10 ** Math.floor(Math.log10(most / 100)) });
    }
    const finite = method.threshold.filter(Number.isFinite);
    const low = finite.length ? finite.at(-1) : 0;
    const high = finite.length ? finite[0] : 1;
    // A little room above the top: there, nothing is answered.
    Object.assign(byId("threshold"), { min: low, max: high + (high - low || 1) * 0.02, step: "any" });
  };

  const bar = {
    right: byId("bar-right"), wrong: byId("bar-wrong"), referred: byId("bar-referred"),
  };

  const update = () => {
    const { method, position } = view;
    const coverage = coverageAt(method, position);
    const risk = riskAt(method, position);
    const perThousand = 1000 / method.rows;
    const errors = method.loss[position] * perThousand;
    const answered = Math.round(1000 * coverage);
    for (const control of controls) {
      if (control.name !== view.keep?.name) control.write();
      else if (!view.keep.field) control.writeField();
    }
    controls[0].slider.setAttribute("aria-valuetext", share(coverage));
    controls[1].slider.setAttribute("aria-valuetext", view.requested.kind === "target"
      ? `target ${zeroOne ? share(view.requested.value) : metric(view.requested.value)}` : view.quality(risk));
    controls[2].slider.setAttribute("aria-valuetext", short(view.threshold));

    writeOutput("coverage", coverage, share(coverage));
    writeOutput("accuracy", zeroOne ? 1 - risk : risk, zeroOne ? share(1 - risk) : metric(risk));
    writeOutput("answered", 1000 * coverage, count(answered));
    writeOutput("referred", 1000 * (1 - coverage), count(1000 - answered));
    writeOutput("errors", errors, zeroOne ? ofThousand(errors) : amount(errors));
    writeOutput("right", 1000 * coverage - errors, count(answered - Math.round(errors)));
    const sure = (list) => (list ? 1 - list[position] : NaN);
    writeOutput("bound", sure(method.bound), leastShare(sure(method.bound)));
    writeOutput("alone", sure(method.alone), leastShare(sure(method.alone)));
    writeOutput("threshold", view.threshold, position === 0 ? "none: nothing is answered" : digits(view.threshold));
    byId("copy").hidden = position === 0;
    const value = method.value ? method.value[position] : NaN;
    writeOutput("value", value, digits(value));
    byId("value-row").hidden = Number.isNaN(value);
    const { mark } = view;
    byId("mark-note").textContent = mark?.note ?? "";
    byId("mark-note").hidden = !mark?.note;
    byId("bound-row").hidden = !method.bound || position === 0;
    byId("alone-row").hidden = !method.alone || position === 0;

    const wrong = zeroOne ? errors / 10 : 0;
    const span = (node, from, width) => put(node, { x: `${from}%`, width: `${Math.max(0, width)}%` });
    span(bar.right, 0, 100 * coverage - wrong);
    span(bar.wrong, 100 * coverage - wrong, wrong);
    span(bar.referred, 100 * coverage, 100 - 100 * coverage);

    const message = byId("unmet");
    message.hidden = view.unmet === null;
    message.textContent = view.unmet === null ? ""
      : `No threshold of this method reaches ${zeroOne ? `${share(view.unmet)} accuracy` : `a mean loss of ${metric(view.unmet)}`} on these rows${position === 0 ? ", so nothing is answered" : ""}.`;
    announce(view.unmet !== null ? message.textContent
      : `Coverage ${share(coverage)}, ${view.quality(risk)}, ${count(1000 - answered)} of 1,000 handed to a person.`);
  };

  return (level) => {
    if (level >= View.METHOD) {
      select.value = String(view.index);
      ends();
      showMarks();
    }
    update();
  };
}

// Mailed pages are opened from disk, where the clipboard may be closed to
// scripts: then select the text the old way.
async function copyText(text, button) {
  const done = () => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  try {
    await navigator.clipboard.writeText(text);
    done();
  } catch {
    const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    if (document.execCommand("copy")) done();
    area.remove();
    button.focus();
  }
}
