import { Agent, type AgentLifecycle, type AgentOptions, type Message } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { settled } from '../../support/lifecycle/manual-clock.js';
import { add, keepingLogger } from '../../support/lifecycle/sample-agent.js';

const asked: Message = { role: 'user', content: 'Hello' };
const said: Message = { role: 'assistant', content: [{ type: 'text', text: 'done' }] };
const calling = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id, name: 'add', input: { a: 1, b: 2 } }],
});
const answering = (id: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, name: 'add', content: '3' }],
});
const first = [calling('call_1'), answering('call_1')];
const second = [calling('call_2'), answering('call_2')];

/** Runs three turns. */
async function threeTurns(lifecycle: readonly AgentLifecycle[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel([calls('add', { a: 1, b: 2 }), calls('add', { a: 1, b: 2 }), 'done']);
  const agent = new Agent({ model, tools: [add], lifecycle, ...options });
  const result = await agent.run('Hello');
  return { result, requests: model.requests.map(({ messages }) => messages) };
}

describe('the return value of beforeModel', () => {
  it('S4-FR4.2: is requested before every model call, with the working messages', async () => {
    const seen: (readonly Message[])[] = [];
    await threeTurns([{ beforeModel: (messages) => void seen.push([...messages]) }]);

    expect(seen).toEqual([[asked], [asked, ...first], [asked, ...first, ...second]]);
  });

  it('S4-FR4.2: replaces the working messages for the remainder of the run', async () => {
    const older: Message = { role: 'user', content: 'old news' };
    const drop: AgentLifecycle = {
      beforeModel: (messages, run) => (run.turn === 1 ? messages.filter((it) => it !== older) : undefined),
    };
    const model = scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
    const agent = new Agent({ model, tools: [add], lifecycle: [drop] });
    const result = await agent.run('Hello', { messages: [older] });

    expect(model.requests.map(({ messages }) => messages)).toEqual([[asked], [asked, ...first]]);
    expect(result.history).toEqual([asked, ...first, said]);
  });

  it.each([undefined, 'Be brief.'])(
    'may be the same array, changed in place (instructions: %s)',
    async (instructions) => {
      const hint: Message = { role: 'user', content: 'hint' };
      const push: AgentLifecycle = {
        beforeModel(messages, run) {
          if (run.turn === 1) (messages as Message[]).push(hint);
          return messages;
        },
      };
      const { result, requests } = await threeTurns([push], { instructions });

      const system: Message[] = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
      expect(requests[0]).toEqual([...system, asked, hint]);
      expect(requests[2]).toEqual([...system, asked, hint, ...first, ...second]);
      expect(result.history).toEqual([asked, hint, ...first, ...second, said]);
    },
  );

  it.each([undefined, 'Be brief.'])('may replace one message in the array (instructions: %s)', async (instructions) => {
    const hidden: Message = { role: 'user', content: '[hidden]' };
    const redact: AgentLifecycle = {
      beforeModel(messages, run) {
        if (run.turn === 2) (messages as Message[])[0] = hidden;
      },
    };
    const { result, requests } = await threeTurns([redact], { instructions });

    expect(requests.map((messages) => messages.find(({ role }) => role === 'user'))).toEqual([asked, hidden, hidden]);
    expect(result.history).toEqual([hidden, ...first, ...second, said]);
  });

  it('a summary stays in place of its messages, and the result still has every message', async () => {
    const summary: Message = { role: 'user', content: 'They added once.' };
    const compact: AgentLifecycle = { beforeModel: (_, run) => (run.turn === 2 ? [summary] : undefined) };
    const { result, requests } = await threeTurns([compact]);

    expect(requests).toEqual([[asked], [summary], [summary, ...second]]);
    expect(result.history).toEqual([summary, ...second, said]);
    expect(result.messages).toEqual([asked, ...first, ...second, said]);
  });

  it('is passed to the next hook, whose return value is used', async () => {
    const note = (text: string): AgentLifecycle => ({
      beforeModel: (messages, run) => (run.turn === 1 ? [...messages, { role: 'system', content: text }] : undefined),
    });
    const { requests } = await threeTurns([note('a'), note('b')]);

    const notes: Message[] = [
      { role: 'system', content: 'a' },
      { role: 'system', content: 'b' },
    ];
    expect(requests[0]).toEqual([asked, ...notes]);
    expect(requests[2]).toEqual([asked, ...notes, ...first, ...second]);
  });

  it('is copied, so that a later change of the array has no effect', async () => {
    const mine: Message[] = [{ role: 'user', content: 'mine' }];
    const keep: AgentLifecycle = { beforeModel: (_, run) => (run.turn === 1 ? mine : void mine.push(asked)) };
    const { requests } = await threeTurns([keep]);

    expect(requests[1]).toEqual([{ role: 'user', content: 'mine' }, ...first]);
    expect(mine).toHaveLength(3);
  });

  it('does not include the instructions, which stay before the messages', async () => {
    const seen: string[] = [];
    const only: AgentLifecycle = {
      beforeModel: (messages) => {
        seen.push(...messages.map(({ role }) => role));
        return [{ role: 'user', content: 'anew' }];
      },
    };
    const model = scriptedModel(['done']);
    const { history } = await new Agent({ model, instructions: 'Be kind.', lifecycle: [only] }).run('Hello');

    expect(seen).toEqual(['user']);
    expect(model.requests[0]?.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'anew' },
    ]);
    expect(history).toEqual([{ role: 'user', content: 'anew' }, said]);
  });

  it('is `run.messages` for later hooks', async () => {
    const seen: unknown[] = [];
    const summary: Message = { role: 'user', content: 'In short.' };
    await threeTurns([
      { beforeModel: (_, run) => (run.turn === 1 ? [summary] : undefined) },
      {
        wrapModelCall: (request, next) => {
          seen.push([...request.run.messages]);
          return next();
        },
      },
    ]);

    expect(seen[0]).toEqual([summary]);
    expect(seen[1]).toEqual([summary, ...first]);
  });
});

describe('the request that wrapModelCall passes to `next`', () => {
  it('applies to that call only', async () => {
    const hint: Message = { role: 'system', content: 'Once only.' };
    const once: AgentLifecycle = {
      wrapModelCall: (request, next) =>
        request.run.turn === 2 ? next({ ...request, messages: [...request.messages, hint], tools: [] }) : next(),
    };
    const { result, requests } = await threeTurns([once]);

    expect(requests).toEqual([[asked], [asked, ...first, hint], [asked, ...first, ...second]]);
    expect(result.history).toEqual([asked, ...first, ...second, said]);
  });

  it('may differ for each call of `next`', async () => {
    const model = scriptedModel(['one', 'two']);
    const both: AgentLifecycle = {
      wrapModelCall: async (request, next) => {
        await next({ ...request, messages: [] });
        return next();
      },
    };
    await new Agent({ model, lifecycle: [both] }).run('Hello');

    expect(model.requests.map(({ messages }) => messages)).toEqual([[], [asked]]);
  });

  it('may send one call to another model', async () => {
    const strong = scriptedModel(['strong'], { id: 'strong' });
    const route: AgentLifecycle = { wrapModelCall: (request, next) => next({ ...request, model: strong }) };
    const weak = scriptedModel([]);

    expect((await new Agent({ model: weak, lifecycle: [route] }).run('Hello')).text).toBe('strong');
    expect([weak.requests.length, strong.requests.length]).toEqual([0, 1]);
  });
});

describe('a message that a hook adds after the last turn', () => {
  it('stays in the history and in the session unanswered', async () => {
    const more: Message = { role: 'user', content: 'more' };
    const logger = keepingLogger();
    const lifecycle: readonly AgentLifecycle[] = [{ afterModel: (_, run) => run.add(more) }];
    const session = await new Agent({ model: scriptedModel(['done']), maxTurns: 1, lifecycle, logger }).session();
    const { history } = await session.run('Hello');

    expect(history).toEqual([asked, said, more]);
    expect(session.messages).toEqual(history);
    expect(logger.lines).toEqual([expect.stringContaining('unanswered')]);
  });
});

/** Hooks that append a letter, and the arguments that they got. */
function appending() {
  const seen: string[] = [];
  const append = (letter: string) => (text: string) => {
    seen.push(text);
    return text + letter;
  };
  return { seen, append };
}

describe('S4-FR4.1: the return value of beforeAgent', () => {
  it('is the input of the next hook and the user message', async () => {
    const { seen, append } = appending();
    const model = scriptedModel(['done']);
    const result = await new Agent({
      model,
      lifecycle: [{ beforeAgent: append('a') }, { beforeAgent: append('b') }],
    }).run('>');

    expect(seen).toEqual(['>', '>a']);
    expect(result.messages[0]).toEqual({ role: 'user', content: '>ab' });
  });

  it('replaces the text of a message and keeps its images', async () => {
    const image = { type: 'image', image: 'https://example.com/a.png' } as const;
    const model = scriptedModel(['done']);
    const agent = new Agent({ model, lifecycle: [{ beforeAgent: (input) => input.toUpperCase() }] });
    await agent.run({ role: 'user', content: [{ type: 'text', text: 'see ' }, image, { type: 'text', text: 'this' }] });

    expect(model.requests[0]?.messages[0]?.content).toEqual([{ type: 'text', text: 'SEE THIS' }, image]);
  });
});

describe('S4-FR4.6: the return value of afterAgent', () => {
  it('is the input of the next hook and the text of the result', async () => {
    const { seen, append } = appending();
    const lifecycle = [{ afterAgent: append('a') }, { afterAgent: append('b') }];
    const result = await new Agent({ model: scriptedModel(['done']), lifecycle }).run('Hello');

    expect([result.text, result.output, seen]).toEqual(['doneab', 'doneab', ['done', 'donea']]);
    expect(result.history.at(-1)).toEqual(said);
  });
});

describe('S4-FR4.4: afterModel', () => {
  it('is called with the response and its tool calls', async () => {
    const seen: unknown[] = [];
    await threeTurns([
      { afterModel: ({ content, finishReason, usage }) => void seen.push(content, finishReason, usage) },
    ]);

    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    expect(seen.slice(0, 3)).toEqual([calling('call_1').content, 'tool-calls', usage]);
    expect(seen.slice(6)).toEqual([said.content, 'stop', usage]);
  });
});

describe('S4-FR1.4: a hook may return a value or a promise', () => {
  it('with the same run in both cases', async () => {
    const hooks = (wrap: <T>(value: T | Promise<T>) => T | Promise<T>): AgentLifecycle => ({
      beforeAgent: (input) => wrap(`${input}!`),
      beforeModel: (messages, run) => wrap(run.turn === 2 ? messages.slice(0, 1) : messages),
      beforeToolSelection: (tools) => wrap(tools.slice(0, 1)),
      wrapModelCall: (_, next) => wrap(next()),
      wrapToolCall: () => wrap({ content: '4' }),
      afterAgent: (text) => wrap(`${text}.`),
    });
    const sync = await threeTurns([hooks((value) => value)]);
    const later = await threeTurns([hooks((value) => settled().then(() => value))]);

    expect(later).toEqual(sync);
    expect(sync.result.text).toBe('done.');
  });
});
