// Tests approvals with changed arguments.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

setUp({ wordMs: 5 });

/** Asks for a payment of 40 euro, and opens the arguments. */
async function edit(page) {
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'waits for you');
  await ready(page);
  await click(page, 'Edit');
}

const write = (page, text) => page.locator('textarea[aria-label="Arguments"]').fill(text);

test('approves a call with other arguments, and shows them after a reload and in a second tab', async () => {
  const page = await open();
  await edit(page);
  await write(page, '{ "euro": 30, "to": "the harbour" }');
  await shot(page, 'edited-approval');
  await click(page, 'Approve with changes');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);
  const shown = await textOf(page);

  assert.match(shown, /Changed by a person. The model wrote {"euro":40,"to":"the harbour"}/);
  assert.doesNotMatch(shown, /Paid 40/);
  await page.reload();
  await sees(page, 'Paid 30');
  assert.equal(await textOf(page), shown);
  const tab = await open(page.url());
  await sees(tab, 'Paid 30');
  assert.equal(await textOf(tab), shown);
});

test('says what is wrong with the arguments, and lets the person decide again', async () => {
  const page = await open();
  await edit(page);
  await write(page, '{ "euro": "all of it" }');
  await click(page, 'Approve with changes');
  await sees(page, 'fit the schema');
  await sees(page, 'waits for you');
  await click(page, 'Edit');
  await write(page, '{ "euro": 30, "to": "the harbour" }');
  await click(page, 'Approve with changes');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);

  assert.deepEqual(problems, []);
});
