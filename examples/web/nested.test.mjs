// Tests the runs inside of tool calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, count, fill, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

setUp({ wordMs: 10 });

/** Opens all cards. */
function unfold(page) {
  return page.$$eval('.tool', (list) => {
    for (const card of list) card.open = true;
  });
}

test('shows the run inside of a tool call in its card, folded, also in a second tab and after a reload', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Ask the lookout: What is the weather in Oslo?');
  await page.waitForSelector('.tool');
  const tab = await open(page.url());
  await tab.waitForSelector('.tool');
  const folded = await textOf(page);
  await ready(page);
  await unfold(page);
  await sees(page, 'Temperature');
  await page.bringToFront();
  await shot(page, 'nested-run');
  const shown = await textOf(page);

  assert.doesNotMatch(folded, /(Ask|Asking|Asked) the lookout\n/);
  assert.equal(await count(page, '.tool .nested .tool .nested .tool'), 1);
  assert.match(shown, /Temperature\s+14 °C/);
  await page.reload();
  for (const again of [page, tab]) {
    await ready(again);
    await sees(again, 'Asked the pilot');
    await unfold(again);
    assert.equal(await textOf(again), shown);
  }
  assert.deepEqual(problems, []);
});

test('asks before a call inside of a tool call runs, in its card, also after a reload', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await ready(page);
  await page.reload();
  await sees(page, 'Needs your approval');
  await shot(page, 'nested-approval');
  assert.equal(await count(page, '.tool[open] .nested .tool[open] .decision'), 1);
  assert.equal(await count(page, '.decision'), 1);
  await click(page, 'Pay 40 €');
  await sees(page, 'Paid 40 euro to the harbour.');
  await ready(page);

  assert.match(await textOf(page), /Asked the pilot/);
  assert.equal(await count(page, 'article.assistant'), 1);
  assert.deepEqual(problems, []);
});

test('changes the arguments of a call inside of a tool call, and asks again if they do not fit', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await ready(page);
  const approve = async (euro) => {
    await fill(page, 'Amount (€)', euro);
    await click(page, `Pay ${euro} €`);
  };
  await approve('-1');
  await sees(page, 'fit the schema');
  await sees(page, 'Needs your approval');
  await approve('30');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);
  await page.reload();
  await sees(page, 'Paid 30 euro to the harbour.');

  assert.doesNotMatch(await textOf(page), /Paid 40/);
});
