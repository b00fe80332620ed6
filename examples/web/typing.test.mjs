// Tests messages that a person types while the agent works, or waits for a decision.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, count, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

// An answer lasts for seconds, so that a message is typed meanwhile.
setUp({ wordMs: 120 });

/** Types a message while an answer is written. */
async function add(page, text) {
  await page.bringToFront();
  await page.type('#message', text);
  await click(page, 'Add');
}

test('shows a message as waiting, lets it be edited, and then as a part of the answer', async () => {
  const page = await open();
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'running');
  await add(page, 'And in Bergn?');
  await sees(page, 'Waits for the agent');
  await click(page, 'Edit');
  await page.locator('input[aria-label="Waiting text"]').fill('And in Bergen?');
  await click(page, 'Save');
  await sees(page, 'And in Bergen?');
  await shot(page, 'waiting');
  await sees(page, 'In Bergen it rains, at 11 °C.');
  await ready(page);
  await shot(page, 'joined');
  const shown = await textOf(page);

  assert.doesNotMatch(shown, /Waits for the agent|Bergn/);
  await page.reload();
  await ready(page);
  assert.equal(await textOf(page), shown);
  assert.equal(await count(page, '.joined'), 1);
});

test('takes a waiting message back', async () => {
  const page = await open();
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'running');
  await add(page, 'Never mind');
  await sees(page, 'Waits for the agent');
  await click(page, 'Take back');
  await page.waitForFunction(() => document.querySelector('.waiting') === null);
  await ready(page);

  assert.doesNotMatch(await textOf(page), /Never mind/);
});

test('shows the messages of two tabs in one answer', async () => {
  const page = await open();
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'running');
  const tab = await open(page.url());
  await sees(tab, 'running');
  await add(page, 'One');
  await add(tab, 'Two');
  await ready(page);
  await ready(tab);

  for (const each of [page, tab]) {
    assert.match(await textOf(each), /One\s+Two/);
    assert.equal(await count(each, '.joined'), 2);
  }
});

test('denies a call by a message that is typed while it waits', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await send(page, 'No, wait');
  await sees(page, 'I have paid nothing.');
  await ready(page);
  await shot(page, 'denied-by-typing');
  const shown = await textOf(page);

  assert.doesNotMatch(shown, /Paid 40/);
  assert.equal(await count(page, '.decision'), 0);
  await page.reload();
  await sees(page, 'denied');
  assert.equal(await textOf(page), shown);
});

test('goes on while a work is done in the background, and then tells its result', async () => {
  const page = await open();
  await send(page, 'Inspect the harbour');
  await sees(page, 'In the background: Inspect the harbour');
  await ready(page);
  await send(page, 'Who is on watch?');
  await sees(page, 'Ingrid is on watch');
  await shot(page, 'background');
  await sees(page, 'The inspection says: All lights work.');
  await ready(page);
  const shown = await textOf(page);

  assert.doesNotMatch(shown, /In the background|The background work/);
  await page.reload();
  await ready(page);
  assert.equal(await textOf(page), shown);
});

test('runs a tool on the page, and the answer goes on with its result', async () => {
  const page = await open();
  await send(page, 'How large is my window?');
  await sees(page, 'Your window is 900 × 800 pixels large.');
  await ready(page);
  await shot(page, 'page-tool');

  assert.match(await textOf(page), /Measured your window/);
});

test('keeps the message of a guest, who may not decide, until somebody decides', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await ready(page);
  const guest = await open(page.url().replace('/#', '/?guest#'));
  await sees(guest, '40 € to the harbour');
  await send(guest, 'Is that not too much?');
  await sees(guest, 'Waits for the agent');
  await shot(guest, 'guest');
  const buttons = await count(guest, '.decision');
  await page.bringToFront();
  await click(page, 'Pay 40 €');
  await sees(page, 'It is the usual fee for a day.');

  assert.equal(buttons, 0);
  assert.match(await textOf(page), /Paid 40 € to the harbour/);
  await sees(guest, 'It is the usual fee for a day.');
});

test('approves a call after a message was typed and taken back', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await page.waitForFunction(() => document.querySelector('article.assistant') !== null);
  await add(page, 'Hm');
  await sees(page, 'Waits for the agent');
  await click(page, 'Take back');
  await sees(page, 'Needs your approval');
  await click(page, 'Pay 40 €');
  await sees(page, 'Paid 40 euro to the harbour.');
  await ready(page);

  assert.deepEqual(problems, []);
});
