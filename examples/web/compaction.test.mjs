// Tests a chat whose earlier messages are summarized for the model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { click, count, open, problems, ready, sees, send, setUp, textOf } from './browser.mjs';

setUp({ wordMs: 1 });

/** Asks questions. The run of question 11 writes a summary. */
async function ask(page, first, last) {
  for (let number = first; number <= last; number += 1) {
    await send(page, `Question ${number}`);
    await sees(page, `You said: Question ${number}`);
    await ready(page);
  }
}

/** Returns what the chat has cost. */
function spentOn(page) {
  return page.evaluate(async () => (await (await fetch(`/api/chats/${location.hash.slice(1)}`)).json()).spent);
}

test('answers a question again whose run wrote the summary, and switches between the answers', async () => {
  const page = await open();
  await ask(page, 1, 11);
  await page.waitForSelector('.summary');
  await click(page, 'Answer again');
  await sees(page, '2/2');
  await ready(page);
  await click(page, 'Earlier version');
  await sees(page, '1/2');

  assert.deepEqual([await count(page, 'article'), await count(page, '.summary')], [22, 1]);
  assert.deepEqual(problems, []);
});

test('shows everything behind a summary when a person returns to an earlier version', async () => {
  const page = await open();
  await ask(page, 1, 12);
  await page.waitForSelector('.summary');
  const said = await textOf(page);
  await page.$eval('[aria-label="Edit message"]', (button) => button.click());
  await page.locator('textarea[aria-label="Edited message"]').fill('Another');
  await click(page, 'Ask again');
  await sees(page, '2/2');
  await ready(page);
  await click(page, 'Earlier version');
  await sees(page, 'You said: Question 12');

  assert.equal((await textOf(page)).replace(/\s+1\/2/, ''), said);
});

test('offers to answer a question that failed behind a summary, also after a reload', async () => {
  const page = await open();
  await ask(page, 1, 10);
  await send(page, 'What does the tide gauge say?');
  await sees(page, 'The model could not finish its answer.');
  await page.reload();
  await page.waitForSelector('.summary');
  await sees(page, 'This question has no answer yet.');
  await click(page, 'Try again');
  await sees(page, 'The model could not finish its answer.');

  assert.deepEqual([await count(page, 'article'), problems], [21, []]);
});

test('counts the summary into the cost, and tokens of a cache at their own price', async () => {
  const page = await open();
  await ask(page, 1, 10);
  const before = await spentOn(page);
  await ask(page, 11, 11);
  const after = await spentOn(page);

  // The answer alone took as many tokens as the context has.
  assert.ok(after.tokens - before.tokens > after.context, `${after.tokens - before.tokens} > ${after.context}`);
  assert.ok(after.usd < (after.tokens * 5) / 1_000_000, `${after.usd} USD for ${after.tokens} tokens`);
});
