import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { hookRunOf } from '../lifecycle/hook-run.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ExtensionMetrics } from './metrics.js';
import { actsIn, type Registration } from './registration.js';
import type { ExtensionState } from './state/extension-state.js';

/** What the runs of a registry share. */
export interface RegistrySettings {
  readonly state: ExtensionState;
  readonly metrics: ExtensionMetrics;
  /** The registry's own logger; in a run, that of the run stands in for it. */
  readonly logger: Logger | undefined;
  /** Time for one callback. */
  readonly timeoutMs: number;
}

/** One run as the extensions of a registry take part in it: those that were registered as it began. */
export class ExtensionRun {
  /** In the order of their callbacks. */
  readonly registrations: readonly Registration[];
  /** Tags that were handled in answers of this run. */
  readonly handledTags = new Set<string>();
  /** Whether the input messages have passed. */
  begun = false;
  /** Set as the run ends: contexts that were left behind do nothing. */
  over = false;
  /** Whether something may have been stored. */
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

  /** Throws where the run was aborted: that is never a callback's failure. */
  throwIfAborted(): void {
    const error = this.abortError;
    if (error !== undefined) throw error;
  }

  /** Ends it: state that belongs to the run alone is dropped. An aborted run does not wait for the store. */
  finish(): Promise<void> | undefined {
    this.over = true;
    const done = this.leave();
    return this.abortError === undefined ? done : undefined;
  }

  /** The signal would tell too, but is dear to make. */
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
    this.logger.error(`The state of session "${this.sessionId}" could not be kept up: ${describeError(error)}`, error);
  }
}
