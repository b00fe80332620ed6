import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { KnownTools } from '../tools/unknown-tool-names.js';
import type { HealthSettings } from './callbacks/health.js';
import type { ExtensionMetrics } from './metrics.js';
import { type CallbackPlan, planFor } from './plan.js';
import { mayHaveState, type Registration } from './registration.js';
import type { ExtensionState } from './state/extension-state.js';
import type { StateSite, StateWrite } from './state/store-calls.js';

/** The settings that all runs of a registry share. */
export interface RegistrySettings {
  readonly state: ExtensionState;
  readonly metrics: ExtensionMetrics;
  /** The registry's own logger. Default: the logger of each run. */
  readonly logger: Logger | undefined;
  /** The time limit of one callback. */
  readonly timeoutMs: number;
  /** The time that all callbacks of a run together may lose by exceeding their time limits. */
  readonly runTimeoutMs: number;
  readonly health: HealthSettings;
  readonly onStateFailure: 'continue' | 'throw';
  /** The tools that a `toolConfig` may name. */
  readonly knownTools: () => KnownTools;
}

/** One agent run, with the extensions that were registered when the run started. */
export class ExtensionRun {
  readonly plan: CallbackPlan;
  /** The time in milliseconds that callbacks may still lose by exceeding their time limits. */
  leftMs: number;
  /** The names of tags that `onTag` callbacks have handled in this run. */
  readonly handledTags = new Set<string>();
  /** True once `onInputMessages` was called in this run. */
  begun = false;
  /** True once the run has ended: from then on the contexts of its callbacks reject. */
  over = false;
  /** True once a callback has written state. */
  wrote = false;
  /** The writes that no step of a durable run has stored yet. Undefined for other runs. */
  private readonly written: StateWrite[] | undefined;
  /** True if state is cached during the run, false if each call goes to the store. Undefined before the first use. */
  private isBatched: boolean | undefined = undefined;
  private renewing: Promise<void> | undefined = undefined;

  constructor(
    readonly run: RunContext,
    readonly settings: RegistrySettings,
    plan: CallbackPlan,
  ) {
    this.written = hookRunOf(run)?.effects === undefined ? undefined : [];
    this.plan = planFor(plan, run.session?.id);
    this.leftMs = settings.runTimeoutMs;
    if (settings.state.outlivesUse && this.plan.registrations.some(mayHaveState)) this.renew();
  }

  get sessionId(): string {
    return this.run.session?.id ?? this.run.id;
  }

  get logger(): Logger {
    return this.settings.logger ?? this.run.logger;
  }

  get site(): StateSite {
    const { run, logger, written } = this;
    return { clock: run.clock, logger, written };
  }

  takeWrites(): readonly StateWrite[] | undefined {
    return this.written?.length ? this.written.splice(0) : undefined;
  }

  async repeat(writes: readonly StateWrite[]): Promise<void> {
    const { plan, settings, sessionId } = this;
    for (const write of writes) {
      const registration = plan.registrations.find(({ extension }) => extension.id === write.extension);
      if (registration !== undefined) this.useState(registration);
      await settings.state.repeat(sessionId, write, { ...this.site, written: undefined });
    }
    this.wrote = true;
  }

  /** Notes that an extension uses state, so that its later runs extend the lifetime of the session's state. */
  useState(registration: Registration): void {
    registration.usesState = true;
    this.isBatched ??= this.settings.state.enter({
      session: this.sessionId,
      extensions: this.plan.registrations.map(({ extension }) => extension.id),
      isNew: this.run.session === undefined,
    });
  }

  /** Throws the abort error of an aborted run, which must not be logged as a callback's failure. */
  throwIfAborted(): void {
    const error = this.abortError;
    if (error !== undefined) throw error;
  }

  logFailure({ id, name }: { readonly id: string; readonly name: string }, error: unknown): void {
    const { sessionId: session } = this;
    const details = { extensionId: id, callback: name, session, error };
    this.logger.error(`Extension "${id}": ${name} failed in session "${session}": ${describeError(error)}`, details);
  }

  /**
   * Ends the run: sends its writes to the store, or deletes the state of a run without a session. An aborted run does not
   * wait for the store. Rejects only if the store failed, `isAnswered` is true and `onStateFailure` is `throw`.
   */
  finish(isAnswered: boolean): Promise<void> | undefined {
    if (this.over) return undefined;
    this.over = true;
    if (hookRunOf(this.run)?.effects?.hasEnded) {
      if (this.isBatched) this.settings.state.abandon(this.sessionId);
      return undefined;
    }
    const isOwnState = this.run.session === undefined && this.wrote;
    if (!isOwnState && this.isBatched !== true && this.renewing === undefined) return undefined;
    const done = this.leave(isOwnState, isAnswered);
    if (this.abortError === undefined) return done;
    done.catch(() => {});
    return undefined;
  }

  /** The error of an aborted run. It is not read from the signal of the run, which is expensive to create. */
  private get abortError(): Error | undefined {
    return hookRunOf(this.run)?.end.abortError;
  }

  private async leave(isOwnState: boolean, isAnswered: boolean): Promise<void> {
    const { state, onStateFailure } = this.settings;
    await this.renewing;
    try {
      if (this.isBatched) await state.leave(this.sessionId, this.site);
      else if (isOwnState) await state.clearSession(this.run.id, this.site);
    } catch (error) {
      this.complain(error);
      if (isAnswered && onStateFailure === 'throw' && this.run.session !== undefined) throw error;
    }
  }

  private renew(): void {
    const { session } = this.run;
    if (session === undefined) return;
    const renewing = this.settings.state.touch(session.id, this.site).catch((error) => this.complain(error));
    // A run whose extensions may have no state does not wait for the store.
    if (this.plan.registrations.some(({ usesState }) => usesState)) this.renewing = renewing;
  }

  private complain(error: unknown): void {
    this.logger.error(`The state of session "${this.sessionId}" could not be updated: ${describeError(error)}`, error);
  }
}

/**
 * Stores one value for each run, as a property of the run. The garbage collector cleans up a WeakMap so slowly that
 * runs would become measurably slower.
 */
export class RunMap<Value> {
  private readonly key = Symbol('keelson.runValue');
  /** The values of run contexts that were not created by an agent. */
  private readonly others = new WeakMap<RunContext, Value>();

  get(run: RunContext): Value | undefined {
    const holder = this.holderOf(run);
    return holder === undefined ? this.others.get(run) : holder[this.key];
  }

  set(run: RunContext, value: Value): void {
    const holder = this.holderOf(run);
    if (holder === undefined) this.others.set(run, value);
    else holder[this.key] = value;
  }

  private holderOf(run: RunContext): Record<symbol, Value> | undefined {
    return hookRunOf(run) as Record<symbol, Value> | undefined;
  }
}
