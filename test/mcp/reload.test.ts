import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, connected, isGone, raw, readLog, temporaryFolder } from '../support/mcp/lab.js';

/** Creates a loader for a workspace with an `.mcp.json`. The servers log their starts to a file. */
async function ground(servers: Record<string, object>) {
  const workspaceDir = temporaryFolder();
  const log = join(workspaceDir, 'log');
  const write = (map: Record<string, object>) =>
    writeFileSync(join(workspaceDir, '.mcp.json'), JSON.stringify({ mcpServers: map }));
  write(servers);
  const made = await connected({ servers: { own: raw() }, workspaceDir, approve: () => true });
  return { ...made, log, write, workspaceDir, pids: () => readLog(log).flatMap(({ pid }) => pid ?? []) };
}

test('reload restarts no server if the file is unchanged', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await ground({ a: raw({ log }) });
  const tools = mcp.tools.list();

  expect(await mcp.reload()).toEqual({ added: [], removed: [], changed: [], unchanged: ['own', 'a'], problems: [] });
  expect(mcp.tools.list()).toEqual(tools);
  expect(readLog(log).filter(({ pid }) => pid !== undefined)).toHaveLength(1);
});

test('reload adds, removes and restarts servers as the file says', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp, write } = await ground({ gone: raw({ log }), kept: raw(), other: raw({ says: 'one' }) });
  const [gone] = readLog(log).flatMap(({ pid }) => pid ?? []);
  write({ kept: raw(), other: raw({ says: 'two' }), fresh: raw() });

  const changes = await mcp.reload();

  expect(changes).toEqual({
    added: ['fresh'],
    removed: ['gone'],
    changed: ['other'],
    unchanged: ['own', 'kept'],
    problems: [],
  });
  expect(isGone(gone as number)).toBe(true);
  expect(await call(mcp, 'mcp__other__echo')).toMatchObject({ content: 'two: {}' });
  expect(mcp.tools.find('mcp__gone__echo')).toBe(undefined);
  expect(
    mcp
      .status()
      .map(({ name, state }) => `${name} ${state}`)
      .sort(),
  ).toEqual(['fresh connected', 'kept connected', 'other connected', 'own connected']);
});

test('a removed server finishes its pending calls before it ends', async () => {
  const log = join(temporaryFolder(), 'log');
  const tools = [{ name: 'progress', inputSchema: { type: 'object' } }];
  const { mcp, write } = await ground({ gone: raw({ log, tools }) });
  const [pid] = readLog(log).flatMap((entry) => entry.pid ?? []);
  const slow = call(mcp, 'mcp__gone__progress', { steps: 1, everyMs: 150 });
  write({});

  expect(await mcp.reload()).toMatchObject({ removed: ['gone'] });
  expect(mcp.tools.find('mcp__gone__progress')).toBe(undefined);
  expect(await slow).toMatchObject({ content: '1 steps' });
  await expect.poll(() => isGone(pid as number)).toBe(true);
});

test('close does not wait for the pending calls of a removed server', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp, write } = await ground({ gone: raw({ log }) });
  const held = call(mcp, 'mcp__gone__hang');
  write({});
  await mcp.reload();

  await mcp.close();

  expect(await held).toMatchObject({ isError: true });
  expect(
    readLog(log)
      .flatMap(({ pid }) => pid ?? [])
      .every(isGone),
  ).toBe(true);
  await expect(mcp.reload()).rejects.toMatchObject({ code: 'ERR_MCP_CLOSED' });
});

test('reload keeps the servers of a file that cannot be read', async () => {
  const { mcp, workspaceDir } = await ground({ a: raw() });
  writeFileSync(join(workspaceDir, '.mcp.json'), '{ "mcpServers": ');

  expect(await mcp.reload()).toMatchObject({
    removed: [],
    unchanged: ['own', 'a'],
    problems: [expect.stringContaining('.mcp.json')],
  });
  expect(await call(mcp, 'mcp__a__echo')).toMatchObject({ content: 'echo: {}' });
});

test('concurrent reloads run one after another', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp, write } = await ground({});
  write({ a: raw({ log }) });

  const [first, second] = await Promise.all([mcp.reload(), mcp.reload()]);

  expect([first.added, second.added, second.unchanged]).toEqual([['a'], [], ['own', 'a']]);
  expect(readLog(log).filter(({ pid }) => pid !== undefined)).toHaveLength(1);
});

test('reload asks again about an approved server whose program has changed, and restarts the server', async () => {
  const workspaceDir = temporaryFolder();
  const source = (says: string) =>
    `import { readFileSync } from 'node:fs';\n// ${says}\nawait import(${JSON.stringify('PLACE')});\n`;
  const place = new URL('../fixtures/manifest/echo-server.mjs', import.meta.url).href;
  const program = join(workspaceDir, 'server.mjs');
  writeFileSync(program, source('one').replace('PLACE', place));
  writeFileSync(
    join(workspaceDir, '.mcp.json'),
    JSON.stringify({ mcpServers: { a: { command: 'node', args: ['server.mjs'] } } }),
  );
  const asked: string[] = [];
  const { mcp } = await connected({ workspaceDir, approve: ({ item }) => asked.push(item.name) < 2 });
  writeFileSync(program, source('two').replace('PLACE', place));

  expect(await mcp.reload()).toMatchObject({ changed: ['a'] });
  expect(asked).toEqual(['a', 'a']);
  expect(mcp.status()).toMatchObject([{ name: 'a', state: 'denied' }]);
  expect(mcp.tools.list()).toEqual([]);
});

test('set keeps an unchanged server, and replaces a changed server', async () => {
  const log = join(temporaryFolder(), 'log');
  const { mcp } = await connected({ servers: { a: raw({ log }) } });

  expect(await mcp.set('a', raw({ log }))).toBe('unchanged');
  expect(readLog(log).filter(({ pid }) => pid !== undefined)).toHaveLength(1);
  expect(await mcp.set('a', raw({ log, says: 'new' }))).toBe('changed');
  expect(await mcp.set('b', raw())).toBe('added');
  expect(await call(mcp, 'mcp__a__echo')).toMatchObject({ content: 'new: {}' });
});
