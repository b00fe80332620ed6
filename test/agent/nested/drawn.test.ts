import { Agent, type AgentOptions, formatRun, HookAction } from 'keelson';
import { calls, fails, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { payChain } from '../../support/agent/nested/pay-chain.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';

const prompt = { prompt: 'p' };
const tokens = /, \d+ \+ \d+ tokens/;

function helper(name: string, options: Partial<AgentOptions>) {
  return new Agent({ name, model: scriptedModel('ok'), ...options }).asTool({ description: 'Helps.' });
}

/** Calls three agents in one turn: one that asks another, one that is rejected, and one whose model fails. */
function arrange(last: ScriptEntry) {
  const leaf = helper('leaf', {});
  const middle = helper('middle', {
    model: scriptedModel([calls({ id: 'b', name: 'leaf', input: prompt }), 'ok']),
    tools: [leaf],
  });
  const guarded = helper('guarded', {
    lifecycle: [{ name: 'guard', beforeModel: () => HookAction.reject('too dark') }],
  });
  const broken = helper('broken', { model: scriptedModel([fails('down')]) });
  const call = (name: string, id: string) => ({ name, id, input: prompt });
  const script = [calls(call('middle', 'a0'), call('guarded', 'a1'), call('broken', 'a2')), last];
  return new Agent({ model: scriptedModel(script), tools: [middle, guarded, broken], parallelToolCalls: 1 });
}

const tree = [
  '├─ turn 1  middle {"prompt":"p"} ✓, guarded {"prompt":"p"} ✗ (Agent "guarded" failed: The run was rejected by "guard" in beforeModel: too dark), broken {"prompt":"p"} ✗ (Agent "broken" failed: Model "scripted" failed: down)',
  '│           a0 middle completed: 2 turns, 1 tool call',
  '│           ├─ turn 1  leaf {"prompt":"p"} ✓',
  '│           │           b leaf completed: 1 turn, 0 tool calls',
  '│           │           └─ turn 1  "ok"',
  '│           └─ turn 2  "ok"',
  '│           a1 guarded failed: 0 turns, 0 tool calls',
  '│                       guard: reject beforeModel (too dark)',
  '│           ✗ RejectedError: The run was rejected by "guard" in beforeModel: too dark',
  '│           a2 broken failed: 0 turns, 0 tool calls',
  '│           ✗ ModelError: Model "scripted" failed: down',
];
const drawn = (text: string) => text.split('\n').map((line) => line.replace(tokens, ''));

describe('formatRun of nested runs', () => {
  test('draws each run inside of its call, with the reason of each failure', async () => {
    const result = await arrange('done').run('go');

    expect(drawn(formatRun(result))).toEqual(['completed: 2 turns, 3 tool calls', ...tree, '└─ turn 2  "done"']);
    expect(result.nested?.map(({ path, turn, status }) => [path, turn, status])).toEqual([
      [['a0'], 1, 'completed'],
      [['a1'], 1, 'failed'],
      [['a2'], 1, 'failed'],
    ]);
    expect(result.nested?.[0]?.nested).toMatchObject([{ path: ['a0', 'b'], agent: 'leaf' }]);
    expect(JSON.parse(JSON.stringify(result.nested))).toMatchObject([{}, { error: { name: 'RejectedError' } }, {}]);
  });

  test('draws them for the error of the outer run, with its decisions', async () => {
    const error = await rejectionOf(arrange(calls('middle', 'no prompt')).run('go', { maxTurns: 1 }));

    const last = tree.map((line, index) => (index === 0 ? line.replace('├', '└') : line.replace('│', ' ')));
    expect(drawn(formatRun(error as Error))).toEqual([
      'failed: 1 turn, 3 tool calls',
      ...last,
      expect.stringMatching(/^✗ TurnLimitError: /),
    ]);
  });
});

test('formatRun shows that a call waits because of a call inside of it', async () => {
  const { boss } = payChain();

  expect(drawn(formatRun(await boss.run('go')))).toEqual([
    'suspended: 1 turn, 1 tool call',
    '└─ turn 1  desk {"prompt":"Go."} … waits for a decision',
    '            desk: suspend desk (Agent "desk" waits for decisions.)',
    '            call_1 desk suspended: 1 turn, 1 tool call',
    '            └─ turn 1  clerk {"prompt":"Pay it."} … waits for a decision',
    '                        clerk: suspend clerk (Agent "clerk" waits for decisions.)',
    '                        call_1 clerk suspended: 1 turn, 1 tool call',
    '                        └─ turn 1  pay {"euro":40} … waits for a decision',
    '                                    approval: suspend pay ("pay" needs approval.)',
  ]);
});

test('a result without nested runs has none', async () => {
  const ask = toolOf('ask', () => 'ok');

  const result = await new Agent({ model: scriptedModel([calls('ask'), 'done']), tools: [ask] }).run('go');

  expect(result.nested).toBeUndefined();
});
