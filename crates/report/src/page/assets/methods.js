// Section "Methods": the tables stand in the page; this makes them sortable
// and lets a row choose the method everywhere.

function methodsSection(view) {
  const tables = view.sets.map((set, s) => {
    const table = document.querySelector(`table.methods[data-set="${s}"]`);
    for (const row of table.tBodies[0].rows) {
      if (row.dataset.method === undefined) continue;
      const index = Number(row.dataset.method);
      const name = row.cells[0].querySelector(".name");
      const button = el("button", { type: "button", class: "pick", "aria-pressed": "false" }, name.textContent);
      name.replaceWith(button);
      // The whole row is a large target for the mouse; the button is what
      // keyboard and screen reader use.
      row.addEventListener("click", () => view.selectByName(set, index));
    }
    sortable(table);
    return table;
  });

  return (level) => {
    if (level < View.METHOD) return;
    const { index, same } = view.shown;
    tables.forEach((table, s) => {
      table.closest("[data-set-block]").hidden = s !== view.set;
      for (const row of table.tBodies[0].rows) {
        const on = s === view.set && same && row.dataset.method === String(index);
        row.classList.toggle("selected", on);
        row.querySelector("button.pick")?.setAttribute("aria-pressed", String(on));
      }
    });
  };
}
