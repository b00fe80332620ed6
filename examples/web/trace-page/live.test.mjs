// Tests the page that follows a folder, in Chromium.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { serveFolder } from '../../../src/cli/page/serve-folder.js';
import { exampleTrace, problems, requests, temporary, visit } from './browser.mjs';

const folder = join(temporary, 'live');
const example = exampleTrace();
const write = (name, lines) => writeFileSync(join(folder, `${name}.trace.jsonl`), lines);
let server;

before(async () => {
  mkdirSync(folder);
  server = await serveFolder(folder);
});
after(() => server.close());

const sees = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector('.run').textContent.includes(wanted), {}, text);

test('follows a run while it goes on, and shows a newer run', async () => {
  const lines = example.trim().split('\n');
  write('2026-01', `${lines.slice(0, 20).join('\n')}\n${lines[20].slice(0, 10)}`);
  const page = await visit(server.url);
  await sees(page, 'running');
  assert.equal(page.url(), `${new URL(server.url).origin}/`);
  const widthOn = (one) => one.$eval('.tracks', (tracks) => Number.parseFloat(tracks.style.width));
  await page.keyboard.press('+');

  write('2026-01', example);
  await sees(page, 'completed');
  const another = await visit(server.url);
  await sees(another, 'completed');
  assert.ok((await widthOn(page)) > 1.4 * (await widthOn(another)), 'the zoom stays while the run grows');
  await page.bringToFront();
  write('2026-02', example.replaceAll('harbour-desk', 'lighthouse'));
  await sees(page, 'lighthouse');

  await page.select('select', await page.$eval('option:last-child', (option) => option.value));
  await sees(page, 'harbour-desk');
});

test('asks its own server alone, and throws no error', () => {
  const { origin } = new URL(server.url);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${origin}/`)),
    [],
  );
  assert.deepEqual(problems, []);
});
