import { Agent, type JsonValue, MemorySessionStore } from 'keelson';
import { durable, type JournalEntry, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel, streams } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import { expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { endingAt } from '../support/durable/ending-step.js';
import { approveAll } from '../support/durable/errand.js';

function makeWorld() {
  const store = new MemorySessionStore();
  const runLog = new MemoryRunLog();
  const runs = new Set<string>();
  /** One attempt of a run with a tool and an approval, in a process of its own. */
  const attempt = async (step: Step) => {
    const model = scriptedModel(({ messages }) => {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      return [calls('look'), calls('pay')][turn] ?? streams(['Do', 'ne.']);
    });
    const tools = ['look', 'pay'].map((name) => toolOf(name, () => name));
    const options = { model, tools, lifecycle: [approval({ tools: ['pay'] })], store, logger: keepingLogger() };
    const agent = new Agent(durable({ step }).options(options));
    agent.on('run-start', ({ runId }) => void runs.add(runId));
    const session = await agent.session({ id: 's', runLog });
    const suspended = await session.run('Order.');
    return session.run('', { resume: await approveAll(suspended) });
  };
  /** The types of the events in the logs of both runs. */
  const events = async () => {
    const pages = await Promise.all([...runs].map((run) => runLog.read(run, 0)));
    return pages.flatMap((page) => page?.events.map(({ event }) => typeOf(event)) ?? []);
  };
  return { attempt, events };
}

const typeOf = (event: JsonValue) => String((event as { type: unknown }).type);
const copyOf = (journal: MemoryStep['journal']): readonly JournalEntry[] => JSON.parse(JSON.stringify(journal));

test('the log of a durable run gets each event once, also if later attempts repeat the run', async () => {
  const whole = memoryStep();
  const undisturbed = makeWorld();
  await undisturbed.attempt(whole);
  const expected = await undisturbed.events();
  expect(expected.filter((type) => type === 'run-end')).toHaveLength(2);

  for (let at = 1; at <= whole.journal.length; at += 1) {
    const world = makeWorld();
    const first = endingAt(at, 'before');
    await world.attempt(first).catch(() => {});
    await pause();

    expect((await world.attempt(memoryStep({ journal: copyOf(first.journal) }))).text, `step ${at}`).toBe('Done.');

    const seen = await world.events();
    const count = (types: readonly string[], one: string) => types.filter((type) => type === one).length;
    for (const type of ['tool-end', 'run-start', 'decision']) {
      expect(count(seen, type), `${type}, step ${at}`).toBe(count(expected, type));
    }
  }
});
