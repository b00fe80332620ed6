import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import {
  echoServer,
  hooksOf,
  linesOf,
  makePlace,
  manifest,
  type Place,
  serversConnected,
} from '../support/manifest/place.js';
import { script } from '../support/process/scratch.js';
import { isGone } from '../support/process/sh.js';

const hooks = [{ name: 'h', event: 'before_tool', command: 'true' }];
const mcpServers = { tell: { command: 'node', args: [echoServer] } };
/** Replaces `~` by a byte that UTF-8 does not have. */
const damaged = (text: string) => Buffer.from(text.replace('~', '\xff'), 'latin1');
const stateFile = (place: Place) => join(place.userDir, 'extensions-enabled.json');

describe('an extension', () => {
  test('S0-7.1, S0-7.2, S0-7.3: is disabled at once with its hooks, servers and skills, and can be enabled again', async () => {
    const place = makePlace();
    const skills = [{ name: 's', description: 'x', prompt: 'x' }];
    place.user('a', manifest('a', { hooks, mcpServers, skills }));
    place.user('b', manifest('b', { hooks }));
    const { loader, agent } = await place.load();
    const before = {
      names: loader.enabledNames(),
      tools: agent
        .status()
        .tools.map(({ name }) => name)
        .sort(),
    };

    const off = loader.disable('a');
    const now = {
      names: loader.enabledNames(),
      hooks: hooksOf(loader),
      tools: loader.mcp.tools.list(),
      skills: loader.skills.list(),
    };
    await off;
    const servers = loader.mcp.status();
    await Promise.all([loader.enable('a'), loader.enable('a')]);
    await serversConnected(loader);

    expect(before).toEqual({ names: ['a', 'b'], tools: ['mcp__a-tell__echo', 'skill'] });
    expect(now).toEqual({ names: ['b'], hooks: [{ ...hooks[0], extension: 'b' }], tools: [], skills: [] });
    expect(servers).toEqual([]);
    expect(loader.enabledNames()).toEqual(['a', 'b']);
    expect(hooksOf(loader).map(({ extension }) => extension)).toEqual(['a', 'b']);
    expect(loader.mcp.status()).toMatchObject([{ name: 'a-tell', state: 'connected' }]);
  });

  test('D16: that is disabled in a workspace stays disabled if the workspace is opened through a link', async () => {
    const place = makePlace();
    place.workspace('a', manifest('a', { hooks }));
    const link = join(place.root, 'link');
    symlinkSync(place.workspaceDir, link);
    const { loader } = await place.load({ approve: place.yes });
    await loader.disable('a');

    const linked = await place.load({ approve: place.yes, workspaceDir: link });
    const before = linked.loader.enabledNames();
    await linked.loader.enable('a');
    await loader.reload();

    expect([before, loader.enabledNames()]).toEqual([[], ['a']]);
  });

  test('D14: that is enabled several times is registered once', async () => {
    const place = makePlace();
    place.user('a', manifest('a', { hooks, mcpServers }));
    const { loader } = await place.load({ autoEnable: false });

    await Promise.all([loader.enable('a'), loader.enable('a'), loader.enable('A')]);

    expect(hooksOf(loader)).toHaveLength(1);
    expect(loader.mcp.status()).toHaveLength(1);
  });

  test.each([
    [true, 'disable'],
    [false, 'enable'],
  ] as const)(
    'S0-7.4, S0-7.5, D16: with autoEnable %s, the choice to %s it lasts in the next process',
    async (autoEnable, choice) => {
      const place = makePlace();
      place.user('a', manifest('a'));
      place.workspace('b', manifest('b'));
      const first = await place.load({ autoEnable });
      const byDefault = first.loader.enabledNames();

      await first.loader[choice]('a');
      await first.loader[choice]('b');
      const second = await place.load({ autoEnable });

      expect(byDefault).toEqual(autoEnable ? ['a', 'b'] : []);
      expect(second.loader.enabledNames()).toEqual(autoEnable ? [] : ['a', 'b']);
      expect(JSON.parse(readFileSync(stateFile(place), 'utf8'))).toEqual({
        version: 1,
        user: { a: !autoEnable },
        workspaces: { [place.workspaceDir]: { b: !autoEnable } },
      });
      expect(statSync(stateFile(place)).mode & 0o777).toBe(0o600);
    },
  );

  test('S0-7.4: causes no file to be written before the first choice', async () => {
    const place = makePlace();
    place.user('a', manifest('a', { hooks }));

    await place.load();

    expect(existsSync(stateFile(place))).toBe(false);
  });

  test('S0-7.5: of a workspace cannot enable itself', async () => {
    const place = makePlace();
    place.workspace('a', manifest('a', { hooks, autoEnable: true, enabled: true }));
    writeFileSync(
      join(place.workspaceDir, '.app', 'extensions-enabled.json'),
      '{"version":1,"user":{"a":true},"workspaces":{}}',
    );

    const { loader } = await place.load({ autoEnable: false });

    expect(loader.enabledNames()).toEqual([]);
    expect(hooksOf(loader)).toEqual([]);
  });

  test('with an unknown name causes a typed error', async () => {
    const { loader } = await makePlace().load();

    await expect(loader.enable('x')).rejects.toMatchObject({ code: 'ERR_EXTENSION_UNKNOWN', extension: 'x' });
    await expect(loader.disable('x')).rejects.toMatchObject({ code: 'ERR_EXTENSION_UNKNOWN' });
    expect(loader.isEnabled('x')).toBe(false);
  });

  test.each([
    ...['', '{', '[]', '{"version":2}', '{"version":1,"user":{"a":"no"},"workspaces":{}}'],
    '{"version":1,"user":{"A":false},"workspaces":{}}',
    '{"version":1,"user":{"a":false,"a":true},"workspaces":{}}',
    '{"version":1,"user":{"__proto__":{"a":false}},"workspaces":{}}',
  ])('stays disabled if the file of choices is damaged, until it is enabled again: %j', async (text) => {
    const place = makePlace();
    for (const name of ['a', 'b']) place.user(name, manifest(name));
    writeFileSync(stateFile(place), text);

    const { loader } = await place.load();
    const before = { names: loader.enabledNames(), diagnostics: loader.status().diagnostics };
    await loader.enable('a');
    const next = await place.load();

    expect(before).toMatchObject({ names: [], diagnostics: [{ level: 'error', source: stateFile(place) }] });
    expect(loader.status().extensions).toMatchObject([{ state: 'active' }, { state: 'disabled' }]);
    expect(next.loader.enabledNames()).toEqual(['a']);
    expect(next.loader.status().diagnostics).toEqual([]);
    const backup = readdirSync(place.userDir).find((name) => name.endsWith('.backup'));
    expect(readFileSync(join(place.userDir, backup ?? ''), 'utf8')).toBe(text);
  });

  test.each<[string, (path: string) => void]>([
    [
      'damaged in one byte of a name',
      (path) => writeFileSync(path, damaged('{"version":1,"user":{"a~":false},"workspaces":{}}')),
    ],
    [
      'damaged in the path of a workspace',
      (path) => writeFileSync(path, damaged('{"version":1,"user":{},"workspaces":{"/w~":{"a":false}}}')),
    ],
    [
      'cut within a character',
      (path) => writeFileSync(path, Buffer.from('{"version":1,"user":{"é":false}}').subarray(0, 23)),
    ],
    ['a link without a target', (path) => symlinkSync(`${path}.gone`, path)],
    ['a link to itself', (path) => symlinkSync(path, path)],
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    [
      'a link to a pipe',
      (path) => {
        execFileSync('mkfifo', [`${path}.pipe`]);
        symlinkSync(`${path}.pipe`, path);
      },
    ],
    [
      'a huge file',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 64 * 1024 * 1024);
      },
    ],
  ])('stays disabled if the file of choices is %s, which is reported and kept', async (_case, put) => {
    const place = makePlace();
    place.user('a', manifest('a'));
    place.user('b', manifest('b'));
    put(stateFile(place));
    const { loader } = await place.load();
    const before = loader.enabledNames();
    const { diagnostics } = loader.status();

    await loader.enable('a');

    expect(before).toEqual([]);
    expect(diagnostics).toMatchObject([{ level: 'error', source: stateFile(place) }]);
    expect(loader.enabledNames()).toEqual(['a']);
    expect(readdirSync(place.userDir).filter((name) => name.endsWith('.backup'))).toHaveLength(1);
    expect((await place.load()).loader.enabledNames()).toEqual(['a']);
  });

  test('is disabled in this process even if the choice cannot be stored', async () => {
    const place = makePlace();
    place.user('a', manifest('a', { hooks }));
    const { loader } = await place.load();
    mkdirSync(stateFile(place));

    await expect(loader.disable('a')).rejects.toMatchObject({ code: 'ERR_EXTENSION_STATE' });

    expect(loader.enabledNames()).toEqual([]);
    expect(hooksOf(loader)).toEqual([]);
  });

  test('is disabled, with its servers ended, before a failure to store the choice is told', async () => {
    const place = makePlace();
    const pidFile = join(place.root, 'pid');
    const slowServer = {
      command: 'sh',
      args: ['-c', `echo $$ > ${pidFile}; trap '' TERM; node ${echoServer}; sleep 0.3`],
    };
    place.user('a', manifest('a', { mcpServers: { tell: slowServer } }));
    const { loader } = await place.load();
    mkdirSync(stateFile(place));

    await expect(loader.disable('a')).rejects.toMatchObject({ code: 'ERR_EXTENSION_STATE' });

    expect(isGone(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
  });

  test('stays disabled if enabling it cannot be stored', async () => {
    const place = makePlace();
    place.user('a', manifest('a', { hooks }));
    const { loader } = await place.load({ autoEnable: false });
    mkdirSync(stateFile(place));

    await expect(loader.enable('a')).rejects.toMatchObject({ code: 'ERR_EXTENSION_STATE' });
    await loader.reload();

    expect(loader.enabledNames()).toEqual([]);
    expect(hooksOf(loader)).toEqual([]);
  });

  test('stays disabled if neither disabling nor enabling it can be stored', async () => {
    const place = makePlace();
    place.user('a', manifest('a'));
    const { loader } = await place.load();
    rmSync(place.userDir, { recursive: true });
    writeFileSync(place.userDir, 'in the way');

    await expect(loader.disable('a')).rejects.toMatchObject({ code: 'ERR_EXTENSION_STATE' });
    await expect(loader.enable('a')).rejects.toMatchObject({ code: 'ERR_EXTENSION_STATE' });

    expect(loader.isEnabled('a')).toBe(false);
    expect(loader.status().extensions).toMatchObject([{ state: 'disabled', reasons: ['It is disabled'] }]);
  });

  test('keeps the choices that several processes make at the same time', async () => {
    const place = makePlace();
    const names = Array.from({ length: 12 }, (_, index) => `e${index}`);
    for (const name of names) place.user(name, manifest(name));
    const loaders = await Promise.all(names.map(() => place.load()));

    await Promise.all(names.map((name, index) => loaders[index]?.loader.disable(name)));

    expect((await place.load()).loader.enabledNames()).toEqual([]);
  });

  test('D13: that is disabled while its hook runs starts no other hook, and loses its tools', async () => {
    const place = makePlace();
    const trace = join(place.root, 'trace');
    const slow = (name: string) => ({ name, event: 'before_agent', command: `./${name}.sh` });
    const root = place.user('a', manifest('a', { hooks: [slow('one'), slow('two')], mcpServers }));
    script(join(root, 'one.sh'), `#!/bin/sh\necho one >> ${trace}\nsleep 0.5\necho '{}'\n`);
    script(join(root, 'two.sh'), `#!/bin/sh\necho two >> ${trace}\necho '{}'\n`);
    const model = scriptedModel([says('done')]);
    const { loader, agent } = await place.load({}, { model });

    const run = agent.run('go');
    while (linesOf(trace).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await loader.disable('a');
    await run;

    expect(linesOf(trace)).toEqual(['one']);
    expect(model.requests[0]?.tools).toEqual([]);
  });

  test('that is disabled during its approval prompt stays disabled', async () => {
    const place = makePlace();
    place.workspace('a', manifest('a', { hooks }));
    const { loader } = await place.load({
      approve: async () => {
        await loader.disable('a').catch(() => {});
        return true;
      },
      autoEnable: false,
    });

    await loader.enable('a');

    expect(hooksOf(loader)).toEqual([]);
    expect(loader.enabledNames()).toEqual([]);
  });

  test('F16: that is disabled during a tool call returns an error result for the call', async () => {
    const place = makePlace();
    place.user('a', manifest('a', { mcpServers }));
    const model = scriptedModel([calls('mcp__a-tell__echo', { variable: 'HOME' }), says('done')]);
    const { loader, agent } = await place.load({}, { model });
    let off: Promise<void> | undefined;
    agent.use({
      wrapToolCall: (_call, next) => {
        const result = next();
        off = loader.disable('a');
        return result;
      },
    });

    const { messages, text } = await agent.run('go');
    await off;

    expect(text).toBe('done');
    expect(messages.find(({ role }) => role === 'tool')).toMatchObject({ content: [{ isError: true }] });
  });
});

test('an open run keeps the guard of an extension while the extension is updated', async () => {
  const place = makePlace();
  const guard = (name: string) => [{ name, event: 'before_tool', command: './guard.sh' }];
  const root = place.user('a', manifest('a', { hooks: guard('old') }));
  script(join(root, 'guard.sh'), `#!/bin/sh\necho '{"continue":false,"reason":"not that"}'\n`);
  const { loader, agent } = await place.load(
    {},
    {
      model: scriptedModel([
        async () => {
          place.user('a', manifest('a', { hooks: guard('new') }));
          await loader.reload();
          return calls('gone', {});
        },
        says('done'),
      ]),
    },
  );

  const { messages } = await agent.run('go');

  expect(JSON.stringify(messages)).toContain('not that');
});

test('refuses a `userDir` in the workspace, which could then approve itself', async () => {
  const place = makePlace();

  await expect(place.load({ userDir: join(place.workspaceDir, 'home') })).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: expect.stringMatching(/use another `cwd`, or .*`userDir`/),
  });
});
