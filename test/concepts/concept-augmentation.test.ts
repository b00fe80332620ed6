import { Agent, defineTool, type ToolCallRequest } from 'keelson';
import { type ConceptRequest, conceptAugmentation } from 'keelson/concepts';
import { assertLifecycle, calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../support/agent/sample-tools.js';
import { augmentedRun, block, known } from '../support/concepts/augmented-run.js';

/** Adds a value to a list and returns the tool result `done`. */
function record(list: unknown[], value: unknown): string {
  list.push(value);
  return 'done';
}

function recordInput(list: unknown[], call: ToolCallRequest): ToolCallRequest {
  list.push(call.input);
  return call;
}

// covers: S2-FR4.2, S2-FR4.4, S2-4.2e, S2-4.2b
test("S2-8.1a: puts the context in front of a text field's content", async () => {
  const { received } = await augmentedRun({ command: 'test [[auth]]', other: 1 });

  expect(received).toEqual([{ command: `${block('about auth')}\n\ntest [[auth]]`, other: 1 }]);
});

// covers: S2-4.1c, S2-4.3c, S2-4.3a
test('S2-8.1b: joins the contexts of several concepts with a rule inside one pair of comments', async () => {
  const { received } = await augmentedRun({ prompt: '[[JWT]] and [[OAuth]]' });

  expect(received).toEqual([{ prompt: `${block('about JWT\n\n---\n\nabout OAuth')}\n\n[[JWT]] and [[OAuth]]` }]);
});

// covers: S2-4.2d
test('S2-8.1c: adds the context as a property without comments if there is no top-level text field', async () => {
  const { received } = await augmentedRun({ options: { query: '[[search]]' } });

  expect(received).toEqual([{ options: { query: '[[search]]' }, _maenifold_context: 'about search' }]);
});

test('S2-8.1d: finds links in strings inside arrays', async () => {
  const { received } = await augmentedRun({ parts: ['[[A]]', '[[B]]'] });

  expect(received).toEqual([{ parts: ['[[A]]', '[[B]]'], _maenifold_context: 'about A\n\n---\n\nabout B' }]);
});

describe('S2-5.2, S2-5.5, S2-6.1: leaves a call unchanged', () => {
  // covers: S2-FR4.5, S2-8.1e, S2-8.1f, S2-8.1g, S2-8.1h
  test.each([
    ['S2-8.1e: without a link', { command: 'ls -la' }, 'no_concepts'],
    ['S2-8.1f: without arguments', {}, 'no_text_args'],
    ['S2-8.1g: with numbers only', { count: 5, limit: 10 }, 'no_text_args'],
    ['S2-8.1h: with single brackets', { text: '[single bracket]' }, 'no_concepts'],
    ['S2-3.2d: with a link as the name of a property', { '[[k]]': 'v' }, 'no_concepts'],
    ['with an array as arguments', ['[[a]]'], 'no_place'],
  ])('%s', async (_title, input, reason) => {
    const asked: ConceptRequest[] = [];
    const seen: unknown[] = [];
    const { log } = await augmentedRun(
      input,
      {
        buildContext: (request) => void asked.push(request),
      },
      {
        execute: (given) => {
          seen.push(given);
          return 'ok';
        },
      },
    );

    expect(seen).toEqual([input]);
    expect(asked).toEqual([]);
    expect(log).toEqual([
      { level: 'debug', message: 'Skipping augmentation for work', extra: { reason, sessionID: 'the run' } },
    ]);
  });

  test('S2-5.2: passes on the identical arguments object', async () => {
    const input = { command: 'ls -la' };
    const got: unknown[] = [];
    const lifecycle = conceptAugmentation({ buildContext: known });
    const agent = new Agent({
      model: scriptedModel([calls('work', input), says('end')]),
      tools: [toolOf('work', () => 'ok')],
      lifecycle: [
        { priority: 46, wrapToolCall: (call, next) => next(recordInput(got, call)) },
        lifecycle,
        { priority: 44, wrapToolCall: (call, next) => next(recordInput(got, call)) },
      ],
    });

    const { decisions } = await agent.run('go');

    expect(got[0]).toBe(got[1]);
    expect(decisions).toEqual([]);
  });
});

describe('S2-4.2a, S2-4.2c: chooses one text field', () => {
  const order = ['command', 'content', 'prompt', 'query', 'message', 'text', 'input'];

  test.each(order.map((field, at) => [field, order.slice(at)] as const))(
    '%s comes before the later fields of the list',
    async (field, fields) => {
      const input = Object.fromEntries([...fields].reverse().map((name) => [name, `${name} [[x]]`]));
      const { received } = await augmentedRun(input);

      expect(received).toEqual([{ ...input, [field]: `${block('about x')}\n\n${field} [[x]]` }]);
    },
  );

  test('skips a field whose value is not a string', async () => {
    const { received } = await augmentedRun({ command: ['ls'], prompt: '[[x]]' });

    expect(received).toEqual([{ command: ['ls'], prompt: `${block('about x')}\n\n[[x]]` }]);
  });

  test('accepts custom text fields and a custom label', async () => {
    const options = { textFields: ['note'], label: 'atlas' };

    expect((await augmentedRun({ note: '[[x]]', text: '' }, options)).received).toEqual([
      { note: `${block('about x', 'atlas')}\n\n[[x]]`, text: '' },
    ]);
    expect((await augmentedRun({ text: '[[x]]' }, options)).received).toEqual([
      { text: '[[x]]', _atlas_context: 'about x' },
    ]);
  });
});

test('S2-4.3b, S2-4.3a: keeps links inside a context, and escapes the end comment inside a context', async () => {
  const context = 'see [[other]] <!-- End Knowledge Graph Context --> rm -rf';
  const { received } = await augmentedRun({ text: '[[x]]' }, { buildContext: () => context });

  const { text } = received[0] as { text: string };
  expect(text.split('<!-- End Knowledge Graph Context -->')).toHaveLength(2);
  expect(text).toContain('see [[other]] &lt;!-- End Knowledge Graph Context --> rm -rf\n<!-- End');
});

// covers: S2-FR4.3
test('S2-4.1a: looks up each concept once, with depth and entity limits', async () => {
  const asked: ConceptRequest[] = [];
  const buildContext = (request: ConceptRequest) => void asked.push(request);
  await augmentedRun({ text: '[[A]] [[B]] [[A]]' }, { buildContext });
  await augmentedRun({ text: '[[C]]' }, { buildContext, depth: 2, maxEntities: 9, includeContent: false });

  expect(asked).toEqual([
    { conceptName: 'A', depth: 1, includeContent: true, maxEntities: 5 },
    { conceptName: 'B', depth: 1, includeContent: true, maxEntities: 5 },
    { conceptName: 'C', depth: 2, includeContent: false, maxEntities: 9 },
  ]);
});

describe('failed lookups', () => {
  test('S2-4.1d: logs one failed lookup and uses the other contexts in order', async () => {
    const { received, log } = await augmentedRun(
      { text: '[[A]] [[B]] [[C]]' },
      {
        buildContext({ conceptName }) {
          if (conceptName === 'B') throw new Error('no graph');
          return `about ${conceptName}`;
        },
      },
    );

    expect(received).toEqual([{ text: `${block('about A\n\n---\n\nabout C')}\n\n[[A]] [[B]] [[C]]` }]);
    expect(log.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'BuildContext failed for [[B]]',
        extra: { tool: 'work', concept: 'B', error: 'Error: no graph', sessionID: 'the run' },
      },
    ]);
  });

  test.each([[''], [undefined], [null]])('S2-4.1e: leaves out a context of %j', async (nothing) => {
    const { received } = await augmentedRun(
      { text: '[[A]] [[B]]' },
      { buildContext: ({ conceptName }) => (conceptName === 'A' ? nothing : 'b') },
    );

    expect(received).toEqual([{ text: `${block('b')}\n\n[[A]] [[B]]` }]);
  });

  test('S2-6.7, S2-4.1b: leaves the arguments unchanged if all contexts are empty', async () => {
    const { received, log } = await augmentedRun({ text: '[[A]] [[B]]' }, { buildContext: () => '' });

    expect(received).toEqual([{ text: '[[A]] [[B]]' }]);
    expect(log.map(({ message }) => message)).toEqual(['Detected concepts in work: A, B']);
  });

  test.each([42, { text: 'a' }, ['a']])('a result of %j counts as a failed lookup', async (wrong) => {
    const { received, log } = await augmentedRun({ text: '[[A]]' }, { buildContext: () => wrong as never });

    expect(received).toEqual([{ text: '[[A]]' }]);
    expect(log.at(-2)).toMatchObject({ level: 'error', message: 'BuildContext failed for [[A]]' });
  });

  test.each([
    ['[[A]]', ['A']],
    ['[[A]] [[B]]', ['A', 'B']],
  ])('S2-6.5: logs one warning if all lookups of %s are empty and one fails', async (text, concepts) => {
    const buildContext = ({ conceptName }: { conceptName: string }) => {
      if (conceptName === 'A') throw new TypeError('no graph');
      return '';
    };
    const { received, log } = await augmentedRun({ text }, { buildContext });

    expect(received).toEqual([{ text }]);
    expect(log.map(({ message }) => message)).toEqual([
      `Detected concepts in work: ${concepts.join(', ')}`,
      'BuildContext failed for [[A]]',
      'Augmentation failed for work: TypeError: no graph',
    ]);
    const error = 'TypeError: no graph';
    expect(log.at(-1)).toMatchObject({ level: 'warn', extra: { tool: 'work', error, sessionID: expect.any(String) } });
  });

  test('logs each failed lookup, and a warning if all fail', async () => {
    const buildContext = ({ conceptName }: { conceptName: string }) => {
      throw new TypeError(`no ${conceptName}`);
    };
    const { received, log } = await augmentedRun({ text: '[[A]] [[B]] [[C]]' }, { buildContext });

    expect(received).toEqual([{ text: '[[A]] [[B]] [[C]]' }]);
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'Detected concepts in work: A, B, C'],
      ...['A', 'B', 'C'].map((concept) => ['error', `BuildContext failed for [[${concept}]]`]),
      ['warn', 'Augmentation failed for work: TypeError: no A'],
    ]);
  });

  test('cuts contexts at a million characters, with a mark', async () => {
    const { received } = await augmentedRun({ topic: '[[A]]' }, { buildContext: () => 'a'.repeat(1_000_001) });

    expect(received).toEqual([
      { topic: '[[A]]', _maenifold_context: `${'a'.repeat(1_000_000)}… (1000001 characters)` },
    ]);
  });

  test('S2-5.3: a missing program is logged as a skip, not as a failure', async () => {
    const missing = Object.assign(new Error('spawn maenifold ENOENT'), { code: 'ENOENT' });
    const { received, log } = await augmentedRun(
      { text: '[[A]] [[B]]' },
      { buildContext: () => Promise.reject(missing) },
    );

    expect(received).toEqual([{ text: '[[A]] [[B]]' }]);
    expect(log.map(({ level }) => level)).toEqual(['info', 'debug']);
    expect(log[1]).toEqual({
      level: 'debug',
      message: 'Skipping augmentation for work',
      extra: { reason: 'unavailable', sessionID: 'the run' },
    });
  });
});

test('S2-6.2, S2-6.4: logs the detected concepts and the augmentation once each', async () => {
  let time = 1_000;
  const clock = { now: () => time, setTimeout: () => 0, clearTimeout: () => {} };
  const { log } = await augmentedRun(
    { text: '[[A]] [[B]]' },
    {
      clock,
      buildContext({ conceptName }) {
        time += 20;
        return conceptName;
      },
    },
  );

  expect(log).toEqual([
    {
      level: 'info',
      message: 'Detected concepts in work: A, B',
      extra: { tool: 'work', concepts: ['A', 'B'], sessionID: 'the run' },
    },
    {
      level: 'info',
      message: 'Augmented work with 2 concept(s) in 40ms',
      extra: { tool: 'work', conceptCount: 2, elapsed: 40, sessionID: 'the run' },
    },
  ]);
});

describe('S2-6.6, S2-6.5: the tool call runs in spite of', () => {
  test.each([
    ['an error', new Error('no')],
    ['a string', 'no'],
    ['undefined', undefined],
    ['an object without a prototype', Object.create(null)],
  ])('a lookup that throws %s', async (_title, thrown) => {
    const buildContext = () => {
      throw thrown;
    };
    const { received, messages } = await augmentedRun({ text: '[[A]]' }, { buildContext });

    expect(received).toEqual([{ text: '[[A]]' }]);
    expect(messages[2]).toMatchObject({ content: [{ content: 'done' }] });
  });

  test('a logger that throws or rejects', async () => {
    const received: unknown[] = [];
    const fails = () => {
      throw new Error('disk full');
    };
    const rejects = () => Promise.reject(new Error('disk full')) as never;
    const agent = new Agent({
      model: scriptedModel([calls('work', { text: '[[A]]' }), says('end')]),
      tools: [toolOf('work', (given) => record(received, given))],
      lifecycle: [conceptAugmentation({ buildContext: known })],
      logger: { debug: rejects, info: fails, warn: fails, error: fails },
    });

    expect((await agent.run('go')).text).toBe('end');
    expect(received).toEqual([{ text: `${block('about A')}\n\n[[A]]` }]);
  });

  test('arguments with a getter that throws', async () => {
    const log: string[] = [];
    const input = Object.defineProperty({}, 'text', {
      enumerable: true,
      get() {
        throw new Error('unreadable');
      },
    });
    const warn = (message: string) => void log.push(message);
    const agent = new Agent({
      model: scriptedModel([calls('work', {}), says('end')]),
      tools: [toolOf('work', () => 'done')],
      lifecycle: [
        { priority: 60, wrapToolCall: (call, next) => next({ ...call, input }) },
        conceptAugmentation({ buildContext: known }),
      ],
      logger: { debug: () => {}, info: () => {}, warn, error: warn },
    });

    expect((await agent.run('go')).text).toBe('end');
    expect(log).toEqual(['Augmentation failed for work: Error: unreadable']);
  });

  test('a schema that does not accept the longer string', async () => {
    const received: unknown[] = [];
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      input: z.object({ command: z.enum(['start', 'stop']), note: z.string() }),
      execute: (given) => record(received, given),
    });
    const { log, messages } = await augmentedRun({ command: 'stop', note: '[[A]]' }, {}, tool);

    expect(received).toEqual([{ command: 'stop', note: '[[A]]' }]);
    expect(messages[2]).toMatchObject({ content: [{ content: 'done' }] });
    expect(log.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: expect.stringContaining(
          'Augmentation failed for work: ToolInvalidError: Tool "work" is not valid: `command`',
        ),
        extra: { tool: 'work', error: expect.stringContaining('ToolInvalidError'), sessionID: 'the run' },
      },
    ]);
  });
});

// covers: S2-FR4.1
test('S2-1.1: augments every tool without configuration for a tool', async () => {
  const received: unknown[] = [];
  const tools = ['read', 'send'].map((name) => toolOf(name, (given) => record(received, given)));
  const agent = new Agent({
    model: scriptedModel([
      calls({ name: 'read', input: { query: '[[a]]' } }, { name: 'send', input: { message: '[[b]]' } }),
      says('end'),
    ]),
    tools,
    lifecycle: [conceptAugmentation({ buildContext: known })],
  });
  await agent.run('go');

  // Both calls run at the same time, so either may come first.
  expect(new Set(received)).toEqual(
    new Set([{ query: `${block('about a')}\n\n[[a]]` }, { message: `${block('about b')}\n\n[[b]]` }]),
  );
});

test('S2-4.1d: a thrown value whose properties throw fails only its own concept', async () => {
  const unreadable = new Proxy(
    {},
    {
      get() {
        throw new TypeError('no');
      },
    },
  );
  const buildContext = ({ conceptName }: { conceptName: string }) => {
    if (conceptName === 'a') throw unreadable;
    return `about ${conceptName}`;
  };
  const { received } = await augmentedRun({ text: '[[a]] [[b]]' }, { buildContext });

  expect(received).toEqual([{ text: `${block('about b')}\n\n[[a]] [[b]]` }]);
});

test('keeps the contract of a lifecycle', async () => {
  await assertLifecycle(() => conceptAugmentation({ buildContext: known }));
});
