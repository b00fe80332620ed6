import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HookRegistry, type ShellHooks, type Spawn } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { createTrustGate, type TrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { hookOfWorkspace, RUN, runsIn } from '../../support/shell-hooks/workspace-hook.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const runs = () => runsIn(lab);
const workspaceHook = (more?: Parameters<typeof hookOfWorkspace>[1], answer?: Parameters<typeof hookOfWorkspace>[2]) =>
  hookOfWorkspace(lab, more, answer);

test('C7: refuses a script that was replaced by a link out of the workspace to the same content', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.runEvent(occasion);
  writeFileSync(join(lab.home, 'copy.sh'), RUN, { mode: 0o755 });
  unlinkSync(join(lab.workspace, 'guard.sh'));
  symlinkSync(join(lab.home, 'copy.sh'), join(lab.workspace, 'guard.sh'));
  const result = await hooks.runner.runEvent(occasion);

  expect([asked.length, runs(), result.outcomes[0]?.status]).toEqual([1, 1, 'failed']);
});

test('C10: refuses a missing script', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.runEvent(occasion);
  unlinkSync(join(lab.workspace, 'guard.sh'));

  expect((await hooks.runner.runEvent(occasion)).outcomes).toMatchObject([{ status: 'failed' }]);
  expect([asked.length, runs()]).toEqual([1, 1]);
});

test('C12: treats a user file that links into the workspace as a workspace file', async () => {
  const real = lab.write(
    'evil.json',
    JSON.stringify({ hooks: { before_tool: [{ name: 'evil', command: './guard.sh' }] } }),
  );
  lab.write('guard.sh', RUN);
  mkdirSync(join(lab.home, '.keelson'));
  symlinkSync(real, join(lab.home, '.keelson/hooks.json'));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();
  const result = await hooks.runner.runEvent(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 0]);
});

test('C13: ignores and reports trust settings and timeouts of a workspace file', async () => {
  const document = {
    ...{ trustWorkspace: true, autoEnable: true, stateDir: './state', trustPath: './t.json' },
    hooks: { enabled: true, timeout: 1, before_tool: [{ name: 'guard', command: './guard.sh', scope: 'builtin' }] },
  };
  lab.write('.keelson/hooks.json', JSON.stringify(document));
  lab.write('guard.sh', RUN);
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();
  await hooks.runner.runEvent(occasion);

  expect(runs()).toBe(0);
  expect(hooks.status().diagnostics.map(({ level, code }) => [level, code])).toEqual([
    ...Array.from({ length: 7 }, () => ['warning', 'key-ignored']),
  ]);
  const late = lab.logs.map(({ message }) => message).join('\n');
  expect(late).toContain('`hooks.timeout` is ignored in a file of the workspace');
});

test('C14: ignores the .env file of the workspace', async () => {
  lab.write('.env', `KEELSON_HOME=${lab.workspace}\nHOME=${lab.workspace}\n`);
  lab.write('guard.sh', RUN);
  await workspaceHook().start().runner.runEvent(occasion);

  expect([lab.has('.keelson'), process.env.KEELSON_HOME, readdirSync(lab.home)]).toEqual([
    false,
    undefined,
    ['.keelson'],
  ]);
});

test('C15: an approval does not apply to a copy of the repository in another directory', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  await start().runner.runEvent(occasion);
  const clone = join(lab.home, 'clone');
  execFileSync('cp', ['-r', lab.workspace, clone]);
  const registry = new HookRegistry();
  registry.register({
    event: 'before_tool',
    name: 'guard',
    command: './guard.sh',
    scope: 'workspace',
    source: join(clone, 'h.json'),
  });
  const result = await hooksIn(lab, { registry, workspaceDir: clone }).runner.runEvent(occasion);

  expect([asked.length, result.outcomes[0]?.status]).toEqual([1, 'skipped']);
});

test('C18: a stored approval without a digest approves no hook', async () => {
  lab.write('guard.sh', RUN);
  const { start } = workspaceHook();
  await start().runner.runEvent(occasion);
  const path = join(lab.home, '.keelson/trusted-hooks.json');
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  for (const approval of stored.approvals) delete approval.digest;
  writeFileSync(path, JSON.stringify(stored));
  const { registry } = start();
  const result = await hooksIn(lab, { registry }).runner.runEvent(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 1]);
});

test('C19: prompts for each of two hooks with the same name in two files', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  await start().runner.runEvent(occasion);
  const other = start({ source: join(lab.workspace, 'other.json') });
  await other.runner.runEvent(occasion);

  expect([asked.map(({ why }) => why), (await other.approvals()).length]).toEqual([['new', 'new'], 2]);
});

test('C19: prompts once for each of two hooks with the same name in one file', async () => {
  const asked: string[] = [];
  const registry = new HookRegistry();
  const ran = join(lab.home, 'ran');
  for (const line of [`echo one >> ${ran}`, `echo two >> ${ran}`]) {
    const source = join(lab.workspace, 'hooks.json');
    registry.register({ event: 'before_tool', name: 'lint', command: line, shell: true, scope: 'workspace', source });
  }
  const approve = ({ why, item }: { why: string; item: { name: string } }) => asked.push(`${why} ${item.name}`) > 0;
  for (const _run of [1, 2]) await hooksIn(lab, { registry, approve }).runner.runEvent(occasion);

  expect(asked).toEqual(['new lint', 'new lint#2']);
  expect(readFileSync(ran, 'utf8').trim().split('\n')).toEqual(['one', 'two', 'one', 'two']);
});

test('C21: without an approver, only allow-listed digests run', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({}, () => false);
  const { registry } = start();
  await hooksIn(lab, { registry, approve: (request) => asked.push(request) < 0 }).runner.runEvent(occasion);
  const { logger, workspace: workspaceDir } = lab;
  const gate = createTrustGate({ workspaceDir, logger, allow: [asked[0]?.digest ?? ''] });
  await hooksIn(lab, { registry, gate }).runner.runEvent(occasion);

  expect(runs()).toBe(1);
});

test('C22: a changed user hook runs and is reported', async () => {
  mkdirSync(join(lab.home, '.keelson'));
  const path = join(lab.home, '.keelson/hooks.json');
  const start = async (word: string) => {
    writeFileSync(
      path,
      JSON.stringify({
        hooks: { before_tool: [{ name: 'mine', command: 'sh', args: ['-c', `echo ${word} >> ran`] }] },
      }),
    );
    const hooks = hooksIn(lab, { discover: ['native'] });
    await hooks.reload();
    await hooks.runner.runEvent(occasion);
    return hooks.status().diagnostics.map(({ code }) => code);
  };

  expect(await start('one')).toEqual([]);
  expect(new Set(await start('two'))).toEqual(new Set(['userHooksChanged']));
  expect(lab.read('ran')).toBe('one\ntwo\n');
});

test('C23: hook files that a tool writes have no effect in the session, and their paths are protected', async () => {
  const hooks = hooksIn(lab, { discover: ['native', 'claude'], approve: () => true });
  const evil = JSON.stringify({ hooks: { before_tool: [{ name: 'evil', command: './guard.sh' }] } });
  const { tool } = countingTool('write', () => {
    lab.write('guard.sh', RUN);
    lab.write('.keelson/hooks.json', evil);
    return 'written';
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('write', {}), calls('write', {}), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(runs()).toBe(0);
  const places = [
    '.keelson/hooks.json',
    '.mcp.json',
    '.claude/settings.json',
    join(lab.home, '.keelson/trusted-hooks.json'),
  ];
  expect(places.map((path) => hooks.gate.isProtectedPath(path))).toEqual([true, true, true, true]);
});

test('C25: shows the complete command line at any length', async () => {
  const args = ['-c', `${' '.repeat(100_000)}; rm -rf ~`];
  const { asked, start } = workspaceHook({ command: 'sh', args }, () => false);
  await start().runner.runEvent(occasion);

  expect(asked[0]?.argv).toEqual(['sh', ...args]);
});

test('C26: status starts no process and prompts nobody', async () => {
  lab.write(
    '.keelson/hooks.json',
    JSON.stringify({ hooks: { session_start: [{ name: 'evil', command: './guard.sh' }] } }),
  );
  lab.write('guard.sh', RUN);
  const asked: unknown[] = [];
  const hooks = hooksIn(lab, {
    discover: ['native', 'claude', 'gemini'],
    approve: (request) => asked.push(request) > 0,
  });
  const { agent } = agentWith(lab, hooks, { script: [] });
  await agent.ready();
  const { hooks: listed } = hooks.status();
  await hooks.approvals();
  agent.status();

  expect([asked, runs(), listed.map(({ name, scope }) => [name, scope])]).toEqual([[], 0, [['evil', 'workspace']]]);
});

test.each<[string, (hooks: ShellHooks, digest: string) => Promise<number>]>([
  ['this process', (hooks, digest) => hooks.revoke(digest)],
  ['another process', (_hooks, digest) => createTrustGate({ workspaceDir: lab.workspace }).revoke(digest)],
])(
  'an approval that %s revokes is no longer valid, and a guard with `onFailure: "block"` refuses',
  async (_who, revoke) => {
    lab.write('guard.sh', RUN);
    let answer = true;
    const { asked, start } = workspaceHook({ onFailure: 'block' }, () => answer);
    const hooks = start();
    await hooks.runner.runEvent(occasion);
    answer = false;

    expect(await revoke(hooks, asked[0]?.digest ?? '')).toBe(1);
    for (const _round of [1, 2]) expect(await hooks.runner.runEvent(occasion)).toMatchObject({ cancelledBy: 'guard' });
    expect([asked.length, runs()]).toEqual([2, 1]);
  },
);

test('a workspace hook gets a short list of variables and the ones it declares; a user hook gets no credentials', async () => {
  const env = { OPENAI_API_KEY: 'key', SECRET_TOKEN: 'token', DECLARED: 'yes', LANG: 'C' };
  Object.assign(process.env, env);
  const dump = { command: 'sh', args: ['-c', 'env > "$0"'] };
  const { start } = workspaceHook();
  await start({ ...dump, args: [...dump.args, 'theirs'], reads: ['DECLARED'], env: { OWN: '1' } }).runner.runEvent(
    occasion,
  );
  await start({ ...dump, args: [...dump.args, 'mine'], scope: 'builtin', source: undefined }).runner.runEvent(occasion);
  for (const name of ['OPENAI_API_KEY', 'SECRET_TOKEN', 'DECLARED']) delete process.env[name];
  const has = (file: string) =>
    Object.keys({ ...env, OWN: '' }).filter(
      (name) => lab.read(file).includes(`\n${name}=`) || lab.read(file).startsWith(`${name}=`),
    );

  expect(has('theirs').sort()).toEqual(['DECLARED', 'LANG', 'OWN']);
  expect(has('mine').sort()).toEqual(['DECLARED', 'LANG', 'SECRET_TOKEN']);
});

test('does not look up a program name in a PATH directory of the workspace', async () => {
  lab.write('bin/jq', '#!/bin/sh\necho hijacked > hijacked\n');
  process.env.PATH = `${join(lab.workspace, 'bin')}:${process.env.PATH}`;
  const { start } = workspaceHook({
    scope: 'builtin',
    source: undefined,
    command: 'sh',
    args: ['-c', 'jq --version; true'],
  });
  await start().runner.runEvent(occasion);
  process.env.PATH = process.env.PATH.split(':').slice(1).join(':');

  expect(lab.has('hijacked')).toBe(false);
  expect(realpathSync(lab.workspace)).toBe(lab.workspace);
  chmodSync(join(lab.workspace, 'bin/jq'), 0o644);
});

test('no other task of the event loop runs between verification and start', async () => {
  lab.write('guard.sh', RUN);
  const { workspace: workspaceDir } = lab;
  const gate = createTrustGate({ workspaceDir, logger: lab.logger, approve: () => true });
  const turns: boolean[] = [];
  let hadTurn = false;
  const watched: TrustGate = {
    ...{ store: gate.store, revoke: (digest) => gate.revoke(digest), authorize: (item) => gate.authorize(item) },
    isProtectedPath: gate.isProtectedPath,
    async verify(decision) {
      const verified = await gate.verify(decision);
      hadTurn = false;
      setImmediate(() => {
        hadTurn = true;
      });
      return verified;
    },
  };
  const registry = new HookRegistry();
  const source = join(workspaceDir, '.keelson/hooks.json');
  registry.register({ event: 'before_tool', name: 'guard', command: './guard.sh', scope: 'workspace', source });
  const machine = {
    spawn: (...start: Parameters<Spawn>) => {
      turns.push(hadTurn);
      return spawn(...start);
    },
  };
  const { runner } = hooksIn(lab, { gate: watched, registry, machine });
  for (let round = 0; round < 3; round++) await runner.runEvent(occasion);

  expect([turns, runs()]).toEqual([[false, false, false], 3]);
});

test('reports contain no control characters from workspace files or hook output', async () => {
  const unseen = '\u001b[2J\u001b]0;x\u0007\u009b1A\u202e';
  lab.write('.claude/settings.json', JSON.stringify({ hooks: { [`Pre${unseen}`]: [], [unseen]: 1 } }));
  lab.write('.gemini/settings.json', `{"${unseen}`);
  lab.write(
    '.keelson/hooks.json',
    JSON.stringify({ hooks: [{ event: 'before_tool', name: `a${unseen}`, command: 'x' }] }),
  );
  const says = {
    event: 'before_tool',
    name: 'loud',
    command: 'sh',
    args: ['-c', `printf '${unseen}no' >&2; exit 1`],
  } as const;
  const unread = { event: 'before_tool', name: 'gone', command: `./x${unseen}.sh`, scope: 'workspace' } as const;
  const hooks = hooksIn(lab, { discover: ['claude', 'gemini', 'native'], hooks: [says, unread] });
  await hooks.reload();
  await hooks.runner.runEvent({ event: 'before_tool', sessionId: 's', value: 0, describe: () => ({ data: {} }) });

  const shown = [...hooks.status().diagnostics, ...lab.logs].map(({ message }) => message);
  expect(hooks.status().diagnostics.map(({ code }) => code)).toEqual([
    ...['event-unsupported', 'key-ignored', 'file-unreadable', 'hook-invalid', 'gate-broken'],
  ]);
  expect(shown.filter((message) => message.includes('"gone" was skipped'))).toHaveLength(1);
  expect(shown.filter((message) => /[\p{Cc}\p{Cf}]/u.test(message))).toEqual([]);
});
