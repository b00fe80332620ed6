import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { hookRunOf } from '../lifecycle/hook-run.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ExtensionMetrics } from './metrics.js';
import { actsIn, type Registration } from './registration.js';
import type { ExtensionState } from './state/extension-state.js';

/** The settings that all runs of a registry share. */
export interface RegistrySettings {
  readonly state: ExtensionState;
  readonly metrics: ExtensionMetrics;
  /** The registry's own logger. Default: the logger of each run. */
  readonly logger: Logger | undefined;
  /** The time limit of one callback. */
  readonly timeoutMs: number;
}

/** One agent run, with the extensions that were registered when the run started. */
export class ExtensionRun {
  /** Sorted by priority, higher first, then by registration. */
  readonly registrations: readonly Registration[];
  /** The names of tags that `onTag` callbacks have handled in this run. */
  readonly handledTags = new Set<string>();
  /** True once `onInputMessages` was called in this run. */
  begun = false;
  /** True once the run has ended: from then on the contexts of its callbacks reject. */
  over = false;
  /** True once a callback has called `setState`. */
  wrote = false;
  private readonly touching: Promise<void> | undefined;

  constructor(
    readonly run: RunContext,
    readonly settings: RegistrySettings,
    all: readonly Registration[],
  ) {
    this.registrations = all.filter((registration) => actsIn(registration, run.session?.id));
    const keepsState = this.registrations.some(({ usesState }) => usesState);
    this.touching = run.session !== undefined && keepsState ? this.touch(run.session.id) : undefined;
  }

  get sessionId(): string {
    return this.run.session?.id ?? this.run.id;
  }

  get logger(): Logger {
    return this.settings.logger ?? this.run.logger;
  }

  /** Throws the abort error of an aborted run, which must not be logged as a callback's failure. */
  throwIfAborted(): void {
    const error = this.abortError;
    if (error !== undefined) throw error;
  }

  /** Ends the run and deletes the state of a run without a session. An aborted run does not wait for the store. */
  finish(): Promise<void> | undefined {
    this.over = true;
    const done = this.leave();
    return this.abortError === undefined ? done : undefined;
  }

  /** Not read from the run's signal, which is expensive to create. */
  private get abortError(): Error | undefined {
    return hookRunOf(this.run)?.end.abortError;
  }

  private async leave(): Promise<void> {
    await this.touching;
    if (this.run.session !== undefined || !this.wrote) return;
    const { clock, id } = this.run;
    await this.settings.state.clearSession(id, { clock, logger: this.logger }).catch((error) => this.complain(error));
  }

  private async touch(session: string): Promise<void> {
    const site = { clock: this.run.clock, logger: this.logger };
    await this.settings.state.touch(session, site).catch((error) => this.complain(error));
  }

  private complain(error: unknown): void {
    this.logger.error(`The state of session "${this.sessionId}" could not be updated: ${describeError(error)}`, error);
  }
}
