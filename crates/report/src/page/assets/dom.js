// Building and finding nodes. Text only ever enters as a text node or an
// attribute value, so names from the user's files cannot become markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    } else if (key === "data") {
      Object.assign(node.dataset, value);
    } else {
      node.setAttribute(key, value === true ? "" : value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, properties = {}, ...children) =>
  fill(document.createElement(tag), properties, children);

const svg = (tag, properties = {}, ...children) =>
  fill(document.createElementNS(SVG_NAMESPACE, tag), properties, children);

function put(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
}

// One polite live region for the page. Debounced: a dragged slider would
// otherwise have the screen reader stammer.
let announcement = 0;
function announce(text, wait = 500) {
  clearTimeout(announcement);
  announcement = setTimeout(() => { byId("live").textContent = text; }, wait);
}

// The table behind a chart is built when somebody opens it, and again when
// the chart changes while it is open. `build` returns a node.
function lazyTable(figure, build) {
  const details = figure.querySelector("details.as-table");
  let timer = 0;
  const draw = () => {
    // A section that has nothing to show has no table either.
    if (figure.closest("[hidden]")) return;
    const old = details.querySelector(".scroll");
    const fresh = build();
    if (old) old.replaceWith(fresh); else details.append(fresh);
  };
  details.addEventListener("toggle", () => { if (details.open) draw(); });
  return () => {
    if (!details.open) return;
    clearTimeout(timer);
    timer = setTimeout(draw, 150);
  };
}

// Choices change faster than the screen: one run per frame is enough.
function oncePerFrame(action) {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => { scheduled = false; action(); });
  };
}

const range = (n) => Array.from({ length: n }, (_, i) => i);
