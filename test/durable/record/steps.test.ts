import { Agent, LifecycleError, MemorySessionStore, RunAbortedError, toolResult } from 'keelson';
import { type BlobStore, durable, isFinalError, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test, vi } from 'vitest';
import { fakeClock, fastClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { aborted, gate, pause, rejectionOf, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { twice } from '../../support/durable/attempts.js';

/** A blob store whose next calls of a method fail. */
class FaultyBlobs implements BlobStore {
  readonly files = new Map<string, Uint8Array>();
  readonly failures = { put: 0, get: 0 };

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.fail('put');
    this.files.set(key, bytes);
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    this.fail('get');
    return this.files.get(key);
  }

  private fail(method: 'put' | 'get'): void {
    if (this.failures[method] === 0) return;
    this.failures[method] -= 1;
    throw new TypeError('no connection');
  }
}

const PICTURE = { content: [{ type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' }] } as const;

/** The attempts of one execution with a tool that returns bytes, and a tool that runs until it is aborted. */
function drawing(blobs: BlobStore) {
  const keys: string[] = [];
  const draw = toolOf('draw', (_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return toolResult(PICTURE);
  });
  let journal: MemoryStep['journal'] = [];
  const logger = keepingLogger();
  const attempt = async (
    script: readonly ScriptEntry[],
    slow = toolOf('slow', () => 'done'),
    refuse?: Step['refuse'],
  ) => {
    const inner = memoryStep({ journal });
    journal = inner.journal;
    const step = Object.assign((...given: Parameters<Step>) => inner(...given), inner, { refuse });
    const engine = durable({ step, blobs, maxInlineBytes: 2 });
    const options = { model: scriptedModel(script), tools: [draw, slow], clock: fastClock(), logger };
    return new Agent(engine.options(options)).run('Draw.');
  };
  return { keys, attempt, logger, names: () => journal.filter(Boolean).map((entry) => entry?.name) };
}

const BOTH = calls({ name: 'draw', id: 'one' }, { name: 'slow', id: 'two' });

describe('a blob store that fails', () => {
  test('ends the attempt of a step whose bytes it does not take, and the next attempt runs the step again', async () => {
    const blobs = new FaultyBlobs();
    const { keys, attempt, names } = drawing(blobs);
    blobs.failures.put = 1;
    const slow = toolOf('slow', (_input, { signal }) => aborted(signal));

    const error = await rejectionOf(attempt([BOTH], slow));
    await pause();

    expect(error).toBeInstanceOf(RunAbortedError);
    expect(error).toMatchObject({ cause: { code: 'ERR_BLOB_STORE', step: 'tool draw one', key: `${keys[0]}/1` } });
    expect(String((error as Error).cause)).toContain('no connection');
    expect(isFinalError(error)).toBe(false);
    // The abort of the other tool is not stored either.
    expect(names()).toEqual(['start', 'model 1']);
    expect((await attempt([says('Drawn.')])).text).toBe('Drawn.');
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('ends the attempt that cannot read stored bytes, and the next attempt restores them', async () => {
    const blobs = new FaultyBlobs();
    const { keys, attempt, names } = drawing(blobs);
    const { text } = await attempt([BOTH, says('Drawn.')]);
    blobs.failures.get = 1;

    const error = await rejectionOf(attempt([]));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: { code: 'ERR_BLOB_STORE' } });
    expect(isFinalError(error)).toBe(false);
    expect((await attempt([])).text).toBe(text);
    expect(keys).toHaveLength(1);
    expect(names()).toHaveLength(5);
  });

  test('is asked again in an engine that would end the execution with the error', async () => {
    const blobs = new FaultyBlobs();
    const { keys, attempt, logger } = drawing(blobs);
    const refuse = () => new Promise<never>(() => {});
    blobs.failures.put = 2;

    const { text } = await attempt([BOTH, says('Drawn.')], undefined, refuse);
    blobs.failures.get = 2;

    expect(text).toBe('Drawn.');
    expect((await attempt([], undefined, refuse)).text).toBe(text);
    expect(keys).toHaveLength(1);
    expect(logger.lines.filter((line) => line.includes('is tried again in'))).toEqual(
      ['put', 'put', 'get', 'get'].map((method) => expect.stringContaining(`\`blobs.${method}\` of "${keys[0]}/1"`)),
    );
  });

  test('rejects the load of a session, and the load runs again', async () => {
    const store = new MemorySessionStore();
    const content = [{ type: 'file', data: new Uint8Array([1, 2, 3]), mediaType: 'text/plain' }] as const;
    const session = await new Agent({ model: scriptedModel(['Seen.']), store }).session({ id: 's' });
    await session.run({ role: 'user', content });
    const blobs = new FaultyBlobs();
    blobs.failures.put = 1;
    const step = memoryStep();
    const open = (journal: MemoryStep['journal']) => {
      const engine = durable({
        step: journal === step.journal ? step : memoryStep({ journal }),
        blobs,
        maxInlineBytes: 2,
      });
      return new Agent(engine.options({ model: scriptedModel([]), store })).session({ id: 's' });
    };

    const error = await rejectionOf(open(step.journal));

    expect(error).toMatchObject({ cause: { code: 'ERR_BLOB_STORE', step: 'session load 1' } });
    expect(isFinalError(error)).toBe(false);
    expect(step.journal.filter(Boolean)).toEqual([]);
    expect((await open([])).messages).toHaveLength(2);
  });

  test('is not the cause when bytes are missing: the run waits for the store that has them', async () => {
    const blobs = new FaultyBlobs();
    const { attempt } = drawing(blobs);
    const { text } = await attempt([BOTH, says('Drawn.')]);
    const files = [...blobs.files];
    blobs.files.clear();

    const error = await rejectionOf(attempt([]));

    expect(error).toMatchObject({
      cause: { code: 'ERR_REPLAY_MISMATCH', cause: { cause: { code: 'ERR_STEP_DATA' } } },
    });
    expect(isFinalError(error)).toBe(false);
    for (const [key, bytes] of files) blobs.files.set(key, bytes);
    expect((await attempt([])).text).toBe(text);
  });
});

test('an attempt that the close of an agent has ended begins no further step', async () => {
  const step = memoryStep();
  const engine = durable({ step });
  const slow = toolOf('slow', (_input, { signal }) => aborted(signal));
  const options = { tools: [slow], logger: keepingLogger() };
  const agent = new Agent(engine.options({ ...options, model: scriptedModel([calls('slow')]) }));
  const running = rejectionOf(agent.run('Hi.'));
  await until(() => step.journal.length === 2);
  await agent.close();
  await running;
  const before = step.journal.length;

  const error = await rejectionOf(new Agent(engine.options({ ...options, model: scriptedModel([]) })).run('Hi.'));

  expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: { code: 'ERR_STEP_LOST' } });
  expect(isFinalError(error)).toBe(false);
  expect(step.journal).toHaveLength(before);
});

test('effects that are not JSON are an error of the step, and the engine gets no rejection', async () => {
  const adds = toolOf('adds', (_input, { run }) => {
    run.add({ role: 'user', content: [{ type: 'text', text: 'More.', extra: 1n } as never] });
    return 'added';
  });
  const { first, replay, names } = await twice(() => ({ script: [calls('adds'), says('ok')], tools: [adds] }));

  for (const { outcome } of [first, replay]) {
    expect(outcome).toBeInstanceOf(LifecycleError);
    expect(outcome).toMatchObject({ lifecycle: 'durable', point: 'wrapToolCall', cause: { code: expect.anything() } });
    expect(String(outcome)).toContain('The result of step "tool adds call_1" is not JSON');
  }
  expect(names).toEqual(['start', 'model 1', 'tool adds call_1']);
});

describe('a run that is aborted in a step', () => {
  /** Aborts a run in its model call. The engine stores the step when the gate opens. */
  async function abortedRun() {
    const clock = fakeClock();
    const inner = memoryStep();
    const storing = gate();
    const step = (...[name, run, info]: Parameters<Step>): ReturnType<Step> => {
      const late = () => run().then((value) => storing.pass().then(() => value));
      return inner(name, name === 'model 1' ? late : run, info);
    };
    const stop = new AbortController();
    const model = scriptedModel(({ signal }) => {
      stop.abort('Enough.');
      return aborted(signal as AbortSignal);
    });
    const agent = new Agent(durable({ step: Object.assign(step, inner) }).options({ model, clock }));
    const ended = vi.fn();
    const error = rejectionOf(agent.run('Hello.', { signal: stop.signal }).finally(ended));
    await until(() => storing.arrived === 1);
    await pause();
    return { clock, error, ended, storing, names: () => inner.journal.filter(Boolean).map((entry) => entry?.name) };
  }

  test('ends once the engine has stored the step', async () => {
    const { error, ended, storing, names } = await abortedRun();

    expect(ended).not.toHaveBeenCalled();
    storing.open();

    expect(await error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'Enough.' });
    expect(names()).toEqual(['start', 'model 1']);
  });

  test('ends after five seconds if the engine does not store the step', async () => {
    const { clock, error, ended, names } = await abortedRun();

    clock.advance(4_999);
    await pause();
    expect(ended).not.toHaveBeenCalled();
    clock.advance(1);

    expect(await error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'Enough.' });
    expect(names()).toEqual(['start']);
  });
});
