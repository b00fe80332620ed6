import { KeelsonError } from '../errors.js';
import { joinChanges } from '../internal/changes.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { createDeferred } from '../internal/promise.js';
import type { LifecycleLoader } from '../lifecycle/lifecycle.js';
import { type Manifests, type ManifestsStatus, manifests } from '../manifest/manifest.js';
import { resolveManifestOptions } from '../manifest/options.js';
import { type McpServerStatus, type McpServers, mcpServers } from '../mcp/mcp.js';
import { workspaceRoots } from '../process/files/workspace.js';
import { isHandled } from '../process/host-exit.js';
import { ProcessQueue } from '../shell-hooks/run/process-queue.js';
import { type GuardStatus, type ShellHooks, type ShellHooksStatus, shellHooks } from '../shell-hooks/shell-hooks.js';
import type { SessionStore } from '../state/session-store.js';
import { FileSessionStore } from '../stores/file/file.js';
import { createTrustGate, type TrustGate } from '../trust/gate.js';
import { AgentPlugins } from './agent-plugins.js';
import { guardsText, packageGuards } from './guards.js';
import { formatsIn, hookSourcesOf, type RuntimeOptions, validateRuntimeOptions } from './options.js';
import { RelayHost } from './relay-host.js';
import { type RuntimeDiagnostic, type RuntimeReload, serverDiagnostics } from './reload.js';

export type { RuntimeConfig, RuntimeOptions } from './options.js';
export type { RuntimeDiagnostic, RuntimeReload } from './reload.js';

/** Thrown if the runtime is closed, or is closed during the call. */
export class RuntimeClosedError extends KeelsonError {
  readonly code = 'ERR_RUNTIME_CLOSED';

  constructor() {
    super('The runtime is closed. Call `loadRuntime` to create another one.');
  }
}

/** The current state of every part of a runtime. */
export interface RuntimeStatus {
  readonly extensions: ManifestsStatus;
  readonly hooks: ShellHooksStatus;
  /** Every guard that was found on disk: hooks that could refuse something, and whether they do. */
  readonly guards: readonly GuardStatus[];
  readonly servers: readonly McpServerStatus[];
  /** The `status()` of the plugin loader of the agent created last. Undefined before its plugins are loaded. */
  readonly plugins: unknown;
}

/** Extension packages, shell hooks, MCP servers and sessions of a host application. Returned by `loadRuntime`. */
export interface Runtime {
  readonly gate: TrustGate;
  readonly extensions: Manifests;
  readonly hooks: ShellHooks;
  readonly mcp: McpServers;
  readonly store: SessionStore;
  /**
   * Returns the options of one agent: `new Agent({ model, ...runtime.agentOptions() })`. Call it once for each agent:
   * each agent loads its own plugins.
   */
  agentOptions(): {
    readonly loaders: readonly LifecycleLoader[];
    readonly store: SessionStore;
    readonly logger: Logger;
  };
  /** Returns the current state. It starts no process, opens no connection and prompts nobody. */
  status(): RuntimeStatus;
  /**
   * Reads hooks, `.mcp.json`, extension packages and plugins again and returns the changes. It asks for approval of
   * changed items. Unchanged items are neither restarted nor prompted for. Open tool calls get their results before
   * their server ends. Open runs keep the plugins that they started with. All calls during a reload share one further
   * reload after it. Rejects with a RuntimeClosedError if the runtime is closed.
   */
  reload(): Promise<RuntimeReload>;
  /**
   * Ends every process and connection. Agents that are still open lose the runtime's tools and skills, and its hooks
   * fail: a guard with `onFailure: 'block'` refuses.
   */
  close(): Promise<void>;
  /** Same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Loads everything a host application needs besides a model: extension packages, shell hooks, MCP servers (including
 * those of `.mcp.json`), plugins, skills and sessions. All parts share one trust gate and one status. Resolves when
 * every prompt about extension packages and servers is answered, and each server has had its time to connect, as
 * `mcp.waitForServers` says. The user is asked about a hook of a hook file when it is about to run for the first time.
 *
 * @example
 * await using runtime = await loadRuntime({ appName: 'my-agent', approve: terminalApprover() });
 * const agent = new Agent({ model, ...runtime.agentOptions() });
 */
export async function loadRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = new LoadedRuntime(options);
  await runtime.load();
  return runtime;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The runtimes of this process that SIGINT and SIGTERM close. */
const closingOnSignals = new Set<LoadedRuntime>();

class LoadedRuntime implements Runtime {
  readonly gate: TrustGate;
  readonly extensions: Manifests;
  readonly hooks: ShellHooks;
  readonly mcp: McpServers;
  readonly store: SessionStore;
  private readonly host: RelayHost;
  private readonly logger: Logger;
  private readonly place: { readonly appName: string; readonly workspaceDir: string };
  private readonly plugins = new Set<AgentPlugins>();
  private latestPlugins: AgentPlugins | undefined = undefined;
  /** Settles with the current reload, and never rejects. */
  private reloading: Promise<unknown> = Promise.resolve();
  private nextReload: Promise<RuntimeReload> | undefined = undefined;
  private closing: Promise<void> | undefined = undefined;
  private readonly closed = createDeferred<never>();

  constructor(private readonly options: RuntimeOptions) {
    validateRuntimeOptions(options);
    const { cwd = process.cwd(), config = {}, compat = [], approve, approveTimeoutMs, allow, limits } = options;
    const names = { appName: options.appName, userDir: options.userDir };
    const { appName, userDir, workspaceDir } = resolveManifestOptions({ ...names, workspaceDir: cwd });
    this.place = { appName, workspaceDir };
    this.logger = options.logger ?? consoleLogger;
    const asking = { approve, approveTimeoutMs, allow, limits, logger: this.logger };
    this.gate = options.gate ?? createTrustGate({ ...this.place, ...asking, stateDir: userDir });
    const shared = { ...this.place, gate: this.gate };
    this.hooks = shellHooks({
      ...hookSourcesOf(options),
      ...shared,
      userDir,
      redact: (text) => this.extensions.redact(text),
    });
    this.mcp = mcpServers({ ...options.mcp, workspaceDir, gate: this.gate, servers: config.mcpServers ?? {} });
    const hooks = options.hooks === false ? (false as const) : this.hooks;
    const parts = { hooks, mcp: this.mcp, config, userDir, logger: this.logger };
    this.extensions = manifests({ ...options.manifests, ...shared, ...parts, compat: formatsIn(compat) });
    this.store = options.store ?? new FileSessionStore({ folder: `${userDir}/sessions` });
    this.host = new RelayHost(this.extensions.redactingLogger(this.logger));
  }

  async load(): Promise<void> {
    const { workspaceDir } = this.place;
    if (workspaceRoots(workspaceDir).length === 0) {
      this.logger.warn(
        `${workspaceDir} is the home directory or a parent of it, so it does not count as a workspace: only the user's own items load. Start in a project directory to load its items.`,
      );
    }
    try {
      await this.extensions.load(this.host);
    } catch (error) {
      await this.close();
      throw error;
    }
    const { guards } = this.status();
    const text = guardsText(guards);
    const isWhole = guards.every(({ state }) => state === 'active');
    if (text !== undefined) this.logger[isWhole ? 'info' : 'warn'](text, { guards });
    if (this.options.closeOnSignals) closeOnSignals(this);
  }

  agentOptions() {
    const loaders: LifecycleLoader[] = [this.host.loader(() => this.status())];
    if (this.options.plugins !== false) {
      const taken = { optional: true, ...this.options.plugins, ...this.place, gate: this.gate };
      const own: AgentPlugins = new AgentPlugins(taken, () => this.plugins.delete(own));
      this.latestPlugins = own;
      this.plugins.add(own);
      loaders.push(own);
    }
    return { loaders, store: this.store, logger: this.host.logger };
  }

  status(): RuntimeStatus {
    const hooks = this.hooks.status();
    return this.extensions.redact({
      extensions: this.extensions.status(),
      hooks,
      guards: [...hooks.guards, ...packageGuards(this.extensions)],
      servers: this.mcp.status(),
      plugins: this.latestPlugins?.status(),
    });
  }

  async reload(): Promise<RuntimeReload> {
    this.nextReload ??= this.reloading.then(() => {
      this.nextReload = undefined;
      const reload = this.reloadAll();
      this.reloading = reload.catch(() => {});
      return reload;
    });
    // An approval prompt can stay open for minutes, so closing rejects without waiting for the reload.
    return Promise.race([this.nextReload, this.closed.promise]);
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async end(): Promise<void> {
    ignoreSignals(this);
    this.closed.promise.catch(() => {});
    this.closed.reject(new RuntimeClosedError());
    ProcessQueue.of(this.host.signal).isClosed = true;
    // Hooks stay: they fail from now on, so that a guard with `onFailure: 'block'` refuses.
    this.host.close(({ name }) => name?.startsWith('shell-hooks') === true);
    await this.extensions.close?.();
  }

  /** Reloads hooks first, since hooks guard the other items. */
  private async reloadAll(): Promise<RuntimeReload> {
    if (this.closing !== undefined) throw new RuntimeClosedError();
    const { extensions, mcp } = this;
    const known = new Set(this.hooks.status().diagnostics);
    const hooks = this.options.hooks === false ? [] : [await this.hooks.reload()];
    const servers = await mcp.reload();
    const packages = await extensions.reload();
    const plugins = await Promise.all([...this.plugins].map((own) => own.reload()));
    const problems = new Set(plugins.flatMap((reloaded) => reloaded.problems));
    return extensions.redact({
      extensions: packages.extensions,
      hooks: joinChanges([...hooks, packages.hooks]),
      servers: joinChanges([servers, packages.servers]),
      plugins: joinChanges(plugins),
      diagnostics: [
        ...this.hooks.status().diagnostics.flatMap((one) => (known.has(one) ? [] : diagnosticOf('hooks', one))),
        ...extensions.status().diagnostics.map((one) => diagnosticOf('extensions', one)),
        ...serverDiagnostics(servers.problems, mcp.status()),
        ...[...problems].map((message) => diagnosticOf('plugins', { level: 'error', message })),
      ],
    });
  }

  async endWithAgents(): Promise<void> {
    try {
      await this.host.closeAgent();
      await this.close();
    } catch (error) {
      this.logger.error('The runtime failed to close.', error);
    }
  }
}

function diagnosticOf(
  kind: RuntimeDiagnostic['kind'],
  { level, message }: Omit<RuntimeDiagnostic, 'kind'>,
): RuntimeDiagnostic {
  return { kind, level, message };
}

function closeOnSignals(runtime: LoadedRuntime): void {
  // This listener runs first. A `once` listener of the host is removed before it runs, so a later listener could not
  // see that the host handles the signal.
  if (closingOnSignals.size === 0) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  closingOnSignals.add(runtime);
}

function ignoreSignals(runtime: LoadedRuntime): void {
  if (closingOnSignals.delete(runtime) && closingOnSignals.size === 0) unlisten();
}

function unlisten(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/**
 * Closes every runtime. If no other listener handles the signal, then sends the signal again, which ends the process.
 */
function onSignal(signal: NodeJS.Signals): void {
  const hasOtherListener = isHandled(signal, onSignal);
  const closing = [...closingOnSignals].map((runtime) => runtime.endWithAgents());
  closingOnSignals.clear();
  // A second signal ends the process at once. The listener is removed only now: other listeners may end the process at
  // once if they find themselves alone.
  setImmediate(() => closingOnSignals.size === 0 && unlisten());
  void Promise.allSettled(closing).then(() => {
    if (hasOtherListener || isHandled(signal, onSignal)) return;
    // If there was nothing to close, the callback of `setImmediate` has not run yet. A listener that remains would
    // swallow the signal.
    unlisten();
    process.kill(process.pid, signal);
  });
}
