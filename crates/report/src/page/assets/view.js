// What the reader is looking at: the method and the operating point on the
// first set, and which set the lower sections show. Sections never talk to
// each other: they read the view, and the view notifies all of them.

class View {
  constructor(page) {
    this.page = page;
    this.zeroOne = page.zero_one;
    this.target = page.target;
    this.word = page.kind === "eval" ? "measured" : "chosen";
    this.readClassNames(page.class_names);
    this.sets = page.sets.map((raw) => ({
      ...raw, methods: raw.methods.map((method) => readMethod(method, raw.rows)),
    }));
    this.set = 0;
    this.sections = [];
    this.pending = 0;
    this.run = oncePerFrame(() => {
      const level = this.pending;
      this.pending = 0;
      for (const section of this.sections) section(level);
    });
    this.start();
  }

  get reference() { return this.sets[0]; }
  get method() { return this.reference.methods[this.index]; }
  // The threshold of a mark, which may lie between two confidences, or that of
  // the position.
  get threshold() { return num(this.mark?.threshold ?? this.method.threshold[this.position]); }
  get mark() {
    return this.reference.marks.findLast((m) => m.method === this.index && m.accepted === this.method.accepted[this.position]);
  }
  get targetRisk() { return this.target.risk ?? 1 - this.target.accuracy; }

  start() {
    const mark = this.reference.marks.at(-1);
    this.keep = null; // the control in use, which keeps what was typed
    this.unmet = null;
    if (mark) {
      this.index = mark.method;
      this.position = nearestPosition(this.method, mark.accepted);
    } else {
      this.index = this.reference.choice;
      this.position = widestMeeting(this.method, this.target) || lastOf(this.method);
      if (widestMeeting(this.method, this.target) === 0) this.unmet = this.target.accuracy ?? this.target.risk;
    }
    this.requested = { kind: "coverage", value: coverageAt(this.method, this.position) };
  }

  // kind: "coverage", "target" (accuracy or mean loss) or "threshold".
  request(kind, value, keep = null) {
    const { method } = this;
    this.requested = { kind, value };
    this.keep = keep;
    this.unmet = null;
    if (kind === "coverage") {
      this.position = nearestPosition(method, value * method.rows);
    } else if (kind === "threshold") {
      this.position = positionAt(method, value);
    } else {
      this.position = widestMeeting(method, this.zeroOne ? { accuracy: value } : { risk: value });
      if (this.position === 0) this.unmet = value;
    }
    this.changed(View.POINT);
  }

  step(by) {
    this.go(Math.min(lastOf(this.method), Math.max(0, this.position + by)));
  }

  go(position) {
    this.position = position;
    this.requested = { kind: "coverage", value: coverageAt(this.method, position) };
    this.keep = null;
    this.unmet = null;
    this.changed(View.POINT);
  }

  // Thresholds of two methods do not compare; coverage and targets do.
  select(index) {
    const coverage = coverageAt(this.method, this.position);
    this.index = index;
    if (this.requested.kind === "target") this.request("target", this.requested.value, this.keep);
    else this.request("coverage", coverage);
    this.changed(View.METHOD);
  }

  showSet(index) {
    this.set = index;
    this.changed(View.SET);
  }

  // Where the chosen method and threshold fall on a set.
  on(set) {
    if (set === this.reference) return { set, method: this.method, index: this.index, position: this.position, same: true };
    let index = set.methods.findIndex((other) => other.label === this.method.label);
    if (index < 0) index = set.methods.findIndex((other) => other.name === this.method.name);
    if (index < 0) {
      // Not evaluated here: the method chosen on that set, at the same coverage.
      const method = set.methods[set.choice];
      const accepted = coverageAt(this.method, this.position) * set.rows;
      return { set, method, index: set.choice, position: nearestPosition(method, accepted), same: false };
    }
    const method = set.methods[index];
    return { set, method, index, position: this.method.accepted[this.position] === 0 ? 0 : positionAt(method, this.threshold), same: true };
  }

  get shown() { return this.on(this.sets[this.set]); }

  // A point dragged on another set is a threshold for the first one too.
  dragTo(coverage) {
    const { set, method, same } = this.shown;
    if (set === this.reference || !same) this.request("coverage", coverage);
    else this.request("threshold", method.threshold[nearestPosition(method, coverage * set.rows)]);
  }

  selectByName(set, index) {
    const { label, name } = set.methods[index];
    const { methods } = this.reference;
    const exact = methods.findIndex((other) => other.label === label);
    const found = exact >= 0 ? exact : methods.findIndex((other) => other.name === name);
    if (found >= 0) this.select(found);
  }

  changed(level) {
    this.pending = Math.max(this.pending, level);
    this.run();
  }

  className(label) {
    if (label === null || label === undefined) return MISSING;
    return this.classNames?.[label] ?? String(label);
  }

  // Names that are invisible or not unique get their number. Marks
  // that turn the direction of text would show something else than is there.
  readClassNames(names) {
    const seen = names?.map((name) => name.replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "").trim());
    const times = new Map();
    for (const name of seen ?? []) times.set(name, (times.get(name) ?? 0) + 1);
    this.classNames = seen?.map((name, i) => (name === "" ? `class ${i}` : times.get(name) > 1 ? `${name} (${i})` : name));
  }

  // "95.1 % right" or "mean loss 0.1234", from a risk.
  quality(risk) {
    if (Number.isNaN(risk)) return "no answers";
    return this.zeroOne ? `${share(1 - risk)} right` : `mean loss ${metric(risk)}`;
  }

  risk(value) {
    return this.zeroOne ? share(value) : metric(value);
  }
}
// How much has changed, each including those before it.
Object.assign(View, { POINT: 1, METHOD: 2, SET: 3 });
