import { Agent, type ContentPart, type Message, type ToolResult, type ToolResultPart, toolResult } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf, unhandledDuring } from '../support/agent/settle.js';

const lifecycles = {
  plainly: [],
  'with a wrap hook': [{ wrapToolCall: (_call: unknown, next: () => Promise<never>) => next() }],
};
const ways = [
  ['at once', false],
  ['by a promise', true],
] as const;

/** Returns the result part that the model gets for the return value of a tool. */
async function resultFor(give: () => unknown, late = false, lifecycle: object[] = []): Promise<ToolResultPart> {
  const tool = toolOf('give', late ? async () => give() : give);
  const agent = new Agent({ model: scriptedModel([calls('give'), 'done']), tools: [tool], lifecycle });
  const { messages } = await agent.run('go');
  expect(JSON.parse(JSON.stringify(messages))).toEqual(messages);
  return (messages[2] as Extract<Message, { role: 'tool' }>).content[0] as ToolResultPart;
}

const part = { type: 'tool-result', id: 'call_1', name: 'give' };
const text = (value: string) => ({ type: 'text', text: value }) as const;
const bytes = { type: 'image', image: 'AQID', mediaType: 'image/png' } as const;
const file = { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf' } as const;
const image = { type: 'image', image: 'data:image/gif;base64,R0lG' } as const;

const good: Readonly<Record<string, readonly [give: () => unknown, result: object]>> = {
  'a string': [() => 'fine', { content: 'fine' }],
  'an empty string': [() => '', { content: '' }],
  parts: [() => [text('a'), image], { content: [text('a'), image] }],
  'bytes and files': [() => [bytes, file], { content: [bytes, file] }],
  'a number': [() => 5, { content: '5', structured: 5 }],
  false: [() => false, { content: 'false', structured: false }],
  null: [() => null, { content: 'null', structured: null }],
  NaN: [() => Number.NaN, { content: 'null', structured: null }],
  'an object': [() => ({ a: [1], b: undefined }), { content: '{"a":[1]}', structured: { a: [1] } }],
  'an empty array': [() => [], { content: '[]', structured: [] }],
  'an array of data': [() => [1, 'x'], { content: '[1,"x"]', structured: [1, 'x'] }],
  'a date': [() => new Date(0), { content: '"1970-01-01T00:00:00.000Z"', structured: '1970-01-01T00:00:00.000Z' }],
  'an empty object': [() => ({}), { content: '{}', structured: {} }],
  'an empty object without a prototype': [() => Object.create(null), { content: '{}', structured: {} }],
  'an instance whose toJSON is empty': [
    () =>
      new (class {
        toJSON = () => ({});
      })(),
    { content: '{}', structured: {} },
  ],
  'an instance with a toJSON': [() => ({ toJSON: () => ({ n: 1 }) }), { content: '{"n":1}', structured: { n: 1 } }],
  'data that looks like a result': [
    () => ({ content: 'x' }),
    { content: '{"content":"x"}', structured: { content: 'x' } },
  ],
  'a whole result': [() => toolResult({ content: 'x', structured: { n: 1 } }), { content: 'x', structured: { n: 1 } }],
  'a whole result of parts': [() => toolResult({ content: [text('x')] }), { content: [text('x')] }],
  'a whole result that is an error': [
    () => toolResult({ content: 'x', isError: true }),
    { content: 'x', isError: true },
  ],
  'a whole result with isError false': [() => toolResult({ content: 'x', isError: false }), { content: 'x' }],
};

describe.each(ways)('a tool that returns, %s,', (_way, late) => {
  test.each(Object.entries(good))('%s', async (_title, [give, result]) => {
    expect(await resultFor(give, late)).toEqual({ ...part, ...result });
  });
});

const circular: Record<string, unknown> = {};
circular.self = circular;
const throwing = (what: unknown) => ({
  toJSON() {
    throw what;
  },
});
const hostile = (trap: 'get' | 'has' | 'ownKeys' | 'getPrototypeOf') =>
  new Proxy(
    {},
    {
      [trap]: () => {
        throw new Error(`trapped ${trap}`);
      },
    },
  );
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const bad: Readonly<Record<string, readonly [give: () => unknown, content: RegExp]>> = {
  'a function': [() => () => {}, /type function/],
  'a symbol': [() => Symbol('x'), /type symbol/],
  'a circular object': [() => circular, /not JSON.*circular/i],
  'a BigInt': [() => 5n, /not JSON.*BigInt/],
  'an object with a BigInt': [() => ({ n: 5n }), /not JSON.*BigInt/],
  'a toJSON that throws': [() => throwing(new Error('not today')), /not today/],
  'a toJSON that throws a string': [() => throwing('not today'), /not today/],
  'a toJSON that throws undefined': [() => throwing(undefined), /not JSON/],
  'a toJSON that returns undefined': [() => ({ toJSON: () => undefined }), /type object/],
  'a Map': [() => new Map([['a', 1]]), /that JSON cannot hold/],
  'a Set': [() => new Set([1]), /that JSON cannot hold/],
  'an ArrayBuffer': [() => new ArrayBuffer(3), /that JSON cannot hold/],
  'a Response': [() => new Response('body'), /that JSON cannot hold/],
  'an array of promises': [() => [Promise.resolve(1)], /that JSON cannot hold/],
  'an object with a Map': [() => ({ berths: { north: new Map([['a', 1]]) } }), /that JSON cannot hold/],
  'an object with an Error': [() => ({ ok: false, error: new TypeError('no berth') }), /that JSON cannot hold/],
  'an async generator': [
    async function* () {
      yield 'x';
    },
    /that JSON cannot hold/,
  ],
  'an Error': [() => new TypeError('returned, not thrown'), /^returned, not thrown$/],
  'an Error with fields': [() => Object.assign(new Error('gone'), { code: 'ENOENT' }), /^gone$/],
  'a proxy whose get throws': [() => hostile('get'), /trapped get/],
  'a proxy whose has throws': [() => hostile('has'), /trapped has/],
  'a proxy whose ownKeys throws': [() => hostile('ownKeys'), /trapped ownKeys/],
  'a revoked proxy': [revoked, /revoked/],
  'a string of 50 MB': [() => 'x'.repeat(50_000_000), /50000000 characters/],
  'data of 50 MB': [() => ({ x: 'x'.repeat(50_000_000) }), /50000008 characters/],
  'parts of 50 MB': [() => [text('x'.repeat(25_000_000)), text('x'.repeat(25_000_000))], /50000000 characters/],
  'images and files of 50 MB': [
    () => [
      { type: 'image', image: new Uint8Array(25_000_000), mediaType: 'image/png' },
      { type: 'file', data: new Uint8Array(25_000_000), mediaType: 'text/plain' },
    ],
    // The media types count, too.
    /50000019 characters/,
  ],
  'a whole result of 50 MB': [() => toolResult({ content: 'x'.repeat(50_000_000) }), /50000000 characters/],
  'a whole result without content': [() => toolResult({} as never), /without content/],
  'a whole result with bad parts': [() => toolResult({ content: [{ type: 'text' } as never] }), /without content/],
  'a whole result whose data is a BigInt': [() => toolResult({ content: 'x', structured: 5n as never }), /BigInt/],
  'a whole result whose data is circular': [
    () => toolResult({ content: 'x', structured: circular as never }),
    /circular/i,
  ],
};

describe.each(ways)('an error result for a tool that returns, %s,', (_way, late) => {
  test.each(Object.entries(bad))('%s', async (_title, [give, content]) => {
    const result = await resultFor(give, late);

    expect(result).toEqual({ ...part, content: expect.stringMatching(content), isError: true });
    expect(JSON.stringify(result).length).toBeLessThan(500);
  });
});

describe('an error result for a tool that throws', () => {
  test.each<[string, unknown, string]>([
    ['an error', new Error('broken'), 'broken'],
    ['an error without message', new TypeError(), 'TypeError'],
    ['an error whose message is a number', Object.assign(new Error(), { message: 42 }), '42'],
    ['several errors in one', new AggregateError([new Error('first'), 'second']), 'first; second'],
    ['no errors in one', new AggregateError([]), 'AggregateError'],
    ['a frozen error', Object.freeze(new Error('frozen')), 'frozen'],
    ['a string', 'broken', 'broken'],
    ['an object', { code: 5 }, '{"code":5}'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a circular object', circular, 'a value that cannot be shown'],
  ])('%s', async (_title, thrown, content) => {
    const throws = () => {
      throw thrown;
    };

    for (const late of [false, true]) {
      for (const lifecycle of Object.values(lifecycles)) {
        expect(await resultFor(throws, late, lifecycle)).toEqual({ ...part, content, isError: true });
      }
    }
  });

  test('an error of 20 MB, whose first 100,000 characters are kept', async () => {
    const throws = () => {
      throw new Error('x'.repeat(20_000_000));
    };

    expect((await resultFor(throws)).content).toBe(`${'x'.repeat(100_000)}… (20000000 characters)`);
  });

  test('a value that cannot be shown', async () => {
    const throws = () => {
      throw hostile('get');
    };

    expect(await resultFor(throws)).toMatchObject({ isError: true });
  });
});

describe('a tool result in the messages', () => {
  test('does not change with the object that the tool returned', async () => {
    const shared = { n: 1 };
    const parts: ContentPart[] = [text('1')];
    const whole = toolResult({ content: 'x', structured: shared });
    const give = (name: string, value: () => unknown) =>
      toolOf(name, () => {
        shared.n += 1;
        parts[0] = text(`${shared.n}`);
        return value();
      });
    const names = ['data', 'parts', 'whole'];
    const script = [...names, ...names].map((name) => calls(name));
    const tools = [give('data', () => shared), give('parts', () => parts), give('whole', () => whole)];

    const { messages } = await new Agent({ model: scriptedModel([...script, 'done']), tools }).run('go');

    const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
    expect(results.map(({ content, structured }) => structured ?? content)).toEqual([
      ...[{ n: 2 }, [text('3')], { n: 4 }],
      ...[{ n: 5 }, [text('6')], { n: 7 }],
    ]);
  });

  test('may hold bytes', async () => {
    const data = new Uint8Array([1, 2, 3]);
    const parts = [
      { type: 'image', image: data, mediaType: 'image/png' },
      { type: 'file', data, mediaType: 'text/plain' },
    ];
    const agent = new Agent({ model: scriptedModel([calls('give'), 'done']), tools: [toolOf('give', () => parts)] });

    expect((await agent.run('go')).messages[2]).toMatchObject({ content: [{ content: parts }] });
  });

  test.each([null, undefined, 'x', { content: [null] }])('is an error if a wrap hook returns %j', async (given) => {
    const agent = new Agent({
      model: scriptedModel([calls('give')]),
      tools: [toolOf('give', () => 'x')],
      lifecycle: [{ name: 'bad', wrapToolCall: async () => given as never }],
    });

    expect(await rejectionOf(agent.run('go'))).toMatchObject({
      code: 'ERR_LIFECYCLE_FAILED',
      cause: { code: 'ERR_HOOK_RESULT_INVALID' },
    });
  });

  test('is an error if a wrap hook returns undefined', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('give')]),
      tools: [toolOf('give', () => 'x')],
      lifecycle: [{ name: 'bad', wrapToolCall: () => ({ result: 'x' }) as never }],
    });

    expect(await rejectionOf(agent.run('go'))).toMatchObject({
      code: 'ERR_LIFECYCLE_FAILED',
      lifecycle: 'bad',
      cause: { code: 'ERR_HOOK_RESULT_INVALID' },
    });
  });
});

describe('an invalid return value of a wrap hook', () => {
  const runWith = (given: () => object, count: number) => {
    const script = [calls({ name: 'give' }, ...Array.from({ length: count - 1 }, () => ({ name: 'give' }))), 'done'];
    const lifecycle = [{ name: 'wrap', wrapToolCall: async () => given() as ToolResult }];
    return new Agent({ model: scriptedModel(script), tools: [toolOf('give', () => 'x')], lifecycle }).run('go');
  };

  test.each([1, 2])('is a failure of that hook if its content throws, in a turn of %i calls', async (count) => {
    const unreadable = () => ({
      content: 'x',
      get structured(): never {
        throw new TypeError('no look');
      },
    });

    const unhandled = await unhandledDuring(async () => {
      expect(await rejectionOf(runWith(unreadable, count))).toMatchObject({
        code: 'ERR_LIFECYCLE_FAILED',
        lifecycle: 'wrap',
        cause: { message: 'no look' },
      });
    });

    expect(unhandled).toEqual([]);
  });

  test('is an error result if JSON cannot hold it', async () => {
    const { messages } = await runWith(() => ({ content: 'x', structured: 5n }), 1);

    expect(messages[2]).toMatchObject({ content: [{ content: expect.stringMatching(/BigInt/), isError: true }] });
  });

  test('is copied, so that a later change by the hook has no effect', async () => {
    const content = [text('first')];
    const structured = { n: 1 };
    const { messages } = await runWith(() => ({ content, structured }), 1);

    content.push(text('late'));
    structured.n = 2;

    expect(messages[2]).toMatchObject({ content: [{ content: [text('first')], structured: { n: 1 } }] });
  });
});
