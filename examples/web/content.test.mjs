// Tests texts, code, files, cost and errors.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  browser,
  click,
  count,
  hosts,
  open,
  problems,
  ready,
  sees,
  send,
  setUp,
  temporary,
  textOf,
  url,
} from './browser.mjs';

setUp({ wordMs: 10 });

/** Returns the size of the scripts of the built page, apart from React. */
function scriptBytes() {
  const folder = fileURLToPath(new URL('dist/assets', import.meta.url));
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js') && !name.startsWith('react-'));
  return scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
}

/** Gives the page a file, by an event of pasting or of dropping. */
function give(page, selector, type) {
  return page.$eval(
    selector,
    (element, type) => {
      const data = new DataTransfer();
      data.items.add(new File(['deep'], `${type}.txt`, { type: 'text/plain' }));
      const init = { bubbles: true, cancelable: true };
      const event =
        type === 'paste'
          ? new ClipboardEvent(type, { ...init, clipboardData: data })
          : new DragEvent(type, { ...init, dataTransfer: data });
      element.dispatchEvent(event);
    },
    type,
  );
}

test('shows Markdown while it is written', async () => {
  const page = await open();
  await send(page, 'Plan the arrivals');
  await page.waitForSelector('.prose th');
  const early = await page.$eval('main', (main) => main.dataset.state);
  await ready(page);

  assert.equal(early, 'answering');
  assert.deepEqual(
    [await count(page, '.prose h2'), await count(page, '.prose tbody tr'), await count(page, '.prose li')],
    [1, 3, 2],
  );
  assert.equal(await page.$eval('.code .word', (word) => word.textContent), 'export');
});

test('shows HTML of the model as text, loads no pictures for it, and leaves out links that run scripts', async () => {
  const page = await open();
  const text = '<img src=x onerror="globalThis.hit=1"> <b>b</b> ![p](https://example.com/p.png) [l](javascript:hit=1)';
  await send(page, text);
  await sees(page, 'You said:');
  await ready(page);
  const links = await page.$$eval('.prose a', (list) => list.map(({ href }) => href));

  assert.equal(await count(page, 'article.assistant :is(img, b)'), 0);
  assert.match(await textOf(page), /You said: <img src=x onerror="globalThis\.hit=1"> <b>b<\/b>/);
  assert.deepEqual(
    links.filter((href) => !href.startsWith('https://example.com/')),
    [],
  );
  assert.equal(await page.evaluate(() => globalThis.hit), undefined);
});

test('copies a message and code', async () => {
  const { origin } = new URL(url);
  await browser.defaultBrowserContext().overridePermissions(origin, ['clipboard-read', 'clipboard-sanitized-write']);
  const page = await open();
  await send(page, 'Plan the arrivals');
  await ready(page);
  await page.waitForSelector('article.assistant footer');
  await click(page, 'Copy code');
  await page.waitForSelector('[aria-label="Copied"]');
  const code = await page.evaluate(() => navigator.clipboard.readText());
  await page.$eval('article.assistant [aria-label="Copy message"]', (button) => button.click());
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('| Aurora |'));

  assert.match(code, /^\/\/ The deepest ships[\s\S]*\n}$/);
});

test('takes files by button, paste and drop, shows them, and lets them go', async () => {
  const page = await open();
  const path = join(temporary, 'button.txt');
  writeFileSync(path, 'deep');
  const picker = await page.$('input[type=file]');
  await picker.uploadFile(path);
  await sees(page, 'button.txt');
  await give(page, '#message', 'paste');
  await sees(page, 'paste.txt');
  await give(page, '.composer', 'drop');
  await sees(page, 'drop.txt');
  await click(page, 'Remove button.txt');
  await page.waitForFunction(() => document.querySelectorAll('.previews .file').length === 2);
  await click(page, 'Send');
  await sees(page, 'I see the file paste.txt and the file drop.txt.');

  assert.deepEqual(await page.$$eval('article.user .file', (list) => list.map((file) => file.textContent.trim())), [
    'paste.txt',
    'drop.txt',
  ]);
});

test('adds up the bytes of all files, also of files that come in quick succession', async () => {
  const page = await open();
  const add = (...sizes) =>
    page.$eval(
      '#message',
      (element, sizes) => {
        for (const size of sizes) {
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([new Uint8Array(size)], `${size}.bin`));
          element.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }));
        }
      },
      sizes,
    );
  await add(1_300_000, 1_300_001);
  await sees(page, 'These files are too large.');
  await page.waitForSelector('.previews');
  const first = await count(page, '.previews .file');
  await add(1_100_000);
  await page.waitForFunction(() => document.querySelectorAll('.previews .file').length > 1);

  assert.equal(first, 1);
  assert.equal(await page.$eval('.problem', (problem) => problem.textContent), '');
});

test('refuses files that are too large, in words', async () => {
  const page = await open();
  const path = join(temporary, 'large.bin');
  writeFileSync(path, Buffer.alloc(3_000_000));
  const picker = await page.$('input[type=file]');
  await picker.uploadFile(path);
  await sees(page, 'These files are too large.');

  assert.equal(await count(page, '.previews'), 0);
});

test('says how full the context is, and what the chat has cost, also after a reload', async () => {
  const page = await open();
  await send(page, 'Tell me a story of 60 ships');
  await sees(page, 'Ship 60');
  await ready(page);
  await sees(page, 'Context ');
  const spent = await page.$eval('.spent', (element) => element.textContent);
  await page.reload();
  await sees(page, 'Context ');

  assert.match(spent, /^ ?Context \d+ % · (under )?\$0\.\d\d$/);
  assert.equal(await page.$eval('.spent', (element) => element.textContent), spent);
});

test('says in words that an answer failed, and tries again, also after a reload', async () => {
  const page = await open();
  await send(page, 'What does the tide gauge say?');
  await sees(page, 'The model could not finish its answer.');
  await page.reload();
  await sees(page, 'This question has no answer yet.');
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/chat'));
  await click(page, 'Try again');
  await answered;
  await sees(page, 'The model could not finish its answer.');

  assert.doesNotMatch(await textOf(page), /ERR_|TypeError|refused/);
  assert.equal(await count(page, 'article'), 1);
});

test('keeps its place while a person reads above, and returns to the end', async () => {
  const page = await open();
  await send(page, 'Tell me a story of 400 ships');
  await page.waitForFunction(() => {
    const { scrollHeight, clientHeight } = document.querySelector('.messages');
    return scrollHeight > clientHeight + 200;
  });
  await page.$eval('.messages', (log) => log.scrollTo(0, 0));
  await page.waitForSelector('[aria-label="To the latest message"]');
  const before = await page.$eval('.messages', (log) => log.scrollHeight);
  await page.waitForFunction((height) => document.querySelector('.messages').scrollHeight > height, {}, before);
  const top = await page.$eval('.messages', (log) => log.scrollTop);
  await click(page, 'To the latest message');
  await page.waitForFunction(() => document.querySelector('.messages').scrollTop > 0);
  await click(page, 'Stop');
  await ready(page);

  assert.equal(top, 0);
});

test('loads at most 100 kB of compressed script beside React', () => {
  assert.ok(scriptBytes() <= 100_000, `${scriptBytes()} bytes`);
});

test('makes no request to another host, and throws no error', () => {
  assert.deepEqual(
    [...hosts].filter((host) => host !== '127.0.0.1' && host !== ''),
    [],
  );
  assert.deepEqual(problems, []);
});
