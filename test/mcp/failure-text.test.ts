import { describe, expect, test } from 'vitest';
import { failureText, withoutPages } from '../../src/mcp/server-log.js';
import { growth } from '../support/growth.js';
import { handServer } from '../support/mcp/http-server.js';
import { connected, raw, stateOf } from '../support/mcp/lab.js';

const page = '<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body><p>No such page</p></body></html>';

describe('a page of HTML', () => {
  test('is replaced with its title', () => {
    expect(withoutPages(`It said: ${page}. End`)).toBe('It said: (a page of HTML with the title "404 Not Found"). End');
    expect(withoutPages('<html><body>cut off')).toBe('(a page of HTML)');
    expect(withoutPages('a < b, <p>fine</p>')).toBe('a < b, <p>fine</p>');
    expect(failureText(new Error(page))).not.toContain('<');
  });

  test('takes linear time', async () => {
    const replace = (size: number) => () => withoutPages('<html '.repeat(size));

    expect(await growth(2_000, replace)).toBeLessThan(100);
  });

  test('of a server is neither logged nor shown in its status', async () => {
    const server = await handServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end(page);
      return true;
    });
    const { mcp, logger } = await connected({ servers: { a: { url: server.url } }, reconnect: false });

    expect(stateOf(mcp, 'a')).toBe('unavailable');
    expect(mcp.status()[0]?.lastError).toContain('(a page of HTML with the title "404 Not Found")');
    expect(logger.lines.join('\n')).not.toContain('<');
  });
});

test('a description above the limit is reported once for each tool, also after a reconnection', async () => {
  const tool = { name: 'long', description: 'x'.repeat(60), inputSchema: { type: 'object' } };
  const { mcp, logger } = await connected({
    servers: { a: raw({ tools: [tool, { ...tool, name: 'short', description: 'x' }] }) },
    limits: { descriptionLength: 50 },
  });
  await mcp.server('a').restart();

  expect(logger.lines.filter((line) => line.includes('is cut'))).toEqual([
    'warn: MCP server "a": the description of tool "long" is cut at 50 characters; raise `limits.descriptionLength`',
  ]);
});
