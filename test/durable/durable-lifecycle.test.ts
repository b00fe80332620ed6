import {
  Agent,
  type AgentLifecycle,
  HookAction,
  LifecycleError,
  ModelError,
  RunAbortedError,
  type RunResult,
  RunTimeoutError,
  toolResult,
} from 'keelson';
import { durable, isFinalError, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { approval, limits } from 'keelson/lifecycles';
import { calls, fails, hangs, type ScriptEntry, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { aborted, pause, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { Execution, outcomeOf, twice } from '../support/durable/attempts.js';
import { approveAll, arrayLog, errandAgent, runErrand, type WorkLog } from '../support/durable/errand.js';

class Crash extends Error {}

/** A memory step that stops at the given step: before its work, or after its work and before it is stored. */
function crashingStep(at: number, phase: 'before' | 'after'): MemoryStep {
  const inner = memoryStep({ id: 'errand' });
  let count = 0;
  const step = (...[name, run, options]: Parameters<Step>): ReturnType<Step> => {
    count += 1;
    if (count < at) return inner(name, run, options);
    if (count > at) return new Promise(() => {});
    if (phase === 'before') return Promise.reject(new Crash());
    return inner(name, () => run().then(() => Promise.reject(new Crash())), options);
  };
  return Object.assign(step, { id: inner.id, journal: inner.journal });
}

function errand(step: Step, log: WorkLog): Promise<RunResult> {
  const engine = durable({ step });
  return runErrand(errandAgent({ engine, log, clock: fastClock() }), approveAll);
}

describe('durable: an errand in memory', () => {
  test('a replay gives the same result and runs nothing again', async () => {
    const log = arrayLog();
    const step = memoryStep();
    const first = await errand(step, log);
    const works = log.all().length;
    const steps = JSON.stringify(step.journal);

    const again = memoryStep({ journal: JSON.parse(steps) });
    const replay = await errand(again, log);

    expect(first.text).toBe('Done: search=a, search=b, search=c, found look=far, note=one, pay=7, note=two.');
    expect(outcomeOf(replay)).toEqual(outcomeOf(first));
    expect(log.all()).toHaveLength(works);
    expect(JSON.stringify(again.journal)).toBe(steps);
  });

  test('a durable run has the result of a run without an engine', async () => {
    const log = arrayLog();
    const { text, history, usage, decisions } = await errand(memoryStep(), log);
    const plainEngine = { ...durable({ step: memoryStep() }), options: <T>(options: T) => options };
    const agent = errandAgent({
      engine: plainEngine as never,
      log: { ...arrayLog(), all: () => [] },
      clock: fastClock(),
    });

    const plain = await runErrand(agent, approveAll);

    expect({ text, history, usage, decisions }).toEqual({
      text: plain.text,
      history: plain.history,
      usage: plain.usage,
      decisions: plain.decisions,
    });
  });

  test.each(['before', 'after'] as const)(
    'a crash %s any step: the next attempt finishes, and only unstored work runs again, with the same key',
    async (phase) => {
      const whole = memoryStep({ id: 'errand' });
      const undisturbed = await errand(whole, arrayLog());
      for (let at = 1; at <= whole.journal.length; at += 1) {
        const log = arrayLog();
        const crashing = crashingStep(at, phase);
        expect(await rejectionOf(errand(crashing, log))).toBeInstanceOf(RunAbortedError);
        await pause();
        const { journal } = crashing;
        const stored = journal.flatMap((entry) => (entry ? [entry.key] : []));
        const before = log.all().length;

        const result = await errand(memoryStep({ id: 'errand', journal }), log);

        expect(outcomeOf(result), `crash ${phase} step ${at}`).toEqual(outcomeOf(undisturbed));
        const tools = log.all().filter(({ key }) => key !== undefined);
        const again = tools.filter(({ key }, index) => tools.findIndex((work) => work.key === key) < index);
        expect(
          again.filter(({ key = '' }) => stored.includes(key)),
          `crash ${phase} step ${at}`,
        ).toEqual([]);
        expect(
          log
            .all()
            .slice(before)
            .some(({ key = '' }) => stored.includes(key)),
        ).toBe(false);
        for (const { what, key } of tools) {
          expect(tools.filter((work) => work.what === what).every((work) => work.key === key)).toBe(true);
        }
      }
    },
  );
});

describe('durable: what keeps its meaning', () => {
  test('the error of a tool is stored as its result', async () => {
    let ran = 0;
    const throws = toolOf('throws', () => {
      ran += 1;
      throw new TypeError('no such file');
    });
    const { first, replay } = await twice(() => ({ script: [calls('throws'), says('ok')], tools: [throws] }));

    expect(JSON.stringify(first.outcome.history)).toContain('no such file');
    expect(replay.outcome).toEqual(first.outcome);
    expect([ran, replay.requests]).toEqual([1, 0]);
  });

  test('a ModelError that is not retryable ends the run, and is restored on a replay', async () => {
    const bad = Object.assign(new TypeError('bad key'), { status: 401 });
    const { first, replay } = await twice(() => ({ script: [fails(bad)] }));

    for (const { outcome } of [first, replay]) {
      expect(outcome).toBeInstanceOf(ModelError);
      expect(outcome).toMatchObject({ kind: 'auth', status: 401, retryable: false, model: 'scripted' });
      expect(outcome.message).toBe('Model "scripted" failed: bad key');
    }
    expect(first.outcome.cause).toBe(bad);
    expect([first.requests, replay.requests]).toEqual([1, 0]);
  });

  test('a replay repeats the effects of a tool on the run: added messages, an end, the usage of a nested agent', async () => {
    const adds = toolOf('adds', (_input, { run }) => {
      run.add({ role: 'user', content: 'And another thing.' });
      return 'added';
    });
    const ends = toolOf('ends', (_input, { run }) => run.end(HookAction.respond('That is all.')));
    const { first, replay } = await twice(() => {
      const model = scriptedModel(says('Found.', { usage: { inputTokens: 300, outputTokens: 50 } }));
      const nested = new Agent({ name: 'nested', model }).asTool({ description: 'Finds.' });
      return {
        script: [calls({ name: 'nested', input: { prompt: 'Find.' } }), calls('adds'), calls('ends')],
        tools: [adds, ends, nested],
      };
    });

    expect(first.outcome.text).toBe('That is all.');
    expect(JSON.stringify(first.outcome.history)).toContain('And another thing.');
    expect(first.outcome.usage).toMatchObject({ inputTokens: 330, outputTokens: 65 });
    expect(replay.outcome).toEqual(first.outcome);
  });

  test('the wraps of other lifecycles run once, and a suspension is stored with its reason', async () => {
    let asked = 0;
    const ask = () => {
      asked += 1;
      return undefined;
    };
    const pay = toolOf('pay', () => 'paid');
    const { first, replay } = await twice(
      () => ({ script: [calls('pay')], tools: [pay] }),
      () => [approval({ tools: ['pay'], ask })],
    );

    expect(first.outcome.status).toBe('suspended');
    expect(replay.outcome).toEqual(first.outcome);
    expect(asked).toBe(1);
  });

  test('an error of an inner wrap is a LifecycleError with its name, also on a replay', async () => {
    const broken: AgentLifecycle = {
      name: 'broken',
      wrapModelCall() {
        throw new TypeError('oh');
      },
    };
    const { first, replay } = await twice(
      () => ({ script: [says('x')] }),
      () => [broken],
    );

    for (const { outcome } of [first, replay]) {
      expect(outcome).toBeInstanceOf(LifecycleError);
      expect(outcome).toMatchObject({ lifecycle: 'broken', point: 'wrapModelCall' });
    }
  });

  test('bytes of a tool result are restored as bytes', async () => {
    const picture = toolOf('picture', () =>
      toolResult({ content: [{ type: 'image', image: new Uint8Array([1, 2, 250]), mediaType: 'image/png' }] }),
    );
    const seen: unknown[] = [];
    const answer: ScriptEntry = ({ messages }) => {
      seen.push(messages.at(-1));
      return 'ok';
    };
    await twice(() => ({ script: [calls('picture'), answer], tools: [picture] }));

    expect(seen).toMatchObject([{ content: [{ content: [{ image: new Uint8Array([1, 2, 250]) }] }] }]);
  });

  test('an abort during a step is stored: the replay is aborted at the same step', async () => {
    const execution = new Execution();
    const stop = new AbortController();
    const slow = toolOf('slow', (_input, { signal }) => {
      stop.abort(new TypeError('enough'));
      return Promise.reject(signal.reason);
    });
    const attempt = (signal?: AbortSignal) => {
      const model = scriptedModel([calls('slow'), says('ok')]);
      return rejectionOf(
        new Agent(execution.options({ model, tools: [slow] })).run('Hi.', { ...(signal && { signal }) }),
      );
    };

    const first = await attempt(stop.signal);
    await pause();
    const replay = await attempt();

    for (const error of [first, replay]) {
      expect(error).toBeInstanceOf(RunAbortedError);
      expect(error).toMatchObject({ message: 'The run was aborted: enough' });
    }
  });

  test('a time-out of the run is stored with its class', async () => {
    const execution = new Execution();
    const attempt = async (timeouts: { runMs?: number }) => {
      const error = await rejectionOf(
        new Agent(execution.options({ model: scriptedModel(hangs()) })).run('Hi.', { timeouts }),
      );
      await pause();
      return error;
    };

    expect(await attempt({ runMs: 20 })).toBeInstanceOf(RunTimeoutError);
    expect(await attempt({})).toMatchObject({ code: 'ERR_RUN_TIMEOUT', timeoutMs: 20 });
  });

  test('a step that a close breaks off is not stored, so the next attempt runs it again', async () => {
    const execution = new Execution();
    const agentOf = (tool: ReturnType<typeof toolOf>, script: readonly ScriptEntry[]) =>
      new Agent(execution.options({ model: scriptedModel(script), tools: [tool], logger: keepingLogger() }));
    const slow = toolOf('slow', (_input, { signal }) => aborted(signal));
    const agent = agentOf(slow, [calls('slow')]);
    const running = rejectionOf(agent.run('Hi.'));
    await until(() => execution.step.journal.length === 2);

    await agent.close();

    expect(isFinalError(await running)).toBe(false);
    const fine = toolOf('slow', () => 'fine');
    expect((await agentOf(fine, [says('ok')]).run('Hi.')).text).toBe('ok');
  });

  test('streamed text reaches the consumer once, and not on a replay', async () => {
    const execution = new Execution();
    const streamed = async (script: readonly ScriptEntry[]) => {
      const stream = new Agent(execution.options({ model: scriptedModel(script) })).stream('Hi.');
      let text = '';
      for await (const event of stream) if (event.type === 'text-delta') text += event.text;
      return [text, (await stream.result).text];
    };

    expect(await streamed([streams(['He', 'llo'])])).toEqual(['Hello', 'Hello']);
    expect(await streamed([])).toEqual(['', 'Hello']);
  });

  test('the hooks of a lifecycle that `hooks` names run once; the hooks of others run again', async () => {
    const counts: Record<string, number> = {};
    const counting = (name: string): AgentLifecycle => ({
      name,
      beforeAgent: (input) => {
        counts[name] = (counts[name] ?? 0) + 1;
        return `${input} ${Math.random()}`;
      },
      beforeModel: (messages) => messages.slice(-1),
      afterAgent: (text) => `${text}!`,
    });
    const countPure = () => {
      counts.pure = (counts.pure ?? 0) + 1;
    };
    const { first, replay, names } = await twice(
      () => ({ script: [says('ok')] }),
      () => [counting('stored'), { ...counting('pure'), beforeAgent: countPure }],
      { hooks: ['stored'] },
    );

    expect(replay.outcome).toEqual(first.outcome);
    expect(first.outcome.text).toBe('ok!!');
    expect(counts).toEqual({ stored: 1, pure: 2 });
    expect(names).toEqual([
      ...['start', 'hook stored.beforeAgent 1', 'hook stored.beforeModel 1', 'model 1', 'hook stored.afterAgent 1'],
    ]);
  });

  test('the limits count stored calls too', async () => {
    const echo = toolOf('echo', () => 'x');
    const { first, replay } = await twice(
      () => ({ script: [calls('echo'), calls('echo'), calls('echo')], tools: [echo] }),
      () => [limits({ modelCalls: 2 })],
    );

    expect(first.outcome).toMatchObject({ by: 'limits' });
    expect(replay.outcome).toMatchObject({ by: 'limits', message: first.outcome.message });
  });

  test('ids and the time of a run are the same on a replay', async () => {
    const seen: unknown[] = [];
    const busy = () => fails(Object.assign(new TypeError('busy'), { status: 503 }));
    const watch: AgentLifecycle = {
      name: 'watch',
      beforeModel: (_messages, run) => void seen.push([run.id, run.clock.now()]),
      afterAgent: (_text, run) => void seen.push([run.id, run.clock.now()]),
    };
    await twice(
      () => ({ script: [busy(), says('ok')] }),
      () => [watch],
    );

    // The clock of the first attempt begins at 1,000, and the clock of the replay later.
    const times = [
      ['run_memory_1', 1_000],
      ['run_memory_1', 1_500],
    ];
    expect(seen).toEqual([...times, ...times]);
  });
});
