import { Agent, type LifecycleLoader, type LoaderHost } from 'keelson';
import { manifests } from 'keelson/manifest';
import { type McpServerOrigin, type McpServers, mcpServers } from 'keelson/mcp';
import { loadRuntime } from 'keelson/runtime';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { echoServer, makePlace, manifest } from '../support/manifest/place.js';
import { memoryServers } from '../support/mcp/memory-servers.js';

const url = (host: string) => `http://${host}.example/mcp`;

/** A loader with a server `db` of an origin. The description of its tool holds the name of the host. */
async function loaderOf(host: string, origin: McpServerOrigin, address: string = url(host)): Promise<McpServers> {
  const mcp = mcpServers({ waitForServers: true, system: { fetch: memoryServers(), logger: keepingLogger() } });
  onTestFinished(() => mcp.close());
  await mcp.set('db', { url: address }, origin);
  return mcp;
}

/** Returns a function that lists the hosts whose tools an agent with these loaders offers. */
async function offered(loaders: readonly LifecycleLoader[]) {
  const logger = keepingLogger();
  const given: LoaderHost[] = [];
  const probe: LifecycleLoader = { name: 'probe', load: (host) => void given.push(host) };
  const agent = new Agent({ model: scriptedModel([]), loaders: [...loaders, probe], logger });
  onTestFinished(() => agent.close());
  await agent.ready();
  return () => given[0]?.tools().map(({ description }) => /\/\/(\w+)\./.exec(description)?.[1]);
}

const application: McpServerOrigin = { scope: 'builtin' };
const user: McpServerOrigin = { scope: 'user' };

describe('two loaders of one agent with servers of one name', () => {
  test.each([
    ['the host application before the user', application, user],
    ['the user without an extension before an extension', user, { scope: 'user', extension: 'db' }],
    ['extensions in code-unit order', { scope: 'user', extension: 'B' }, { scope: 'user', extension: 'a' }],
    ['files in code-unit order', { scope: 'user', source: '/a' }, { scope: 'user', source: '/b' }],
  ] satisfies [string, McpServerOrigin, McpServerOrigin][])(
    '%s, in both orders of loading',
    async (_title, one, two) => {
      for (const isReversed of [false, true]) {
        const [winner, loser] = [await loaderOf('winner', one), await loaderOf('loser', two)];
        const hosts = await offered(isReversed ? [loser, winner] : [winner, loser]);

        expect(hosts()).toEqual(['winner']);
      }
    },
  );

  test('of servers of one origin, that of the first loader gets the name', async () => {
    const [first, second] = [await loaderOf('first', application), await loaderOf('second', application)];
    const hosts = await offered([first, second]);

    expect(hosts()).toEqual(['first']);
  });

  test('a server that cannot connect keeps its name', async () => {
    const broken = await loaderOf('broken', application, 'ftp://broken.example/');
    const hosts = await offered([await loaderOf('other', user), broken]);

    expect(hosts()).toEqual([]);
  });

  test('the loser is reported once, by its own loader', async () => {
    const logger = keepingLogger();
    const loser = mcpServers({ waitForServers: true, system: { fetch: memoryServers(), logger } });
    onTestFinished(() => loser.close());
    await loser.set('db', { url: url('loser') }, user);
    const hosts = await offered([loser, await loaderOf('winner', application)]);

    for (let reads = 0; reads < 3; reads += 1) hosts();

    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: MCP server "db": the server of the user is left out: a server of the host application has this name. Rename one of them.',
    ]);
  });

  test('the name is free again when the server is removed, or its loader is closed', async () => {
    const winner = await loaderOf('winner', application);
    const hosts = await offered([await loaderOf('loser', user), winner]);

    await winner.remove('db');
    expect(hosts()).toEqual(['loser']);
    await winner.add('db', { url: url('winner') });
    expect(hosts()).toEqual(['winner']);
    await winner.close();
    expect(hosts()).toEqual(['loser']);
  });

  test('another agent with only one of the loaders has the tools of that loader', async () => {
    const loser = await loaderOf('loser', user);
    await offered([loser, await loaderOf('winner', application)]);
    const hosts = await offered([loser]);

    expect(hosts()).toEqual(['loser']);
  });
});

test('a server of the host application gets its name before that of an extension, whichever loader comes first', async () => {
  for (const isReversed of [false, true]) {
    const place = makePlace();
    const { workspaceDir, userDir, logger } = place;
    place.user('db', manifest('db', { mcpServers: { db: { command: 'node', args: [echoServer] } } }));
    const extensions = manifests({ appName: 'app', workspaceDir, userDir, skillFolders: [], logger });
    const mcp = await loaderOf('application', application);
    const hosts = await offered(isReversed ? [extensions, mcp] : [mcp, extensions]);

    await expect.poll(() => extensions.mcp.status()).toMatchObject([{ name: 'db', state: 'connected' }]);
    expect(hosts()).toEqual(['application']);
  }
});

test('a server of the host application gets its name before that of an extension of a runtime', async () => {
  const place = makePlace();
  const { workspaceDir, userDir, logger } = place;
  place.user('db', manifest('db', { mcpServers: { db: { command: 'node', args: [echoServer] } } }));
  for (const isReversed of [false, true]) {
    const runtime = await loadRuntime({ appName: 'app', cwd: workspaceDir, userDir, logger, plugins: false });
    onTestFinished(() => runtime.close());
    await expect.poll(() => runtime.status().servers).toMatchObject([{ name: 'db', state: 'connected' }]);
    const own = await loaderOf('application', application);
    const { loaders } = runtime.agentOptions();
    const hosts = await offered(isReversed ? [own, ...loaders] : [...loaders, own]);

    expect(hosts()).toEqual(['application']);
    const alone = await offered(runtime.agentOptions().loaders);
    expect(alone()).toHaveLength(1);
    expect(alone()).not.toEqual(['application']);
  }
});
