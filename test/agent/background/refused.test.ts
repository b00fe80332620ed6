import { Agent, defineLifecycle, MemorySessionStore, type RunContext } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf, unhandledDuring } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

const failing = () => Promise.reject(new TypeError('no disk'));
const background = toolOf('build', (_, { run }) => run.background(failing(), { label: 'build' }));

test('without a session a work is refused, and its own failure ends no process', async () => {
  const agent = new Agent({ model: scriptedModel([calls('build'), 'Done.']), tools: [background] });

  const unhandled = await unhandledDuring(async () => {
    const { messages } = await agent.run('Build it.');
    expect(resultsIn(messages)).toEqual({
      call_1:
        '!`run.background` was called without a session. A message in the session tells the result. ' +
        'Open one with `agent.session()`, and start the run there.',
    });
  });

  expect(unhandled).toEqual([]);
});

test('a durable run refuses a work', async () => {
  const engine = durable({ step: memoryStep() });
  const agent = new Agent(engine.options({ model: scriptedModel([calls('build'), 'Done.']), tools: [background] }));
  const session = await agent.session({ id: 's' });
  const { messages } = await session.run('Build it.');

  expect(resultsIn(messages).call_1).toMatch(/^!`run.background` was called in a durable run\. /);
  expect(session.entries.some(({ body }) => body.type === 'background')).toBe(false);
});

test('a run that has its answer refuses a work', async () => {
  const failures: unknown[] = [];
  const tryIt = async (run: RunContext) => {
    failures.push(await rejectionOf(run.background(() => 'late', { label: 'build' })));
  };
  const agent = new Agent({
    model: scriptedModel(['Done.']),
    lifecycle: [defineLifecycle({ name: 'late', afterAgent: (_text, run) => tryIt(run) })],
  });
  const session = await agent.session({ id: 's' });
  await session.run('Hello.');

  expect(failures).toMatchObject([{ code: 'ERR_RUN_ENDED', message: expect.stringContaining('`run.background`') }]);
});

test.each([
  ['work', 'build', { label: 'build' }],
  ['label', () => 'built', { label: '' }],
  ['label', () => 'built', {}],
  ['name', () => 'built', { label: 'build', name: 'build' }],
  ['options', () => 'built', undefined],
])('refuses an invalid %s', async (option, work, options) => {
  const failures: unknown[] = [];
  const tool = toolOf('build', async (_, { run }) => {
    failures.push(await rejectionOf(run.background(work as never, options as never)));
  });
  const agent = new Agent({ model: scriptedModel([calls('build'), 'Done.']), tools: [tool] });
  const session = await agent.session({ id: 's' });
  await session.run('Build it.');

  expect(failures).toMatchObject([{ code: 'ERR_OPTION_INVALID', option }]);
});

test('a run without a work asks nothing more of the store', async () => {
  const made: string[] = [];
  const inner = new MemorySessionStore();
  const named = Object.fromEntries(
    (['claim', 'append', 'renew', 'post', 'load', 'delete'] as const).map((name) => [
      name,
      (...given: readonly unknown[]) => {
        made.push(name);
        return (inner[name] as (...values: readonly unknown[]) => unknown)(...given);
      },
    ]),
  );
  const store: SessionStore = storeOver(inner, named);
  const agent = new Agent({
    model: scriptedModel([calls('look'), 'Done.']),
    store,
    tools: [toolOf('look', () => 'x')],
  });
  const session = await agent.session({ id: 's' });
  await session.run('Look.');
  await agent.close();

  expect(made).toEqual(['load', 'claim', 'append', 'append', 'append', 'append']);
});
