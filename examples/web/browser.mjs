// The real server, and pages of it in Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { browser, withBrowser } from './chromium.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const shots = fileURLToPath(new URL('screenshots', import.meta.url));
export const temporary = mkdtempSync(join(tmpdir(), 'keelson-web-'));
export const hosts = new Set();
export const problems = [];
let server;
let pace;

export { browser };
export let url;

/** Starts the server and the browser for the tests of a file. The model of the server says a word every `wordMs`. */
export function setUp({ wordMs }) {
  pace = wordMs;
  before(async () => {
    mkdirSync(shots, { recursive: true });
    await start('0');
  });
  withBrowser();
  after(async () => {
    await stop('SIGKILL');
    rmSync(temporary, { recursive: true });
  });
}

/** Starts the server, and waits until it listens. */
export async function start(port) {
  const own = { PORT: port, SESSIONS: join(temporary, 'sessions'), WORD_MS: String(pace), OPENAI_API_KEY: '' };
  const env = { ...process.env, ...own };
  const stdio = ['ignore', 'pipe', 'inherit'];
  server = spawn(process.execPath, ['--import', 'tsx', 'server.ts'], { cwd: folder, env, stdio });
  const [line] = await once(server.stdout, 'data');
  url = String(line).trim();
}

/** Ends the server with a signal, and waits until it has ended. */
export async function stop(signal) {
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

/** Opens a chat: a new one, or the chat of an address. */
export async function open(address = `${url}/#${crypto.randomUUID()}`) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  page.on('request', (request) => hosts.add(new URL(request.url()).hostname));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.setViewport({ width: 900, height: 800 });
  await page.goto(address);
  await page.waitForSelector('#message');
  return page;
}

export async function send(page, text) {
  await page.type('#message', text);
  await page.keyboard.press('Enter');
}

/** Waits for a text in the chat. A page behind another one draws no frames, but its text changes. */
export function sees(page, text) {
  return page.waitForFunction(
    // biome-ignore lint/performance/useDomNodeTextContent: `textContent` contains text that the page hides.
    (wanted) => document.querySelector('main')?.innerText.includes(wanted),
    { polling: 'mutation' },
    text,
  );
}

export function textOf(page) {
  // biome-ignore lint/performance/useDomNodeTextContent: `textContent` contains text that the page hides.
  return page.$eval('.messages', (element) => element.innerText);
}

export function count(page, selector) {
  return page.$$eval(selector, (list) => list.length);
}

/** Clicks on the last button with a text or a label. */
export function click(page, label) {
  return page.locator(`::-p-xpath((//button[normalize-space()="${label}" or @aria-label="${label}"])[last()])`).click();
}

/** Changes a field in the card of a call. */
export function fill(page, name, value) {
  const field = `//label[contains(@class, "field")][span="${name}"]/*[self::input or self::textarea]`;
  return page.locator(`::-p-xpath(${field})`).fill(value);
}

/** Waits until the answer has ended. */
export function ready(page) {
  return isIn(page, 'ready');
}

/** Waits until the chat is in a state: `ready`, `answering` or `offline`. */
export function isIn(page, state) {
  const isIt = (wanted) => document.querySelector('main')?.dataset.state === wanted;
  return page.waitForFunction(isIt, { polling: 'mutation' }, state);
}

export function shot(page, name) {
  return page.screenshot({ path: join(shots, `${name}.png`) });
}
