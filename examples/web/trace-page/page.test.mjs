// Tests the trace page in Chromium: speed, safety, accessibility, and the way to the cause.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { trace } from 'keelson/trace';
import { pageOf } from '../../../src/cli/page/page.js';
import { FAILING_RUNS } from '../../../test/support/trace/failing-runs.js';
import { exampleTrace, medianOfFive, open, problems, requests, shot } from './browser.mjs';
import { hostileTrace, largeTrace } from './traces.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const example = exampleTrace();
const PHONE = { width: 375, height: 812 };

/** Returns the accessibility violations of a page. */
async function violationsOf(page) {
  // The policy of the page refuses scripts that are added to it, but not those of the developer tools.
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  assert.ok(passes.length > 20, 'axe has checked too little');
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

async function linesOf({ run }) {
  const lines = [];
  await run(trace({ to: (line) => lines.push(line) }));
  return lines.join('\n');
}

test('has at most 20 kB gzip', async () => {
  const { html } = await pageOf();

  assert.ok(gzipSync(html).length <= 20_000, `${gzipSync(html).length} bytes`);
});

for (const [device, size] of Object.entries({ wide: undefined, phone: PHONE })) {
  for (const theme of ['light', 'dark']) {
    test(`has no accessibility violation, and no sideways scroll: ${device}, ${theme}`, async () => {
      const page = await open(example, { ...size, theme });
      await shot(page, `${device}-${theme}`);

      assert.deepEqual(await violationsOf(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });
  }
}

describe('a trace of 200 turns and 5,000 events', () => {
  const lines = largeTrace();

  test('opens in less than a second', async () => {
    const median = await medianOfFive(async () => {
      const page = await open(lines);
      const shown = await page.evaluate(
        () =>
          new Promise((done) => requestAnimationFrame(() => done(performance.measure('open', { start: 0 }).duration))),
      );
      await page.close();
      return shown;
    });

    console.log(`opens in ${Math.round(median)} ms`);
    assert.ok(lines.split('\n').length > 5_000);
    assert.ok(median < 1_000, `${median} ms`);
  });

  test('answers a filter in less than 50 ms', async () => {
    const page = await open(lines);
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
    const words = ['shelf 100', 'row 42', 'guard', 'fell over', 'twelve'];
    const median = await medianOfFive(() =>
      page.evaluate((word) => {
        const input = document.querySelector('input[type=search]');
        input.value = word;
        input.dispatchEvent(new Event('input'));
        document.body.getBoundingClientRect();
        return performance.getEntriesByName('filter').at(-1).duration;
      }, words.pop()),
    );

    console.log(`filters in ${median.toFixed(1)} ms`);
    assert.ok(median < 50, `${median} ms`);
    assert.match(await page.$eval('.count', (count) => count.textContent), /^\d+ of \d{4}$/);
  });
});

test('keeps the focus when it zooms into a long trace', async () => {
  const page = await open(largeTrace());
  await page.focus('.bar.selected');
  await page.keyboard.press('+');

  assert.ok(await page.$eval('.bar.selected', (bar) => bar === document.activeElement));
});

test('shows a hostile trace as text', async () => {
  const page = await open(hostileTrace());
  for (const more of await page.$$('.more')) await more.evaluate((button) => button.click());
  for (const summary of await page.$$('summary')) await summary.evaluate((one) => one.click());
  for (const bar of await page.$$('.bar')) await bar.evaluate((one) => one.click());

  const seen = await page.evaluate(() => ({
    title: document.title,
    scripts: document.scripts.length,
    foreign: document.querySelectorAll('img, a, iframe, object, link, svg a, [onerror], [href], [src]').length,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be missing
    hidden: /[\u0000\u0007\u001b\u202e\u2066\u2069]/.test(document.querySelector('main').textContent),
  }));
  assert.deepEqual(seen, { title: 'Trace of a run', scripts: 2, foreign: 0, hidden: false });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

test('can be used with the keyboard alone', async () => {
  const page = await open(example);
  const chosen = () => page.$eval('.finding[aria-pressed=true] .kind', (kind) => kind.textContent);
  const selected = () => page.$eval('.detail h2', (title) => title.textContent);
  const first = await chosen();
  await page.keyboard.press('n');
  assert.notEqual(await chosen(), first);
  await page.keyboard.press('p');
  assert.equal(await chosen(), first);

  await page.focus('.timeline');
  const before = await selected();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await selected(), before);

  await page.keyboard.press('/');
  await page.keyboard.type('expired');
  assert.match(await page.$eval('.count', (count) => count.textContent), /^\d of \d+$/);
  await page.keyboard.press('Escape');
  assert.equal(await page.$eval('.count', (count) => count.textContent), '');
});

test('keeps the focus in the time line when it zooms, folds and changes its width', async () => {
  const page = await open(example);
  const isFocused = (query) => page.$eval(query, (element) => element === document.activeElement);
  await page.focus('.bar.selected');
  await page.keyboard.press('+');
  assert.ok(await isFocused('.bar.selected'));
  await page.setViewport({ width: 1_200, height: 900 });
  await page.waitForFunction(() => innerWidth === 1_200);
  assert.ok(await isFocused('.bar.selected'));

  await page.focus('button.label');
  await page.keyboard.press('Enter');
  assert.equal(await page.$eval('button.label', (label) => label.ariaExpanded), 'false');
  assert.ok(await isFocused('button.label'));
});

test('shows the messages of a selected item, although an outer run was folded', async () => {
  const page = await open(example);
  const isShown = () => page.$eval('.block.marked', (block) => block.checkVisibility());
  assert.equal(await isShown(), true);
  await page.$eval('.inside', (button) => button.click());
  assert.equal(await isShown(), false);
  await page.$eval('.bar.selected', (bar) => bar.click());

  assert.equal(await isShown(), true);
});

test('shows that a lifecycle denied a call', async () => {
  const page = await open(example);

  assert.match(await page.$eval('.bar.tool.denied', (bar) => bar.ariaLabel), /^harbour-desk: refund, .*denied$/);
  assert.equal(await page.$eval('.block.call.denied .badge', (badge) => badge.textContent), 'denied');
});

test('opens the change of a decision', async () => {
  const page = await open(example);
  await page.$eval('.bar.decision.changed', (mark) => mark.click());

  assert.match(await page.$eval('.diff .gone', (line) => line.textContent), /4000 1234 5678 4412/);
  assert.match(await page.$eval('.diff .new', (line) => line.textContent), /\[card\]/);
});

describe('the first finding of a run names the cause', () => {
  for (const failing of FAILING_RUNS) {
    test(failing.title, async () => {
      const page = await open(await linesOf(failing));

      assert.equal(await page.$eval('.cause strong', (cause) => cause.textContent), failing.says.by?.name);
      assert.match(await page.$eval('.says', (says) => says.textContent), failing.says.text);
      assert.ok((await page.$$('.stop')).length >= 1);
    });
  }
});

test('makes no request, and throws no error', () => {
  assert.deepEqual(
    requests.filter((url) => !url.startsWith('file:')),
    [],
  );
  assert.deepEqual(problems, []);
});
