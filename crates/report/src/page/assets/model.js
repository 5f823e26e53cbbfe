// The page of one model: all its sections, in the order of the page.

// No link to a section that has nothing to show.
function linksSection() {
  const links = [...document.querySelectorAll("nav a")];
  return (level) => {
    if (level < View.METHOD) return;
    for (const link of links) link.parentNode.hidden = byId(link.hash.slice(1))?.hidden ?? true;
  };
}

function startPage(page) {
  const view = new View(page);
  view.sections = [
    panelSection, costSection, curvesSection, methodsSection, confidenceSection,
    classesSection, errorsSection, searchSection, setsSection,
    linksSection,
  ].map((section) => section(view));
  // At once, not in the next frame: nothing empty is ever painted.
  for (const section of view.sections) section(View.SET);
}
