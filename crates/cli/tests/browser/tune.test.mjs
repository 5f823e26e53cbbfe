// The page of `abstain tune`, used by hand: every number that it shows is counted again from the rows.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  abstain, at, axe, counted, drag, json, open, rows, scored, settled, shots, start, stop, value, values,
} from "./common.mjs";

const READOUTS = ["coverage", "accuracy", "answered", "errors", "referred", "threshold"];
const near = (a, b, name) => assert.ok(Math.abs(a - b) < 1e-12, `${name}: ${a} is not ${b}`);

let labels, input, report, artifact;

before(async () => {
  await start();
  rows("imagenet-efficientnet-lite2", "tuning", 0, 1000);
  labels = rows("imagenet-efficientnet-lite2", "test", 1000, 2000);
  ({ input, report, artifact } = json(abstain(
    "tune", "tuning-logits.npy", "tuning-labels.npy", "--test", "test-logits.npy", "test-labels.npy",
    "--target-accuracy", "0.95", "--delta", "0.05", "-o", "estimator.json", "--page", "page.html", "--json",
  )));
});
after(stop);

/** The readouts must be what the rows give at the threshold that is shown. */
async function check(page, scores, name) {
  const seen = await values(page, ...READOUTS);
  const { answered, errors } = counted(scores, seen.threshold);
  const n = scores.length;
  assert.equal(Math.round(seen.coverage * n), answered, `${name}: answered`);
  near(seen.coverage, answered / n, `${name}: coverage`);
  near(seen.accuracy, 1 - errors / answered, `${name}: accuracy`);
  near(seen.answered, (1000 * answered) / n, `${name}: answered of 1,000`);
  near(seen.errors, (1000 * errors) / n, `${name}: errors of 1,000`);
  near(seen.referred, 1000 - (1000 * answered) / n, `${name}: handed over of 1,000`);
  return { ...seen, count: answered, wrong: errors };
}

/** The largest risk at which so few errors are as likely as delta: by adding up the binomial. */
function clopperPearson(errors, n, delta) {
  const tail = (p) => {
    let [sum, log] = [0, n * Math.log1p(-p)];
    for (let k = 0; k <= errors; k += 1) {
      sum += Math.exp(log);
      log += Math.log((n - k) / (k + 1)) + Math.log(p / (1 - p));
    }
    return sum;
  };
  let [low, high] = [errors / n, 1];
  for (let i = 0; i < 100; i += 1) {
    const middle = (low + high) / 2;
    if (tail(middle) > delta) low = middle;
    else high = middle;
  }
  return high;
}

describe("the page of tune", () => {
  test("opens from a file without a network, asks for nothing and has nothing to complain of", async () => {
    const { page, heard, close } = await open("page.html");
    await settled(page);
    assert.equal(heard.requests.length, 1);
    assert.match(heard.requests[0], /^file:.*page\.html$/);
    assert.deepEqual(heard.console, []);
    const shown = await page.locator("header").innerText();
    assert.ok(shown.includes("Use Stack (10 scores"), shown.slice(0, 300));
    await page.screenshot({ path: join(shots, "tune-desktop.png"), fullPage: true });
    await close();
  });

  test("carries the command's JSON and shows its numbers", async () => {
    const { page, close } = await open("page.html");
    const embedded = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).report);
    assert.deepEqual(embedded, { input, report, artifact });
    const tiles = await page.locator("header").innerText();
    assert.ok(tiles.includes(`${(100 * report.accuracy).toFixed(1)} %`));
    const kept = (method) => report.methods.find((line) => line.method === method).kept.interval.estimate;
    assert.ok(tiles.includes(`${(100 * kept(report.choice.method)).toFixed(1)} %`));
    assert.ok(tiles.includes(`${(100 * kept("MSP")).toFixed(1)} %`));
    const { accepted, rows: n } = report.certificate;
    assert.ok(tiles.includes(`${((100 * accepted) / n).toFixed(1)} %`));
    // The table: every method that was not given up, with the JSON's numbers.
    for (const line of report.methods) {
      const row = page.locator("table.methods tbody tr", {
        has: page.locator("th, td").getByText(line.method, { exact: true }),
      });
      if (line.method !== "MSP" && (line.fell_back || line.problem)) {
        assert.equal(await row.count(), 0, line.method);
        continue;
      }
      const text = await row.innerText();
      for (const metric of ["naurc", "aurc", "auroc"]) {
        const wanted = line[metric].interval.estimate.toFixed(4);
        assert.ok(text.includes(wanted), `${line.method}: ${metric} ${wanted} in ${text}`);
      }
      assert.ok(text.includes(`${(100 * line.kept.interval.estimate).toFixed(1)} %`), text);
    }
    await close();
  });

  test("starts at the certified threshold", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    const seen = await check(page, scores, "start");
    const { threshold, accepted, errors } = report.certificate;
    assert.deepEqual([seen.threshold, seen.count, seen.wrong], [threshold, accepted, errors]);
    await close();
  });

  test("dragging coverage, accuracy and threshold shows what the rows give there", async () => {
    const { page, heard, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    const seen = [];
    for (const [id, shares] of [
      ["coverage", [0.9, 0.31, 0.62]],
      ["accuracy", [0.15, 0.7]],
      ["threshold", [0.2, 0.55]],
    ]) {
      for (const share of shares) {
        await drag(page, id, share);
        seen.push((await check(page, scores, `${id} at ${share}`)).count);
      }
    }
    assert.ok(new Set(seen).size >= 6, `the sliders move: ${seen}`);
    assert.deepEqual(heard.console, []);
    await close();
  });

  test("numbers can be typed, and keys move the slider", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    await page.fill("#coverage-number", "70");
    await page.press("#coverage-number", "Enter");
    await settled(page);
    assert.equal((await check(page, scores, "70 %")).count, 700);
    await page.focus("#coverage");
    await page.keyboard.press("ArrowLeft");
    await settled(page);
    const after = (await check(page, scores, "a key")).count;
    assert.ok(after < 700 && after >= 690, `${after}`);
    // The widest position of the accuracy that is asked for, by trying all.
    await page.fill("#accuracy-number", "93");
    await page.press("#accuracy-number", "Enter");
    await settled(page);
    const widest = Math.max(...scores.map((item) => counted(scores, item.confidence))
      .filter(({ answered, errors }) => answered - errors >= 0.93 * answered * (1 - 1e-12))
      .map(({ answered }) => answered));
    assert.equal((await check(page, scores, "93 %")).count, widest);
    const typed = scores[17].confidence;
    await page.fill("#threshold-number", String(typed));
    await page.press("#threshold-number", "Enter");
    await settled(page);
    assert.equal((await check(page, scores, "a threshold")).count, counted(scores, typed).answered);
    // What cannot be is not kept.
    for (const [id, typed] of [["accuracy-number", "150"], ["coverage-number", "-3"], ["error-cost", "-1"]]) {
      const before = await values(page, ...READOUTS, "cost");
      await page.fill(`#${id}`, typed);
      await page.press(`#${id}`, "Tab");
      await settled(page);
      assert.notEqual(await page.inputValue(`#${id}`), typed);
      assert.deepEqual(await values(page, ...READOUTS, "cost"), before);
    }
    // The ends of the threshold's slider are all and nothing.
    await page.focus("#threshold");
    await page.keyboard.press("Home");
    await settled(page);
    assert.equal(await value(page, "coverage"), 1);
    await page.keyboard.press("End");
    await settled(page);
    assert.equal(await value(page, "coverage"), 0);
    assert.match(await page.locator('output[data-out="threshold"]').innerText(), /nothing is answered/);
    await close();
  });

  test("bounds are the exact ones, and those of the program", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    const methods = await page.evaluate(
      () => JSON.parse(document.getElementById("data").textContent).sets[0].methods.length,
    );
    for (const share of [0.35, 0.8]) {
      await drag(page, "coverage", share);
      const seen = await check(page, scores, "bounds");
      const { bound, alone } = await values(page, "bound", "alone");
      assert.ok(Math.abs(1 - alone - clopperPearson(seen.wrong, seen.count, 0.05)) < 1e-9);
      const level = 0.05 / (labels.length * methods);
      // Everywhere at once one of the rows is the threshold itself.
      const everywhere = clopperPearson(Math.min(seen.wrong, seen.count - 1), seen.count - 1, level);
      assert.ok(Math.abs(1 - bound - everywhere) < 1e-9);
      // What is promised is not rounded up.
      const shown = Number((await page.locator('output[data-out="bound"]').innerText()).replace(" %", ""));
      assert.ok(shown <= 100 * bound && shown > 100 * bound - 0.11, `${shown} for ${bound}`);
      abstain("threshold", "estimator.json", "--at", String(seen.threshold), "-o", "moved.json", "-q");
      const [{ threshold }] = json(abstain("eval", "moved.json", "test-logits.npy", "test-labels.npy", "--json"));
      assert.equal(threshold.accepted, seen.count);
      near(1 - threshold.selective_risk, seen.accuracy, "eval's accuracy");
      near(1 - threshold.risk_bounds[1], alone, "eval's bound");
    }
    // The threshold of the certificate is promised what was asked for.
    assert.equal(await page.locator("#mark-note").isVisible(), false);
    await page.getByRole("button", { name: /^Certified/ }).click();
    await settled(page);
    assert.match(await page.locator("#mark-note").innerText(), /^Certified: 95 % accuracy or better/);
    await close();
  });

  test("another method has its item thresholds", async () => {
    const { page, close } = await open("page.html");
    for (const method of ["MSP", "MaxLogit-pNorm"]) {
      const place = await page.evaluate((name) => {
        const { methods } = JSON.parse(document.getElementById("data").textContent).sets[0];
        return methods.findIndex((item) => item.name === name);
      }, method);
      await page.selectOption("#method", String(place));
      await drag(page, "coverage", 0.66);
      const line = report.methods.find((item) => item.method === method);
      writeFileSync(at("method.json"), JSON.stringify({ ...artifact, estimator: line.estimator, rule: null }));
      await check(page, scored("method.json", "test", labels), method);
    }
    await close();
  });

  test("costs find the cheapest threshold", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    for (const [error, referral] of [[10, 1], [2, 1], [1, 5], [1000, 1]]) {
      await page.fill("#error-cost", String(error));
      await page.fill("#referral-cost", String(referral));
      await page.click("#cheapest");
      await settled(page);
      const costs = [Infinity, ...scores.map((item) => item.confidence)].map((threshold) => {
        const { answered, errors } = counted(scores, threshold);
        return ((error * errors + referral * (scores.length - answered)) * 1000) / scores.length;
      });
      const least = Math.min(...costs);
      near(await value(page, "cheapest-cost"), least, `${error} against ${referral}`);
      near(await value(page, "cost"), least, "there it goes");
    }
    await close();
  });

  test("the table is sorted by any column", async () => {
    const { page, close } = await open("page.html");
    const names = () => page.locator("table.methods tbody tr").evaluateAll(
      (all) => all.map((row) => row.cells[0].innerText.replace(/[^\w-].*$/s, "")),
    );
    const shown = report.methods.filter((item) => item.method === "MSP" || !(item.fell_back || item.problem));
    for (const [column, metric] of [["NAURC", "naurc"], ["AUROC", "auroc"], ["AURC", "aurc"]]) {
      const head = page.locator("table.methods thead th", { has: page.getByText(column, { exact: true }) });
      for (const expected of ["ascending", "descending"]) {
        await head.locator("button").click();
        let direction = await head.getAttribute("aria-sort");
        if (direction !== expected) {
          await head.locator("button").click();
          direction = await head.getAttribute("aria-sort");
        }
        assert.equal(direction, expected);
        const sign = expected === "ascending" ? 1 : -1;
        const of = (name) => shown.find((item) => item.method === name)[metric].interval.estimate;
        const order = await names();
        assert.equal(order.length, shown.length);
        for (let i = 1; i < order.length; i += 1) {
          assert.ok(sign * (of(order[i]) - of(order[i - 1])) >= 0, `${column}, ${expected}: ${order}`);
        }
      }
    }
    await close();
  });

  test("curves of other methods are drawn when they are asked for", async () => {
    const { page, close } = await open("page.html");
    const box = page.locator('input[name="curve"]:not(:checked)').first();
    const place = await box.getAttribute("value");
    const path = page.locator(`path[data-curve="${place}"]`);
    assert.equal(await path.count(), 0);
    await page.getByText("Choose the curves").click();
    await box.check();
    await settled(page);
    assert.ok((await path.first().getAttribute("d")).length > 1000);
    await page.locator(`input[name="curve"][value="${place}"]`).uncheck();
    await settled(page);
    assert.equal(await path.count(), 0);
    await close();
  });

  test("the most confident errors are those of the rows", async () => {
    const { page, close } = await open("page.html");
    const scores = scored("estimator.json", "test", labels);
    const wrong = scores.filter((item) => item.wrong).sort((a, b) => b.confidence - a.confidence);
    const seen = await page.locator("#errors tbody tr").evaluateAll(
      (all) => all.map((row) => [...row.cells].slice(0, 3).map((cell) => cell.innerText.trim())),
    );
    assert.equal(seen.length, Math.min(50, wrong.length));
    seen.forEach((cells, i) => {
      const { row, label, predicted } = wrong[i];
      assert.deepEqual(cells.map((text) => Number(text.replace(/[^0-9]/g, ""))), [row, label, predicted]);
    });
    await close();
  });

  test("works on a phone, in the dark, on paper, and without a script", async () => {
    const phone = await open("page.html", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await settled(phone.page);
    const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${wide} pixels wide`);
    await phone.page.screenshot({ path: join(shots, "tune-phone.png"), fullPage: true });
    await phone.close();

    const dark = await open("page.html", { colorScheme: "dark" });
    const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, x) => sum + Number(x), 0);
    assert.ok(brightness(await background(dark.page)) < 200);
    await dark.page.screenshot({ path: join(shots, "tune-dark.png"), fullPage: true });
    // Paper is light whatever the screen is.
    await dark.page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.ok(brightness(await background(dark.page)) > 700);
    const pdf = await dark.page.pdf({ path: join(shots, "tune.pdf"), format: "A4", printBackground: true });
    assert.ok(pdf.length > 10_000);
    await dark.close();

    const plain = await open("page.html", { javaScriptEnabled: false });
    assert.ok(await plain.page.getByText("Use Stack (10 scores").isVisible());
    const text = await plain.page.locator("body").textContent();
    for (const part of ["Use Stack (10 scores", "MaxLogit-pNorm", "sum-sha256", "JavaScript"]) {
      assert.ok(text.includes(part), part);
    }
    await plain.close();
  });

  test("has no fault that axe finds, light or dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
      // The policy of the page is for those who read it, not for those who test it.
      const { page, close } = await open("page.html", { colorScheme, bypassCSP: true });
      await settled(page);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const found = violations.map((found) => `${found.id}: ${found.nodes[0].html}`);
      assert.deepEqual(found, []);
      await close();
    }
  });
});
