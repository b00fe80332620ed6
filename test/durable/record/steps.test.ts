import { Agent, LifecycleError, MemorySessionStore, RunAbortedError, toolResult } from 'keelson';
import { type BlobStore, durable, isFinalError, type MemoryStep, memoryStep } from 'keelson/durable';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { aborted, pause, rejectionOf } from '../../support/agent/settle.js';
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
  const attempt = async (script: readonly ScriptEntry[], slow = toolOf('slow', () => 'done')) => {
    const step = memoryStep({ journal });
    journal = step.journal;
    const engine = durable({ step, blobs, maxInlineBytes: 2 });
    const options = { model: scriptedModel(script), tools: [draw, slow], logger: keepingLogger() };
    return new Agent(engine.options(options)).run('Draw.');
  };
  return { keys, attempt, names: () => journal.filter(Boolean).map((entry) => entry?.name) };
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
