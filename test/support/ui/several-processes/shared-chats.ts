import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SharedPlace } from '../../../fixtures/ui/chat-process.js';
import { until } from '../../agent/settle.js';
import { loadHistory } from '../chat-client.js';
import { postTo, remoteHandler } from '../chat-server.js';
import { readEvents } from '../read-sse.js';
import { readChunks, readMessage, shownText } from '../read-ui-message.js';
import { type ChatProcess, startChatProcess } from './chat-process.js';
import { CutReader, countOf, readOf } from './cut-reader.js';

/** A run of the question "Work." has so many events, and pauses so often. Only `run-end` follows the last pause. */
const EVENTS = 17;
const PAUSES = 6;
const counts = Array.from({ length: EVENTS + 1 }, (_, count) => count);
/** Several processes start, and readers of both stores are busy at once. */
const TIMEOUT = 120_000;

/** Defines the tests of chats that two processes serve. `open` starts the server that keeps the chats. */
export function testSharedChats(program: string, open: () => Promise<SharedPlace>): void {
  const started: ChatProcess[] = [];
  const start = (order: SharedPlace & { readonly claimMs?: number }) => startChatProcess(program, order);

  beforeAll(async () => {
    const place = await open();
    started.push(...(await Promise.all([start(place), start(place), start({ ...place, claimMs: 3_000 })])));
  });

  afterAll(() => Promise.all(started.map((it) => it.kill())));

  test.concurrent.each([
    ['a page that is cut at any event, and comes back to either process, reads each event once', readWithCuts],
    ['a stop in one process aborts the tool of the other one, and all pages see the same end', stopElsewhere],
    ['the pages of a killed process are told in the other one, where the chat goes on', outliveProcess],
  ])('%s', (_title, check) => check(started as unknown as Processes), TIMEOUT);
}

type Processes = readonly [here: ChatProcess, there: ChatProcess, mortal: ChatProcess];

async function readWithCuts([here, there]: Processes): Promise<void> {
  const readers = [...counts.map((count) => new CutReader([count])), new CutReader(counts)];
  const whole = readEvents(await ask(here, 'cut', 'Work.'));
  await here.said('paused');
  const running = await history(there, 'cut');
  const following = Promise.all(
    readers.map((it, index) => it.follow('cut', (visit) => ((index + visit) % 2 === 0 ? there : here).url)),
  );
  following.catch(() => {});
  const pages = [await openPage(there, 'cut')];
  for (let pause = 1; pause <= PAUSES; pause += 1) {
    await here.said('paused', pause);
    // A page that comes back after the last pause may find that nothing runs.
    if (pause === PAUSES) await until(() => countOf(whole.events.at(-1)) === EVENTS - 1);
    const count = countOf(whole.events.at(-1));
    await until(() => readers.every((it) => it.isBackFrom(count)));
    (await openPage(there, 'cut')).leave();
    pages.push(await openPage(there, 'cut'));
    here.goOn();
  }
  await Promise.all([whole.ended, following]);

  for (const { events } of [whole, ...readers]) {
    expect(readOf(events)).toBe(readOf(whole.events));
    expect(countOf(events.at(-1))).toBe(EVENTS);
  }
  const ended = await history(there, 'cut');
  expect([running.running, running.messages.map(shownText)]).toEqual([true, ['Work.']]);
  expect([ended.running, ended.messages.map(shownText)]).toEqual([false, ['Work.', 'On it.Done.']]);
  expect(await history(here, 'cut')).toEqual(ended);
  const messages = await Promise.all(pages.map((page) => page.message));
  for (const message of messages) expect(message).toEqual(messages[0]);
  expect([messages[0]?.id, shownText(messages[0] as never)]).toEqual([ended.messages[1]?.id, 'On it.Done.']);
}

async function stopElsewhere([here, there]: Processes): Promise<void> {
  const asking = readEvents(await ask(here, 'stop', 'Wait.'));
  await here.said('waiting');
  const watching = await watch(there, 'stop');
  const page = await openPage(there, 'stop');
  await until(() => watching.events.at(-1)?.event === 'tool-start');

  const stopped = await postTo(`${there.url}/sse/stop`, { id: 'stop' });

  expect(await stopped.json()).toEqual({ stopped: true });
  const ended = await history(there, 'stop');
  await Promise.all([here.said('aborted'), asking.ended, watching.ended]);
  expect(readOf(watching.events)).toBe(readOf(asking.events));
  expect(watching.events.slice(-2).map(({ data }) => data)).toEqual([
    { type: 'run-error', errorText: 'The run was stopped.', aborted: true },
    { type: 'run-end' },
  ]);
  expect(ended).toMatchObject({ running: false, pending: [] });
  expect(ended.messages.map(({ parts }) => parts)).toEqual([
    [{ type: 'text', text: 'Wait.' }],
    [
      { type: 'step-start' },
      { type: 'text', text: 'On it.', state: 'done' },
      expect.objectContaining({ type: 'tool-wait', state: 'output-error' }),
    ],
  ]);
  expect(await history(here, 'stop')).toEqual(ended);
  expect(await page.message).toMatchObject({ id: ended.messages[1]?.id });
}

async function outliveProcess([here, there, mortal]: Processes): Promise<void> {
  const asking = [await ask(mortal, 'left', 'Wait.'), await ask(mortal, 'asked', 'Wait.')].map(readEvents);
  await mortal.said('waiting', 2);
  const [left, asked] = [await watch(there, 'left'), await watch(there, 'asked')];
  const page = await openPage(there, 'left');
  await until(() => [left, asked].every(({ events }) => events.some(({ event }) => event === 'tool-start')));

  await mortal.kill();
  const next = readEvents(await ask(there, 'asked', 'Go on.'));

  await Promise.allSettled(asking.map(({ ended }) => ended));
  await Promise.all([left.ended, asked.ended, next.ended]);
  for (const { events } of [left, asked]) {
    expect(events.slice(-2).map(({ data }) => data)).toEqual([
      { type: 'run-error', errorText: 'The run failed (ERR_SESSION_LOST).', aborted: false },
      { type: 'run-end' },
    ]);
  }
  const abandoned = await history(there, 'left');
  expect(abandoned).toMatchObject({ running: false, pending: [] });
  expect(abandoned.messages.map(shownText)).toEqual(['Wait.', 'On it.']);
  expect(await page.message).toMatchObject({ id: abandoned.messages[1]?.id });

  const last = readEvents(await ask(there, 'left', 'Go on.'));
  await last.ended;
  for (const chat of ['left', 'asked']) {
    const { running, messages } = await history(here, chat);
    expect(running).toBe(false);
    expect(messages.map(shownText)).toEqual(['Wait.', 'On it.', 'Go on.', 'user assistant tool user']);
  }
}

const ask = ({ url }: ChatProcess, chat: string, message: string) => postTo(`${url}/sse`, { id: chat, message });
const watch = async ({ url }: ChatProcess, chat: string) => readEvents(await fetch(`${url}/sse/${chat}/stream`));
const history = (process: ChatProcess, chat: string) => loadHistory(remoteHandler(process), chat);

/** Opens a page that follows the running answer, in the protocol of the AI SDK. Its message is the whole answer. */
async function openPage({ url }: ChatProcess, chat: string) {
  const connection = new AbortController();
  const response = await fetch(`${url}/chat/${chat}/stream`, { signal: connection.signal });
  const message = readChunks(response).then((chunks) => readMessage(chunks));
  message.catch(() => {});
  return { message, leave: () => connection.abort() };
}
