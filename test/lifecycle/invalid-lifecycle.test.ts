import { Agent, type AgentLifecycle, defineLifecycle, type LifecycleInvalidError, type RunContext } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { readPage, rowsOf } from '../support/docs/doc-files.js';
import { add, addingModel } from '../support/lifecycle/sample-agent.js';

/** Returns the problems that the agent reports for a lifecycle; an empty array if the lifecycle is valid. */
function problemsOf(lifecycle: unknown): readonly string[] {
  try {
    new Agent({ model: scriptedModel([]), lifecycle: [lifecycle as AgentLifecycle] });
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_INVALID' });
    return (error as LifecycleInvalidError).problems;
  }
}

describe('an invalid lifecycle is refused when the agent is made', () => {
  const noop = () => {};

  it.each([
    [
      'an unknown key',
      { validate: noop },
      [expect.stringMatching(/^unknown member `validate`; known are onInit, .*, tools$/)],
    ],
    ['a misspelt hook', { beforeModl: noop }, ['unknown member `beforeModl`; did you mean `beforeModel`?']],
    ['a hook in snake case', { after_agent: noop }, ['unknown member `after_agent`; did you mean `afterAgent`?']],
    [
      'a hook with wrong upper and lower case',
      { wrapToolcall: noop },
      ['unknown member `wrapToolcall`; did you mean `wrapToolCall`?'],
    ],
    ['a misspelt setting', { priorty: 1 }, ['unknown member `priorty`; did you mean `priority`?']],
    ['a hook that is a string', { beforeModel: 'x' }, ['`beforeModel` must be a function, got "x"']],
    ['a hook that is null', { onError: null }, ['`onError` must be a function, got null']],
    ['a priority above 100', { priority: 101 }, ['`priority` must be a number from 0 to 100, got 101']],
    ['a priority below 0', { priority: -1 }, ['`priority` must be a number from 0 to 100, got -1']],
    ['a priority that is NaN', { priority: Number.NaN }, ['`priority` must be a number from 0 to 100, got NaN']],
    ['a priority that is a string', { priority: '50' }, ['`priority` must be a number from 0 to 100, got "50"']],
    [
      'an unknown onFailure',
      { onFailure: 'ignore' },
      ["`onFailure` must be 'throw', 'continue' or 'block', got \"ignore\""],
    ],
    ['a time limit of 0', { timeoutMs: 0 }, ['`timeoutMs` must be milliseconds from 1 to 2147483647, got 0']],
    [
      'an infinite time limit',
      { timeoutMs: Number.POSITIVE_INFINITY },
      ['`timeoutMs` must be milliseconds from 1 to 2147483647, got Infinity'],
    ],
    [
      'a time limit beyond the range of timers',
      { timeoutMs: 2 ** 31 },
      ['`timeoutMs` must be milliseconds from 1 to 2147483647, got 2147483648'],
    ],
    ['an empty name', { name: '' }, ['`name` must be a non-empty string, got ""']],
    [
      'a holdStream that is a string',
      { holdStream: 'yes' },
      ['`holdStream` must be a boolean or a function, got "yes"'],
    ],
    ['tools that are a string', { tools: 'add' }, ['`tools` must be an array of tools or a live tool set, got "add"']],
  ])('%s', (_what, lifecycle, problems) => {
    expect(problemsOf(lifecycle)).toEqual(problems);
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['a string', 'audit'],
    ['an array of lifecycles', [{ beforeModel: noop }]],
    ['a promise of a lifecycle', Promise.resolve({ beforeModel: noop })],
  ])('refuses %s', (_what, value) => {
    expect(problemsOf(value)).toEqual([expect.stringMatching(/^it must be an object, got /)]);
  });

  it.each([
    ['a class instead of its instance', class Audit {}],
    ['a function that returns a lifecycle', () => ({ beforeModel: noop })],
  ])('refuses %s, and tells how to get the lifecycle', (_what, value) => {
    expect(problemsOf(value)).toEqual([
      'it must be an object, got a function; pass an instance of the class, or call the function first',
    ]);
  });

  it('the error lists all problems, with the name of the lifecycle', () => {
    const bad = { name: 'guard', priority: 500, beforeModel: 1, aftermodel: noop } as unknown as AgentLifecycle;
    const make = () => new Agent({ model: scriptedModel([]), lifecycle: [{}, bad] });

    expect(make).toThrow(
      'Lifecycle "guard" is not valid: unknown member `aftermodel`; did you mean `afterModel`?; ' +
        '`beforeModel` must be a function, got 1; `priority` must be a number from 0 to 100, got 500',
    );
  });

  it('an invalid lifecycle passed to `use` does not change the agent', async () => {
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [{ name: 'good' }] });

    expect(() => agent.use({ priority: 101 })).toThrow('priority');
    expect(agent.lifecycle).toEqual([{ name: 'good' }]);
    expect((await agent.run('Hello')).text).toBe('done');
  });

  it('a class may have other members, but not a misspelt hook as a method or field', () => {
    class Counter {
      readonly #secret = 1;
      count = this.#secret;
      beforeModel(): void {
        this.increase();
      }
      increase(): void {
        this.count += 1;
      }
    }
    class Method {
      beforeModell(): void {}
    }
    class Inherits extends Method {}
    class Field {
      readonly wrap_tool_call = () => {};
    }

    expect(problemsOf(new Counter())).toEqual([]);
    expect(problemsOf(new Method())).toEqual(['unknown member `beforeModell`; did you mean `beforeModel`?']);
    expect(problemsOf(new Inherits())).toHaveLength(1);
    expect(problemsOf(new Field())).toEqual(['unknown member `wrap_tool_call`; did you mean `wrapToolCall`?']);
  });

  it.each([
    ['beforeToolCall', 'wrapToolCall'],
    ['afterToolCall', 'wrapToolCall'],
    ['wrapTool', 'wrapToolCall'],
    ['onToolStart', 'wrapToolCall'],
    ['onToolEnd', 'wrapToolCall'],
    ['beforeModelCall', 'beforeModel'],
    ['onModelStart', 'beforeModel'],
    ['afterModelCall', 'afterModel'],
    ['onAgentStart', 'beforeAgent'],
    ['beforeRun', 'beforeAgent'],
    ['onStart', 'beforeAgent'],
    ['onAgentEnd', 'afterAgent'],
    ['afterRun', 'afterAgent'],
    ['onEnd', 'afterAgent'],
    ['beforeModels_', 'beforeModel'],
    ['onErrors', 'onError'],
  ])('the method %s of a class or a literal is refused, and the message names %s', (name, hook) => {
    const ofClass = new (class {
      [name]() {}
    })();
    const problem = `unknown member \`${name}\`; did you mean \`${hook}\`?`;

    expect(problemsOf(ofClass)).toEqual([problem]);
    expect(problemsOf({ [name]: noop })).toEqual([problem]);
  });

  it('a class may have private helpers, data, accessors and unrelated names', () => {
    class Own {
      onErrors = [];
      _wrapToolCall = noop;
      get beforeModels(): never {
        throw new TypeError('Nobody reads it.');
      }
      _onError(): void {}
      onToolNames(): void {}
    }

    expect(problemsOf(new Own())).toEqual([]);
  });
});

class Shouting implements AgentLifecycle {
  readonly priority = 60;
  private readonly mark: string;
  readonly seen: string[] = [];

  constructor(mark: string) {
    this.mark = mark;
  }

  beforeAgent(input: string): string {
    this.seen.push(input);
    return input + this.mark;
  }

  wrapToolCall: AgentLifecycle['wrapToolCall'] = async (call, next) => {
    const result = await next(call);
    this.seen.push(call.name);
    return result;
  };
}

class ShoutingMore extends Shouting {
  afterAgent(text: string, run: RunContext): string {
    this.seen.push(`turn ${run.turn}`);
    return text.toUpperCase();
  }
}

describe('S4-TC3: one agent accepts lifecycles of every kind', () => {
  it('class instances with inherited hooks and their own `this`', async () => {
    const shouting = new ShoutingMore('!');
    const model = addingModel();
    const { text } = await new Agent({ model, tools: [add], lifecycle: [shouting] }).run('Hello');

    expect(text).toBe('DONE');
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'Hello!' }]);
    expect(shouting.seen).toEqual(['Hello', 'add', 'turn 2']);
  });

  it('object literals, also frozen, without a prototype, or empty', async () => {
    const bare: AgentLifecycle = Object.assign(Object.create(null), { beforeAgent: (input: string) => `${input}?` });
    const frozen: AgentLifecycle = Object.freeze({ afterAgent: (text: string) => `${text}.` });
    const model = scriptedModel(['done']);
    const agent = new Agent({ model, lifecycle: [new Shouting('!'), {}, bare, frozen] });

    expect((await agent.run('Hello')).text).toBe('done.');
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'Hello!?' }]);
  });

  it('each has its own name, or the class name with a number', () => {
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [new Shouting('!'), {}, { name: 'own' }, new Shouting('?')],
    });

    expect(agent.status().lifecycles.map(({ name }) => name)).toEqual([
      'Shouting#1',
      'Shouting#4',
      'lifecycle#2',
      'own',
    ]);
  });

  it('`status()` lists the hooks of each lifecycle', () => {
    const agent = new Agent({
      model: scriptedModel([]),
      lifecycle: [new ShoutingMore('!'), { name: 'b', onFailure: 'block' }],
    });

    expect(agent.status().lifecycles).toEqual([
      ...[
        {
          name: 'ShoutingMore#1',
          priority: 60,
          onFailure: 'throw',
          hooks: ['beforeAgent', 'wrapToolCall', 'afterAgent'],
        },
      ],
      { name: 'b', priority: 50, onFailure: 'block', hooks: [] },
    ]);
  });
});

describe('defineLifecycle', () => {
  it('returns the same object, whose hooks can be called', () => {
    const literal = { beforeAgent: (input: string) => `${input}?` };

    expect(defineLifecycle(literal)).toBe(literal);
    expect(defineLifecycle(literal).beforeAgent('Why')).toBe('Why?');
  });

  it('accepts a class whose `onFailure` and actions have widened types', async () => {
    class Guard {
      onFailure = 'block';
      afterModel() {
        return { type: 'reject', reason: 'not this' };
      }
    }
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [defineLifecycle(new Guard())] });

    await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'not this' });
  });

  it('refuses the lifecycles that an agent refuses', () => {
    class Guard {
      onFailure = 'ignore';
    }

    expect(() => defineLifecycle(new Guard())).toThrow(
      "Lifecycle \"Guard#1\" is not valid: `onFailure` must be 'throw', 'continue' or 'block', got \"ignore\"",
    );
  });
});

/** The names of hooks in each row of docs/hooks-map.md, with the lifecycle hooks of the row. */
function rowsOfHooks(): { readonly own: readonly string[]; readonly foreign: readonly string[] }[] {
  const [first = '', second = ''] = readPage('docs/hooks-map.md').split('run at these events:');
  // `toolConfig` is not a hook.
  const namesIn = (cell = '') =>
    [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name).filter((name) => name !== 'toolConfig');
  const rows = rowsOf(first).map(([, own, ...others]) => ({ own: namesIn(own), foreign: others.flatMap(namesIn) }));
  const byShellHook = new Map(rows.flatMap(({ own, foreign }) => foreign.map((name) => [name, own] as const)));
  const others = rowsOf(second.split('\n\nThe hooks of')[0] ?? '').map(([shellHook, ...cells]) => ({
    own: byShellHook.get(namesIn(shellHook)[0] ?? '') ?? [],
    foreign: cells.flatMap(namesIn),
  }));
  return [...rows, ...others];
}

describe('a class with the name of a hook of another system is refused', () => {
  const rows = rowsOfHooks();
  const names = rows.flatMap(({ foreign }) => foreign);
  const own = new Set(rows.flatMap((row) => row.own));
  const classWith = (name: string) =>
    new (class Guard {
      [member: string]: unknown;
      constructor() {
        Object.defineProperty(Object.getPrototypeOf(this), name, { value: () => {}, configurable: true });
      }
    })();

  it('knows all columns of docs/hooks-map.md', () => {
    expect(names).toEqual(expect.arrayContaining(['beforeToolExecute', 'preToolUse', 'onLlmOutput', 'PreCompact']));
  });

  it.each(rows.flatMap((row) => row.foreign.map((name) => [name, row.own] as const)))(
    '`%s` is refused, and the message names %j',
    (name, hooks) => {
      if (own.has(name)) return;
      const problems = problemsOf(classWith(name));

      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(`unknown member \`${name}\``);
      if (hooks.length > 0) expect(hooks.some((hook) => problems[0]?.includes(hook))).toBe(true);
    },
  );
});
