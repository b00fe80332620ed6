import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessages } from '../../../src/mcp/transport/json-rpc.js';
import { deliver } from '../../../src/mcp/transport/transport.js';
import { handServer } from '../../support/mcp/http-server.js';
import { call, connected, raw } from '../../support/mcp/lab.js';

const tools = [
  { name: 'line', inputSchema: { type: 'object' } },
  { name: 'echo', inputSchema: { type: 'object' } },
];
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const answer = (fields: string) => `{"jsonrpc":"2.0","id":ID,${fields}}`;
const notice = (method: string, params: string) =>
  `{"jsonrpc":"2.0","method":"${method}","params":{${params}}}\n${answer('"result":{"content":"after it"}')}`;
const form = (value: string) => `"message":"m","requestedSchema":{"type":"object","properties":{"a":${value}}}`;

describe('data of a server that is nested too deeply', () => {
  const tooDeep = { isError: true, content: expect.stringContaining('more than 500 levels') };
  const after = { content: 'after it' };
  const saysOops = { isError: true, content: expect.stringMatching(/\(-32000\): Oops/) };

  test.each<[string, (value: string) => string, object]>([
    ['the data of an error', (value) => answer(`"error":{"code":-32000,"message":"Oops","data":${value}}`), saysOops],
    ['an error with the wrong type', (value) => answer(`"error":${value}`), { isError: true }],
    ['structured content', (value) => answer(`"result":{"structuredContent":{"a":${value}}}`), tooDeep],
    ['content of an unknown type', (value) => answer(`"result":{"content":[{"type":"odd","a":${value}}]}`), tooDeep],
    ['`_meta` of a result', (value) => answer(`"result":{"content":"after it","_meta":{"a":${value}}}`), tooDeep],
    ['progress', (value) => notice('notifications/progress', `"progressToken":ID,"progress":1,"a":${value}`), after],
    ['a log message', (value) => notice('notifications/message', `"level":"error","data":${value}`), after],
    ['an unknown notification', (value) => notice('x', `"_meta":null,"a":${value}`), after],
    [
      'a message with a wrong id',
      (value) => `{"jsonrpc":"2.0","id":${value},"result":{}}\n${answer('"result":{"content":"after it"}')}`,
      after,
    ],
    ['a batch', (value) => `[${answer(`"result":{"a":${value}}`)},${value}]`, tooDeep],
  ])('neither ends the process nor leaves a call open: %s', async (_, lineOf, expected) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools }) }, timeouts: { callMs: 5_000 } });

    for (const value of [arrays(7_000), objects(7_000), arrays(100_000)]) {
      expect(await call(mcp, 'line', { line: lineOf(value) })).toMatchObject(expected);
    }
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
  });

  test('a question with a deep form is refused, and the host is not asked', async () => {
    const asked: unknown[] = [];
    const { mcp } = await connected({
      servers: { raw: raw({ tools: [...tools, { name: 'ask', inputSchema: { type: 'object' } }] }) },
      elicit: async (question) => {
        asked.push(question);
        return { action: 'decline' };
      },
    });
    const line = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{${form(arrays(7_000))}}}`;

    expect(await call(mcp, 'line', { line: `${line}\n${answer('"result":{"content":"after it"}')}` })).toMatchObject({
      content: 'after it',
    });
    expect(asked).toEqual([]);
  });

  test('a tool list that is too deep fails the connection with a typed error', async () => {
    const deep = await handServer(({ message }, response) => {
      if (message?.method !== 'tools/list') return false;
      const result = `{"tools":[{"name":"t","inputSchema":{"type":"object"},"x":${arrays(7_000)}}]}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${result}}`);
      return true;
    });

    const { mcp } = await connected({ servers: { hand: { url: deep.url } }, reconnect: false });

    expect(mcp.status()).toMatchObject([
      { state: 'unavailable', lastError: expect.stringContaining('more than 500 levels') },
    ]);
  });

  test('an error over HTTP, as JSON and as an event stream, fails only its call', async () => {
    let isStream = false;
    const deep = await handServer(({ message }, response) => {
      if (message?.method !== 'tools/call') return false;
      const body = `{"jsonrpc":"2.0","id":${message.id},"error":{"code":1,"message":"Oops","data":${arrays(7_000)}}}`;
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      response.end(isStream ? `data: ${body}\n\n` : body);
      return true;
    });
    const { mcp } = await connected({ servers: { hand: { url: deep.url } } });

    for (isStream of [false, true]) {
      expect(await call(mcp, 'echo')).toMatchObject({ isError: true, content: expect.stringContaining('Oops') });
    }
  });
});

test.each([500, 501])('counts the levels of a message: %i', (levels) => {
  const isDeep = levels > 500;
  // The message itself and its result are two levels. Brackets in strings do not count.
  const line = `{"jsonrpc":"2.0","id":1,"result":{"s":"${'[{\\"\\\\'.repeat(600)}","o":${objects(300)},"a":${arrays(levels - 2)}}}`;

  expect(readMessages(line)).toMatchObject([
    isDeep ? { error: { code: -32_096 } } : { result: { a: expect.anything() } },
  ]);
});

describe('a response', () => {
  test.each([
    '"result":{"_meta":null,"content":"fine"}',
    '"result":{"_meta":5,"content":"fine"}',
    '"result":{"_meta":{"progressToken":{}},"content":"fine"}',
    '"result":{"_meta":{"io.modelcontextprotocol/related-task":"x"},"content":"fine"}',
    '"error":null,"result":{"content":"fine"}',
  ])('gives its result whatever else it has: %s', async (fields) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools }) }, timeouts: { callMs: 5_000 } });

    expect(await call(mcp, 'line', { line: answer(fields) })).toMatchObject({ content: 'fine' });
  });

  test('settles its call, whatever it contains', async () => {
    const { mcp } = await connected({ servers: { raw: raw({ tools }) } });
    const part = fc.oneof(
      fc.jsonValue(),
      fc.record({
        _meta: fc.jsonValue(),
        code: fc.oneof(fc.jsonValue(), fc.constant(1e300), fc.constant(-32_042)),
        message: fc.jsonValue(),
        data: fc.jsonValue(),
        task: fc.jsonValue(),
        content: fc.jsonValue(),
      }),
    );

    await fc.assert(
      fc.asyncProperty(fc.constantFrom('result', 'error'), part, async (field, value) => {
        const line = answer(`"${field}":${JSON.stringify(value).replaceAll('ID', '')}`);
        expect(await call(mcp, 'line', { line })).toHaveProperty('content');
      }),
      { numRuns: 100 },
    );
  });

  test('tells of changed tools even with `_meta` that is null', async () => {
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":null}}';
    expect(readMessages(changed)).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} }]);
  });
});

test('an error of the receiver is reported, for requests and for responses', async () => {
  const seen: unknown[] = [];
  const receiver = {
    onmessage: () => {
      throw new RangeError('too deep');
    },
    onerror: (error: Error) => void seen.push(error.message),
  };

  deliver({ jsonrpc: '2.0', method: 'x' }, receiver);
  deliver({ jsonrpc: '2.0', id: 1, result: {} }, receiver);
  await Promise.resolve();

  expect(seen).toEqual(['too deep', 'too deep']);
});
