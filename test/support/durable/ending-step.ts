import { type MemoryStep, memoryStep, type Step } from 'keelson/durable';

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
