import { join } from 'node:path';
import { parseManifest } from 'keelson/manifest';
import { expect, test } from 'vitest';
import { hooksOf, makePlace, manifest } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

const hook = (more: object = {}) => ({ name: 'guard', event: 'before_tool', command: 'true', ...more });
const good = { name: 'good', event: 'after_tool', command: 'true' };

const INVALID: readonly (readonly [string, object])[] = [
  ['an invalid matcher', { matcher: '(' }],
  ['an invalid name of an environment variable', { env: { 'A=B': 'x' } }],
  ['an environment variable with a NUL character', { env: { A: 'x\0' } }],
  ['an argument with a NUL character', { args: ['x\0'] }],
  ['an unknown event', { event: 'befor_tool' }],
];

test.each(INVALID)('parseManifest finds %s of a hook, as loading does', async (_case, more) => {
  const place = makePlace();
  const text = JSON.stringify(manifest('x', { hooks: [hook(more), good] }));
  place.user('x', text);

  const read = parseManifest(text);
  const { loader } = await place.load();

  if ('problems' in read) expect.unreachable('the manifest is not refused as a whole');
  else {
    expect(read.errors).toEqual([{ path: 'hooks[0]', message: expect.stringContaining('"guard" is ignored') }]);
    expect(read.content.hooks.map(({ name }) => name)).toEqual(['good']);
  }
  const [status] = loader.status().extensions;
  expect(status).toMatchObject({ state: 'active', hooks: [{ name: 'good' }] });
  expect(loader.status().diagnostics).toMatchObject([{ level: 'error', problems: [{ path: 'hooks[0]' }] }]);
  expect(hooksOf(loader).map(({ name }) => name)).toEqual(['good']);
});

test.each(INVALID)(
  'an extension does not become active if it loses a hook that blocks, for %s',
  async (_case, more) => {
    const place = makePlace();
    const mcpServers = { db: { command: 'true', args: [] } };
    place.user('x', manifest('x', { hooks: [hook({ ...more, onFailure: 'block' }), good], mcpServers }));

    const { loader } = await place.load();

    expect(loader.status().extensions).toMatchObject([
      {
        state: 'blocked',
        enabled: false,
        approved: false,
        hooks: [],
        servers: [],
        reasons: [expect.stringMatching(/guard/)],
      },
    ]);
    expect(hooksOf(loader)).toEqual([]);
    expect(loader.mcp.status()).toEqual([]);
    expect(loader.isEnabled('x')).toBe(false);
  },
);

test('a plugin of another program does not become active if it loses a hook that blocks', async () => {
  const place = makePlace();
  const command = (more: object) => ({ type: 'command', command: 'true', ...more });
  for (const [name, broken] of [
    ['type', { hooks: [command({ type: 'prompt', onFailure: 'block' }), command({})] }],
    ['matcher', { matcher: '(', hooks: [command({ onFailure: 'block' })] }],
    ['kept', { hooks: [command({ onFailure: 'block' }), command({ type: 'prompt' })] }],
  ] as const) {
    const folder = join(place.userDir, 'extensions', name);
    write(join(folder, '.claude-plugin/plugin.json'), JSON.stringify({ name, version: '1.0.0' }));
    write(join(folder, 'hooks/hooks.json'), JSON.stringify({ hooks: { PreToolUse: [broken] } }));
  }

  const { loader } = await place.load({ compat: ['claude'] });

  const states = loader.status().extensions.map(({ name, state, hooks }) => [name, state, hooks.length]);
  expect(states).toEqual([
    ['kept', 'active', 1],
    ['matcher', 'blocked', 0],
    ['type', 'blocked', 0],
  ]);
});

test('status lists no hooks if the host has turned hooks off', async () => {
  const place = makePlace();
  place.user('x', manifest('x', { hooks: [good, hook({ matcher: '(', onFailure: 'block' })] }));

  const { loader } = await place.load({ hooks: false });

  expect(loader.status().extensions).toMatchObject([{ state: 'active', hooks: [] }]);
});

test.each([
  ['a URL with another scheme', { transport: 'http', url: 'ftp://example.com/' }],
  ['an invalid name of an environment variable', { command: 'true', args: [], env: { 'A=B': 'x' } }],
  ['an argument with a NUL character', { command: 'true', args: ['x\0'] }],
])('parseManifest finds a server with %s, which loads as invalid', async (_case, server) => {
  const place = makePlace();
  const text = JSON.stringify(manifest('x', { mcpServers: { db: server } }));
  place.user('x', text);

  const { loader } = await place.load();

  expect(parseManifest(text)).toMatchObject({ errors: [{ path: 'mcpServers.db' }] });
  expect(loader.status().extensions).toMatchObject([{ servers: [{ id: 'x-db', state: 'invalid' }] }]);
});

test.each([
  ['excludeTool', 'excludeTools'],
  ['exclude_tools', 'excludeTools'],
  ['disable', 'disabled'],
])('parseManifest and loading warn about the key "%s" of a server, with the nearest known key', async (key, near) => {
  const place = makePlace();
  const text = JSON.stringify(manifest('x', { mcpServers: { db: { command: 'true', args: [], [key]: ['t'] } } }));
  place.user('x', text);
  const warning = `the unknown field "${key}" is ignored; did you mean "${near}"?`;

  await place.load();

  expect(parseManifest(text)).toMatchObject({ warnings: [{ path: 'mcpServers.db', message: warning }] });
  expect(place.logger.lines.filter((line) => line.includes(warning))).toHaveLength(1);
});

test('a warning about a restriction of a server names no key if none is near', () => {
  const text = JSON.stringify(
    manifest('x', { mcpServers: { db: { command: 'true', args: [], blockedTools: ['t'] } } }),
  );

  expect(parseManifest(text)).toMatchObject({
    warnings: [{ path: 'mcpServers.db', message: 'the unknown field "blockedTools" is ignored' }],
  });
});
