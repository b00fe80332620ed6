import { sleep } from '../../internal/clock.js';
import { consoleLogger, type Logger, logFailure } from '../../internal/logger.js';
import { isTemporary } from '../error.js';
import type { Step } from '../step.js';
import type { Steps } from './steps.js';

/**
 * Repeats calls of a store that fail temporarily. Used only for an engine with `refuse`, because such an engine would
 * end the execution on an error.
 */
export class StoreRetries {
  /** The logger of the first agent that has one. */
  logger: Logger | undefined = undefined;

  constructor(
    private readonly step: Step,
    private readonly steps: () => Steps,
  ) {}

  /** Repeats `work` until it succeeds or this attempt ends. `what` describes the work in the log. */
  async run<T>(what: string, work: () => Promise<T>): Promise<T> {
    // Only an engine that would end the execution because of an error has `refuse`.
    if (this.step.refuse === undefined) return work();
    const steps = this.steps();
    const { logger = consoleLogger } = this;
    for (let delayMs = 100; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!isTemporary(error) || steps.hasEnded) throw error;
        logFailure({ logger }, `${what} failed, and is tried again in ${delayMs} ms.`, error);
        await sleep(delayMs, steps.time.baseOf(undefined));
        if (steps.hasEnded) throw error;
      }
    }
  }
}

const MAX_DELAY_MS = 30_000;
