// Tests approvals with changed arguments, edited messages, and the switch between versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, count, fill, open, problems, ready, sees, send, setUp, shot, textOf } from './browser.mjs';

setUp({ wordMs: 5 });

/** Asks for a payment of 40 euro. */
async function askToPay(page) {
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await ready(page);
}

test('approves a call with other arguments, and shows them after a reload and in a second tab', async () => {
  const page = await open();
  await askToPay(page);
  await fill(page, 'Amount (€)', '30');
  await shot(page, 'edited-approval');
  await click(page, 'Pay 30 €');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);
  const unfold = (each) =>
    each.$eval('.tool', (card) => {
      card.open = true;
    });
  await unfold(page);
  const shown = await textOf(page);

  assert.match(shown, /Changed by a person\. The model wrote:\s+Amount \(€\)\s+40/);
  assert.doesNotMatch(shown, /Paid 40/);
  await page.reload();
  await sees(page, 'Paid 30 euro');
  await unfold(page);
  assert.equal(await textOf(page), shown);
  const tab = await open(page.url());
  await sees(tab, 'Paid 30 euro');
  await unfold(tab);
  assert.equal(await textOf(tab), shown);
});

test('says what is wrong with the arguments, and lets the person decide again', async () => {
  const page = await open();
  await askToPay(page);
  await fill(page, 'Amount (€)', '-1');
  await click(page, 'Pay -1 €');
  await sees(page, 'fit the schema');
  await sees(page, 'Needs your approval');
  await fill(page, 'Amount (€)', '30');
  await click(page, 'Pay 30 €');
  await sees(page, 'Paid 30 euro to the harbour.');
  await ready(page);

  assert.deepEqual(problems, []);
});

/** Asks another question in the place of the first one. */
async function askInstead(page, question) {
  await page.hover('article.user');
  await click(page, 'Edit message');
  const field = page.locator('textarea[aria-label="Edited message"]');
  await field.fill(question);
  await click(page, 'Ask again');
  await sees(page, `You said: ${question}`);
  await ready(page);
}

test('keeps each version of an edited question with the answers behind it, also after a reload', async () => {
  const page = await open();
  await send(page, 'One?');
  await sees(page, 'You said: One?');
  await ready(page);
  await send(page, 'And then?');
  await sees(page, 'You said: And then?');
  await ready(page);
  await page.$$eval('[aria-label="Edit message"]', ([first]) => first.click());
  await page.locator('textarea[aria-label="Edited message"]').fill('Two?');
  await click(page, 'Ask again');
  await sees(page, 'You said: Two?');
  await ready(page);
  await sees(page, '2/2');
  const second = await textOf(page);
  await click(page, 'Earlier version');
  await sees(page, 'You said: And then?');
  const first = await textOf(page);
  await page.reload();
  await sees(page, '1/2');

  assert.equal(await page.$eval('h1', (title) => title.textContent), 'One?');
  assert.match(second, /^Two\?\s+2\/2\s+You said: Two\?$/);
  assert.match(first, /^One\?\s+1\/2\s+You said: One\?\s+And then\?\s+You said: And then\?$/);
  assert.equal(await textOf(page), first);
  await send(page, 'Still here?');
  await sees(page, 'You said: Still here?');
  assert.match(await textOf(page), /And then\?\s+Still here\?/);
});

test('leaves the error of a version behind when a person goes to another one', async () => {
  const page = await open();
  await send(page, 'Hello');
  await sees(page, 'You said: Hello');
  await ready(page);
  await page.hover('article.user');
  await click(page, 'Edit message');
  await page.locator('textarea[aria-label="Edited message"]').fill('What does the tide gauge say?');
  await click(page, 'Ask again');
  await sees(page, 'The model could not finish its answer.');
  await sees(page, '2/2');
  await click(page, 'Earlier version');
  await sees(page, 'You said: Hello');

  assert.equal(await count(page, '.notice'), 0);
});

test('answers each message again, and switches between the answers', async () => {
  const page = await open();
  await send(page, 'Hello');
  await sees(page, 'You said: Hello');
  await ready(page);
  const again = async () => {
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/chat'));
    await click(page, 'Answer again');
    await answered;
    await ready(page);
  };
  await again();
  await sees(page, '2/2');
  await again();
  await sees(page, '3/3');
  await click(page, 'Earlier version');
  await sees(page, '2/3');
  await askInstead(page, 'Goodbye');
  await click(page, 'Earlier version');
  await sees(page, 'You said: Hello');

  assert.equal(await count(page, 'article'), 2);
  assert.deepEqual(problems, []);
});
