import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookRegistration } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { type Approver, createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { hookOfWorkspace, RUN, runsIn } from '../../support/shell-hooks/workspace-hook.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const runs = () => runsIn(lab);
const workspaceHook = (more?: Parameters<typeof hookOfWorkspace>[1], answer?: Parameters<typeof hookOfWorkspace>[2]) =>
  hookOfWorkspace(lab, more, answer);

test('S0-4.1: hooks of the host run without a prompt', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ scope: 'builtin', source: undefined });
  await start().runner.runEvent(occasion);

  expect([asked.length, runs()]).toEqual([0, 1]);
});

test('S0-4.2: hooks of the user and of user extensions run without a prompt', async () => {
  const program = join(lab.home, 'guard.sh');
  writeFileSync(program, RUN, { mode: 0o755 });
  const root = join(lab.home, '.ollm/extensions/x');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'hook.sh'), `#!/bin/sh\necho ran >> "${lab.workspace}/ran"\n`, { mode: 0o755 });
  const { asked, start } = workspaceHook({ scope: 'user', source: undefined });
  await start({ command: program }).runner.runEvent(occasion);
  await start({ command: './hook.sh', root, extension: 'x', source: join(root, 'manifest.json') }).runner.runEvent(
    occasion,
  );

  expect([asked.length, runs()]).toEqual([0, 2]);
});

test('a guard whose program is removed while the agent is open is blocked', async () => {
  const program = join(lab.home, 'guard.sh');
  writeFileSync(program, RUN, { mode: 0o755 });
  const hooks = hooksIn(lab, { hooks: [{ event: 'before_tool', name: 'guard', command: program, scope: 'user' }] });
  const script = [calls('look', {}), says('one'), calls('look', {}), says('two')];
  const { agent } = agentWith(lab, hooks, { script, tools: [countingTool('look').tool] });
  await agent.run('first');
  const [before] = hooks.status().guards;
  rmSync(program);
  await agent.run('second');

  expect([before, ...hooks.status().guards]).toMatchObject([
    { state: 'active' },
    { state: 'blocked', reason: expect.stringContaining('(no-executable)') },
  ]);
});

test('S0-4.3: the prompt shows a workspace hook completely before any process starts', async () => {
  lab.write('guard.sh', RUN);
  const seen: number[] = [];
  const { asked, start } = workspaceHook({ args: ['a', 'b c'] }, () => seen.push(runs()) > 0);
  await start().runner.runEvent(occasion);

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

test("S0-4.4: an approval stores the digest and the script's SHA-256; a refusal stores nothing", async () => {
  const script = lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.runEvent(occasion);
  const sum = execFileSync('sha256sum', [script], { encoding: 'utf8' }).slice(0, 64);

  expect(await hooks.approvals()).toMatchObject([{ digest: asked[0]?.digest, scripts: { 'guard.sh': sum } }]);
  expect(sum).toBe(createHash('sha256').update(RUN).digest('hex'));
  const refusing = workspaceHook({ name: 'other' }, () => false);
  await refusing.start().runner.runEvent(occasion);
  expect(await hooks.approvals()).toHaveLength(1);
});

test('S0-4.4: the documented recipe computes the digest from the definition', async () => {
  const script = lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ args: ['a'], timeout: 700, onFailure: 'block', matcher: 'x' });
  await start().runner.runEvent(occasion);
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
    .update(`hook/v2\n${canonical(document)}`)
    .digest('hex');

  expect(asked[0]?.digest).toBe(`sha256:${digest}`);
  expect(asked[0]?.files).toEqual([{ in: 'workspace', path: 'guard.sh', type: 'file', executable: true, sha256 }]);
});

test('S0-4.6: approvals of ollm are stored in ~/.ollm/trusted-hooks.json and are valid in a new process', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const registry = start().registry;
  await hooksIn(lab, { registry, appName: 'ollm', approve: (request) => asked.push(request) > 0 }).runner.runEvent(
    occasion,
  );
  await hooksIn(lab, { registry, appName: 'ollm' }).runner.runEvent(occasion);

  expect([asked.length, runs(), readdirSync(lab.home), readdirSync(join(lab.home, '.ollm'))]).toEqual([
    ...[1, 2, ['.ollm'], ['trusted-hooks.json']],
  ]);
  expect(statSync(join(lab.home, '.ollm/trusted-hooks.json')).mode & 0o777).toBe(0o600);
});

const refusals: Record<string, Approver | undefined> = {
  'C1: without an approver': undefined,
  'C2: if the approver refuses': () => false,
  'C2: if the approver throws': () => {
    throw new TypeError('broken');
  },
  'C2: if the approver rejects': () => Promise.reject(new TypeError('broken')),
  'C2: if the approver returns undefined': () => undefined as never,
  'C2: if the approver returns a string': () => 'yes' as never,
};

test.each(Object.entries(refusals))(
  'S0-4.7, %s, the hook is skipped and the event continues',
  async (_how, approve) => {
    lab.write('guard.sh', RUN);
    const { start } = workspaceHook({ onFailure: 'block' });
    const { registry } = start();
    const result = await hooksIn(lab, { registry, approve }).runner.runEvent(occasion);

    expect(result).toMatchObject({
      cancelled: false,
      outcomes: [{ status: 'skipped', problem: { kind: 'untrusted' } }],
    });
    expect([runs(), lab.logged('warn').at(-1)?.message]).toEqual([0, expect.stringContaining('was skipped')]);
  },
);

test('C2: an approver that never answers counts as a refusal after its time limit', async () => {
  lab.write('guard.sh', RUN);
  const { start } = workspaceHook();
  const { logger, workspace: workspaceDir } = lab;
  const gate = createTrustGate({ workspaceDir, logger, approve: () => new Promise(() => {}), approveTimeoutMs: 50 });
  const result = await hooksIn(lab, { registry: start().registry, gate }).runner.runEvent(occasion);

  expect([result.outcomes[0]?.status, runs()]).toEqual(['skipped', 0]);
});

test('C3: an approved hook runs again without a prompt', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook();
  const hooks = start();
  await hooks.runner.runEvent(occasion);
  await hooks.runner.runEvent(occasion);

  expect([asked.length, runs()]).toEqual([1, 2]);
});

describe('S0-4.5: a changed hook needs a new approval after a change of', () => {
  test('C4: one byte of the script', async () => {
    lab.write('guard.sh', RUN);
    let answer = true;
    const { asked, start } = workspaceHook({}, () => answer);
    const hooks = start();
    await hooks.runner.runEvent(occasion);
    lab.write('guard.sh', `${RUN}#`);
    answer = false;
    await hooks.runner.runEvent(occasion);

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
    ['exitCodes', { exitCodes: true }],
    ['reads', { reads: ['FOO'] }],
  ])('C5: its %s', async (_what, changed) => {
    lab.write('guard.sh', RUN);
    lab.write('other.sh', RUN);
    const { asked, start } = workspaceHook();
    await start().runner.runEvent(occasion);
    const again = start(changed);
    const event = changed.event ?? 'before_tool';
    await again.runner.runEvent({ ...occasion, event, tool: 'x' });

    expect([asked.length, runs()]).toEqual([2, 2]);
  });

  test('R53: an approved guard that has changed blocks if onFailure is block', async () => {
    lab.write('guard.sh', RUN);
    let answer = true;
    const { start } = workspaceHook({ onFailure: 'block' }, () => answer);
    const hooks = start();
    await hooks.runner.runEvent(occasion);
    lab.write('guard.sh', `${RUN}#`);
    answer = false;

    expect(await hooks.runner.runEvent(occasion)).toMatchObject({ cancelled: true, cancelledBy: 'guard' });
  });
});

describe('hooks of an extension in the workspace', () => {
  const extension = () => {
    const root = join(lab.workspace, '.keelson/extensions/x');
    lab.write('.keelson/extensions/x/hook.sh', `#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n`);
    lab.write('.keelson/extensions/x/lib.sh', `echo "$WORD" >> "${lab.workspace}/ran"\n`);
    return { root, extension: 'x', command: `\${extensionPath}/hook.sh`, env: { WORD: 'good' } };
  };

  test('C6: an approval also covers a file that the script reads', async () => {
    const { asked, start } = workspaceHook(extension());
    const hooks = start();
    await hooks.runner.runEvent(occasion);
    lab.write('.keelson/extensions/x/lib.sh', `echo evil >> "${lab.workspace}/ran"\n`);
    await hooks.runner.runEvent(occasion);

    expect(asked.map(({ why }) => why)).toEqual(['new', 'changed']);
    expect(lab.read('ran')).toBe('good\nevil\n');
  });

  test('C9: runs the approved content from a copy', async () => {
    const { start } = workspaceHook({ ...extension() });
    lab.write('.keelson/extensions/x/hook.sh', `#!/bin/sh\ndirname "$0" >> "${lab.workspace}/ran"\n`);
    await start().runner.runEvent(occasion);

    expect(lab.read('ran')).toMatch(new RegExp(`^${join(lab.home, '.keelson/approved')}/[0-9a-f]{64}\n$`));
  });
});
