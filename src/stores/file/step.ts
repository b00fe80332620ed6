import type { Awaitable } from '../../internal/promise.js';
import type { Job } from './keyed-queue.js';
import { encodeLine } from './line.js';

/**
 * A state that a step may read or change. If a step changes the state, it must also write a line to the log with the
 * change.
 */
export interface Draft<State> {
  readonly state: State;
  readonly now: number;
  /**
   * Writes a line to the log, and returns its byte position. A line with `durable: false` may be lost in a power
   * failure.
   */
  readonly write: (fields: readonly string[], durable: boolean) => number;
}

/**
 * An operation that reads, changes or removes one stored state. Steps of the same state that wait together run under
 * one lock.
 */
export interface VaultStep<State, Result> {
  /** If true, a missing state is created. Otherwise the step gets an empty state that is not stored. */
  readonly creates?: boolean;
  /**
   * If true, the step only reads. It may write lines that renew a lifetime. In a read-only directory, these lines are
   * dropped.
   */
  readonly reads?: boolean;
  /** If true, the state is removed without being read. This also removes a damaged state. */
  readonly removes?: boolean;
  /** Milliseconds to wait for the lock. Default: `lockTimeoutMs` of the store. */
  readonly timeoutMs?: number;
  /**
   * Returns true if the step needs the lines of the log before the bookmark, which are not read otherwise. Default:
   * false.
   */
  needsAll?(state: State): Awaitable<boolean>;
  run(draft: Draft<State>): Result;
}

/** Steps that wait for the same state, each with the promise of its caller. */
export type Jobs<State> = readonly Job<VaultStep<State, unknown>>[];

/** Settles the promise of a step. Called after the lines of its batch are stored. */
export type Outcome = () => void;

/** Collects the lines that the steps of one batch write. They are then appended to the log at once. */
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

/** Returns true if one of the steps needs the lines of the log before the bookmark. */
export async function needsAll<State>(jobs: Jobs<State>, state: State): Promise<boolean> {
  for (const { task } of jobs) if (await task.needsAll?.(state)) return true;
  return false;
}

/** Runs each step, and returns a function that settles its promise. If a step throws, only its own promise rejects. */
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
