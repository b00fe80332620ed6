import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { Agent, type AgentLifecycle, type LifecycleLoader } from 'keelson';
import { conceptAugmentation, conceptModule, type ToolExecuteBefore } from 'keelson/concepts';
import { plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { block, keptLog, known } from '../support/concepts/augmented-run.js';

const plain = fileURLToPath(new URL('../fixtures/opencode/maenifold.mjs', import.meta.url));

/** Calls the module's handler. Returns the arguments after the call and the log records. */
async function handled(args: Record<string, unknown>, options: Parameters<typeof conceptModule>[0] = {}) {
  const records: { body: { service: string; level: string; message: string; extra: unknown } }[] = [];
  const client = { app: { log: async (record: never) => void records.push(record) } };
  const hooks = await conceptModule({ buildContext: known, ...options })({ client });
  const output = { args };
  await hooks['tool.execute.before']({ tool: 'bash', sessionID: 's1', callID: 'c1' }, output);
  return { args: output.args, records: records.map(({ body }) => body) };
}

test("S2-2.1: the handler accepts opencode's arguments", () => {
  expectTypeOf<ToolExecuteBefore>().toBeCallableWith(
    { tool: 'bash', sessionID: 's', callID: 'c' },
    { args: { command: 'ls' } },
  );
  expectTypeOf<ReturnType<ToolExecuteBefore>>().toEqualTypeOf<Promise<void>>();
});

describe("S2-6.8: each log record of the opencode module has opencode's form", () => {
  const extra = { sessionID: 's1' };

  test('for detected concepts and the augmentation', async () => {
    const given = { command: 'test [[auth]]' };
    const { args, records } = await handled(given, {
      clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} },
    });

    expect(args).toBe(given);
    expect(args).toEqual({ command: `${block('about auth')}\n\ntest [[auth]]` });
    expect(records).toEqual([
      {
        service: 'maenifold',
        level: 'info',
        message: 'Detected concepts in bash: auth',
        extra: { ...extra, tool: 'bash', concepts: ['auth'] },
      },
      {
        service: 'maenifold',
        level: 'info',
        message: 'Augmented bash with 1 concept(s) in 0ms',
        extra: { ...extra, tool: 'bash', conceptCount: 1, elapsed: 0 },
      },
    ]);
  });

  test.each([
    [{ count: 5 }, 'no_text_args'],
    [{ command: 'ls -la' }, 'no_concepts'],
  ])('S2-6.1: %j is skipped', async (given, reason) => {
    const { args, records } = await handled(given);

    expect(args).toEqual(given);
    expect(records).toEqual([
      { service: 'maenifold', level: 'debug', message: 'Skipping augmentation for bash', extra: { ...extra, reason } },
    ]);
  });

  test('S2-6.5, S2-6.6: logs a warning for frozen arguments and leaves them unchanged', async () => {
    const given = Object.freeze({ command: '[[a]]' });
    const { args, records } = await handled(given);

    expect(args).toEqual({ command: '[[a]]' });
    expect(records.at(-1)).toEqual({
      service: 'maenifold',
      level: 'warn',
      message: expect.stringMatching(/^Augmentation failed for bash: TypeError: /),
      extra: { ...extra, tool: 'bash', error: expect.stringMatching(/^TypeError: /) },
    });
  });

  test('removes control characters from the names and errors in log messages', async () => {
    const buildContext = () => {
      throw new Error('\u001b[2Jgone');
    };
    const { records } = await handled({ query: '[[\u001b]0;x\u0007]] [[a\u001b[2Jb\nc]]' }, { buildContext });

    expect(records.map(({ message }) => message)).toEqual([
      'Detected concepts in bash: ab\nc',
      'BuildContext failed for [[ab\nc]]',
      'Augmentation failed for bash: Error: gone',
    ]);
    expect(records[0]?.extra).toMatchObject({ concepts: ['a\u001b[2Jb\nc'] });
  });

  test('for a failed lookup with another label', async () => {
    const { records } = await handled(
      { options: { query: '[[a]]' } },
      {
        label: 'atlas',
        buildContext() {
          throw new Error('no graph');
        },
      },
    );

    expect(records.slice(1)).toMatchObject([
      { service: 'atlas', level: 'error', message: 'BuildContext failed for [[a]]' },
      { service: 'atlas', level: 'warn', message: 'Augmentation failed for bash: Error: no graph' },
    ]);
  });
});

/** Returns a function that runs a tool call and returns the arguments that the tool received. */
function receiver(part: { lifecycle?: AgentLifecycle; loader?: LifecycleLoader }) {
  const state = { input: undefined as unknown, received: undefined as unknown };
  const agent = new Agent({
    model: scriptedModel(({ messages }) => (messages.length === 1 ? calls('work', state.input) : says('end')), {
      record: false,
    }),
    tools: [
      toolOf('work', (given) => {
        state.received = given;
        return 'done';
      }),
    ],
    lifecycle: part.lifecycle ? [part.lifecycle] : [],
    loaders: part.loader ? [part.loader] : [],
    logger: keptLog().logger,
  });
  return async (input: unknown) => {
    state.input = input;
    await agent.run('go');
    return state.received;
  };
}

const field = fc.constantFrom(
  'command',
  'content',
  'prompt',
  'query',
  'message',
  'text',
  'input',
  'other',
  'path',
  '[[k]]',
  '_maenifold_context',
);
const text = fc.string({ unit: fc.constantFrom('[[', ']]', '[', ']', 'a', 'b', ' ', 'auth'), maxLength: 12 });
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(field, tie('node'), { maxKeys: 5 }),
  ),
}));
const args = fc.record({
  top: fc.dictionary(field, node, { maxKeys: 6 }),
  levels: fc.oneof(
    { weight: 20, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000 }) },
  ),
  bottom: text,
});

function inputOf({ top, levels, bottom }: { top: Record<string, unknown>; levels: number; bottom: string }): object {
  let deep: unknown = bottom;
  for (let level = 0; level < levels; level += 1) deep = level % 2 === 0 ? { deep } : [deep];
  return levels === 0 ? { ...top } : { ...top, deep };
}

test('the reference handler, the module and the lifecycle pass the same arguments to a tool', async () => {
  const contextOf = (name: string) => (name.length % 3 === 0 ? '' : `about ${name}`);
  Object.assign(globalThis, { maenifoldContext: contextOf });
  const buildContext = ({ conceptName }: { conceptName: string }) => contextOf(conceptName);
  const reference = receiver({ loader: plugins({ config: [{ path: plain }] }) });
  const lifecycle = receiver({ lifecycle: conceptAugmentation({ buildContext }) });
  const handler = (await conceptModule({ buildContext })({ client: { app: { log() {} } } }))['tool.execute.before'];
  let augmented = 0;

  await fc.assert(
    fc.asyncProperty(args, async (given) => {
      const expected = await reference(inputOf(given));
      const output = { args: inputOf(given) as Record<string, unknown> };
      await handler({ tool: 'work', sessionID: 's', callID: 'c' }, output);

      expect(await lifecycle(inputOf(given))).toEqual(expected);
      expect(output.args).toEqual(expected);
      if (JSON.stringify(expected).includes('about')) augmented += 1;
    }),
    { numRuns: 500 },
  );
  expect(augmented).toBeGreaterThan(25);
});

test('the lifecycle handles 20,000 nested levels and circular arguments', async () => {
  const deep = inputOf({ top: { text: 'see' }, levels: 20_000, bottom: '[[bottom]]' });
  const circle: Record<string, unknown> = { text: '[[round]]' };
  circle.self = [circle];
  const got: unknown[] = [];
  for (const input of [deep, circle]) {
    const part: AgentLifecycle = { priority: 60, wrapToolCall: (call, next) => next({ ...call, input }) };
    const agent = new Agent({
      model: scriptedModel([calls('work', {}), says('end')]),
      tools: [
        toolOf('work', (given) => {
          got.push((given as { text: string }).text);
          return 'done';
        }),
      ],
      lifecycle: [part, conceptAugmentation({ buildContext: known })],
      logger: keptLog().logger,
    });
    await agent.run('go');
  }

  expect(got).toEqual([`${block('about bottom')}\n\nsee`, `${block('about round')}\n\n[[round]]`]);
});
