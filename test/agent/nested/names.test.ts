import { Agent, HookAction, MemorySessionStore, type ToolContext, type ToolRun } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { until } from '../../support/agent/settle.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';

const ids = { next: (kind: string) => `${kind}_1` };

/** An agent whose runs note their place. */
function noted(runs: ToolRun[], script: ScriptEntry = 'done') {
  const model = scriptedModel(script);
  return new Agent({ name: 'inner', model, lifecycle: [{ beforeAgent: (_input, run) => void runs.push(run) }] });
}

const places = (runs: readonly ToolRun[]) => runs.map(({ id, path }) => [id, path]);

describe('a run inside of a tool call', () => {
  test('has an id and a path that derive from its call, also if several calls run at the same time', async () => {
    const runs: ToolRun[] = [];
    const inner = noted(runs);
    const twice = toolOf('twice', async (_input, { run: parent }) => {
      await inner.run('a', { parent });
      await inner.run('b', { parent });
      return 'ok';
    });
    const model = scriptedModel([
      calls({ name: 'helper', id: 'x', input: { prompt: 'p' } }, { name: 'twice', id: 'y' }),
      calls({ name: 'helper', id: 'x', input: { prompt: 'p' } }),
      'done',
    ]);
    const tools = [inner.asTool({ name: 'helper', description: 'Helps.' }), twice];

    await new Agent({ model, tools, ids }).run('go');

    expect(places(runs).sort()).toEqual([
      ['run_1:1:x/1', ['x']],
      ['run_1:1:y/1', ['y']],
      ['run_1:1:y/2', ['y']],
      ['run_1:2:x/1', ['x']],
    ]);
  });

  test('of a run inside has the path of both calls, and the outer runs as its parents', async () => {
    const runs: ToolRun[] = [];
    const leaf = noted(runs).asTool({ name: 'leaf', description: 'Is deep.' });
    const middle = new Agent({
      model: scriptedModel([calls({ name: 'leaf', id: 'b', input: { prompt: 'p' } }), 'done']),
      tools: [leaf],
      lifecycle: [{ beforeAgent: (_input, run) => void runs.push(run) }],
    }).asTool({ name: 'middle', description: 'Is between.' });
    const model = scriptedModel([calls({ name: 'middle', id: 'a', input: { prompt: 'p' } }), 'done']);
    const outer: ToolRun[] = [];
    const lifecycle = [{ beforeAgent: (_input: string, run: ToolRun) => void outer.push(run) }];

    await new Agent({ model, tools: [middle], ids, lifecycle }).run('go');

    expect(places([...outer, ...runs])).toEqual([
      ['run_1', undefined],
      ['run_1:1:a/1', ['a']],
      ['run_1:1:a/1:1:b/1', ['a', 'b']],
    ]);
    expect(runs[0]?.parent).toBe(outer[0]);
    expect(runs[1]?.parent).toBe(runs[0]);
  });

  test('has the same id when a hook repeats the call', async () => {
    const runs: ToolRun[] = [];
    const tools = [noted(runs).asTool({ name: 'helper', description: 'Helps.' })];
    const model = scriptedModel([calls('helper', { prompt: 'p' }), 'done']);

    await new Agent({ model, tools, lifecycle: [{ wrapToolCall: (_call, next) => next().then(() => next()) }] }).run(
      'go',
    );

    expect(runs).toHaveLength(2);
    expect(runs[1]?.id).toBe(runs[0]?.id);
  });

  test('that a hook starts has no path of its own', async () => {
    const runs: ToolRun[] = [];
    const inner = noted(runs);
    const model = scriptedModel('done');
    const lifecycle = [
      { beforeModel: (_messages: unknown, parent: ToolRun) => inner.run('a', { parent }).then(() => {}) },
    ];

    await new Agent({ model, lifecycle, ids: { next: () => 'outer' } }).run('go');

    expect(runs[0]).toMatchObject({ path: undefined, parent: { id: 'outer' } });
    expect(runs[0]?.id).not.toMatch('outer');
  });

  test('tells its decisions from those of the root', async () => {
    const results: unknown[] = [];
    const inner = new Agent({
      model: scriptedModel('done'),
      lifecycle: [{ name: 'short', beforeAgent: () => HookAction.respond('no need') }],
    });
    const ask = toolOf('ask', async (_input, { run: parent }) => {
      results.push((await inner.run('a', { parent })).decisions);
    });

    await new Agent({ model: scriptedModel([calls('ask'), 'done']), tools: [ask] }).run('go');

    expect(results).toMatchObject([[{ type: 'respond', by: 'short', turn: 0, path: ['call_1'] }]]);
  });
});

/** An agent that pays through an agent of its own, as one of several processes on one store. */
async function openPayer(store: SessionStore, pay: (context: ToolContext) => unknown, clock = manualClock()) {
  const payer = new Agent({
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Paid.' : calls('pay'))),
    tools: [toolOf('pay', (_input, context) => pay(context))],
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Done.' : calls('payer', { prompt: 'Pay.' }),
  );
  const tools = [payer.asTool({ name: 'payer', description: 'Pays.' })];
  return new Agent({ model, tools, store, clock }).session({ id: 's' });
}

test('the calls of a run inside have the same keys when the call around it runs again after a crash', async () => {
  const clock = manualClock();
  const store = new MemorySessionStore({ clock });
  const began: { readonly key: string; readonly run: string }[] = [];
  const note = ({ idempotencyKey: key, run }: ToolContext) => void began.push({ key, run: run.id });
  const dying = await openPayer(store, (context) => {
    note(context);
    return new Promise(() => {});
  });
  void dying.run('Pay the bill.').catch(() => {});
  await until(() => began.length === 1);
  await clock.advance(30_001);

  const session = await openPayer(storeOver(store, {}), note, clock);
  await session.run('', { resume: { call_1: 'approve' } });

  expect(began).toHaveLength(2);
  expect(began[1]).toEqual(began[0]);
});
