// Section "Most confident errors": the rows to look at first.

function errorsSection(view) {
  const section = byId("errors");
  return (level) => {
    if (level < View.METHOD) return;
    const { set, method } = view.shown;
    const choice = set.methods[set.choice];
    const owner = method.raw.errors?.length ? method : choice;
    const errors = owner.raw.errors ?? [];
    section.hidden = errors.length === 0;
    if (section.hidden) return;
    byId("errors-whose").textContent = `Ranked by the confidence of ${owner.label} on ${set.name}.${owner === method ? "" : " There is no list for the selected method."}`;
    const columns = [
      { title: "Row", kind: "number", key: (e) => e.row },
      { title: "True class", key: (e) => view.className(e.label) },
      { title: "Predicted", key: (e) => view.className(e.predicted) },
      { title: "Confidence", kind: "number", better: "higher", key: (e) => num(e.confidence), text: (e) => metric(e.confidence) },
    ];
    if (errors.some((e) => !Number.isNaN(num(e.value)))) {
      columns.push({ title: "On the method’s scale", kind: "number", better: "higher", key: (e) => num(e.value), text: (e) => metric(e.value) });
    }
    byId("errors-table").replaceChildren(buildTable({
      caption: view.zeroOne ? "Wrong answers, most confident first" : "Answers with a loss, most confident first",
      columns, rows: errors, sort: [3, true],
    }).host);
  };
}
