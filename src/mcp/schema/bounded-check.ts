import type { Worker } from 'node:worker_threads';
import type { JsonSchema } from '../../internal/json.js';
import { createDeferred } from '../../internal/promise.js';
import { untilAborted } from '../../internal/stop.js';
import {
  compileJsonSchema,
  faultOfValue,
  issuesOf,
  lenientDraftOf,
  type SchemaDraft,
  type ValidatorError,
} from '../../tools/json-schema-check.js';
import type { StandardResult } from '../../tools/standard-schema.js';

export interface CheckJob {
  readonly schema: string;
  readonly draft: SchemaDraft;
  readonly value: string;
  /** True if the value is the schema of a tool. Then its references are checked too, and the check is not lenient. */
  readonly isSchema?: boolean;
  /** Ends the check, and the worker if the check is running. */
  readonly signal: AbortSignal | undefined;
}

/** The errors of the validator, or the reason why the check has no outcome. */
export type CheckOutcome =
  | {
      readonly errors: readonly ValidatorError[];
      /** With `isSchema`, the first `$ref` in the value whose target is missing. */
      readonly lost?: string | undefined;
    }
  | { readonly fault: { readonly name: string; readonly message: string } }
  | Problem;

interface Problem {
  readonly problem: string;
}

export interface CheckWorkerOptions {
  /** Time limit of one check in milliseconds. Waiting for other checks does not count. Default 2,000. */
  readonly checkMs?: number;
  /** Milliseconds after the last check until the worker ends. Default 5,000. */
  readonly idleMs?: number;
}

const START_MS = 20_000;
const MAX_HEAP_MB = 256;

const TOO_SLOW = { problem: 'It takes too long to be checked.' };
const TOO_LARGE = { problem: 'It takes too much memory to be checked.' };

/**
 * Runs checks in a worker thread, one after another. Starts the worker for the first check, and ends it after a pause.
 * A check that exceeds its time or memory limit ends the worker. The next check starts a new worker.
 */
export class CheckWorker {
  private worker: Worker | undefined = undefined;
  private ready: Promise<unknown> = Promise.resolve();
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private idle: NodeJS.Timeout | undefined = undefined;

  constructor(private readonly options: CheckWorkerOptions = {}) {}

  get isRunning(): boolean {
    return this.worker !== undefined;
  }

  /**
   * Resolves with the errors or with a problem, such as a limit that was exceeded. Resolves with undefined if the host
   * has no worker threads. Rejects with the reason of the abort signal.
   */
  check(job: CheckJob): Promise<CheckOutcome | undefined> {
    this.waiting += 1;
    const outcome = this.last
      .then(() => this.run(job))
      .finally(() => {
        this.waiting -= 1;
        if (this.waiting === 0) this.rest();
      });
    this.last = outcome.catch(() => {});
    // A check that waits for others settles at once when it is aborted.
    return untilAborted(job.signal, outcome);
  }

  private async run(job: CheckJob): Promise<CheckOutcome | undefined> {
    const { signal, ...message } = job;
    const { checkMs = 2_000 } = this.options;
    signal?.throwIfAborted();
    clearTimeout(this.idle);
    this.worker ??= await this.start();
    const { worker } = this;
    if (worker === undefined) return undefined;
    signal?.throwIfAborted();
    worker.ref();
    const outcome = createDeferred<CheckOutcome | undefined>();
    let isReady = false;
    const onError = (error: unknown) => outcome.resolve(isReady ? problemOf(error) : undefined);
    const late = () => outcome.resolve(TOO_SLOW);
    let timer = setTimeout(late, START_MS);
    worker.once('error', onError);
    let isDone = false;
    try {
      await untilAborted(signal, Promise.race([this.ready, outcome.promise]));
      isReady = true;
      clearTimeout(timer);
      timer = setTimeout(late, checkMs);
      worker.once('message', outcome.resolve);
      worker.postMessage(message);
      const settled = await untilAborted(signal, outcome.promise);
      isDone = settled !== undefined && !('problem' in settled);
      return settled;
    } finally {
      clearTimeout(timer);
      worker.off('message', outcome.resolve).off('error', onError);
      if (!isDone) this.end();
    }
  }

  private async start(): Promise<Worker | undefined> {
    const { workerSource } = await import('./worker-source.js');
    const worker = newWorker(await workerSource());
    this.ready = new Promise((resolve) => worker?.once('message', resolve));
    return worker?.on('error', () => {});
  }

  /** Called when no check is left. The idle worker does not keep the process running, and is ended after a pause. */
  private rest(): void {
    if (this.worker === undefined) return;
    this.worker.unref();
    const { idleMs = 5_000 } = this.options;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.end(), idleMs).unref();
  }

  private end(): void {
    void this.worker?.terminate();
    this.worker = undefined;
  }
}

export const sharedWorker = new CheckWorker();

/** Returns undefined if the platform has no threads, such as Cloudflare Workers, or if the host forbids them. */
function newWorker(source: string): Worker | undefined {
  try {
    // An `import` would fail on Cloudflare Workers.
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    return new Worker(source, {
      eval: true,
      name: 'keelson-schema-check',
      // The worker needs no secrets, and no loaders of the application.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
  } catch {
    return undefined;
  }
}

function problemOf(error: unknown): Problem {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return TOO_LARGE;
  return { problem: `It cannot be checked, because the worker of the check failed: ${message}` };
}

/** Checks a value against a schema. Rejects with the reason of the abort signal. */
export type BoundedCheck = (input: unknown, signal?: AbortSignal) => Promise<StandardResult<unknown>>;

/**
 * Returns a check for a schema of a server. It runs in a worker thread with limits of time and memory; exceeding a limit is
 * an issue. `format` is an annotation, as in draft 2020-12, and `nullable` allows null, as in OpenAPI. A pattern that is
 * invalid in JavaScript checks nothing. A boolean `exclusiveMinimum` or `exclusiveMaximum` has its meaning in draft 4.
 * Without worker threads, the check runs on the main thread: it counts its steps, and ignores patterns.
 */
export function boundedCheck(schema: JsonSchema, worker: CheckWorker = sharedWorker): BoundedCheck {
  return async (input, signal) => {
    const value = jsonOf(input);
    if (typeof value !== 'string') return { issues: [{ message: value.problem, path: [] }] };
    const draft = lenientDraftOf(schema.$schema);
    const outcome = await worker.check({ schema: JSON.stringify(schema), draft, value, signal });
    if (outcome === undefined) return compileJsonSchema(schema, { isLenient: true, ignoresPatterns: true })(input);
    if ('problem' in outcome) return { issues: [{ message: outcome.problem, path: [] }] };
    if ('fault' in outcome) return { issues: [{ message: faultOfValue(outcome.fault), path: [] }] };
    return outcome.errors.length === 0 ? { value: input } : { issues: issuesOf(outcome.errors) };
  };
}

export function prepareChecks(): void {
  boundedCheck({})(null).catch(() => {});
}

function jsonOf(value: unknown): string | { readonly problem: string } {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const isDeep = error instanceof RangeError;
    return { problem: isDeep ? 'It is nested too deeply to be checked.' : 'It holds a value that JSON cannot hold.' };
  }
}
