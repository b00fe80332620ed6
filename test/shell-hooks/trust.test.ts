import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ApprovalRequest,
  type Approver,
  createTrustGate,
  type HookRegistration,
  HookRegistry,
} from '../../src/shell-hooks/shell-hooks.js';
import { calls, says } from '../../src/testing/testing.js';
import { agentWith, countingTool, hooksIn, useHookLab } from './support/hook-lab.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const RUN = '#!/bin/sh\ncat > /dev/null\necho ran >> ran\n';
const runs = () => (lab.has('ran') ? lab.read('ran').trim().split('\n').length : 0);

/** A hook of the workspace, and what the approver was shown. */
function workspaceHook(
  more: Partial<HookRegistration> = {},
  answer: (request: ApprovalRequest) => unknown = () => true,
) {
  const asked: ApprovalRequest[] = [];
  const approve = ((request) => {
    asked.push(request);
    return answer(request);
  }) as Approver;
  const hook = (changed: Partial<HookRegistration> = {}): HookRegistration => ({
    ...{ event: 'before_tool', name: 'guard', command: './guard.sh', scope: 'workspace' },
    source: join(lab.workspace, '.keelson/hooks.json'),
    ...more,
    ...changed,
  });
  const start = (changed: Partial<HookRegistration> = {}, approver: Approver | undefined = approve) => {
    const registry = new HookRegistry();
    registry.register(hook(changed));
    return hooksIn(lab, { registry, approve: approver });
  };
  return { asked, start };
}

test('S0-4.1: hooks of the host run without a question', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ scope: 'builtin', source: undefined });
  await start().runner.run(occasion);

  expect([asked.length, runs()]).toEqual([0, 1]);
});

test('S0-4.2: hooks of the user run without a question, those of their extensions too', async () => {
  const program = join(lab.home, 'guard.sh');
  writeFileSync(program, RUN, { mode: 0o755 });
  const root = join(lab.home, '.ollm/extensions/x');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'hook.sh'), `#!/bin/sh\necho ran >> "${lab.workspace}/ran"\n`, { mode: 0o755 });
  const { asked, start } = workspaceHook({ scope: 'user', source: undefined });
  await start({ command: program }).runner.run(occasion);
  await start({ command: './hook.sh', root, extension: 'x', source: join(root, 'manifest.json') }).runner.run(occasion);

  expect([asked.length, runs()]).toEqual([0, 2]);
});

test('S0-4.3: a hook of the workspace is shown with all it is, before anything is spawned', async () => {
  lab.write('guard.sh', RUN);
  const seen: number[] = [];
  const { asked, start } = workspaceHook({ args: ['a', 'b c'] }, () => seen.push(runs()) > 0);
  await start().runner.run(occasion);

  expect([seen, runs()]).toEqual([[0], 1]);
  expect(asked).toMatchObject([
    {
      why: 'new',
      item: { kind: 'hook', name: 'guard', event: 'before_tool', source: join(lab.workspace, '.keelson/hooks.json') },
      argv: ['./guard.sh', 'a', 'b c'],
      executable: join(lab.workspace, 'guard.sh'),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    },
  ]);
});

test("S0-4.4: a yes stores the digest, and beside it the script's own SHA-256; a no stores nothing", async () => {
  const script = lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.run(occasion);
  const sum = execFileSync('sha256sum', [script], { encoding: 'utf8' }).slice(0, 64);

  expect(await hooks.approvals()).toMatchObject([{ digest: asked[0]?.digest, scripts: { 'guard.sh': sum } }]);
  expect(sum).toBe(createHash('sha256').update(RUN).digest('hex'));
  const refusing = workspaceHook({ name: 'other' }, () => false);
  await refusing.start().runner.run(occasion);
  expect(await hooks.approvals()).toHaveLength(1);
});

test('S0-4.4: the digest can be computed from the raw definition by the documented recipe', async () => {
  const script = lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ args: ['a'], timeout: 700, onFailure: 'block', matcher: 'x' });
  await start().runner.run(occasion);
  const sha256 = createHash('sha256').update(RUN).digest('hex');
  const canonical = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const keys = Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);
    return `{${keys
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`)
      .join(',')}}`;
  };
  const document = {
    ...{ kind: 'hook', name: 'guard', event: 'before_tool', command: './guard.sh', args: ['a'], env: {} },
    details: { matcher: 'x', timeout: 700, onFailure: 'block', dialect: 'native' },
    ...{
      scope: 'workspace',
      source: join(lab.workspace, '.keelson/hooks.json'),
      workspace: lab.workspace,
      cwd: lab.workspace,
    },
    executable: { path: script, sha256 },
    files: asked[0]?.files,
  };
  const digest = createHash('sha256')
    .update(`hook/v1\n${canonical(document)}`)
    .digest('hex');

  expect(asked[0]?.digest).toBe(`sha256:${digest}`);
  expect(asked[0]?.files).toEqual([{ in: 'workspace', path: 'guard.sh', type: 'file', executable: true, sha256 }]);
});

test('S0-4.6: approvals lie in ~/.ollm/trusted-hooks.json for ollm, and hold for a new process', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const registry = start().registry;
  await hooksIn(lab, { registry, appName: 'ollm', approve: (request) => asked.push(request) > 0 }).runner.run(occasion);
  await hooksIn(lab, { registry, appName: 'ollm' }).runner.run(occasion);

  expect([asked.length, runs(), readdirSync(lab.home), readdirSync(join(lab.home, '.ollm'))]).toEqual([
    ...[1, 2, ['.ollm'], ['trusted-hooks.json']],
  ]);
  expect(statSync(join(lab.home, '.ollm/trusted-hooks.json')).mode & 0o777).toBe(0o600);
});

const noes: Record<string, Approver | undefined> = {
  'nobody is asked': undefined,
  'it says no': () => false,
  'it throws': () => {
    throw new TypeError('broken');
  },
  'it rejects': () => Promise.reject(new TypeError('broken')),
  'it says nothing': () => undefined as never,
  'it says something else': () => 'yes' as never,
};

test.each(Object.entries(noes))(
  'S0-4.7, C1, C2: where %s, the hook is skipped and the event goes on',
  async (_how, approve) => {
    lab.write('guard.sh', RUN);
    const { start } = workspaceHook({ onFailure: 'block' });
    const { registry } = start();
    const result = await hooksIn(lab, { registry, approve }).runner.run(occasion);

    expect(result).toMatchObject({
      cancelled: false,
      outcomes: [{ status: 'skipped', problem: { kind: 'untrusted' } }],
    });
    expect([runs(), lab.logged('warn').at(-1)?.message]).toEqual([0, expect.stringContaining('was skipped')]);
  },
);

test('C2: an approver that never answers is a no, in time', async () => {
  lab.write('guard.sh', RUN);
  const { start } = workspaceHook();
  const { logger, workspace: workspaceDir } = lab;
  const gate = createTrustGate({ workspaceDir, logger, approve: () => new Promise(() => {}), approveTimeoutMs: 50 });
  const result = await hooksIn(lab, { registry: start().registry, gate }).runner.run(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 0]);
});

test('C3: what was approved runs again without a question', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.run(occasion);
  await hooks.runner.run(occasion);

  expect([asked.length, runs()]).toEqual([1, 2]);
});

describe('S0-4.5: what has changed is asked about again, and not run on the old approval', () => {
  test('C4: one byte of the script', async () => {
    lab.write('guard.sh', RUN);
    let answer = true;
    const { asked, start } = workspaceHook({}, () => answer);
    const hooks = start();
    await hooks.runner.run(occasion);
    lab.write('guard.sh', `${RUN}#`);
    answer = false;
    await hooks.runner.run(occasion);

    expect([asked.map(({ why }) => why), runs()]).toEqual([['new', 'changed'], 1]);
  });

  test.each<[string, Partial<HookRegistration>]>([
    ['args', { args: ['x'] }],
    ['env', { env: { X: '1' } }],
    ['matcher', { matcher: 'x' }],
    ['event', { event: 'after_tool' }],
    ['timeout', { timeout: 9_000 }],
    ['onFailure', { onFailure: 'block' }],
    ['executable', { command: './other.sh' }],
    ['exit codes', { exitCodes: true }],
    ['variables that it reads', { reads: ['FOO'] }],
  ])('C5: only its %s', async (_what, changed) => {
    lab.write('guard.sh', RUN);
    lab.write('other.sh', RUN);
    const { asked, start } = workspaceHook();
    await start().runner.run(occasion);
    const again = start(changed);
    const event = changed.event ?? 'before_tool';
    await again.runner.run({ ...occasion, event, tool: 'x' });

    expect([asked.length, runs()]).toEqual([2, 2]);
  });

  test('R53: a guard that was approved and has changed since blocks, where it has to', async () => {
    lab.write('guard.sh', RUN);
    let answer = true;
    const { start } = workspaceHook({ onFailure: 'block' }, () => answer);
    const hooks = start();
    await hooks.runner.run(occasion);
    lab.write('guard.sh', `${RUN}#`);
    answer = false;

    expect(await hooks.runner.run(occasion)).toMatchObject({ cancelled: true, cancelledBy: 'guard' });
  });
});

describe('hooks of an extension in the workspace', () => {
  const extension = () => {
    const root = join(lab.workspace, '.keelson/extensions/x');
    lab.write('.keelson/extensions/x/hook.sh', `#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n`);
    lab.write('.keelson/extensions/x/lib.sh', `echo "$WORD" >> "${lab.workspace}/ran"\n`);
    return { root, extension: 'x', command: `\${extensionPath}/hook.sh`, env: { WORD: 'good' } };
  };

  test('C6: a file that the script reads is bound as well', async () => {
    const { asked, start } = workspaceHook(extension());
    const hooks = start();
    await hooks.runner.run(occasion);
    lab.write('.keelson/extensions/x/lib.sh', `echo evil >> "${lab.workspace}/ran"\n`);
    await hooks.runner.run(occasion);

    expect(asked.map(({ why }) => why)).toEqual(['new', 'changed']);
    expect(lab.read('ran')).toBe('good\nevil\n');
  });

  test('C9: what was approved is what runs, from a copy', async () => {
    const { start } = workspaceHook({ ...extension() });
    lab.write('.keelson/extensions/x/hook.sh', `#!/bin/sh\ndirname "$0" >> "${lab.workspace}/ran"\n`);
    await start().runner.run(occasion);

    expect(lab.read('ran')).toMatch(new RegExp(`^${join(lab.home, '.keelson/approved')}/[0-9a-f]{64}\n$`));
  });
});

test('C7: a script that became a link out of the workspace is refused, though the bytes are the same', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.run(occasion);
  writeFileSync(join(lab.home, 'copy.sh'), RUN, { mode: 0o755 });
  unlinkSync(join(lab.workspace, 'guard.sh'));
  symlinkSync(join(lab.home, 'copy.sh'), join(lab.workspace, 'guard.sh'));
  const result = await hooks.runner.run(occasion);

  expect([asked.length, runs(), result.outcomes[0]?.status]).toEqual([1, 1, 'failed']);
});

test('C10: a script that is gone, or cannot be read, is refused', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.run(occasion);
  unlinkSync(join(lab.workspace, 'guard.sh'));

  expect((await hooks.runner.run(occasion)).outcomes).toMatchObject([{ status: 'failed' }]);
  expect([asked.length, runs()]).toEqual([1, 1]);
});

test("C12: a file of the user's that is a link into the workspace is the workspace's", async () => {
  const real = lab.write(
    'evil.json',
    JSON.stringify({ hooks: { before_tool: [{ name: 'evil', command: './guard.sh' }] } }),
  );
  lab.write('guard.sh', RUN);
  mkdirSync(join(lab.home, '.keelson'));
  symlinkSync(real, join(lab.home, '.keelson/hooks.json'));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();
  const result = await hooks.runner.run(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 0]);
});

test('C13: what a file of the workspace says about trust or time is not read, and that is said', async () => {
  const document = {
    ...{ trustWorkspace: true, autoEnable: true, stateDir: './state', trustPath: './t.json' },
    hooks: { enabled: true, timeout: 1, before_tool: [{ name: 'guard', command: './guard.sh', scope: 'builtin' }] },
  };
  lab.write('.keelson/hooks.json', JSON.stringify(document));
  lab.write('guard.sh', RUN);
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();
  await hooks.runner.run(occasion);

  expect(runs()).toBe(0);
  expect(hooks.status().diagnostics.map(({ level, code }) => [level, code])).toEqual([
    ...Array.from({ length: 6 }, () => ['warning', 'key-ignored']),
    ['error', 'hook-invalid'],
  ]);
  const late = lab.logs.map(({ message }) => message).join('\n');
  expect(late).toContain('`hooks.timeout` is not read from a file of the workspace');
});

test('C14: a .env of the workspace is not read', async () => {
  lab.write('.env', `KEELSON_HOME=${lab.workspace}\nHOME=${lab.workspace}\n`);
  lab.write('guard.sh', RUN);
  await workspaceHook().start().runner.run(occasion);

  expect([lab.has('.keelson'), process.env.KEELSON_HOME, readdirSync(lab.home)]).toEqual([
    false,
    undefined,
    ['.keelson'],
  ]);
});

test('C15: the same repository elsewhere is another one', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  await start().runner.run(occasion);
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
  const result = await hooksIn(lab, { registry, workspaceDir: clone }).runner.run(occasion);

  expect([asked.length, result.outcomes[0]?.status]).toEqual([1, 'skipped']);
});

test('C18: an entry of the store without a digest trusts nothing', async () => {
  lab.write('guard.sh', RUN);
  const { start } = workspaceHook();
  await start().runner.run(occasion);
  const path = join(lab.home, '.keelson/trusted-hooks.json');
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  for (const approval of stored.approvals) delete approval.digest;
  writeFileSync(path, JSON.stringify(stored));
  const { registry } = start();
  const result = await hooksIn(lab, { registry }).runner.run(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 1]);
});

test('C19: two hooks of one name in two files are two hooks', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  await start().runner.run(occasion);
  const other = start({ source: join(lab.workspace, 'other.json') });
  await other.runner.run(occasion);

  expect([asked.map(({ why }) => why), (await other.approvals()).length]).toEqual([['new', 'new'], 2]);
});

test('C21: where there is nobody to ask, only a list of digests helps', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({}, () => false);
  const { registry } = start();
  await hooksIn(lab, { registry, approve: (request) => asked.push(request) < 0 }).runner.run(occasion);
  const { logger, workspace: workspaceDir } = lab;
  const gate = createTrustGate({ workspaceDir, logger, allow: [asked[0]?.digest ?? ''] });
  await hooksIn(lab, { registry, gate }).runner.run(occasion);

  expect(runs()).toBe(1);
});

test("C22: a hook of the user's that has changed runs, and that is said", async () => {
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
    await hooks.runner.run(occasion);
    return hooks.status().diagnostics.map(({ code }) => code);
  };

  expect(await start('one')).toEqual([]);
  expect(new Set(await start('two'))).toEqual(new Set(['userHooksChanged']));
  expect(lab.read('ran')).toBe('one\ntwo\n');
});

test('C23: hooks that a tool writes have no effect in the session, and the path is known to be protected', async () => {
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

test('C25: the whole command line is shown, however long it is', async () => {
  const args = ['-c', `${' '.repeat(100_000)}; rm -rf ~`];
  const { asked, start } = workspaceHook({ command: 'sh', args }, () => false);
  await start().runner.run(occasion);

  expect(asked[0]?.argv).toEqual(['sh', ...args]);
});

test('C26: looking at what is there starts nothing and asks nobody', async () => {
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

test('an approval that is taken back counts no more', async () => {
  lab.write('guard.sh', RUN);
  let answer = true;
  const { asked, start } = workspaceHook({}, () => answer);
  const hooks = start();
  await hooks.runner.run(occasion);
  answer = false;

  expect(await hooks.revoke(asked[0]?.digest ?? '')).toBe(1);
  expect((await hooks.runner.run(occasion)).outcomes).toMatchObject([{ status: 'skipped' }]);
  expect(runs()).toBe(1);
});

test("a hook of the workspace gets a short list of variables, and what it declared; one of the user's no credentials", async () => {
  const env = { OPENAI_API_KEY: 'key', SECRET_TOKEN: 'token', DECLARED: 'yes', LANG: 'C' };
  Object.assign(process.env, env);
  const dump = { command: 'sh', args: ['-c', 'env > "$0"'] };
  const { start } = workspaceHook();
  await start({ ...dump, args: [...dump.args, 'theirs'], reads: ['DECLARED'], env: { OWN: '1' } }).runner.run(occasion);
  await start({ ...dump, args: [...dump.args, 'mine'], scope: 'builtin', source: undefined }).runner.run(occasion);
  for (const name of ['OPENAI_API_KEY', 'SECRET_TOKEN', 'DECLARED']) delete process.env[name];
  const has = (file: string) =>
    Object.keys({ ...env, OWN: '' }).filter(
      (name) => lab.read(file).includes(`\n${name}=`) || lab.read(file).startsWith(`${name}=`),
    );

  expect(has('theirs').sort()).toEqual(['DECLARED', 'LANG', 'OWN']);
  expect(has('mine').sort()).toEqual(['DECLARED', 'LANG', 'SECRET_TOKEN']);
});

test('a folder of programs in the workspace takes no bare name over', async () => {
  lab.write('bin/jq', '#!/bin/sh\necho hijacked > hijacked\n');
  process.env.PATH = `${join(lab.workspace, 'bin')}:${process.env.PATH}`;
  const { start } = workspaceHook({
    scope: 'builtin',
    source: undefined,
    command: 'sh',
    args: ['-c', 'jq --version; true'],
  });
  await start().runner.run(occasion);
  process.env.PATH = process.env.PATH.split(':').slice(1).join(':');

  expect(lab.has('hijacked')).toBe(false);
  expect(realpathSync(lab.workspace)).toBe(lab.workspace);
  chmodSync(join(lab.workspace, 'bin/jq'), 0o644);
});
