import { expect, test } from 'vitest';
import type { HookRegistration } from '../../../src/shell-hooks/shell-hooks.js';
import { hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { hookOfWorkspace, RUN, runsIn } from '../../support/shell-hooks/workspace-hook.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const at = (tool: string) => ({ ...occasion, tool });
const ENDLESS = { matcher: '^(a+)+$' };
const VICTIM = `${'a'.repeat(60)}!`;

/** A guard that was approved once, by a process that is gone, and the same one changed where nobody can be asked. */
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
])('for the tool wipe a hook with the matcher %s that nobody approved asks %i times', async (matcher, questions) => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ matcher });
  await start().runner.runEvent(at('wipe'));

  expect([asked.length, runsIn(lab)]).toEqual([questions, matcher === '^read$' ? 0 : questions]);
});

test('once approved, a pattern is for what it matches, and leaves no trace elsewhere', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook({ matcher: '^re.d$' });
  const { runner } = start();
  const seen = [];
  for (const tool of ['wipe', 'read', 'wipe']) seen.push((await runner.runEvent(at(tool))).outcomes.length);

  expect([seen, asked.length, runsIn(lab)]).toEqual([[0, 1, 0], 1, 1]);
  expect(runner.matching({ event: 'before_tool', tool: 'wipe' })).toEqual([]);
});

test('B24: a pattern that never ends is not tried for a hook that is not approved', async () => {
  lab.write('guard.sh', RUN);
  const { asked, start } = workspaceHook(ENDLESS, () => false);
  const begin = performance.now();
  const { outcomes } = await start().runner.runEvent(at(VICTIM));

  expect([asked.length, outcomes[0]?.status, runsIn(lab)]).toEqual([1, 'skipped', 0]);
  expect(performance.now() - begin).toBeLessThan(2_000);
});

test("the patterns of the host's own hooks and the user's are tried at once", () => {
  for (const scope of ['builtin', 'user'] as const) {
    const { runner } = workspaceHook({ scope, source: undefined, matcher: '^read$' }).start();

    expect(runner.matching({ event: 'before_tool', tool: 'wipe' })).toEqual([]);
  }
});

test.each([
  { what: 'a list of names that match', matcher: 'read', tool: 'read', refuses: true },
  { what: 'a list of names that do not match', matcher: 'read', tool: 'wipe', refuses: false },
  { what: 'everything', matcher: '*', tool: 'wipe', refuses: true },
  { what: 'the same pattern, which matches', matcher: '^read$', tool: 'read', refuses: true },
  { what: 'the same pattern, which does not match', matcher: '^read$', tool: 'wipe', refuses: false },
])('R53: a changed guard whose matcher is $what refuses accordingly', async ({ matcher, tool, refuses }) => {
  const hooks = await changed({ matcher }, { matcher });

  expect((await hooks.runner.runEvent(at(tool))).cancelled).toBe(refuses);
  expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([refuses ? 1 : 0]);
  expect(hooks.status().diagnostics.filter(({ code }) => code === 'matcher-changed')).toEqual([]);
});

test('R53: a changed guard whose pattern changed as well has failed, and refuses every call with that reason', async () => {
  const hooks = await changed({ matcher: '^read$' }, ENDLESS);
  const first = await hooks.runner.runEvent(at(VICTIM));
  const second = await hooks.runner.runEvent(at('wipe'));

  expect([first, second]).toMatchObject([{ cancelledBy: 'guard' }, { cancelledBy: 'guard' }]);
  expect(second.reason).toContain('its matcher has changed as well');
  expect(hooks.status()).toMatchObject({
    hooks: [{ failures: 2 }],
    diagnostics: [{ level: 'error', code: 'matcher-changed', hook: 'guard' }],
  });
});

test('a guard that changed while it was in use is for what its pattern matches', async () => {
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
