// A page of 50,000 rows: how large it is, and how long a browser takes to draw it and to follow the slider.
// Times are printed and not asserted: machines are noisy.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { abstain, at, open, settled, start, stop, value, writeNpy } from "./common.mjs";

const [ROWS, CLASSES] = [50_000, 100];

before(start);
after(stop);

/** Logits of a classifier whose MSP is broken: the scale of a row says nothing of how sure it is. */
function classifier() {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const logits = Buffer.alloc(4 * ROWS * CLASSES);
  const labels = Buffer.alloc(8 * ROWS);
  for (let row = 0; row < ROWS; row += 1) {
    const label = row % CLASSES;
    const [signal, scale] = [4 * random(), 0.3 + 2 * random()];
    for (let c = 0; c < CLASSES; c += 1) {
      const noise = random() + random() + random() + random() - 2;
      logits.writeFloatLE(scale * ((c === label ? signal : 0) + noise), 4 * (row * CLASSES + c));
    }
    labels.writeBigInt64LE(BigInt(label), 8 * row);
  }
  writeNpy("logits.npy", "<f4", [ROWS, CLASSES], logits);
  writeNpy("labels.npy", "<i8", [ROWS], labels);
}

describe("a page of 50,000 rows", () => {
  test("is below 2 MB and drawn at once", async (t) => {
    classifier();
    abstain("tune", "logits.npy", "labels.npy", "--holdout", "1000", "--replicates", "100", "--page", "page.html", "-q");
    const { size } = statSync(at("page.html"));
    t.diagnostic(`${(size / 1e6).toFixed(2)} MB`);
    assert.ok(size < 2e6, `${size} bytes`);
    const { page, heard, close } = await open("page.html");
    await settled(page);
    assert.deepEqual(heard.console, []);
    // The entry of a paint is recorded some time after it.
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    const paint = await page.evaluate(() => {
      const [first] = performance.getEntriesByName("first-contentful-paint");
      const [load] = performance.getEntriesByType("navigation");
      return [first.startTime, load.loadEventEnd];
    });
    t.diagnostic(`first paint ${paint[0].toFixed(0)} ms, loaded and drawn ${paint[1].toFixed(0)} ms`);
    // Each step as a hand would make it: the event, and the frame that shows it.
    const steps = await page.evaluate(async () => {
      const slider = document.getElementById("coverage");
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const times = [];
      for (let i = 0; i <= 60; i += 1) {
        slider.value = String(Number(slider.max) * (0.2 + (0.7 * i) / 60));
        await frame();
        const from = performance.now();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await frame();
        times.push(performance.now() - from);
      }
      return times.sort((a, b) => a - b);
    });
    t.diagnostic(`a step of the slider until the next frame: median ${steps[30].toFixed(1)} ms, slowest ${steps[60].toFixed(1)} ms`);
    assert.ok(Math.abs((await value(page, "coverage")) - 0.9) < 0.002);
    await close();
  });
});
