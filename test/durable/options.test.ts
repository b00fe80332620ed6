import { Agent, type AgentLifecycle, type LifecycleLoader } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const model = () => scriptedModel(['ok', 'ok']);
const logger = keepingLogger();

describe('the options of durable', () => {
  test.each([
    [{}, 'step'],
    [{ step: async () => null }, 'step.id'],
    [{ step: memoryStep(), hooks: 'audit' }, 'hooks'],
    [{ step: memoryStep(), maxAttempts: 0 }, 'maxAttempts'],
    [{ step: memoryStep(), blobs: {} }, 'blobs.put'],
    [{ step: memoryStep(), hooks: ['limits'] }, 'hooks'],
    [{ step: memoryStep(), retries: 3 }, 'retries'],
  ])('%o is refused and names the option', (options, option) => {
    expect(() => durable(options as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }));
  });

  test('an agent whose ids and time are not of the engine is refused, with the way to create it', async () => {
    const agent = new Agent({ model: model(), lifecycle: [durable({ step: memoryStep() })] });

    const error = await rejectionOf(agent.run('Hi.'));

    expect(error).toMatchObject({ code: 'ERR_DURABLE_SETUP' });
    expect(String(error)).toContain('new Agent(engine.options({ … }))');
  });

  test('a name in `hooks` that no lifecycle has is refused at the first run, with the known names', async () => {
    const engine = durable({ step: memoryStep(), hooks: ['audits'] });
    const agent = new Agent(engine.options({ model: model(), lifecycle: [{ name: 'audit' }] }));

    expect(String(await rejectionOf(agent.run('Hi.')))).toContain(
      '`hooks` names "audits", but the agent has no lifecycle of this name. Its lifecycles are: audit.',
    );
  });

  test.each(['first', 'last'])('a name in `hooks` may be of one agent of two that is created %s', async (order) => {
    const step = memoryStep();
    const engine = durable({ step, hooks: ['audit'] });
    const make = (lifecycle: AgentLifecycle) => new Agent(engine.options({ model: model(), lifecycle: [lifecycle] }));
    const audit: AgentLifecycle = { name: 'audit', beforeAgent: () => undefined };
    const lifecycles = order === 'first' ? [audit, { name: 'other' }] : [{ name: 'other' }, audit];
    const agents = lifecycles.map(make);

    for (const agent of agents) await agent.run('Hi.');

    expect(step.journal.map((entry) => entry?.name)).toContainEqual(
      expect.stringContaining('hook audit.beforeAgent 1'),
    );
  });

  test('a lifecycle of `outside` that a loader adds is refused, because its wrap hooks run inside the durable steps', async () => {
    const wraps: AgentLifecycle = { name: 'limits', wrapModelCall: (_request, next) => next() };
    const run = (lifecycle: AgentLifecycle, outside?: readonly string[]) => {
      const loader: LifecycleLoader = { name: 'l', load: (host) => void host.use(lifecycle) };
      const engine = durable({ step: memoryStep(), ...(outside && { outside }) });
      return new Agent(engine.options({ model: model(), loaders: [loader], logger })).run('Hi.');
    };

    const error = await rejectionOf(run(wraps));

    expect(error).toMatchObject({ code: 'ERR_DURABLE_SETUP' });
    expect(String(error)).toContain('`outside` names "limits", but a loader adds this lifecycle');
    expect((await run(wraps, [])).text).toBe('ok');
    expect((await run({ name: 'limits', beforeAgent: () => undefined })).text).toBe('ok');
  });

  test('an invalid clock is refused and names the option', () => {
    const engine = durable({ step: memoryStep() });

    expect(() => engine.options({ model: model(), clock: {} as never })).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'clock.now' }),
    );
  });

  test('a name in `hooks` may be the name of a lifecycle that a loader adds', async () => {
    let calls = 0;
    const audit: AgentLifecycle = {
      name: 'audit',
      beforeAgent() {
        calls += 1;
      },
    };
    const loader = (lifecycle: AgentLifecycle): LifecycleLoader => ({
      name: 'l',
      load: (host) => void host.use(lifecycle),
    });
    const step = memoryStep();
    const run = (journal: typeof step.journal, lifecycle: AgentLifecycle) => {
      const engine = durable({ step: journal === step.journal ? step : memoryStep({ journal }), hooks: ['audit'] });
      return new Agent(engine.options({ model: model(), loaders: [loader(lifecycle)], logger })).run('Hi.');
    };

    await run(step.journal, audit);
    await run([...step.journal], audit);

    expect(calls).toBe(1);
    const error = await rejectionOf(run([...step.journal], { name: 'other' }));
    expect(error).toMatchObject({ cause: { code: 'ERR_REPLAY_MISMATCH' } });
    expect(String(error)).toContain('`hooks` names "audit"');
  });

  test('the methods of a class instance keep their `this`', async () => {
    class Audit implements AgentLifecycle {
      readonly seen: string[] = [];
      readonly #mark = '!';
      beforeAgent(input: string) {
        this.seen.push(input);
        return input + this.#mark;
      }
    }
    const audit = new Audit();
    const engine = durable({ step: memoryStep(), hooks: ['Audit'] });

    const result = await new Agent(engine.options({ model: model(), lifecycle: [audit] })).run('Hi.');

    expect(audit.seen).toEqual(['Hi.']);
    expect(result.messages[0]).toMatchObject({ content: 'Hi.!' });
  });

  test('an invalid list of lifecycles is described by the agent', () => {
    const options = durable({ step: memoryStep() }).options({ model: model(), lifecycle: {} as never });

    expect(() => new Agent(options)).toThrow(expect.objectContaining({ option: 'lifecycle' }));
  });
});

describe('the tools of an agent with loaders', () => {
  test('a replay offers the stored tools of a turn: one that is missing now fails, and one that was added is unknown', async () => {
    const seen: unknown[] = [];
    const watch: AgentLifecycle = {
      name: 'watch',
      afterModel: (_response, run) => void seen.push(run.tools.map(({ name }) => name)),
    };
    const first = memoryStep();
    const run = (step: typeof first, tools: readonly string[]) => {
      const server: LifecycleLoader = {
        name: 'server',
        load: (host) => void host.use({ tools: tools.map((name) => toolOf(name, () => name)) }),
      };
      const script = step === first ? [calls({ name: 'a' }, { name: 'c' }), says('ok')] : [says('ok')];
      const options = { model: scriptedModel(script), lifecycle: [watch], loaders: [server], logger };
      return new Agent(durable({ step }).options(options)).run('Hi.');
    };

    await run(first, ['a', 'b']);
    const journal = first.journal.slice(0, 2);
    const { history } = await run(memoryStep({ journal }), ['b', 'c']);

    expect(first.journal.map((entry) => entry?.name)).toEqual([
      ...['start', 'model 1', 'tool a call_1', 'tool c call_2', 'model 2'],
    ]);
    expect(seen).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
      ['b', 'c'],
    ]);
    const results = history.flatMap((message) => (message.role === 'tool' ? message.content : []));
    expect(results.map(({ content }) => content)).toEqual([
      'The tool "a" is not available at the moment.',
      'There is no tool "c". Tools: a, b.',
    ]);
  });

  test('an agent with loaders has the steps of one without, and each agent keeps its clock', async () => {
    const step = memoryStep();
    const engine = durable({ step });
    const loader: LifecycleLoader = { name: 'l', load: (host) => void host.use({ tools: [toolOf('a', () => 'a')] }) };
    const delays: [agent: string, ms: number][] = [];
    const clockOf = (agent: string, now: number) => ({
      ...fakeClock(now),
      setTimeout: (_callback: () => void, ms: number) => void delays.push([agent, ms]),
    });
    const seen: number[] = [];
    const watch: AgentLifecycle = { name: 'watch', afterAgent: (_text, { clock }) => void seen.push(clock.now()) };
    const agentOf = (name: string, now: number, loaders: readonly LifecycleLoader[]) =>
      new Agent(
        engine.options({ name, model: model(), loaders, lifecycle: [watch], clock: clockOf(name, now), logger }),
      );
    const loads = agentOf('loads', 1_000, [loader]);
    const plain = agentOf('plain', 2_000, []);

    await loads.run('Hi.', { timeouts: { runMs: 5 } });
    await plain.run('Hi.', { timeouts: { runMs: 6 } });
    await loads.run('Hi.');

    expect(step.journal.map((entry) => entry?.name)).toEqual([
      ...['start', 'model 1', 'model 1, run 2', 'model 1, run 3'],
    ]);
    expect(delays.filter(([, ms]) => ms < 10)).toEqual([
      ['loads', 5],
      ['plain', 6],
    ]);
    expect(seen).toEqual([1_000, 2_000, 2_000]);
  });
});
