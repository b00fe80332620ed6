import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import type { ProcessResult } from '../../process/run-process.js';
import { eventNameOf } from '../dialects/list.js';
import type { Report } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import { isGateEvent } from '../hook/event.js';
import type { HookOutcome } from './event-progress.js';
import { redact } from './plain-json.js';

/** Where reports go, and what they may not show. */
export interface HookReportOptions {
  readonly logger: Logger;
  readonly report: Report;
  readonly sensitive: readonly string[];
}

/** Says what became of hooks: each failure to the log, and a broken gate once and loudly. */
export class HookReports {
  /** By the hook's id. */
  readonly failures = new Map<string, number>();
  private readonly told = new Set<string>();

  constructor(private readonly options: HookReportOptions) {}

  start(hook: ShellHook, input: object): void {
    const { logger, sensitive } = this.options;
    // Some loggers keep what they are given: nothing sensitive may be in it, whoever gets it.
    logger.debug(`Hook "${hook.name}" runs`, { hookName: hook.name, input: redact(input, sensitive) });
  }

  process(hook: ShellHook, result: ProcessResult): void {
    if (!result.detachedChild) return;
    const message = `Hook "${hook.name}" left a process behind that had its own session (detached child): it may live on.`;
    this.options.report({ level: 'warning', code: 'detached-child', message, hook: hook.name });
  }

  outcome(hook: ShellHook, outcome: HookOutcome, timeoutMs: number): void {
    const { problem, status, exitCode, durationMs } = outcome;
    if (problem === undefined || problem.kind === 'aborted') return;
    // It quotes paths and what programs wrote, and may be shown on a terminal.
    const message = safeText(problem.message);
    if (status === 'skipped') return this.skip(hook, message);
    const { logger } = this.options;
    const what = problem.hint === undefined ? message : `${message}. ${safeText(problem.hint)}`;
    const details = { hookName: hook.name, event: hook.event, problem, exitCode, durationMs };
    if (problem.kind === 'timed-out') {
      logger.warn(`Hook "${hook.name}" took longer than ${timeoutMs} ms, and was ended.`, { ...details, timeoutMs });
    } else logger.error(`Hook "${hook.name}" failed at ${hook.event}: ${what}`, details);
    this.count(hook, what);
  }

  /** A hook that refuses every call, since its pattern is not the one that was approved; said once. */
  matcherChanged(hook: ShellHook): void {
    if (!this.isNew(`${hook.id} matcher`)) return;
    const message = `Hook "${hook.name}" has changed since it was approved, and so has its matcher: it fails at every ${hook.event} until it is approved.`;
    this.options.report({ level: 'error', code: 'matcher-changed', message, hook: hook.name });
  }

  /** Reports a field of a hook's output that nobody reads at the hook's event; once per hook and field. */
  ignored(hook: ShellHook, field: string): void {
    if (!this.isNew(`${hook.id} ${field}`)) return;
    const [name, ...outer] = field.split('.').reverse();
    const place = outer.length === 0 ? '' : ` in \`${outer.join('.')}\``;
    const message = `Hook "${hook.name}" wrote \`${name}\`${place}, which has no effect at ${eventNameOf(hook)}: remove the field, or move the hook.`;
    this.options.report({ level: 'warning', code: 'output-unsupported', message, hook: hook.name });
  }

  guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.options.logger.error('A listener for hooks failed.', error);
    }
  }

  private isNew(key: string): boolean {
    const { size } = this.told;
    return this.told.add(key).size > size;
  }

  private count(hook: ShellHook, what: string): void {
    const before = this.failures.get(hook.id) ?? 0;
    this.failures.set(hook.id, before + 1);
    if (before > 0 || !isGateEvent(hook.event) || hook.onFailure === 'block') return;
    const message = `Hook "${hook.name}" does not guard ${hook.event}: ${what}`;
    this.options.report({ level: 'warning', code: 'gate-broken', message, hook: hook.name });
  }

  private skip(hook: ShellHook, why: string): void {
    const isNew = this.isNew(`${hook.id} ${why}`);
    const { logger } = this.options;
    const details = { hookName: hook.name, event: hook.event };
    logger[isNew ? 'warn' : 'debug'](`Hook "${hook.name}" was skipped: ${why}`, details);
  }
}
