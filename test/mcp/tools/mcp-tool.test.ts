import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf, until } from '../../support/agent/settle.js';
import { realServer } from '../../support/mcp/everything.js';
import { call, connected, raw, readLog, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

const schema = { type: 'object' };
const tool = (name: string, more: object = {}) => ({ name, inputSchema: schema, ...more });
const PNG = 'iVBORw0KGgo=';

describe('a tool call', () => {
  test('S0-10.1: sends tools/call with the server’s own name of the tool and the arguments', async () => {
    const log = join(temporaryFolder(), 'log');
    const { mcp } = await connected({ servers: { 'a.b': raw({ log, tools: [tool('read file!')] }) } });
    const [{ name = '' } = {}] = mcp.tools.list();
    const input = { path: 'a', deep: { list: [1, null, 'ä'] } };

    await call(mcp, name, input);

    const received = readLog(log)
      .map((entry) => entry.received)
      .filter((message) => message?.method === 'tools/call');
    expect(received).toEqual([
      {
        ...{ jsonrpc: '2.0', id: 2, method: 'tools/call' },
        params: { name: 'read file!', arguments: input, _meta: { progressToken: 2 } },
      },
    ]);
  });

  test('S0-10.2: sends a tool call only to the server of the tool', async () => {
    const folder = temporaryFolder();
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    const { mcp } = await connected({ servers: { a: raw({ log: a, says: 'a' }), b: raw({ log: b, says: 'b' }) } });

    expect(await call(mcp, 'mcp__b__echo')).toMatchObject({ content: 'b: {}' });

    const calls = (path: string) => readLog(path).filter(({ received }) => received?.method === 'tools/call');
    expect([calls(a).length, calls(b).length]).toEqual([0, 1]);
  });
});

describe('S0-10.3: converts the result of a call:', () => {
  const results: readonly (readonly [title: string, answer: object, expected: object])[] = [
    ['text', { content: [{ type: 'text', text: 'a' }] }, { content: 'a' }],
    ['empty content', { content: [] }, { content: '' }],
    ['no content field', {}, { content: '' }],
    [
      'several text parts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    [
      'an image',
      { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
      { content: [{ type: 'image', image: PNG, mediaType: 'image/png' }] },
    ],
    [
      'audio',
      { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] },
      { content: [{ type: 'file', data: 'AAAA', mediaType: 'audio/wav' }] },
    ],
    [
      'a resource with text',
      { content: [{ type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'hi' } }] },
      { content: '[resource file:///a.txt]\nhi' },
    ],
    [
      'a resource with bytes',
      {
        content: [
          { type: 'resource', resource: { uri: 'file:///b/a.pdf?x#y', mimeType: 'application/pdf', blob: 'AAAA' } },
        ],
      },
      { content: [{ type: 'file', data: 'AAAA', mediaType: 'application/pdf', filename: 'a.pdf' }] },
    ],
    [
      'a resource that is an image',
      { content: [{ type: 'resource', resource: { uri: 'x:a', mimeType: 'image/png', blob: PNG } }] },
      { content: [{ type: 'image', image: PNG, mediaType: 'image/png' }] },
    ],
    [
      'a resource link',
      { content: [{ type: 'resource_link', uri: 'x:a', name: 'A', description: 'what', mimeType: 'text/plain' }] },
      { content: '[resource link x:a: A, text/plain, what]' },
    ],
    [
      'structured content beside text',
      { content: [{ type: 'text', text: '12' }], structuredContent: { n: 12 } },
      { content: '12', structured: { n: 12 } },
    ],
    ['only structured content', { structuredContent: { n: 12 } }, { content: '{"n":12}', structured: { n: 12 } }],
    ['structured content that is an array', { structuredContent: [1, 2] }, { content: '[1,2]', structured: [1, 2] }],
    ['structured content that is null', { content: [], structuredContent: null }, { content: '' }],
    ['a single part instead of an array', { content: { type: 'text', text: 'a' } }, { content: 'a' }],
    ['a string instead of an array', { content: 'a' }, { content: 'a' }],
    ['null instead of an array', { content: null }, { content: '' }],
    ['an unrequested task', { task: { taskId: 't' }, _meta: {} }, { content: '{"task":{"taskId":"t"}}' }],
    ['an error', { content: [{ type: 'text', text: 'no' }], isError: true }, { content: 'no', isError: true }],
    ['an error flag that is the string "true"', { content: 'no', isError: 'true' }, { content: 'no', isError: true }],
    ['an error flag that is the string "false"', { content: 'yes', isError: 'false' }, { content: 'yes' }],
    ...['_-8', '_-8=', 'data:image/png;base64,/+8=', '/+\n8'].map(
      (data) =>
        [
          `an image with the data ${JSON.stringify(data)}`,
          { content: [{ type: 'image', data, mimeType: 'image/png' }] },
          { content: [{ type: 'image', image: '/+8=', mediaType: 'image/png' }] },
        ] as const,
    ),
    ...['', '=', 'abcde', 'no base64!', 5].map(
      (data) =>
        [
          `an image with the invalid data ${JSON.stringify(data)}`,
          { content: [{ type: 'image', data, mimeType: 'image/png' }] },
          { content: '[an image with invalid base64]' },
        ] as const,
    ),
    [
      'a resource link with null fields',
      { content: [{ type: 'resource_link', uri: 'x:a', name: 'A', title: null, description: null, mimeType: null }] },
      { content: '[resource link x:a: A]' },
    ],
    [
      'content of an unknown type',
      { content: [{ type: 'hologram', x: 1 }, 'loose', null] },
      {
        content: [
          { type: 'text', text: '{"type":"hologram","x":1}' },
          { type: 'text', text: '"loose"' },
          { type: 'text', text: 'null' },
        ],
      },
    ],
    [
      'an image that is not base64',
      { content: [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }] },
      { content: '[an image with invalid base64]' },
    ],
    [
      'an image without a type',
      { content: [{ type: 'image', data: PNG }] },
      { content: '[an image of unknown type, 12 characters of base64]' },
    ],
  ];

  test.each(results)('%s', async (_title, answer, expected) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('t')], results: { t: answer } }) } });
    const { content, structured, isError } = await call(mcp, 't');

    expect({ content, ...(structured !== undefined && { structured }), ...(isError && { isError }) }).toEqual(expected);
  });

  test('drops structured content that violates the output schema, with a warning', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const text = [{ type: 'text', text: 'twelve' }];
    const results = {
      bad: { content: text, structuredContent: { n: 'x' } },
      good: { content: text, structuredContent: { n: 1 } },
    };
    const tools = [tool('bad', { outputSchema }), tool('good', { outputSchema })];
    const { mcp, logger } = await connected({ servers: { raw: raw({ tools, results }) } });

    expect(await call(mcp, 'bad')).not.toHaveProperty('structured');
    expect(await call(mcp, 'bad')).toMatchObject({ content: 'twelve' });
    expect(await call(mcp, 'good')).toMatchObject({
      content: [text[0], { type: 'text', text: '{"n":1}' }],
      structured: { n: 1 },
    });
    expect(logger.lines.filter((line) => line.includes('does not match its output schema'))).toHaveLength(2);
  });
});

describe('S0-10.4: a failed call returns an error result with the reason, without a throw:', () => {
  test('the server answers with an error', async () => {
    const results = { t: { error: { code: -32_603, message: 'disk is full' } } };
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('t')], results }) } });

    expect(await call(mcp, 't')).toMatchObject({ isError: true, content: expect.stringContaining('disk is full') });
  });

  test('the server adds data to its error message', async () => {
    const data = { elicitations: [{ mode: 'url', url: 'https://example.com/grant' }], rest: 'x'.repeat(5_000) };
    const results = { t: { error: { code: -32_042, message: 'go there', data } } };
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('t')], results }) } });
    const { content } = await call(mcp, 't');

    expect(content).toContain('wants the user to open a page first (-32042): go there {"elicitations":[{"mode":"url",');
    expect(content).toContain('https://example.com/grant');
    expect(content.length).toBeLessThan(1_200);
  });

  test.each(['', null])('the server adds the empty data %j to its error message', async (data) => {
    const results = { t: { error: { code: -32_602, message: 'no such tool', data } } };
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('t')], results }) } });

    expect((await call(mcp, 't')).content).toMatch(/: no such tool$/);
  });

  test('the call exceeds its time limit', async () => {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp } = await connected({ servers: { raw: raw({ log }) }, timeouts: { callMs: 100 }, system: { clock } });
    const hanging = call(mcp, 'hang');
    clock.advance(100);

    expect(await hanging).toMatchObject({
      isError: true,
      content: expect.stringContaining('took longer than 100 ms'),
    });
    await until(() => readFileSync(log, 'utf8').includes('notifications/cancelled'));
    expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
  });

  test('the server dies', async () => {
    const { mcp } = await connected({ servers: { raw: raw() } });

    expect(await call(mcp, 'die')).toMatchObject({ isError: true, content: expect.stringContaining('code 3') });
  });

  test('the server was closed before the call', async () => {
    const { mcp } = await connected({ servers: { raw: raw() }, reconnect: false });
    const echo = mcp.tools.find('echo');
    await mcp.close();

    const context = { signal: new AbortController().signal, progress: () => {} };
    expect(await echo?.execute({}, context as never)).toMatchObject({
      isError: true,
      content: expect.stringContaining('not available'),
    });
  });
});

describe('S0-10.5: each error code has its own explanation, followed by the server’s message:', () => {
  const codes = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_000, -32_001, -32_002, -32_042, -32_050, 1];

  test('codes of JSON-RPC and of MCP', async () => {
    const tools = codes.map((code) => tool(`t${code}`));
    const results = Object.fromEntries(codes.map((code) => [`t${code}`, { error: { code, message: 'said so' } }]));
    const { mcp } = await connected({ servers: { raw: raw({ tools, results }) } });

    const texts = await Promise.all(codes.map(async (code) => String((await call(mcp, `t${code}`)).content)));

    const explanations = texts.map((text) => text.replace(/ \(-?\d+\).*$/, ''));
    expect(new Set(explanations).size).toBe(codes.length);
    expect(texts[2]).toBe('The MCP server "raw" does not know this tool or method (-32601): said so');
    for (const text of texts) expect(text).toMatch(/^The MCP server "raw" [a-z ]+ \(-?\d+\): said so$/);
  });
});

describe('progress', () => {
  test('passes progress on, and restarts the time limit of the call', async () => {
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { raw: raw({ tools: [tool('progress')] }) },
      timeouts: { callMs: 400 },
      system: { clock },
    });
    const seen: unknown[] = [];
    const progress = (data: unknown) => {
      seen.push(data);
      clock.advance(300);
    };

    const result = await call(mcp, { name: 'progress', progress }, { steps: 6, everyMs: 1 });

    expect(result).toMatchObject({ content: '6 steps' });
    expect(seen).toHaveLength(6);
    expect(seen[0]).toEqual({ progress: 1, total: 6, message: 'step 1' });
  });

  test('does not extend the total time limit of a call that reports progress', async () => {
    const timeouts = { callMs: 400, totalMs: 500 };
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { raw: raw({ tools: [tool('progress')] }) },
      timeouts,
      system: { clock },
    });
    const progress = () => clock.advance(200);

    expect(await call(mcp, { name: 'progress', progress }, { steps: 1_000, everyMs: 1 })).toMatchObject({
      isError: true,
      content: expect.stringContaining('took longer than 500 ms'),
    });
  });
});

test('an aborted call rejects with the reason of the signal, and the server is notified', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await connected({ servers: { raw: raw({ log }) } });
  const controller = new AbortController();
  const calling = call(mcp, { name: 'hang', signal: controller.signal });
  await until(() => readFileSync(log, 'utf8').includes('tools/call'));

  controller.abort(new RangeError('enough'));

  expect(await rejectionOf(calling)).toEqual(new RangeError('enough'));
  await until(() => readFileSync(log, 'utf8').includes('notifications/cancelled'));
  expect(stateOf(mcp, 'raw')).toBe('connected');
});

test('log messages of a server go to the logger with their level', async () => {
  const { mcp, logger } = await connected({ servers: { raw: raw({ tools: [tool('say')] }) } });
  for (const level of ['debug', 'notice', 'warning', 'emergency']) {
    await call(mcp, 'say', { level, logger: 'db', data: { text: level } });
  }

  const lines = logger.lines.filter((line) => line.includes('db:'));
  expect(lines.map((line) => line.split(':')[0])).toEqual(['debug', 'info', 'warn', 'error']);
  expect(lines[0]).toBe('debug: MCP server "raw": db: {"text":"debug"}');
});

test('reads a response and a log message from one batch', async () => {
  const { mcp, logger } = await connected({ servers: { a: raw({ tools: [tool('line')] }) } });
  const line =
    '[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"Soon."}}, 7, {"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}]';

  expect(await call(mcp, 'line', { line })).toMatchObject({ content: 'done' });
  expect(logger.lines).toContain('info: MCP server "a": Soon.');
  expect(logger.lines.filter((logged) => logged.includes('not a message of the protocol'))).toHaveLength(1);
});

test('the handle of a server reads resources and prompts', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.txt'), 'x');
  const { mcp } = await connected({ servers: { everything: realServer('everything') } });
  const server = mcp.server('everything');
  const [first] = await server.listResources();
  const templates = await server.listResourceTemplates();
  const uri = 'demo://resource/dynamic/text/1';

  expect(first).toMatchObject({ uri: expect.any(String), name: expect.any(String) });
  expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain('demo://resource/dynamic/text/{resourceId}');
  expect(await server.readResource(uri)).toMatchObject([{ uri, text: expect.stringContaining('Resource 1') }]);
  expect((await server.listPrompts()).map(({ name }) => name)).toContain('args-prompt');
  expect(await server.getPrompt('args-prompt', { city: 'Bergen', state: 'Norway' })).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'text', text: expect.stringContaining('Bergen') }] }],
  });
  expect(await rejectionOf(server.readResource('demo://none'))).toMatchObject({
    code: 'ERR_MCP_REQUEST',
    server: 'everything',
  });
  expect(await rejectionOf(server.getPrompt('none'))).toMatchObject({ code: 'ERR_MCP_REQUEST', status: -32_602 });
  expect(() => mcp.server('other')).toThrow(expect.objectContaining({ code: 'ERR_MCP_UNAVAILABLE' }));
});
