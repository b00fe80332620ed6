import { createHash, randomBytes } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { KeelsonError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { mapConcurrent } from '../../internal/map-concurrent.js';
import { required, text } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';
import { hasCode } from '../../process/files/error-code.js';
import { type FolderLock, lockFolder } from '../../process/files/folder-lock.js';
import { lockFailure, StoreCorruptError, StoreFailedError } from '../store-error.js';
import { LogCache } from './cache.js';
import { type Job, KeyedQueue } from './keyed-queue.js';
import { encodeLine } from './line.js';
import { LogFile, type LogForm } from './log.js';
import { FolderSweep } from './sweep.js';

/** The latest modification time that every file system can store. */
const LAST_TIME_MS = 2 ** 31 * 1000 - 1000;

/** Describes the states of a vault: their form in a log, and when they expire. */
export interface VaultForm<State> extends LogForm<State> {
  /** Removes expired values from the state. Returns true if nothing is left. */
  isEmpty(state: State, now: number): boolean;
  /** Returns the time at which the whole state expires. */
  endOf(state: State): number;
}

/** Options of a FileVault. */
export interface VaultOptions<State> {
  readonly folder: string;
  readonly form: VaultForm<State>;
  readonly clock: Clock;
  readonly lockTimeoutMs: number;
  /** Called after a damaged log was moved to `backup` and its state cleared. Without this callback, the call fails. */
  readonly onDamage?: (error: StoreCorruptError, backup: string) => void;
}

/** A state that a step may read. A step that changes the state must also write a line with the change. */
interface Draft<State> {
  readonly state: State;
  readonly now: number;
  /** A line with `durable: false` may be lost in a power failure. */
  readonly write: (fields: readonly string[], durable: boolean) => void;
}

/** Reads or changes one state. Several steps run under one lock. */
export interface VaultStep<State, Result> {
  /** If true, creates a missing state. */
  readonly creates?: boolean;
  /** If true, the step only reads. Its lines renew lifetimes, and are dropped in a directory that is read-only. */
  readonly reads?: boolean;
  run(draft: Draft<State>): Result;
}

interface Task<State> {
  readonly step: VaultStep<State, unknown> | 'remove';
  readonly timeoutMs: number;
}

/** A directory with one subdirectory for each id, which holds the log of a state. Several processes may use it at once. */
export class FileVault<State> {
  private readonly folder: string;
  private readonly prefix: string;
  private readonly lanes: KeyedQueue<Task<State>>;
  private readonly cache: LogCache<State> = new LogCache();
  private readonly sweep: FolderSweep;
  private isTidying = false;

  constructor(private readonly options: VaultOptions<State>) {
    this.folder = resolve(options.folder);
    this.prefix = `${options.form.kind}-`;
    this.sweep = new FolderSweep(this.folder, this.prefix);
    this.lanes = new KeyedQueue(
      (name, jobs) => this.work(name, jobs),
      ({ step }) => step === 'remove',
    );
  }

  /** Runs a step on the state of an id. The lines of the step are in the log when the promise resolves. */
  async run<Result>(id: string, step: VaultStep<State, Result>): Promise<Result> {
    const result = await this.push(this.nameOf(id), step);
    await this.tidy();
    return result as Result;
  }

  /** Runs a step on every stored state. With `skipsDamaged`, leaves out states whose log is damaged. */
  async runAll<Result>(step: VaultStep<State, Result>, { skipsDamaged = false } = {}): Promise<Result[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return [];
      throw new StoreFailedError(this.folder, error);
    });
    const ours = names.filter((name) => name.startsWith(this.prefix));
    const results = await mapConcurrent(ours, async (name) => {
      try {
        return [(await this.push(name, step)) as Result];
      } catch (error) {
        if (skipsDamaged && error instanceof StoreCorruptError) return [];
        throw error;
      }
    });
    return results.flat(1) as Result[];
  }

  /** Removes the state of an id without reading it. */
  async remove(id: string): Promise<void> {
    await this.push(this.nameOf(id), 'remove');
  }

  /** Returns a different directory name for each id, also on a file system that ignores case. */
  private nameOf(id: string): string {
    validateOption('id', id, required(text));
    // JSON escapes each lone surrogate differently. In UTF-8, all lone surrogates would be equal.
    return this.prefix + createHash('sha256').update(JSON.stringify(id)).digest('hex');
  }

  private async push(name: string, step: Task<State>['step'], timeoutMs?: number): Promise<unknown> {
    try {
      return await this.lanes.push(name, { step, timeoutMs: timeoutMs ?? this.options.lockTimeoutMs });
    } catch (error) {
      throw error instanceof KeelsonError ? error : new StoreFailedError(this.folder, error);
    }
  }

  /** If the disk refuses the lines of a batch, each job runs alone, so that reads do not fail together with a write. */
  private async work(name: string, jobs: readonly Job<Task<State>>[]): Promise<void> {
    try {
      await this.workAtOnce(name, jobs);
    } catch (error) {
      if (jobs.length === 1 || error instanceof KeelsonError) throw error;
      for (const job of jobs) await this.workAtOnce(name, [job]).catch(job.reject);
    }
  }

  private async workAtOnce(name: string, jobs: readonly Job<Task<State>>[]): Promise<void> {
    const { form, clock } = this.options;
    const cached = this.cache.take(name);
    const lock = await this.lock(name, jobs);
    if (lock === 'read-only') return settle(await this.readOnly(name, jobs));
    if (lock === undefined) return settle(runSteps(jobs, new LogDraft(form.create(), clock.now())));

    let log: LogFile<State> | undefined;
    let outcomes: Outcome[];
    let isWritten = false;
    try {
      log = isRemoval(jobs) ? undefined : await this.read(name, cached);
      const now = clock.now();
      if (log !== undefined && form.isEmpty(log.state, now)) log.restart();
      const draft = new LogDraft(log?.state ?? form.create(), now);
      outcomes = runSteps(jobs, draft);
      if (log === undefined || form.isEmpty(draft.state, draft.now)) await lock.remove();
      else isWritten = await this.write(lock, log, draft);
    } finally {
      if (!lock.isRemoved) await lock.release();
    }
    if (log !== undefined && isWritten) this.cache.put(name, log);
    settle(outcomes);
  }

  /** Returns undefined if the directory is missing. Returns 'read-only' if jobs that only read need no lock. */
  private async lock(name: string, jobs: readonly Job<Task<State>>[]): Promise<FolderLock | 'read-only' | undefined> {
    try {
      return await lockFolder(join(this.folder, name), {
        create: jobs.some(({ task }) => task.step !== 'remove' && task.step.creates === true),
        timeoutMs: Math.max(...jobs.map(({ task }) => task.timeoutMs)),
        failure: lockFailure,
      });
    } catch (error) {
      const areReading = jobs.every(({ task }) => task.step !== 'remove' && task.step.reads === true);
      if (areReading && hasCode(error, 'EROFS', 'EACCES', 'EPERM')) return 'read-only';
      throw error;
    }
  }

  private async readOnly(name: string, jobs: readonly Job<Task<State>>[]): Promise<Outcome[]> {
    const { form, clock } = this.options;
    const log = new LogFile(join(this.folder, name), form);
    await log.readOnly();
    const now = clock.now();
    if (form.isEmpty(log.state, now)) log.restart();
    return runSteps(jobs, new LogDraft(log.state, now));
  }

  /** Reads the log from disk. Moves a damaged log away if `onDamage` is set. */
  private async read(name: string, cached: LogFile<State> | undefined): Promise<LogFile<State>> {
    const { form, onDamage } = this.options;
    const folder = join(this.folder, name);
    const log = cached ?? new LogFile(folder, form);
    try {
      await log.read();
      return log;
    } catch (error) {
      if (!(error instanceof StoreCorruptError) || onDamage === undefined) throw error;
      const backup = join(this.folder, `damaged-${name}-${randomBytes(8).toString('hex')}`);
      await log.setAside(backup);
      onDamage(error, backup);
      return log;
    }
  }

  /** Returns true if the log matches the state. A read succeeds even if a full disk refuses the line with its time. */
  private async write(
    lock: FolderLock,
    log: LogFile<State>,
    { text, durable, now }: LogDraft<State>,
  ): Promise<boolean> {
    if (text === '') return true;
    await lock.check();
    try {
      await log.append({ text, durable });
    } catch (error) {
      if (durable || error instanceof KeelsonError) throw error;
      return false;
    }
    const end = Math.min(this.options.form.endOf(log.state), LAST_TIME_MS);
    // Only the sweep reads this modification time, to find expired sessions.
    await utimes(log.path, now / 1000, end / 1000).catch(() => {});
    return true;
  }

  /** Runs one step of the sweep. Failures of the sweep do not reach the caller. */
  private async tidy(): Promise<void> {
    if (this.isTidying) return;
    this.isTidying = true;
    try {
      for (const name of await this.sweep.step(this.options.clock.now())) {
        if (!this.lanes.isBusy(name)) await this.push(name, { run: () => {} }, 0);
      }
    } catch {
      // Another process uses the directory, or the disk refuses. A later round of the sweep tries again.
    } finally {
      this.isTidying = false;
    }
  }
}

type Outcome = () => void;

/** Collects the lines that the steps of one batch write. */
class LogDraft<State> implements Draft<State> {
  text = '';
  durable = false;

  constructor(
    readonly state: State,
    readonly now: number,
  ) {}

  readonly write = (fields: readonly string[], durable: boolean): void => {
    this.text += encodeLine(fields);
    this.durable ||= durable;
  };
}

function isRemoval<State>(jobs: readonly Job<Task<State>>[]): boolean {
  return jobs.every(({ task }) => task.step === 'remove');
}

/** Runs every step. A step that throws does not affect the others. Their promises settle only in `settle`. */
function runSteps<State>(jobs: readonly Job<Task<State>>[], draft: LogDraft<State>): Outcome[] {
  return jobs.map(({ task: { step }, resolve, reject }) => {
    try {
      const result = step === 'remove' ? undefined : step.run(draft);
      return () => resolve(result);
    } catch (error) {
      return () => reject(error);
    }
  });
}

function settle(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) outcome();
}
