import { createHash, randomBytes } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { KeelsonError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import { mapConcurrent } from '../../internal/map-concurrent.js';
import { required, text } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';
import { hasCode } from '../../process/files/error-code.js';
import { type FolderLock, lockFolder } from '../../process/files/folder-lock.js';
import { lockFailure, StoreCorruptError, StoreFailedError } from '../store-error.js';
import { LogCache } from './cache.js';
import { KeyedQueue } from './keyed-queue.js';
import { type LogAccess, LogFile, type LogForm } from './log.js';
import { type Jobs, LogDraft, needsAll, type Outcome, runSteps, type VaultStep } from './step.js';
import { FolderSweep } from './sweep.js';

/** The latest modification time that every file system can store. */
const LAST_TIME_MS = 2 ** 31 * 1000 - 1000;

/** The format of a kind of state in a log, and its expiry rules. */
export interface VaultForm<State> extends LogForm<State> {
  /**
   * Removes expired values from the state. Returns true if nothing is left. The state is then removed from the disk.
   */
  isEmpty(state: State, now: number): boolean;
  /** Returns the time at which the whole state expires, in milliseconds since the epoch. */
  endOf(state: State): number;
}

/**
 * Small files beside a log that store more of its state. The caller holds the lock of the log, except in a read-only
 * step.
 */
export interface SideFiles<State> {
  read(log: LogFile<State>): Promise<void>;
  /**
   * Writes the files. Called after the lines of a batch are stored. `check` rejects if this process has lost the lock.
   */
  write(log: LogFile<State>, check: () => Promise<void>): Promise<void>;
  /** Removes the files in the directory `folder`. Called before the directory itself is removed. */
  remove(folder: string): Promise<void>;
}

/** Options of a FileVault. */
export interface VaultOptions<State> {
  readonly folder: string;
  readonly form: VaultForm<State>;
  readonly files?: SideFiles<State>;
  readonly clock: Clock;
  readonly lockTimeoutMs: number;
  /**
   * Called after a damaged log was moved to the path `backup`. The state then starts empty. Without this callback, the
   * call rejects with the error.
   */
  readonly onDamage?: (error: StoreCorruptError, backup: string) => void;
}

/**
 * Stores one state per id in a directory. Each state has a subdirectory with a log. Several processes may use the
 * directory at once.
 */
export class FileVault<State> {
  private readonly folder: string;
  private readonly prefix: string;
  private readonly lanes: KeyedQueue<VaultStep<State, unknown>>;
  private readonly cache: LogCache<State> = new LogCache();
  private readonly sweep: FolderSweep;
  private isTidying = false;

  constructor(private readonly options: VaultOptions<State>) {
    this.folder = resolve(options.folder);
    this.prefix = `${options.form.kind}-`;
    this.sweep = new FolderSweep(this.folder, this.prefix);
    this.lanes = new KeyedQueue(
      (name, jobs) => this.work(name, jobs),
      ({ removes = false }) => removes,
    );
  }

  /**
   * Runs a step on the state that is stored under an id. Resolves after the lines that the step wrote are in the log.
   */
  async run<Result>(id: string, step: VaultStep<State, Result>): Promise<Result> {
    const result = await this.runNamed(this.nameOf(id), step);
    await this.tidy();
    return result;
  }

  /**
   * Runs a step on the state in the subdirectory `name`. Rejects with a StoreFailedError if the file system reports an
   * error.
   */
  async runNamed<Result>(name: string, step: VaultStep<State, Result>): Promise<Result> {
    try {
      return (await this.lanes.push(name, step)) as Result;
    } catch (error) {
      throw error instanceof KeelsonError ? error : new StoreFailedError(this.folder, error);
    }
  }

  /** Runs a step on every stored state. With `skipsDamaged`, skips states with a damaged log. */
  async runAll<Result>(step: VaultStep<State, Result>, { skipsDamaged = false } = {}): Promise<Result[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return [];
      throw new StoreFailedError(this.folder, error);
    });
    const ours = names.filter((name) => name.startsWith(this.prefix));
    const results = await mapConcurrent(ours, async (name) => {
      try {
        return [await this.runNamed(name, step)];
      } catch (error) {
        if (skipsDamaged && error instanceof StoreCorruptError) return [];
        throw error;
      }
    });
    return results.flat(1) as Result[];
  }

  /** Removes the state of an id without reading it, so that a damaged state can be removed. */
  async remove(id: string): Promise<void> {
    await this.runNamed(this.nameOf(id), { removes: true, run: () => {} });
  }

  /**
   * Returns the name of the subdirectory of an id. Different ids get different names, even on a file system that
   * ignores case.
   */
  nameOf(id: string): string {
    validateOption('id', id, required(text));
    // JSON escapes each lone surrogate differently, whereas in UTF-8 all lone surrogates would be equal.
    return this.prefix + createHash('sha256').update(JSON.stringify(id)).digest('hex');
  }

  /**
   * Runs a batch of jobs. If the disk refuses the lines of the batch, runs each job alone, so that a failed write does
   * not fail the reads of its batch.
   */
  private async work(name: string, jobs: Jobs<State>): Promise<void> {
    try {
      await this.workAtOnce(name, jobs);
    } catch (error) {
      if (jobs.length === 1 || error instanceof KeelsonError) throw error;
      for (const job of jobs) await this.workAtOnce(name, [job]).catch(job.reject);
    }
  }

  private async workAtOnce(name: string, jobs: Jobs<State>): Promise<void> {
    for (const settle of await this.outcomesOf(name, jobs)) settle();
  }

  private async outcomesOf(name: string, jobs: Jobs<State>): Promise<Outcome[]> {
    const { form, clock } = this.options;
    const cached = this.cache.take(name);
    const lock = await this.lock(name, jobs);
    if (lock === 'read-only') return this.readOnly(name, jobs);
    if (lock === undefined) return runSteps(jobs, new LogDraft(form.create(), clock.now()));

    let log: LogFile<State> | undefined;
    let outcomes: Outcome[];
    let isWritten = false;
    try {
      log = jobs.every(({ task }) => task.removes) ? undefined : await this.read(cached ?? this.logOf(name), jobs);
      const now = clock.now();
      if (log !== undefined && form.isEmpty(log.state, now)) log.restart();
      const draft = new LogDraft(log?.state ?? form.create(), now, log?.end);
      outcomes = runSteps(jobs, draft);
      if (log === undefined || form.isEmpty(draft.state, draft.now)) {
        await this.options.files?.remove(join(this.folder, name));
        await lock.remove();
      } else isWritten = await this.write(lock, log, draft);
    } finally {
      if (!lock.isRemoved) await lock.release();
    }
    if (log !== undefined && isWritten) this.cache.put(name, log);
    return outcomes;
  }

  /**
   * Locks the directory of a state. Returns undefined if it is missing. Returns 'read-only' if it cannot be written and
   * all jobs only read.
   */
  private async lock(name: string, jobs: Jobs<State>): Promise<FolderLock | 'read-only' | undefined> {
    try {
      return await lockFolder(join(this.folder, name), {
        create: jobs.some(({ task }) => task.creates),
        timeoutMs: Math.max(...jobs.map(({ task }) => task.timeoutMs ?? this.options.lockTimeoutMs)),
        failure: lockFailure,
      });
    } catch (error) {
      if (jobs.every(({ task }) => task.reads) && hasCode(error, 'EROFS', 'EACCES', 'EPERM')) return 'read-only';
      throw error;
    }
  }

  private async readOnly(name: string, jobs: Jobs<State>): Promise<Outcome[]> {
    const { form, clock } = this.options;
    const log = await this.readLog(this.logOf(name, 'read-only'), jobs);
    const now = clock.now();
    if (form.isEmpty(log.state, now)) log.restart();
    return runSteps(jobs, new LogDraft(log.state, now));
  }

  private logOf(name: string, access?: LogAccess): LogFile<State> {
    return new LogFile(join(this.folder, name), this.options.form, access);
  }

  private async readLog(log: LogFile<State>, jobs: Jobs<State>): Promise<LogFile<State>> {
    await log.read();
    if (log.isPartial && (await needsAll(jobs, log.state))) await log.readAll();
    await this.options.files?.read(log);
    return log;
  }

  /**
   * Reads the log of a state from disk. If it is damaged and `onDamage` is set, moves it away and continues with an
   * empty state.
   */
  private async read(log: LogFile<State>, jobs: Jobs<State>): Promise<LogFile<State>> {
    const { onDamage } = this.options;
    try {
      return await this.readLog(log, jobs);
    } catch (error) {
      if (!(error instanceof StoreCorruptError) || onDamage === undefined) throw error;
      const backup = join(this.folder, `damaged-${basename(log.folder)}-${randomBytes(8).toString('hex')}`);
      await log.setAside(backup);
      onDamage(error, backup);
      return log;
    }
  }

  /**
   * Appends the lines of a batch to the log. Returns true if the log on disk then matches the state in memory.
   *
   * A full disk may refuse lines that only renew a lifetime. In this case returns false instead of throwing, so that
   * reads still succeed.
   */
  private async write(
    lock: FolderLock,
    log: LogFile<State>,
    { text, durable, now }: LogDraft<State>,
  ): Promise<boolean> {
    if (text !== '') {
      await lock.check();
      try {
        await log.append(text, durable);
      } catch (error) {
        if (durable || error instanceof KeelsonError) throw error;
        return false;
      }
    }
    const end = Math.min(this.options.form.endOf(log.state), LAST_TIME_MS);
    // Only the sweep uses this modification time, to find expired sessions.
    if (text !== '' || end < LAST_TIME_MS) await utimes(log.path, now / 1000, end / 1000).catch(() => {});
    await this.options.files?.write(log, () => lock.check());
    return true;
  }

  /** Removes a few expired states. Ignores failures, because a later call tries again. */
  private async tidy(): Promise<void> {
    if (this.isTidying) return;
    this.isTidying = true;
    try {
      for (const name of await this.sweep.step(this.options.clock.now())) {
        if (!this.lanes.isBusy(name)) await this.runNamed(name, { timeoutMs: 0, run: () => {} });
      }
    } catch {
      // Another process uses the directory, or the disk refuses the removal. A later step tries again.
    } finally {
      this.isTidying = false;
    }
  }
}
