import { Agent, type AgentLifecycle, type AgentOptions, HookAction } from 'keelson';
import { calls, type HookName, recorder, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { blocksOf, readPage, rowsOf } from '../support/docs/doc-files.js';

const page = readPage('docs/lifecycle.md');
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const echo: NonNullable<AgentOptions['tools']> = [
  {
    name: 'echo',
    description: 'Gives back its arguments.',
    inputSchema: { type: 'object' },
    check: (input) => ({ value: input }),
    execute: (input) => JSON.stringify(input),
  },
];
const script = () => scriptedModel([calls('echo', { a: 1 }), says('Done.')], { perRun: true });

function createAgent(...lifecycle: readonly AgentLifecycle[]): Agent {
  return new Agent({ model: script(), tools: echo, lifecycle, logger: silent });
}

describe('the picture in lifecycle.md', () => {
  const [picture] = blocksOf({ path: '', text: page }).filter(({ language }) => language === 'text');
  const words = picture?.code.match(/\b(?:on|before|wrap|after)[A-Z]\w*|\b(?:run|turn|model|tool)-\w+/g) ?? [];

  test('shows every hook and event once, in order', async () => {
    const record = recorder();
    const agent = createAgent(record.lifecycle('part'));
    record.listenTo(agent);
    const session = await agent.session();
    await session.run('Hello');
    await session.close();
    await agent.close();
    const fired = [...new Set(record.log.filter((line) => !line.startsWith('<')).map(bare))];
    const rest = words.filter((word) => !fired.includes(word));

    expect(words.filter((word) => fired.includes(word))).toEqual(fired);
    expect(rest).toEqual(['onError', 'run-error']);
  });

  test('shows onError and run-error in the right place', async () => {
    const record = recorder();
    const agent = createAgent(record.lifecycle('part'), {
      afterModel: () => {
        throw new Error('boom');
      },
    });
    record.listenTo(agent);
    await expect(agent.run('Hello')).rejects.toThrow('boom');
    const fired = [...new Set(record.log.filter((line) => !line.startsWith('<')).map(bare))];

    expect(words.filter((word) => fired.includes(word))).toEqual(fired);
    expect(fired.slice(-3)).toEqual(['onError', 'run-error', 'run-end']);
  });
});

function bare(line: string): string {
  return line.replace(/^part\./, '').replace(/>$/, '');
}

const POLICIES = ['throw', 'continue', 'block'] as const;
const matrix = rowsOf(page)
  .filter((row) => row.length === 4 && row[0]?.startsWith('`'))
  .map((row) => row.map((cell) => cell.replaceAll('`', '')) as [HookName, string, string, string]);

/** Runs an agent with one failing hook. Returns the outcome in the words of the table. */
async function outcomeOf(point: HookName, onFailure: (typeof POLICIES)[number], fail: () => never): Promise<string> {
  const logged: string[] = [];
  const rejects: AgentLifecycle = { beforeModel: () => (point === 'onError' ? HookAction.reject('no') : undefined) };
  const part: AgentLifecycle = { name: 'part', onFailure, timeoutMs: 20, [point]: fail };
  const logger = { ...silent, error: (message: string) => void logged.push(message) };
  const agent = new Agent({ model: script(), tools: echo, lifecycle: [rejects, part], logger });
  try {
    await using _closed = agent;
    const session = await agent.session();
    const result = await session
      .run('Hello')
      .catch((error) => (point === 'onError' ? undefined : Promise.reject(error)));
    await session.close();
    if (JSON.stringify(result?.messages ?? []).includes('was blocked')) return 'error result';
    if (point !== 'onError' && point !== 'onShutdown') return 'continues';
  } catch (error) {
    return (error as Error).name;
  }
  return logged.some((line) => line.includes(`"part" failed`) || line.includes('of "part" failed'))
    ? 'logged'
    : 'silent';
}

describe('the table of failures in lifecycle.md', () => {
  test('has a row for each hook', () => {
    expect(matrix.map(([point]) => point)).toEqual([
      ...[
        'onInit',
        'onSessionStart',
        'beforeAgent',
        'beforeModel',
        'beforeToolSelection',
        'wrapModelCall',
        'afterModel',
      ],
      ...['wrapToolCall', 'afterAgent', 'onError', 'onSessionEnd', 'onShutdown'],
    ]);
  });

  test.each(matrix)(
    'describes the effect of an exception, a rejection and a timeout in %s',
    async (point, ...cells) => {
      const boom = () => {
        throw new Error('boom');
      };
      const failures = [boom, (async () => boom()) as never, (() => new Promise(() => {})) as never];
      for (const fail of failures) {
        const outcomes = await Promise.all(POLICIES.map((onFailure) => outcomeOf(point, onFailure, fail)));
        expect(outcomes).toEqual(cells);
      }
    },
  );
});
