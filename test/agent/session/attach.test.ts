import { Agent, type AgentEvent, MemorySessionStore, RunAbortedError, type RunStream, toolResult } from 'keelson';
import { calls, fails, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { storeOver } from '../../support/state/store-over.js';

/** Two agents in two processes on one conversation, and its run log. */
function places(script: readonly ScriptEntry[]) {
  const held = gate();
  const store = new MemorySessionStore();
  const runLog = new MemoryRunLog();
  const tools = [toolOf('work', () => held.pass().then(() => 'worked'))];
  const options = { tools, logger: keepingLogger() };
  const here = new Agent({ ...options, store, model: scriptedModel(script) });
  const there = new Agent({ ...options, store: storeOver(store, {}), model: scriptedModel([]) });
  const open = (agent: Agent) => agent.session({ id: 's', runLog });
  return { held, store, runLog, here, there, open };
}
async function eventsOf(stream: RunStream<unknown> | undefined): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  try {
    for await (const event of stream ?? []) events.push(event);
  } catch {
    // The events tell the failure.
  }
  return events;
}
const plain = (events: readonly AgentEvent[]) =>
  events.map((event) => (event.type === 'run-end' ? { type: event.type, text: event.result?.text } : event));

describe('attach', () => {
  test('returns all events of a run of another process, from the first one or from an offset', async () => {
    const { held, here, there, open } = places([calls('work'), streams(['Do', 'ne.'])]);
    const stream = (await open(here)).stream('Go.');
    const seen = eventsOf(stream);
    await until(() => held.arrived === 1);

    const watching = await open(there);
    const all = eventsOf(await watching.attach());
    const rest = eventsOf(await watching.attach({ from: 3 }));
    held.open();

    expect(plain(await all)).toEqual(plain(await seen));
    expect(plain(await rest)).toEqual(plain((await seen).slice(3)));
    expect(await watching.attach()).toBe(undefined);
  });

  test('has the result of the run, without its history', async () => {
    const { held, here, there, open } = places([calls('work'), 'Done.']);
    const running = (await open(here)).run('Go.');
    await until(() => held.arrived === 1);

    const stream = await (await open(there)).attach();
    held.open();

    const { history: _history, ...result } = await running;
    expect(await stream?.result).toEqual({ ...result, history: [] });
  });

  test('has images of tools as base64 strings, also if a tool returned bytes', async () => {
    const store = new MemorySessionStore();
    const held = gate();
    const image = { type: 'image', image: Uint8Array.of(1, 2, 3), mediaType: 'image/png' } as const;
    const tools = [
      toolOf('look', () => toolResult({ content: [image] })),
      toolOf('work', () => held.pass().then(() => '')),
    ];
    const agent = new Agent({ model: scriptedModel([calls('look'), calls('work'), 'Done.']), store, tools });
    const session = await agent.session({ id: 's', runLog: new MemoryRunLog() });
    const running = session.run('Go.');
    await until(() => held.arrived === 1);

    const stream = await session.attach();
    held.open();
    await running;

    const expected = { content: [{ ...image, image: 'AQID' }] };
    const events = await eventsOf(stream);
    expect(events.find(({ type }) => type === 'tool-end')).toMatchObject({ result: expected });
    expect((await stream?.result)?.messages[2]).toMatchObject({ role: 'tool', content: [expected] });
  });

  test('can be left, and the run goes on', async () => {
    const { held, here, there, open } = places([calls('work'), 'Done.']);
    const running = (await open(here)).run('Go.');
    await until(() => held.arrived === 1);

    const stream = (await (await open(there)).attach()) as RunStream<unknown>;
    for await (const { type } of stream) if (type === 'tool-start') break;
    held.open();

    expect((await running).text).toBe('Done.');
    expect(await rejectionOf(stream.result)).toBeInstanceOf(RunAbortedError);
  });

  test('tells the failure of the run, with the message, the name and the code of its error', async () => {
    const { held, here, there, open } = places([calls('work'), fails('down')]);
    const running = (await open(here)).run('Go.');
    await until(() => held.arrived === 1);

    const stream = await (await open(there)).attach();
    held.open();

    const failure = (await rejectionOf(running)) as Error;
    expect(await rejectionOf(stream?.result as Promise<unknown>)).toMatchObject({
      code: 'ERR_WATCHED_RUN',
      message: failure.message,
      failure: { name: 'ModelError', code: 'ERR_MODEL_FAILED' },
    });
  });

  test('tells that a run was lost if its process has died', async () => {
    const { held, store, runLog, here, there, open } = places([calls('work'), 'never']);
    const session = await here.session({ id: 's', runLog, store: storeOver(store, { renew: () => true }) });
    void session.run('Go.', { timeouts: { claimMs: 200 } }).catch(() => {});
    await until(() => held.arrived === 1);

    const stream = await (await open(there)).attach();
    const events = await eventsOf(stream);

    expect(events.at(-2)).toMatchObject({ type: 'run-error', error: { code: 'ERR_SESSION_LOST' } });
    expect(events.at(-1)).toMatchObject({ type: 'run-end' });
    expect(await rejectionOf(stream?.result as Promise<unknown>)).toMatchObject({ code: 'ERR_SESSION_LOST' });
  });

  test('needs a run log, and finds nothing if no run holds the conversation', async () => {
    const { here, open } = places([]);

    expect(await (await open(here)).attach()).toBe(undefined);
    const plainSession = await here.session({ id: 't' });
    expect(await rejectionOf(plainSession.attach())).toMatchObject({ code: 'ERR_OPTION_INVALID' });
  });
});

test('a run whose log fails goes on, and says so once', async () => {
  const { here, store } = places(['Done.']);
  const logger = keepingLogger();
  const runLog = new MemoryRunLog();
  runLog.append = () => {
    throw new TypeError('the log is away');
  };
  const agent = new Agent({ model: scriptedModel(['Done.']), store, logger });

  const { text } = await (await agent.session({ id: 'u', runLog })).run('Go.');

  expect(text).toBe('Done.');
  expect(logger.lines.filter((line) => line.includes('could not be logged'))).toHaveLength(1);
  await here.close();
});

test('events that a log has not taken are appended again', async () => {
  const { held, here, there, runLog, open } = places([calls('work'), streams(['Do', 'ne.'])]);
  const append = runLog.append.bind(runLog);
  let failed = 0;
  runLog.append = (run, first, events) => {
    const answer = append(run, first, events);
    // The first append is stored, and its answer is lost.
    failed += 1;
    if (failed <= 2) throw new TypeError('the log is away');
    return answer;
  };
  const seen = eventsOf((await open(here)).stream('Go.'));
  await until(() => failed > 0);

  const all = eventsOf(await (await open(there)).attach());
  held.open();

  expect(plain(await all)).toEqual(plain(await seen));
});
