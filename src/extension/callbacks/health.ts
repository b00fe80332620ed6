import type { Logger } from '../../internal/logger.js';
import { report } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';

interface HealthRun {
  readonly run: RunContext;
  readonly settings: { readonly health: HealthSettings };
  readonly logger: Logger;
}

/** The options of `setAside`: when an extension that keeps failing is set aside. */
export interface HealthSettings {
  /** The number of consecutive failures after which the extension is set aside. */
  readonly failures: number;
  /** The time for which the extension is set aside, in milliseconds. */
  readonly pauseMs: number;
}

/** Counts the consecutive failures of an extension. After too many, its callbacks are not called for a while. */
export class ExtensionHealth {
  private failures = 0;
  private pausedUntil = 0;

  constructor(private readonly extensionId: string) {}

  isPaused({ run }: HealthRun): boolean {
    return this.pausedUntil > 0 && run.clock.now() < this.pausedUntil;
  }

  succeed(): void {
    this.failures = 0;
    this.pausedUntil = 0;
  }

  /** Counts a failure of a callback. After the pause, a single further failure sets the extension aside again. */
  fail(extensionRun: HealthRun, callback: string): void {
    const { settings, logger, run } = extensionRun;
    const { failures, pauseMs } = settings.health;
    this.failures += 1;
    if (this.failures < failures || this.isPaused(extensionRun)) return;
    this.pausedUntil = run.clock.now() + pauseMs;
    const details = { extensionId: this.extensionId, callback, failures: this.failures, pauseMs };
    report(run, { type: 'extension-error', ...details });
    logger.error(
      `Extension "${this.extensionId}" is set aside for ${pauseMs} ms, because it failed ${this.failures} times in a row.`,
      details,
    );
  }
}
