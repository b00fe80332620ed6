import type { HookDefinition, HookDialect } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const why = 'not here';
const refusal = JSON.stringify({
  ...{ continue: false, decision: 'deny', permission: 'deny', permissionDecision: 'deny' },
  ...{ reason: why, stopReason: why, agent_message: why, permissionDecisionReason: why },
});
const DIALECTS: readonly HookDialect[] = ['native', 'claude', 'codex', 'gemini', 'cursor', 'copilot'];
/** More than the 1 MiB that is kept of standard output. */
const long = (char = 'a') => `head -c 1200000 /dev/zero | tr '\\0' '${char}'`;

function guard(dialect: HookDialect, text: string): HookDefinition {
  const isCamel = dialect === 'cursor' || dialect === 'copilot';
  const hook = sh('before_tool', text, dialect === 'native' ? { exitCodes: true } : {});
  return { ...hook, dialect, ...(isCamel && { dialectEvent: 'preToolUse' }) } as HookDefinition;
}

describe.each(DIALECTS)('a long output of a %s guard', (dialect) => {
  test.each([
    ['its refusal follows', `${long()}; echo; echo '${refusal}'`],
    ['its refusal is at the beginning', `echo '${refusal}'; ${long()}`],
    ['it is the end of a long object', `printf '{"pad":"'; ${long()}; printf '",'; echo '${refusal.slice(1)}'`],
    ['it is plain text', long()],
    ['it exits with code 1', `${long()}; exit 1`],
    ['it exits with code 2', `${long()}; exit 2`],
    ['it is killed', `${long()}; kill -9 $$`],
  ])('refuses the call, since it is not read whole: %s', async (_what, text) => {
    expect(await runOnce(lab, [guard(dialect, text)])).toMatchObject({ cancelled: true });
  });

  test('on standard error does not hide its exit code 2', async () => {
    const text = `${long()} >&2; echo >&2; echo '${why}' >&2; exit 2`;

    expect(await runOnce(lab, [guard(dialect, text)])).toMatchObject({ cancelled: true });
  });
});

test('a tool does not run, and the model reads why', async () => {
  const { tool, inputs } = countingTool('look');
  const hooks = hooksIn(lab, { hooks: [guard('native', long())] });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool] });
  await agent.run('go');

  expect(inputs).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('It wrote too much output to read all of it');
});

test('a prompt is refused by a long output, and a result is not', async () => {
  const { cancelled } = await runOnce(lab, [sh('before_agent', long())]);
  const after = await runOnce(lab, [sh('after_tool', long())]);

  expect({ cancelled, after: after.cancelled, kind: after.outcomes[0]?.problem?.kind }).toEqual({
    ...{ cancelled: true, after: false, kind: 'output-limit' },
  });
});
