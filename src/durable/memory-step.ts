import type { JsonValue } from '../internal/json.js';
import { array, fullText } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { ReplayMismatchError } from './error.js';
import { defineStep, type Step, type StepFunction, type StepInfo } from './step.js';

/** The stored result of one step of {@link memoryStep}, as plain JSON. */
export interface JournalEntry extends StepInfo {
  readonly name: string;
  readonly value: JsonValue;
}

/** Options of {@link memoryStep}. */
export interface MemoryStepOptions {
  /** Identifies the execution. Default: `memory`. */
  readonly id?: string | undefined;
  /**
   * The `journal` of an earlier attempt. Its results are returned instead of running these steps again. Default: an
   * empty journal.
   */
  readonly journal?: readonly (JournalEntry | undefined)[] | undefined;
}

/** Steps whose results are stored in memory, for tests. */
export interface MemoryStep extends Step {
  /** The stored steps, in the order in which they began. A step that has not ended is an empty slot of the array. */
  readonly journal: readonly (JournalEntry | undefined)[];
}

/**
 * Creates steps whose results are stored in an array. Use it only in tests of durable agents, because the array does
 * not survive a crash.
 *
 * Throws ReplayMismatchError if a replay runs other steps than the journal holds, or fewer.
 *
 * @example
 * const first = memoryStep();
 * await new Agent(durable({ step: first }).options({ model, tools })).run('Hello.');
 *
 * const replay = memoryStep({ journal: first.journal });
 * await new Agent(durable({ step: replay }).options({ model, tools })).run('Hello.');
 */
export function memoryStep(options: MemoryStepOptions = {}): MemoryStep {
  validateOptions(options, rules);
  // JSON turns an empty slot into null.
  const journal = [...(options.journal ?? [])].map((entry) => entry ?? undefined);
  let begun = 0;
  const unread = () => journal.slice(begun).flatMap((entry) => entry?.name ?? []);
  const perform: StepFunction = async (name, run, { key, kind }) => {
    const index = begun;
    begun += 1;
    const stored = journal[index];
    if (stored === undefined) {
      const value = await run();
      // A copy, as if a replay in another process had read it.
      journal[index] = { name, key, kind, value: JSON.parse(JSON.stringify(value)) };
    } else if (stored.name !== name) {
      throw new ReplayMismatchError(name, stored.name);
    }
    return structuredClone(journal[index]?.value as JsonValue);
  };
  const step = defineStep(options.id ?? 'memory', perform, { unread });
  return Object.assign(step, { journal });
}

const rules = { id: fullText, journal: array } satisfies OptionTable<MemoryStepOptions>;
