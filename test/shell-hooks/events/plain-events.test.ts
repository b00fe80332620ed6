import { HOOK_EVENTS, type HookEvent, type HookRegistration } from 'keelson/shell-hooks';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import { answers, hooksIn, recorded, records, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const runnerOf = (...hooks: HookRegistration[]) => hooksIn(lab, { hooks }).runner;
const gemini = (event: HookEvent, specific: object): HookRegistration => ({
  ...answers(event, { hookSpecificOutput: specific }),
  dialect: 'gemini',
});

test('S0-3.1: a hook gets the data of each event', async () => {
  const runner = runnerOf(...HOOK_EVENTS.map((event) => records(event)));
  await runner.run('session_start', { session_id: 'harbour' });
  await runner.run('before_agent', { prompt: 'go', context: { branch: 'main' } });
  await runner.run('before_model', { messages: [{ role: 'user', content: 'go' }], model: 'm' });
  await runner.run('before_tool_selection', { available_tools: ['look'] });
  await runner.run('after_model', { response: 'A ship.', tokens: { input: 1, output: 2, total: 3 } });
  await runner.run('before_tool', { tool_name: 'look', args: { at: 'pier' }, ticket: 7 });
  await runner.run('after_tool', { tool_name: 'look', result: 'A ship.' });
  await runner.run('after_agent', { response: 'A ship.', tool_calls: [{ name: 'look', args: {} }] });
  await runner.run('session_end', { session_id: 'harbour', messages: [] });

  expect(recorded(lab).map(({ event, data }) => [event, data])).toMatchObject([
    ['session_start', { session_id: 'harbour' }],
    ['before_agent', { prompt: 'go', context: { branch: 'main' } }],
    ['before_model', { messages: [{ role: 'user', content: 'go' }], model: 'm' }],
    ['before_tool_selection', { available_tools: ['look'] }],
    ['after_model', { response: { text: 'A ship.', tool_calls: [] }, tokens: { total: 3 } }],
    ['before_tool', { tool_name: 'look', args: { at: 'pier' }, ticket: 7 }],
    ['after_tool', { tool_name: 'look', result: { content: 'A ship.', is_error: false } }],
    ['after_agent', { response: 'A ship.', tool_calls: [{ name: 'look', args: {} }] }],
    ['session_end', { session_id: 'harbour', messages: [] }],
  ]);
  expect(recorded(lab)[0]).toMatchObject({ session_id: 'harbour', source: 'startup' });
  expect(recorded(lab)[5]).toMatchObject({ tool_name: 'look', tool_input: { at: 'pier' } });
});

test.each<[HookEvent, object, object, object]>([
  ['before_agent', { prompt: 'go' }, { updatedPrompt: 'stay' }, { prompt: 'stay' }],
  [
    'before_model',
    { messages: [{ role: 'user', content: 'go' }] },
    { updatedMessages: [{ role: 'user', content: 'stay' }], updatedResponse: 'no need' },
    { messages: [{ content: 'stay' }], response: { text: 'no need' } },
  ],
  ['before_tool_selection', { available_tools: ['a', 'b'] }, { updatedTools: ['b'] }, { available_tools: ['b'] }],
  [
    'after_model',
    { response: { content: [{ type: 'text', text: 'secret' }] } },
    { updatedResponse: 'x' },
    { response: { text: 'x', content: [{ text: 'x' }] } },
  ],
  [
    'before_tool',
    { tool_name: 'a', args: { at: 1 } },
    { updatedInput: { at: 2 } },
    { tool_name: 'a', args: { at: 2 } },
  ],
  [
    'after_tool',
    { tool_name: 'a', result: { content: 'x', is_error: true } },
    { updatedOutput: 'y' },
    { result: { content: 'y', is_error: true } },
  ],
])('the result contains the data after the changes of the hooks: %s', async (...row) => {
  const [event, data, output, value] = row;
  const outcome = await runnerOf(answers(event, output)).run(event, data as never);

  expect(outcome).toMatchObject({ shouldContinue: true, value });
});

test.each<[HookEvent, object, string, string]>([
  ['session_start', { session_id: 's' }, 'startup', 'resume'],
  ['session_start', { session_id: 's', source: 'resume' }, 'resume', 'startup'],
  ['session_end', { session_id: 's' }, 'other', 'clear'],
  ['session_end', { session_id: 's', reason: 'clear' }, 'clear', 'other'],
  ['notification', { message: 'Sure?' }, 'permission_prompt', 'idle_prompt'],
  ['notification', { message: 'Sure?', notification_type: 'idle_prompt' }, 'idle_prompt', 'permission_prompt'],
  ['before_subagent', { agent: 'counter' }, 'counter', 'other'],
  ['after_subagent', { agent: 'counter', response: 'x' }, 'counter', 'other'],
  ['before_compaction', {}, 'auto', 'manual'],
  ['before_compaction', { trigger: 'manual' }, 'manual', 'auto'],
])('the matcher of a Claude Code hook selects the source: %s with %j', async (...row) => {
  const [event, data, match, other] = row;
  const hook = (matcher: string) => ({ ...records(event, { matcher, name: matcher }), dialect: 'claude' as const });
  const { outcomes } = await runnerOf(hook(other), hook(match)).run(event, data as never);

  expect(outcomes.map(({ hook: name }) => name)).toEqual([match]);
});

test('runs hooks of other dialects, and combines tool limits of Gemini CLI hooks', async () => {
  const limit = (name: string) => gemini('before_tool_selection', { toolConfig: { allowedFunctionNames: [name] } });
  const runner = runnerOf(limit('a'), limit('c'), gemini('before_tool', { tool_input: { at: 2 } }));

  const left = await runner.run('before_tool_selection', { available_tools: ['a', 'b', 'c'] });
  const call = await runner.run('before_tool', { tool_name: 'a', args: { at: 1, by: 'me' } });

  expect(left.value).toEqual({ available_tools: ['a', 'c'] });
  expect(call.value).toMatchObject({ args: { at: 2, by: 'me' } });
});

test('runs only hooks with a matching matcher, and stops after a cancellation', async () => {
  const runner = runnerOf(
    answers('before_tool', { continue: false, reason: 'no' }, { name: 'guard', matcher: 'erase' }),
    sh('before_tool', 'touch later', { name: 'later' }),
  );

  expect(await runner.run('before_tool', { tool_name: 'look' })).toMatchObject({ cancelled: false });
  expect(await runner.run('before_tool', { tool_name: 'erase' })).toMatchObject({ cancelledBy: 'guard', reason: 'no' });
});

test('keeps the request if a Gemini CLI hook makes it invalid', async () => {
  const drop = gemini('before_model', { llm_request: { messages: [null] } });
  const messages = [{ role: 'user', content: 'go' }] as const;

  expect((await runnerOf(drop).run('before_model', { messages })).value).toEqual({ messages });
});

test('an abort ends the running hook', async () => {
  const controller = new AbortController();
  const running = runnerOf(sh('before_agent', 'sleep 60')).run('before_agent', { prompt: 'go' }, controller);
  controller.abort();

  expect((await running).outcomes.every(({ status }) => status !== 'completed')).toBe(true);
});

test.each<[string, unknown, string]>([
  ['befor_tool', {}, 'unknown event `befor_tool`; did you mean `before_tool`?'],
  ['toString', {}, 'unknown event `toString`; known are session_start'],
  ['before_tool', undefined, '`data` must be an object'],
  ['before_tool', { args: {} }, '`tool_name` must be a non-empty string, got undefined'],
  ['after_tool', { tool_name: 'a' }, '`result` must be a value, got undefined'],
  ['session_start', {}, '`session_id` must be a non-empty string, got undefined'],
  ['session_end', { session_id: 5 }, '`session_id` must be a non-empty string, got 5'],
  ['before_agent', { prompt: 1 }, '`prompt` must be a string, got 1'],
  ['before_model', { messages: [{ role: 'boss' }] }, '`messages` must be an array of messages'],
  ['before_tool_selection', { available_tools: [{}] }, '`available_tools` must be an array of strings'],
  ['after_model', { response: {} }, '`response` must be a string, an object with `text`'],
  ['after_agent', { tool_calls: 1 }, '`response` must be a string, got undefined; `tool_calls` must be an array'],
])('rejects the event %j with the data %j and starts no hook', async (event, data, problem) => {
  const runner = runnerOf(...HOOK_EVENTS.map((known) => sh(known, 'touch ran')));
  const error = await rejectionOf(runner.run(event as 'before_tool', data as never));

  expect(error).toMatchObject({ code: 'ERR_HOOK_EVENT_INVALID', event });
  expect((error as Error).message).toContain(problem);
  expect(lab.has('ran')).toBe(false);
});
