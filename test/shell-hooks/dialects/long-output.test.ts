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
    ['text before the refusal', `${long()}; echo; echo '${refusal}'`],
    [
      'an allowing object and blank lines before the refusal',
      `echo '{"continue":true}'; ${long('\\n')}; echo '${refusal}'`,
    ],
    ['an object that is cut before the refusal', `printf '{"pad":"'; ${long()}; echo; echo '${refusal}'`],
  ])('does not hide its refusal: %s', async (_what, text) => {
    expect(await runOnce(lab, [guard(dialect, text)])).toMatchObject({ cancelled: true, reason: why });
  });

  test.each([
    ['standard output', `${long()}; echo '${why}' >&2; exit 2`],
    ['standard error', `${long()} >&2; echo >&2; echo '${why}' >&2; exit 2`],
    ['more than is read', `echo '${why}' >&2; trap 'exit 2' TERM; yes & wait`],
  ])('does not hide its exit code 2: %s', async (_what, text) => {
    expect(await runOnce(lab, [guard(dialect, text)])).toMatchObject({ cancelled: true });
  });

  test.each([
    ['the refusal is in the middle', `${long()}; echo '${refusal}'; ${long()}`],
    [
      'the refusal is the end of a long object',
      `printf '{"pad":"'; ${long()}; printf '",'; echo '${refusal.slice(1)}'`,
    ],
    ['it is plain text', long()],
    ['it exits with code 1', `${long()}; exit 1`],
    ['it is killed', `${long()}; kill -9 $$`],
    ['it has too many parts', `printf '{"a":['; yes '1,' | head -c 600000; echo '${refusal}'; ${long()}`],
  ])('refuses the call if it cannot be read whole: %s', async (_what, text) => {
    const result = await runOnce(lab, [guard(dialect, text)]);

    expect(result.cancelled).toBe(true);
  });
});

test('a refusal that is not reached in an output with too many parts refuses the call', async () => {
  const text = `printf '{"a":['; yes '1,' | head -c 700000; echo; echo '${refusal}'`;
  const result = await runOnce(lab, [guard('claude', text)]);

  expect(result).toMatchObject({ cancelled: true, outcomes: [{ problem: { kind: 'output-limit' } }] });
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

test('exit code 2 after a long output makes the agent continue', async () => {
  const stop = {
    ...sh('after_agent', `${long()}; echo 'run the tests' >&2; exit 2`),
    dialect: 'claude',
  } as HookDefinition;
  const hooks = hooksIn(lab, { hooks: [stop] });
  const { agent, model } = agentWith(lab, hooks, { script: Array.from({ length: 9 }, () => says('Done.')) });
  await agent.run('go');

  expect(JSON.stringify(model.requests[1]?.messages)).toContain('run the tests');
});
