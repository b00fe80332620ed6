import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, type AgentLifecycle, HookAction, type Model } from 'keelson';
import { describe, expect, test } from 'vitest';
import { baseSuite, type MakeAgent } from '../../support/base-suite.js';

const SHA_256 = '231ef0903828fae7eaa1288c6b2716aab98a2daec1cccba9a52a2c3e0ff939d5';

const noop: AgentLifecycle = {
  beforeAgent: (input) => input,
  beforeModel: (messages) => messages,
  wrapModelCall: (request, next) => next(request),
  afterModel: () => {},
  wrapToolCall: (call, next) => next(call),
  afterAgent: (text) => text,
};
const later: AgentLifecycle = {
  beforeAgent: async () => {},
  beforeModel: async () => {},
  wrapModelCall: async (_, next) => await next(),
  afterModel: async () => {},
  wrapToolCall: async (_, next) => await next(),
  afterAgent: async () => {},
};
const makers: Readonly<Record<string, MakeAgent>> = {
  'without hooks': (options) => new Agent(options),
  'with an empty lifecycle': (options) => new Agent({ ...options, lifecycle: [{}] }),
  'with one no-op hook': (options) => new Agent({ ...options, lifecycle: [noop] }),
  'with one no-op hook that is asynchronous': (options) => new Agent({ ...options, lifecycle: [later] }),
};

// covers: S4-NFR2.1, S4-NFR2.2, S4-FR4.AC5, S4-FR1.2
describe.each(Object.entries(makers))('%s', (_how, makeAgent) => {
  test.each(baseSuite)('%s', (_title, run) => run(makeAgent));
});

test('S4-NFR2.1: the base suite has at least sixteen cases, uses no hooks, and is unmodified', () => {
  const text = readFileSync(new URL('../../support/base-suite.ts', import.meta.url), 'utf8');

  expect(baseSuite.length).toBeGreaterThanOrEqual(16);
  expect(text.match(/lifecycle|before[A-Z]|after[A-Z]|wrap[A-Z]/g)).toBeNull();
  expect(createHash('sha256').update(text).digest('hex')).toBe(SHA_256);
});

/** Makes agents that break a rule without hooks: a lifecycle that the caller did not register does so. */
function faultyBy(hooks: AgentLifecycle): MakeAgent {
  return (options) => new Agent({ ...options, lifecycle: [hooks] });
}

function uncounted(model: Model): Model {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { id: model.id, generate: async (request) => ({ ...(await model.generate(request)), usage }) };
}

const faults: Readonly<Record<string, MakeAgent>> = {
  'the text gets an extra space': faultyBy({ afterAgent: (text) => `${text} ` }),
  'an error result has no error flag': faultyBy({
    wrapToolCall: async (_, next) => ({ content: (await next()).content }),
  }),
  'tokens are not counted': (options) => new Agent({ ...options, model: uncounted(options.model) }),
  'a hook that was not registered is called': faultyBy({ afterModel: () => HookAction.Approve }),
};

// covers: S4-NFR4.4
test.each(Object.entries(faults))(
  'the base suite reports a change of the behaviour without hooks: %s',
  async (_fault, makeAgent) => {
    const outcomes = await Promise.allSettled(baseSuite.map(([, run]) => run(makeAgent)));

    expect(outcomes.filter(({ status }) => status === 'rejected')).not.toEqual([]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).not.toEqual([]);
  },
);
