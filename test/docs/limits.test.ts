import { describe, expect, onTestFinished, test } from 'vitest';
import { Agent, type Message, type ToolResultPart } from '../../src/index.js';
import { systemClock } from '../../src/internal/clock.js';
import { defaultLimits } from '../../src/mcp/config/settings.js';
import { boundedCheck } from '../../src/mcp/schema/bounded-check.js';
import { CheckWorker } from '../../src/mcp/schema/check-worker.js';
import { readToolSpec } from '../../src/mcp/tools/spec.js';
import { ProcessTransport } from '../../src/mcp/transport/process-transport.js';
import type { HookEventContext } from '../../src/shell-hooks/events/hook-event-context.js';
import { PendingMessages } from '../../src/shell-hooks/events/pending-messages.js';
import { EventProgress } from '../../src/shell-hooks/run/event-progress.js';
import { hookMessage } from '../../src/shell-hooks/run/text.js';
import { calls, scriptedModel } from '../../src/testing/testing.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { augmentedRun } from '../support/concepts/augmented-run.js';
import { readPage } from '../support/docs/doc-files.js';
import { call, connected, raw } from '../support/mcp/lab.js';

async function resultOf(give: () => unknown): Promise<ToolResultPart> {
  const agent = new Agent({ model: scriptedModel([calls('give'), 'done']), tools: [toolOf('give', give)] });
  const { messages } = await agent.run('go');
  return (messages[2] as Extract<Message, { role: 'tool' }>).content[0] as ToolResultPart;
}

/** Returns the heap that `work` leaves behind at its end, in bytes. */
async function heapAfter(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().heapUsed;
  await work();
  return process.memoryUsage().heapUsed - before;
}

const schema = { type: 'object' };
const specOf = (more: object) => readToolSpec({ name: 'tool', inputSchema: schema, ...more }, defaultLimits);

/** Sends ten times the limit, by the first cell of each row. */
const rows: Readonly<Record<string, () => Promise<void>>> = {
  async 'result of a tool'() {
    expect(await resultOf(() => 'x'.repeat(100_000_000))).toMatchObject({
      isError: true,
      content: 'The result has 100000000 characters, more than the limit of 10000000. Ask for less.',
    });
    const name = { type: 'file', data: '', mediaType: 'text/plain', filename: 'x'.repeat(100_000_000) };
    expect(await resultOf(() => [name])).toMatchObject({ isError: true });
  },
  async 'parts of a tool result'() {
    const part = { type: 'text', text: '' };
    expect(await resultOf(() => Array.from({ length: 100_000 }, () => part))).toMatchObject({
      isError: true,
      content: 'The result has 100000 parts, more than the limit of 10000. Ask for less.',
    });
  },
  async 'error of a tool'() {
    const cut = { isError: true, content: `${'x'.repeat(100_000)}… (1000000 characters)` };
    const text = 'x'.repeat(1_000_000);
    expect(await resultOf(() => Promise.reject(new Error(text)))).toMatchObject(cut);
    const big = raw({ tools: [{ name: 'fails', inputSchema: schema }] });
    const { mcp } = await connected({ servers: { big } });
    expect(await call(mcp, 'fails', { megabytes: 1 })).toBeDefined();
  },
  async 'message of an MCP server'() {
    const big = raw({ tools: [{ name: 'big', inputSchema: schema }] });
    const { mcp } = await connected({ servers: { big }, limits: { messageBytes: 1_000_000 } });
    const used = await heapAfter(async () => {
      expect(await call(mcp, 'big', { megabytes: 10 })).toMatchObject({
        isError: true,
        content: expect.stringContaining('more than 1000000 bytes'),
      });
    });
    expect(used).toBeLessThan(50_000_000);
  },
  async 'entries in a list of an MCP server'() {
    const { mcp, logger } = await connected({ servers: { many: raw({ pages: { size: 50, count: 200 } }) } });
    expect(mcp.tools.list()).toHaveLength(1_000);
    expect(logger.lines.join()).toContain('more than 1000 entries');
  },
  async 'characters in a list of an MCP server'() {
    const { mcp, logger } = await connected({
      servers: { many: raw({ pages: { size: 50, count: 200 } }) },
      limits: { tools: 10_000, messageBytes: 50_000 },
    });
    expect(mcp.tools.list().length).toBeLessThan(1_000);
    expect(mcp.tools.list().length).toBeGreaterThan(0);
    expect(logger.lines.join()).toContain('entries of more than 50000 characters');
  },
  async 'description of an MCP tool'() {
    const spec = specOf({ description: 'x'.repeat(40_000) });
    expect(spec).toMatchObject({ description: `${'x'.repeat(4_000)}… (40000 characters)` });
  },
  async 'schema of an MCP tool'() {
    const inputSchema = { type: 'object', description: 'x'.repeat(2_621_440) };
    expect(specOf({ inputSchema })).toMatchObject({ problem: expect.stringContaining('more than 262144') });
  },
  async 'check against a schema of an MCP server'() {
    const worker = new CheckWorker({ checkMs: 100 });
    const check = boundedCheck({ pattern: '^(a|a)*$' }, worker);
    const startedAt = performance.now();
    const { issues } = await check(`${'a'.repeat(40)}!`);
    expect(issues).toEqual([{ message: 'It takes too long to be checked.', path: [] }]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(worker.isRunning).toBe(false);
  },
  async 'messages that wait for an MCP server over stdio'() {
    const transport = new ProcessTransport({
      ...{ server: 'deaf', command: process.execPath, argv0: 'node', args: ['-e', 'setTimeout(() => {}, 60_000)'] },
      ...{ cwd: process.cwd(), env: {}, maxBytes: 100_000, clock: systemClock, spawn: undefined },
      ...{ signal: new AbortController().signal, onStderrLine: () => {} },
    });
    onTestFinished(() => transport.close());
    await transport.start();
    const params = { text: 'x'.repeat(100_000) };
    const sent = Array.from({ length: 40 }, () => transport.send({ jsonrpc: '2.0', method: 'note', params }));
    const outcomes = await Promise.allSettled(sent);
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(35);
    expect(transport.ending).toContain('it does not read its input');
  },
  async 'message of a hook'() {
    const { content } = hookMessage('loud', 'x'.repeat(100_000));
    expect(content).toContain('… (100000 characters)');
    expect(content.length).toBeLessThan(11_000);
  },
  async 'messages of all hooks at one event'() {
    const progress = new EventProgress({ event: 'before_agent', value: '' } as unknown as HookEventContext<string>);
    const reading = { data: {}, effects: { modelTexts: ['x'.repeat(10_000)] } };
    for (let at = 0; at < 100; at++) progress.take({ name: `hook${at}` } as never, {} as never, reading);
    const { modelTexts } = progress.result();
    expect(modelTexts).toHaveLength(11);
    expect(modelTexts.at(-1)?.text).toContain('Further messages of hooks are left out');
    const pending = new PendingMessages();
    for (let at = 0; at < 10; at++) pending.keep('s', modelTexts.slice(0, 10));
    const waiting = pending.take('s').reduce((sum, { content }) => sum + content.length, 0);
    expect(waiting).toBeGreaterThan(80_000);
    expect(waiting).toBeLessThanOrEqual(100_000);
  },
  async 'concepts of a tool call'() {
    const looked: string[] = [];
    const text = Array.from({ length: 1_000 }, (_, at) => `[[c${at}]]`).join(' ');
    const { log } = await augmentedRun({ text }, { buildContext: ({ conceptName }) => void looked.push(conceptName) });
    expect(looked).toHaveLength(100);
    expect(log).toContainEqual(expect.objectContaining({ level: 'warn', message: expect.stringContaining('1000') }));
  },
  async 'contexts of all concepts of a tool call'() {
    const text = '[[a]] [[b]]';
    const { received } = await augmentedRun({ text }, { buildContext: () => 'x'.repeat(5_000_000) });
    const given = (received[0] as { text: string }).text;
    expect(given).toContain('characters)');
    expect(given.length).toBeLessThan(1_001_000);
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

describe('ten times the limit:', () => {
  test.each(Object.entries(rows))('%s', (_name, work) => work());
});
