// Tests the page in Chromium against the real server.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { click, count, hosts, open, problems, ready, sees, send, setUp, shot, temporary, textOf } from './browser.mjs';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Returns the text of the element with the focus. */
function focused(page) {
  return page.evaluate(() => document.activeElement?.textContent ?? '');
}

/** Asks for another answer to the last message. Waits until it has ended. */
async function answerAgain(page) {
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/chat'));
  await click(page, 'Answer again');
  await answered;
  await ready(page);
}

/** Returns the id of the last message of the stored chat. */
function lastId(page) {
  return page.evaluate(async () => {
    const response = await fetch(`/api/chat/history?id=${location.hash.slice(1)}`);
    return (await response.json()).messages.at(-1).id;
  });
}

setUp({ wordMs: 20 });

test('shows the answer while it is written', async () => {
  const page = await open();
  await send(page, 'The quick brown fox jumps over the lazy dog again and again');
  await sees(page, 'You said: The quick');
  const early = await textOf(page);
  await shot(page, 'streaming-text');
  await ready(page);

  assert.ok(!early.endsWith('again and again\n'), 'the answer came at once');
  assert.match(await textOf(page), /You said: The quick .* again and again/);
});

test('says what a tool call does while its arguments are written, and unfolds its arguments and its result', async () => {
  const page = await open();
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'Checking the weather in …');
  await sees(page, 'Checked the weather in Oslo');
  await ready(page);
  const folded = await textOf(page);
  await page.click('.tool summary');
  await sees(page, 'Temperature');

  assert.match(folded, /Checked the weather in Oslo\s+done\s+The sky over Oslo is clear, at 14 °C\./);
  assert.match(await textOf(page), /City\s+Oslo\s+Result\s+Sky\s+clear\s+Temperature\s+14 °C/);
});

test('asks before a tool runs, and continues after the approval', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await shot(page, 'approval-card');
  await click(page, 'Pay 40 €');
  await sees(page, 'Paid 40 euro to the harbour.');
  await ready(page);

  assert.equal(await page.$$eval('article.assistant', (list) => list.length), 1);
});

test('does not run a denied tool', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await click(page, 'Deny');
  await page.waitForSelector('.tool.denied');
  await ready(page);

  assert.match(await textOf(page), /Pay 40 € to the harbour\s+denied/);
  assert.doesNotMatch(await textOf(page), /Paid 40/);
});

test('asks before a suspended answer becomes the answer, also after a reload', async () => {
  const page = await open();
  await send(page, 'Write a letter');
  await sees(page, 'Needs your approval');
  await ready(page);
  const streamed = await page.$$eval('article.assistant .parts > .prose', (list) => list.length);
  await page.reload();
  await sees(page, 'Needs your approval');
  await shot(page, 'suspended-answer');
  await click(page, 'Approve');
  await page.waitForSelector('article.assistant .parts > .prose');
  await ready(page);

  assert.equal(streamed, 0);
  assert.match(await textOf(page), /Dear harbour master, the ship arrives at noon\./);
  assert.doesNotMatch(await textOf(page), /Needs your approval|decided/);
});

test('keeps what was said after a stop and a reload', async () => {
  const page = await open();
  await send(page, 'Tell me a long story');
  await sees(page, 'Ship 2 left');
  await page.keyboard.press('Escape');
  await ready(page);
  const stopped = await textOf(page);
  await shot(page, 'stopped');
  await page.reload();
  await sees(page, 'Ship 1 left the harbour.');

  assert.ok(stopped.length < 2_000, 'the answer was not stopped');
  assert.match(await textOf(page), /Ship 2 left/);
  await send(page, 'And now?');
  await sees(page, 'You said: And now?');
});

test('shows the whole conversation after a reload', async () => {
  const page = await open();
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'The sky over Oslo');
  await ready(page);
  const before = await textOf(page);
  await page.reload();
  await sees(page, 'The sky over Oslo');

  assert.equal(await textOf(page), before);
});

test('takes back the text of a model call that failed', async () => {
  const page = await open();
  await send(page, 'Fail once');
  await sees(page, 'This answer breaks');
  await shot(page, 'before-retry');
  await sees(page, 'You said: Fail once');
  await ready(page);

  assert.doesNotMatch(await textOf(page), /This answer breaks/);
});

test('sends a picture', async () => {
  const page = await open();
  const picture = join(temporary, 'picture.png');
  writeFileSync(picture, Buffer.from(PNG, 'base64'));
  const picker = await page.$('input[type=file]');
  await picker.uploadFile(picture);
  await send(page, 'What is this?');
  await sees(page, 'I see a picture of type image/png.');
  await ready(page);
  await shot(page, 'picture');

  assert.match(await page.$eval('article.user img', (image) => image.src), /^data:image\/png;base64,/);
  await page.reload();
  await page.waitForSelector('article.user img');
});

test('answers again', async () => {
  const page = await open();
  await send(page, 'Hello');
  await ready(page);
  await answerAgain(page);

  assert.equal((await textOf(page)).match(/You said: Hello/g)?.length, 1);
});

test('shows all 40 messages and the place of the summary after a compaction and a reload', async () => {
  const page = await open();
  const reload = async () => {
    await page.reload();
    await sees(page, 'You said: Question 20');
  };
  for (let number = 1; number <= 20; number += 1) {
    await send(page, `Question ${number}`);
    await sees(page, `You said: Question ${number}`);
    await ready(page);
  }
  const live = [await count(page, 'article.user'), await count(page, 'article.assistant')];
  await reload();
  const said = await page.$$eval('article.user', (list) => list.map((element) => element.textContent));
  const summary = await page.$eval('.summary', (element) => element.textContent);
  await page.$eval('.summary', (element) => element.scrollIntoView({ block: 'center' }));
  await shot(page, 'compacted');

  assert.deepEqual(live, [20, 20]);
  assert.deepEqual(
    said,
    Array.from({ length: 20 }, (_, index) => `Question ${index + 1}`),
  );
  assert.equal(await count(page, 'article.assistant'), 20);
  assert.equal(await count(page, '.summary'), 1);
  assert.match(summary, /The person said: Question 1, .*Question 10\./);

  const answer = await lastId(page);
  await answerAgain(page);
  await reload();
  assert.notEqual(await lastId(page), answer);
  assert.deepEqual(
    [await count(page, 'article.user'), await count(page, 'article.assistant'), await count(page, '.summary')],
    [20, 20, 1],
  );
});

test('can be used with the keyboard alone, and names its parts', async () => {
  const page = await open();
  const { children } = await page.accessibility.snapshot({ interestingOnly: false });
  const names = JSON.stringify(children);
  for (let tabs = 0; tabs < 20 && !(await focused(page)).startsWith('What is the weather in Oslo?'); tabs += 1) {
    await page.keyboard.down('Shift');
    await page.keyboard.press('Tab');
    await page.keyboard.up('Shift');
  }
  await page.keyboard.press('Enter');
  await sees(page, 'The sky over Oslo');

  for (const name of ['Conversation', 'Message', 'Attach files']) assert.ok(names.includes(`"name":"${name}"`), name);
});

test('has a dark mode and fits a narrow screen', async () => {
  const page = await open();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await page.setViewport({ width: 390, height: 780 });
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await shot(page, 'dark-narrow');

  assert.equal(await page.$eval('body', (body) => getComputedStyle(body).backgroundColor), 'rgb(22, 25, 28)');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

test('makes no request to another host, and throws no error', () => {
  assert.deepEqual(
    [...hosts].filter((host) => host !== '127.0.0.1' && host !== ''),
    [],
  );
  assert.deepEqual(problems, []);
});
