import { type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { aborted } from '../agent/settle.js';

/** A step that ends its attempt at a position: before the work of the step, or when it is done and not stored. */
export function endingAt(at: number, phase: 'before' | 'after'): MemoryStep {
  const inner = memoryStep();
  let count = 0;
  const step = (...[name, run, options]: Parameters<Step>): ReturnType<Step> => {
    count += 1;
    if (count < at) return inner(name, run, options);
    if (phase === 'before') return Promise.reject(new TypeError('lost'));
    return inner(name, () => run().then(() => Promise.reject(new TypeError('lost'))), options);
  };
  return Object.assign(step, { id: inner.id, journal: inner.journal });
}

/** A step in memory whose engine can cancel the execution. */
export interface CancellableStep {
  readonly step: MemoryStep;
  /** Rejects the open steps, and each later one. Work that is running goes on. */
  cancel(): void;
}

/** Makes a step of an engine that would end an execution for good with an error, and that can cancel it. */
export function cancellableStep(inner = memoryStep()): CancellableStep {
  const engine = new AbortController();
  const reason = new TypeError('cancelled');
  const cancelled = aborted(engine.signal);
  cancelled.catch(() => {});
  const step = (...given: Parameters<Step>) =>
    engine.signal.aborted ? cancelled : Promise.race([cancelled, inner(...given)]);
  const traits = { refuse: () => new Promise<never>(() => {}), isCancelled: (error: unknown) => error === reason };
  return { step: Object.assign(step, inner, traits), cancel: () => engine.abort(reason) };
}
