import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { McpServerConfig } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { handServer } from '../../support/mcp/http-server.js';
import { asProcesses, connected, raw } from '../../support/mcp/lab.js';
import { bareServer, bareServerOverHttp } from '../../support/mcp/new-servers.js';
import { bundle } from '../../support/process/bundle.js';

const program = await bundle(fileURLToPath(new URL('../../support/mcp/with-old-sdk.ts', import.meta.url)));
const FUTURE = { revisions: ['2030-01-01', '2031-01-01'], refusal: -32_022 };

async function errorOf(config: McpServerConfig): Promise<string> {
  const { mcp } = await connected({ servers: { a: config }, system: asProcesses });
  expect(mcp.status()[0]?.state).toBe('unavailable');
  return mcp.status()[0]?.lastError ?? '';
}

test.each([
  ['stdio', async () => bareServer(FUTURE)],
  [
    'stdio, which lists its revisions at the handshake',
    async () => bareServer({ ...FUTURE, data: { supported: FUTURE.revisions } }),
  ],
  ['HTTP', async () => ({ url: (await bareServerOverHttp(FUTURE)).url })],
] as const)('a server of neither revision is told from others over %s', async (_title, start) => {
  expect(await errorOf(await start())).toMatch(
    /^MCP server "a" could not be connected to: it speaks the MCP revisions 2030-01-01, 2031-01-01, and it was offered [\d-]+(?: and [\d-]+)?\. Update the server, or Keelson and its SDK\.$/,
  );
});

test('a server of older revisions that is pinned to 2026-07-28 is unavailable, and the error says what to do', async () => {
  const advice = 'it refused the MCP revision 2026-07-28. Remove `protocol` from its configuration.';
  const { url } = await handServer();

  expect(await errorOf({ url, type: 'http', protocol: '2026-07-28' })).toContain(advice);
  expect(await errorOf(raw({}, { protocol: '2026-07-28' }))).toContain(advice);
});

test('a server that answers the handshake with an unknown revision is unavailable, and the error names it', async () => {
  const { url } = await handServer(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    const result = { protocolVersion: '2030-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    return true;
  });

  expect(await errorOf({ url, type: 'http' })).toContain('it speaks the MCP revisions 2030-01-01');
});

test('a server of 2026-07-28 is connected to later if its gateway refused the first question', async () => {
  let questions = 0;
  const { url } = await handServer(({ message }, response) => {
    const { id, method } = message ?? {};
    const send = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    const supported = ['2026-07-28'];
    if (method === 'server/discover') {
      questions += 1;
      if (questions === 1) response.writeHead(502).end('Bad gateway');
      else send(200, { result: { resultType: 'complete', supportedVersions: supported, capabilities: { tools: {} } } });
    } else if (method === 'initialize') send(400, { error: { code: -32_022, message: 'No', data: { supported } } });
    else return false;
    return true;
  });
  const { mcp } = await connected({ servers: { a: { url, type: 'http' } } });

  await until(() => mcp.status()[0]?.state === 'connected');

  expect(mcp.status()[0]?.protocolVersion).toBe('2026-07-28');
});

test('a server over SSE cannot be pinned to 2026-07-28', async () => {
  const { mcp } = await connected({
    servers: { a: { url: 'http://127.0.0.1:1/sse', type: 'sse', protocol: '2026-07-28' } },
  });

  expect(mcp.status()[0]).toMatchObject({
    state: 'invalid',
    lastError: expect.stringContaining('`protocol` "2026-07-28" needs the type "stdio" or "http", got "sse"'),
  });
});

test('`protocol` must be a known revision', async () => {
  const { mcp } = await connected({ servers: { a: raw({}, { protocol: '2024' as never }) } });

  expect(mcp.status()[0]?.lastError).toContain('`protocol` must be "auto", "2025-11-25" or "2026-07-28"');
});

/** Connects to servers in a process of its own, whose installation has only `@modelcontextprotocol/sdk`. */
function inOldInstallation(servers: Readonly<Record<string, McpServerConfig>>): Readonly<Record<string, string>> {
  const { stdout, stderr } = spawnSync(process.execPath, [program, JSON.stringify(servers)], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('with the older SDK alone, older servers work, and the error of a newer one names the package to install', async () => {
  const states = inOldInstallation({
    old: raw(),
    stdio: bareServer(),
    http: { url: (await bareServerOverHttp({ refusal: -32_022 })).url },
    pinned: raw({}, { protocol: '2026-07-28' }),
  });

  expect(states.old).toBe('connected');
  for (const name of ['stdio', 'http', 'pinned']) {
    expect(states[name]).toContain('npm install @modelcontextprotocol/client');
  }
});
