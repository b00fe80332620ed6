import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import { asProcesses, call, connected, lab, raw } from '../../support/mcp/lab.js';
import { longestHold } from '../../support/mcp/longest-hold.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

describe('a server that writes endlessly', () => {
  test.each([
    ['plain lines', 'x'],
    ['lines of a JSON logger', '{"level":30,"msg":"ready"}'],
    ['almost valid messages', '{"jsonrpc":"2.0"}'],
    ['notifications', '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'],
  ])('writes %s endlessly without blocking other servers, and ends on close', async (_title, line) => {
    const { mcp } = await connected({
      servers: { loud: raw({ tools: [tool('flood')] }), other: raw() },
      system: asProcesses,
    });
    const controller = new AbortController();
    const flood = call(mcp, { name: 'flood', signal: controller.signal }, { lines: [line] });

    const hold = await longestHold(async () => {
      for (let count = 0; count < 20; count++) expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
    }, 900);
    expect(hold).toBeLessThan(1_000);
    controller.abort(new RangeError('enough'));
    expect(await rejectionOf(flood)).toEqual(new RangeError('enough'));
    await mcp.close();
  });
});

const NEITHER = 'sent an invalid response (-32096): the response has neither a result nor an error';

describe('a response', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":ID,"result":null}', NEITHER],
    ['{"jsonrpc":"2.0","id":ID}', NEITHER],
    ['{"jsonrpc":"2.0","id":ID,"error":"no"}', 'reports an error without a code (-32095): no'],
  ])('fails a call at once after an invalid response: %s', async (line, problem) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await call(mcp, 'line', { line })).toMatchObject({
      isError: true,
      content: `The MCP server "raw" ${problem}`,
    });
  });

  test.each([
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]},"error":null}',
    '{"result":{"content":[{"type":"text","text":"fine"}]},"id":"ID","jsonrpc":"2.0","extra":[1]}',
  ])('accepts a response with unknown fields: %s', async (line) => {
    const { mcp } = await connected({ servers: { raw: raw({ tools: [tool('line')] }) } });

    expect(await call(mcp, 'line', { line })).toMatchObject({ content: 'fine' });
  });
});

test('a server with an invalid response to the handshake is unavailable, with a readable error', async () => {
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } });
  const args = ['-c', 'read -r line; printf "%s\\n" "$0"; cat > /dev/null', answer];
  const { mcp } = lab({ servers: { odd: { command: '/bin/sh', args } } });
  await mcp.connect();

  expect(mcp.status()[0]?.lastError).toMatch(
    /^The MCP server "odd" sent an invalid response: capabilities: .+; serverInfo: [^\n]+$/,
  );
});
