import type { JsonValue } from '../internal/json.js';
import { fullText } from '../internal/options/rules.js';
import { validateOption } from '../internal/options/validate.js';
import { ReplayMismatchError } from './error.js';
import type { Step, StepOptions } from './step.js';

/** A stored step of {@link memoryStep}. Plain JSON. */
export interface JournalEntry extends StepOptions {
  readonly name: string;
  readonly value: JsonValue;
}

/** Options of {@link memoryStep}. */
export interface MemoryStepOptions {
  /** Identifies the execution. Default: `memory`. */
  readonly id?: string | undefined;
  /** Receives each stored step. A journal of an earlier attempt is replayed. Default: an empty array. */
  readonly journal?: (JournalEntry | undefined)[] | undefined;
}

/**
 * Makes a step that stores results in an array, in the order in which the steps began. For tests of durable agents. Throws ReplayMismatchError if a replay asks for other steps
 * than the journal holds.
 *
 * @example
 * const journal: JournalEntry[] = [];
 * const first = durable({ step: memoryStep({ journal }) });
 * await new Agent(first.options({ model, tools })).run('Hello.');
 *
 * const replay = durable({ step: memoryStep({ journal }) });
 * await new Agent(replay.options({ model, tools })).run('Hello.');
 */
export function memoryStep({ id = 'memory', journal = [] }: MemoryStepOptions = {}): Step {
  validateOption('id', id, fullText);
  let begun = 0;
  const step = async (name: string, run: () => Promise<JsonValue>, options: StepOptions): Promise<JsonValue> => {
    const index = begun;
    begun += 1;
    const stored = journal[index];
    if (stored === undefined) {
      const value = await run();
      // A copy, as after a replay in another process.
      journal[index] = { name, key: options.key, kind: options.kind, value: JSON.parse(JSON.stringify(value)) };
    } else if (stored.name !== name) {
      throw new ReplayMismatchError(name, stored.name);
    }
    return structuredClone(journal[index]?.value as JsonValue);
  };
  return Object.assign(step, { id });
}
