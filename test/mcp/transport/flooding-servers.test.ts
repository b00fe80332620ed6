import { describe, expect, test } from 'vitest';
import { within } from '../../support/agent/settle.js';
import { call, connected, lab, raw } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

/** The longest that a timer of 10 ms came late while the work went on. */
async function delayDuring(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let worst = 0;
  const timer = setInterval(() => {
    worst = Math.max(worst, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  await work().finally(() => clearInterval(timer));
  return worst;
}

describe('a server that writes without end', () => {
  test.each([
    ['lines of text', 'x'],
    ['the lines of a logger', '{"level":30,"msg":"ready"}'],
    ['what is nearly a message', '{"jsonrpc":"2.0"}'],
    ['notifications', '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'],
  ])(
    '%s keeps nobody else waiting, and is gone on close',
    async (_title, line) => {
      const { mcp } = await connected({
        servers: { loud: raw({ tools: [tool('flood')] }), other: raw() },
        timeouts: { callMs: 1_000 },
      });
      const flood = call(mcp, 'flood', { lines: [line] });

      const delay = await delayDuring(async () => {
        for (let at = 0; at < 5; at++) expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
        await flood;
      });
      expect(delay).toBeLessThan(2_000);
      await within(mcp.close(), 6_000);
    },
    20_000,
  );
});

describe('an answer', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":ID,"result":null}', 'it has neither a result nor an error'],
    ['{"jsonrpc":"2.0","id":ID}', 'it has neither a result nor an error'],
    ['{"jsonrpc":"2.0","id":ID,"error":"no"}', 'it has neither a result nor an error'],
  ])('that is none fails its call at once: %s', async (line, problem) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await within(call(mcp, 'line', { line }), 2_000)).toMatchObject({
      isError: true,
      content: `The MCP server "raw" gave an answer that is none (-32096): ${problem}`,
    });
  });

  test.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]},"error":null}',
    '{"result":{"content":[{"type":"text","text":"fine"}]},"id":"ID","jsonrpc":"2.0","extra":[1]}',
  ])('with more in it than the protocol knows is one: %s', async (line) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await within(call(mcp, 'line', { line }), 2_000)).toMatchObject({ content: 'fine' });
  });
});

test('a server that ends the handshake in its own words is unavailable, with words that can be read', async () => {
  const script = `process.stdin.once('data', () => console.log(JSON.stringify({
    jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } })))`;
  const { mcp } = lab({ servers: { odd: { command: process.execPath, args: ['-e', script] } } });
  await mcp.connect();

  expect(mcp.status()[0]?.lastError).toMatch(
    /^The MCP server "odd" gave an answer that is none: capabilities: .+; serverInfo: [^\n]+$/,
  );
});
