/** How many jobs share one piece of work. */
const MAX_BATCH = 256;
/** A lane that always has work lets other processes in so often, and for so long. */
const TURN_MS = 100;
const PAUSE_MS = 10;

/** What is to be done, and who waits for it. */
export interface Job<Task> {
  readonly task: Task;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Does some jobs, and settles each. */
export type Work<Task> = (name: string, jobs: readonly Job<Task>[]) => Promise<void>;

/** Queues by name. Jobs of one name are done in their order, those that came meanwhile together; names go side by side. */
export class KeyedQueue<Task> {
  private readonly waiting: Map<string, Job<Task>[]> = new Map();

  /** A task that `isAlone` shares its work with no other. If `work` rejects, so do its jobs. */
  constructor(
    private readonly work: Work<Task>,
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

  /** Whether there is work of that name. */
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
