import { Agent, type AgentOptions, MemorySessionStore, type RunStream, type ToolContext } from 'keelson';
import { calls, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

const prompt = { prompt: 'p' };
const cancelled = (reason: string) => `!The person cancelled this call: ${reason}`;

/** A tool that ignores its signal, and notes the reason of its abort. */
function deaf() {
  const begun: ToolContext[] = [];
  const aborted: unknown[] = [];
  const tool = toolOf('deaf', (_input, context) => {
    begun.push(context);
    context.signal.addEventListener('abort', () => aborted.push(context.signal.reason));
    return new Promise(() => {});
  });
  return { tool, begun, aborted };
}

function agentOf(name: string, script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  return new Agent({ name, model: scriptedModel(script), ...options });
}

async function eventsOf<Output>(stream: RunStream<Output>): Promise<string[]> {
  const events: string[] = [];
  for await (const { type, path = [] } of stream) events.push([...path, type].join(' '));
  return events;
}

describe('stream.cancel', () => {
  test('aborts one tool call, whose result tells the reason, and the other calls go on', async () => {
    const { tool, begun, aborted } = deaf();
    const held = gate();
    const tools = [tool, toolOf('slow', () => held.pass().then(() => 'slow'))];
    const agent = agentOf('boss', [calls({ name: 'deaf', id: 'x' }, { name: 'slow', id: 'y' }), 'done'], { tools });
    const stream = agent.stream('go');
    await until(() => begun.length + held.arrived === 2);

    expect(await stream.cancel(['x'], 'too slow')).toBe(true);
    expect(await stream.cancel(['x'], 'again')).toBe(false);
    held.open();
    const { text, messages } = await stream.result;

    expect(text).toBe('done');
    expect(resultsIn(messages)).toEqual({ x: cancelled('too slow'), y: 'slow' });
    expect(aborted).toEqual(['The person cancelled this call: too slow']);
    expect(await stream.cancel(['y'])).toBe(false);
  });

  test('aborts the run inside of a call, also if the tool passed no signal', async () => {
    const inner = agentOf('inner', [hangs({ deaf: true })]);
    const failures: unknown[] = [];
    const ask = toolOf('ask', async (_input, { run: parent }) => {
      failures.push(await rejectionOf(inner.run('q', { parent })));
    });
    const stream = agentOf('boss', [calls('ask'), 'done'], { tools: [ask] }).stream('go', { nested: true });
    await until(() => inner.status().runs === 1);

    expect(await stream.cancel(['call_1'])).toBe(true);

    const { messages } = await stream.result;
    expect(resultsIn(messages)).toEqual({ call_1: '!The person cancelled this call.' });
    await until(() => failures.length === 1);
    expect(failures).toMatchObject([{ code: 'ERR_RUN_ABORTED', cause: 'The person cancelled this call.' }]);
    const events = await eventsOf(stream);
    expect(events.slice(events.indexOf('tool-end')).filter((event) => event.startsWith('call_1'))).toEqual([]);
  });

  test('aborts a call of a run inside, whose model goes on', async () => {
    const { tool, begun } = deaf();
    const inner = agentOf('inner', [calls({ name: 'deaf', id: 'b' }), 'without it'], { tools: [tool] });
    const outer = agentOf('boss', [calls({ name: 'inner', id: 'a', input: prompt }), 'done'], {
      tools: [inner.asTool({ description: 'Helps.' })],
    });
    const stream = outer.stream('go');
    await until(() => begun.length === 1);

    expect(await stream.cancel(['a', 'c'])).toBe(false);
    expect(await stream.cancel(['b'])).toBe(false);
    expect(await stream.cancel(['a', 'b'], 'no')).toBe(true);

    const { messages, nested } = await stream.result;
    expect(resultsIn(messages)).toEqual({ a: 'without it' });
    expect(resultsIn(nested?.[0]?.messages ?? [])).toEqual({ b: cancelled('no') });
  });

  test('keeps a call from starting that waits for its turn', async () => {
    const { tool, begun } = deaf();
    const model = [calls({ name: 'deaf', id: 'x' }, { name: 'deaf', id: 'y' }), 'done'];
    const stream = agentOf('boss', model, { tools: [tool], parallelToolCalls: false }).stream('go');
    await until(() => begun.length === 1);

    expect(await stream.cancel(['y'], 'not this')).toBe(true);
    expect(await stream.cancel(['x'], 'nor this')).toBe(true);

    expect(resultsIn((await stream.result).messages)).toEqual({ x: cancelled('nor this'), y: cancelled('not this') });
    expect(begun).toHaveLength(1);
  });

  test('starts the next call in the place of one that is cancelled', async () => {
    const { tool, begun } = deaf();
    const tools = [tool, toolOf('next', () => 'next')];
    const model = [calls({ name: 'deaf', id: 'x' }, { name: 'next', id: 'y' }), 'done'];
    const stream = agentOf('boss', model, { tools, parallelToolCalls: 1 }).stream('go');
    await until(() => begun.length === 1);

    await stream.cancel(['x'], 'no');

    expect(resultsIn((await stream.result).messages)).toEqual({ x: cancelled('no'), y: 'next' });
  });

  test('cancels a call that cancels itself before it returns', async () => {
    const streams: RunStream[] = [];
    const self = toolOf('self', () => {
      void streams[0]?.cancel(['call_1'], 'myself');
      return 'too late';
    });
    const agent = agentOf('boss', [() => Promise.resolve(calls('self')), 'done'], { tools: [self] });
    streams.push(agent.stream('go'));

    const { messages, text } = (await streams[0]?.result) ?? {};

    expect(text).toBe('done');
    expect(resultsIn(messages ?? [])).toEqual({ call_1: cancelled('myself') });
  });

  test.each([[[]], ['x'], [['']], [[5]]])('refuses the path %j', async (path) => {
    const stream = agentOf('boss', ['done']).stream('go');

    expect(await rejectionOf(stream.cancel(path as string[]))).toMatchObject({ code: 'ERR_OPTION_INVALID' });
  });
});

describe('session.stop with a path', () => {
  async function running() {
    const store = new MemorySessionStore();
    const { tool, begun, aborted } = deaf();
    const inner = agentOf('inner', [calls({ name: 'deaf', id: 'b' }), 'without it'], { tools: [tool] });
    const options = { tools: [inner.asTool({ description: 'Helps.' })], store };
    const script = [calls({ name: 'inner', id: 'a', input: prompt }), 'done'];
    const session = await agentOf('boss', script, options).session({ id: 's' });
    const result = session.run('go');
    await until(() => begun.length === 1);
    // Another process, which shares the store.
    const other = await agentOf('boss', [], { store: storeOver(store, {}) }).session({ id: 's' });
    return { result, other, aborted, store };
  }

  test('cancels a call of a run inside, from another process, and the record says who did it', async () => {
    const { result, other, aborted } = await running();

    expect(await other.stop({ path: ['a', 'b'], reason: 'no', by: 'ada' })).toBe(true);

    expect(await result).toMatchObject({ text: 'done', nested: [{ path: ['a'] }] });
    expect(aborted).toEqual(['The person cancelled this call: no']);
    await other.history();
    const posts = other.entries.filter(({ body }) => body.type === 'post' || body.type === 'dropped');
    expect(posts).toMatchObject([
      { by: 'ada', body: { post: { type: 'stop', path: ['a', 'b'], reason: 'no' } } },
      { body: { type: 'dropped', why: 'done' } },
    ]);
  });

  test('stores the result of a call that was cancelled, and finds no call that does not run', async () => {
    const { result, other, store } = await running();

    expect(await other.stop({ path: ['b'] })).toBe(false);
    expect(await other.stop({ path: ['a'], reason: 'no' })).toBe(true);

    expect(resultsIn((await result).messages)).toEqual({ a: cancelled('no') });
    const stored = (await store.load('s'))?.entries.flatMap(({ body, path }) =>
      body.type === 'message' && path === undefined ? [body.message] : [],
    );
    expect(resultsIn(stored ?? [])).toEqual({ a: cancelled('no') });
    expect(await other.stop({ path: ['a'] })).toBe(false);
  });

  test('works through a stream that follows the run', async () => {
    const { tool, begun } = deaf();
    const agent = agentOf('boss', [calls('deaf'), 'done'], { tools: [tool] });
    const session = await agent.session({ id: 's', runLog: new MemoryRunLog() });
    const result = session.run('go');
    await until(() => begun.length === 1);

    const followed = await session.attach();
    expect(await followed?.cancel(['call_1'], 'no')).toBe(true);

    expect(resultsIn((await result).messages)).toEqual({ call_1: cancelled('no') });
    expect(await followed?.result).toMatchObject({ text: 'done' });
  });
});
