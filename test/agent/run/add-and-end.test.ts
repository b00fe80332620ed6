import { Agent, type AgentLifecycle, HookAction, type Message, type RunContext, type RunError, textOf } from 'keelson';
import { calls, fails, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { LATE, pause, rejectionOf, within } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';

const note = (text: string): Message => ({ role: 'user', content: text });
/** A tool gets the same run object as a hook, with a narrower type. */
const runOf = (run: unknown) => run as RunContext;

describe('run.add', () => {
  test('in beforeAgent adds the message after the input, before the first model call', async () => {
    const model = scriptedModel(['done']);
    const agent = new Agent({ model, lifecycle: [{ beforeAgent: (_input, run) => run.add(note('context')) }] });

    const { messages } = await agent.run('go');

    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: go', 'user: context']);
    expect(transcript(messages)).toEqual(['user: go', 'user: context', 'assistant: done']);
  });

  test('in a turn whose model call fails adds the message to the messages and history of the error', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('work'), fails()]),
      tools: [toolOf('work', () => 'ok')],
      lifecycle: [
        {
          wrapModelCall(request, next) {
            request.run.add(note(`said in turn ${request.run.turn}`));
            return next();
          },
        },
      ],
    });

    const error = (await rejectionOf(agent.run('go'))) as RunError;

    const said = ['user: go', 'assistant: call call_1 work', 'tool: call_1=ok', 'user: said in turn 1'];
    expect(transcript(error.messages)).toEqual([...said, 'user: said in turn 2']);
    expect(transcript(error.history)).toEqual([...said, 'user: said in turn 2']);
  });

  test.each(['beforeModel', 'afterModel'] as const)(
    'in a turn that %s ends with a text adds the message before that text',
    async (point) => {
      const lifecycle: AgentLifecycle[] = [
        { beforeModel: (_messages, run) => run.add({ role: 'user', content: 'more' }) },
        { [point]: () => HookAction.respond('enough') },
      ];

      const { history } = await new Agent({ model: scriptedModel(['done']), lifecycle }).run('go');

      expect(transcript(history)).toEqual(['user: go', 'user: more', 'assistant: enough']);
    },
  );

  test('in a wrap hook or a tool adds the messages after the results of the turn, in call order', async () => {
    const model = scriptedModel([calls('add', {}), 'done']);
    const agent = new Agent({
      model,
      tools: [
        toolOf('add', async (_input, { run }) => {
          runOf(run).add(note('from the tool'));
          await pause();
          return 'ok';
        }),
      ],
      lifecycle: [
        {
          wrapToolCall: async (call, next) => {
            const result = await next();
            call.run.add({ role: 'system', content: 'from the wrap' });
            return result;
          },
        },
      ],
    });

    const { messages } = await agent.run('go');

    expect(transcript(messages)).toEqual([
      'user: go',
      'assistant: call call_1 add',
      'tool: call_1=ok',
      'user: from the tool',
      'system: from the wrap',
      'assistant: done',
    ]);
  });

  test('after a final answer starts another turn', async () => {
    const model = scriptedModel(['first', 'second']);
    const agent = new Agent({
      model,
      lifecycle: [{ afterModel: (_response, run) => (run.turn === 1 ? run.add(note('are you sure?')) : undefined) }],
    });

    const { text, turns, messages } = await agent.run('go');

    expect([text, turns]).toEqual(['second', 2]);
    expect(transcript(messages)).toEqual(['user: go', 'assistant: first', 'user: are you sure?', 'assistant: second']);
  });

  test('after the last turn leaves the message unanswered, and logs a warning', async () => {
    const logger = keepingLogger();
    const agent = new Agent({
      model: scriptedModel(['first']),
      maxTurns: 1,
      logger,
      lifecycle: [{ afterModel: (_response, run) => run.add(note('again')) }],
    });

    const { text, turns, history } = await agent.run('go');

    expect([text, turns]).toEqual(['first', 1]);
    expect(transcript(history)).toEqual(['user: go', 'assistant: first', 'user: again']);
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: .*last of 1 turns/)]);
  });

  test('in a turn whose answer is repaired adds the message before the repaired answer', async () => {
    const model = scriptedModel(['no', '{"a":1}']);
    const agent = new Agent({
      model,
      lifecycle: [{ afterModel: (_response, run) => (run.turn === 1 ? run.add(note('hint')) : undefined) }],
    });

    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    await agent.run('go', { output });

    expect(transcript(model.requests[1]?.messages ?? [])).toContain('user: hint');
  });

  test.each<[string, Message]>([
    ['tool results', { role: 'tool', content: [] }],
    ['tool calls', { role: 'assistant', content: [{ type: 'tool-call', id: 'x', name: 'echo', input: {} }] }],
    ['an unknown role', { role: 'robot', content: 'x' } as unknown as Message],
    ['nothing', undefined as unknown as Message],
  ])('refuses %s, and the run fails with that error as its cause', async (_title, message) => {
    const agent = new Agent({
      model: scriptedModel(['done']),
      lifecycle: [{ name: 'bad', beforeAgent: (_input, run) => run.add(message) }],
    });

    const error = await rejectionOf(agent.run('go'));

    expect(error).toMatchObject({
      code: 'ERR_LIFECYCLE_FAILED',
      lifecycle: 'bad',
      cause: { code: 'ERR_MESSAGE_INVALID' },
    });
  });

  test.each(['add', 'end'] as const)('%s throws a RunEndedError once afterAgent has begun', async (method) => {
    const agent = new Agent({
      model: scriptedModel(['done']),
      lifecycle: [
        {
          afterAgent: (_text, run) =>
            method === 'add' ? run.add(note('late')) : run.end(HookAction.respond('something else')),
        },
      ],
    });

    expect(await rejectionOf(agent.run('go'))).toMatchObject({ cause: { code: 'ERR_RUN_ENDED' } });
  });
});

describe('run.end', () => {
  const slow = toolOf(
    'slow',
    (_input, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  );

  test('from a tool aborts the other calls, gives each call an error result, and ends the run with its text', async () => {
    const aborted: string[] = [];
    const waiting = toolOf('waiting', (_input, { signal, toolName }) => {
      signal.addEventListener('abort', () => void aborted.push(toolName));
      return new Promise(() => {});
    });
    const model = scriptedModel([
      calls({ name: 'waiting' }, { name: 'stop' }, { name: 'echo', input: { text: 'x' } }),
      'never',
    ]);
    const agent = new Agent({
      model,
      tools: [waiting, echo, toolOf('stop', (_input, { run }) => runOf(run).end(HookAction.respond('enough')))],
    });

    const { status, text, messages } = await agent.run('go');

    expect([status, text, aborted]).toEqual(['completed', 'enough', ['waiting']]);
    expect(transcript(messages)).toEqual([
      'user: go',
      'assistant: call call_1 waiting, call call_2 stop, call call_3 echo',
      [
        'tool: call_1!The call was not completed, because the run ended.',
        'call_2!The call was not completed, because the run ended.',
        'call_3!The call was not completed, because the run ended.',
      ].join(', '),
      'assistant: enough',
    ]);
    expect(model.requests).toHaveLength(1);
  });

  test('is not needed to end with the result of a tool: beforeModel of the next turn can end the run', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'found' })]),
      tools: [echo],
      lifecycle: [
        {
          beforeModel(messages) {
            const last = messages.at(-1);
            return last?.role === 'tool' ? HookAction.respond(textOf(last)) : undefined;
          },
        },
      ],
    });

    const { text, turns, messages } = await agent.run('go');

    expect([text, turns]).toEqual(['found', 1]);
    expect(transcript(messages).slice(2)).toEqual(['tool: call_1=found', 'assistant: found']);
  });

  test('keeps the results of finished calls', async () => {
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'echo', input: { text: 'kept' } }, { name: 'slow' })]),
      tools: [echo, slow],
      lifecycle: [
        {
          wrapToolCall: async (call, next) => {
            if (call.name === 'slow') void pause(5).then(() => call.run.end(HookAction.reject('too slow')));
            return next();
          },
        },
      ],
    });

    const error = await rejectionOf(agent.run('go'));

    expect(error).toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'too slow', by: 'run.end', point: 'end' });
    expect(transcript((error as { messages: Message[] }).messages).at(-1)).toBe(
      'tool: call_1=kept, call_2!The call was not completed, because the run ended: too slow',
    );
  });

  test('ends the run if the tool that called it never settles', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('stop')]),
      tools: [
        toolOf('stop', (_input, { run }) => {
          runOf(run).end(HookAction.respond('enough'));
          return new Promise(() => {});
        }),
      ],
    });

    const result = await within(agent.run('go'));

    expect(result).not.toBe(LATE);
    expect(result).toMatchObject({ text: 'enough' });
  });

  test('ends the run if it is called from outside while the only call never settles', async () => {
    let started: RunContext | undefined;
    const agent = new Agent({
      model: scriptedModel([calls('hang')]),
      tools: [toolOf('hang', () => new Promise(() => {}))],
      lifecycle: [
        {
          beforeAgent(_input, run) {
            started = run;
          },
        },
      ],
    });

    const running = within(agent.run('go', { signal: new AbortController().signal }));
    await pause(2);
    started?.end(HookAction.respond('enough'));

    expect(await running).toMatchObject({ text: 'enough' });
  });

  test('has an effect only for the first call', async () => {
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [
        {
          beforeAgent(_input, run) {
            run.end(HookAction.respond('first'));
            run.end(HookAction.reject('second'));
            return HookAction.respond('third');
          },
        },
      ],
    });

    const { text, decisions } = await agent.run('go');

    expect(text).toBe('first');
    expect(decisions).toEqual([{ type: 'respond', by: 'run.end', point: 'end', reason: 'first', turn: 0 }]);
  });

  test('during a model call discards the answer, and its tool calls do not run', async () => {
    const ran: string[] = [];
    const agent = new Agent({
      model: scriptedModel([calls('note'), 'never']),
      tools: [toolOf('note', () => void ran.push('note'))],
      lifecycle: [
        {
          wrapModelCall: async (request, next) => {
            const response = await next();
            request.run.end(HookAction.respond('enough'));
            return response;
          },
        },
      ],
    });

    const { text, messages } = await agent.run('go');

    expect([text, ran]).toEqual(['enough', []]);
    expect(transcript(messages)).toEqual([
      'user: go',
      'assistant: call call_1 note',
      'tool: call_1!The call was not completed, because the run ended.',
      'assistant: enough',
    ]);
  });

  test('with a respond action still calls afterAgent', async () => {
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [
        { beforeAgent: (_input, run) => run.end(HookAction.respond('raw')) },
        { priority: 90, afterAgent: (text) => `[${text}]` },
      ],
    });

    expect((await agent.run('go')).text).toBe('[raw]');
  });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['an action of an unknown type', { type: 'stop' }],
  ['a suspension', HookAction.suspend('later')],
  ['an approval', HookAction.Approve],
  ['a response without text', { type: 'respond' }],
  ['a response whose text is a number', HookAction.respond(5 as unknown as string)],
  ['a rejection without reason', { type: 'reject' }],
])('run.end refuses %s, and the error names the hook', async (_title, action) => {
  const model = scriptedModel([]);
  const agent = new Agent({
    model,
    lifecycle: [{ name: 'hasty', beforeAgent: (_input, run) => run.end(action as never) }],
  });

  const error = await rejectionOf(agent.run('go'));

  expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'hasty', point: 'beforeAgent' });
  expect(error).toMatchObject({ cause: { code: 'ERR_HOOK_RESULT_INVALID' } });
  expect(model.requests).toEqual([]);
});

test('run.end also refuses an invalid action after the run was ended', async () => {
  const refused: unknown[] = [];
  const agent = new Agent({
    model: scriptedModel([]),
    lifecycle: [
      {
        beforeAgent(_input, run) {
          run.end(HookAction.respond('done'));
          try {
            run.end({ type: 'respond' } as never);
          } catch (error) {
            refused.push((error as { code: unknown }).code);
          }
        },
      },
    ],
  });

  expect((await agent.run('go')).text).toBe('done');
  expect(refused).toEqual(['ERR_HOOK_RESULT_INVALID']);
});
