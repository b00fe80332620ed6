// Tests the runs inside of tool calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, count, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

setUp({ wordMs: 10 });

/** Opens the runs inside of tool calls. */
function unfold(page) {
  return page.$$eval('.nested', (list) => {
    for (const run of list) run.open = true;
  });
}

test('shows the run inside of a tool call in its card, folded, also in a second tab and after a reload', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Ask the lookout: What is the weather in Oslo?');
  await sees(page, 'Agent pilot running');
  const tab = await open(page.url());
  await sees(tab, 'Agent pilot');
  const folded = await textOf(page);
  await ready(page);
  await unfold(page);
  await sees(page, 'Agent lookout completed');
  await shot(page, 'nested-run');
  const shown = await textOf(page);

  assert.doesNotMatch(folded, /lookout running/);
  assert.equal(await count(page, '.tool .nested .tool .nested .tool'), 1);
  assert.match(shown, /"city": "Oslo"/);
  await page.reload();
  for (const again of [page, tab]) {
    await ready(again);
    await sees(again, 'Agent pilot completed');
    await unfold(again);
    assert.equal(await textOf(again), shown);
  }
  assert.deepEqual(problems, []);
});

test('asks before a call inside of a tool call runs, in its card, also after a reload', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Pay the harbour fee of 40 euro');
  await sees(page, 'Approve');
  await ready(page);
  await page.reload();
  await sees(page, 'Approve');
  await shot(page, 'nested-approval');
  assert.equal(await count(page, '.tool .nested[open] .tool .decision'), 1);
  assert.equal(await count(page, '.decision'), 1);
  await click(page, 'Approve');
  await sees(page, 'The tool says: The tool says: Paid 40 euro to the harbour.');
  await ready(page);

  assert.match(await textOf(page), /Agent pilot completed/);
  assert.equal(await count(page, 'article.assistant'), 1);
  assert.deepEqual(problems, []);
});

test('changes the arguments of a call inside of a tool call, and asks again if they do not fit', async () => {
  const page = await open();
  await send(page, 'Ask the pilot: Pay the harbour fee of 40 euro');
  await sees(page, 'Approve');
  await ready(page);
  const approve = async (input) => {
    await click(page, 'Edit');
    await page.locator('textarea[aria-label="Arguments"]').fill(input);
    await click(page, 'Approve with changes');
  };
  await approve('{ "euro": "all of it" }');
  await sees(page, 'fit the schema');
  await sees(page, 'Approve');
  await approve('{ "euro": 30, "to": "the harbour" }');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);
  await page.reload();
  await sees(page, 'Paid 30 euro to the harbour.');

  assert.doesNotMatch(await textOf(page), /Paid 40/);
});
