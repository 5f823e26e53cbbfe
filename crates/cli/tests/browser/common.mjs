// What the tests share: the program, rows to work on, and a browser without a network.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../../..");
export const program = process.env.ABSTAIN ?? join(root, "target/debug/abstain");
export const shots = join(root, "target/browser");
export const axe = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");

export const folder = mkdtempSync(join(tmpdir(), "abstain-browser-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
mkdirSync(shots, { recursive: true });

/** Runs the program in the folder, and returns what it prints. */
export function abstain(...args) {
  return execFileSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** A file of the folder. */
export const at = (name) => join(folder, name);
export const json = (text) => JSON.parse(text);

/** Reads an npy file of the kinds that the demo has. */
function readNpy(path) {
  const bytes = readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const shape = header.match(/\(([^)]*)\)/)[1].split(",").filter((x) => x.trim()).map(Number);
  return { descr: header.match(/'descr': '([^']*)'/)[1], shape, data: bytes.subarray(start) };
}

/** Writes an npy file. */
export function writeNpy(name, descr, shape, data) {
  const size = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${size}, }`;
  header += " ".repeat(63 - ((10 + header.length) % 64)) + "\n";
  const head = Buffer.alloc(10);
  head.write("\x93NUMPY\x01\x00", "latin1");
  head.writeUInt16LE(header.length, 8);
  writeFileSync(at(name), Buffer.concat([head, Buffer.from(header, "latin1"), data]));
}

/** Some rows of a set of the demo as NAME-logits.npy and NAME-labels.npy; returns the labels. */
export function rows(set, name, from, to) {
  for (const part of ["logits", "labels"]) {
    const { descr, shape, data } = readNpy(join(root, "crates/cli/demo", set, `${part}.npy`));
    const width = data.length / shape[0];
    const item = data.subarray(from * width, to * width);
    writeNpy(`${name}-${part}.npy`, descr, [to - from, ...shape.slice(1)], item);
  }
  const { data } = readNpy(at(`${name}-labels.npy`));
  return Array.from({ length: to - from }, (_, i) => Number(data.readBigInt64LE(8 * i)));
}

/** Every row as the program scores it: prediction, confidence, label. */
export function scored(estimator, name, labels) {
  const lines = abstain("score", estimator, `${name}-logits.npy`).trim().split("\n");
  const columns = lines[0].split(",");
  const [prediction, confidence] = ["prediction", "confidence"].map((c) => columns.indexOf(c));
  return lines.slice(1).map((line, row) => {
    const cells = line.split(",");
    const item = { row, predicted: +cells[prediction], confidence: +cells[confidence], label: labels[row] };
    return { ...item, wrong: item.predicted !== item.label };
  });
}

/** What a threshold lets through, counted row by row. */
export function counted(scores, threshold) {
  const answered = scores.filter((item) => item.confidence >= threshold);
  return { answered: answered.length, errors: answered.filter((item) => item.wrong).length };
}

/** A browser for tests: as root, without a window, and without background requests. */
export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

let browser;
export async function start() {
  browser = await launch();
}
export const stop = () => browser.close();

/** Opens a file of the folder with the network off. Whatever it asks for or complains of is kept. */
export async function open(name, options = {}) {
  const context = await browser.newContext({
    offline: true,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  const heard = { requests: [], console: [], dialogs: [] };
  page.on("request", (item) => heard.requests.push(item.url()));
  page.on("console", (item) => heard.console.push(item.text()));
  page.on("pageerror", (item) => heard.console.push(String(item)));
  page.on("dialog", (item) => {
    heard.dialogs.push(item.message());
    item.dismiss();
  });
  await page.goto(pathToFileURL(at(name)).href, { waitUntil: "load" });
  return { page, heard, close: () => context.close() };
}

/** The exact number behind a readout. */
export async function value(page, name) {
  const text = await page.locator(`output[data-out="${name}"]`).first().getAttribute("data-value");
  return text === null || text === "" ? null : Number(text.replace("inf", "Infinity"));
}

/** The numbers behind some readouts. */
export async function values(page, ...names) {
  return Object.fromEntries(await Promise.all(names.map(async (n) => [n, await value(page, n)])));
}

/** Drags the handle of a range input to a share of its length, as a hand does. */
export async function drag(page, id, share) {
  const input = page.locator(`#${id}`);
  await input.scrollIntoViewIfNeeded();
  const box = await input.boundingBox();
  const [now, min, max] = await input.evaluate((item) => [item.value, item.min, item.max].map(Number));
  // A handle's middle stays half its width away from both ends.
  const x = (part) => box.x + 8 + (box.width - 16) * part;
  const y = box.y + box.height / 2;
  await page.mouse.move(x((now - min) / (max - min)), y);
  await page.mouse.down();
  await page.mouse.move(x(share / 2 + 0.2), y, { steps: 4 });
  await page.mouse.move(x(share), y, { steps: 8 });
  await page.mouse.up();
  await settled(page);
}

/** The page draws in animation frames: two of them later all is drawn. */
export async function settled(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
