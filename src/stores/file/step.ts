import type { Awaitable } from '../../internal/promise.js';
import type { Job } from './keyed-queue.js';
import { encodeLine } from './line.js';

/** A state that a step may read. If a step changes the state, it must also write a line with the change. */
export interface Draft<State> {
  readonly state: State;
  readonly now: number;
  /**
   * Writes a line, and returns its position in the log. A line with `durable: false` may be lost in a power failure.
   */
  readonly write: (fields: readonly string[], durable: boolean) => number;
}

/** Reads, changes or removes one state. Several steps run under one lock. */
export interface VaultStep<State, Result> {
  /** If true, creates a missing state. */
  readonly creates?: boolean;
  /** If true, the step only reads. Its lines only renew lifetimes, and are dropped if the directory is read-only. */
  readonly reads?: boolean;
  /** If true, the state is removed without being read. */
  readonly removes?: boolean;
  /** Milliseconds to wait for the lock. Default: `lockTimeoutMs` of the store. */
  readonly timeoutMs?: number;
  /** Returns true if the step needs the lines before the bookmark. Default: false. */
  needsAll?(state: State): Awaitable<boolean>;
  run(draft: Draft<State>): Result;
}

/** Waiting steps with their callers. */
export type Jobs<State> = readonly Job<VaultStep<State, unknown>>[];

/** Settles the promise of a step. */
export type Outcome = () => void;

/** Collects the lines that the steps of one batch write. */
export class LogDraft<State> implements Draft<State> {
  text = '';
  durable = false;

  constructor(
    readonly state: State,
    readonly now: number,
    private end = 0,
  ) {}

  readonly write = (fields: readonly string[], durable: boolean): number => {
    const line = encodeLine(fields);
    const at = this.end;
    this.text += line;
    this.end += Buffer.byteLength(line);
    this.durable ||= durable;
    return at;
  };
}

/** True if a job needs the lines before the bookmark. */
export async function needsAll<State>(jobs: Jobs<State>, state: State): Promise<boolean> {
  for (const { task } of jobs) if (await task.needsAll?.(state)) return true;
  return false;
}

/** Runs every step. A step that throws does not affect the others. */
export function runSteps<State>(jobs: Jobs<State>, draft: LogDraft<State>): Outcome[] {
  return jobs.map(({ task, resolve, reject }) => {
    try {
      const result = task.run(draft);
      return () => resolve(result);
    } catch (error) {
      return () => reject(error);
    }
  });
}
