// Tests the runs inside of tool calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

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
