import { describeError } from '../../errors.js';
import {
  type Environment,
  isRefusedName,
  userEnvironment,
  variablePrefix,
  workspaceEnvironment,
} from '../../process/environment.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { type ProcessResult, type RunProcessOptions, runProcess } from '../../process/run-process.js';
import { findResourceFailure, isFolder } from '../../process/spawn-failure.js';
import type { VerifiedItem } from '../../trust/decision.js';
import { dialectOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import { failed, type HookProblem } from '../hook/effects.js';
import { jsonText, redactorOf } from '../hook/plain-json.js';
import { type Denial, denialOf } from './approval.js';
import { postEvent } from './http-handler.js';
import { hookInput } from './input.js';
import { isMatched, isWanted } from './matching.js';
import { type EventProgress, type FinishedRun, finishHook, readResult } from './outcome.js';
import type { HookSystem } from './system.js';

/** The event that waits for a hook. */
export interface Waiter {
  readonly signal: AbortSignal | undefined;
  /** Called if the hook writes that it needs no wait. */
  readonly detach?: (() => void) | undefined;
}

interface Start extends Waiter {
  /** True if the matcher and the condition of the hook have already been tested. */
  readonly isTested: boolean;
  readonly timeoutMs: number;
  /** Time that the hook spent in the queue. */
  readonly waitedMs: number;
}

/** A hook of a closed runtime fails, so that a guard with `onFailure: 'block'` refuses. */
const CLOSED: HookProblem = {
  kind: 'not-started',
  message: 'It did not start because the runtime is closed',
  hint: 'Close the agents before the runtime.',
};
const ABORTED: HookProblem = { kind: 'aborted', message: 'It did not start because the operation was aborted' };

/** Runs single hooks: approval, queue, start, and the reading of the result. */
export class HookExecutor {
  private readonly prefix: string;
  /** Directories that no PATH entry of a hook may lie in. */
  private readonly exclude: readonly string[];

  constructor(private readonly system: HookSystem) {
    this.prefix = variablePrefix(system.appName);
    this.exclude = workspaceRoots(system.workspaceDir);
  }

  /**
   * Waits until fewer than `maxProcesses` hooks run, and runs the hook. The wait counts towards the time limit of the
   * hook. Never rejects.
   *
   * Returns undefined if the event is not for the hook. This is known only after the approval, because the matcher
   * and the condition of a hook are not tested before.
   */
  async run<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
    waiter: Waiter = { signal: progress.context.signal },
  ): Promise<FinishedRun | undefined> {
    const { approvals, queue, clock } = this.system;
    const startedAt = clock.now();
    try {
      const isTested = approvals.mayTest(hook);
      // Prompts happen before the queue, because other hooks must not wait for an answer of the user.
      const known = queue.isClosed ? await approvals.check(hook) : undefined;
      const decision = known ?? (await approvals.authorize(hook));
      if (!decision.allowed) return notStarted(hook, denialOf(decision), 0);
      const timeoutMs = hook.timeout ?? this.system.timeoutMs;
      const { type, waitedMs } = await queue.enter({ timeoutMs, signal: waiter.signal, clock });
      if (type !== 'entered') {
        const problem = type === 'late' ? queueTimeout(timeoutMs, queue.most) : ABORTED;
        return notStarted(hook, { status: 'failed', problem }, waitedMs);
      }
      try {
        if (queue.isClosed) return notStarted(hook, { status: 'failed', problem: CLOSED }, waitedMs);
        const left = Math.max(1, timeoutMs - waitedMs);
        return await this.start(hook, progress, { ...waiter, isTested, timeoutMs: left, waitedMs });
      } finally {
        queue.leave();
      }
    } catch (error) {
      const failure = findResourceFailure(error);
      const message = `It could not be run: ${describeError(error)}`;
      const problem: HookProblem = { kind: 'not-started', ...failure, message };
      return notStarted(hook, { status: 'failed', problem }, clock.now() - startedAt);
    }
  }

  private async start<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
    { isTested, timeoutMs, waitedMs, signal, detach }: Start,
  ): Promise<FinishedRun | undefined> {
    const { system } = this;
    const { approvals, reports } = system;
    const { tool, sessionId } = progress.context;
    const stdin = this.inputOf(hook, progress);
    // Little code runs between verification and start, so that files have no time to change.
    const verified = await approvals.verify(hook);
    if (!verified.allowed) return notStarted(hook, denialOf(verified), waitedMs);
    if (!isTested && !(isMatched(hook, progress.context, system.toolNames) && isWanted(hook, progress, system)))
      return undefined;
    let input: string | Promise<string> | undefined;
    const { detaches } = dialectOf(hook.dialect);
    const ended = await this.launch(hook, verified, {
      env: this.environmentOf(hook, verified, sessionId),
      // The input is built while the program starts, to save time.
      stdin: () => (input ??= stdin()),
      timeoutMs,
      signal,
      onFirstLine: detach && detaches && ((line) => void (detaches(line) && detach())),
    });
    const redact = redactorOf(hook, system);
    const result = { ...ended, stdout: redact(ended.stdout), stderr: redact(ended.stderr) };
    const isAborted = signal?.aborted === true;
    const reading = readResult(hook, { result, waitedMs, input: await input, isAborted, tool }, system);
    reports.process(hook, result);
    const status = reading.problem === undefined ? 'completed' : 'failed';
    return finishHook(hook, reading, {
      status,
      durationMs: result.durationMs + waitedMs,
      exitCode: result.exitCode,
    });
  }

  /**
   * Runs the program of a hook, or asks its server. If its working directory is missing, uses the workspace, or else the
   * home directory.
   */
  private async launch(hook: ShellHook, verified: VerifiedItem, run: HookRun): Promise<ProcessResult> {
    const { workspaceDir, spawn, fetch, report, clock } = this.system;
    const { stdin, timeoutMs, signal } = run;
    if (hook.http !== undefined)
      return postEvent({ url: hook.command, handler: hook.http, body: stdin(), timeoutMs, signal, clock, fetch });
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
    const { workspaceDir, inheritEnv } = this.system;
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
      const now = this.system.clock.now();
      const input = hookInput(hook, progress, { ...this.system, fields, transcriptPath, now });
      this.system.reports.start(hook, input);
      return jsonText(input);
    };
    const { transcripts } = this.system;
    if (transcripts === undefined || !dialectOf(hook.dialect).facts.readsTranscripts) return () => textOf('');
    return () => transcripts.write(sessionId, transcript?.()).then(textOf);
  }
}

/** Returns the outcome of a hook whose program did not start. */
function notStarted(hook: ShellHook, { status, problem }: Denial, durationMs: number): FinishedRun {
  return finishHook(hook, failed(problem), { status, durationMs });
}

/** Returns the problem of a hook whose time limit ended in the queue, before its program could start. */
function queueTimeout(timeoutMs: number, most: number): HookProblem {
  return {
    kind: 'not-started',
    code: 'no-resources',
    message: `It could not start within its time limit of ${timeoutMs} ms, because ${most} other hooks were running`,
    hint: 'Make the hooks faster, or raise `maxProcesses` or the time limit.',
  };
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
