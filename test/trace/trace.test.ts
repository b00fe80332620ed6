import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type AgentLifecycle } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { readTrace, type TraceOptions, type TraceRecord, trace } from 'keelson/trace';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-trace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A trace in memory. */
function tracing(options: Partial<TraceOptions> = {}) {
  const lines: string[] = [];
  const lifecycle = trace({ to: (line) => lines.push(line), ...options });
  return { lifecycle, lines, records: () => readTrace(lines.join('\n')) };
}

function disk(): never {
  throw new RangeError('The disk is full.');
}

const typesIn = (records: readonly TraceRecord[]) => records.map(({ type }) => type);

describe('a trace', () => {
  test.each([
    ['/app', 'at file:///app/src/x.js:1 (/app/y.js)', 'at src/x.js:1 (y.js)'],
    ['/app', 'https://host.example/app/users, /srv/app/x, ~/app/x and the app/x', undefined],
    ['/my app+', 'file:///my%20app+/x.js and /my app+/y.js', 'x.js and y.js'],
    ['/', 'https://host.example/x and /etc/hosts', undefined],
    ['C:\\work', 'C:\\work\\x.js, file:///C:/work/y.js and D:\\work\\z.js', 'x.js, y.js and D:\\work\\z.js'],
  ])('of a program in %s has relative paths in "%s"', async (cwd, message, expected = message) => {
    vi.spyOn(process, 'cwd').mockReturnValue(cwd);
    onTestFinished(() => void vi.restoreAllMocks());
    const { lifecycle, records } = tracing();
    const model = scriptedModel([() => Promise.reject(new Error(message))]);
    await new Agent({ model, lifecycle: [lifecycle] }).run('go').catch(() => {});

    expect(records().find(({ type }) => type === 'run-error')).toMatchObject({
      error: { message: expect.stringContaining(expected) },
    });
  });

  test.each<[string, Partial<TraceOptions>]>([
    ['a function that throws', { to: () => disk() }],
    ['a function that rejects', { to: async () => disk() }],
    ['a `redact` that throws', { redact: () => disk() }],
  ])('does not change the run with %s, and logs the first error', async (_title, options) => {
    const logger = keepingLogger();
    const { lifecycle, lines } = tracing(options);
    const model = scriptedModel([calls('look'), 'Nothing is there.']);
    const agent = new Agent({ model, tools: [toolOf('look', () => 'nothing')], lifecycle: [lifecycle], logger });
    await using session = await agent.session({ id: 's' });

    await session.run('Look.');

    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringContaining('The trace is incomplete'),
    ]);
    expect(lines).toEqual([]);
  });

  test('has the events, the model calls and the hooks of a run, in order', async () => {
    const { lifecycle, records } = tracing();
    const polite: AgentLifecycle = { name: 'polite', beforeModel: (messages) => [...messages] };
    const model = scriptedModel([calls('look'), 'Nothing is there.']);
    const agent = new Agent({
      name: 'clerk',
      model,
      tools: [toolOf('look', () => 'nothing')],
      lifecycle: [lifecycle, polite],
    });

    const { usage } = await agent.run('Look.');

    const turn = ['turn-start', 'hook', 'model-start', 'model-call', 'model-end'];
    expect(typesIn(records()).filter((type) => type !== 'decision')).toEqual([
      ...['trace', 'run-start', ...turn, 'tool-start', 'tool-end', 'turn-end', ...turn, 'turn-end', 'run-end'],
    ]);
    expect(records().at(-1)).toMatchObject({ result: { status: 'completed', text: 'Nothing is there.', usage } });
    expect(records().at(-1)).not.toHaveProperty('result.messages');
  });

  test('of a nested run is a part of the trace of the outer run', async () => {
    const outer = tracing();
    const inner = tracing();
    const clerk = new Agent({ name: 'clerk', model: scriptedModel(['Done.']), lifecycle: [inner.lifecycle] });
    const model = scriptedModel([calls({ name: 'clerk', input: { prompt: 'Go.' } }), 'Done.']);
    const tools = [clerk.asTool({ description: 'Works.' })];

    await new Agent({ name: 'boss', model, tools, lifecycle: [outer.lifecycle] }).run('Go.');

    const starts = outer
      .records()
      .flatMap((record) => (record.type === 'run-start' ? [[record.agent, record.path]] : []));
    expect(starts).toEqual([
      ['boss', undefined],
      ['clerk', ['call_1']],
    ]);
    expect(inner.lines).toEqual([]);
  });

  test('tells the time of a hook itself from the time of the call that it wraps', async () => {
    const clock = fakeClock();
    const { lifecycle, records } = tracing();
    const slow: AgentLifecycle = {
      name: 'slow',
      async wrapToolCall(_call, next) {
        clock.advance(5);
        const result = await next();
        clock.advance(2);
        return { ...result };
      },
    };
    const look = toolOf('look', async () => {
      clock.advance(100);
      return 'nothing';
    });

    await new Agent({
      model: scriptedModel([calls('look'), 'ok']),
      tools: [look],
      lifecycle: [lifecycle, slow],
      clock,
    }).run('Look.');

    expect(records().find(({ type }) => type === 'hook')).toMatchObject({
      ...{ lifecycle: 'slow', point: 'wrapToolCall', call: { id: 'call_1', name: 'look' }, ms: 107, ownMs: 7 },
    });
  });

  test('has each attempt of a model call, with its error and the size of its context', async () => {
    const { lifecycle, records } = tracing();
    const again: AgentLifecycle = { name: 'again', wrapModelCall: (_request, next) => next().catch(() => next()) };
    const broken = Object.assign(new Error('busy', { cause: new TypeError(`no route to ${process.cwd()}/x`) }), {
      status: 503,
    });
    const model = scriptedModel([() => Promise.reject(broken), says('ok')]);

    await new Agent({ model, instructions: 'Be brief.', lifecycle: [lifecycle, again] }).run('Hello');

    const attempts = records().filter(({ type }) => type === 'model-call');
    expect(attempts).toMatchObject([
      {
        attempt: 1,
        context: { sizes: { instructions: 9, user: 5 }, messages: 2 },
        error: {
          name: 'ModelError',
          kind: 'overloaded',
          cause: { message: 'busy', cause: { name: 'TypeError', message: 'no route to x' } },
        },
      },
      { attempt: 2, finishReason: 'stop' },
    ]);
    expect(attempts[0]).toHaveProperty('error.cause.stack', expect.stringMatching(/[( ]test\/trace\/trace\.test\.ts:/));
  });

  test('has the cost of each model call that has a price', async () => {
    const { lifecycle, records } = tracing({ prices: { dear: { input: 2, output: 10 } } });
    const model = scriptedModel([says('ok', { usage: { inputTokens: 1_000_000, outputTokens: 100_000 } })], {
      id: 'dear',
    });

    await new Agent({ model, lifecycle: [lifecycle] }).run('Hello');
    await new Agent({ model: scriptedModel(['ok'], { id: 'other' }), lifecycle: [lifecycle] }).run('Hello');

    const calls = records().filter(({ type }) => type === 'model-call');
    expect(calls.map((call) => ('cost' in call ? call.cost : undefined))).toEqual([3, undefined]);
  });

  test('has the entries that a run adds to the record of its session, without their messages', async () => {
    const { lifecycle, records } = tracing();
    const model = scriptedModel([calls('look'), 'Nothing is there.']);
    const agent = new Agent({ model, tools: [toolOf('look', () => 'nothing')], lifecycle: [lifecycle] });
    await using session = await agent.session({ id: 's' });

    await session.run('Look.');

    const entries = records().flatMap((record) => (record.type === 'entry' ? [record] : []));
    expect(entries.map(({ body, role }) => `${body} ${role}`)).toEqual([
      ...['message user', 'message assistant', 'message tool', 'message assistant'],
    ]);
    expect(entries.map(({ parent }) => parent)).toEqual([undefined, ...entries.slice(0, -1).map(({ id }) => id)]);
  });

  test('has no secrets, by name, by form and by the environment, also in JSON inside of a string', async () => {
    process.env.TEST_TRACE_TOKEN = 'from "the" environment';
    onTestFinished(() => void delete process.env.TEST_TRACE_TOKEN);
    const { lifecycle, lines } = tracing();
    const model = scriptedModel([
      calls({ name: 'call', input: { password: 'pass-1', nested: '{"apiKey":"pass-2"}' } }),
      'ok',
    ]);
    const tool = toolOf('call', () => 'sk-abcdefghijklmnopqrstuvwx and from "the" environment');

    await new Agent({ model, tools: [tool], lifecycle: [lifecycle] }).run('Call.');

    expect(lines.join('\n')).not.toMatch(/pass-[12]|sk-abc|environment/);
    expect(lines.join('\n')).toContain('"content":"[redacted] and [redacted]"');
  });

  test('of a result with many backslashes, or with bytes, is written at once', async () => {
    const { lifecycle, records } = tracing();
    const model = scriptedModel([calls({ name: 'text' }, { name: 'image' }), 'ok']);
    const text = toolOf('text', () => '\\'.repeat(200_000));
    const image = toolOf('image', () => [{ type: 'image', image: new Uint8Array(9), mediaType: 'image/png' }]);

    await new Agent({ model, tools: [text, image], lifecycle: [lifecycle] }).run('Go.');

    expect(records().filter(({ type }) => type === 'tool-end')).toMatchObject([
      { result: { content: '\\'.repeat(200_000) } },
      { result: { content: [{ type: 'image', image: '[9 bytes]', mediaType: 'image/png' }] } },
    ]);
  });

  test('may be redacted further by a function, which can leave records out', async () => {
    const redact = (record: TraceRecord) => {
      if (record.type === 'run-start') return { ...record, input: 'hidden' };
      return record.type === 'model-start' ? undefined : record;
    };
    const { lifecycle, records } = tracing({ redact });

    await new Agent({ model: scriptedModel(['ok']), lifecycle: [lifecycle] }).run('My name is Ada.');

    expect(records().find(({ type }) => type === 'run-start')).toMatchObject({ input: 'hidden' });
    expect(typesIn(records())).not.toContain('model-start');
  });

  test('of values that JSON does not know has them as text', async () => {
    const { lifecycle, records } = tracing();
    const around: { self?: unknown; size: bigint; failure: Error } = { size: 10n, failure: new Error('inside') };
    around.self = around;
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const answer = {
      content: [{ type: 'text', text: 'ok' }],
      finishReason: 'stop',
      usage,
      providerMetadata: { around },
    } as const;
    const model = { id: 'm', generate: async () => answer as never };

    await new Agent({ model, lifecycle: [lifecycle] }).run('Look.');

    expect(records().find(({ type }) => type === 'model-end')).toMatchObject({
      response: {
        providerMetadata: {
          around: { size: '10n', self: '[circular]', failure: { name: 'Error', message: 'inside' } },
        },
      },
    });
  });
});

describe('a folder of traces', () => {
  test('gets a file for each run that only the user can read, and keeps the newest', async () => {
    const to = join(temporaryFolder(), 'traces');
    await using agent = new Agent({
      model: scriptedModel(() => 'ok'),
      lifecycle: [trace({ to, maxFiles: 2 })],
      clock: ticking(),
    });

    for (const input of ['one', 'two', 'three']) await agent.run(input);
    await agent.close();

    const files = readdirSync(to).sort();
    const inputs = files.map((name) =>
      readTrace(readFileSync(join(to, name), 'utf8')).find(({ type }) => type === 'run-start'),
    );
    expect(inputs).toMatchObject([{ input: 'two' }, { input: 'three' }]);
    expect(lstatSync(to).mode & 0o777).toBe(0o700);
    expect(files.map((name) => lstatSync(join(to, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  test('cuts a trace that is too long, and the rest can be read', async () => {
    const to = temporaryFolder();
    await using agent = new Agent({
      model: scriptedModel([says('x'.repeat(5_000))]),
      lifecycle: [trace({ to, maxFileBytes: 1024 })],
    });

    await agent.run('Go.');
    await agent.close();

    const [file = ''] = readdirSync(to);
    const text = readFileSync(join(to, file), 'utf8');
    expect(text.trimEnd().split('\n').at(-1)).toBe('{"type":"cut"}');
    expect(typesIn(readTrace(text)).slice(0, 2)).toEqual(['trace', 'run-start']);
  });

  test('that cannot be written is reported once, and the run goes on', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'file'), join(folder, 'link'));
    const logger = keepingLogger();
    await using agent = new Agent({
      model: scriptedModel(['ok']),
      lifecycle: [trace({ to: join(folder, 'link') })],
      logger,
    });

    const { text } = await agent.run('Go.');
    await agent.close();

    expect(text).toBe('ok');
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: The trace/)]);
  });
});

describe('readTrace', () => {
  test('replaces values that are nested too deep', () => {
    const input = '['.repeat(100_000) + ']'.repeat(100_000);
    const text = `{"type":"trace","version":1,"at":0,"runId":"r"}\n{"type":"tool-start","at":0,"runId":"r","input":${input}}`;

    const [, call] = readTrace(text);

    expect(JSON.stringify(call)).toContain('[[["…"]]]');
  });

  test('leaves out a last line that a crash has cut off', async () => {
    const { lifecycle, lines } = tracing();
    await new Agent({ model: scriptedModel(['ok']), lifecycle: [lifecycle] }).run('Go.');

    expect(readTrace(`${lines.join('\n')}\n{"type":"ru`)).toHaveLength(lines.length);
  });

  test.each([
    ['text without JSON', 'Hello\nthere', /Line 1 of the trace must be a JSON object/],
    [
      'another file of JSON',
      '{"type":"event"}\n',
      /Line 1 of the trace must be a record of type "trace" with `version` 1/,
    ],
    ['a later version', '{"type":"trace","version":2}\n', /`version` 1/],
  ])('refuses %s', (_title, text, message) => {
    expect(() => readTrace(text)).toThrow(
      expect.objectContaining({ code: 'ERR_TRACE_INVALID', message: expect.stringMatching(message) }),
    );
  });
});

/** A clock that advances with each look, so that files get names of their own. */
function ticking() {
  const clock = fakeClock();
  const now = () => {
    clock.advance(1);
    return clock.now();
  };
  return { ...clock, now };
}
