import { type InheritedVariables, variablePrefix } from '../../process/environment.js';
import type { ProcessResult } from '../../process/run-process.js';
import type { DeniedDecision, VerifiedItem } from '../../trust/decision.js';
import { dialectOf, readsTranscripts } from '../dialects/list.js';
import type { EventFields, HookMatchInput, ToolNames } from '../events/hook-event-context.js';
import type { ShellHook } from '../hook/definition.js';
import { denialOf, type HookApprovals, isForUnknownCalls } from '../hook/hook-approval.js';
import { type HookProblem, queueTimeout } from '../hook/problem.js';
import type { Transcripts } from '../transcript/transcripts.js';
import type { EventProgress } from './event-progress.js';
import { hookInput } from './input.js';
import { isMatched, isWanted } from './matching.js';
import { jsonText } from './plain-json.js';
import { type HookMachine, hookEnvironment, startHook } from './process.js';
import type { ProcessQueue } from './process-queue.js';
import type { HookReports } from './reports.js';

/** Options of a `HookExecutor`. */
export interface HookExecutorOptions {
  readonly workspaceDir: string;
  readonly appName: string;
  /** Returns the time limit for hooks without `timeout`, in milliseconds. Called at each run. */
  readonly timeoutMs: () => number;
  readonly inheritEnv: boolean | InheritedVariables;
  readonly sensitive: readonly string[];
  readonly toolNames: ToolNames;
  /** Returns the queue for the processes of hooks. Called at each run. */
  readonly queue: () => ProcessQueue;
  readonly redact?: ((text: string) => string) | undefined;
  /** Writes the transcripts of sessions. Undefined if hooks get none. */
  readonly transcripts?: Transcripts | undefined;
}

/** The result of a hook's program, or the reason why the program did not start. */
export type Execution = (ProcessResult | Denied) & {
  /** Time that the hook spent in the queue. Absent if the hook did not wait. */
  readonly waitedMs?: number | undefined;
  /** The standard input of the hook, as JSON. Absent if the program did not start. */
  readonly input?: string | undefined;
};

/** The reason why the program of a hook did not start. */
interface Denied {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
  readonly durationMs: number;
}

/** The event that waits for a hook. */
export interface Waiter {
  readonly signal: AbortSignal | undefined;
  /** Called if the hook writes that it needs no wait. */
  readonly detach?: (() => void) | undefined;
}

interface StartOptions extends Waiter {
  /** True if the matcher has been tested. */
  readonly isMatcherTested: boolean;
  /** True if the condition has been tested. */
  readonly isConditionTested: boolean;
  readonly timeoutMs: number;
}

const ABORTED: HookProblem = { kind: 'aborted', message: 'It did not start because the operation was aborted' };

/** Objects that a `HookExecutor` shares with its runner. */
export interface ExecutorParts {
  readonly approvals: HookApprovals;
  readonly reports: HookReports;
  readonly machine: HookMachine;
}

/** Runs the programs of hooks: approval, queue, start. */
export class HookExecutor {
  private readonly approvals: HookApprovals;
  private readonly reports: HookReports;
  private readonly machine: HookMachine;
  private readonly prefix: string;

  constructor(
    private readonly options: HookExecutorOptions,
    { approvals, reports, machine }: ExecutorParts,
  ) {
    this.approvals = approvals;
    this.reports = reports;
    this.machine = machine;
    this.prefix = variablePrefix(options.appName);
  }

  /** Waits for a free process and runs the hook in it. The wait counts towards the time limit of the hook. */
  async run<Value>(hook: ShellHook, progress: EventProgress<Value>, waiter: Waiter): Promise<Execution | undefined> {
    const { options, approvals } = this;
    const [isMatcherTested, isConditionTested] = [approvals.mayMatch(hook), approvals.mayTest(hook)];
    // Prompts happen before the queue, because other hooks must not wait for an answer of the user.
    const decision = await approvals.authorize(hook);
    if (!decision.allowed) return this.denied(hook, progress.context, { decision, isMatcherTested });
    const timeoutMs = hook.timeout ?? options.timeoutMs();
    const { signal } = waiter;
    const queue = options.queue();
    const { type, waitedMs } = await queue.enter({ timeoutMs, signal, clock: this.machine.clock });
    if (type !== 'entered') {
      const problem = type === 'late' ? queueTimeout(timeoutMs, queue.most) : ABORTED;
      return { status: 'failed', problem, durationMs: waitedMs };
    }
    try {
      const left = Math.max(1, timeoutMs - waitedMs);
      const result = await this.start(hook, progress, {
        ...waiter,
        isMatcherTested,
        isConditionTested,
        timeoutMs: left,
      });
      return result && { ...result, durationMs: result.durationMs + waitedMs, waitedMs };
    } finally {
      queue.leave();
    }
  }

  private async start<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
    { isMatcherTested, isConditionTested, timeoutMs, signal, detach }: StartOptions,
  ): Promise<Execution | undefined> {
    const { options, prefix } = this;
    const { workspaceDir, inheritEnv } = options;
    const { sessionId } = progress.context;
    const fields = progress.context.describe(progress.value);
    // Little code runs between verification and start, so that files have no time to change.
    const verified = await this.approvals.verify(hook);
    if (!verified.allowed) return this.denied(hook, progress.context, { decision: verified, isMatcherTested });
    if (!isMatcherTested && this.isForOthers(hook, progress.context, verified)) return undefined;
    if (!isConditionTested && !isWanted(hook, progress, options)) return undefined;
    let stdin: string | Promise<string> | undefined;
    const start = {
      hook,
      verified,
      signal,
      timeoutMs,
      onFirstLine: (line: string) => {
        if (dialectOf(hook.dialect).detaches?.(line)) detach?.();
      },
      env: hookEnvironment(hook, verified, { workspaceDir, inheritEnv, sessionId, prefix }),
      // The input is built while the program starts, to save time.
      stdin: () => (stdin ??= this.inputOf(hook, progress, fields)),
    };
    const result = await startHook(start, this.machine);
    const redact = redactorOf(hook, options);
    const { stdout, stderr } = result;
    const input = await stdin;
    return { ...result, input, stdout: redact(stdout), stderr: redact(stderr) };
  }

  /** Returns the outcome of a denied hook; undefined if the approved matcher does not match. */
  private denied(
    hook: ShellHook,
    subject: HookMatchInput,
    { decision, isMatcherTested }: { readonly decision: DeniedDecision; readonly isMatcherTested: boolean },
  ): Execution | undefined {
    const isUnknown = !isMatcherTested && isForUnknownCalls(hook, decision);
    if (isUnknown) this.reports.matcherChanged(hook);
    else if (!isMatcherTested && this.isForOthers(hook, subject, decision)) return undefined;
    return { ...denialOf(decision, isUnknown), durationMs: 0 };
  }

  /**
   * Returns true if the approved matcher does not match. Before its approval, a regular expression counts as matching.
   */
  private isForOthers(hook: ShellHook, subject: HookMatchInput, decision: VerifiedItem | DeniedDecision): boolean {
    const isApproved = decision.allowed || decision.approvedBefore;
    return isApproved && !isMatched(hook, subject, this.options.toolNames);
  }

  /** Returns the standard input of a hook. Returns a promise if the transcript has to be written first. */
  private inputOf<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
    fields: EventFields,
  ): string | Promise<string> {
    const { sessionId, transcript } = progress.context;
    const textOf = (transcriptPath: string): string => {
      const now = this.machine.clock.now();
      const input = hookInput(hook, progress, { ...this.options, fields, transcriptPath, now });
      this.reports.start(hook, input);
      return jsonText(input);
    };
    const { transcripts } = this.options;
    if (transcripts === undefined || !readsTranscripts(hook)) return textOf('');
    return transcripts.write(sessionId, transcript?.()).then(textOf);
  }
}

/** Returns the function that removes the secrets of the hook's extension and of the application from a string. */
export function redactorOf(hook: ShellHook, { redact }: Pick<HookExecutorOptions, 'redact'>): (text: string) => string {
  return (text) => [hook.redact, redact].reduce((shown, next) => next?.(shown) ?? shown, text);
}
