import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { RunResult } from 'keelson';
import { beforeAll, describe, expect, test } from 'vitest';
import { transcript } from '../../support/agent/transcript.js';

interface Outcome {
  readonly result: RunResult;
  readonly error?: string;
  readonly ran: readonly string[];
}

const program = fileURLToPath(new URL('../../fixtures/agent/payment-process.ts', import.meta.url));

/** Makes one run for each state in a child process, which gets only JSON. */
async function runProcess(...states: readonly object[]): Promise<Outcome[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(states));
  return JSON.parse(await text(child.stdout)) as Outcome[];
}

describe('a suspended run continues in another process, from JSON alone,', () => {
  let first: Outcome;
  let approved: Outcome;
  let denied: Outcome;
  let undecided: Outcome;

  beforeAll(async () => {
    [first] = (await runProcess({})) as [Outcome];
    const { history: messages } = first.result;
    [approved, denied, undecided] = (await runProcess(
      { messages, resume: { call_2: 'approve' } },
      { messages, resume: { call_2: { deny: 'too much' } } },
      { messages },
    )) as [Outcome, Outcome, Outcome];
  }, 120_000);

  test('after the first process ran the calls that need no approval', () => {
    expect(first.ran).toEqual(['small 1', 'small 2']);
    expect(first.result.status).toBe('suspended');
    expect(first.result.pending).toMatchObject([{ id: 'call_2', name: 'large', input: { amount: 1000 } }]);
    expect(transcript(first.result.history)).toEqual([
      'user: pay',
      'assistant: call call_1 small, call call_2 large, call call_3 small',
      'tool: call_1={"paid":1}, call_3={"paid":2}',
    ]);
  });

  test('after an approval: only the approved call runs, and all three results are in call order', () => {
    expect(approved.ran).toEqual(['large 1000']);
    expect(JSON.parse(approved.result.text)).toEqual({
      role: 'tool',
      content: [
        { type: 'tool-result', id: 'call_1', name: 'small', content: '{"paid":1}', structured: { paid: 1 } },
        { type: 'tool-result', id: 'call_2', name: 'large', content: '{"paid":1000}', structured: { paid: 1000 } },
        { type: 'tool-result', id: 'call_3', name: 'small', content: '{"paid":2}', structured: { paid: 2 } },
      ],
    });
    expect(approved.result.history).toHaveLength(4);
  });

  test('after a denial: no call runs, and the model gets the reason', () => {
    expect(denied.ran).toEqual([]);
    expect(transcript(denied.result.history)[2]).toBe(
      'tool: call_1={"paid":1}, call_2!The call was denied: too much, call_3={"paid":2}',
    );
  });

  test('without a decision no call runs', () => {
    expect(undecided).toEqual({ error: 'ERR_RESUME_INVALID', ran: [] });
  });
});
