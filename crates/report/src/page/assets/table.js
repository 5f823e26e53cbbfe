// Sortable tables: `sortable` upgrades one that stands in the page,
// `buildTable` makes one from data.

// Missing keys go last in either direction: they are neither good nor bad.
function compareKeys(a, b, descending) {
  const missing = (key) => key === null || Number.isNaN(key);
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const order = typeof a === "number" && typeof b === "number"
    ? (a === b ? 0 : a - b)
    : String(a).localeCompare(String(b), "en", { numeric: true });
  return descending ? -order : order;
}

class SortTable {
  // entries: {keys: [one per column], node: () => tr}; only the first `limit`
  // of them are ever built, so a thousand classes cost nothing.
  constructor(table, entries, limit = Infinity) {
    this.body = table.tBodies[0];
    this.heads = [...table.tHead.rows[0].cells];
    this.entries = entries;
    this.limit = limit;
    this.column = -1;
    this.descending = false;
    this.heads.forEach((head, column) => {
      const button = el("button", { type: "button", class: "sort" });
      const [title, ...rest] = head.childNodes;
      button.append(title, el("span", { class: "arrow", "aria-hidden": "true" }), ...rest);
      button.addEventListener("click", () => this.toggle(column));
      head.append(button);
    });
  }

  toggle(column) {
    // The first click brings the best to the top.
    const first = this.heads[column].dataset.better === "higher";
    this.sort(column, this.column === column ? !this.descending : first);
  }

  sort(column, descending) {
    this.column = column;
    this.descending = descending;
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.draw();
  }

  draw() {
    const order = [...this.entries];
    if (this.column >= 0) {
      order.sort((a, b) => compareKeys(a.keys[this.column], b.keys[this.column], this.descending));
    }
    this.body.replaceChildren(...order.slice(0, this.limit).map((entry) => entry.node()));
  }

  replace(entries) {
    this.entries = entries;
    this.draw();
  }
}

function sortable(table) {
  const kinds = [...table.tHead.rows[0].cells].map((head) => head.dataset.kind);
  const entries = [...table.tBodies[0].rows].map((row) => ({
    keys: [...row.cells].map((cell, i) => {
      const key = cell.dataset.key ?? null;
      return key !== null && kinds[i] === "number" ? num(key) : key;
    }),
    node: () => row,
  }));
  return new SortTable(table, entries);
}

// columns: {title, kind, better, key(row), text(row)}; `text` defaults to the key.
function buildTable({ caption, columns, rows, limit, sort, plain = false }) {
  const numeric = (column) => (column.kind === "number" ? "number" : null);
  const head = el("tr", {}, ...columns.map((column) => el("th", {
    scope: "col", class: numeric(column),
    data: { kind: column.kind ?? "text", better: column.better ?? "" },
  }, column.title)));
  const table = el("table", {}, el("caption", {}, el("span", {}, caption)), el("thead", {}, head), el("tbody"));
  const host = el("div", { class: "scroll" }, table);
  const entry = (row) => {
    let node = null;
    return {
      keys: columns.map((column) => column.key(row)),
      node: () => (node ??= el("tr", {}, ...columns.map((column, i) => el(
        i === 0 ? "th" : "td",
        { scope: i === 0 ? "row" : null, class: numeric(column) },
        String((column.text ?? column.key)(row) ?? MISSING),
      )))),
    };
  };
  const entries = rows.map(entry);
  if (plain) {
    table.tBodies[0].append(...entries.map((made) => made.node()));
    host.setAttribute("tabindex", "0"); // no button inside to scroll it with
    return { host };
  }
  const sorter = new SortTable(table, entries, limit);
  if (sort) sorter.sort(...sort); else sorter.draw();
  return { host, update: (fresh) => sorter.replace(fresh.map(entry)) };
}
