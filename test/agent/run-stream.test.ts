import { getEventListeners } from 'node:events';
import { Agent, type AgentEvent, type RunStream } from 'keelson';
import { calls, delays, fails, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { LATE, pause, rejectionOf, unhandledDuring, until, within } from '../support/agent/settle.js';

const typesOf = async (stream: AsyncIterable<AgentEvent>) => {
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  return types;
};
const iteratorOf = (stream: RunStream) => stream[Symbol.asyncIterator]();

describe('RunStream', () => {
  test('starts without a reader and keeps its events', async () => {
    const model = scriptedModel(['done']);
    const stream = new Agent({ model }).stream('go');

    expect((await stream.result).text).toBe('done');
    expect(model.requests).toHaveLength(1);
    expect(await typesOf(stream)).toEqual([
      ...['run-start', 'turn-start', 'model-start', 'text-delta', 'text-delta', 'model-end', 'turn-end', 'run-end'],
    ]);
  });

  test('whose run fails causes no unhandled rejection, also without a reader', async () => {
    const unhandled = await unhandledDuring(async () => {
      new Agent({ model: scriptedModel([fails()]) }).stream('go');
      new Agent({ model: scriptedModel([]) }).stream('go', { maxTurns: 0 });
      new Agent({ model: scriptedModel([]) }).stream('go', { signal: AbortSignal.abort() });
      (await new Agent({ model: scriptedModel([fails()]) }).session()).stream('go');
      await pause(5);
    });

    expect(unhandled).toEqual([]);
  });

  test('throws the error of its run once, after the last event', async () => {
    const stream = new Agent({ model: scriptedModel([fails('down')]) }).stream('go');
    const iterator = iteratorOf(stream);
    const types: string[] = [];

    const error = await rejectionOf(
      (async () => {
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) types.push(next.value.type);
      })(),
    );

    expect(types).toEqual(['run-start', 'turn-start', 'model-start', 'model-end', 'turn-end', 'run-error', 'run-end']);
    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED' });
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
    expect(await rejectionOf(stream.result)).toBe(error);
  });

  test('of a run that is refused has no events, and throws', async () => {
    const stream = new Agent({ model: scriptedModel([]) }).stream('go', { maxTurns: Number.NaN });

    expect(await rejectionOf(iteratorOf(stream).next())).toMatchObject({ code: 'ERR_OPTION_INVALID' });
    expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_OPTION_INVALID' });
  });

  test('stays done after its end', async () => {
    const stream = new Agent({ model: scriptedModel(['done']) }).stream('go');
    await typesOf(stream);

    expect(await typesOf(stream)).toEqual([]);
    expect(await iteratorOf(stream).next()).toEqual({ value: undefined, done: true });
  });

  test('gives each of several next() calls a different event, in order', async () => {
    const stream = new Agent({ model: scriptedModel([delays(5, 'done')]) }).stream('go');
    const iterator = iteratorOf(stream);

    const seen = await within(Promise.all(Array.from({ length: 10 }, () => iterator.next())));

    expect(seen).not.toBe(LATE);
    expect((seen as IteratorResult<AgentEvent>[]).map(({ value, done }) => (done ? 'end' : value.type))).toEqual([
      ...['run-start', 'turn-start', 'model-start', 'text-delta', 'text-delta', 'model-end', 'turn-end', 'run-end'],
      ...['end', 'end'],
    ]);
  });

  test('gives an event as soon as it happens', async () => {
    const stream = new Agent({ model: scriptedModel([hangs()]) }).stream('go');
    const iterator = iteratorOf(stream);

    const first = [await iterator.next(), await iterator.next(), await iterator.next()];

    expect(first.map(({ value }) => value?.type)).toEqual(['run-start', 'turn-start', 'model-start']);
    await iterator.return?.();
  });

  test('that is left aborts its run and waits for its end', async () => {
    const ended: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel([calls('wait')]),
      tools: [toolOf('wait', () => new Promise(() => {}))],
      lifecycle: [{ onError: (error) => pause(5).then(() => void ended.push(error)) }],
    });
    const { signal } = new AbortController();
    const stream = agent.stream('go', { signal });

    for await (const { type } of stream) if (type === 'tool-start') break;

    expect(ended).toMatchObject([{ code: 'ERR_RUN_ABORTED' }]);
    expect(agent.status().runs).toBe(0);
    expect(await rejectionOf(stream.result)).toBe(ended[0]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that is left by a throw in the loop aborts its run too', async () => {
    const agent = new Agent({ model: scriptedModel([hangs({ deaf: true })]) });
    const stream = agent.stream('go');

    const error = await rejectionOf(
      (async () => {
        for await (const { type } of stream) if (type === 'model-start') throw new Error('mine');
      })(),
    );

    expect((error as Error).message).toBe('mine');
    expect(agent.status().runs).toBe(0);
  });

  test('that is left during pending next() calls resolves them with the last events and the end', async () => {
    const waiting: Promise<IteratorResult<AgentEvent>>[] = [];

    const unhandled = await unhandledDuring(async () => {
      const iterator = iteratorOf(new Agent({ model: scriptedModel([hangs()]) }).stream('go'));
      for (let at = 0; at < 3; at++) await iterator.next();
      for (let at = 0; at < 6; at++) waiting.push(iterator.next());
      expect(await iterator.return?.()).toEqual({ value: undefined, done: true });
    });

    expect(unhandled).toEqual([]);
    expect((await Promise.all(waiting)).map(({ value, done }) => (done ? 'end' : value.type))).toEqual([
      ...['model-end', 'turn-end', 'run-error', 'run-end', 'end', 'end'],
    ]);
  });

  test('that is left early gives no more events', async () => {
    const stream = new Agent({ model: scriptedModel(['done']) }).stream('go');
    for await (const _event of stream) break;

    expect(await typesOf(stream)).toEqual([]);
  });

  test('that is left after the end changes nothing', async () => {
    const stream = new Agent({ model: scriptedModel(['done']) }).stream('go');
    await stream.result;

    await iteratorOf(stream).return?.();

    expect((await stream.result).text).toBe('done');
  });

  test('that is left while the loaders load ends at once', async () => {
    const agent = new Agent({
      model: scriptedModel([]),
      loaders: [{ name: 'slow', load: () => new Promise(() => {}) }],
    });
    const stream = agent.stream('go');
    const iterator = iteratorOf(stream);
    const waiting = iterator.next();

    expect(await within(iterator.return?.() as Promise<unknown>)).not.toBe(LATE);
    expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(await waiting).toEqual({ value: undefined, done: true });
  });

  test('that is left while its session is busy does not start, and the next run of the session does', async () => {
    const model = scriptedModel([delays(10, 'first'), 'third']);
    const session = await new Agent({ model }).session();
    const first = session.run('one');
    const second = session.stream('two');
    second.result.catch(() => {});
    const third = session.run('three');

    await iteratorOf(second).return?.();

    expect(await rejectionOf(second.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect([(await first).text, (await third).text]).toEqual(['first', 'third']);
    expect(model.requests).toHaveLength(2);
  });

  test('keeps ten thousand events for a slow reader, in order', async () => {
    const texts = Array.from({ length: 10_000 }, (_, at) => `${at} `);
    const agent = new Agent({
      model: {
        id: 'm',
        async generate({ onPart }) {
          for (const text of texts) onPart?.({ type: 'text-delta', text });
          const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
          return { content: [{ type: 'text', text: texts.join('') }], finishReason: 'stop', usage };
        },
      },
    });
    const stream = agent.stream('go');
    await stream.result;

    const read: string[] = [];
    for await (const event of stream) if (event.type === 'text-delta') read.push(event.text);

    expect(read).toEqual(texts);
  });

  test('of an agent that is closed ends with a RunAbortedError', async () => {
    const agent = new Agent({ model: scriptedModel([hangs()]) });
    const stream = agent.stream('go');
    await until(() => agent.status().runs === 1);

    await agent.close();

    expect(await rejectionOf(stream.result)).toMatchObject({
      code: 'ERR_RUN_ABORTED',
      cause: { code: 'ERR_AGENT_CLOSED' },
    });
  });
});
