// SVG charts: a frame with axes, marks to put in it, a cursor that reads
// values out to mouse, finger and keyboard. Colours and dashes are CSS
// classes, so a change of theme needs no redraw.

const ALL_CHARTS = new Set();

function linear([lo, hi], [from, to]) {
  const slope = hi === lo ? 0 : (to - from) / (hi - lo);
  const scale = (value) => from + (value - lo) * slope;
  scale.invert = (place) => (slope === 0 ? lo : lo + (place - from) / slope);
  return scale;
}

function logarithmic([lo, hi], places) {
  const inner = linear([Math.log(lo), Math.log(hi)], places);
  const scale = (value) => inner(Math.log(value));
  scale.invert = (place) => Math.exp(inner.invert(place));
  return scale;
}

// Round numbers (1, 2 or 5 times a power of ten) inside the domain.
function ticks(lo, hi, wanted) {
  if (!(hi > lo)) return [lo];
  const raw = (hi - lo) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((m) => m * power >= raw * 0.999) ?? 10);
  const first = Math.ceil(lo / step - 1e-9);
  const last = Math.floor(hi / step + 1e-9);
  return range(last - first + 1).map((i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(lo, hi, wanted) {
  const decades = Math.log10(hi / lo);
  const factors = decades > wanted ? [1] : decades > wanted / 2 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(lo)); power <= Math.ceil(Math.log10(hi)); power += 1) {
    for (const factor of factors) {
      const value = Number((factor * 10 ** power).toPrecision(6));
      if (value >= lo * 0.999 && value <= hi * 1.001) found.push(value);
    }
  }
  const every = Math.max(1, Math.ceil(found.length / Math.max(2, wanted)));
  return found.filter((_, i) => i % every === 0);
}

// Letters are not measured (that would force a layout for each), but
// guessed on the wide side.
const textWidth = (text) => 7.2 * String(text).length;

function clipText(text, width) {
  const most = Math.max(3, Math.floor(width / 7.2));
  // Names of models differ at their ends as often as at their beginnings.
  const tail = Math.floor((most - 1) / 2);
  return text.length > most ? `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}` : text;
}

function shapePath(kind, x, y, r) {
  const at = (dx, dy) => `${(x + dx * r).toFixed(1)},${(y + dy * r).toFixed(1)}`;
  switch (kind) {
    case "square": return `M${at(-0.85, -0.85)}L${at(0.85, -0.85)} ${at(0.85, 0.85)} ${at(-0.85, 0.85)}Z`;
    case "diamond": return `M${at(0, -1.2)}L${at(1.2, 0)} ${at(0, 1.2)} ${at(-1.2, 0)}Z`;
    case "up": return `M${at(0, -1.1)}L${at(1.1, 0.9)} ${at(-1.1, 0.9)}Z`;
    case "down": return `M${at(0, 1.1)}L${at(1.1, -0.9)} ${at(-1.1, -0.9)}Z`;
    case "cross": return `M${at(-0.9, -0.9)}L${at(0.9, 0.9)}M${at(-0.9, 0.9)}L${at(0.9, -0.9)}`;
    case "plus": return `M${at(-1.1, 0)}L${at(1.1, 0)}M${at(0, -1.1)}L${at(0, 1.1)}`;
    default: return `M${at(-1, 0)}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
  }
}
const SHAPES = ["circle", "square", "up", "diamond", "down", "cross", "plus"];

class Chart {
  // options:
  //   title()            what is seen, for the screen reader
  //   height(width)      in pixels
  //   axes(width)        {x, y}: {domain, label, format, log, ticks} or {bands: [names]}
  //   draw(chart)        draws the marks; update(chart) only moves some
  //   cursor(chart)      [{px, py, text()}]: what can be read out (optional)
  //   nearest            "x" or "xy": how the mouse finds its point
  //   pick(index)        click or Enter on a point (optional)
  //   drag(x)            press and drag along x (optional)
  constructor(figure, options) {
    this.options = options;
    this.figure = figure;
    this.host = figure.querySelector(".plot");
    this.svg = svg("svg", { role: "img", tabindex: options.cursor ? "0" : null });
    this.tip = el("div", { class: "tip", "aria-hidden": "true" });
    this.tip.hidden = true;
    this.host.append(this.svg, this.tip);
    this.width = 0;
    this.at = -1;
    if (options.cursor) this.listen();
    new ResizeObserver(() => {
      const width = Math.floor(this.host.clientWidth);
      if (width > 0 && width !== this.width && !document.documentElement.dataset.printing) this.render();
    }).observe(this.host);
    ALL_CHARTS.add(this);
  }

  render() {
    const width = Math.floor(this.host.clientWidth);
    if (width <= 0) return; // hidden: the observer calls again
    this.width = width;
    const { options } = this;
    const { x, y } = options.axes(width);
    const height = Math.round(options.height(width));
    this.height = height;
    this.points = null;
    this.hideTip();
    put(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    // The empty title inside keeps browsers from popping up the outer one.
    this.root = svg("g", {}, svg("title"),
      svg("rect", { width, height, fill: "none", "pointer-events": "all" }));
    this.svg.replaceChildren(svg("title", {}, options.title()), this.root);

    const yTicks = y.bands ? [] : y.ticks ?? (y.log ? logTicks(...y.domain, height / 50) : ticks(...y.domain, height / 55));
    const names = y.bands ?? yTicks.map(y.format);
    const widest = Math.max(...names.map(textWidth), 10);
    const left = Math.min(widest + 10, y.bands ? width * 0.38 : 80);
    this.left = left;
    this.right = width - 14;
    this.top = y.label ? 26 : 10;
    this.bottom = height - (x.label ? 44 : 26);
    this.x = (x.log ? logarithmic : linear)(x.domain, [this.left, this.right]);
    if (y.bands) {
      const step = (this.bottom - this.top) / Math.max(1, y.bands.length);
      this.step = step;
      this.y = (i) => this.top + (i + 0.5) * step;
    } else {
      this.y = (y.log ? logarithmic : linear)(y.domain, [this.bottom, this.top]);
    }
    this.frame(x, y, yTicks);

    const clip = `clip-${++Chart.clips}`;
    this.root.append(svg("clipPath", { id: clip }, svg("rect", {
      x: this.left, y: this.top - 1, width: Math.max(0, this.right - this.left), height: Math.max(0, this.bottom - this.top + 2),
    })));
    this.plot = svg("g", { "clip-path": `url(#${clip})` });
    this.over = svg("g"); // not clipped: labels and markers on the edge
    this.ring = svg("circle", { r: 7, class: "ring", visibility: "hidden" });
    this.root.append(this.plot, this.over, this.ring);
    options.draw(this);
    options.update?.(this);
  }

  frame(x, y, yTicks) {
    const grid = svg("g", { class: "rules" });
    const text = svg("g", { class: "axis" });
    const xWanted = Math.max(2, (this.right - this.left) / 90);
    const xTicks = x.ticks ?? (x.log ? logTicks(...x.domain, xWanted) : ticks(...x.domain, xWanted));
    for (const value of xTicks) {
      const place = this.x(value);
      grid.append(svg("line", { x1: place, x2: place, y1: this.top, y2: this.bottom }));
      // A label at the very edge must not stick out of the picture.
      const name = x.format(value);
      const half = textWidth(name) / 2;
      const middle = Math.min(Math.max(place, half), this.width - half);
      text.append(svg("text", { x: middle, y: this.bottom + 18, "text-anchor": "middle" }, name));
    }
    if (y.bands) {
      y.bands.forEach((name, i) => {
        const place = this.y(i);
        grid.append(svg("line", { x1: this.left, x2: this.right, y1: place, y2: place }));
        text.append(svg("text", {
          x: this.left - 8, y: place, dy: "0.35em", "text-anchor": "end", class: this.step < 13 ? "tight" : null,
        }, clipText(name, this.left - 8)));
      });
    } else {
      for (const value of yTicks) {
        const place = this.y(value);
        grid.append(svg("line", { x1: this.left, x2: this.right, y1: place, y2: place }));
        text.append(svg("text", { x: this.left - 8, y: place, dy: "0.35em", "text-anchor": "end" }, y.format(value)));
      }
    }
    if (x.label) text.append(svg("text", { x: this.right, y: this.bottom + 38, "text-anchor": "end", class: "name" }, x.label));
    if (y.label) text.append(svg("text", { x: 0, y: 13, class: "name" }, y.label));
    grid.append(svg("line", { class: "base", x1: this.left, x2: this.right, y1: this.bottom, y2: this.bottom }));
    this.root.append(grid, text);
  }

  // ---- marks -------------------------------------------------------------

  line(xs, ys, attributes) {
    let path = "";
    let pen = "M";
    for (let i = 0; i < xs.length; i += 1) {
      if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) { pen = "M"; continue; }
      path += `${pen}${this.x(xs[i]).toFixed(1)},${this.y(ys[i]).toFixed(1)}`;
      pen = "L";
    }
    const node = svg("path", { d: path, fill: "none", ...attributes });
    this.plot.append(node);
    // A single point is no line: where all confidences tie there is but one.
    const only = range(xs.length).filter((i) => Number.isFinite(xs[i]) && Number.isFinite(ys[i]));
    if (only.length === 1) this.over.append(svg("circle", { cx: this.x(xs[only[0]]), cy: this.y(ys[only[0]]), r: 4, class: attributes.class }));
    return node;
  }

  area(xs, lows, highs, attributes) {
    const at = (x, y) => `${this.x(x).toFixed(1)},${this.y(y).toFixed(1)}`;
    const keep = range(xs.length).filter((i) => Number.isFinite(lows[i]) && Number.isFinite(highs[i]));
    if (keep.length < 2) return;
    const up = keep.map((i) => at(xs[i], highs[i]));
    const back = keep.reverse().map((i) => at(xs[i], lows[i]));
    this.plot.append(svg("path", { d: `M${up.join("L")}L${back.join("L")}Z`, ...attributes }));
  }

  // A box between two corners in data units.
  box(x1, y1, x2, y2, attributes) {
    const [left, right] = [this.x(x1), this.x(x2)].sort((a, b) => a - b);
    const [top, bottom] = [this.y(y1), this.y(y2)].sort((a, b) => a - b);
    const node = svg("rect", { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top), ...attributes });
    this.plot.append(node);
    return node;
  }

  dot(kind, x, y, r, attributes) {
    const node = svg("path", { d: shapePath(kind, this.x(x), this.y(y), r), ...attributes });
    this.over.append(node);
    return node;
  }

  // A straight line across the plot, with a word at its end.
  across(value, attributes, word) {
    const place = this.y(value);
    if (place < this.top - 1 || place > this.bottom + 1) return;
    this.plot.append(svg("line", { x1: this.left, x2: this.right, y1: place, y2: place, ...attributes }));
    if (word) this.over.append(svg("text", { x: this.right - 2, y: place - 5, "text-anchor": "end", class: "word" }, word));
  }

  upright(value, attributes) {
    const place = this.x(value);
    const node = svg("line", { x1: place, x2: place, y1: this.top, y2: this.bottom, ...attributes });
    this.plot.append(node);
    return node;
  }

  // ---- reading out -------------------------------------------------------

  listen() {
    const { options } = this;
    const place = (event) => {
      const box = this.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const read = (event) => this.show(this.find(...place(event)), false);
    this.svg.addEventListener("pointermove", (event) => {
      if (this.dragging) options.drag(this.x.invert(place(event)[0]));
      else read(event);
    });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      read(event);
      if (options.drag) {
        this.dragging = true;
        this.hideTip(); // the marker says it
        this.svg.setPointerCapture(event.pointerId);
        options.drag(this.x.invert(place(event)[0]));
        event.preventDefault(); // no text selection while dragging
      } else if (options.pick && this.at >= 0) {
        options.pick(this.at);
      }
    });
    const stop = () => { this.dragging = false; };
    this.svg.addEventListener("pointerup", stop);
    this.svg.addEventListener("pointercancel", stop);
    this.svg.addEventListener("pointerleave", () => this.hideTip());
    this.svg.addEventListener("blur", () => this.hideTip());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    if (options.drag) this.svg.classList.add("draggable");
  }

  key(event) {
    const points = this.list();
    if (!points.length) return;
    const last = points.length - 1;
    const jump = Math.max(1, Math.round(points.length / 100));
    const moves = { ArrowRight: jump, ArrowUp: jump, ArrowLeft: -jump, ArrowDown: -jump, PageUp: 10 * jump, PageDown: -10 * jump };
    let next = this.at;
    if (event.key in moves) next = this.at < 0 ? 0 : Math.min(last, Math.max(0, this.at + moves[event.key]));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = last;
    else if (event.key === "Escape") { this.hideTip(); return; }
    else if ((event.key === "Enter" || event.key === " ") && this.at >= 0) {
      event.preventDefault();
      if (this.options.pick) this.options.pick(this.at);
      else this.options.drag?.(this.x.invert(points[this.at].px));
      return;
    } else return;
    event.preventDefault();
    this.show(next, true);
  }

  list() {
    this.points ??= this.width > 0 ? this.options.cursor(this) : [];
    return this.points;
  }

  find(px, py) {
    let best = -1;
    let nearest = this.options.nearest === "x" ? Infinity : 40 ** 2;
    this.list().forEach((point, i) => {
      const dy = this.options.nearest === "x" ? 0 : point.py - py;
      const distance = (point.px - px) ** 2 + dy ** 2;
      if (distance < nearest) { nearest = distance; best = i; }
    });
    return best;
  }

  show(index, aloud) {
    const point = this.list()[index];
    if (!point) { this.hideTip(); return; }
    this.at = index;
    const lines = point.text();
    this.tip.replaceChildren(...lines.map((line, i) => el("div", { class: i === 0 ? "first" : null }, line)));
    this.tip.hidden = false;
    put(this.ring, { cx: point.px, cy: point.py, visibility: "visible" });
    const wide = this.tip.offsetWidth;
    const high = this.tip.offsetHeight;
    const left = point.px + 14 + wide > this.width ? Math.max(0, point.px - 14 - wide) : point.px + 14;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(0, point.py - high - 10)}px`;
    if (aloud) announce(lines.join(", "), 150);
  }

  hideTip() {
    this.at = -1;
    this.tip.hidden = true;
    this.ring?.setAttribute("visibility", "hidden");
  }
}
Chart.clips = 0;

// items: {label, kind: "line" | "box" | a shape, class}
function legend(figure, items) {
  const sample = ({ kind, class: name }) => {
    if (kind === "line") return svg("path", { d: "M1,7H27", class: name, fill: "none" });
    if (kind === "box") return svg("rect", { x: 3, y: 1, width: 22, height: 12, class: name });
    return svg("path", { d: shapePath(kind, 14, 7, 5), class: name });
  };
  const list = figure.querySelector("ul.legend");
  list.replaceChildren(...items.map((item) => el("li", {},
    svg("svg", { viewBox: "0 0 28 14", width: 28, height: 14, "aria-hidden": "true" }, sample(item)), item.label)));
}

// The hatch that marks errors, so that colour is not the only sign. It
// stands once in the page and is used by its id.
function installPatterns() {
  const hatch = (id, name) => svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 6, height: 6, class: `${name}-ground` }),
    svg("rect", { width: 2.2, height: 6, class: `${name}-stripe` }));
  document.body.append(svg("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" },
    svg("defs", {}, hatch("hatch-wrong", "wrong"), hatch("hatch-worse", "worse"))));
}

// From good (dark blue) to poor (pale): lightness rises all the way, so the
// order survives grey print and colour blindness.
const RAMP = [[11, 34, 84], [22, 82, 128], [38, 130, 142], [110, 178, 144], [196, 214, 150], [247, 240, 190]];
function rampColour(fraction) {
  const place = Math.min(1, Math.max(0, fraction)) * (RAMP.length - 1);
  const i = Math.min(RAMP.length - 2, Math.floor(place));
  const mix = RAMP[i].map((low, k) => Math.round(low + (RAMP[i + 1][k] - low) * (place - i)));
  return `rgb(${mix.join(",")})`;
}
