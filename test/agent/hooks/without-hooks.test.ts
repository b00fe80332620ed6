import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Agent } from '../../../src/agent/agent.js';
import type { AgentLifecycle } from '../../../src/lifecycle/lifecycle.js';
import { baseSuite, type MakeAgent } from '../../support/base-suite.js';
import { type Plant, plantedAgent } from '../../support/lifecycle/planted-library.js';

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

const faults: Readonly<Record<string, Plant>> = {
  'the text gets an extra space': plant(
    'model/message.ts',
    /text \+= \(text && gap \+ part\.text\) \|\| part\.text/,
    "text += ((text && gap + part.text) || part.text) + ' '",
  ),
  'an error result has no error flag': plant(
    'tools/tool-result.ts',
    /return (\{ content), isError: true \}/,
    'return $1 }',
  ),
  'tokens are not counted': plant('model/usage.ts', /sum\.totalTokens \+=/, 'void '),
  'a hook that was not registered is called': plant(
    'lifecycle/chain.ts',
    /(export function compileChain\(\s*(\w+)[^{]*\{)/,
    "$1 $2 = [{ lifecycle: { afterModel: () => ({ type: 'approve' }) }, name: 'x', priority: 50, status: {} } as never, ...$2];",
  ),
};

function plant(file: string, text: RegExp, replacement: string): Plant {
  return { file, change: (source) => source.replace(text, replacement) };
}

// covers: S4-NFR4.4
test.each(Object.entries(faults))(
  'the base suite reports a change of the behaviour without hooks: %s',
  async (_fault, change) => {
    const Faulty = await plantedAgent([change]);
    const outcomes = await Promise.allSettled(baseSuite.map(([, run]) => run((options) => new Faulty(options))));

    expect(outcomes.filter(({ status }) => status === 'rejected')).not.toEqual([]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).not.toEqual([]);
  },
);
