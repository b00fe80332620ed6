// Tests the list of chats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, open, problems, ready, sees, send, setUp, textOf, url } from './browser.mjs';

setUp({ wordMs: 5 });

const DEPTH = 'Berth 3 is 9.8 m deep';
const WATCH = 'Ingrid is on watch';

function titlesOf(page) {
  return page.$$eval('.chats a', (list) => list.map((link) => link.textContent));
}

/** Waits until the list has exactly these titles. */
function lists(page, ...titles) {
  const has = (wanted) => [...document.querySelectorAll('.chats a')].map((a) => a.textContent).join('\n') === wanted;
  return page.waitForFunction(has, { polling: 'mutation' }, titles.join('\n'));
}

async function ask(page, question, answer) {
  await send(page, question);
  await sees(page, answer);
  await ready(page);
}

test('names each chat after its first question, and opens it with its messages', async () => {
  const page = await open();
  await ask(page, 'How deep is berth 3?', DEPTH);
  await lists(page, 'How deep is berth 3?');
  await click(page, 'New chat');
  await page.waitForSelector('.hints');
  await ask(page, 'Who is on watch?', WATCH);
  await lists(page, 'Who is on watch?', 'How deep is berth 3?');
  await page.locator('::-p-xpath(//nav//a[text()="How deep is berth 3?"])').click();
  await sees(page, DEPTH);

  assert.doesNotMatch(await textOf(page), /on watch/);
  assert.equal(await page.$eval('h1', (title) => title.textContent), 'How deep is berth 3?');
  assert.match(await page.title(), /^How deep is berth 3\?/);
  await page.goBack();
  await sees(page, WATCH);
});

test('finds chats by their titles', async () => {
  const page = await open();
  await lists(page, 'Who is on watch?', 'How deep is berth 3?');
  await page.type('input[type=search]', 'BERTH');
  await lists(page, 'How deep is berth 3?');
  await page.type('input[type=search]', ' 9');
  await page.waitForFunction(() => document.querySelector('.chats').textContent.includes('No chat has this title.'));

  assert.deepEqual(await titlesOf(page), []);
});

test('deletes a chat after a question, and opens an empty one in its place', async () => {
  const page = await open();
  await page.locator('::-p-xpath(//nav//a[text()="Who is on watch?"])').click();
  await sees(page, WATCH);
  const address = page.url();
  await click(page, 'Delete Who is on watch?');
  const focused = await page.waitForFunction(
    () => document.activeElement.closest('.question') && document.activeElement,
  );
  assert.equal(await focused.evaluate((button) => button.textContent), 'Cancel');
  await click(page, 'Cancel');
  await click(page, 'Delete Who is on watch?');
  await click(page, 'Delete');
  await lists(page, 'How deep is berth 3?');
  await page.waitForSelector('.hints');

  assert.notEqual(page.url(), address);
  const again = await open(address);
  await again.waitForSelector('.hints');
});

test('deletes a chat while it answers', async () => {
  const page = await open();
  await send(page, 'Tell me a long story');
  await sees(page, 'Ship 3 left');
  await click(page, 'Delete Tell me a long story');
  await click(page, 'Delete');
  await lists(page, 'How deep is berth 3?');

  assert.deepEqual(problems, []);
});

test('gives the list to pages of its own address only', async () => {
  const page = await open();
  const { origin } = new URL(page.url());
  const { port } = new URL(origin);
  const asked = await page.evaluate(async () => (await fetch('/api/chats/')).status);
  const { request } = await import('node:http');
  const rebound = await new Promise((resolve) => {
    const headers = { host: `evil.example:${port}` };
    request({ port, path: '/api/chats/', headers }, ({ statusCode }) => resolve(statusCode)).end();
  });

  assert.deepEqual([asked, rebound], [200, 403]);
});

test('shows its page in no frame of another page', async () => {
  const { headers } = await fetch(url);

  assert.match(headers.get('content-security-policy'), /; frame-ancestors 'none'$/);
});
