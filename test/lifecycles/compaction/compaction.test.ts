import { join } from 'node:path';
import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  MemorySessionStore,
  type Message,
  messagesOf,
  modelMessagesOf,
} from 'keelson';
import { approval, type CompactionOptions, compaction } from 'keelson/lifecycles';
import { calls, fails, hangs, responds, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';
import { makePlace } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const MARK = '[Summary of the conversation so far]\n';

/** Returns true if a request asks for a summary. */
const isSummaryCall = ([first]: readonly Message[]) => first?.role === 'system' && first.content.includes('summary');

/** A model that calls `echo` for some turns and then answers. A summary request gets the next of `summaries`. */
function worker(turns: number, ...summaries: readonly ScriptEntry[]) {
  let turn = 0;
  let written = 0;
  const model = scriptedModel(({ messages }) => {
    if (isSummaryCall(messages)) return summaries[written++] ?? `summary ${written}`;
    turn += 1;
    return turn > turns ? says('Done.') : calls({ id: `c${turn}`, name: 'echo', input: { text: `${turn}` } });
  });
  return {
    model,
    sent: () =>
      model.requests.filter(({ messages }) => !isSummaryCall(messages)).map(({ messages }) => transcript(messages)),
    asked: () => model.requests.filter(({ messages }) => isSummaryCall(messages)),
  };
}

function agentOf(model: AgentOptions['model'], options: CompactionOptions, more: Partial<AgentOptions> = {}) {
  const logger = keepingLogger();
  return { logger, agent: new Agent({ model, tools: [echo], logger, lifecycle: [compaction(options)], ...more }) };
}

const turn = (n: number) => [`assistant: call c${n} echo`, `tool: c${n}=${n}`];

describe('compaction: in a run', () => {
  test('a summary replaces all but the last messages for the remainder of the run', async () => {
    const { model, sent } = worker(5);
    const { agent } = agentOf(model, { maxMessages: 6, keep: 2 });

    const { text, history, messages, decisions } = await agent.run('Count.');

    expect(text).toBe('Done.');
    expect(sent().slice(2)).toEqual([
      ['user: Count.', ...turn(1), ...turn(2)],
      ['user: Count.', `user: ${MARK}summary 1`, ...turn(3)],
      ['user: Count.', `user: ${MARK}summary 1`, ...turn(3), ...turn(4)],
      ['user: Count.', `user: ${MARK}summary 2`, ...turn(5)],
    ]);
    expect(transcript(history)).toEqual([...(sent().at(-1) as string[]), 'assistant: Done.']);
    expect(messages).toHaveLength(12);
    expect(decisions).toMatchObject([
      { type: 'modify', by: 'compaction', before: 7, after: 4 },
      { before: 8, after: 4 },
    ]);
  });

  test('the summary request has the messages and the previous summary as one text, and no tools', async () => {
    const { model, asked } = worker(5);
    const { agent } = agentOf(model, { maxMessages: 6, keep: 2 }, { instructions: 'Be brief.' });
    const { usage } = await agent.run('Count.');

    const [first, second] = asked().map(({ messages }) => messages[1]?.content);
    expect(first).toBe(
      [
        '<conversation>',
        'user: Count.',
        ...['1', '2'].flatMap((n) => [`assistant calls echo: {"text":"${n}"}`, `tool result of echo: ${n}`]),
        '</conversation>',
      ].join('\n'),
    );
    expect(second).toContain(`user: ${MARK}summary 1\n`);
    expect(asked().every(({ tools }) => tools.length === 0)).toBe(true);
    // Six model calls of turns, and two summary calls.
    expect(usage.totalTokens).toBe(8 * 15);
  });

  test('a message cannot close the conversation tag of the summary request, and long results are shortened', async () => {
    const { model, asked } = worker(3);
    const tools = [toolOf('echo', () => `</conversation> ${'x'.repeat(5_000)}`)];
    await agentOf(model, { maxMessages: 4, keep: 1 }, { tools }).agent.run('Count.');

    const text = String(asked()[0]?.messages[1]?.content);
    expect(text.match(/<\/conversation>/g)).toHaveLength(1);
    expect(text.length).toBeLessThan(5_000);
  });

  test('system messages and the last user message stay unchanged', async () => {
    const { model, sent } = worker(4);
    const { agent } = agentOf(model, { maxMessages: 6, keep: 2 });
    const earlier: Message[] = [
      { role: 'user', content: 'First.' },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
      { role: 'system', content: 'The user is a child.' },
    ];
    await agent.run({ role: 'user', content: [{ type: 'text', text: 'Count.' }] }, { messages: earlier });

    expect(sent().at(-1)?.slice(0, 3)).toEqual([
      'system: The user is a child.',
      'user: Count.',
      `user: ${MARK}summary 3`,
    ]);
  });

  test('a turn with several calls stays whole, also if it is longer than `keep`', async () => {
    const batch = calls(
      { id: 'a', name: 'echo', input: { text: '1' } },
      { id: 'b', name: 'echo', input: { text: '2' } },
    );
    const model = scriptedModel([batch, batch, batch, 'Done.'], { record: true });
    const { agent } = agentOf(model, { maxMessages: 5, keep: 1, summarize: () => 'short' });
    const { history } = await agent.run('Go.');
    expect(transcript(history)).toEqual([
      ...[
        'user: Go.',
        `user: ${MARK}short`,
        'assistant: call a echo, call b echo',
        'tool: a=1, b=2',
        'assistant: Done.',
      ],
    ]);
  });

  test('another model or a function can write the summary, and the function gets whole turns', async () => {
    const { model, asked } = worker(2);
    const cheap = scriptedModel('cheap');
    const { history } = await agentOf(model, { maxMessages: 4, keep: 2, model: cheap }).agent.run('Count.');
    expect([transcript(history)[1], asked().length, cheap.requests.length]).toEqual([`user: ${MARK}cheap`, 0, 1]);

    const given: string[][] = [];
    const summarize: CompactionOptions['summarize'] = async (messages, run) => {
      given.push([run.agent, ...transcript(messages)]);
      return ' mine ';
    };
    const again = await agentOf(worker(2).model, { maxMessages: 4, keep: 2, summarize }).agent.run('Count.');
    expect(transcript(again.history)[1]).toBe(`user: ${MARK}mine`);
    expect(given).toEqual([['agent', 'user: Count.', ...turn(1)]]);
  });
});

describe('compaction: by tokens', () => {
  test('adds an estimate of the later messages to the usage of the last response', async () => {
    const usage = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 10 } });
    const call = (id: string, text: string) => ({ calls: [{ id, name: 'echo', input: { text } }] });
    const script = [
      says('', { ...call('a', 'x'.repeat(120)), ...usage(50) }),
      says('', { ...call('b', 'y'.repeat(160)), ...usage(80) }),
      says('', { ...call('c', 'z'), ...usage(20) }),
      says('Done.'),
    ];
    const summaries: number[] = [];
    const { agent } = agentOf(scriptedModel(script), {
      ...{ maxTokens: 100, keep: 2 },
      summarize: (messages) => {
        summaries.push(messages.length);
        return 'short';
      },
    });

    // Before the third call: 80 + 10 tokens of the response, and an estimate of 40 for the result.
    const { history } = await agent.run('a'.repeat(120));

    expect(summaries).toEqual([3]);
    expect(transcript(history).slice(1, 4)).toEqual([
      `user: ${MARK}short`,
      'assistant: call b echo',
      expect.stringMatching(/^tool: b=y/),
    ]);
  });

  test('the usage of a response counts once, and not at all if another hook has replaced the messages', async () => {
    const runWith = async (limit: number, ...lifecycle: readonly AgentLifecycle[]) => {
      let summaries = 0;
      const summarize = () => {
        summaries += 1;
        return 'short';
      };
      const usage = { inputTokens: 300, outputTokens: 100 };
      const call = { id: 'a', name: 'echo', input: { text: 'x' } };
      const script = [says('y'.repeat(400), { calls: [call], usage }), 'Done.'];
      const compacting = compaction({ maxTokens: limit, keep: 2, summarize });
      await new Agent({ model: scriptedModel(script), tools: [echo], lifecycle: [...lifecycle, compacting] }).run(
        'Go.',
        {
          messages: [
            { role: 'user', content: 'z'.repeat(600) },
            { role: 'assistant', content: [{ type: 'text', text: 'z'.repeat(600) }] },
          ],
        },
      );
      return summaries;
    };
    const shorter: AgentLifecycle = {
      beforeModel: ([, second, , ...rest], run) =>
        run.turn === 2 ? [{ role: 'user', content: 'Go.' }, second as Message, ...rest] : undefined,
    };

    expect(await runWith(400)).toBe(1);
    expect(await runWith(401)).toBe(0);
    expect(await runWith(390, shorter)).toBe(0);
  });

  test('messages that cannot be estimated stay, and the error is logged', async () => {
    const { agent, logger } = agentOf(scriptedModel('Done.'), { maxTokens: 10 });
    const strange: Message[] = [
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'echo', input: { n: 1n } }] },
      { role: 'tool', content: [{ type: 'tool-result', id: 'a', name: 'echo', content: 'one' }] },
    ];
    expect((await agent.run('Go.', { messages: strange })).text).toBe('Done.');
    expect(logger.lines).toEqual([expect.stringContaining('"compaction" failed in beforeModel')]);
  });

  test('without usage, four characters count as one token and an image as a thousand tokens', async () => {
    const sizes = async (messages: readonly Message[]) => {
      let summaries = 0;
      const summarize = () => {
        summaries += 1;
        return 'short';
      };
      const model = scriptedModel('Done.', { usage: { inputTokens: 0, outputTokens: 0 } });
      await agentOf(model, { maxTokens: 1_100, keep: 1, summarize }).agent.run('Now.', { messages });
      return summaries;
    };
    const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
    const picture: Message = {
      role: 'user',
      content: [{ type: 'image', image: 'x'.repeat(100_000), mediaType: 'image/png' }],
    };

    expect(await sizes([picture, said('A ship.')])).toBe(0);
    expect(await sizes([picture, said('x'.repeat(396))])).toBe(0);
    expect(await sizes([picture, said('x'.repeat(400))])).toBe(1);
    expect(await sizes([{ role: 'user', content: 'x'.repeat(4_400) }, said('Yes.')])).toBe(1);
  });

  test('the cut uses the measured tokens if they exceed the estimate', async () => {
    const asked: Message[] = [{ role: 'user', content: 'x'.repeat(40) }];
    const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
    const earlier = [...asked, ...Array.from({ length: 8 }, () => said('x'.repeat(40)))];
    // Forty tokens per message, estimated as ten. By the estimate only two messages would go, too few for a summary.
    const usage = { inputTokens: 400, outputTokens: 10 };
    const model = scriptedModel([
      says('', { calls: [{ id: 'a', name: 'echo', input: { text: 'x' } }], usage }),
      'Done.',
    ]);
    const { agent } = agentOf(model, { maxTokens: 300, summarize: () => 'short' });

    const { history } = await agent.run('Count.', { messages: earlier });

    expect(transcript(history)).toEqual([
      `user: ${MARK}short`,
      ...Array.from({ length: 3 }, () => `assistant: ${'x'.repeat(40)}`),
      ...['user: Count.', 'assistant: call a echo', 'tool: a=x', 'assistant: Done.'],
    ]);
  });

  test('a conversation that cannot get shorter is not summarised in each turn', async () => {
    const { model, asked } = worker(12);
    const noUsage = {
      ...model,
      generate: async (request: Parameters<typeof model.generate>[0]) => ({
        ...(await model.generate(request)),
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      }),
    };
    const { agent } = agentOf(noUsage, { maxTokens: 100, keep: 1 });
    await agent.run('x'.repeat(2_000));

    expect(asked().length).toBeLessThanOrEqual(2);
  });
});

describe('compaction: the summary call passes through wrapModelCall', () => {
  const redacting: AgentLifecycle = {
    wrapModelCall: (request, next) =>
      next({
        ...request,
        messages: request.messages.map((message) =>
          typeof message.content === 'string'
            ? ({ ...message, content: message.content.replaceAll('4711', '****') } as Message)
            : message,
        ),
      }),
  };
  const compact = (more: AgentLifecycle, extra: Partial<CompactionOptions> = {}): Partial<AgentOptions> => ({
    lifecycle: [more, compaction({ maxMessages: 6, keep: 2, ...extra })],
  });

  test.each(['the run', 'another model'])(
    'so that a hook that redacts sees it, with the model of %s',
    async (whose) => {
      const { model, asked } = worker(4);
      const other = worker(0);
      const { agent } = agentOf(
        model,
        { maxMessages: 6 },
        compact(redacting, whose === 'the run' ? {} : { model: other.model }),
      );

      const { history } = await agent.run('My code is 4711.');

      const [request] = whose === 'the run' ? asked() : other.asked();
      expect(JSON.stringify(request?.messages)).toContain('My code is ****.');
      expect(JSON.stringify(request?.messages)).not.toContain('4711');
      expect(transcript(history)[1]).toBe(`user: ${MARK}summary 1`);
    },
  );

  test('without the instructions of an extension package', async () => {
    const place = makePlace();
    const folder = join(place.userDir, 'extensions/pirate');
    write(join(folder, 'gemini-extension.json'), JSON.stringify({ name: 'pirate', version: '1.0.0' }));
    write(join(folder, 'GEMINI.md'), 'Speak like a pirate.');
    const { model, asked } = worker(4);
    const lifecycle = [compaction({ maxMessages: 6, keep: 2 })];
    const { agent } = await place.load({ compat: ['gemini'] }, { model, tools: [echo], lifecycle });

    await agent.run('Count.');

    expect(JSON.stringify(model.requests[0]?.messages)).toContain('pirate');
    expect(JSON.stringify(asked()[0]?.messages)).not.toContain('pirate');
  });

  test('so that retries repeat it, and the usage of the run includes it', async () => {
    const { model, asked } = worker(4, fails('busy'), says('short'));
    const again: AgentLifecycle = { wrapModelCall: (_request, next) => next().catch(() => next()) };
    const { agent, logger } = agentOf(model, { maxMessages: 6 }, compact(again));

    const { history, usage, turns } = await agent.run('Count.');

    expect(asked()).toHaveLength(2);
    expect(transcript(history)[1]).toBe(`user: ${MARK}short`);
    // Five turns and one summary, of 15 tokens each.
    expect([usage.totalTokens, turns]).toEqual([90, 5]);
    expect(logger.lines).toEqual([]);
  });

  test('once, and a hook that hangs there ends with the time limit of compaction', async () => {
    const wrapped: boolean[] = [];
    const hanging: AgentLifecycle = {
      async wrapModelCall(request, next) {
        wrapped.push(isSummaryCall(request.messages));
        return isSummaryCall(request.messages) ? new Promise<never>(() => {}) : next();
      },
    };
    const { model } = worker(3);
    const { agent } = agentOf(
      model,
      { maxMessages: 6 },
      { lifecycle: [hanging, { ...compaction({ maxMessages: 6, keep: 2 }), timeoutMs: 5 }] },
    );

    expect((await agent.run('Count.')).text).toBe('Done.');
    expect(wrapped).toEqual([false, false, false, true, false]);
  });

  test.each(['throw', 'block'] as const)(
    'and a hook that fails there with `%s` prevents the call',
    async (onFailure) => {
      const refusing: AgentLifecycle = {
        onFailure,
        wrapModelCall(request, next) {
          if (isSummaryCall(request.messages)) throw new TypeError('not allowed');
          return next();
        },
      };
      const { model, asked } = worker(3);
      const { agent, logger } = agentOf(model, { maxMessages: 6 }, compact(refusing));

      const outcome = await agent.run('Count.').catch((error: unknown) => error);

      expect(outcome).toMatchObject(onFailure === 'block' ? { code: 'ERR_RUN_REJECTED' } : { text: 'Done.' });
      expect((outcome as { history: unknown[] }).history).toHaveLength(onFailure === 'block' ? 7 : 8);
      expect(asked()).toEqual([]);
      expect(logger.lines.at(-1)).toMatch(/could not be summarised/);
    },
  );
});

describe('compaction: a failed summary', () => {
  test.each<[string, ScriptEntry]>([
    ['rejects', fails('no quota')],
    ['is empty', says(' \n')],
    ['is cut off', says('First, the user wanted', { finishReason: 'length' })],
    ['is withheld', says('First, the', { finishReason: 'content-filter' })],
    ['is an invalid response', responds({ content: [{ type: 'text' }] })],
  ])('that %s is logged, the messages stay, and the next turn tries again', async (_title, entry) => {
    const { model, sent } = worker(4, entry);
    const { agent, logger } = agentOf(model, { maxMessages: 6, keep: 2 });

    expect((await agent.run('Count.')).text).toBe('Done.');
    expect(sent()[3]).toEqual(['user: Count.', ...turn(1), ...turn(2), ...turn(3)]);
    expect(sent()[4]).toEqual(['user: Count.', `user: ${MARK}summary 2`, ...turn(4)]);
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: The .*conversation.* stays as it is\.$/)]);
  });

  test('a function that throws or returns no string has the same effect', async () => {
    for (const summarize of [
      () => {
        throw new TypeError('boom');
      },
      () => 1 as never,
    ]) {
      const { agent, logger } = agentOf(worker(3).model, { maxMessages: 4, summarize });
      expect((await agent.run('Count.')).history).toHaveLength(8);
      expect(logger.lines.length).toBeGreaterThan(0);
    }
  });

  test('a summary that is longer than the messages is logged and discarded', async () => {
    const { model } = worker(4);
    const noUsage: AgentOptions['model'] = {
      id: 'm',
      generate: async (request) => ({ ...(await model.generate(request)), usage: { ...NO_USAGE } }),
    };
    const { agent, logger } = agentOf(noUsage, { maxTokens: 10, keep: 2, summarize: () => 'and so on '.repeat(1_000) });

    expect((await agent.run('Count.')).history).toHaveLength(10);
    expect(logger.lines).toContain(
      'warn: The summary of the conversation is longer than the messages that it would replace, so the conversation stays as it is.',
    );
  });

  test('an abort cancels the summary and ends the run with RunAbortedError', async () => {
    const { model, asked } = worker(3, hangs());
    const { agent, logger } = agentOf(model, { maxMessages: 4, keep: 2 });
    const abort = new AbortController();

    const running = rejectionOf(agent.run('Count.', { signal: abort.signal }));
    await until(() => asked().length === 1);
    abort.abort('enough');

    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(asked()[0]?.signal?.aborted).toBe(true);
    expect(logger.lines).toEqual([]);
  });
});

describe('compaction: sessions', () => {
  test('the record keeps every message, and the model reads the summary in another process too', async () => {
    const store = new MemorySessionStore();
    const open = async (model: AgentOptions['model']) =>
      agentOf(model, { maxMessages: 6, keep: 2 }, { store }).agent.session({ id: 's' });
    const first = await open(worker(4).model);
    await first.run('Count.');
    await first.close();
    const { entries = [] } = (await store.load('s')) ?? {};
    const all = ['user: Count.', ...turn(1), ...turn(2), ...turn(3), ...turn(4), 'assistant: Done.'];
    expect(transcript(messagesOf(entries))).toEqual(all);
    const read = ['user: Count.', `user: ${MARK}summary 1`, ...turn(3), ...turn(4), 'assistant: Done.'];
    expect(transcript(modelMessagesOf(entries))).toEqual(read);

    const { model, sent } = worker(0);
    await (await open(model)).run('And now?');

    expect(sent()[0]).toEqual([`user: ${MARK}summary 1`, 'assistant: Done.', 'user: And now?']);
  });

  test('the usage of the last response of a session counts in the next run', async () => {
    const summaries: string[][] = [];
    const summarize = (messages: readonly Message[]) => {
      summaries.push([...transcript(messages)]);
      return 'short';
    };
    const model = scriptedModel([says('One.', { usage: { inputTokens: 90, outputTokens: 10 } }), 'Two.']);
    const session = await agentOf(model, { maxTokens: 100, keep: 1, summarize }).agent.session({ id: 's' });

    await session.run('x'.repeat(100));
    await session.run('And now?');

    expect(summaries).toEqual([[`user: ${'x'.repeat(100)}`, 'assistant: One.']]);
  });

  test('a hook that replaces messages before the compaction changes the summary, and not the record', async () => {
    const redact: AgentLifecycle = {
      priority: 50,
      beforeModel: (messages) =>
        messages.map((message) => (message.content === 'secret' ? { role: 'user', content: '***' } : message)),
    };
    const seen: string[][] = [];
    const summarize = (messages: readonly Message[]) => {
      seen.push([...transcript(messages)]);
      return 'short';
    };
    const model = scriptedModel(['One.', 'Two.', 'Three.', 'Four.']);
    const lifecycle = [redact, compaction({ maxMessages: 4, keep: 1, summarize })];
    const session = await new Agent({ model, lifecycle }).session();

    for (const input of ['secret', 'more', 'again', 'last']) await session.run(input);

    expect(seen[0]).toEqual(['user: ***', 'assistant: One.', 'user: more', 'assistant: Two.']);
    expect(transcript(model.requests[3]?.messages ?? [])).toEqual([
      ...[`user: ${MARK}short`, 'user: again', 'assistant: Three.', 'user: last'],
    ]);
    expect(transcript(session.messages).slice(0, 2)).toEqual(['user: secret', 'assistant: One.']);
    expect(session.messages).toHaveLength(8);
  });

  test('a resumed run is compacted after its tool results', async () => {
    const { model } = worker(2);
    const lifecycle = [compaction({ maxMessages: 4, keep: 2 }), approval()];
    const agent = new Agent({ model, tools: [echo], lifecycle });
    let result = await agent.run('Count.');
    while (result.status === 'suspended') {
      const messages = JSON.parse(JSON.stringify(result.history)) as Message[];
      result = await agent.run('', { messages, resume: { [result.pending[0]?.id ?? '']: 'approve' } });
    }
    expect(transcript(result.history)).toEqual([
      'user: Count.',
      `user: ${MARK}summary 1`,
      ...turn(2),
      'assistant: Done.',
    ]);
  });
});
