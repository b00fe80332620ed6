// Tests the page that follows a folder, in Chromium.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { serveFolder } from '../../../src/cli/page/serve-folder.js';
import { exampleTrace, problems, requests, temporary, visit } from './browser.mjs';
import { growingTrace } from './traces.mjs';

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
  assert.equal(page.url(), server.url.split('?')[0]);
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

describe('while a run goes on', () => {
  const lines = growingTrace();
  let name = 10;

  /** Opens a run of which 15 turns are written. `more` writes a further turn. */
  async function following() {
    name += 1;
    let length = lines.findIndex((line) => line.includes('"turn":16'));
    const save = () => write(`2026-${name}`, lines.slice(0, length).join(''));
    save();
    const page = await visit(server.url, { height: 600 });
    const more = async () => {
      const before = await page.$eval('.run', (run) => run.textContent);
      length += 6;
      save();
      await page.waitForFunction((old) => document.querySelector('.run').textContent !== old, {}, before);
      // The page scrolls in the frame after a change.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    };
    return { page, more };
  }

  test('the chosen finding, the selected item and its open record stay', async () => {
    const { page, more } = await following();
    await page.click('li:nth-child(2) > .finding');
    await page.$eval('[aria-label^="desk: polite: wrapModelCall"]', (bar) => bar.click());
    await page.click('summary');
    const seen = () =>
      page.evaluate(() => ({
        chosen: [...document.querySelectorAll('.finding')].map((one) => one.getAttribute('aria-pressed')),
        selected: document.querySelector('.detail h2').textContent,
        record: document.querySelector('details').open,
        marked: document.querySelector('.bar.selected').ariaLabel,
      }));
    const before = await seen();
    await more();

    assert.deepEqual(await seen(), before);
    assert.equal(before.chosen[1], 'true');
    assert.match(before.selected, /^polite/);
    assert.equal(before.record, true);
  });

  test('the conversation and the time line stay where a person has scrolled them', async () => {
    const { page, more } = await following();
    const scrolled = () =>
      page.evaluate(() => {
        const top = (query) => Math.round(document.querySelector(query).getBoundingClientRect().top);
        return [top('.block:nth-child(16)'), document.querySelector('.timeline').scrollLeft];
      });
    for (const key of ['+', '+', '+']) await page.keyboard.press(key);
    await page.$eval('.block:nth-child(16)', (block) => block.scrollIntoView());
    await page.$eval('.timeline', (timeline) => timeline.scrollTo(300, 0));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const before = await scrolled();
    await more();

    assert.deepEqual(await scrolled(), before);
    assert.equal(before[1], 300);
    assert.ok((await page.$eval('.talk', (talk) => talk.scrollTop)) > 500);
  });

  test('a folded agent on the way to the cause stays folded', async () => {
    const { page, more } = await following();
    const isUnfolded = () => page.$eval('button.label', (label) => label.ariaExpanded);
    assert.equal(await isUnfolded(), 'true');
    await page.click('button.label');
    await more();

    assert.equal(await isUnfolded(), 'false');
  });

  for (const part of [
    'li:nth-child(2) > .finding',
    '.step:not(.is-cause)',
    'button.label',
    '.bar.selected',
    'summary',
    '.inside',
  ]) {
    test(`the focus stays on ${part}`, async () => {
      const { page, more } = await following();
      await page.focus(part);
      await more();

      assert.ok(await page.$eval(part, (element) => element === document.activeElement));
    });
  }
});

test('asks its own server alone, and throws no error', () => {
  const { origin } = new URL(server.url);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${origin}/`)),
    [],
  );
  assert.deepEqual(problems, []);
});
