import { describe, expect, test } from 'vitest';
import { within } from '../../support/agent/settle.js';
import { call, connected, lab, raw } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

/** Returns the longest delay of a 10 ms timer while `work` runs. */
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

describe('a server that writes endlessly', () => {
  test.each([
    ['plain lines', 'x'],
    ['lines of a JSON logger', '{"level":30,"msg":"ready"}'],
    ['almost valid messages', '{"jsonrpc":"2.0"}'],
    ['notifications', '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'],
  ])(
    'writes %s endlessly without blocking other servers, and ends on close',
    async (_title, line) => {
      const { mcp } = await connected({
        servers: { loud: raw({ tools: [tool('flood')] }), other: raw() },
        timeouts: { callMs: 1_000 },
      });
      const flood = call(mcp, 'flood', { lines: [line] });

      const delay = await delayDuring(async () => {
        for (let count = 0; count < 5; count++) expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
        await flood;
      });
      expect(delay).toBeLessThan(2_000);
      await within(mcp.close(), 6_000);
    },
    20_000,
  );
});

describe('a response', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":ID,"result":null}', 'the response has neither a result nor an error'],
    ['{"jsonrpc":"2.0","id":ID}', 'the response has neither a result nor an error'],
    ['{"jsonrpc":"2.0","id":ID,"error":"no"}', 'the response has neither a result nor an error'],
  ])('fails a call at once after an invalid response: %s', async (line, problem) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await within(call(mcp, 'line', { line }), 2_000)).toMatchObject({
      isError: true,
      content: `The MCP server "raw" sent an invalid response (-32096): ${problem}`,
    });
  });

  test.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]},"error":null}',
    '{"result":{"content":[{"type":"text","text":"fine"}]},"id":"ID","jsonrpc":"2.0","extra":[1]}',
  ])('accepts a response with unknown fields: %s', async (line) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await within(call(mcp, 'line', { line }), 2_000)).toMatchObject({ content: 'fine' });
  });
});

test('a server with an invalid response to the handshake is unavailable, with a readable error', async () => {
  const script = `process.stdin.once('data', () => console.log(JSON.stringify({
    jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } })))`;
  const { mcp } = lab({ servers: { odd: { command: process.execPath, args: ['-e', script] } } });
  await mcp.connect();

  expect(mcp.status()[0]?.lastError).toMatch(
    /^The MCP server "odd" sent an invalid response: capabilities: .+; serverInfo: [^\n]+$/,
  );
});
