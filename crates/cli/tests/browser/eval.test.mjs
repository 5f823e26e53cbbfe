// The page of `abstain eval`: several sets side by side, names that mean harm, and rows of which little is known.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  abstain, at, axe, counted, drag, json, open, rows, scored, settled, shots, start, stop, value, values, writeNpy,
} from "./common.mjs";

const HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
let labels, reports;

/** The table behind a chart, cell by cell. */
async function table(page, figure) {
  const details = page.locator(`${figure} details.as-table`);
  if (!(await details.evaluate((item) => item.open))) await details.locator("summary").click();
  await details.locator("tbody tr").first().waitFor();
  return details.locator("tbody tr").evaluateAll(
    (all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())),
  );
}

before(async () => {
  await start();
  rows("fashion-mixup", "tuning", 0, 5000);
  labels = {
    test: rows("fashion-mixup", "test", 5000, 10000),
    shifted: rows("fashion-mixup-shifted", "shifted", 0, 5000),
  };
  abstain(
    "tune", "tuning-logits.npy", "tuning-labels.npy", "--method", "MaxLogit-pNorm", "--fallback", "none",
    "--target-accuracy", "0.95", "--delta", "0.05", "-o", "estimator.json", "-q",
  );
  reports = json(abstain(
    "eval", "estimator.json", "test-logits.npy", "test-labels.npy",
    "--set", "shifted", "shifted-logits.npy", "shifted-labels.npy", "--page", "page.html", "--json",
  ));
});
after(stop);

describe("the page of eval", () => {
  test("says of each set what the JSON says", async () => {
    const { page, heard, close } = await open("page.html");
    await settled(page);
    const embedded = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).report);
    assert.deepEqual(embedded, reports);
    const first = await values(page, "threshold", "coverage", "accuracy", "alone");
    assert.equal(first.coverage, reports[0].threshold.coverage);
    assert.ok(Math.abs(first.accuracy - (1 - reports[0].threshold.selective_risk)) < 1e-12);
    assert.ok(Math.abs(first.alone - (1 - reports[0].threshold.risk_bounds[1])) < 1e-12);
    assert.match(await page.locator("#sets").innerText(), /WORSE than MSP here/);
    assert.deepEqual([heard.console, heard.requests.length], [[], 1]);
    await page.screenshot({ path: join(shots, "eval-shift.png"), fullPage: true });
    await close();
  });

  test("carries a threshold over to the other sets", async () => {
    const { page, close } = await open("page.html");
    const scores = Object.fromEntries(
      ["test", "shifted"].map((name) => [name, scored("estimator.json", name, labels[name])]),
    );
    const shown = async (out) => Number(
      await page.locator(`#sets tr[data-set="1"] td[data-out="${out}"]`).getAttribute("data-value"),
    );
    // At the threshold of the artifact the numbers of the other set are exact.
    const { coverage, selective_risk: risk } = reports[1].threshold;
    assert.ok(Math.abs((await shown("coverage")) - coverage) < 1e-12);
    assert.ok(Math.abs((await shown("accuracy")) - (1 - risk)) < 1e-12);
    for (const part of [0.5, 0.83, 0.07]) {
      await drag(page, "coverage", part);
      const { answered, errors } = counted(scores.shifted, await value(page, "threshold"));
      assert.equal(await shown("coverage"), answered / scores.shifted.length);
      assert.ok(Math.abs((await shown("accuracy")) - (1 - errors / answered)) < 1e-12);
    }
    await close();
  });

  test("carries over a threshold that lies between two rows of a small set", async () => {
    rows("fashion-mixup", "few", 9960, 10000);
    const [few, many] = json(abstain(
      "eval", "estimator.json", "few-logits.npy", "few-labels.npy",
      "--set", "many", "test-logits.npy", "test-labels.npy", "--page", "few.html", "--json",
    ));
    const { page, close } = await open("few.html");
    assert.equal(await value(page, "threshold"), few.threshold.at);
    assert.equal(await value(page, "coverage"), few.threshold.coverage);
    const cell = page.locator('#sets tr[data-set="1"] td[data-out="coverage"]');
    assert.equal(Number(await cell.getAttribute("data-value")), many.threshold.coverage);
    await close();
  });

  test("the widest and the cheapest thresholds are exact, of more rows than positions", async () => {
    const { page, close } = await open("page.html");
    for (const [method, estimator] of [["0", "MSP"], ["1", "estimator.json"]]) {
      await page.selectOption("#method", method);
      const scores = scored(estimator, "test", labels.test).sort((a, b) => b.confidence - a.confidence);
      // Every threshold, and what it lets through; ties go together.
      const all = [];
      let errors = 0;
      scores.forEach((item, i) => {
        errors += item.wrong;
        if (scores[i + 1]?.confidence !== item.confidence) all.push({ answered: i + 1, errors });
      });
      for (const target of [88.3, 95, 97.1, 99.5]) {
        await page.fill("#accuracy-number", String(target));
        await settled(page);
        const meets = (item) => item.answered - item.errors >= (target / 100) * item.answered * (1 - 1e-12);
        const widest = all.findLast(meets).answered;
        assert.equal(await value(page, "coverage"), widest / scores.length, `${estimator} at ${target} %`);
      }
      for (const [error, referral] of [[10, 1], [3, 1], [25, 2]]) {
        await page.fill("#error-cost", String(error));
        await page.fill("#referral-cost", String(referral));
        await settled(page);
        const cost = (item) => (1000 * (error * item.errors + referral * (scores.length - item.answered))) / scores.length;
        const least = Math.min(1000 * referral, ...all.map(cost));
        assert.ok(Math.abs((await value(page, "cheapest-cost")) - least) < 1e-9, `${estimator}: ${error} to ${referral}`);
      }
    }
    await close();
  });

  test("shows another set at the same threshold", async () => {
    const { page, close } = await open("page.html");
    const whole = await page.locator("#curves svg title").first().textContent();
    await page.selectOption("#set", "1");
    await settled(page);
    // The threshold is still that of the first set; what is drawn below is what it does on the other.
    assert.equal(await value(page, "coverage"), reports[0].threshold.coverage);
    const line = await page.locator("#set-line").innerText();
    const { coverage, selective_risk: risk } = reports[1].threshold;
    assert.ok(line.includes(`${(100 * coverage).toFixed(1)} % answered`), line);
    assert.ok(line.includes(`${(100 * (1 - risk)).toFixed(1)} % right`), line);
    assert.notEqual(await page.locator("#curves svg title").first().textContent(), whole);
    const wrong = scored("estimator.json", "shifted", labels.shifted)
      .filter((item) => item.wrong).sort((a, b) => b.confidence - a.confidence);
    const first = await page.locator("#errors tbody tr").first().locator("th, td").first().innerText();
    assert.equal(Number(first), wrong[0].row);
    assert.equal(await page.locator('table.methods[data-set="1"]').isVisible(), true);
    assert.equal(await page.locator('table.methods[data-set="0"]').isVisible(), false);
    await close();
  });

  test("classes are those of the rows", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels.test);
    const sorted = scores.map((item) => item.confidence).sort((a, b) => b - a);
    const by = await page.evaluate(() => {
      const set = JSON.parse(document.getElementById("data").textContent).sets[0];
      return set.methods[set.choice].by_class;
    });
    for (const level of [3, 40, by.accepted.length - 1]) {
      const threshold = sorted[by.accepted[level] - 1];
      for (let label = 0; label < 10; label += 1) {
        const item = counted(scores.filter((row) => row.label === label), threshold);
        assert.deepEqual([by.answered[level][label], by.loss[level][label]], [item.answered, item.errors]);
      }
    }
    // The table behind the chart: the level nearest to the operating point, row by row.
    const seen = await table(page, "#class-coverage");
    assert.equal(seen.length, 10);
    const accepted = Math.round((await value(page, "coverage")) * scores.length);
    const level = by.accepted.reduce((best, k, i) => (Math.abs(k - accepted) < Math.abs(by.accepted[best] - accepted) ? i : best), 0);
    for (const [name, n, coverage, accuracy] of seen) {
      const item = scores.filter((row) => row.label === Number(name));
      const { answered, errors } = counted(item, sorted[by.accepted[level] - 1]);
      const shares = [answered / item.length, 1 - errors / answered].map((x) => `${(100 * x).toFixed(1)} %`);
      assert.deepEqual([n, coverage, accuracy], [String(item.length), ...shares], `class ${name}`);
    }
    await close();
  });

  test("every chart has its table, and the tables are true", async () => {
    const { page, close } = await open("page.html");
    const figures = await page.locator("figure.chart:visible").evaluateAll((all) => all.map((item) => item.id).filter(Boolean));
    assert.ok(figures.length >= 7, figures.join(" "));
    for (const id of figures) assert.ok((await table(page, `#${id}`)).length > 1, id);
    // Histogram: bins add up to the rows, and right and wrong to what they are.
    const scores = scored("estimator.json", "test", labels.test);
    const whole = (text) => Number(text.replace(/,/g, ""));
    const bins = await table(page, "#histogram-selected");
    const sum = (column) => bins.reduce((all, cells) => all + whole(cells[column]), 0);
    assert.deepEqual([sum(1), sum(2)], [scores.filter((item) => !item.wrong).length, scores.filter((item) => item.wrong).length]);
    // Reliability of MSP, which is what is shown of a method that is no probability.
    const msp = scored("MSP", "test", labels.test).map((item) => ({ ...item, p: 1 / (1 + Math.exp(-item.confidence)) }));
    for (const [from, to, n, claimed, right] of await table(page, "#reliability-figure")) {
      const [low, high] = [from, to].map((text) => Math.round((15 * parseFloat(text)) / 100) / 15);
      const item = msp.filter(({ p }) => p > low && p <= high);
      assert.equal(whole(n), item.length, `${from} to ${to}`);
      if (item.length === 0) continue;
      const mean = (of) => (100 * item.reduce((all, row) => all + of(row), 0)) / item.length;
      assert.ok(Math.abs(parseFloat(claimed) - mean((row) => row.p)) < 0.051, `${from}: ${claimed}`);
      assert.ok(Math.abs(parseFloat(right) - mean((row) => Number(!row.wrong))) < 0.051, `${from}: ${right}`);
    }
    // The curve: the strictest threshold that covers so much.
    const sorted = [...scores].sort((a, b) => b.confidence - a.confidence);
    for (const [coverage, , risk] of await table(page, "#curves-figure")) {
      const threshold = sorted[Math.ceil((parseFloat(coverage) / 100) * sorted.length - 1e-9) - 1].confidence;
      const { answered, errors } = counted(scores, threshold);
      assert.ok(Math.abs(parseFloat(risk) - (100 * errors) / answered) < 0.051, `${coverage}: ${risk}`);
    }
    await close();
  });

  test("has no fault that axe finds, and fits a phone", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await open("page.html", { colorScheme, viewport: { width: 360, height: 740 }, bypassCSP: true });
      await page.evaluate(() => { for (const item of document.querySelectorAll("details")) item.open = true; });
      await settled(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 360, `${wide} pixels wide`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(violations.map((found) => `${found.id}: ${found.nodes[0].html}`), []);
      await close();
    }
  });

  test("names do nothing", async () => {
    writeFileSync(at("names.txt"), Array.from({ length: 10 }, (_, i) => `${HOSTILE}${i}`).join("\n"));
    abstain(
      "eval", "estimator.json", "test-logits.npy", "test-labels.npy",
      "--set", HOSTILE, "shifted-logits.npy", "shifted-labels.npy",
      "--class-names", "names.txt", "--replicates", "20", "--page", "hostile.html", "-q",
    );
    const { page, heard, close } = await open("hostile.html");
    await settled(page);
    await page.selectOption("#set", "1");
    // All that is drawn only when it is opened.
    for (const item of await page.locator("details:not([open]) > summary").all()) {
      if (await item.isVisible()) await item.click();
    }
    await settled(page);
    assert.deepEqual([heard.dialogs, heard.console, heard.requests.length], [[], [], 1]);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    assert.ok((await page.locator("#classes").innerText()).includes("<img src=x onerror=alert(1)>"));
    await close();
  });

  test("losses that are not 0 or 1, and rows without labels, have pages too", async () => {
    const n = 400;
    const floats = (of) => {
      const data = Buffer.alloc(8 * n);
      for (let i = 0; i < n; i += 1) data.writeDoubleLE(of(i), 8 * i);
      return data;
    };
    writeNpy("item.npy", "<f8", [n], floats((i) => (i * 37) % 101));
    writeNpy("losses.npy", "<f8", [n], floats((i) => (((i * 37) % 101) % 7 ? 0 : 0.3)));
    abstain("eval", "--confidence", "item.npy", "--losses", "losses.npy", "--page", "graded.html", "-q");
    const { page, heard, close } = await open("graded.html");
    await settled(page);
    await drag(page, "coverage", 0.5);
    assert.deepEqual(heard.console, []);
    assert.equal(await value(page, "bound"), null);
    const threshold = await value(page, "threshold");
    const answered = Array.from({ length: n }, (_, i) => i).filter((i) => (i * 37) % 101 >= threshold);
    assert.equal(await value(page, "coverage"), answered.length / n);
    const text = await page.locator("main").innerText();
    assert.match(text, /mean loss/);
    await page.screenshot({ path: join(shots, "eval-graded.png"), fullPage: true });
    await close();
  });

  test("a perfect classifier and a single row have pages too", async () => {
    const data = Buffer.alloc(8);
    data.writeDoubleLE(0.5);
    writeNpy("one.npy", "<f8", [1], data);
    writeNpy("none.npy", "<f8", [1], Buffer.alloc(8));
    abstain("eval", "--confidence", "one.npy", "--losses", "none.npy", "--page", "one.html", "-q");
    const { page, heard, close } = await open("one.html");
    await settled(page);
    assert.deepEqual(heard.console, []);
    assert.equal(await value(page, "coverage"), 1);
    await close();
  });
});
