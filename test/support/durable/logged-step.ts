import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { JsonValue } from 'keelson';
import type { Step } from 'keelson/durable';

/** A line in the log of the steps of one execution of an engine, which all attempts write. */
interface StepLine {
  /** `start`: the work of a step starts. `given`: the engine gave the stored value. */
  readonly event: 'start' | 'given';
  /** The position of the step in its attempt. */
  readonly position: number;
  readonly name: string;
  readonly key: string;
  /** Identifies the call of the work, and is part of the value that the engine stores. */
  readonly work: string;
}

/** A step that an engine has stored. */
export interface StoredStep {
  /** The name that the engine shows. */
  readonly name: string;
  readonly value: unknown;
}

/** Makes a step that writes to a file when the work of a step starts, and when the engine gives the stored value. */
export function loggedStep<S extends Step>(step: S, path: string): S {
  let begun = 0;
  const logged = async (...[name, run, info]: Parameters<Step>) => {
    const position = begun;
    begun += 1;
    const add = (event: StepLine['event'], work: string) =>
      appendFileSync(path, `${JSON.stringify({ event, position, name, key: info.key, work } satisfies StepLine)}\n`);
    const marked = async () => {
      const work = randomUUID();
      add('start', work);
      return { ...((await run()) as object), work } as JsonValue;
    };
    const value = await step(name, marked, info);
    add('given', workOf(value));
    return value;
  };
  return Object.assign(logged, step);
}

/**
 * Compares the lines of such a file with the steps that the engine has stored. Returns the faults: steps that ran again
 * after they were stored, values that are not the stored ones, changed keys, and steps that were not stored.
 */
export function stepFaults(lines: readonly string[], journal: readonly StoredStep[]): readonly string[] {
  const entries = lines.map((line): StepLine => JSON.parse(line));
  const positions = [...new Set([...entries.map(({ position }) => position), ...journal.keys()])];
  return positions.flatMap((position) => {
    const of = entries.filter((entry) => entry.position === position);
    return faultsAt(of, journal[position]).map((fault) => `step ${position}, "${of[0]?.name}", ${fault}`);
  });
}

function faultsAt(lines: readonly StepLine[], stored: StoredStep | undefined): readonly string[] {
  const [first] = lines;
  if (stored === undefined || first === undefined) return [stored === undefined ? 'was not stored' : 'did not run'];
  const work = workOf(stored.value);
  const given = lines.filter(({ event }) => event === 'given');
  const faults = {
    'ran again after it was stored': lines.findLast(({ event }) => event === 'start')?.work !== work,
    'was not given': given.length === 0,
    'was given another value than the stored one': given.some((line) => line.work !== work),
    'changed its key': lines.some(({ key }) => key !== first.key),
    [`has the name "${stored.name}" in the engine`]: !stored.name.startsWith(first.name),
  };
  return Object.keys(faults).filter((fault) => faults[fault as keyof typeof faults]);
}

function workOf(value: unknown): string {
  return String((value as { readonly work?: unknown } | undefined)?.work);
}
