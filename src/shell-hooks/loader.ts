import { describeError, OptionInvalidError } from '../errors.js';
import type { Changes } from '../internal/changes.js';
import { systemClock } from '../internal/clock.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { HookDialect, HookEvent } from '../programs/hook-event.js';
import type { Approval } from '../trust/approvals/store.js';
import { createTrustGate, type TrustGate } from '../trust/gate.js';
import type { TrustScope } from '../trust/item.js';
import { Installation } from './events/lifecycles.js';
import { NameCheck } from './events/name-check.js';
import { PendingMessages, RunStates } from './events/run-state.js';
import { FileHooks } from './files/file-hooks.js';
import { type GuardStatus, Guards } from './guards.js';
import { Diagnostics, type HookDiagnostic, type Report } from './hook/diagnostic.js';
import { HookRegistry } from './hook/registry.js';
import { resolveShellHooksOptions, type ShellHooksOptions, type ShellHooksSettings } from './options.js';
import { HookApprovals } from './run/approval.js';
import { BackgroundHooks } from './run/background.js';
import { ProcessQueue } from './run/process-queue.js';
import { type HookHost, HookReports } from './run/reports.js';
import { HookRunner } from './run/runner.js';
import type { HookSystem } from './run/system.js';
import { Transcripts } from './transcript/transcripts.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** A registered hook, as listed by `status()`. */
export interface ShellHookStatus {
  readonly id: string;
  readonly name: string;
  readonly event: HookEvent;
  readonly scope: TrustScope;
  readonly dialect: HookDialect;
  readonly source: string | undefined;
  /** Number of failed runs of the hook since the loader was created. */
  readonly failures: number;
}

/** Result of `status()`: all registered hooks and the last 1,000 diagnostics. */
export interface ShellHooksStatus {
  readonly hooks: readonly ShellHookStatus[];
  readonly diagnostics: readonly HookDiagnostic[];
  /** Every guard that was found in a file, including guards that could not be read. */
  readonly guards: readonly GuardStatus[];
}

/** The loader that `shellHooks` returns. It serves one agent; a second agent cannot load it. */
export interface ShellHooks extends LifecycleLoader {
  readonly registry: HookRegistry;
  readonly gate: TrustGate;
  /** Runs the hooks of an event without an agent. */
  readonly runner: HookRunner;
  /** Returns the registered hooks and the diagnostics. Starts no program and prompts nobody. */
  status(): ShellHooksStatus;
  /** Returns the stored approvals of all workspaces. */
  approvals(): Promise<readonly Approval[]>;
  /** Revokes the approvals with this digest. Returns their number. */
  revoke(digest: string): Promise<number>;
  /**
   * Reads the hook files again and returns the changes by hook name. A hook that has not changed stays registered. A
   * discovered file that cannot be read keeps its hooks. Rejects with a `HookFileError` and changes nothing if a file
   * of the option `files` cannot be read.
   *
   * A changed file has no effect until `reload` is called.
   */
  reload(): Promise<Changes>;
}

/**
 * Creates a loader that runs executables at the events of an agent. A hook gets each event as JSON on standard input,
 * and answers with JSON on standard output.
 *
 * @example
 * const guard = { event: 'before_tool', name: 'guard', command: 'node', args: ['guard.mjs'], matcher: 'delete_file' } as const;
 * const agent = new Agent({ model, loaders: [shellHooks({ hooks: [guard], approve: terminalApprover() })] });
 */
export function shellHooks(options: ShellHooksOptions = {}): ShellHooks {
  return new ShellHooksLoader(resolveShellHooksOptions(options));
}

class ShellHooksLoader implements ShellHooks {
  readonly name = 'shell-hooks';
  readonly registry: HookRegistry;
  readonly gate: TrustGate;
  readonly runner: HookRunner;
  private readonly diagnostics: Diagnostics;
  private readonly fileHooks: FileHooks;
  private readonly system: HookSystem;
  private guards: Guards | undefined = undefined;
  private isLoaded = false;
  private unfollow = () => {};

  constructor(private readonly settings: ShellHooksSettings) {
    const { onDiagnostic, machine = {}, registry = new HookRegistry(), own, maxProcesses, timeout } = settings;
    const { logger = consoleLogger, clock = systemClock } = machine;
    const queue = new ProcessQueue().limitTo(maxProcesses);
    const host = { ...settings, ...machine, clock, logger, queue, timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS };
    const following = followingLogger(host);
    const { transcriptFolder: folder } = settings;
    this.diagnostics = new Diagnostics(following, onDiagnostic);
    const { report } = this.diagnostics;
    this.registry = registry;
    this.gate = settings.gate ?? createGate(settings, following, report);
    for (const hook of own) registry.register(hook);
    this.fileHooks = new FileHooks(settings, registry, report);
    this.system = Object.assign(host, {
      registry,
      report,
      approvals: new HookApprovals(this.gate, settings.workspaceDir),
      reports: new HookReports(host, report),
      background: new BackgroundHooks(),
      transcripts: folder === undefined ? undefined : new Transcripts({ ...host, folder, report }),
    });
    this.runner = new HookRunner(this.system);
  }

  async load(host: LoaderHost): Promise<void> {
    if (this.isLoaded) {
      throw new OptionInvalidError(
        'loaders',
        '`loaders` must not share shell hooks, got those of another agent: call `shellHooks` for each agent',
      );
    }
    this.isLoaded = true;
    const { registry, runner, system, diagnostics } = this;
    system.logger = host.logger;
    system.queue = ProcessQueue.of(host.signal).limitTo(system.maxProcesses);
    const nameCheck = new NameCheck(host, system);
    const guards = new Guards(system, nameCheck, diagnostics);
    this.guards = guards;
    try {
      await this.reload();
    } catch (error) {
      this.isLoaded = false;
      throw error;
    }
    const parts = {
      ...system,
      runner,
      pending: new PendingMessages(),
      runs: new RunStates(),
      notices: new Set<Promise<unknown>>(),
      signal: host.signal,
    };
    const installation = new Installation(host, parts, registry);
    const follow = async () => {
      installation.update();
      await nameCheck.update();
      await guards.update();
    };
    const report = (error: unknown) =>
      host.logger.error(`A change of the hooks did not take effect everywhere: ${describeError(error)}`, error);
    this.unfollow = registry.onChange(() => follow().catch(report));
    await follow();
  }

  async reload(): Promise<Changes> {
    const changes = await this.fileHooks.read();
    this.system.timeoutMs = this.settings.timeout ?? this.fileHooks.timeout ?? DEFAULT_TIMEOUT_MS;
    return changes;
  }

  async close(): Promise<void> {
    this.unfollow();
    await this.registry.settled();
    await this.system.background.close(this.system.clock);
    this.isLoaded = false;
  }

  status(): ShellHooksStatus {
    const { failures } = this.system.reports;
    const hooks = this.registry.list().map((hook): ShellHookStatus => {
      const { id, name, event, scope, dialect, source } = hook;
      return { id, name, event, scope, dialect, source, failures: failures.get(id) ?? 0 };
    });
    return { hooks, diagnostics: this.diagnostics.list(), guards: this.guards?.list() ?? [] };
  }

  approvals(): Promise<readonly Approval[]> {
    return this.gate.store.list();
  }

  revoke(digest: string): Promise<number> {
    return this.gate.revoke(digest);
  }
}

function createGate(settings: ShellHooksSettings, logger: Logger, report: Report): TrustGate {
  const { workspaceDir, appName, userDir: stateDir, approve, machine } = settings;
  return createTrustGate({
    workspaceDir,
    appName,
    stateDir,
    approve,
    logger,
    clock: machine?.clock,
    onUserHooksChanged: ({ type, source, name }) => {
      const message = `The user hook "${name}" has changed since it last ran.`;
      report({ level: 'warning', code: type, message, source, hook: name });
    },
  });
}

/** Forwards each line to the current logger, because the logger of the agent is unknown before `load`. */
function followingLogger(host: HookHost): Logger {
  return {
    debug: (message, details) => host.logger.debug(message, details),
    info: (message, details) => host.logger.info(message, details),
    warn: (message, details) => host.logger.warn(message, details),
    error: (message, details) => host.logger.error(message, details),
  };
}
