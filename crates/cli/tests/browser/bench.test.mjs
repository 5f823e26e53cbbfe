// The page of `abstain bench`.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { abstain, axe, json, open, root, settled, shots, start, stop } from "./common.mjs";

const MODELS = ["mlp-ce", "mlp-ls", "lenet-mixup", "linear-ce"];
let summary;

before(async () => {
  await start();
  summary = json(abstain(
    "bench", join(root, "zoo"), "--models", MODELS.join(","), "--splits", "2", "--replicates", "20",
    "--page", "zoo.html", "--json",
  ));
});
after(stop);

const models = (page) => page.locator("#models tbody tr:visible").count();
const points = (page) => page.locator("#scatter [data-model]:visible").evaluateAll(
  (all) => new Set(all.map((item) => item.dataset.model)).size,
);

describe("the page of bench", () => {
  test("shows the numbers of the JSON", async () => {
    const { page, heard, close } = await open("zoo.html");
    await settled(page);
    const embedded = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).report);
    assert.deepEqual(embedded, summary);
    assert.equal(await models(page), MODELS.length);
    for (const line of summary.models) {
      const row = page.locator("#models tbody tr", { has: page.getByText(line.title, { exact: true }) });
      const text = await row.innerText();
      for (const metric of ["msp", "max_logit_pnorm", "stack"]) {
        assert.ok(text.includes(line[metric].mean.toFixed(4)), `${line.title}: ${metric} in ${text}`);
      }
    }
    assert.deepEqual([heard.console, heard.requests.length], [[], 1]);
    await page.screenshot({ path: join(shots, "zoo.png"), fullPage: true });
    await close();
  });

  test("is filtered by model", async () => {
    const { page, close } = await open("zoo.html");
    await settled(page);
    assert.equal(await points(page), MODELS.length);
    const one = summary.models[1].title;
    await page.fill("#filter", one);
    await settled(page);
    assert.equal(await models(page), 1);
    assert.equal(await points(page), 1);
    await page.fill("#filter", "no such model");
    await settled(page);
    assert.equal(await models(page), 0);
    await page.fill("#filter", "");
    await settled(page);
    assert.equal(await models(page), MODELS.length);
    const box = page.locator(`input[name="model"][value="${summary.models[0].model}"]`);
    await page.locator("details", { has: box }).locator("summary").first().click();
    await box.uncheck();
    await settled(page);
    assert.equal(await models(page), MODELS.length - 1);
    await close();
  });

  test("has no fault that axe finds, and fits a phone", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const viewport = { width: 360, height: 740 };
      const { page, close } = await open("zoo.html", { colorScheme, viewport, bypassCSP: true });
      await settled(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 360, `${wide} pixels wide`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(violations.map((found) => `${found.id}: ${found.nodes[0].html}`), []);
      await close();
    }
  });
});
