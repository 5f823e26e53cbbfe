// Runs last: theme, print, and what the kind of page adds.

function themeButton() {
  const button = byId("theme");
  const names = ["auto", "light", "dark"];
  let now = 0;
  button.addEventListener("click", () => {
    now = (now + 1) % names.length;
    document.documentElement.dataset.theme = names[now];
    button.textContent = `Theme: ${names[now]}`;
  });
}

// Paper is narrower than most screens: charts are drawn again at its width,
// or their text would shrink with them.
function preparePrint() {
  const root = document.documentElement;
  let opened = [];
  const redraw = () => { for (const chart of ALL_CHARTS) if (chart.host.clientWidth) chart.render(); };
  const before = () => {
    if (root.dataset.printing) return;
    root.dataset.printing = "yes";
    opened = [...document.querySelectorAll("details[data-print]:not([open])")];
    for (const details of opened) details.open = true;
    redraw();
  };
  const after = () => {
    if (!root.dataset.printing) return;
    delete root.dataset.printing;
    for (const details of opened) details.open = false;
    redraw();
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
}

function start() {
  const page = JSON.parse(byId("data").textContent);
  for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
  installPatterns();
  themeButton();
  preparePrint();
  // The script of the kind of page, if it has one.
  if (typeof startPage === "function") startPage(page);
}
start();
