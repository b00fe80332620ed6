import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import type { ProcessResult } from '../../process/run-process.js';
import { isGateEvent } from '../../programs/hook-event.js';
import { eventNameOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { Report } from '../hook/diagnostic.js';
import type { HookProblem, HookReading } from '../hook/effects.js';
import { redactForLog } from '../hook/plain-json.js';
import type { ShellHooksSettings } from '../options.js';
import { type FinishedRun, type HookOutcome, refuses } from './outcome.js';
import type { ProcessQueue } from './process-queue.js';

/** Values that change when an agent loads the hooks. */
export interface HookHost extends Pick<ShellHooksSettings, 'sensitive' | 'onNotice'> {
  logger: Logger;
  queue: ProcessQueue;
  /** Time limit for hooks without `timeout`, in milliseconds. */
  timeoutMs: number;
}

/**
 * Logs each kind of failure of a hook once. A repeated failure is logged at the level `debug`. A hook that no longer
 * guards its event is also reported as a diagnostic, once.
 */
export class HookReports {
  /** Number of failures by hook id. */
  readonly failures = new Map<string, number>();
  private readonly reported = new Set<string>();

  constructor(
    private readonly host: HookHost,
    private readonly report: Report,
  ) {}

  start(hook: ShellHook, input: object): void {
    const { logger, sensitive } = this.host;
    // Loggers may store the input, so sensitive fields are redacted even if the hook declares them.
    logger.debug(`Hook "${hook.name}" runs`, { hookName: hook.name, input: redactForLog(input, sensitive) });
  }

  process(hook: ShellHook, result: ProcessResult): void {
    const { stderr } = result;
    if (result.exitCode === 0 && stderr.trim() !== '') {
      const shown = redactForLog(stderr, this.host.sensitive);
      const details = { hookName: hook.name, stderr: safeText(String(shown)) };
      this.host.logger.debug(`Hook "${hook.name}" wrote to standard error: ${details.stderr}`, details);
    }
    if (!result.detachedChild) return;
    const message = `Hook "${hook.name}" left a child process in its own session (detached child). It was not terminated and may still run.`;
    this.report({ level: 'warning', code: 'detached-child', message, hook: hook.name });
  }

  /** Reports the failure of a hook, its message to the user, and the fields of its output that have no effect. */
  finished(hook: ShellHook, { outcome, reading }: FinishedRun): void {
    const { ignored = [], effects } = reading;
    const { problem, status } = outcome;
    if (status === 'skipped') this.skip(hook, safeText(problem?.message ?? ''));
    else if (problem !== undefined && problem.kind !== 'aborted') this.failure(hook, { ...outcome, problem }, reading);
    for (const field of ignored) this.ignored(hook, field);
    if (effects.userText !== undefined) this.notify(hook, safeText(effects.userText));
  }

  private failure(
    hook: ShellHook,
    { problem, exitCode, durationMs }: HookOutcome & { readonly problem: HookProblem },
    reading: HookReading,
  ): void {
    const { logger } = this.host;
    // The message quotes paths and program output, and may be printed on a terminal.
    const what = safeText(problem.hint === undefined ? problem.message : `${problem.message}. ${problem.hint}`);
    const timeoutMs = hook.timeout ?? this.host.timeoutMs;
    const details = { hookName: hook.name, event: hook.event, problem, exitCode, durationMs };
    const isLate = problem.kind === 'timed-out';
    const isNew = this.isNew(`${hook.id} ${problem.kind} ${problem.code} ${exitCode}`);
    const isLoss = isGateEvent(hook.event) && !reading.isDetached;
    const level = problem.kind === 'malformed' || (isLoss && !isLate) ? 'error' : 'warn';
    const text = isLate
      ? `exceeded its time limit of ${timeoutMs} ms and was terminated.`
      : `failed at ${hook.event}: ${what}`;
    logger[isNew ? level : 'debug'](`Hook "${hook.name}" ${text}`, isLate ? { ...details, timeoutMs } : details);
    this.failures.set(hook.id, (this.failures.get(hook.id) ?? 0) + 1);
    if (!refuses(reading) && isLoss) this.unguarded(hook, what);
  }

  private notify({ name: hook, event }: ShellHook, text: string): void {
    const { logger, onNotice } = this.host;
    const notice = { hook, event, text };
    logger.info(`Hook "${hook}" says: ${text}`, notice);
    try {
      onNotice?.(notice);
    } catch (error) {
      logger.error('The `onNotice` callback of the shell hooks threw an error.', error);
    }
  }

  /** Reports an output field that has no effect at the hook's event, once for each hook and field. */
  private ignored(hook: ShellHook, field: string): void {
    if (!this.isNew(`${hook.id} ${field}`)) return;
    const [name, ...outer] = field.split('.').reverse();
    const place = outer.length === 0 ? '' : ` in \`${outer.join('.')}\``;
    const message = `Hook "${hook.name}" wrote \`${name}\`${place}, which has no effect at ${eventNameOf(hook)}: remove the field, or move the hook to another event.`;
    this.report({ level: 'warning', code: 'output-unsupported', message, hook: hook.name });
  }

  /** Returns true at the first call with this key. */
  private isNew(key: string): boolean {
    const { size } = this.reported;
    return this.reported.add(key).size > size;
  }

  /** Adds a diagnostic once per hook whose failure did not cancel the operation. The log has the failure already. */
  private unguarded(hook: ShellHook, what: string): void {
    if (hook.onFailure === 'block' || !this.isNew(`${hook.id} unguarded`)) return;
    const message = `Hook "${hook.name}" does not guard ${hook.event}: ${what}`;
    this.report({ level: 'warning', code: 'gate-broken', message, hook: hook.name }, true);
  }

  private skip(hook: ShellHook, why: string): void {
    const isNew = this.isNew(`${hook.id} ${why}`);
    const { logger } = this.host;
    const details = { hookName: hook.name, event: hook.event };
    logger[isNew ? 'warn' : 'debug'](`Hook "${hook.name}" was skipped: ${why}`, details);
  }
}
