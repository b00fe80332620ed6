// Tests that an answer outlives its connection: reload, a second tab, no network, and a restart of the server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { test } from 'node:test';
import {
  browser,
  click,
  count,
  open,
  problems,
  ready,
  sees,
  send,
  setUp,
  shot,
  start,
  stop,
  textOf,
  url,
} from './browser.mjs';

const STORY = 'Tell me a story of 30 ships';
const LAST = 'Ship 30 left the harbour.';

// An answer lasts for seconds, because its page is reloaded meanwhile.
setUp({ wordMs: 60 });

/** Opens a port that leads to the server, and that can be cut off. */
async function openNetwork() {
  const sockets = new Set();
  const relay = createServer((socket) => {
    const far = connect(new URL(url).port, '127.0.0.1');
    for (const each of [socket, far]) sockets.add(each.on('error', () => {}));
    pipeline(socket, far, socket, () => {});
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${relay.address().port}`,
    /** The emulation of Chromium refuses new requests, and does not end the open ones. */
    cut: async (page) => {
      await page.setOfflineMode(true);
      for (const socket of sockets) socket.destroy();
    },
    mend: (page) => page.setOfflineMode(false),
    close: () => relay.close(),
  };
}

/** Takes one picture of two pages, beside each other. */
async function shotOfBoth(left, right, name) {
  const images = [];
  for (const page of [left, right]) images.push(await page.screenshot({ encoding: 'base64' }));
  const page = await browser.newPage();
  await page.setViewport({ width: 1_240, height: 550 });
  await page.setContent(images.map((image) => `<img width="600" src="data:image/png;base64,${image}">`).join(' '));
  await shot(page, name);
  await page.close();
}

test('goes on with an answer after a reload in the middle', async () => {
  const undisturbed = await open();
  const page = await open();
  await send(undisturbed, STORY);
  await send(page, STORY);
  await sees(page, 'Ship 3 left');
  await page.reload();
  await sees(page, 'Ship 3 left');
  const early = await textOf(page);
  await shot(page, 'reload');
  await sees(page, LAST);
  await sees(undisturbed, LAST);
  await ready(page);

  assert.ok(!early.includes(LAST), 'the answer had ended before the reload');
  assert.equal(await textOf(page), await textOf(undisturbed));
  assert.equal(await count(page, 'article'), 2);
});

test('goes on after a reload while a tool runs', async () => {
  const undisturbed = await open();
  const page = await open();
  await send(undisturbed, 'What is the weather in Oslo?');
  await send(page, 'What is the weather in Oslo?');
  await sees(page, 'running');
  await page.reload();
  for (const each of [page, undisturbed]) await sees(each, '14 °C');
  await ready(page);
  await ready(undisturbed);

  assert.equal(await textOf(page), await textOf(undisturbed));
  assert.equal(await count(page, 'article'), 2);
});

test('asks again after a reload while a call waits for approval', async () => {
  const page = await open();
  await send(page, 'Pay the harbour fee of 40 euro');
  await sees(page, 'Needs your approval');
  await ready(page);
  await page.reload();
  await click(page, 'Pay 40 €');
  await sees(page, 'Paid 40 euro to the harbour.');
  await ready(page);

  assert.equal(await count(page, 'article.assistant'), 1);
  assert.equal(await count(page, 'details.tool'), 1);
});

test('shows the same in two tabs while one answers, and either can stop it', async () => {
  const page = await open();
  await send(page, STORY);
  await sees(page, 'Ship 3 left');
  const second = await open(page.url());
  await sees(second, 'Ship 3 left');
  await shotOfBoth(page, second, 'two-tabs');
  await second.bringToFront();
  await click(second, 'Stop');
  await ready(second);
  await ready(page);

  assert.match(await textOf(second), /Ship 3 left/);
  assert.doesNotMatch(await textOf(second), new RegExp(LAST));
  assert.equal(await textOf(page), await textOf(second));
});

test('connects again after the network was away, and the answer is whole', async () => {
  const network = await openNetwork();
  const undisturbed = await open();
  const page = await open(`${network.url}/#${crypto.randomUUID()}`);
  await send(undisturbed, STORY);
  await send(page, STORY);
  await sees(page, 'Ship 3 left');
  await network.cut(page);
  await sees(page, 'No connection');
  await shot(page, 'offline');
  const early = await textOf(page);
  await network.mend(page);
  for (const each of [page, undisturbed]) await sees(each, LAST);
  await ready(page);

  assert.ok(!early.includes(LAST), 'the answer had ended before the network was away');
  assert.equal(await textOf(page), await textOf(undisturbed));
  assert.equal(await count(page, 'article'), 2);
  network.close();
});

test('sends a message that was written without a network, behind the answer that runs', async () => {
  const network = await openNetwork();
  const page = await open(`${network.url}/#${crypto.randomUUID()}`);
  await send(page, STORY);
  await sees(page, 'Ship 3 left');
  await network.cut(page);
  await sees(page, 'No connection');
  await send(page, 'And now?');
  await network.mend(page);
  await sees(page, 'You said: And now?');
  await ready(page);

  assert.match(await textOf(page), new RegExp(`${LAST}\\s+And now\\?\\s+You said: And now\\?`));
  assert.equal(await count(page, 'article'), 4);
  network.close();
});

test('keeps what was said when the server is restarted, says so, and goes on', async () => {
  const page = await open();
  await send(page, STORY);
  await sees(page, 'Ship 3 left');
  await stop('SIGTERM');
  await sees(page, 'This answer was stopped.');
  // The page may have noticed by now that the server is away.
  const [kept] = (await textOf(page)).split('\n\nNo connection');
  await send(page, 'And now?');
  await sees(page, 'No connection');
  await start(new URL(url).port);
  await sees(page, 'You said: And now?');
  await ready(page);
  await shot(page, 'restart');
  await page.reload();
  await sees(page, 'You said: And now?');

  assert.match(kept, /Ship 3 left/);
  assert.ok(!kept.includes(LAST), 'the answer had ended before the restart');
  assert.ok((await textOf(page)).startsWith(kept));
});

test('throws no error on the page', () => {
  assert.deepEqual(problems, []);
});
