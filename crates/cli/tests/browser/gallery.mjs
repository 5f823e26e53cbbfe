// The pictures of docs/gallery.md, from the pages beside them.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./common.mjs";

const folder = join(import.meta.dirname, "../../../../docs/gallery");
const browser = await launch();

/** A part of a page, or what is seen first of it. */
async function shoot(page, picture, { section, width = 1160, height = 1000, colorScheme = "light", before } = {}) {
  const context = await browser.newContext({ offline: true, viewport: { width, height }, colorScheme });
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(join(folder, `${page}.html`)).href);
  await before?.(tab);
  await tab.waitForTimeout(300);
  const path = join(folder, `${picture}.png`);
  if (section) await tab.locator(section).screenshot({ path });
  else await tab.screenshot({ path });
  await context.close();
}

await shoot("imagenet-efficientnet-lite2", "operating-point", { height: 1130 });
await shoot("imagenet-efficientnet-lite2", "curves", { section: "#curves" });
await shoot("imagenet-efficientnet-lite2", "search", { section: "#search" });
await shoot("fashion-ce", "verdict", { height: 560 });
await shoot("fashion-ce", "classes", { section: "#classes" });
await shoot("fashion-ce", "phone", { width: 390, height: 1130, colorScheme: "dark" });
await shoot("shift", "shift", { section: "#sets" });
await shoot("zoo", "zoo", { section: "#gains" });
await shoot("monitor", "monitor", { section: "#stream" });
await browser.close();
