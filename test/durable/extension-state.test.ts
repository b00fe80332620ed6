import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, MemorySessionStore, type RunResult } from 'keelson';
import { durable, type JournalEntry, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { defineExtension, type ExtensionContext, extensions } from 'keelson/extension';
import { FileStateStore } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { endingAt } from '../support/durable/ending-step.js';
import { approveAll } from '../support/durable/errand.js';

const root = mkdtempSync(join(tmpdir(), 'keelson-counts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Writes the number of outputs to the state. */
type Count = (context: ExtensionContext) => Promise<unknown>;

const WAYS: readonly { readonly way: string; readonly count: Count }[] = [
  { way: 'setState', count: async (state) => state.setState('n', ((await state.getState<number>('n')) ?? 0) + 1) },
  { way: 'updateState', count: (state) => state.updateState<number>('n', (n = 0) => n + 1) },
  {
    way: 'clearState',
    async count(state) {
      const n = (await state.getState<number>('n')) ?? 0;
      await state.clearState();
      await state.setState('n', n + 1);
    },
  },
];

const LIMITS = { ttlMs: 3_600_000, sessionTtlMs: 86_400_000, extensionBytes: 1e7, sessionBytes: 6.4e7 };

interface World {
  readonly sessions: MemorySessionStore;
  readonly folder: string;
  readonly count: Count;
  readonly hooks: readonly string[];
}

function makeWorld(count: Count, hooks: readonly string[]): World {
  return { sessions: new MemorySessionStore(), folder: mkdtempSync(join(root, 'w-')), count, hooks };
}

/** One attempt of a run with three outputs and an approval, in a process of its own. */
async function attempt(step: Step, { sessions, folder, count, hooks }: World): Promise<RunResult> {
  const counter = defineExtension({
    id: 'counter',
    onLlmOutput: async (_text, context) => void (await count(context)),
  });
  const loaders = [extensions([counter], { state: new FileStateStore({ folder }) })];
  const model = scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    return [calls('mail'), calls('pay')][turn] ?? 'Done.';
  });
  const tools = ['mail', 'pay'].map((name) => toolOf(name, () => name));
  const lifecycle = [approval({ tools: ['pay'] })];
  const options = { model, tools, lifecycle, loaders, store: sessions, logger: keepingLogger() };
  const session = await new Agent(durable({ step, hooks }).options(options)).session({ id: 's' });
  let result = await session.run('Order.');
  while (result.status === 'suspended') result = await session.run('', { resume: await approveAll(result) });
  return result;
}

async function countOf({ folder }: World): Promise<unknown> {
  const scope = { extension: 'counter', session: 's' };
  return Number(await new FileStateStore({ folder }).get(scope, 'n', LIMITS));
}

const copyOf = (journal: MemoryStep['journal']): readonly JournalEntry[] => JSON.parse(JSON.stringify(journal));

describe('the state of an extension in a durable run', () => {
  const rows = WAYS.flatMap((way) => [[], ['extensions']].map((hooks) => ({ ...way, hooks })));

  test.each(rows)('counts each output once, wherever an attempt ends: $way, hooks $hooks', async ({ count, hooks }) => {
    const whole = memoryStep();
    const undisturbed = makeWorld(count, hooks);
    await attempt(whole, undisturbed);
    expect(await countOf(undisturbed)).toBe(3);

    for (let at = 1; at <= whole.journal.length; at += 1) {
      for (const phase of ['before', 'after'] as const) {
        const world = makeWorld(count, hooks);
        const first = endingAt(at, phase);
        await attempt(first, world).catch(() => {});
        await pause();

        const { text } = await attempt(memoryStep({ journal: copyOf(first.journal) }), world);

        expect([text, await countOf(world)], `${phase} step ${at}`).toEqual(['Done.', 3]);
      }
    }
  });

  test('a replay of the whole run counts nothing again', async () => {
    const world = makeWorld(WAYS[0]?.count as Count, []);
    const step = memoryStep();
    await attempt(step, world);

    await attempt(memoryStep({ journal: copyOf(step.journal) }), world);

    expect(await countOf(world)).toBe(3);
    expect(step.journal.map((entry) => entry?.name)).toContain('hook extensions.afterModel 2');
  });
});
