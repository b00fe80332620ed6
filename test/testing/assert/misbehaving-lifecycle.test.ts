import { type AgentLifecycle, HookAction } from 'keelson';
import { assertLifecycle } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { itFinds } from '../../support/testing/find-faults.js';

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const sorry = { content: [{ type: 'text', text: 'Sorry.' }], finishReason: 'stop', usage } as const;

describe('assertLifecycle finds a lifecycle that continues after an abort, when it', () => {
  const swallowed = 'swallowed the abort: it returned an answer although `next` had rejected with the abort';
  itFinds([
    {
      it: 'replaces a failed model call by an answer',
      make: () => ({ wrapModelCall: (_request, next) => next().catch(() => sorry) }),
      faults: [`abort (a run that is aborted at wrapModelCall): wrapModelCall ${swallowed}`],
    },
    {
      it: 'replaces a failed tool call by an answer',
      make: () => ({ wrapToolCall: (_call, next) => next().catch(() => ({ content: 'Sorry.' })) }),
      faults: [`abort (a run that is aborted at wrapToolCall): wrapToolCall ${swallowed}`],
    },
    {
      it: 'retries after every error',
      make: () => ({ wrapModelCall: (_request, next) => next().catch(() => next()) }),
      faults: [
        'abort (a run that is aborted at wrapModelCall): ' +
          'wrapModelCall called `next` again after the run was aborted',
      ],
    },
  ]);
});

describe('assertLifecycle finds a lifecycle that misuses `next`, when it', () => {
  itFinds([
    {
      it: 'calls `next` after the hook has settled',
      make: () => ({
        async wrapModelCall(_request, next) {
          const response = await next();
          setTimeout(() => next().catch(() => {}), 1);
          return response;
        },
      }),
      faults: ['answer (a run with one answer): wrapModelCall called `next` after it had settled'],
    },
    {
      it: 'runs the tool twice and returns the first result',
      make: () => ({
        async wrapToolCall(_call, next) {
          const first = await next();
          await next();
          return first;
        },
      }),
      faults: [
        'tool-calls (a run that calls tools): wrapToolCall called `next` again after it had succeeded, ' +
          'and returned the first result: the tool ran twice',
      ],
    },
  ]);
});

describe('assertLifecycle finds a lifecycle that breaks the conversation, when it', () => {
  itFinds([
    {
      it: 'removes tool results from the messages',
      make: () => ({ beforeModel: (messages) => messages.filter((message) => message.role !== 'tool') }),
      faults: [
        'tool-calls (a run that calls tools): Lifecycle "lifecycle" failed in beforeModel: ' +
          'The messages end in tool calls without results: add a result for each call.',
      ],
    },
    {
      it: 'removes tool results from a model call',
      make: () => ({
        wrapModelCall: (request, next) =>
          next({ ...request, messages: request.messages.filter((message) => message.role !== 'tool') }),
      }),
      faults: [
        'tool-calls (a run that calls tools): model call 2 must pair each tool call with its result: tool call "call_1" has no result',
      ],
    },
    {
      it: 'reverses the order of tool results',
      make: () => ({
        beforeModel: (messages) =>
          messages.map((message) =>
            message.role === 'tool' ? { role: 'tool', content: message.content.toReversed() } : message,
          ),
      }),
      faults: [
        'tool-calls (a run that calls tools): model call 2 must pair each tool call with its result: ' +
          'message 2 has its results in another order than the calls',
      ],
    },
    {
      it: 'changes a response in place',
      make: () => ({
        holdStream: true,
        afterModel: ({ content }) => void (content as unknown[]).push({ type: 'text', text: '!' }),
      }),
      faults: [
        'answer (a run with one answer): afterModel changed its arguments in place: content has 2 entries, not 1',
      ],
    },
    {
      it: 'changes tool call arguments in place',
      make: () => ({
        wrapToolCall: (call, next) => {
          Object.assign(call.input ?? {}, { value: 0 });
          return next();
        },
      }),
      faults: ['tool-calls (a run that calls tools): wrapToolCall changed its arguments in place: value is 0, not 1'],
    },
    {
      it: 'changes a model request in place',
      make: () => ({
        wrapModelCall: (request, next) => {
          (request.tools as unknown[]).length = 0;
          return next();
        },
      }),
      faults: [
        'answer (a run with one answer): wrapModelCall changed its arguments in place: tools has 0 entries, not 5',
      ],
    },
    {
      it: 'rewrites text that the stream has shown',
      make: () => ({ afterModel: () => HookAction.modify(sorry) }),
      faults: [
        'streaming (a run with one answer, as a stream): the stream showed "This is answer 1.", but the response says ' +
          '"Sorry.": set `holdStream` if the lifecycle rewrites text, and return the last result of `next`',
      ],
    },
  ]);
});

describe('assertLifecycle finds a lifecycle with an invalid return value or shape, when it', () => {
  itFinds([
    {
      it: 'returns an invalid model response',
      make: () => ({ wrapModelCall: async () => ({ text: 'Hello.' }) as never }),
      faults: [
        'answer (a run with one answer): Lifecycle "lifecycle" failed in wrapModelCall: ' +
          'The response is invalid: `content` must be an array',
      ],
    },
    {
      it: 'returns a string for a tool call',
      make: () => ({ name: 'texts', wrapToolCall: async () => 'done' as never }),
      faults: [
        expect.stringContaining('tool-calls (a run that calls tools): Lifecycle "texts" failed in wrapToolCall'),
      ],
    },
    {
      it: 'returns a number with `onFailure: continue`',
      make: () => ({ onFailure: 'continue', beforeModel: () => 5 as never }),
      faults: [expect.stringContaining('answer (a run with one answer): Lifecycle "lifecycle" failed in beforeModel')],
    },
    {
      it: 'has a misspelt hook',
      make: () => ({ beforeModle() {} }) as AgentLifecycle,
      faults: [expect.stringContaining('did you mean `beforeModel`?')],
    },
    {
      it: 'is undefined',
      make: () => undefined as never,
      faults: [expect.stringContaining('shape (outside any run): ')],
    },
  ]);
});

describe('assertLifecycle finds a lifecycle that shares data between runs, when it', () => {
  itFinds([
    {
      it: 'stores the input in a shared variable',
      runs: 100,
      make: () => {
        let kept = '';
        return {
          beforeAgent(input) {
            kept = input;
          },
          wrapModelCall: (request, next) =>
            next({ ...request, messages: [...request.messages, { role: 'user', content: kept }] }),
        };
      },
      faults: [
        expect.stringMatching(
          /^concurrency \(100 runs at once\): 99 of the runs contain data of another run, for example: run \d+ contains the marker <run-\d+>$/,
        ),
      ],
    },
    {
      it: 'counts turns in a shared variable',
      runs: 100,
      make: () => {
        let turns = 0;
        return {
          beforeAgent() {
            turns = 0;
          },
          beforeModel: () => {
            turns += 1;
            return turns > 6 ? HookAction.reject('too many turns') : undefined;
          },
        };
      },
      faults: [
        // Which runs take the first six turns depends on their order.
        expect.stringMatching(
          /^concurrency \(100 runs at once\): \d+ of the runs differ from a run without others, for example: in run \d+, ending is "ERR_RUN_REJECTED", not "completed"$/,
        ),
      ],
    },
  ]);
});

describe('assertLifecycle finds a lifecycle that is not passive, when it', () => {
  itFinds([
    {
      it: 'runs each tool call twice',
      passive: true,
      make: () => ({
        async wrapToolCall(_call, next) {
          await next();
          return next();
        },
      }),
      faults: [
        'passive (a run that calls tools): a passive lifecycle must not change the run: ' +
          'messages[2].content[0].content is "again echo {\\"value\\":1}", not "echo {\\"value\\":1}"',
        'passive (a run whose tools fail): a passive lifecycle must not change the run: ' +
          'messages[2].content[3].content is "again echo {}", not "echo {}"',
      ],
    },
    {
      it: 'adds a message to a request',
      passive: true,
      make: () => ({
        wrapModelCall: (request, next) =>
          next({ ...request, messages: [...request.messages, { role: 'system', content: 'Be nice.' }] }),
      }),
      faults: [
        'passive (a run with one answer): a passive lifecycle must not change the run: requests[0].messages has 2 entries, not 1',
      ],
    },
    {
      it: 'signs the answer',
      passive: true,
      make: () => ({ afterAgent: (text) => (text.includes('answer 1') ? `${text} Yours, A.` : undefined) }),
      faults: [
        'passive (a run with one answer): a passive lifecycle must not change the run: ' +
          'text is "This is answer 1. Yours, A.", not "This is answer 1."',
      ],
    },
  ]);
});

describe('assertLifecycle aborts runs while an asynchronous beforeAgent is pending, and finds an onError that', () => {
  itFinds([
    {
      it: 'fails before the first turn',
      make: () => ({
        beforeAgent: () => new Promise<void>((resolve) => setTimeout(resolve, 1)),
        onError(_error, run) {
          if (run.turn === 0) throw new TypeError('not closed');
        },
      }),
      faults: ['abort (a run that is aborted at beforeAgent): onError of "lifecycle" failed: not closed'],
    },
  ]);
});

test('assertLifecycle calls onError once for each asynchronous beforeAgent that returns after its run', async () => {
  const open = new Set<object>();
  let late = 0;
  await assertLifecycle({
    async beforeAgent(_input, run) {
      const connection = {};
      await new Promise((resolve) => setTimeout(resolve, 1));
      open.add(connection);
      connections.set(run, connection);
    },
    afterAgent: (_text, run) => void open.delete(connections.get(run) as object),
    onError(_error, run) {
      if (run.turn === 0) late += 1;
      open.delete(connections.get(run) as object);
    },
  });

  expect([open.size, late > 1]).toEqual([0, true]);
});

const connections = new WeakMap<object, object>();
