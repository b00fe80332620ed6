import type { McpServerConfig, McpServers } from 'keelson/mcp';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { type AtEnd, asProcesses, call, connected, type Lab } from '../../support/mcp/lab.js';
import {
  balanced,
  bareServer,
  bareServerOverHttp,
  sdkServer,
  sdkServerOverHttp,
} from '../../support/mcp/new-servers.js';

const ends: (() => Promise<void> | void)[] = [];
/** The servers of this file start once, because each start takes long. */
const atEnd: AtEnd = (end) => void ends.push(end);
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const sdkOverHttp = once(() => sdkServerOverHttp(atEnd));
const bareOverHttp = once(() => bareServerOverHttp({}, atEnd));
const bareWithEvents = once(() => bareServerOverHttp({ events: true }, atEnd));
const balancer = once(async () => {
  const servers = await Promise.all([sdkServerOverHttp(atEnd), sdkServerOverHttp(atEnd)]);
  return { url: await balanced(servers, atEnd) };
});

/** Servers that refuse every revision before 2026-07-28. */
const SERVERS: readonly (readonly [string, () => McpServerConfig | Promise<McpServerConfig>])[] = [
  ['the server of the SDK over stdio', sdkServer],
  ['the server of the SDK over HTTP', urlOf(sdkOverHttp)],
  ['two processes behind a load balancer', urlOf(balancer)],
  ['a server without a library over stdio', bareServer],
  ['a server without a library over HTTP', urlOf(bareOverHttp)],
  ['a server that answers with events', urlOf(bareWithEvents)],
];

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start();
    return started;
  };
}

function urlOf(server: () => Promise<{ readonly url: string }>): () => Promise<McpServerConfig> {
  return async () => ({ url: (await server()).url });
}

/** Connects to one server that runs as a process. */
async function open(config: McpServerConfig, end?: AtEnd): Promise<Lab> {
  const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const;
  const roots = [{ uri: 'file:///work', name: 'work' }];
  return connected({ servers: { a: config }, system: asProcesses, elicit, roots }, end);
}

const labs = new Map<unknown, Promise<Lab>>();

/** Returns the connection that the tests of one server share. */
function opened(start: () => McpServerConfig | Promise<McpServerConfig>): Promise<Lab> {
  const known = labs.get(start) ?? Promise.resolve(start()).then((config) => open(config, atEnd));
  labs.set(start, known);
  return known;
}

describe.each(SERVERS)('%s', (_title, start) => {
  test('is connected without any configuration of the revision, and its tools can be called', async () => {
    const { mcp } = await opened(start);

    expect(mcp.status()[0]).toMatchObject({ state: 'connected', protocolVersion: '2026-07-28' });
    expect(mcp.status()[0]?.instructions).toBeDefined();
    expect(await call(mcp, 'echo', { said: 'hello' })).toMatchObject({ content: expect.stringContaining('hello') });
  });

  test('can be pinned to 2026-07-28', async () => {
    const { mcp } = await open({ ...(await start()), protocol: '2026-07-28' });

    expect(mcp.status()[0]).toMatchObject({ state: 'connected', protocolVersion: '2026-07-28' });
  });

  test('tells what to do if it is pinned to 2025-11-25', async () => {
    const { mcp } = await open({ ...(await start()), protocol: '2025-11-25' });

    expect(mcp.status()[0]?.state).toBe('unavailable');
    expect(mcp.status()[0]?.lastError).toMatch(/revisions? .*Remove `protocol` from its configuration\.$/);
  });
});

describe.each(SERVERS.slice(0, 3))('%s', (_title, start) => {
  test('sends every kind of content', async () => {
    const { mcp } = await opened(start);

    expect(await call(mcp, 'kinds')).toMatchObject({
      content: [
        { type: 'text', text: 'words' },
        { type: 'image', image: expect.stringMatching(/^iVBOR/), mediaType: 'image/png' },
        { type: 'file', data: 'UklGRg==', mediaType: 'audio/wav' },
        { type: 'text', text: '[resource memo://1]\na memo' },
        { type: 'file', data: 'UEs=', mediaType: 'application/zip', filename: '2.bin' },
        { type: 'text', text: '[resource link memo://3: three, text/plain]' },
        { type: 'text', text: '{"total":6}' },
      ],
      structured: { total: 6 },
    });
    expect(await call(mcp, 'fail')).toMatchObject({ content: 'out of order', isError: true });
  });

  test('asks the user and for the roots, and gets its own state back', async () => {
    const { mcp } = await opened(start);

    expect(await call(mcp, 'ask')).toMatchObject({
      content: JSON.stringify([{ action: 'accept', content: { name: 'Ada' } }, 'opaque']),
    });
    expect(await call(mcp, 'roots')).toMatchObject({
      content: JSON.stringify({ roots: [{ uri: 'file:///work', name: 'work' }] }),
    });
  });

  test('reports its progress and its log with a call, and gets an argument as a header', async () => {
    const { mcp, logger } = await opened(start);
    const seen: unknown[] = [];

    await call(mcp, { name: 'steps', progress: (data) => seen.push(data) });

    expect(seen).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    expect(logger.lines).toContain('warn: MCP server "a": two steps');
    expect(await call(mcp, 'route', { region: 'Zürich ' })).toMatchObject({ content: 'routed to Zürich ' });
  });

  test('has resources and prompts', async () => {
    const { mcp } = await opened(start);
    const server = mcp.server('a');

    expect(await server.listResources()).toEqual([{ uri: 'memo://1', name: 'memo' }]);
    expect(await server.readResource('memo://1')).toEqual([{ uri: 'memo://1', text: 'read 1' }]);
    // The server allows to remember the resource.
    expect(await server.readResource('memo://1')).toEqual([{ uri: 'memo://1', text: 'read 1' }]);
    await expect(server.readResource('memo://9')).rejects.toMatchObject({ status: -32_602 });
    expect(await server.getPrompt('greet', { who: 'Bob' })).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Greet Bob' }] }],
    });
  });
});

describe.each(SERVERS.slice(0, 2))('%s', (_title, start) => {
  test('announces a change of its tools', async () => {
    const { mcp } = await opened(start);

    expect(mcp.tools.find('new')).toBeUndefined();
    await call(mcp, 'grow');

    await until(() => mcp.tools.find('new') !== undefined);
    expect(await call(mcp, 'new')).toMatchObject({ content: 'new' });
  });
});

test('a server over HTTP notices that a call was aborted', async () => {
  const server = await sdkOverHttp();
  const { mcp } = await open({ url: server.url });
  const controller = new AbortController();

  const result = call(mcp, { name: 'hang', signal: controller.signal });
  await until(() => server.errors().includes('hang began'));
  controller.abort(new Error('enough'));

  await expect(result).rejects.toThrow('enough');
  await until(() => server.errors().includes('hang was cancelled'));
});

describe('a server without a library', () => {
  test('may exit after it has refused the handshake', async () => {
    const { mcp } = await open(bareServer({ exits: true, refusal: -32_022 }));

    expect(mcp.status()[0]).toMatchObject({ state: 'connected', protocolVersion: '2026-07-28' });
  });

  test('has no session, and gets no GET request', async () => {
    const server = await bareServerOverHttp();
    const { mcp } = await open({ url: server.url });
    await call(mcp, 'echo');
    await mcp.close();

    const requests = server.lines.map((line) => JSON.parse(line));
    expect(requests.map(({ method }) => method)).toEqual(['server/discover', 'tools/list', 'tools/call']);
    expect(requests.map(({ session }) => session)).toEqual([undefined, undefined, undefined]);
  });

  test('may send content of an unknown type, and invalid tools', async () => {
    const server = await bareOverHttp();
    const { mcp, logger } = await open({ url: server.url });

    expect(await call(mcp, 'odd')).toMatchObject({
      content: [
        { type: 'text', text: '{"type":"hologram","size":3}' },
        { type: 'text', text: '[1,2]' },
      ],
      structured: [1, 2],
    });
    expect(namesIn(mcp)).toEqual(['echo', 'odd', 'cut', 'task', 'fail', 'stop', 'route']);
    expect(logger.lines.filter((line) => line.includes('is skipped'))).toEqual([
      'warn: MCP server "a": tool "nested" is skipped: `x-mcp-header` may stand only in properties',
      expect.stringContaining('tool "broken" is skipped'),
      expect.stringContaining('tool number 8 is skipped'),
    ]);
  });

  test('fails a call at once if its stream ends without an answer', async () => {
    const server = await bareOverHttp();
    const { mcp } = await open({ url: server.url });

    await expect(mcp.server('a').callTool('cut')).rejects.toThrow('disconnected before it answered');
    await expect(mcp.server('a').callTool('fail')).rejects.toMatchObject({
      status: -32_050,
      message: expect.stringContaining('out of order'),
    });
  });

  test('gets a call again with new headers if it has changed them', async () => {
    const server = await bareServerOverHttp({ moves: true });
    const { mcp } = await open({ url: server.url });

    expect(await call(mcp, 'route', { region: 'north' })).toMatchObject({ content: 'route' });
  });

  test('is asked for its tools again after the time that it guarantees them', async () => {
    const server = await bareServerOverHttp({ ttlMs: 1 });
    const { mcp } = await open({ url: server.url });
    const description = () => mcp.tools.find('echo')?.description;
    expect(description()).toContain('reading 1');

    await expect.poll(() => call(mcp, 'echo').then(description)).not.toContain('reading 1');
  });

  test('is subscribed to again after a subscription has broken off', async () => {
    const server = await bareServerOverHttp({ listChanged: true });
    const { mcp } = await open({ url: server.url });
    const count = () => server.lines.filter((line) => line.includes('subscriptions/listen')).length;

    await until(() => count() === 2);
    // Nobody announced the changes of the meantime.
    await until(() => mcp.tools.find('echo')?.description.includes('reading 2') === true);
  });
});

describe.each([
  ['stdio', async (config: object) => bareServer(config)],
  ['HTTP', async (config: object) => ({ url: (await bareServerOverHttp(config)).url })],
] as const)('a task over %s', (_kind, start) => {
  test('is asked for until it has ended, and may ask the user', async () => {
    const { mcp } = await open(await start({}));
    const seen: unknown[] = [];

    const result = await call(mcp, { name: 'task', progress: (data) => seen.push(data) });

    expect(result).toMatchObject({ content: 'printed: {"sure":{"action":"accept","content":{"name":"Ada"}}}' });
    expect(seen).toContainEqual({ progress: 2, message: 'asking' });
  });

  test('fails with the error of the server', async () => {
    const { mcp } = await open(await start({ broken: true }));

    await expect(mcp.server('a').callTool('task')).rejects.toMatchObject({
      status: -32_050,
      message: expect.stringContaining('out of paper'),
    });
  });
});

test('a task is cancelled with its call', async () => {
  const server = await bareServerOverHttp({ endless: true });
  const { mcp } = await open({ url: server.url });
  const controller = new AbortController();

  const result = call(mcp, { name: 'task', signal: controller.signal });
  await until(() => server.lines.some((line) => line.includes('tasks/get')));
  controller.abort(new Error('enough'));

  await expect(result).rejects.toThrow('enough');
  await until(() => server.lines.some((line) => line.includes('tasks/cancel')));
});

function namesIn(mcp: McpServers): readonly string[] {
  return mcp.tools.list().map(({ metadata }) => metadata.mcpTool);
}
