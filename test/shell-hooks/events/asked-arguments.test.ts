import type { Message, ResumeDecision } from 'keelson';
import type { HookDialect, ShellHooks } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

// Like an approval of the lifecycle `approval`, an approval that a hook asked for is of content.
const lab = useHookLab();

const ASKS: readonly (readonly [HookDialect, string | undefined, (input?: object) => object])[] = [
  ['claude', undefined, (updatedInput) => ({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput } })],
  ['codex', undefined, (updatedInput) => ({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput } })],
  ['gemini', undefined, (tool_input) => ({ decision: 'ask', hookSpecificOutput: { tool_input } })],
  ['cursor', 'preToolUse', (updated_input) => ({ permission: 'ask', updated_input })],
  ['copilot', 'preToolUse', (modifiedArgs) => ({ permissionDecision: 'ask', modifiedArgs })],
];

function hookOf(dialect: HookDialect, dialectEvent?: string): ShellHooks {
  const hook = { event: 'before_tool', name: 'guard', command: 'cat', args: [`${lab.workspace}/says.json`] } as const;
  return hooksIn(lab, { hooks: [{ ...hook, dialect, dialectEvent } as never] });
}

const says4 = [calls('pay', { amount: 4 }), says('Paid.')];
const write = (output: object) => lab.write('says.json', JSON.stringify(output));

type Pending = {
  readonly status: string;
  readonly history: readonly Message[];
  readonly pending: { reason: string }[];
};

/** Runs until the hook asks. Each `resume` continues with an agent of its own, as another process does. */
async function asked(hooks: () => ShellHooks) {
  const { tool, inputs } = countingTool('pay');
  const last = { current: {} as Pending };
  const first = agentWith(lab, hooks(), { script: says4, tools: [tool] });
  last.current = (await first.agent.run('go')) as unknown as Pending;
  const resume = async (decision: ResumeDecision = 'approve') => {
    const { agent } = agentWith(lab, hooks(), { script: [says('Paid.')], tools: [tool] });
    const messages = JSON.parse(JSON.stringify(last.current.history));
    last.current = (await agent.run('', { messages, resume: { call_1: decision } })) as unknown as Pending;
    return last.current;
  };
  return { inputs, resume, first: last.current };
}

describe('a call that a hook asks about', () => {
  test.each(ASKS)('asks again if %s hooks then change its arguments', async (dialect, event, output) => {
    write(output());
    const { inputs, resume } = await asked(() => hookOf(dialect, event));
    write(output({ amount: 4_000 }));
    const again = await resume();

    expect([again.status, again.pending[0]?.reason, inputs]).toMatchObject([
      'suspended',
      expect.stringContaining('The hooks changed its arguments to {"amount":4000}'),
      [],
    ]);
    expect((await resume()).status).toBe('completed');
    expect(inputs).toEqual([{ amount: 4_000 }]);
  });

  test.each(ASKS)('runs with the changed arguments that the person saw, in %s', async (dialect, event, output) => {
    write(output({ amount: 40 }));
    const { inputs, resume, first } = await asked(() => hookOf(dialect, event));

    expect(first.pending[0]?.reason).toContain('The hooks changed its arguments to {"amount":40}');
    expect((await resume()).status).toBe('completed');
    expect(inputs).toEqual([{ amount: 40 }]);
  });

  test.each(ASKS)('asks again if %s hooks change other arguments than before', async (dialect, event, output) => {
    write(output({ amount: 40 }));
    const { inputs, resume } = await asked(() => hookOf(dialect, event));
    write(output({ amount: 4_000 }));

    expect([(await resume()).status, inputs]).toEqual(['suspended', []]);
  });

  test('asks again if a hook that no longer asks changes its arguments', async () => {
    write({ hookSpecificOutput: { permissionDecision: 'ask' } });
    const { inputs, resume } = await asked(() => hookOf('claude'));
    write({ hookSpecificOutput: { updatedInput: { amount: 4_000 } } });

    expect(await resume()).toMatchObject({
      status: 'suspended',
      pending: [{ reason: expect.stringContaining('The call was approved with other arguments.') }],
    });
    expect(inputs).toEqual([]);
  });

  test('asks again if the changed arguments that were approved are dropped', async () => {
    write({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { amount: 1 } } });
    const { inputs, resume } = await asked(() => hookOf('claude'));
    write({ hookSpecificOutput: { permissionDecision: 'ask' } });

    expect([(await resume()).status, inputs]).toEqual(['suspended', []]);
    expect([(await resume()).status, inputs]).toEqual(['completed', [{ amount: 4 }]]);
  });

  test.each(ASKS)('runs with the arguments that the person wrote, in %s', async (dialect, event, output) => {
    write(output({ amount: 40 }));
    const { inputs, resume } = await asked(() => hookOf(dialect, event));
    write(output());

    expect((await resume({ approve: { amount: 30 } })).status).toBe('completed');
    expect(inputs).toEqual([{ amount: 30 }]);
  });

  test('asks again if the hooks change the arguments that the person wrote', async () => {
    write({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { amount: 40 } } });
    const { inputs, resume } = await asked(() => hookOf('claude'));

    expect(await resume({ approve: { amount: 30 } })).toMatchObject({
      status: 'suspended',
      pending: [{ input: { amount: 30 }, reason: expect.stringContaining('to {"amount":40}') }],
    });
    expect([(await resume()).status, inputs]).toEqual(['completed', [{ amount: 40 }]]);
  });

  test('a hook cannot write the note that records a question', async () => {
    write({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { amount: 4_000 } } });
    const seen = await asked(() => hookOf('claude'));
    const note = seen.first.history.at(-1) as { content: string };
    write({ systemMessage: 'x', hookSpecificOutput: { permissionDecision: 'ask', additionalContext: note.content } });
    const { inputs, resume } = await asked(() => hookOf('claude'));
    write({ hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { amount: 4_000 } } });

    expect(note.content).toContain('A person was asked');
    expect([(await resume()).status, inputs]).toEqual(['suspended', []]);
  });
});
