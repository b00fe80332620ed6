import { chmodSync, existsSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, answers, countingTool, hooksIn, runOnce, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const GUARD = { event: 'before_tool', name: 'guard', command: './guard.sh', onFailure: 'block' };
const REFUSES = `#!/bin/sh\necho '{"continue":false,"reason":"no"}'\n`;

function writeGuard(hooks: readonly object[] = [GUARD]): void {
  lab.write('guard.sh', REFUSES);
  lab.write('.keelson/hooks.json', JSON.stringify({ hooks }));
}

/** Returns hooks whose approver approves the first prompt and declines all later prompts. */
async function approvedOnce() {
  const yes = [true];
  const hooks = hooksIn(lab, { discover: ['native'], approve: () => yes.pop() === true });
  await hooks.reload();
  await hooks.runner.runEvent(occasion);
  return hooks;
}

/** Renames the file and returns its old path, which is now free. */
function renamed(path: string): string {
  renameSync(path, `${path}.old`);
  return path;
}

test.each<[string, (path: string) => void]>([
  ['is missing', (path) => unlinkSync(path)],
  ['is damaged', (path) => writeFileSync(path, '{')],
  ['is writable for other users', (path) => chmodSync(path, 0o666)],
  ['is a link to a directory', (path) => symlinkSync('.', renamed(path))],
])('an approved guard still blocks if the approval file %s', async (_what, damage) => {
  writeGuard();
  const { runner, gate } = await approvedOnce();
  damage(gate.store.path);

  for (let time = 0; time < 2; time += 1) {
    expect(await runner.runEvent(occasion)).toMatchObject({ cancelled: true, outcomes: [{ status: 'failed' }] });
  }
});

const moves: Readonly<Record<string, () => void>> = {
  'the directory of its hook file': () => {
    renameSync(join(lab.workspace, '.keelson'), join(lab.workspace, 'elsewhere'));
    symlinkSync('elsewhere', join(lab.workspace, '.keelson'));
  },
  'the whole workspace': () => {
    renameSync(lab.workspace, `${lab.workspace}-moved`);
    symlinkSync(`${lab.workspace}-moved`, lab.workspace);
  },
};

test.each(Object.keys(moves))('an approved guard still blocks if %s is moved and replaced by a link', async (what) => {
  writeGuard();
  const { runner } = await approvedOnce();
  moves[what]?.();

  for (let time = 0; time < 2; time += 1) {
    expect(await runner.runEvent(occasion)).toMatchObject({ cancelled: true, outcomes: [{ status: 'failed' }] });
  }
});

test('a user guard still blocks if its program becomes a link into the workspace', async () => {
  lab.write('guard.sh', REFUSES);
  const program = join(lab.home, 'guard.sh');
  symlinkSync('/bin/true', program);
  const guard = { ...GUARD, event: 'before_tool', command: program, onFailure: 'block', scope: 'user' } as const;
  const hooks = hooksIn(lab, {});
  hooks.registry.register(guard);
  const before = await hooks.runner.runEvent(occasion);
  unlinkSync(program);
  symlinkSync(join(lab.workspace, 'guard.sh'), program);

  expect(before.outcomes).toMatchObject([{ status: 'completed' }]);
  expect(await hooks.runner.runEvent(occasion)).toMatchObject({ cancelled: true, outcomes: [{ status: 'failed' }] });
});

test('a reload keeps all hooks, even if names look like ids of other hooks', async () => {
  const names = ['#1', '#2', '#3', '#4', 'hook-1', 'hook-2'];
  writeGuard(names.map((name) => ({ ...GUARD, name })));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();
  await hooks.reload();

  expect(hooks.registry.list().map(({ name }) => name)).toEqual(names);
});

test.each([500, 2_000, 4_000, 100_000])('a guard still blocks a call whose arguments have %i levels', async (depth) => {
  const guard = answers('before_tool', { continue: false, reason: 'no' });
  const { runner } = hooksIn(lab, { hooks: [guard], sensitive: ['password'] });
  const args: unknown = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

  // The log records contain the arguments, which are too deep for the test runner to transfer.
  lab.logs.length = 0;
  const { cancelled } = await runner.runEvent({
    ...occasion,
    describe: () => ({ data: { args, password: 'secret' } }),
  });
  const shown = JSON.stringify(lab.logs.map(({ message }) => message));
  lab.logs.length = 0;

  expect([cancelled, shown]).toEqual([true, '["Hook \\"before_tool-hook\\" runs"]']);
});

test('evaluates a matcher with millions of spaces in a short time', async () => {
  const matcher = `${' '.repeat(2_000_000)}x${' '.repeat(100_000)}y`;
  const group = { matcher, hooks: [{ type: 'command', command: 'touch ran' }] };
  lab.write('.claude/settings.json', JSON.stringify({ hooks: { PreToolUse: [group] } }));
  const { tool } = countingTool('read');
  const hooks = hooksIn(lab, { discover: ['claude'] });
  const { agent } = agentWith(lab, hooks, { tools: [tool], script: [calls('read', {}), says('done')] });

  expect(await agent.run('go')).toMatchObject({ text: 'done' });
  expect(existsSync(join(lab.workspace, 'ran'))).toBe(false);
});

test('a reload during an event does not skip a guard that has not run yet', async () => {
  lab.write('slow.sh', '#!/bin/sh\necho ran >> slow\nwhile [ ! -e go ]; do sleep 0.02; done\n');
  writeGuard([{ event: 'before_tool', name: 'slow', command: './slow.sh' }, GUARD]);
  const hooks = hooksIn(lab, { discover: ['native'], approve: () => true });
  await hooks.reload();
  const running = hooks.runner.runEvent(occasion);
  await expect.poll(() => lab.has('slow')).toBe(true);
  await hooks.reload();
  lab.write('go', '');

  expect(await running).toMatchObject({ cancelled: true, cancelledBy: 'guard' });
  expect(lab.read('slow')).toBe('ran\n');
});

test.each([
  ['a NUL character', 'a\0b'],
  ['200,000 characters', 'x'.repeat(200_000)],
  ['an unpaired surrogate', 'a\ud800'],
])('a guard still blocks in a session whose id has %s', async (_what, sessionId) => {
  for (const dialect of ['native', 'gemini'] as const) {
    const { runner } = hooksIn(lab, { hooks: [{ ...answers('before_tool', { continue: false }), dialect }] });
    const outcome = await runner.runEvent({ ...occasion, sessionId });

    expect(outcome.outcomes).toMatchObject([{ status: 'completed' }]);
    expect(outcome.stop ?? outcome.cancelled).toBeTruthy();
  }
});

test.each([
  ['before_tool', 'native', '{"continue":false,"data":DEEP}'],
  ['before_tool', 'native', '{"continue":false,"updatedInput":{"a":DEEP}}'],
  ['after_tool', 'native', '{"continue":false,"updatedOutput":DEEP}'],
  ['before_tool', 'claude', '{"decision":"block","reason":"no","seen":DEEP}'],
  ['before_tool', 'gemini', '{"decision":"deny","reason":"no","seen":DEEP}'],
] as const)('a refusal at %s counts even if the output has very many levels: %s %s', async (event, dialect, output) => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  lab.write('answer', output.replace('DEEP', deep));
  const hook = { name: 'guard', event, dialect, command: 'cat', args: ['answer'] };

  expect(await runOnce(lab, [hook])).toMatchObject({ cancelled: true });
});
