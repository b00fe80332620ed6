// Pages of traces in Chromium.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pageOf } from '../../../src/cli/page/page.js';
import { browser, withBrowser } from '../chromium.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const shots = fileURLToPath(new URL('../screenshots', import.meta.url));
export const temporary = mkdtempSync(join(tmpdir(), 'keelson-trace-page-'));
/** Requests of pages, and errors that they threw. */
export const requests = [];
export const problems = [];

withBrowser();
after(() => rmSync(temporary, { recursive: true }));

/** Opens an address, with the width and the colours of a device. */
export async function visit(address, { width = 1440, height = 900, theme = 'light' } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.setViewport({ width, height });
  await page.goto(address);
  await page.waitForSelector('.tracks');
  return page;
}

let files = 0;

/** Opens the page of a trace as a file. */
export async function open(lines, device) {
  files += 1;
  const file = join(temporary, `${files}.html`);
  const { html } = await pageOf(lines);
  writeFileSync(file, html);
  return visit(pathToFileURL(file).href, device);
}

/** Runs the example, and returns the lines of its trace, whose paths are relative. */
export function exampleTrace() {
  const folder = join(temporary, 'example');
  const args = ['--import', 'tsx', 'examples/19-see-what-a-run-did.ts', folder];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new TypeError(`The example must exit with 0, got ${status}: ${stderr}`);
  const [name = ''] = readdirSync(folder);
  return readFileSync(join(folder, name), 'utf8');
}

export function shot(page, name) {
  return page.screenshot({ path: join(shots, `trace-${name}.png`) });
}

/** Returns the median of five numbers. */
export async function medianOfFive(measure) {
  const numbers = [];
  for (let count = 0; count < 5; count += 1) numbers.push(await measure());
  return numbers.sort((a, b) => a - b)[2];
}
