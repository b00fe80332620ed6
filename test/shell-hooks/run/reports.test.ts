import type { HookNotice, HookRegistration } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs an agent that calls a tool `times` times, one after another. */
async function runCalls(hooks: readonly Partial<HookRegistration>[], times = 1) {
  const list = hooks.map((hook) => ({ ...sh(hook.event ?? 'before_tool', 'true'), ...hook }) as HookRegistration);
  const loader = hooksIn(lab, { hooks: list });
  const { tool } = countingTool('look');
  const script = [...Array.from({ length: times }, () => calls('look', { at: 'pier' })), says('ok')];
  await agentWith(lab, loader, { script, tools: [tool] }).agent.run('go');
  return { codes: loader.status().diagnostics.map(({ code }) => code), status: loader.status() };
}
const loud = () => [...lab.logged('warn'), ...lab.logged('error')];
const prints = (text: string) => ({ command: 'sh', args: ['-c', text] });

describe('a hook that prints its input', () => {
  test.each(['native', 'claude', 'codex', 'gemini', 'cursor', 'copilot'] as const)(
    'is not reported in the %s dialect',
    async (dialect) => {
      // In Cursor, an answer without `permission` refuses a tool call.
      const events = (['before_agent', 'before_tool', 'after_tool'] as const).filter(
        (event) => dialect !== 'cursor' || event !== 'before_tool',
      );
      await runCalls(events.map((event) => ({ event, dialect, ...prints('cat') })));

      expect(loud()).toEqual([]);
    },
  );

  test('is reported for a field that it adds or changes', async () => {
    const script = `node -e 'const input = JSON.parse(require("fs").readFileSync(0)); console.log(JSON.stringify({ ...input, tool_input: { at: "sea" }, metrics: 1 }))'`;
    const { status } = await runCalls([{ dialect: 'claude', ...prints(script) }]);

    expect(status.diagnostics.map(({ message }) => /wrote `(\w+)`/.exec(message)?.[1])).toEqual([
      'tool_input',
      'metrics',
    ]);
  });
});

describe('a failure', () => {
  test('that repeats is one line, and is counted each time', async () => {
    const { codes, status } = await runCalls([prints('echo $$ >&2; exit 1')], 5);

    expect(lab.logged('error')).toHaveLength(1);
    expect(lab.logged('debug').filter(({ message }) => message.includes('It exited with code 1'))).toHaveLength(4);
    expect([codes, status.hooks[0]?.failures]).toEqual([['gate-broken'], 5]);
  });

  test('of another kind is another line', async () => {
    await runCalls([prints('n=$(ls | wc -l); touch "f$n"; exit $((n + 3))')], 3);

    expect(lab.logged('error')).toHaveLength(3);
  });

  test.each([
    { event: 'session_start' },
    { event: 'notification' },
    { event: 'before_tool', dialect: 'claude', background: true },
  ] as const)('of a hook that guards nothing is a warning without a lost guard: %j', async (hook) => {
    const loader = hooksIn(lab, { hooks: [{ ...sh(hook.event, 'exit 1'), ...hook } as HookRegistration] });
    const subject = { ...hook, sessionId: 's', value: undefined, describe: () => ({ data: {} }) };
    await loader.runner.runEvent(subject);
    await until(() => loud().length > 0);

    expect([lab.logged('error'), loader.status().diagnostics]).toEqual([[], []]);
  });
});

describe('a hook with `asyncRewake`', () => {
  test('is reported once for its file, and what it says is a message for the user', async () => {
    const notices: HookNotice[] = [];
    const rewake = (text: string) => command(`echo "${text}" >&2; exit 2`, { asyncRewake: true });
    const groups = ['found one', 'found two'].map((text) => ({ matcher: 'Bash', ...rewake(text) }));
    const options = { onNotice: (notice: HookNotice) => void notices.push(notice) };
    const hooks = claudeHooks(lab, { PreToolUse: [groups[0]], PostToolUse: [groups[1]] }, options);
    const script = [calls('run_command', { command: 'ls' }), says('ok')];
    await agentWith(lab, hooks, { script, tools: [countingTool('run_command').tool] }).agent.run('go');
    await until(() => notices.length === 2);

    expect(notices.map(({ text }) => text).sort()).toEqual(['found one', 'found two']);
    expect(hooks.status().diagnostics).toMatchObject([{ level: 'warning', code: 'key-ignored' }]);
  });
});

test.each([
  ['fails to start', { command: '/nonexistent', args: [] }],
  ['fails', { command: 'sh', args: ['-c', 'exit 3'] }],
  ['writes no JSON', { command: 'sh', args: ['-c', 'echo no'] }],
  ['exceeds its time limit', { command: 'sleep', args: ['9'], timeout: 50 }],
])('a hook that %s logs one line, and the diagnostic stays in the status', async (_how, program) => {
  const hooks = hooksIn(lab, { hooks: [{ event: 'before_tool', name: 'guard', ...program }] });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('look', {}), says('ok')],
    tools: [countingTool('look').tool],
  });
  await agent.run('go');

  expect(loud()).toHaveLength(1);
  expect(hooks.status().diagnostics.map(({ code }) => code)).toEqual(['gate-broken']);
});
