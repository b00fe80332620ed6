import { setImmediate as nextTask } from 'node:timers/promises';
import { StepLostError } from '../error.js';
import { firstOf, type RestatePromiseLike } from './restate-promise.js';

/** An operation of Restate that has not settled. */
interface Operation {
  readonly begin: () => RestatePromiseLike<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** True if the operation stays pending when the attempt ends. */
  readonly isWait: boolean;
}

type Settled = { readonly operation: Operation; readonly value: unknown; readonly failure: Error | undefined };

/**
 * Awaits all operations of an invocation together, because Restate allows only one pending `await`. Operations that
 * begin in the same task start in call order. The fixed order lets a replay find them in the journal.
 *
 * See docs/decisions/0110-one-await-in-restate.md.
 */
export class OneAwait {
  private queue: Operation[] = [];
  private readonly open = new Map<Operation, RestatePromiseLike<unknown>>();
  private isRunning = false;
  private lost: StepLostError | undefined = undefined;

  /** `attemptCompleted` is aborted when Restate has ended the attempt in this process. */
  constructor(attemptCompleted: AbortSignal) {
    const lose = () => {
      this.lost = new StepLostError();
      this.failAll(this.lost);
    };
    if (attemptCompleted.aborted) lose();
    else attemptCompleted.addEventListener('abort', lose, { once: true });
  }

  /** Begins an operation. Settles as the operation does, or rejects with StepLostError if the attempt ends first. */
  settle<T>(begin: () => RestatePromiseLike<T>): Promise<T> {
    return this.add(begin, false);
  }

  /** Like `settle`, but stays pending if the attempt ends, as the promises of Restate do. */
  wait<T>(begin: () => RestatePromiseLike<T>): Promise<T> {
    return this.add(begin, true);
  }

  private add<T>(begin: () => RestatePromiseLike<T>, isWait: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ begin, resolve: resolve as (value: unknown) => void, reject, isWait });
      if (this.lost !== undefined) this.failAll(this.lost);
      if (this.isRunning || this.lost !== undefined) return;
      this.isRunning = true;
      // Runs after all microtasks, so that other steps of the same task join the first `await`.
      process.nextTick(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    while (this.queue.length + this.open.size > 0) {
      for (const operation of this.queue.splice(0)) this.open.set(operation, operation.begin());
      try {
        const [first] = this.open;
        // Awaits a single operation directly, because a race takes longer.
        if (this.open.size === 1 && first !== undefined) this.settled(first[0], await first[1]);
        else await this.settleFirst();
      } catch (error) {
        // Restate has cancelled the invocation.
        this.failAll(error);
      }
      // The code that received the result may begin further operations, which join the next `await`.
      if (this.open.size > 0) await nextTask();
    }
    this.isRunning = false;
  }

  private settled(operation: Operation, value: unknown): void {
    this.open.delete(operation);
    operation.resolve(value);
  }

  private async settleFirst(): Promise<void> {
    const races = [...this.open].map(([operation, promise]) =>
      promise.map((value, failure): Settled => ({ operation, value, failure })),
    );
    const { operation, value, failure } = await firstOf(races);
    this.open.delete(operation);
    if (failure === undefined) operation.resolve(value);
    else operation.reject(failure);
  }

  private failAll(error: unknown): void {
    const operations = [...this.open.keys(), ...this.queue];
    this.open.clear();
    this.queue = [];
    for (const { reject, isWait } of operations) if (!isWait || error !== this.lost) reject(error);
  }
}
