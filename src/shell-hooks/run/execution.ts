import type { Clock } from '../../internal/clock.js';
import {
  type Environment,
  type InheritedVariables,
  isRefusedName,
  userEnvironment,
  variablePrefix,
  workspaceEnvironment,
} from '../../process/environment.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import type { Spawn } from '../../process/process-group.js';
import { type ProcessResult, type RunProcessOptions, runProcess } from '../../process/run-process.js';
import { isFolder } from '../../process/spawn-failure.js';
import type { VerifiedItem } from '../../trust/decision.js';
import { dialectOf, readsTranscripts } from '../dialects/list.js';
import type { ShellHook } from '../hook/definition.js';
import type { Report } from '../hook/diagnostic.js';
import type { ToolNames } from '../hook/event-context.js';
import { jsonText } from '../hook/plain-json.js';
import { type HookProblem, queueTimeout } from '../hook/problem.js';
import type { Transcripts } from '../transcript/transcripts.js';
import { denialOf, type HookApprovals } from './approval.js';
import type { EventProgress } from './event-progress.js';
import { postEvent } from './http-handler.js';
import { hookInput } from './input.js';
import { isMatched, isWanted } from './matching.js';
import type { ProcessQueue } from './process-queue.js';
import type { HookReports } from './reports.js';

/** Options of a `HookExecutor`. */
export interface HookExecutorOptions {
  readonly workspaceDir: string;
  readonly appName: string;
  /** Returns the time limit for hooks without `timeout`, in milliseconds. Called at each run. */
  readonly timeoutMs: () => number;
  /** If true, hooks of the host and the user get the keys of model providers. An object names exceptions. */
  readonly inheritEnv: boolean | InheritedVariables;
  readonly sensitive: readonly string[];
  readonly toolNames: ToolNames;
  /** Returns the queue for the processes of hooks. Called at each run. */
  readonly queue: () => ProcessQueue;
  readonly redact?: ((text: string) => string) | undefined;
  /** Writes the transcripts of sessions. Undefined if hooks get none. */
  readonly transcripts?: Transcripts | undefined;
  readonly report: Report;
  readonly spawn?: Spawn | undefined;
  readonly fetch?: typeof fetch | undefined;
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
  /** True if the matcher and the condition of the hook were tested before. */
  readonly isTested: boolean;
  readonly timeoutMs: number;
}

const ABORTED: HookProblem = { kind: 'aborted', message: 'It did not start because the operation was aborted' };

/** Objects that a `HookExecutor` shares with its runner. */
export interface ExecutorParts {
  readonly approvals: HookApprovals;
  readonly reports: HookReports;
  readonly clock: Clock;
}

/** Runs the programs of hooks: approval, queue, start. */
export class HookExecutor {
  private readonly prefix: string;
  /** Directories that no PATH entry of a hook may lie in. */
  private readonly exclude: readonly string[];

  constructor(
    private readonly options: HookExecutorOptions,
    private readonly parts: ExecutorParts,
  ) {
    this.prefix = variablePrefix(options.appName);
    this.exclude = workspaceRoots(options.workspaceDir);
  }

  /**
   * Waits for a free process and runs the hook in it. The wait counts towards the time limit of the hook. Returns
   * undefined if the hook was approved now and is for other calls.
   */
  async run<Value>(hook: ShellHook, progress: EventProgress<Value>, waiter: Waiter): Promise<Execution | undefined> {
    const { approvals, clock } = this.parts;
    const isTested = approvals.mayTest(hook);
    // Prompts happen before the queue, because other hooks must not wait for an answer of the user.
    const decision = await approvals.authorize(hook);
    if (!decision.allowed) return { ...denialOf(decision), durationMs: 0 };
    const timeoutMs = hook.timeout ?? this.options.timeoutMs();
    const queue = this.options.queue();
    const { type, waitedMs } = await queue.enter({ timeoutMs, signal: waiter.signal, clock });
    if (type !== 'entered') {
      const problem = type === 'late' ? queueTimeout(timeoutMs, queue.most) : ABORTED;
      return { status: 'failed', problem, durationMs: waitedMs };
    }
    try {
      const left = Math.max(1, timeoutMs - waitedMs);
      const result = await this.start(hook, progress, { ...waiter, isTested, timeoutMs: left });
      return result && { ...result, durationMs: result.durationMs + waitedMs, waitedMs };
    } finally {
      queue.leave();
    }
  }

  private async start<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
    { isTested, timeoutMs, signal, detach }: StartOptions,
  ): Promise<Execution | undefined> {
    const { options } = this;
    const stdin = this.inputOf(hook, progress);
    // Little code runs between verification and start, so that files have no time to change.
    const verified = await this.parts.approvals.verify(hook);
    if (!verified.allowed) return { ...denialOf(verified), durationMs: 0 };
    const isForThis =
      isTested || (isMatched(hook, progress.context, options.toolNames) && isWanted(hook, progress, options));
    if (!isForThis) return undefined;
    let input: string | Promise<string> | undefined;
    const onFirstLine = (line: string) => {
      if (dialectOf(hook.dialect).detaches?.(line)) detach?.();
    };
    const result = await this.launch(hook, verified, {
      env: this.environmentOf(hook, verified, progress.context.sessionId),
      // The input is built while the program starts, to save time.
      stdin: () => (input ??= stdin()),
      timeoutMs,
      signal,
      onFirstLine,
    });
    const redact = redactorOf(hook, options);
    return { ...result, input: await input, stdout: redact(result.stdout), stderr: redact(result.stderr) };
  }

  /**
   * Runs the program of a hook, or asks its server. If its working directory is missing, uses the workspace, or else the
   * home directory.
   */
  private async launch(hook: ShellHook, verified: VerifiedItem, run: HookRun): Promise<ProcessResult> {
    const { workspaceDir, spawn, fetch, report } = this.options;
    const { clock } = this.parts;
    const { stdin, timeoutMs, signal } = run;
    if (hook.http !== undefined)
      return postEvent({ url: hook.command, handler: hook.http, body: stdin(), timeoutMs, signal }, { clock, fetch });
    const { command = '', argv0, args = [], cwd = workspaceDir } = verified.launch ?? {};
    const options = { ...run, command, argv0, args, clock, spawn };
    const result = await runProcess({ ...options, cwd });
    if (result.failure?.code !== 'cwd-missing') return result;
    const folder = isFolder(workspaceDir) ? workspaceDir : (homeFolder() ?? '/');
    const message = `Hook "${hook.name}" runs in ${folder}, because its working directory ${cwd} does not exist.`;
    report({ level: 'warning', code: 'cwd-missing', message, hook: hook.name });
    return runProcess({ ...options, cwd: folder });
  }

  /**
   * Returns the environment of a hook. A workspace hook gets a short list of variables and the variables it declares.
   * Every other hook gets the environment of this process without keys of model providers.
   */
  private environmentOf(hook: ShellHook, verified: VerifiedItem, sessionId: string): Environment {
    const { workspaceDir, inheritEnv } = this.options;
    const { prefix, exclude } = this;
    const ofDialect = dialectOf(hook.dialect).variables(hook, { workspaceDir, sessionId, prefix });
    const additions = { ...declared(hook), ...ofDialect, ...hook.variables?.(), ...verified.launch?.env };
    const base = { parent: process.env, exclude, additions };
    return verified.scope === 'workspace' ? workspaceEnvironment(base) : userEnvironment(base, inheritEnv);
  }

  /**
   * Returns a function that builds the standard input of a hook from the event as it is now. The function returns a
   * promise if the transcript has to be written first.
   */
  private inputOf<Value>(hook: ShellHook, progress: EventProgress<Value>): () => string | Promise<string> {
    const { sessionId, transcript } = progress.context;
    const fields = progress.context.describe(progress.value);
    const textOf = (transcriptPath: string): string => {
      const now = this.parts.clock.now();
      const input = hookInput(hook, progress, { ...this.options, fields, transcriptPath, now });
      this.parts.reports.start(hook, input);
      return jsonText(input);
    };
    const { transcripts } = this.options;
    if (transcripts === undefined || !readsTranscripts(hook)) return () => textOf('');
    return () => transcripts.write(sessionId, transcript?.()).then(textOf);
  }
}

/** One run of a hook's program. */
interface HookRun extends Pick<RunProcessOptions, 'env' | 'timeoutMs' | 'signal' | 'onFirstLine'> {
  readonly stdin: () => string | Promise<string>;
}

/** Returns the variables that the hook declares in `reads`. The approval prompt shows their names. */
function declared({ reads = [] }: ShellHook): Record<string, string> {
  const named = reads.filter((name) => !isRefusedName(name) && process.env[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, process.env[name] as string]));
}

/** Returns the function that removes the secrets of the hook's extension and of the application from a string. */
export function redactorOf(hook: ShellHook, { redact }: Pick<HookExecutorOptions, 'redact'>): (text: string) => string {
  return (text) => [hook.redact, redact].reduce((shown, next) => next?.(shown) ?? shown, text);
}
