import { defineTool } from 'keelson';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentWith, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const LONG = 'q'.repeat(900_000);
const CUT = /^q+… \(900000 characters\)$/;
const look = defineTool({ name: 'look', description: 'Looks.', input: z.looseObject({}), execute: () => 'a boat' });

/** Runs an agent with a hook that writes a long message. Returns the error, the notices and the messages. */
async function runWith(
  event: 'session_start' | 'before_agent' | 'before_tool' | 'after_tool',
  output: object,
  more = {},
) {
  const path = lab.write('says.json', JSON.stringify(output));
  const notices: string[] = [];
  const hook = { ...sh(event, `cat '${path}'`), ...more };
  const hooks = hooksIn(lab, { hooks: [hook], onNotice: ({ text }) => notices.push(text) });
  const script = [calls('look', {}), says('Done.')];
  const { agent } = agentWith(lab, hooks, { script, tools: [look] });
  const outcome = await agent
    .session({ id: 's' })
    .then((session) => session.run('go'))
    .catch((error: Error) => error);
  return { outcome: outcome as unknown as Record<string, unknown>, notices };
}

const longest = () =>
  Math.max(...lab.logs.map(({ message, details }) => message.length + JSON.stringify(details ?? '').length));

describe('a message of a hook has at most 10,000 characters', () => {
  test('as the reason of a rejected run', async () => {
    const { outcome } = await runWith('before_agent', { continue: false, reason: LONG });

    expect(outcome.reason).toMatch(CUT);
    expect(String(outcome.reason)).toHaveLength(10_000);
    expect(longest()).toBeLessThan(25_000);
  });

  test('as the cause of a session that was not opened', async () => {
    const { outcome } = await runWith('session_start', { continue: false, reason: LONG });

    expect(String((outcome.cause as { message: string }).message).length).toBeLessThan(10_100);
    expect(longest()).toBeLessThan(25_000);
  });

  test.each([
    ['native', { systemMessage: LONG }],
    ['claude', { systemMessage: LONG }],
    ['gemini', { systemMessage: LONG }],
  ])('as a notice and in the log: %s', async (dialect, output) => {
    const { notices } = await runWith('before_tool', output, { dialect });

    expect(notices).toEqual([expect.stringMatching(CUT)]);
    expect(longest()).toBeLessThan(25_000);
  });

  test.each(['gemini', 'codex'])('as the result that replaces a refused result: %s', async (dialect) => {
    const { outcome } = await runWith('after_tool', { decision: 'block', reason: LONG }, { dialect });
    const result = (outcome.messages as { role: string; content: { content: string }[] }[]).find(
      ({ role }) => role === 'tool',
    )?.content[0]?.content;

    expect(result).toMatch(CUT);
  });

  test('in the problem of an invalid field', async () => {
    await runWith('before_tool', { updatedInput: LONG });

    expect(lab.logged('error')[0]?.message).toContain('`updatedInput` must be an object, got "qqq');
    expect(longest()).toBeLessThan(2_000);
  });
});
