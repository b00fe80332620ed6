import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  noiseOf,
  PROGRAM_ANSWERS,
  type ProgramAnswers,
  type Verdict,
} from '../fixtures/programs/answers.js';
import { hooksIn, useHookLab } from '../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs a hook that writes the answer, and returns its effect on a call. */
async function verdictOf({ dialect, event }: ProgramAnswers, [output, , exitCode = 0]: Answer): Promise<Verdict> {
  writeFileSync(join(lab.workspace, 'answer'), output);
  const args = ['-c', `cat answer; exit ${exitCode}`];
  const guard = { event: 'before_tool', name: 'guard', command: 'sh', args, dialect, dialectEvent: event } as const;
  const hooks = hooksIn(lab, { hooks: [guard] });
  const { cancelled, ask, outcomes } = await hooks.runner.run('before_tool', { tool_name: 'look', args: {} });
  if (cancelled) return 'refuses';
  if (ask !== undefined) return 'asks';
  const isReported = outcomes.some(({ problem }) => problem !== undefined) || hooks.status().diagnostics.length > 0;
  return isReported ? 'reported' : 'passes';
}

describe.each(PROGRAM_ANSWERS)('an answer of $dialect at $event', (program) => {
  const answers = [...program.documented, ...noiseOf(program)];

  test('is one of at least forty', () => {
    expect(answers.length).toBeGreaterThanOrEqual(40);
  });

  const named = answers.map((answer) => ({
    answer,
    output: String(answer[0]),
    exit: answer[2] ?? 0,
    verdict: answer[1],
  }));

  test.each(named)('$output with exit code $exit $verdict', async ({ answer, verdict }) => {
    expect(await verdictOf(program, answer)).toBe(verdict);
  });
});
