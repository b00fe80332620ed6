import { Agent, type AgentOptions, MemorySessionStore, type RunResult } from 'keelson';
import {
  type DurableLifecycle,
  defineStep,
  durable,
  type JournalEntry,
  type MemoryStep,
  memoryStep,
  type Step,
} from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { endingAt } from '../support/durable/ending-step.js';
import { approveAll } from '../support/durable/errand.js';

type Work = readonly [name: string, key: string];

/** The way in which the nested agent is created. */
type Making = 'with the options' | 'without options';

interface Setting {
  readonly making: Making;
  readonly store?: MemorySessionStore | undefined;
}

/** The program of one process: an agent that asks another one, whose payment needs approval. */
function program(step: Step, works: Work[], { making, store }: Setting): Agent {
  const engine = durable({ step });
  const work = (name: string) =>
    toolOf(name, (_input, { idempotencyKey }) => {
      works.push([name, idempotencyKey]);
      return `${name} is done`;
    });
  const turn = (messages: readonly { readonly role: string }[]) =>
    messages.filter(({ role }) => role === 'assistant').length;
  const inside: AgentOptions = {
    name: 'buyer',
    // As models do, it gives its calls other ids each time.
    model: scriptedModel(({ messages }) => {
      works.push([`buyer ${turn(messages) + 1}`, '']);
      const id = () => crypto.randomUUID();
      const script = [calls({ name: 'look', id: id() }), calls({ name: 'pay', id: id() }), says('Bought.')];
      return script[turn(messages)] ?? 'Over.';
    }),
    tools: ['look', 'pay'].map(work),
    lifecycle: [approval({ tools: ['pay'] })],
    logger: keepingLogger(),
  };
  const buyer = new Agent(making === 'with the options' ? engine.options(inside) : inside);
  return new Agent(
    engine.options({
      name: 'boss',
      model: scriptedModel(
        ({ messages }) =>
          [calls({ name: 'buyer', input: { prompt: 'Buy.' } }), calls('note')][turn(messages)] ?? 'Done.',
      ),
      tools: [buyer.asTool({ description: 'Buys.' }), work('note')],
      logger: keepingLogger(),
      ...(store && { store }),
    }),
  );
}

async function order(agent: Agent, hasSession: boolean): Promise<RunResult> {
  const session = hasSession ? await agent.session({ id: 's' }) : undefined;
  let result = session === undefined ? await agent.run('Order.') : await session.run('Order.');
  while (result.status === 'suspended') {
    const resume = await approveAll(result);
    result =
      session === undefined
        ? await agent.run('', { messages: result.history, resume })
        : await session.run('', { resume });
  }
  return result;
}

const namesOf = (journal: MemoryStep['journal']) => journal.map((entry) => entry?.name);
const copyOf = (journal: MemoryStep['journal']): readonly JournalEntry[] => JSON.parse(JSON.stringify(journal));
const MAKINGS: readonly Making[] = ['with the options', 'without options'];

describe('an agent inside of a durable run', () => {
  test.each(MAKINGS)('has steps of its own, and its approval waits: %s', async (making) => {
    const step = memoryStep();
    const works: Work[] = [];
    const agent = program(step, works, { making });

    const suspended = await agent.run('Order.');
    expect(suspended).toMatchObject({ status: 'suspended', pending: [{ name: 'pay', agent: 'buyer' }] });
    const { text } = await agent.run('', { messages: suspended.history, resume: await approveAll(suspended) });

    expect(text).toBe('Done.');
    expect(works.map(([name]) => name)).toEqual(['buyer 1', 'look', 'buyer 2', 'pay', 'buyer 3', 'note']);
    expect(namesOf(step.journal).map((name) => name?.replace(/[0-9a-f-]{36}/, 'id'))).toEqual([
      ...['start', 'model 1', 'model 1, run 2', 'tool look id, run 2', 'model 2, run 2', 'tool pay id, run 2'],
      ...['tool pay id, run 4', 'model 1, run 4', 'model 1, run 3', 'tool note call_2, run 3', 'model 2, run 3'],
    ]);
  });

  test.each(MAKINGS.flatMap((making) => [false, true].map((hasSession) => ({ making, hasSession }))))(
    'goes on after its last stored step, wherever an attempt ends: $making, in a session: $hasSession',
    async ({ making, hasSession }) => {
      const whole = memoryStep();
      const store = () => (hasSession ? new MemorySessionStore() : undefined);
      const undisturbed = await order(program(whole, [], { making, store: store() }), hasSession);

      for (let at = 1; at <= whole.journal.length; at += 1) {
        for (const phase of ['before', 'after'] as const) {
          const works: Work[] = [];
          const kept = store();
          const first = endingAt(at, phase);
          await order(program(first, works, { making, store: kept }), hasSession).catch(() => {});
          await pause();
          const journal = copyOf(first.journal);

          const result = await order(program(memoryStep({ journal }), works, { making, store: kept }), hasSession);

          const place = `${phase} step ${at}, ${whole.journal[at - 1]?.name}`;
          expect([result.text, result.usage], place).toEqual([undisturbed.text, undisturbed.usage]);
          const ran = works.filter(([name]) => name === 'pay' || name === 'look');
          expect(new Set(ran.map(([, key]) => key)).size, place).toBe(2);
          expect(works.length - new Set(works.map(([name]) => name)).size, place).toBeLessThan(2);
        }
      }
    },
  );

  test('steps have different keys, so an engine may find them by their keys', async () => {
    const stored = new Map<string, string>();
    const step = () =>
      defineStep('keys', async (_name, run, { key }) => {
        if (!stored.has(key)) stored.set(key, JSON.stringify(await run()));
        return JSON.parse(stored.get(key) as string);
      });
    const works: Work[] = [];
    const setting = { making: 'without options', store: new MemorySessionStore() } as const;

    const first = await order(program(step(), works, setting), true);
    const again = await order(program(step(), works, setting), true);

    expect([first.text, again.text]).toEqual(['Done.', 'Done.']);
    expect(works.map(([name]) => name)).toEqual(['buyer 1', 'look', 'buyer 2', 'pay', 'buyer 3', 'note']);
  });

  test('is refused with the options of another engine', async () => {
    const other = (engine: DurableLifecycle) =>
      new Agent(engine.options({ name: 'inside', model: scriptedModel([says('Hi.')]), logger: keepingLogger() }));
    const engine = durable({ step: memoryStep() });
    const inside = other(durable({ step: memoryStep({ id: 'other' }) }));
    const agent = new Agent(
      engine.options({
        model: scriptedModel([calls({ name: 'inside', input: { prompt: 'Hi.' } }), says('Done.')]),
        tools: [inside.asTool({ description: 'Answers.' })],
        logger: keepingLogger(),
      }),
    );

    const { history } = await agent.run('Hi.');

    expect(JSON.stringify(history)).toContain(
      'has the options of another engine than the agent that runs it as a tool',
    );
  });
});
