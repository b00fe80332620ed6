import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { mcpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { expect, onTestFinished, test } from 'vitest';
import { echoServer, makePlace, manifest } from '../../support/manifest/place.js';
import { script } from '../../support/process/scratch.js';

const tell = { command: 'node', args: [echoServer] };

test('disabling an extension removes only its own servers, even if other servers have similar names', async () => {
  const place = makePlace();
  const { workspaceDir, userDir, logger } = place;
  place.user('a', manifest('a', { mcpServers: { x: tell } }));
  const gate = createTrustGate({ workspaceDir, appName: 'app', stateDir: userDir });
  const mcp = mcpServers({ servers: { x: tell, 'a-x': tell }, gate, waitForServers: true });
  const loader = manifests({ appName: 'app', workspaceDir, userDir, skillFolders: [], gate, mcp, logger });
  const agent = new Agent({ model: scriptedModel([]), logger, loaders: [loader] });
  onTestFinished(() => agent.close());
  await agent.ready();
  const before = loader.status();

  await loader.disable('a');

  expect(before.extensions[0]?.servers).toEqual([{ name: 'x', id: 'a-x', state: 'left-out' }]);
  expect(before.extensions[0]?.reasons).toEqual([expect.stringContaining('has the name "a-x"')]);
  expect(before.diagnostics).toMatchObject([{ level: 'warning', problems: [{ path: 'mcpServers.x' }] }]);
  expect(mcp.status().map(({ name, state }) => `${name} ${state}`)).toEqual(['x connected', 'a-x connected']);
});

test('disabling and enabling an extension neither starts nor reports the servers of other extensions', async () => {
  const place = makePlace();
  const starts = join(place.root, 'starts');
  const failing = script(join(place.root, 'failing'), `#!/bin/sh\necho x >> '${starts}'\nexit 1\n`);
  place.user('a', manifest('a', { mcpServers: { x: { command: failing, args: [] }, y: tell } }));
  place.user('b', manifest('b', { mcpServers: { x: tell } }));
  const gate = createTrustGate({ workspaceDir: place.workspaceDir, appName: 'app', stateDir: place.userDir });
  const mcp = mcpServers({ servers: { 'a-y': tell }, gate, waitForServers: true, reconnect: { maxRetries: 0 } });
  const { loader } = await place.load({ gate, mcp });
  const seen = () => [readFileSync(starts, 'utf8'), loader.status().diagnostics];
  const before = seen();

  await loader.disable('b');
  const states = mcp.status().map(({ name, state }) => `${name} ${state}`);
  await loader.enable('b');

  expect(states).toEqual(['a-y connected', 'a-x unavailable']);
  expect(mcp.status().map(({ name }) => name)).toEqual(['a-y', 'a-x', 'b-x']);
  expect(seen()).toEqual(before);
  expect(before).toMatchObject(['x\n', [{ problems: [{ path: 'mcpServers.y' }] }]]);
});

test('the PATH of a workspace server contains no directory of the workspace', async () => {
  const place = makePlace();
  place.workspace('a', manifest('a', { mcpServers: { x: tell } }));
  const bin = join(place.workspaceDir, 'bin');
  mkdirSync(bin);
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
  const model = scriptedModel([calls('mcp__a-x__echo', { variable: 'PATH' }), says('done')]);
  const { agent } = await place.load({ env, approve: place.yes }, { model });

  const { messages } = await agent.run('go');

  expect(JSON.stringify(messages)).toContain('PATH=/');
  expect(JSON.stringify(messages)).not.toContain(bin);
});

test('the loader refuses a second agent, and the first agent keeps its extensions', async () => {
  const place = makePlace();
  place.user('a', manifest('a', { mcpServers: { x: tell } }));
  const { loader, agent } = await place.load();
  const second = new Agent({ model: scriptedModel([]), logger: place.logger, loaders: [loader] });

  await expect(second.ready()).rejects.toMatchObject({ cause: { code: 'ERR_OPTION_INVALID', option: 'loaders' } });
  await second.close();

  expect(agent.status().tools.map(({ name }) => name)).toEqual(['mcp__a-x__echo']);
  expect(loader.mcp.status()).toMatchObject([{ name: 'a-x', state: 'connected' }]);
});

test('before settings are approved, their defaults are not in the configuration and missing values are not reported', async () => {
  const place = makePlace();
  const settings = [
    { name: 'theme', description: 'The colours.', default: 'theirs' },
    { name: 'token', description: 'The token.', envVar: 'THE_TOKEN', required: true },
  ];
  place.workspace('a', manifest('a', { settings }));
  const { loader } = await place.load({
    env: { ...process.env, THE_TOKEN: 'x' },
    config: { extensions: { a: { theme: 'mine' } } },
  });

  expect(loader.config).toEqual({ extensions: { a: {} } });
  expect(loader.status()).toMatchObject({
    diagnostics: [],
    extensions: [
      { state: 'blocked', reasons: ['it needs the setting token', expect.stringContaining('not approved')] },
    ],
  });
});

test('S0-12.3: sensitive values are redacted in tool descriptions of a server', async () => {
  const place = makePlace();
  const settings = [{ name: 'note', description: 'A note.', envVar: 'ECHO_NOTE', sensitive: true }];
  place.user('a', manifest('a', { mcpServers: { x: tell }, settings }));
  const model = scriptedModel(['done']);
  const { agent } = await place.load({ env: { ...process.env, ECHO_NOTE: 'horse/battery' } }, { model });

  await agent.run('go');

  expect(model.requests[0]?.tools).toMatchObject([
    { description: '[MCP server "a-x"] Says what a variable holds. [redacted]' },
  ]);
});

test('S0-12.3: sensitive values are redacted in the output of a hook in every JSON encoding', async () => {
  const place = makePlace();
  const settings = [{ name: 'key', description: 'A key.', envVar: 'THE_KEY', sensitive: true }];
  const hooks = [{ name: 'h', event: 'before_agent', command: './h.sh' }];
  const root = place.user('a', manifest('a', { settings, hooks }));
  // PHP escapes slashes, and Python escapes non-ASCII characters.
  const text = String.raw`{"systemMessage": "k\u00e9y\/42 and k\u00E9y/42"}`;
  script(join(root, 'h.sh'), `#!/bin/sh\ncat <<'END'\n${text}\nEND\n`);
  const model = scriptedModel(['done']);
  const { agent } = await place.load({ env: { ...process.env, THE_KEY: 'kéy/42' } }, { model });

  await agent.run('go');

  expect(JSON.stringify(model.requests[0]?.messages)).toContain('[redacted] and [redacted]');
  expect(JSON.stringify([model.requests, place.logger.lines])).not.toContain('42');
});
