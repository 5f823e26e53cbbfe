// The page of `abstain monitor`.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { abstain, at, axe, json, open, shots, start, stop } from "./common.mjs";

const HOSTILE = "</script><img src=x onerror=alert(1)>";
let report;

before(async () => {
  await start();
  const random = ((seed) => () => (seed = (seed * 48271) % 2147483647) / 2147483647)(7);
  const draw = (count, line) => Array.from({ length: count }, (_, row) => line(row, 1 - random() ** 3)).join("");
  const judged = draw(1500, (_, confidence) => `${confidence},${random() < confidence ? 1 : 0}\n`);
  writeFileSync(at("judged.csv"), `confidence,correct\n${judged}`);
  const records = draw(1200, (row, confidence) =>
    `${row},${confidence},${random() < confidence - (row > 600 ? 0.2 : 0) ? 1 : 0},"${row % 2 ? "day" : HOSTILE}"\n`);
  writeFileSync(at("records.csv"), `id,confidence,correct,site\n${records}`);
  abstain("certify", "Confidence", "judged.csv", "--target-risk", "0.1", "-o", "judge.json", "-q");
  const page = ["--group", "site", "--page", "watch.html", "--json"];
  try {
    report = json(abstain("monitor", "judge.json", "records.csv", ...page));
  } catch (alarmed) {
    // An alarm stands: the program exits with 1 after its report.
    assert.equal(alarmed.status, 1);
    report = json(alarmed.stdout);
  }
});
after(stop);

describe("the page of monitor", () => {
  test("shows the alarm, the tests and the stream", async () => {
    const { page, heard, close } = await open("watch.html");
    const embedded = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).report);
    assert.deepEqual(embedded, report);
    const alarm = report.report.alarms.find((found) => found.test === "risk" && found.group === null);
    assert.ok(alarm.row > 600);
    const headline = await page.locator(".verdict").innerText();
    assert.match(headline, new RegExp(`ALARM at row ${alarm.row.toLocaleString("en-US")}`));
    const first = await page.locator("#tests tbody tr").first().innerText();
    assert.match(first, /risk of accepted rows/);
    assert.equal(await page.locator("#tests tbody tr").count(), 5);
    // One chart for each panel; the pictures that stand there without a script are hidden.
    assert.equal(await page.locator("#stream .plot svg").count(), 5);
    assert.equal(await page.locator("#stream figure.drawing:visible").count(), 0);
    assert.deepEqual([heard.console, heard.dialogs, heard.requests.length], [[], [], 1]);
    await page.screenshot({ path: join(shots, "monitor.png"), fullPage: true });
    await close();
  });

  test("charts read their values out to mouse and keyboard", async () => {
    const { page, close } = await open("watch.html");
    const chart = page.locator("#panel-0 .plot");
    await chart.scrollIntoViewIfNeeded();
    await chart.locator("svg").hover();
    assert.match(await chart.locator(".tip").innerText(), /^Row [\d,]+\n.*so far: [\d.]+ % \([\d.]+ % to [\d.]+ %\)/s);
    await chart.locator("svg").focus();
    await page.keyboard.press("End");
    const last = `Row ${report.report.records.toLocaleString("en-US")}`;
    assert.match(await chart.locator(".tip").innerText(), new RegExp(last));
    assert.match(await chart.locator(".tip").innerText(), new RegExp(`so far: ${(100 * report.report.coverage.share).toFixed(1)} %`));
    await close();
  });

  test("is accessible, also in the dark and on a phone", async () => {
    for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 390, height: 800 } }]) {
      const { page, close } = await open("watch.html", options);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= page.viewportSize().width, `${wide} pixels wide`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map((found) => [found.id, found.nodes[0].html]), []);
      await close();
    }
  });
});
