import { Agent, type AgentEvent, type AgentOptions, type RunError, type RunStream } from 'keelson';
import { calls, fails, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';

const prompt = { prompt: 'p' };
const perRun = { perRun: true };

/** An agent as a tool with the name `name`. */
function helper(name: string, script: readonly ScriptEntry[] = ['A'], options: Partial<AgentOptions> = {}) {
  const agent = new Agent({ name, model: scriptedModel(script, perRun), ...options });
  return { agent, tool: agent.asTool({ description: 'Helps.' }) };
}

const boss = (tools: AgentOptions['tools'], script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) =>
  new Agent({ name: 'boss', model: scriptedModel(script, perRun), tools, ...options });

const shown = ({ type, path }: AgentEvent) => [...(path ?? []), type].join(' ');

async function read<Output>(stream: RunStream<Output>): Promise<string[]> {
  const events: string[] = [];
  for await (const event of stream) events.push(shown(event));
  return events;
}

const inside = (path: string) =>
  ['run-start', 'turn-start', 'model-start', 'text-delta', 'model-end', 'turn-end', 'run-end'].map(
    (type) => `${path} ${type}`,
  );

describe('stream with `nested`', () => {
  test('yields the events of the runs inside between the start and the end of their call, with the path', async () => {
    const leaf = helper('leaf');
    const middle = helper('middle', [calls({ name: 'leaf', id: 'b', input: prompt }), 'A'], { tools: [leaf.tool] });
    const agent = boss([middle.tool], [calls({ name: 'middle', id: 'a', input: prompt }), 'done']);

    const events = await read(agent.stream('go', { nested: true }));

    const from = events.indexOf('tool-start');
    expect(events.slice(from, events.indexOf('tool-end') + 1)).toEqual([
      'tool-start',
      ...['run-start', 'turn-start', 'model-start', 'model-end', 'tool-start'].map((type) => `a ${type}`),
      ...inside('a b'),
      ...['tool-end', 'turn-end', 'turn-start', 'model-start', 'text-delta', 'model-end', 'turn-end', 'run-end'].map(
        (type) => `a ${type}`,
      ),
      'tool-end',
    ]);
    const own = events.filter((event) => !event.includes(' '));
    expect(own).toEqual(await read(agent.stream('go')));
  });

  test('tells the runs of calls apart that run at the same time', async () => {
    const { agent: inner } = helper('inner');
    const ask = toolOf('ask', async (_input, { run: parent }) => (await inner.run('q', { parent })).text);
    const agent = boss([ask], [calls({ name: 'ask', id: 'x' }, { name: 'ask', id: 'y' }), 'done']);

    const events = await read(agent.stream('go', { nested: true }));

    for (const path of ['x', 'y']) expect(events.filter((event) => event.startsWith(path))).toEqual(inside(path));
  });

  test('has the text of its own run only', async () => {
    const texts: string[] = [];
    const { tool } = helper('helper');

    for await (const text of boss([tool], [calls('helper', prompt), 'done']).stream('go', { nested: true }).text) {
      texts.push(text);
    }

    expect(texts.join('')).toBe('done');
  });

  test('leaves out what a run inside does after its call has a result', async () => {
    const held = gate();
    const { agent: inner } = helper('inner', [() => held.pass().then(() => 'late')]);
    let late: Promise<unknown> | undefined;
    const ask = toolOf('ask', (_input, { run: parent }) => {
      late = inner.run('q', { parent });
    });
    const agent = boss([ask], [calls('ask'), 'done']);

    const events = await read(agent.stream('go', { nested: true }));
    held.open();
    await late;

    expect(events.filter((event) => event.startsWith('call_1'))).toEqual(
      ['run-start', 'turn-start', 'model-start'].map((type) => `call_1 ${type}`),
    );
    expect(events.at(-1)).toBe('run-end');
  });
});

describe('without `nested`', () => {
  test('`agent.on` hears the runs of its own agent, with their path', async () => {
    const { agent, tool } = helper('helper');
    const outer = boss([tool], [calls('helper', prompt), 'done']);
    const heard: unknown[] = [];
    agent.on('run-end', ({ path }) => void heard.push(path));
    outer.on('run-end', ({ path }) => void heard.push(path));

    await outer.run('go');

    expect(heard).toEqual([['call_1'], undefined]);
  });

  test('`onEvent` of a tool hears the runs that the tool starts, and its errors are logged', async () => {
    const events: string[] = [];
    const logged: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel('A'),
      logger: { ...console, error: (_message: string, error: unknown) => void logged.push(error) },
    });
    const tool = agent.asTool({
      name: 'helper',
      description: 'Helps.',
      onEvent: (event) => {
        events.push(shown(event));
        if (event.type === 'run-end') throw new Error('broken');
      },
    });

    const { text } = await boss([tool], [calls('helper', prompt), 'done']).run('go');
    await agent.run('alone');

    expect(text).toBe('done');
    expect(events).toEqual(inside('call_1'));
    expect(logged).toMatchObject([{ message: 'broken' }]);
  });

  test('the error of a run inside has its path', async () => {
    const { agent: inner } = helper('inner', [fails('down')]);
    const errors: RunError[] = [];
    const ask = toolOf('ask', async (_input, { run: parent }) => {
      errors.push((await rejectionOf(inner.run('q', { parent }))) as RunError);
    });

    await boss([ask], [calls('ask'), 'done']).run('go');
    errors.push((await rejectionOf(boss([], [fails('down')]).run('go'))) as RunError);

    expect(errors.map(({ path }) => path)).toEqual([['call_1'], undefined]);
  });
});

test('`attach` yields nested events on request, and ends with the run that it follows', async () => {
  const held = gate();
  const { tool } = helper('helper');
  const runLog = new MemoryRunLog();
  const agent = boss([tool], [calls('helper', prompt), () => held.pass().then(() => 'done')]);
  const session = await agent.session({ id: 's', runLog });
  const stream = session.stream('go', { nested: true });
  await until(() => held.arrived === 1);

  const [plain, nested] = await Promise.all([session.attach(), session.attach({ nested: true })]);
  held.open();
  const events = await Promise.all([plain, nested].map((one) => read(one as RunStream<unknown>)));

  expect(events[1]).toEqual(await read(stream));
  expect(events[0]).toEqual(events[1]?.filter((event) => !event.startsWith('call_1')));
  expect(events[1]).toEqual(expect.arrayContaining(inside('call_1')));
  expect(await nested?.result).toMatchObject({ text: 'done' });
});

test('a run that is aborted ends the runs inside', async () => {
  const { agent, tool } = helper('helper', [hangs()]);
  const stream = boss([tool], [calls('helper', prompt)]).stream('go', { nested: true });

  for await (const event of stream) if (shown(event) === 'call_1 model-start') break;

  await until(() => agent.status().runs === 0);
  expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
});
