import fc from 'fast-check';
import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  handoff,
  type Message,
  type RunError,
  type RunResult,
} from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { unpairedEvents } from '../../support/agent/event-pairs.js';
import { pairingProblem } from '../../support/agent/pairing.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';

const NAMES = ['ann', 'bob', 'cid'] as const;
type Name = (typeof NAMES)[number];

const { execute: _execute, ...page } = toolOf('page', () => {});

const call = fc.oneof(
  fc.constantFrom('echo', 'page', 'missing'),
  fc.constantFrom(...NAMES).map((name) => `to_${name}`),
);
/** What the model does in each turn, whoever has the conversation. An empty turn is an answer. */
const turns = fc.array(fc.array(call, { maxLength: 3 }), { maxLength: 8 });
const hook = fc.constantFrom('beforeAgent', 'beforeModel', 'wrapToolCall', 'afterModel', 'afterAgent');
/** A hook of an agent that throws when it is called for the nth time. */
const breaker = fc.record({
  agent: fc.constantFrom(...NAMES),
  hook,
  nth: fc.integer({ min: 1, max: 3 }),
  priority: fc.constantFrom(40, 60),
});
const scenario = fc.record({ turns, breaker: fc.option(breaker, { freq: 4 }) });
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function throwing({ hook, nth, priority }: typeof breaker extends fc.Arbitrary<infer T> ? T : never): AgentLifecycle {
  let count = 0;
  const act = (...given: readonly unknown[]) => {
    count += 1;
    if (count === nth) throw new RangeError('boom');
    return hook.startsWith('wrap') ? (given[1] as () => unknown)() : undefined;
  };
  return { name: 'breaker', priority, [hook]: act } as AgentLifecycle;
}

class World {
  /** By agent: `in` for each `beforeAgent`, and `out` for each `afterAgent` or `onError`. */
  readonly passes: Record<Name, string[]> = { ann: [], bob: [], cid: [] };
  readonly agents: Record<Name, Agent>;
  /** The agents that the model was asked for, in order. */
  readonly asked: Name[] = [];
  private readonly script: ScriptEntry[];
  private ids = 0;

  constructor({ turns, breaker }: Scenario) {
    this.script = turns.map((names) => {
      const made = names.map((name) => ({ name, id: `c${this.ids++}`, input: name === 'echo' ? { text: 'x' } : {} }));
      const [first, ...rest] = made;
      return first === undefined ? 'Done.' : calls(first, ...rest);
    });
    const make = (name: Name) => {
      const passed = this.passes[name];
      const notes: AgentLifecycle = {
        beforeAgent: () => void passed.push('in'),
        afterAgent: () => void passed.push('out'),
        onError: () => void passed.push('out'),
      };
      return new Agent({
        name,
        model: scriptedModel(() => {
          this.asked.push(name);
          return this.script.shift() ?? 'The end.';
        }),
        tools: [
          echo,
          page,
          ...NAMES.map((to) => handoff(() => this.agents[to], { name: `to_${to}`, description: 'x' })),
        ],
        lifecycle: breaker?.agent === name ? [throwing(breaker), notes] : [notes],
      });
    };
    this.agents = { ann: make('ann'), bob: make('bob'), cid: make('cid') };
  }

  /** Runs until nothing waits. Gives the result of the page to each call that waits. */
  async play(): Promise<RunResult | RunError> {
    let messages: readonly Message[] = [];
    for (let resume: Record<string, { result: string }> | undefined; ; ) {
      const stream = this.agents.ann.stream(resume === undefined ? 'Hi.' : '', { messages, resume });
      const events: AgentEvent[] = [];
      const outcome = await (async () => {
        for await (const event of stream) events.push(event);
        return stream.result;
      })().catch((error: RunError) => error);
      expect(unpairedEvents(events)).toEqual([]);
      const { status, pending } = outcome as Partial<RunResult>;
      expect(pairingProblem(outcome.history, status === 'suspended')).toBeUndefined();
      const spent = events.filter(({ type }) => type === 'model-end').length;
      expect(outcome.usage.totalTokens).toBe(spent * 15);
      if (status !== 'suspended') return outcome;
      messages = JSON.parse(JSON.stringify(outcome.history));
      resume = Object.fromEntries(pending?.map(({ id }) => [id, { result: 'ok' }]) ?? []);
    }
  }
}

/** The agent of each assistant message, and the one that goes on, by the results of the calls alone. */
function speakersIn(messages: readonly Message[]): { readonly spoken: readonly string[]; readonly next: string } {
  const spoken: string[] = [];
  let next = 'ann';
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') spoken.push(`${next} ${message.agent ?? 'ann'}`);
    if (message.role !== 'tool') continue;
    const done = message.content.find(({ name, isError }) => name.startsWith('to_') && !isError);
    next = done?.name.slice('to_'.length) ?? next;
    expect(
      message.content.filter(({ name, isError }) => name.startsWith('to_') && !isError).length,
      `${at}`,
    ).toBeLessThan(2);
  }
  return { spoken, next };
}

const rules = fc.asyncProperty(scenario, async (given) => {
  const world = new World(given);

  const { history } = await world.play();

  for (const passes of Object.values(world.passes)) {
    expect(passes.filter((_, index) => index % 2 === 0).every((pass) => pass === 'in')).toBe(true);
    expect(passes.filter((_, index) => index % 2 === 1).every((pass) => pass === 'out')).toBe(true);
    expect(passes.length % 2).toBe(0);
  }
  const { spoken, next } = speakersIn(history);
  for (const pair of spoken) expect(pair.split(' ')[0]).toBe(pair.split(' ')[1]);
  for (const agent of Object.values(world.agents)) expect(agent.status().runs).toBe(0);

  const again = new World({ ...given, turns: [], breaker: null });
  await again.agents.ann.run('And now?', { messages: JSON.parse(JSON.stringify(history)) });
  expect(again.asked).toEqual([next]);
});

test('each lifecycle is entered and left in turn, the messages are valid, and they tell who goes on', async () => {
  await fc.assert(rules, { numRuns: 150 });
}, 60_000);
