import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type Message } from 'keelson';
import type { McpElicitationAnswer, McpServersOptions } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';
import { answer, handServer, reply } from '../support/mcp/http-server.js';
import { call, connected, lab, raw, readLog, temporaryFolder } from '../support/mcp/lab.js';

const PNG = 'iVBORw0KGgo=';
const schema = { type: 'object' };
const tool = (name: string, more: object = {}) => ({ name, inputSchema: schema, ...more });

/** Returns what the model reads of a result of a tool. */
async function readByModel(result: object, more: object = {}): Promise<unknown> {
  const { mcp } = lab({ servers: { s: raw({ tools: [tool('t', more)], results: { t: result } }) } });
  const model = scriptedModel([calls('mcp__s__t'), says('done')]);
  await using agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });
  await agent.run('go');
  const found = model.requests[1]?.messages.find(({ role }) => role === 'tool');
  const [part] = (found as Extract<Message, { role: 'tool' }>).content;
  return part?.content;
}

/** Lets a server ask a question. Returns what the server reads, what the host was asked, and the log. */
async function asked(params: object, elicit: NonNullable<McpServersOptions['elicit']>) {
  const seen: unknown[] = [];
  const { mcp, logger } = await connected({
    servers: { s: raw({ tools: [tool('ask')] }) },
    elicit(question) {
      seen.push(question);
      return elicit(question);
    },
  });
  const { content } = await call(mcp, 'ask', { method: 'elicitation/create', params });
  return { read: JSON.parse(String(content)), seen, lines: logger.lines.filter((line) => /^(warn|error)/.test(line)) };
}

const form = {
  message: 'How many?',
  requestedSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] },
};
const text = (value: string) => ({ type: 'text', text: value });

/** A test of each row of the table in docs/mcp.md, by its first cell. */
const rows: Readonly<Record<string, () => Promise<void>>> = {
  async 'a tool without `"model"` in `_meta.ui.visibility`'() {
    const ui = (visibility: unknown) => ({ _meta: { ui: { visibility } } });
    const tools = [
      tool('show', ui(['model', 'app'])),
      tool('submit', ui(['app'])),
      tool('plain', { _meta: { ui: {} } }),
    ];
    const { mcp } = lab({ servers: { s: raw({ tools }) } });
    const model = scriptedModel([calls('submit'), says('ok')]);
    await using agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });

    const { messages } = await agent.run('go');

    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['mcp__s__show', 'mcp__s__plain']);
    expect(JSON.stringify(messages)).toContain('There is no tool');
    expect(await mcp.server('s').callTool('submit')).toEqual({ content: 'echo: {}' });
  },
  async '`structuredContent` of a result'() {
    const data = { projects: ['argo', 'bark'] };
    const summary = [text('2 projects found.')];

    expect(await readByModel({ content: summary, structuredContent: data })).toEqual([
      text('2 projects found.'),
      text('{"projects":["argo","bark"]}'),
    ]);
    const failed = { content: summary, structuredContent: data, isError: true };
    expect(JSON.stringify(await readByModel(failed))).toContain('argo');
    const again = JSON.stringify({ projects: ['argo', 'bark'] }, null, 2);
    expect(await readByModel({ content: [text(again)], structuredContent: data })).toBe(again);
    expect(await readByModel({ content: [text('5')], structuredContent: { result: 5 } })).toBe('5');
    expect(await readByModel({ content: [text('[]')], structuredContent: { content: '[]' } })).toBe('[]');
    const each = [text('"a"'), text('"b"')];
    expect(await readByModel({ content: each, structuredContent: { result: ['a', 'b'] } })).toEqual(each);
  },
  async 'structured content that violates the output schema'() {
    const outputSchema = { ...schema, properties: { n: { type: 'number' } } };
    const result = { content: [text('twelve')], structuredContent: { n: 'twelve!' } };

    expect(await readByModel(result, { outputSchema })).toBe('twelve');
  },
  async 'the reason of an abort'() {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp } = await connected({ servers: { s: raw({ log }) }, timeouts: { callMs: 100 }, system: { clock } });
    const controller = new AbortController();
    const calling = call(mcp, { name: 'hang', signal: controller.signal });
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('tools/call'));
    controller.abort(new RangeError('key sk-live-123 is used up'));

    await expect(calling).rejects.toThrow('key sk-live-123 is used up');
    const late = call(mcp, 'hang');
    clock.advance(100);
    expect(await late).toMatchObject({ content: expect.stringContaining('took longer than 100 ms') });
    const told = () => readLog(log).flatMap(({ received }) => (received?.method?.includes('cancel') ? [received] : []));
    await until(() => told().length === 2);
    const reason = 'The client no longer waits for the answer.';
    expect(told().map(({ params }) => params)).toEqual([
      { requestId: 2, reason },
      { requestId: 3, reason },
    ]);
  },
  async 'the message and the code of an error'() {
    const say = async (error: unknown) => {
      const { mcp } = await connected({ servers: { s: raw({ tools: [tool('t')], results: { t: { error } } }) } });
      return (await call(mcp, 't')).content;
    };
    const named = 'The MCP server "s"';

    expect(await say({ code: -32_001, message: 'Too busy' })).toBe(
      `${named} could not handle the request (-32001): Too busy`,
    );
    expect(await say({ message: 'No code' })).toBe(`${named} reports an error without a code (-32095): No code`);
    expect(await say({ code: null, message: 'No code' })).toContain('No code');
    expect(await say('only text')).toContain('only text');
    expect(await say({ reason: 'odd' })).toContain('{"reason":"odd"}');
  },
  async 'the answer to a question'() {
    const accept = (content: object): McpElicitationAnswer => ({ action: 'accept', content: content as never });
    const good = await asked(form, () => accept({ n: 2 }));
    const bad = await asked(form, () => accept({ n: 0 }));

    expect([good.read, good.lines]).toEqual([{ action: 'accept', content: { n: 2 } }, []]);
    expect(bad.read).toEqual({ action: 'cancel' });
    expect(bad.lines).toEqual([expect.stringContaining('does not match the form')]);
    expect((await asked(form, () => accept({}))).read).toEqual({ action: 'cancel' });
    expect((await asked(form, () => ({ action: 'decline', content: { n: 5 } }))).read).toEqual({ action: 'decline' });
  },
  async 'a question that the protocol does not allow'() {
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    for (const params of [
      { message: 5, requestedSchema: form.requestedSchema },
      { message: 'x' },
      { message: 'x', requestedSchema: { type: 'string' } },
      { message: 'x', requestedSchema: nested },
      { message: 'x', mode: 'dance' },
      { message: 'x', mode: 'url' },
    ]) {
      const { read, seen, lines } = await asked(params, () => ({ action: 'accept' }));
      expect(read).toMatchObject({ code: -32_602, message: expect.stringContaining('The question is invalid') });
      expect([seen, lines]).toEqual([[], [expect.stringContaining('its question is not asked')]]);
    }
  },
};

describe('who may read what of a server', () => {
  test.each(Object.entries(rows))('%s', async (_field, check) => check());

  test('docs/mcp.md has a row for each test', () => {
    const table = rowsOf(readPage('docs/mcp.md')).map(([field]) => field);

    expect(Object.keys(rows).filter((field) => !table.includes(field))).toEqual([]);
  });
});

describe('small deviations from the protocol', () => {
  test('progress with null fields restarts the time limit and is passed on', async () => {
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { s: raw({ tools: [tool('progress', {})], nulls: true }) },
      timeouts: { callMs: 400 },
      system: { clock },
    });
    const seen: unknown[] = [];
    const progress = (data: unknown) => {
      seen.push(data);
      clock.advance(300);
    };

    expect(await call(mcp, { name: 'progress', progress }, { steps: 4, everyMs: 1 })).toMatchObject({
      content: '4 steps',
    });
    expect(seen).toEqual([1, 2, 3, 4].map((at) => ({ progress: at })));
  });

  test.each([null, ''])('the cursor %j ends a list', async (nextCursor) => {
    const { mcp, logger } = await connected({
      servers: { s: raw({ pages: { size: 2, count: 1, last: nextCursor } }) },
    });

    expect(mcp.tools.list()).toHaveLength(2);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('a media type in capitals', async () => {
    const image = { content: [{ type: 'image', data: PNG, mimeType: 'IMAGE/PNG' }] };

    expect(await readByModel(image)).toEqual([{ type: 'image', image: PNG, mediaType: 'image/png' }]);
  });

  test('a session that is unknown in a response with status 200: the call says so, and the next has a new session', async () => {
    let sessions = 0;
    let isLost = false;
    const server = await handServer(({ method, headers, message }, response) => {
      if (method !== 'POST' || message?.id === undefined) return false;
      if (message.method === 'initialize') sessions += 1;
      if (message.method === 'tools/call' && !isLost) [isLost, sessions] = [true, sessions + 1];
      if (message.method === 'initialize') response.setHeader('mcp-session-id', `s${sessions}`);
      else if (headers['mcp-session-id'] !== `s${sessions}`) {
        reply(response, { jsonrpc: '2.0', id: message.id, error: { code: -32_001, message: 'Session not found' } });
        return true;
      }
      const own = { method, path: '', headers, message };
      if (message.method !== 'initialize') answer(own, response);
      else {
        const serverInfo = { name: 'hand', version: '1' };
        const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
        reply(response, { jsonrpc: '2.0', id: message.id, result });
      }
      return true;
    });
    const { mcp } = await connected({ servers: { s: { type: 'http', url: server.url } } });

    expect(await call(mcp, 'echo')).toMatchObject({
      isError: true,
      content: 'The MCP server "s" could not handle the request (-32001): Session not found',
    });
    expect(await mcp.server('s').callTool('echo')).toMatchObject({ content: 'answered' });
  });
});

test('a change of tools that is announced before a result is there in the next turn', async () => {
  const { mcp } = lab({ servers: { s: raw({ tools: [tool('grow')], next: [tool('grow'), tool('late')] }) } });
  const model = scriptedModel([calls('mcp__s__grow'), calls('mcp__s__late'), says('done')]);
  await using agent = new Agent({ model, loaders: [mcp], logger: keepingLogger() });

  const { messages } = await agent.run('go');

  expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(['mcp__s__grow', 'mcp__s__late']);
  expect(JSON.stringify(messages)).toContain('echo: {}');
});
