import { describeError } from '../../errors.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import { variablePrefix } from '../../process/environment.js';
import type { Spawn } from '../../process/process-group.js';
import type { ProcessResult } from '../../process/run-process.js';
import type { DeniedDecision, VerifiedItem } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import { dialectOf } from '../dialects/list.js';
import type { EventFields, HookEventContext, HookMatchInput, ToolNames } from '../events/hook-event-context.js';
import {
  endPlainEvent,
  type HookEventData,
  type PlainData,
  plainContext,
  validatePlainEvent,
} from '../events/plain-events.js';
import type { Report } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import { failed, type HookReading, SILENT } from '../hook/effects.js';
import { type HookEvent, isGateEvent } from '../hook/event.js';
import { denialOf, HookApprovals, isForUnknownCalls } from '../hook/hook-approval.js';
import { contentOf } from '../hook/hook-content.js';
import type { HookProblem } from '../hook/problem.js';
import type { HookRegistry } from '../hook/registry.js';
import { hookEnvironment } from './environment.js';
import { EventProgress, type HookEventResult, type HookOutcome } from './event-progress.js';
import { hookInput, shownTo } from './input.js';
import { isFor, isMatched, namesOf } from './matching.js';
import { jsonText } from './plain-json.js';
import { type HookMachine, startHook } from './process.js';
import { HookReports } from './reports.js';

/** What a hook says to the user. */
export interface HookNotice {
  readonly hook: string;
  readonly event: string;
  readonly text: string;
}

/** What a runner works with. */
export interface HookRunnerOptions {
  readonly registry: HookRegistry;
  readonly gate: TrustGate;
  readonly workspaceDir: string;
  readonly appName: string;
  /** `hooks.timeout`: the time of a hook that has none of its own. Read at each run. */
  readonly timeoutMs: () => number;
  readonly inheritEnv: boolean;
  readonly sensitive: readonly string[];
  readonly toolNames: ToolNames;
  readonly redact?: ((text: string) => string) | undefined;
  readonly logger: Logger;
  readonly report: Report;
  readonly onNotice?: ((notice: HookNotice) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly spawn?: Spawn | undefined;
}

/** Runs the hooks of one event, one after another. */
export class HookRunner {
  private readonly permits: HookApprovals;
  private readonly reports: HookReports;
  private readonly clock: Clock;
  private readonly prefix: string;
  private readonly machine: HookMachine;

  constructor(private readonly options: HookRunnerOptions) {
    this.permits = new HookApprovals(options.gate, options.workspaceDir);
    this.reports = new HookReports(options);
    this.clock = options.clock ?? systemClock;
    this.prefix = variablePrefix(options.appName);
    const { workspaceDir, spawn, report } = options;
    this.machine = { workspaceDir, spawn, report, clock: this.clock };
  }

  /** The hooks that would run, in order; also those whose pattern nobody has approved yet. */
  matching(subject: Pick<HookEventContext, 'event' | 'tool' | 'args' | 'isError' | 'source'>): readonly ShellHook[] {
    const hooks = this.options.registry.hooksOf(subject.event);
    if (hooks.length === 0) return hooks;
    return hooks.filter((hook) => {
      const tried = this.permits.mayMatch(hook) ? hook : { ...hook, matches: () => true };
      return isFor(tried, subject, this.options.toolNames);
    });
  }

  /** What a tool is called here, and in the dialect of a hook. */
  namesOf(tool: string | undefined, hook: Pick<ShellHook, 'dialect'>): readonly string[] {
    return namesOf(tool, hook, this.options.toolNames);
  }

  /** How often each hook has failed, by id. */
  get failures(): ReadonlyMap<string, number> {
    return this.reports.failures;
  }

  /**
   * Runs the hooks of an event one after another. `value` of the result is the data as the hooks rewrote it. A hook that
   * fails is in the outcomes, and the next hook runs; a cancellation stops the hooks after it. Rejects with a
   * `HookEventInvalidError` if the event is unknown, or the data lacks a field or has an invalid one.
   *
   * @example
   * const { runner } = shellHooks();
   * const { cancelled, reason, value } = await runner.run('before_tool', { tool_name: 'look', args: { at: 'pier' } });
   */
  async run<Event extends HookEvent>(
    event: Event,
    data: HookEventData[Event] & PlainData,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<HookEventResult<PlainData>> {
    validatePlainEvent(event, data);
    const outcome = await this.runEvent(plainContext(event, data, signal));
    return endPlainEvent(event, outcome, (name, dialect) => this.namesOf(name, { dialect }));
  }

  /**
   * Runs hooks of an agent's event, whose value is not plain data. Failures are in the outcomes; a cancellation stops the
   * hooks after it. Never rejects.
   */
  async runEvent<Value>(
    context: HookEventContext<Value>,
    hooks: readonly ShellHook[] = this.matching(context),
  ): Promise<HookEventResult<Value>> {
    const progress = new EventProgress(context);
    const completed: ShellHook[] = [];
    const queue = [...hooks];
    for (const [at, hook] of queue.entries()) {
      if (context.signal?.aborted) break;
      // While one was running others may have been removed. Where that was to read them again, the new ones do their work.
      if (!this.options.registry.hooksOf(context.event).includes(hook)) {
        queue.push(...this.replacements(context, queue, at));
        continue;
      }
      if (isRepeated(hook, completed)) continue;
      const finished = await this.runHook(hook, progress);
      if (finished === undefined) continue;
      const { outcome, reading } = finished;
      this.announce(hook, outcome, reading);
      progress.take(hook, outcome, reading);
      if (outcome.status === 'completed') completed.push(hook);
      if (progress.isOver) break;
    }
    return progress.result();
  }

  /** The hooks that are new, but for those that stand for one whose turn is over. */
  private replacements(subject: HookMatchInput, queue: readonly ShellHook[], at: number): readonly ShellHook[] {
    const over = new Set(queue.slice(0, at).map(contentOf));
    return this.matching(subject).filter((hook) => !queue.includes(hook) && !over.has(contentOf(hook)));
  }

  /** Undefined if the hook, as it was approved, is not for this. */
  private async runHook<Value>(hook: ShellHook, progress: EventProgress<Value>): Promise<Finished | undefined> {
    const startedAt = this.clock.now();
    try {
      const result = await this.execute(hook, progress);
      if (result === undefined) return undefined;
      const { durationMs } = result;
      if ('status' in result) return this.finish(hook, failed(result.problem), result);
      const { signal } = progress.context;
      // Many a program ends with 0 where it is told to: what it did not say is no yes.
      const isUnsaid = result.outcome === 'aborted' || (result.toldByHost && result.stdout.trim() === '');
      const isCut = isUnsaid && !signal?.aborted && isGateEvent(hook.event);
      const shown = (value: unknown) => shownTo(hook, value, this.options.sensitive);
      const reading = isCut ? CUT_OFF : dialectOf(hook.dialect).read({ hook, result, shown });
      const status = reading.problem === undefined ? 'completed' : 'failed';
      this.reports.process(hook, result);
      return this.finish(hook, reading, { status, durationMs, exitCode: result.exitCode });
    } catch (error) {
      const problem: HookProblem = { kind: 'not-started', message: `It could not be run: ${describeError(error)}` };
      return this.finish(hook, failed(problem), { status: 'failed', durationMs: this.clock.now() - startedAt });
    }
  }

  private async execute<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
  ): Promise<ProcessResult | Refused | undefined> {
    const { options, prefix } = this;
    const { workspaceDir, inheritEnv, redact } = options;
    const { sessionId, signal } = progress.context;
    const fields = progress.context.describe(progress.value);
    // From here to the start as little as can be: what was verified has no time to change.
    const isTried = this.permits.mayMatch(hook);
    const verified = await this.permits.permit(hook);
    const isUnknown = !isTried && isForUnknownCalls(hook, verified);
    if (isUnknown) this.reports.matcherChanged(hook);
    else if (!isTried && this.isForOthers(hook, progress.context, verified)) return undefined;
    if (!verified.allowed) return { ...denialOf(verified, isUnknown), durationMs: 0 };
    let stdin: string | undefined;
    const start = {
      ...{ hook, verified, signal },
      env: hookEnvironment(hook, verified, { workspaceDir, inheritEnv, sessionId, prefix }),
      // While the program starts, which takes longer.
      stdin: () => (stdin ??= this.inputOf(hook, progress, fields)),
      timeoutMs: hook.timeout ?? options.timeoutMs(),
    };
    const result = await startHook(start, this.machine);
    return redact ? { ...result, stdout: redact(result.stdout), stderr: redact(result.stderr) } : result;
  }

  /** Whether a pattern that counted as matching until somebody decided on it does not match. */
  private isForOthers(hook: ShellHook, subject: HookMatchInput, decision: VerifiedItem | DeniedDecision): boolean {
    const isApproved = decision.allowed || decision.approvedBefore;
    return isApproved && !isMatched(hook, subject, this.options.toolNames);
  }

  private inputOf<Value>(hook: ShellHook, progress: EventProgress<Value>, fields: EventFields): string {
    const input = hookInput(hook, progress, { ...this.options, fields, now: () => this.clock.now() });
    this.reports.start(hook, input);
    return jsonText(input);
  }

  /** A failure of one that has to block cancels what the event is about. */
  private finish(hook: ShellHook, reading: HookReading, run: Omit<HookOutcome, 'hook' | 'id'>): Finished {
    const { output, problem } = reading;
    const outcome: HookOutcome = { hook: hook.name, id: hook.id, ...run, output, problem };
    const blocks = hook.onFailure === 'block' && run.status === 'failed' && problem?.kind !== 'aborted';
    if (!blocks || reading.effects.cancel !== undefined) return { outcome, reading };
    const cancel = `hook "${hook.name}" failed: ${problem?.message}`;
    return { outcome, reading: { ...SILENT, problem, effects: { cancel } } };
  }

  private announce(hook: ShellHook, outcome: HookOutcome, { effects, ignored = [] }: HookReading): void {
    const timeoutMs = hook.timeout ?? this.options.timeoutMs();
    this.reports.outcome(hook, outcome, timeoutMs);
    for (const key of ignored) this.reports.ignored(hook, key);
    if (effects.userText === undefined) return;
    const notice = { hook: hook.name, event: hook.event, text: safeText(effects.userText) };
    this.options.logger.info(`Hook "${hook.name}" says: ${notice.text}`, notice);
    this.reports.guarded(() => this.options.onNotice?.(notice));
  }
}

/** A gate that this library ended itself, with its host: it has not failed, it was kept from its answer. */
const CUT_OFF: HookReading = {
  ...failed({ kind: 'aborted', message: 'It was ended, because this process was told to end' }),
  effects: { cancel: 'it had not answered when this process was told to end' },
};

interface Finished {
  readonly outcome: HookOutcome;
  readonly reading: HookReading;
}

interface Refused {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
  readonly durationMs: number;
}

/**
 * Other programs run a command once where two matchers name it. Only one that has run counts, and only in the same file:
 * a command that nobody approved may not take the place of the same one that somebody did.
 */
function isRepeated(hook: ShellHook, completed: readonly ShellHook[]): boolean {
  const { runsOnce = false } = dialectOf(hook.dialect);
  return runsOnce && completed.some((other) => commandOf(other) === commandOf(hook));
}

function commandOf({ dialect, scope, source, extension, root, command, args, env }: ShellHook): string {
  return JSON.stringify([dialect, scope, source, extension, root, command, args, env]);
}
