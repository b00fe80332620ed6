import type { HookRegistration } from 'keelson/shell-hooks';
import { expect, test } from 'vitest';
import { hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { hookOfWorkspace, RUN, runsIn } from '../../support/shell-hooks/workspace-hook.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const at = (tool: string) => ({ ...occasion, tool });
const ENDLESS = { matcher: '^(a+)+$' };
/** Evaluating the expression for this name takes a second, and does not select the hook. */
const VICTIM = `${'a'.repeat(24)}!`;

/** Returns hooks with a changed guard and no approver. The unchanged guard was approved earlier. */
async function changed(before: Partial<HookRegistration>, after: Partial<HookRegistration>) {
  lab.write('guard.sh', RUN);
  const { start } = workspaceHook({ onFailure: 'block', ...before });
  await start().runner.runEvent(at('read'));
  lab.write('guard.sh', `${RUN}#`);
  const { registry } = start(after);
  return hooksIn(lab, { registry });
}
const workspaceHook = (more?: Parameters<typeof hookOfWorkspace>[1], answer?: Parameters<typeof hookOfWorkspace>[2]) =>
  hookOfWorkspace(lab, more, answer);

test.each([
  ['read', 0],
  ['read|write', 0],
  ['*', 1],
  ['wipe', 1],
  ['^wipe$', 1],
  ['^read$', 1],
])('an unapproved hook with the matcher %s prompts %i times at a call of the tool wipe', async (matcher, questions) => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ matcher });
  await start().runner.runEvent(at('wipe'));

  expect([asked.length, runsIn(lab)]).toEqual([questions, matcher === '^read$' ? 0 : questions]);
});

test('an approved regular expression selects only matching tools and causes no outcome for others', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ matcher: '^re.d$' });
  const { runner } = start();
  const seen = [];
  for (const tool of ['wipe', 'read', 'wipe']) seen.push((await runner.runEvent(at(tool))).outcomes.length);

  expect([seen, asked.length, runsIn(lab)]).toEqual([[0, 1, 0], 1, 1]);
  expect(runner.matching({ event: 'before_tool', tool: 'wipe' })).toEqual([]);
});

test('B24: does not evaluate a never-ending regular expression of an unapproved hook', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook(ENDLESS, () => false);
  const { outcomes } = await start().runner.runEvent(at(VICTIM));

  expect([asked.length, outcomes[0]?.status, runsIn(lab)]).toEqual([1, 'skipped', 0]);
});

test('evaluates regular expressions of host and user hooks without an approval', () => {
  for (const scope of ['builtin', 'user'] as const) {
    const { runner } = workspaceHook({ scope, source: undefined, matcher: '^read$' }).start();

    expect(runner.matching({ event: 'before_tool', tool: 'wipe' })).toEqual([]);
  }
});

test.each([
  { what: 'a list of names that match', matcher: 'read', tool: 'read', refuses: true },
  { what: 'a list of names that do not match', matcher: 'read', tool: 'wipe', refuses: false },
  { what: 'a wildcard', matcher: '*', tool: 'wipe', refuses: true },
  { what: 'an unchanged regular expression that matches', matcher: '^read$', tool: 'read', refuses: true },
  { what: 'a regular expression, which is not trusted now', matcher: '^read$', tool: 'wipe', refuses: true },
])('R53: a changed guard whose matcher is $what refuses the call: $refuses', async ({ matcher, tool, refuses }) => {
  const hooks = await changed({ matcher }, { matcher });

  expect((await hooks.runner.runEvent(at(tool))).cancelled).toBe(refuses);
  expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([refuses ? 1 : 0]);
});

test('R53: a changed guard whose regular expression also changed fails, and refuses every call', async () => {
  const hooks = await changed({ matcher: '^read$' }, ENDLESS);
  const first = await hooks.runner.runEvent(at(VICTIM));
  const second = await hooks.runner.runEvent(at('wipe'));

  expect([first, second]).toMatchObject([{ cancelledBy: 'guard' }, { cancelledBy: 'guard' }]);
  expect(hooks.status()).toMatchObject({ hooks: [{ failures: 2 }] });
});

test('a guard that changes while in use still selects calls by its regular expression', async () => {
  lab.write('guard.sh', RUN);
  let answer = true;
  const { start } = workspaceHook({ onFailure: 'block', matcher: '^read$' }, () => answer);
  const { runner } = start();
  await runner.runEvent(at('read'));
  lab.write('guard.sh', `${RUN}#`);
  answer = false;

  expect((await runner.runEvent(at('wipe'))).cancelled).toBe(false);
  expect((await runner.runEvent(at('read'))).cancelled).toBe(true);
});
