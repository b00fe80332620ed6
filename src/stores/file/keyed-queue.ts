/** Maximum number of jobs in one batch. */
const MAX_BATCH = 256;
/**
 * A queue that never becomes empty pauses for `PAUSE_MS` milliseconds every `TURN_MS`, so that other processes can take
 * the lock of the directory.
 */
const TURN_MS = 100;
const PAUSE_MS = 10;

/** A queued task, with the functions that settle the promise of its caller. */
export interface Job<Task> {
  readonly task: Task;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A set of queues, one for each name. Tasks with the same name run in order, in batches. Tasks with different names run
 * in parallel.
 */
export class KeyedQueue<Task> {
  private readonly waiting: Map<string, Job<Task>[]> = new Map();

  /**
   * `work` runs a batch of jobs and settles each job. If `work` rejects, all jobs of the batch reject. A task for which
   * `isAlone` returns true runs in a batch of its own.
   */
  constructor(
    private readonly work: (name: string, jobs: readonly Job<Task>[]) => Promise<void>,
    private readonly isAlone: (task: Task) => boolean,
  ) {}

  push(name: string, task: Task): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const job = { task, resolve, reject };
      const waiting = this.waiting.get(name);
      if (waiting !== undefined) return void waiting.push(job);
      this.waiting.set(name, [job]);
      void this.drain(name);
    });
  }

  /** Returns true if jobs of this name are waiting or running. */
  isBusy(name: string): boolean {
    return this.waiting.has(name);
  }

  private async drain(name: string): Promise<void> {
    const waiting = this.waiting.get(name) ?? [];
    let pausedAt = performance.now();
    while (waiting.length > 0) {
      const jobs = this.nextJobs(waiting);
      await this.work(name, jobs).catch((error: unknown) => {
        for (const { reject } of jobs) reject(error);
      });
      if (waiting.length > 0 && performance.now() - pausedAt >= TURN_MS) {
        await new Promise((resume) => setTimeout(resume, PAUSE_MS));
        pausedAt = performance.now();
      }
    }
    this.waiting.delete(name);
  }

  private nextJobs(waiting: Job<Task>[]): Job<Task>[] {
    const alone = waiting.findIndex(({ task }) => this.isAlone(task));
    return waiting.splice(0, alone < 0 ? MAX_BATCH : Math.min(MAX_BATCH, Math.max(alone, 1)));
  }
}
