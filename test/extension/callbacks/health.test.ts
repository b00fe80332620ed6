import { expect, test } from 'vitest';
import { fakeClock, fastClock } from '../../support/agent/fake-clock.js';
import { answerOf, lab } from '../../support/extension/lab.js';

test('an extension that keeps failing is set aside with an event, and is called again after the pause', async () => {
  const clock = fakeClock(1);
  let called = 0;
  const { agent, logger } = lab(
    [
      {
        id: 'bad',
        onLlmOutput() {
          called += 1;
          throw new Error('boom');
        },
      },
    ],
    { registry: { setAside: { failures: 2, pauseMs: 500 } }, agent: { clock } },
  );
  const events: unknown[] = [];
  agent.on('extension-error', (event) => void events.push(event));
  for (let run = 0; run < 4; run += 1) await agent.run('go');

  expect(called).toBe(2);
  expect(events).toEqual([
    expect.objectContaining({ extensionId: 'bad', callback: 'onLlmOutput', failures: 2, pauseMs: 500 }),
  ]);
  expect(logger.records.at(-1)?.message).toBe(
    'Extension "bad" is set aside for 500 ms, because it failed 2 times in a row.',
  );
  clock.advance(500);
  await agent.run('go');
  expect(called).toBe(3);
});

test('the time-outs of a run have a common budget', async () => {
  const hang = () => new Promise<never>(() => {});
  const slow = Array.from({ length: 10 }, (_, index) => ({ id: `x${index}`, onLlmOutput: hang }));
  const clock = fastClock();
  const { agent } = lab(slow, { registry: { timeoutMs: 30, runTimeoutMs: 60 }, agent: { clock } });
  await agent.run('go');

  // Ten time-outs take 300 ms.
  expect(clock.now()).toBeLessThan(90);
});

test.each([
  ['<think>a `b</think>c`', '[a `b]c`'],
  ['<think>\n```js\ncode</think>rest', '[\n```js\ncode]rest'],
  ['<think><!-- a</think>b -->', '[<!-- a]b -->'],
  ['`<think>a</think>`', '`<think>a</think>`'],
])('the closing tag of an open section always closes it: %s', async (given, answer) => {
  expect(await answerOf([{ id: 'x', tags: 'think', onTag: (_tag, content) => `[${content}]` }], given)).toBe(answer);
});

test('inCode handles tags that open in code', async () => {
  const extension = { id: 'x', tags: 'a', inCode: true, onTag: (_tag: string, content: string) => `[${content}]` };

  expect(await answerOf([extension], '`<a>x</a>` <a>y</a>')).toBe('`[x]` [y]');
});
