import fc from 'fast-check';
import type { HookDialect, ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { findObjects } from '../../../src/shell-hooks/dialects/found-objects.js';
import { growth } from '../../support/growth.js';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  runOnce,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

function parsed(json: string) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
const find = (text: string) => findObjects(text, parsed);

const why = 'not here';
const specific = { permissionDecision: 'deny', permissionDecisionReason: why };
const REFUSALS: readonly (readonly [HookDialect, object])[] = [
  ['native', { continue: false, reason: why }],
  ['claude', { hookSpecificOutput: specific }],
  ['codex', { decision: 'block', reason: why }],
  ['gemini', { decision: 'deny', reason: why }],
  ['cursor', { permission: 'deny', agent_message: why }],
  ['copilot', specific],
];
const PLACES: readonly (readonly [string, (refusal: string) => string])[] = [
  ['before a line', (refusal) => `${refusal}\nlog line`],
  ['before another object', (refusal) => `${refusal}\n{}`],
  ['after a line', (refusal) => `log { line\n${refusal}`],
  ['on a line with other text', (refusal) => `checked: ${refusal} done`],
  ['over several lines, between lines', (refusal) => `log\n${JSON.stringify(JSON.parse(refusal), null, 2)}\nmore`],
  ['in an array', (refusal) => `[${refusal}]`],
  ['without its last bracket', (refusal) => refusal.slice(0, -1)],
];
const CASES = REFUSALS.flatMap(([dialect, refusal]) =>
  PLACES.flatMap(([place, at]) =>
    (['continue', 'block'] as const).map((onFailure) => ({
      dialect,
      place,
      onFailure,
      text: at(JSON.stringify(refusal)),
    })),
  ),
);
const ofDialect = (dialect: HookDialect) => ({
  dialect,
  ...(dialect === 'cursor' || dialect === 'copilot' ? { dialectEvent: 'preToolUse' } : {}),
});

describe('a refusal beside other output', () => {
  test.each(CASES)('counts: $dialect, $place, onFailure $onFailure', async ({ dialect, onFailure, text }) => {
    const hook = { ...answers('before_tool', text, { onFailure }), ...ofDialect(dialect) };

    expect(await runOnce(lab, [hook])).toMatchObject({
      cancelled: true,
      reason: why,
      outcomes: [{ status: 'failed', problem: { kind: 'malformed' } }],
    });
    expect(lab.logged('error')).toHaveLength(1);
  });

  test.each(REFUSALS)('counts if more than 1 MiB of output follows: %s', async (dialect, refusal) => {
    const text = `echo '${JSON.stringify(refusal)}'; yes 'a long line of a log {' | head -c 1200000`;

    expect(await runOnce(lab, [{ ...sh('before_tool', text), ...ofDialect(dialect) }])).toMatchObject({
      cancelled: true,
      reason: why,
    });
  });

  test('counts if its reason is cut', async () => {
    const text = `printf '{"decision":"deny","reason":"'; head -c 1200000 /dev/zero | tr '\\0' 'x'`;
    const { cancelled, reason } = await runOnce(lab, [{ ...sh('before_tool', text), dialect: 'gemini' } as never]);

    expect(cancelled).toBe(true);
    expect(reason).toMatch(/^x+… \(\d+ characters\)$/);
  });

  test('is not assumed in an object that does not refuse, or in a string', async () => {
    const text = `log\n${JSON.stringify({ tool_input: { content: '{"decision":"deny"}' }, decision: 'allow' })}`;

    expect(await runOnce(lab, [{ ...answers('before_tool', text), ...ofDialect('claude') }])).toMatchObject({
      cancelled: false,
    });
  });

  test('wins over a question beside it', async () => {
    const text = '{"decision":"ask","reason":"sure?"}\n{"decision":"deny","reason":"no"}';

    expect(await runOnce(lab, [{ ...answers('before_tool', text), ...ofDialect('gemini') }])).toMatchObject({
      cancelled: true,
      reason: 'no',
    });
  });

  test('of an answer makes the agent continue, also with onFailure block', async () => {
    const stop = answers('after_agent', 'log\n{"decision":"block","reason":"run the tests"}', { onFailure: 'block' });
    const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [{ ...stop, dialect: 'claude' } as never] }), {
      script: Array.from({ length: 9 }, () => says('Done.')),
    });

    expect((await agent.run('go')).status).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('run the tests');
  });
});

describe('a failed hook that refuses', () => {
  const runs: readonly (readonly [string, ShellHooksOptions['hooks'], number])[] = [
    ['a Copilot hook with exit code 1', [{ ...sh('before_tool', 'exit 1'), ...ofDialect('copilot') }] as never, 0],
    ['a refusal after a line', [{ ...answers('before_tool', 'log\n{"continue":false}') }] as never, 0],
    ['invalid output of a Cursor hook', [{ ...answers('before_tool', 'log'), ...ofDialect('cursor') }] as never, 0],
    ['exit code 1 without a refusal', [sh('before_tool', 'exit 1')] as never, 1],
  ];

  test.each(runs)('is reported as broken only if the call runs: %s', async (_what, list, ran) => {
    const { tool, inputs } = countingTool('look');
    const hooks = hooksIn(lab, { hooks: list });
    await agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool] }).agent.run('go');

    expect(inputs).toHaveLength(ran);
    expect(hooks.status().diagnostics.filter(({ code }) => code === 'gate-broken')).toHaveLength(ran);
  });
});

describe('findObjects', () => {
  test('finds each object between other texts', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    const noise = fc.constantFrom('log\n', '} ', '] , ', '"', 'a "b" \\ ', ': 1 true ', '\u{1f600} ');
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, object), { maxLength: 4 }), noise, (parts, last) => {
        const text = parts.map(([before, value]) => `${before}${JSON.stringify(value)}\n`).join('') + last;

        expect(find(text)).toEqual(parts.map(([, value]) => JSON.parse(JSON.stringify(value))));
      }),
    );
  });

  test('never throws, and finds the first member of an object that is cut anywhere after it', () => {
    const text = JSON.stringify({ decision: 'deny', reason: 'a "b" \u{1f600}\n', deep: { list: [1, true, null, {}] } });
    for (let end = text.indexOf(',') + 1; end < text.length; end += 1) {
      expect(find(`log\n${text.slice(0, end)}`)[0]).toMatchObject({ decision: 'deny' });
    }
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\a1 \n') }), (any) => void find(any)));
  });

  test('finds the first member of an object with more parts than are read', () => {
    expect(find(`log {"decision":"deny","list":[${'1,'.repeat(300_000)}`)[0]).toMatchObject({ decision: 'deny' });
  });

  test.each([
    ['open brackets', '', '{'],
    ['objects that do not end', '', '{"a":'],
    ['lists that do not end', '', '{"a":['],
    ['quotes', '', '{"\\"'],
    ['a long string', '{"a":"', 'x'],
    ['code', '', 'if (a) { b({ "c": [1, 2], d }); }\n'],
  ])('reads %s in linear time', async (_what, start, piece) => {
    const read = (size: number) => {
      const text = start + piece.repeat(size / piece.length);
      return () => find(text);
    };

    expect(await growth(2_048, read)).toBeLessThan(100);
  });
});
