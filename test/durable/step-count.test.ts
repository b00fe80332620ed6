import { Agent, type AgentLifecycle, type AgentOptions, type LifecycleLoader, MemorySessionStore } from 'keelson';
import { type DurableLifecycle, durable, memoryStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { approveAll } from '../support/durable/errand.js';

interface Row {
  readonly what: string;
  /** The number of steps before decision 201. */
  readonly before: number;
  readonly now: number;
  readonly options?: Partial<AgentOptions>;
  readonly hooks?: readonly string[];
  readonly isSession?: boolean;
  /** True if the first tool is an agent. */
  readonly isNested?: boolean;
}

const loader: LifecycleLoader = {
  name: 'tools',
  load: (host) => void host.use({ tools: [toolOf('loaded', () => '')] }),
};
const audit: AgentLifecycle = { name: 'audit', beforeModel() {}, afterModel() {}, afterAgent: (text) => text };

const ROWS: readonly Row[] = [
  { what: 'three turns with an approval', before: 8, now: 8 },
  { what: 'and a loader', before: 12, now: 8, options: { loaders: [loader] } },
  { what: 'and a lifecycle of `hooks`', before: 16, now: 16, options: { lifecycle: [audit] }, hooks: ['audit'] },
  { what: 'and a session', before: 20, now: 20, isSession: true },
  // Each call of the agent is a step, so that a crash repeats one of them. Before, the whole run was one step.
  { what: 'and an agent as a tool', before: 8, now: 10, isNested: true },
];

test.each(ROWS)('$what: $now steps, and $before before decision 201', async ({ before, now, ...row }) => {
  const step = memoryStep();
  const engine = durable({ step, hooks: row.hooks ?? [] });
  const agent = new Agent(
    engine.options({
      model: scriptedModel([
        calls({ name: 'search', input: { prompt: '1' } }, { name: 'note', input: {} }),
        calls('pay'),
        'Done.',
      ]),
      tools: [
        row.isNested ? nested(engine) : toolOf('search', () => 'found'),
        toolOf('note', () => 'noted'),
        toolOf('pay', () => 'paid'),
      ],
      logger: keepingLogger(),
      ...row.options,
      lifecycle: [approval({ tools: ['pay'] }), ...(row.options?.lifecycle ?? [])],
    }),
  );
  const options = { store: engine.sessions(new MemorySessionStore()) };
  const session = row.isSession ? await agent.session({ id: 's', ...options }) : undefined;
  let result = session ? await session.run('Pay.') : await agent.run('Pay.');
  while (result.status === 'suspended') {
    const resume = await approveAll(result);
    result = session ? await session.run('', { resume }) : await agent.run('', { messages: result.history, resume });
  }

  expect(result.text).toBe('Done.');
  expect(step.journal).toHaveLength(now);
  if (!row.isNested) expect(now).toBeLessThanOrEqual(before);
});

function nested(engine: DurableLifecycle) {
  const model = scriptedModel([calls('look'), 'Found.']);
  const options = engine.options({ name: 'search', model, tools: [toolOf('look', () => 'far')] });
  return new Agent(options).asTool({ description: 'Searches.' });
}
