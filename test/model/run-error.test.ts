import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import * as core from 'keelson';
import { Agent, handoff, ModelError, ResponseInvalidError, RunError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../support/agent/settle.js';

describe('a ModelError', () => {
  test.each<[unknown, boolean]>([
    [{ status: 408 }, true],
    [{ status: 409 }, true],
    [{ status: 429 }, true],
    [{ status: 500 }, true],
    [{ status: 503 }, true],
    [{ status: 529 }, true],
    [{ status: 400 }, false],
    [{ status: 401 }, false],
    [{ status: 404 }, false],
    [{ status: 422 }, false],
    [{ status: '503' }, false],
    [{}, false],
    ['down', false],
    [null, false],
    [undefined, false],
    [{ status: 400, retryable: true }, true],
    [{ status: 500, retryable: false }, false],
  ])('of %j may be retried: %s', (cause, retryable) => {
    expect(new ModelError('m', cause)).toMatchObject({ retryable, cause, model: 'm', code: 'ERR_MODEL_FAILED' });
  });

  test.each([
    [{ status: 401 }, 'auth'],
    [{ status: 403 }, 'auth'],
    [{ status: 429 }, 'rate-limit'],
    [{ status: 500 }, 'overloaded'],
    [{ status: 599 }, 'overloaded'],
    [{ status: 400 }, 'unknown'],
    [{ status: '429' }, 'unknown'],
    [{ status: 429, kind: 'quota' }, 'quota'],
  ])('has the kind by its status if it names none: %j', (cause, kind) => {
    expect(new ModelError('m', cause)).toMatchObject({ kind });
  });

  test('keeps `status` and `retryAfterMs` of its cause only if they are numbers', () => {
    expect(new ModelError('m', { status: 429, retryAfterMs: 5 })).toMatchObject({ status: 429, retryAfterMs: 5 });
    expect(new ModelError('m', { status: '429', retryAfterMs: '5' })).toMatchObject({
      status: undefined,
      retryAfterMs: undefined,
    });
  });

  test('has a name, and no messages before the run attaches its state', () => {
    const error = new ModelError('m', new Error('down'));

    expect([error.name, error.message]).toEqual(['ModelError', 'Model "m" failed: down']);
    expect([error.messages, error.history, error.usage.totalTokens]).toEqual([[], [], 0]);
  });

  test.each([
    ['an error', "new TypeError('down')"],
    ['an aggregate error', "new AggregateError([new Error('down')])"],
    ['a serialized error', "({ name: 'TypeError', message: 'down', stack: 'TypeError: down' })"],
  ])('shows the message of %s from another realm', (_title, code) => {
    expect(new ModelError('m', runInNewContext(code)).message).toBe('Model "m" failed: down');
  });

  test.each<[object, string]>([
    [{ stack: 'LAMP', code: 3 }, 'an object with stack, code'],
    [{ stack: 'x', name: 'NoSpace' }, 'NoSpace'],
  ])('describes %j, which has a stack but is not an error', (cause, text) => {
    expect(new ModelError('m', cause).message).toBe(`Model "m" failed: ${text}`);
  });

  test.each<[string, object, string]>([
    ['a message', { message: 'down', request: { messages: ['LAMP'] } }, 'down'],
    ['no message', { request: { messages: ['LAMP'] }, answer: 'LAMP' }, 'an object with request, answer'],
    ['a message that is not a string', { message: { text: 'LAMP' } }, '[object Object]'],
  ])('does not show the members of a thrown object with %s', (_title, cause, text) => {
    const error = new ModelError('m', cause);

    expect(error.message).toBe(`Model "m" failed: ${text}`);
    expect(error.cause).toBe(cause);
    expect([inspect(error, { depth: 9 }), JSON.stringify(error), error.stack].join()).not.toContain('LAMP');
  });

  test('serializes to JSON with its message, code and usage, without the messages', () => {
    const cause = { status: 429, retryAfterMs: 5, headers: new Map() };

    expect(JSON.parse(JSON.stringify({ error: new ModelError('m', cause) }))).toEqual({
      error: {
        name: 'ModelError',
        message: 'Model "m" failed: an object with status, retryAfterMs, headers',
        code: 'ERR_MODEL_FAILED',
        kind: 'rate-limit',
        ...{ model: 'm', status: 429, retryable: true, retryAfterMs: 5 },
        ...{ usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } },
      },
    });
  });
});

test('a ModelError for an invalid response keeps the response on its cause', async () => {
  const response = { content: 'x' };
  const model = { id: 'm', generate: async () => response as never };

  const error: unknown = await new core.Agent({ model }).run('go').catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({
    code: 'ERR_MODEL_FAILED',
    retryable: false,
    cause: { code: 'ERR_RESPONSE_INVALID', retryable: false, response },
  });
  expect(error).toHaveProperty('cause', expect.any(ResponseInvalidError));
});

const shownOf = (error: Error) => [inspect(error, { depth: 9 }), JSON.stringify(error), JSON.stringify({ ...error })];

describe('logs of an error', () => {
  const said = 'the door code is 4711';
  const messages = [{ role: 'user', content: said } as const];
  const errors: Readonly<Record<string, () => Error>> = {
    ModelError: () => new ModelError('m', new Error('down')),
    RunTimeoutError: () => new core.RunTimeoutError(5),
    TurnLimitError: () => new core.TurnLimitError(5),
    OutputInvalidError: () => new core.OutputInvalidError('expected a number', { text: said, issues: [] }),
    SessionStoreError: () => new core.SessionStoreError('s', 'saved', new Error('full')),
    SessionLostError: () => new core.SessionLostError('s'),
    SessionBusyError: () => new core.SessionBusyError('s', 10),
    LifecycleError: () => new core.LifecycleError('l', 'afterModel', new Error('down')),
    RejectedError: () => new core.RejectedError('no', 'l', 'beforeAgent'),
    RunAbortedError: () => new core.RunAbortedError('stop'),
    ResponseInvalidError: () => new ModelError('m', new ResponseInvalidError('no usage', { content: said })),
  };
  /** Errors whose classes are not exported, each from what a program does. */
  const thrown: Readonly<Record<string, () => Promise<unknown>>> = {
    EntryInvalidError: async () =>
      (await new Agent({ model: scriptedModel(said) }).session()).run(said, { at: 'nope' }),
    HandoffUnavailableError: async () => {
      const other = new Agent({ name: 'other', model: scriptedModel('Hello.') });
      const tools = [handoff(other, { name: 'to_other', description: 'Hands over.' })];
      const agent = new Agent({ model: scriptedModel([calls('to_other', {})]), tools });
      const { history } = await agent.run(said);
      await other.close();
      return agent.run('Go on.', { messages: history });
    },
    HookResultInvalidError: () =>
      new Agent({ model: scriptedModel(said) }).withLifecycle({ afterModel: () => said as never }).run(said),
  };

  test.each(Object.entries(errors))('of class %s do not show the conversation', (_name, create) => {
    const error = create();
    if (error instanceof RunError) {
      error.attach({ messages, history: messages, usage: { inputTokens: 7, outputTokens: 0, totalTokens: 7 } });
    }

    const shown = shownOf(error);

    for (const text of shown) expect(text).not.toContain('4711');
    if (error instanceof RunError) {
      expect([error.messages, error.history]).toEqual([messages, messages]);
      for (const text of shown) expect(text).toContain('inputTokens');
    }
  });

  test.each(Object.entries(thrown))('of class %s do not show the conversation', async (name, act) => {
    const error = await rejectionOf(act());
    const errors = [error, (error as Error).cause].filter((it) => it instanceof Error);

    expect(errors.map((it) => it.name)).toContain(name);
    for (const text of errors.flatMap(shownOf)) expect(text).not.toContain('4711');
  });

  test('are checked for every run error that the core exports', () => {
    const exported = Object.entries(core).flatMap(([name, value]) =>
      typeof value === 'function' && value.prototype instanceof RunError ? [name] : [],
    );

    expect(Object.keys(errors)).toEqual(expect.arrayContaining(exported));
    expect(exported.length).toBeGreaterThan(8);
  });

  test('do not show the conversation after a failed run', async () => {
    const model = { id: 'm', generate: () => Promise.reject(new Error('down')) };
    const agent = new core.Agent({ model, instructions: said });

    const error: unknown = await agent.run(said).catch((thrown: unknown) => thrown);

    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain('4711');
    expect(error).toMatchObject({ history: messages });
  });
});
