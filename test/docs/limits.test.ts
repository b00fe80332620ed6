import { describe, expect, onTestFinished, test } from 'vitest';
import { Agent, type Message, type ToolResultPart } from '../../src/index.js';
import { systemClock } from '../../src/internal/clock.js';
import { toolSearch } from '../../src/lifecycles/lifecycles.js';
import { defaultLimits } from '../../src/mcp/config/settings.js';
import { requestError } from '../../src/mcp/connection/request-error.js';
import { boundedCheck, CheckWorker } from '../../src/mcp/schema/bounded-check.js';
import { readToolSpec } from '../../src/mcp/tools/spec.js';
import { HttpStatusError } from '../../src/mcp/transport/http-client.js';
import { ProcessTransport } from '../../src/mcp/transport/process-transport.js';
import { PendingMessages } from '../../src/shell-hooks/events/run-state.js';
import type { HookEventContext } from '../../src/shell-hooks/hook/event-context.js';
import { hookMessage } from '../../src/shell-hooks/hook/text.js';
import { EventProgress } from '../../src/shell-hooks/run/outcome.js';
import { calls, scriptedModel } from '../../src/testing/testing.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { augmentedRun } from '../support/concepts/augmented-run.js';
import { readPage } from '../support/docs/doc-files.js';
import { heldBytes } from '../support/docs/held-bytes.js';
import { call, connected, raw } from '../support/mcp/lab.js';

async function resultOf(give: () => unknown): Promise<ToolResultPart> {
  const agent = new Agent({ model: scriptedModel([calls('give'), 'done']), tools: [toolOf('give', give)] });
  const { messages } = await agent.run('go');
  return (messages[2] as Extract<Message, { role: 'tool' }>).content[0] as ToolResultPart;
}

const schema = { type: 'object' };
const specOf = (more: object) => readToolSpec({ name: 'tool', inputSchema: schema, ...more }, defaultLimits);

/** Runs a check whose errors have ten times the memory of the worker. Returns its result and the most memory, in bytes. */
async function heavyCheck() {
  const members = Array.from({ length: 1_000 }, (_, at) => `${'x'.repeat(95)}${at}`);
  const refer = (name: string, count: number) => Array.from({ length: count }, () => ({ $ref: `#/$defs/${name}` }));
  const $defs = { errors: { enum: members }, many: { anyOf: refer('errors', 500) } };
  const check = boundedCheck({ $defs, anyOf: refer('many', 54) }, new CheckWorker({ checkMs: 20_000 }));
  const before = process.memoryUsage.rss();
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  }, 5);
  const result = await check('none');
  clearInterval(timer);
  return { result, peak };
}

/** Answers with ten times the limits. */
const loudServer = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const capabilities = { tools: {} };
const answers = {
  initialize: { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'loud', version: '1' } },
  'tools/list': { tools: [{ name: 'fail', inputSchema: { type: 'object' } }] },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const text = 'x'.repeat(100_000);
  if (answers[method]) return send({ id, result: answers[method] });
  if (method !== 'tools/call') return;
  send({ id, error: { code: -32_000, message: text, data: { text } } });
});`;

async function loud() {
  const { mcp, logger } = await connected({
    servers: { loud: { command: process.execPath, args: ['-e', loudServer] } },
  });
  return { server: mcp.server('loud'), logger };
}

const lineTool = { name: 'line', inputSchema: schema };
const answerLine = '{"jsonrpc":"2.0","id":ID,"result":{"content":"done"}}';

/** Lets a server write lines with questions that nobody answers. Returns the questions that were asked, and the log. */
async function questions(text: string) {
  const seen: unknown[] = [];
  const { mcp, logger } = await connected({
    servers: { raw: raw({ tools: [lineTool] }) },
    elicit({ signal, ...question }) {
      seen.push(question);
      return new Promise(() => {});
    },
  });
  await call(mcp, 'line', { line: text + answerLine });
  return { seen, lines: logger.lines };
}

/** A test of one row. */
interface Row {
  /** The limit in bytes. A character of ASCII is one byte. */
  readonly bytes: number;
  /** Number of times that the limit is exceeded, so that the input is large beside the noise of the measurement. */
  readonly times: number;
  /** Sends ten times the limit. Resolves with everything that Keelson keeps of the input. */
  readonly send: () => Promise<unknown>;
}

/** The tests by the first cell of each row. */
const rows: Readonly<Record<string, Row>> = {
  'result of a tool': {
    ...{ bytes: 10_000_000, times: 1 },
    async send() {
      const long = await resultOf(() => 'x'.repeat(100_000_000));
      expect(long).toMatchObject({
        isError: true,
        content: 'The result has 100000000 characters, more than the limit of 10000000. Ask for less.',
      });
      const name = { type: 'file', data: '', mediaType: 'text/plain', filename: 'x'.repeat(100_000_000) };
      const named = await resultOf(() => [name]);
      expect(named).toMatchObject({ isError: true });
      const inside = { type: 'text', text: '', metadata: { notes: ['x'.repeat(100_000_000)] } };
      const nested = await resultOf(() => [inside]);
      expect(nested).toMatchObject({ isError: true });
      return [long, named, nested];
    },
  },
  'parts of a tool result': {
    ...{ bytes: 1_000_000, times: 1 },
    async send() {
      const result = await resultOf(() =>
        Array.from({ length: 100_000 }, (_, at) => ({ type: 'text', text: `${at}` })),
      );
      expect(result).toMatchObject({
        isError: true,
        content: 'The result has 100000 parts, more than the limit of 10000. Ask for less.',
      });
      return result;
    },
  },
  'error of a tool': {
    ...{ bytes: 100_000, times: 30 },
    async send() {
      const cut = { isError: true, content: `${'x'.repeat(100_000)}… (1000000 characters)` };
      const text = 'x'.repeat(1_000_000);
      const result = await resultOf(() => Promise.reject(new Error(text)));
      expect(result).toMatchObject(cut);
      return result;
    },
  },
  'message of an MCP server': {
    ...{ bytes: 1_000_000, times: 2 },
    async send() {
      const big = raw({ tools: [{ name: 'big', inputSchema: schema }] });
      const { mcp } = await connected({ servers: { big }, limits: { messageBytes: 1_000_000 } });
      const before = process.memoryUsage().heapUsed;
      const result = await call(mcp, 'big', { megabytes: 10 });
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
      expect(result).toMatchObject({ isError: true, content: expect.stringContaining('more than 1000000 bytes') });
      return [mcp, result];
    },
  },
  'levels of arrays and objects in a message of an MCP server': {
    ...{ bytes: 1_000_000, times: 1 },
    async send() {
      const { mcp } = await connected({ servers: { deep: raw({ tools: [{ name: 'line', inputSchema: schema }] }) } });
      const line = `{"jsonrpc":"2.0","id":ID,"result":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`;
      const result = await call(mcp, 'line', { line });
      expect(result).toMatchObject({ isError: true, content: expect.stringContaining('more than 500 levels') });
      return [mcp, result];
    },
  },
  'entries in a list of an MCP server': {
    ...{ bytes: 1_000_000, times: 1 },
    async send() {
      const { mcp, logger } = await connected({ servers: { many: raw({ pages: { size: 50, count: 200 } }) } });
      expect(mcp.tools.list()).toHaveLength(1_000);
      expect(logger.lines.join()).toContain('more than 1000 entries');
      return [mcp, logger];
    },
  },
  'questions of an MCP server that wait for an answer': {
    ...{ bytes: 1_000_000, times: 1 },
    async send() {
      const question = (at: number) =>
        `{"jsonrpc":"2.0","id":"q${at}","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}\n`;
      const asked = await questions(Array.from({ length: 100 }, (_, at) => question(at)).join(''));
      expect(asked.seen).toHaveLength(10);
      expect(asked.lines.filter((line) => line.includes('10 others wait'))).toHaveLength(1);
      return asked;
    },
  },
  'question of an MCP server': {
    ...{ bytes: 262_144, times: 4 },
    async send() {
      const question = (id: string, text: string, title: string) =>
        `{"jsonrpc":"2.0","id":"${id}","method":"elicitation/create","params":{"message":"${text}","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"${title}"}}}}}\n`;
      const long = 'x'.repeat(100_000);
      const asked = await questions(question('a', long, '') + question('b', '', 'x'.repeat(2_621_440)));
      expect(asked.seen).toHaveLength(1);
      expect(JSON.stringify(asked.seen).length).toBeLessThan(11_000);
      expect(asked.lines.filter((line) => line.includes('its form or URL has'))).toHaveLength(1);
      return asked;
    },
  },
  'message of a notification of progress or of the log, from an MCP server': {
    ...{ bytes: 20_000, times: 1 },
    async send() {
      const { mcp, logger } = await connected({ servers: { raw: raw({ tools: [lineTool] }) } });
      const long = 'x'.repeat(100_000);
      const note = (method: string, params: object) =>
        `${JSON.stringify({ jsonrpc: '2.0', method: `notifications/${method}`, params })}\n`;
      const progress = note('progress', { progressToken: 'ID', progress: 1, message: long }).replace('"ID"', 'ID');
      const seen: unknown[] = [];
      const line = progress + note('message', { level: 'info', data: long }) + answerLine;
      await call(mcp, { name: 'line', progress: (data) => seen.push(data) }, { line });
      expect(seen).toHaveLength(1);
      expect(JSON.stringify(seen[0]).length).toBeLessThan(11_000);
      expect(logger.lines.filter((text) => text.includes('xxx'))).toHaveLength(1);
      return [seen, logger];
    },
  },
  'message, data and body in the cause of an `McpRequestError`': {
    ...{ bytes: 30_000, times: 10 },
    async send() {
      const { server } = await loud();
      const failed = await server.callTool('fail').then(String, (error: Error) => error);
      const { cause } = failed as { readonly cause?: Error & { readonly data?: object } };
      expect(cause?.message.length).toBeLessThan(11_000);
      expect(JSON.stringify(cause?.data).length).toBeLessThan(22_000);
      expect(JSON.stringify(cause?.data)).toContain('characters)');
      const refused = requestError('loud', new HttpStatusError(500, 'x'.repeat(100_000)));
      expect((refused.cause as HttpStatusError).detail.length).toBeLessThan(11_000);
      return [failed, refused];
    },
  },
  'characters in a list of an MCP server': {
    ...{ bytes: 50_000, times: 1 },
    async send() {
      const { mcp, logger } = await connected({
        servers: { many: raw({ pages: { size: 50, count: 200 } }) },
        limits: { tools: 10_000, messageBytes: 50_000 },
      });
      expect(mcp.tools.list().length).toBeLessThan(1_000);
      expect(mcp.tools.list().length).toBeGreaterThan(0);
      expect(logger.lines.join()).toContain('entries of more than 50000 characters');
      return [mcp, logger];
    },
  },
  'description of an MCP tool': {
    ...{ bytes: 4_000, times: 600 },
    async send() {
      const spec = specOf({ description: 'x'.repeat(40_000) });
      expect(spec).toMatchObject({ description: `${'x'.repeat(4_000)}… (40000 characters)` });
      return spec;
    },
  },
  'schema of an MCP tool': {
    ...{ bytes: 262_144, times: 10 },
    async send() {
      const inputSchema = { type: 'object', description: 'x'.repeat(2_621_440) };
      const spec = specOf({ inputSchema });
      expect(spec).toMatchObject({ problem: expect.stringContaining('more than 262144') });
      return spec;
    },
  },
  'check against a schema of an MCP server': {
    ...{ bytes: 1_000_000, times: 1 },
    async send() {
      const worker = new CheckWorker({ checkMs: 100 });
      const check = boundedCheck({ pattern: '^(a|a)*$' }, worker);
      const result = await check(`${'a'.repeat(40)}!`);
      expect(result.issues).toEqual([{ message: 'It takes too long to be checked.', path: [] }]);
      expect(worker.isRunning).toBe(false);
      return [worker, result];
    },
  },
  'messages that wait for an MCP server over stdio': {
    ...{ bytes: 400_000, times: 1 },
    async send() {
      const transport = new ProcessTransport({
        ...{ server: 'deaf', command: process.execPath, argv0: 'node', args: ['-e', 'setTimeout(() => {}, 60_000)'] },
        ...{ cwd: process.cwd(), env: {}, maxBytes: 100_000, clock: systemClock, spawn: undefined },
        ...{ signal: new AbortController().signal, redact: (text: string) => text, onStderrLine: () => {} },
      });
      onTestFinished(() => transport.close());
      await transport.start();
      const params = { text: 'x'.repeat(100_000) };
      const sent = Array.from({ length: 40 }, () => transport.send({ jsonrpc: '2.0', method: 'note', params }));
      const outcomes = await Promise.allSettled(sent);
      expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(30);
      expect(transport.ending).toContain('it does not read its input');
      return transport;
    },
  },
  'message of a hook': {
    ...{ bytes: 10_000, times: 300 },
    async send() {
      const { content } = hookMessage('loud', 'x'.repeat(100_000));
      expect(content).toContain('… (100000 characters)');
      expect(content.length).toBeLessThan(11_000);
      return content;
    },
  },
  'messages of all hooks at one event': {
    ...{ bytes: 100_000, times: 30 },
    async send() {
      const progress = new EventProgress({ event: 'before_agent', value: '' } as unknown as HookEventContext<string>);
      const finished = { outcome: {} as never, reading: { data: {}, effects: { modelTexts: ['x'.repeat(10_000)] } } };
      for (let at = 0; at < 100; at++) progress.take({ name: `hook${at}` } as never, finished);
      const { modelTexts } = progress.result();
      expect(modelTexts).toHaveLength(11);
      expect(modelTexts.at(-1)?.text).toContain('Further messages of hooks are left out');
      const pending = new PendingMessages();
      for (let at = 0; at < 10; at++) pending.keep('s', modelTexts.slice(0, 10));
      const waiting = pending.take('s').reduce((sum, { content }) => sum + content.length, 0);
      expect(waiting).toBeGreaterThan(80_000);
      expect(waiting).toBeLessThanOrEqual(100_000);
      return modelTexts;
    },
  },
  'concepts of a tool call': {
    ...{ bytes: 100_000, times: 20 },
    async send() {
      const looked: string[] = [];
      const text = Array.from({ length: 1_000 }, (_, at) => `[[c${at}]]`).join(' ');
      const { log, received } = await augmentedRun(
        { text },
        {
          buildContext: ({ conceptName }) => {
            looked.push(conceptName);
            return 'x'.repeat(1_000);
          },
        },
      );
      expect(looked).toHaveLength(100);
      expect(log).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('1000') }));
      return [looked, log, received];
    },
  },
  'contexts of all concepts of a tool call': {
    ...{ bytes: 1_000_000, times: 3 },
    async send() {
      const text = '[[a]] [[b]]';
      const { received } = await augmentedRun({ text }, { buildContext: () => 'x'.repeat(5_000_000) });
      const given = (received[0] as { text: string }).text;
      expect(given).toContain('characters)');
      expect(given.length).toBeLessThan(1_001_000);
      return received;
    },
  },
  'query of a search by `toolSearch`': {
    ...{ bytes: 5_000, times: 20 },
    async send() {
      const model = scriptedModel([calls('search_tools', { query: 'x'.repeat(5_000) }), 'done']);
      const tools = [toolOf('give', () => 'given')];
      const agent = new Agent({ model, tools, lifecycle: [toolSearch({ over: 0 })] });
      const { messages } = await agent.run('go');
      expect(JSON.stringify(messages[2])).toContain('the first 500 characters');
      return messages;
    },
  },
};

const page = readPage('docs/limits.md');
const documented = [
  ...page.matchAll(/^\| ([^|]+) \| [^|]*\d[^|]*\|[^|]+\|$|^\| ([^|]+) \| as many as[^|]*\|[^|]+\|$/gm),
];

test('each row of the table has a test', () => {
  expect(documented.map(([, first, second]) => (first ?? second ?? '').trim()).sort()).toEqual(
    Object.keys(rows).sort(),
  );
});

/** Bytes that code and caches may take in a measurement. */
const NOISE = 4_000_000;

describe('ten times the limit, and memory near the limit:', () => {
  test.each(Object.entries(rows))('%s', { timeout: 30_000 }, async (_name, { bytes, times, send }) => {
    // The first run loads code.
    await send();

    // A mark such as `…` doubles the bytes of a character.
    expect(await heldBytes(send, times)).toBeLessThan(2 * bytes * times + NOISE);
  });
});

test('a check that needs ten times the memory of the worker ends within twice that memory', async () => {
  const { result, peak } = await heavyCheck();

  expect(result.issues).toEqual([{ message: 'It takes too much memory to be checked.', path: [] }]);
  expect(peak).toBeLessThan(2 * 256 * 1024 ** 2);
}, 30_000);
