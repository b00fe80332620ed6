import { describeError, OptionInvalidError } from '../errors.js';
import { type Changes, changesBetween } from '../internal/changes.js';
import { systemClock } from '../internal/clock.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { Approval } from '../trust/approvals/approval.js';
import { createTrustGate, type TrustGate } from '../trust/gate.js';
import type { TrustScope } from '../trust/item.js';
import { NameCheck } from './events/name-check.js';
import { PendingMessages } from './events/pending-messages.js';
import { RunStates } from './events/run-state.js';
import { unnamedTools } from './events/unnamed-tools.js';
import { Diagnostics, type HookDiagnostic } from './files/diagnostic.js';
import { type HookFile, readHookFile, standardFiles } from './files/hook-file.js';
import type { HookContent } from './files/source.js';
import type { HookRegistration } from './hook/definition.js';
import type { HookDialect, HookEvent } from './hook/event.js';
import { comparedHook } from './hook/hook-content.js';
import { HookRegistry } from './hook/registry.js';
import { resolveHook } from './hook/resolve-hook.js';
import { Installation } from './installation.js';
import { resolveShellHooksOptions, type ShellHooksOptions, type ShellHooksSettings } from './options.js';
import { ProcessQueue } from './run/process-queue.js';
import { HookRunner } from './run/runner.js';
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
  private readonly transcripts: Transcripts | undefined;
  private logger: Logger;
  private queue: ProcessQueue;
  private fileTimeout: number | undefined = undefined;
  private fileHooks: readonly string[] = [];
  /** Last readable content of each discovered file, by file path. */
  private readonly contents = new Map<string, HookContent>();
  /** Hook files for which `tools-unnamed` was reported. */
  private readonly explained = new Set<string | undefined>();
  private isLoaded = false;
  private unfollow = () => {};

  constructor(private readonly settings: ShellHooksSettings) {
    const logger = this.followingLogger();
    const { onDiagnostic, machine = {}, registry = new HookRegistry(), own } = settings;
    this.logger = machine.logger ?? consoleLogger;
    this.diagnostics = new Diagnostics(logger, onDiagnostic);
    this.registry = registry;
    this.gate = settings.gate ?? this.createGate(logger);
    for (const hook of own) registry.register(hook);
    this.transcripts = this.createTranscripts();
    this.queue = new ProcessQueue().limitTo(settings.maxProcesses);
    this.runner = new HookRunner({
      ...{ registry, gate: this.gate, ...machine, logger, report: this.diagnostics.report },
      ...{ workspaceDir: settings.workspaceDir, appName: settings.appName, onNotice: settings.onNotice },
      ...{ inheritEnv: settings.inheritEnv ?? false, sensitive: settings.sensitive ?? [] },
      ...{ toolNames: settings.toolNames ?? {}, queue: () => this.queue, redact: settings.redact },
      transcripts: this.transcripts,
      timeoutMs: () => settings.timeout ?? this.fileTimeout ?? DEFAULT_TIMEOUT_MS,
    });
  }

  async load(host: LoaderHost): Promise<void> {
    if (this.isLoaded) {
      throw new OptionInvalidError(
        'loaders',
        '`loaders` must not share shell hooks, got those of another agent: call `shellHooks` for each agent',
      );
    }
    this.isLoaded = true;
    this.logger = host.logger;
    this.queue = ProcessQueue.of(host.signal).limitTo(this.settings.maxProcesses);
    try {
      await this.reload();
    } catch (error) {
      this.isLoaded = false;
      throw error;
    }
    const { runner } = this;
    const { logger, signal } = host;
    const { transcripts } = this;
    const state = { notes: new PendingMessages(), runs: new RunStates(), notices: new Set<Promise<unknown>>() };
    const parts = { runner, logger, signal, transcripts, ...state };
    const installation = new Installation(host, parts, this.registry);
    const { toolNames = {} } = this.settings;
    const nameCheck = new NameCheck(host, { registry: this.registry, toolNames, report: this.diagnostics.report });
    const follow = () => {
      installation.update();
      nameCheck.update();
      this.explainNames();
    };
    follow();
    this.unfollow = this.registry.onChange(follow);
  }

  async reload(): Promise<Changes> {
    const { discover, files, workspaceDir } = this.settings;
    const found = (await Promise.all(discover.map((dialect) => standardFiles(dialect, this.settings)))).flat();
    const contents = [];
    // Hooks of the user run before hooks of the workspace.
    for (const scope of ['user', 'workspace'] as const) {
      for (const file of found) if (file.scope === scope) contents.push(await this.readLeniently(file));
    }
    for (const file of files)
      contents.push(await readHookFile(file, { workspaceDir, report: this.diagnostics.report }));
    const before = this.registry.list().filter(({ id }) => this.fileHooks.includes(id));
    const wanted = contents.flatMap(({ hooks }) => hooks).filter((hook) => this.isUsable(hook));
    const after = this.registry.replace(this.fileHooks, wanted);
    this.fileHooks = after.map(({ id }) => id);
    this.fileTimeout = contents.findLast(({ timeout }) => timeout !== undefined)?.timeout;
    return changesBetween(before.map(comparedHook), after.map(comparedHook));
  }

  close(): void {
    this.unfollow();
    this.isLoaded = false;
  }

  status(): ShellHooksStatus {
    const { failures } = this.runner;
    const hooks = this.registry.list().map((hook): ShellHookStatus => {
      const { id, name, event, scope, dialect, source } = hook;
      return { id, name, event, scope, dialect, source, failures: failures.get(id) ?? 0 };
    });
    return { hooks, diagnostics: this.diagnostics.list() };
  }

  approvals(): Promise<readonly Approval[]> {
    return this.gate.store.list();
  }

  revoke(digest: string): Promise<number> {
    return this.gate.revoke(digest);
  }

  /** Reports hooks that may never run, because they name tools of another program that `toolNames` lacks. */
  private explainNames(): void {
    const unexplained = this.registry.list().filter(({ source }) => !this.explained.has(source));
    for (const { sources, ...diagnostic } of unnamedTools(unexplained, this.settings.toolNames)) {
      for (const source of sources) this.explained.add(source);
      this.diagnostics.report({ ...diagnostic, code: 'tools-unnamed', source: sources[0] });
    }
  }

  private createTranscripts(): Transcripts | undefined {
    const { transcripts: folder, workspaceDir, toolNames = {}, sensitive = [], machine, redact } = this.settings;
    if (folder === undefined) return undefined;
    const now = () => (machine?.clock ?? systemClock).now();
    const { report } = this.diagnostics;
    return new Transcripts({ folder, workspaceDir, toolNames, sensitive, redact, now, report });
  }

  private createGate(logger: Logger): TrustGate {
    const { workspaceDir, appName, userDir: stateDir, approve, machine } = this.settings;
    const { report } = this.diagnostics;
    return createTrustGate({
      ...{ workspaceDir, appName, stateDir, approve, logger, clock: machine?.clock },
      onUserHooksChanged: ({ type, source, name }) => {
        const message = `The user hook "${name}" has changed since it last ran.`;
        report({ level: 'warning', code: type, message, source, hook: name });
      },
    });
  }

  /** Forwards to the current logger. The logger of the host is unknown before `load`. */
  private followingLogger(): Logger {
    return {
      debug: (message, details) => this.logger.debug(message, details),
      info: (message, details) => this.logger.info(message, details),
      warn: (message, details) => this.logger.warn(message, details),
      error: (message, details) => this.logger.error(message, details),
    };
  }

  /** Reads a discovered file. Reports an unreadable file and returns its last readable content. */
  private async readLeniently(file: HookFile): ReturnType<typeof readHookFile> {
    const { report } = this.diagnostics;
    try {
      const content = await readHookFile(file, { workspaceDir: this.settings.workspaceDir, report });
      this.contents.set(file.path, content);
      return content;
    } catch (error) {
      report({ level: 'error', code: 'file-unreadable', message: describeError(error), source: file.path });
      return this.contents.get(file.path) ?? { hooks: [] };
    }
  }

  /** Reports an invalid hook and returns false. Other hooks of the same file stay valid. */
  private isUsable(hook: HookRegistration): boolean {
    try {
      resolveHook(hook, 'unregistered');
      return true;
    } catch (error) {
      const { name, source } = hook;
      this.diagnostics.report({
        level: 'error',
        code: 'hook-invalid',
        message: describeError(error),
        hook: name,
        source,
      });
      return false;
    }
  }
}
