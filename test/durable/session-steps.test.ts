import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  HookAction,
  type JsonValue,
  MemorySessionStore,
  type Tool,
} from 'keelson';
import {
  defineStep,
  durable,
  isFinalError,
  type MemoryStep,
  memoryStep,
  type Step,
  type StepFunction,
} from 'keelson/durable';
import { StoreCorruptError } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { aborted, pause, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

const pay = toolOf('pay', () => 'paid');

function agentOf(step: Step, store: SessionStore, script: readonly ScriptEntry[]): Agent {
  return agentWith(pay, step, { store, model: scriptedModel(script) });
}

function agentWith(tool: Tool, step: Step, options: Pick<AgentOptions, 'model' | 'store'>): Agent {
  const lifecycle = [approval({ tools: ['pay'] })];
  return new Agent(durable({ step }).options({ ...options, tools: [tool], lifecycle, logger: keepingLogger() }));
}

/** A step that loses its execution when the step of a name has run, before it is stored. */
function losing(name: string, journal?: MemoryStep['journal']): MemoryStep {
  const inner = memoryStep({ ...(journal && { journal }) });
  const step = (...[called, run, options]: Parameters<Step>): ReturnType<Step> =>
    called === name
      ? inner(called, () => run().then(() => Promise.reject(new TypeError('lost'))), options)
      : inner(called, run, options);
  return Object.assign(step, { id: inner.id, journal: inner.journal });
}

/** Ends the attempt of a run that waits in a step. */
type EndAttempt = (attempt: Holding & { readonly agent: Agent }) => Promise<void>;

interface Holding {
  readonly step: MemoryStep;
  /** True while the step of the name waits before its work. */
  isHeld(): boolean;
  /** Leaves the step pending. */
  stall(): void;
  /** Rejects the step, as an engine that has ended the attempt. */
  lose(): void;
}

/** A step that stops before the work of the step of a name. */
function holding(name: string): Holding {
  const inner = memoryStep();
  const engine = new AbortController();
  let isHeld = false;
  const step = (...[called, run, options]: Parameters<Step>): ReturnType<Step> => {
    if (called !== name) return inner(called, run, options);
    isHeld = true;
    return aborted(engine.signal);
  };
  return {
    step: Object.assign(step, { id: inner.id, journal: inner.journal }),
    isHeld: () => isHeld,
    stall: () => {},
    lose: () => engine.abort(new TypeError('The engine has ended the attempt.')),
  };
}

/** Runs a session until its payment waits for an approval. */
async function suspendedSession(store: SessionStore) {
  const asked = await (await agentOf(memoryStep(), store, [calls('pay')]).session({ id: 's' })).run('Pay.');
  const resume = Object.fromEntries(asked.pending.map(({ id }) => [id, 'approve' as const]));
  return { resume };
}

const lengthOf = async (store: SessionStore) => (await store.load('s'))?.length;
const claimBy = (store: SessionStore) => store.claim('s', { token: 'other', run: 'other', ttlMs: 1_000 });

describe('sessions of durable runs', () => {
  test('a replay continues from the entries that the first attempt loaded, and adds none', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const first = await (await agentOf(step, store, [says('one')]).session({ id: 's' })).run('Hi.');

    const replayed = agentOf(memoryStep({ journal: step.journal }), store, []);
    const again = await (await replayed.session({ id: 's' })).run('Hi.');

    expect(again.history).toEqual(first.history);
    expect(await lengthOf(store)).toBe(2);
  });

  test('an append whose step was not stored adds nothing twice in the next attempt', async () => {
    const store = new MemorySessionStore();
    const lost = losing('session append 4');
    const failed = agentOf(lost, store, [says('one')]).session({ id: 's' });
    await rejectionOf(failed.then((session) => session.run('Hi.')));
    expect(await lengthOf(store)).toBe(2);

    const retried = agentOf(memoryStep({ journal: lost.journal }), store, []);
    const result = await (await retried.session({ id: 's' })).run('Hi.');

    expect(result.text).toBe('one');
    expect(await lengthOf(store)).toBe(2);
  });

  test.each<[how: string, end: EndAttempt]>([
    ['whose process died', async ({ stall }) => stall()],
    ['that the engine ended, with its process alive', async ({ lose }) => lose()],
    ['whose agent was closed', ({ agent }) => agent.close()],
  ])('an attempt that resumes calls keeps the claim of an attempt %s', async (_how, end) => {
    const store = new MemorySessionStore();
    const { resume } = await suspendedSession(store);
    const held = holding('tool pay call_1');
    const agent = agentOf(held.step, store, []);
    void agent.session({ id: 's' }).then((session) => session.run('', { resume }).catch(() => {}));
    await until(() => held.isHeld());

    await end({ ...held, agent });
    await pause(10);

    expect(await claimBy(store)).toMatchObject({ claimed: false });
    const next = agentOf(memoryStep({ journal: held.step.journal }), store, [says('Done.')]);
    const result = await (await next.session({ id: 's' })).run('', { resume });
    expect(result.text).toBe('Done.');
    expect(JSON.stringify(result.history)).toContain('paid');
  });

  test('a resumed run that is aborted ends its claim', async () => {
    const store = new MemorySessionStore();
    const { resume } = await suspendedSession(store);
    let begun = false;
    const hanging = toolOf('pay', (_input, { signal }) => {
      begun = true;
      return aborted(signal);
    });
    const session = await agentWith(hanging, memoryStep(), { store, model: scriptedModel([]) }).session({ id: 's' });
    const stop = new AbortController();
    const outcome = rejectionOf(session.run('', { resume, signal: stop.signal }));
    await until(() => begun);

    stop.abort();
    await outcome;

    expect(await claimBy(store)).toMatchObject({ claimed: true });
  });

  test.each(['load', 'claim', 'append'] as const)(
    'a %s that fails for a time is not stored, and the next attempt repeats it',
    async (method) => {
      const store = new MemorySessionStore();
      const down = vi.spyOn(store, method).mockRejectedValue(new TypeError('connection refused'));
      const step = memoryStep();
      const attempt = (from: MemoryStep, script: readonly ScriptEntry[]) =>
        agentOf(from, store, script)
          .session({ id: 's' })
          .then((session) => session.run('Hi.'));

      const error = await rejectionOf(attempt(step, [says('one')]));
      expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', cause: { message: 'connection refused' } });
      expect(isFinalError(error)).toBe(false);
      expect(step.journal.filter((entry) => entry?.name.startsWith(`session ${method}`))).toEqual([]);

      down.mockRestore();
      const next = memoryStep({ journal: step.journal });
      expect((await attempt(next, [says('one')])).text).toBe('one');
      expect(await lengthOf(store)).toBe(2);
    },
  );

  test('a load that fails for good is stored, and ends the next attempt as well', async () => {
    const store = new MemorySessionStore();
    const down = vi.spyOn(store, 'load').mockRejectedValue(new StoreCorruptError('log.jsonl', 'its end is missing'));
    const step = memoryStep();
    const open = (from: MemoryStep) => rejectionOf(agentOf(from, store, []).session({ id: 's' }));

    const errors = [await open(step), await open(memoryStep({ journal: step.journal }))];

    expect(errors.map((error) => isFinalError(error))).toEqual([true, true]);
    expect(errors[1]).toMatchObject({ code: 'ERR_SESSION_STORE', cause: { originalCode: 'ERR_STORE_CORRUPT' } });
    expect(down).toHaveBeenCalledTimes(1);
  });

  test('a version that ends a run early is refused, also by an engine that finds steps by their keys', async () => {
    const store = new MemorySessionStore();
    const stored = new Map<string, { readonly name: string; readonly value: JsonValue }>();
    const attempt = async (lifecycle: readonly AgentLifecycle[], script: readonly ScriptEntry[]) => {
      const asked = new Set<string>();
      const unread = () => [...stored].flatMap(([key, { name }]) => (asked.has(key) ? [] : [name]));
      const perform: StepFunction = async (name, run, { key }) => {
        asked.add(key);
        const value = stored.get(key)?.value ?? JSON.parse(JSON.stringify(await run()));
        stored.set(key, { name, value });
        return value;
      };
      const engine = durable({ step: defineStep('keyed', perform, { unread }) });
      const options = { model: scriptedModel(script), tools: [toolOf('look', () => 'seen')], store, lifecycle };
      return (await new Agent(engine.options(options)).session({ id: 's' })).run('Look.');
    };
    await attempt([], [calls('look'), says('Seen.')]);
    const early: AgentLifecycle = {
      name: 'early',
      afterModel: (response) => HookAction.modify({ ...response, content: [{ type: 'text', text: 'No need.' }] }),
    };

    expect(await rejectionOf(attempt([early], []))).toMatchObject({
      code: 'ERR_RUN_ABORTED',
      cause: { code: 'ERR_REPLAY_MISMATCH', step: 'the end of the run', stored: 'tool look call_1' },
    });
  });

  test('`sessions` wraps a store for one session', async () => {
    const store = new MemorySessionStore();
    const step = memoryStep();
    const engine = durable({ step });
    const agent = new Agent(engine.options({ model: scriptedModel(['ok']) }));

    await (await agent.session({ id: 's', store: engine.sessions(store) })).run('Hi.');

    expect(step.journal.map((entry) => entry?.name)).toEqual([
      ...['session load 1', 'session claim 2', 'start', 'session append 3', 'model 1', 'session append 4'],
    ]);
    expect(await lengthOf(store)).toBe(2);
  });
});
