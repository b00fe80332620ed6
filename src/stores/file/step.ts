import type { Awaitable } from '../../internal/promise.js';
import type { Job } from './keyed-queue.js';
import { encodeLine } from './line.js';

/** A state that a step may read. A step that changes the state must also write a line with the change. */
export interface Draft<State> {
  readonly state: State;
  readonly now: number;
  /** Returns the position of the line in the log. A line with `durable: false` may be lost in a power failure. */
  readonly write: (fields: readonly string[], durable: boolean) => number;
}

/** Reads or changes one state. Several steps run under one lock. */
export interface VaultStep<State, Result> {
  /** If true, creates a missing state. */
  readonly creates?: boolean;
  /** If true, the step only reads. Its lines renew lifetimes, and are dropped in a directory that is read-only. */
  readonly reads?: boolean;
  /** Returns true if the step needs the lines before the bookmark at which reading started. Default: false. */
  needsAll?(state: State): Awaitable<boolean>;
  run(draft: Draft<State>): Result;
}

/** A step, or the removal of the state, with the time that it waits for the lock. */
export interface Task<State> {
  readonly step: VaultStep<State, unknown> | 'remove';
  readonly timeoutMs: number;
}

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
export async function needsAll<State>(jobs: readonly Job<Task<State>>[], state: State): Promise<boolean> {
  for (const { task } of jobs) if (task.step !== 'remove' && (await task.step.needsAll?.(state))) return true;
  return false;
}

/** True if no job needs the state. */
export function isRemoval<State>(jobs: readonly Job<Task<State>>[]): boolean {
  return jobs.every(({ task }) => task.step === 'remove');
}

/** Runs every step. A step that throws does not affect the others. Their promises settle only in `settle`. */
export function runSteps<State>(jobs: readonly Job<Task<State>>[], draft: LogDraft<State>): Outcome[] {
  return jobs.map(({ task: { step }, resolve, reject }) => {
    try {
      const result = step === 'remove' ? undefined : step.run(draft);
      return () => resolve(result);
    } catch (error) {
      return () => reject(error);
    }
  });
}

export function settle(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) outcome();
}
