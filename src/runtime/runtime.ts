import { joinChanges } from '../internal/changes.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { createDeferred } from '../internal/promise.js';
import type { LifecycleLoader } from '../lifecycle/lifecycle.js';
import { type Manifests, type ManifestsStatus, manifests } from '../manifest/manifest.js';
import { resolveManifestOptions } from '../manifest/options.js';
import { type McpServerStatus, type McpServers, mcpServers } from '../mcp/mcp.js';
import { workspaceRoots } from '../process/files/workspace.js';
import { isHandled } from '../process/host-exit.js';
import { type ShellHooks, type ShellHooksStatus, shellHooks } from '../shell-hooks/shell-hooks.js';
import type { SessionStore } from '../state/session-store.js';
import { FileSessionStore } from '../stores/file/file.js';
import { createTrustGate, type TrustGate } from '../trust/gate.js';
import { AgentPlugins } from './agent-plugins.js';
import { RuntimeClosedError } from './error.js';
import { formatsIn, hookSourcesOf, type RuntimeOptions, validateRuntimeOptions } from './options.js';
import { RelayHost } from './relay-host.js';
import {
  JoinedWork,
  pluginChanges,
  type RuntimeDiagnostic,
  type RuntimeReload,
  serverChanges,
  serverDiagnostics,
} from './reload.js';

export type { Changes } from '../internal/changes.js';
export { RuntimeClosedError } from './error.js';
export type { RuntimeConfig, RuntimeOptions } from './options.js';
export type { RuntimeDiagnostic, RuntimeReload } from './reload.js';

/** Everything that a runtime has, as it stands. */
export interface RuntimeStatus {
  readonly extensions: ManifestsStatus;
  readonly hooks: ShellHooksStatus;
  readonly servers: readonly McpServerStatus[];
  /** What the loader of plugins says; absent before an agent has loaded them. */
  readonly plugins: unknown;
}

/** What a host application has of `loadRuntime`. */
export interface Runtime {
  readonly gate: TrustGate;
  readonly extensions: Manifests;
  readonly hooks: ShellHooks;
  readonly mcp: McpServers;
  readonly store: SessionStore;
  /**
   * The options of one agent: `new Agent({ model, ...runtime.agentOptions() })`. Call it anew for each; plugins are
   * loaded with each.
   */
  agentOptions(): {
    readonly loaders: readonly LifecycleLoader[];
    readonly store: SessionStore;
    readonly logger: Logger;
  };
  /** Starts nothing, contacts nobody and asks nobody. */
  status(): RuntimeStatus;
  /**
   * Reads hooks, `.mcp.json`, extensions and plugins again, asks about what has changed, and returns the changes. What has
   * not changed is neither started again nor asked about. Tool calls that are under way get their results before their
   * server ends, and runs keep the plugins that they began with. A call during a reload shares one more reload after it
   * with all such calls. Rejects with a RuntimeClosedError once the runtime is closed.
   */
  reload(): Promise<RuntimeReload>;
  /** Ends every process and connection. Agents that live on have nothing of it any more. */
  close(): Promise<void>;
  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Puts together what a host application needs beside a model: extensions, shell hooks, MCP servers (also those of
 * `.mcp.json`), plugins, skills and sessions, behind one gate and with one status. Resolves when all questions about
 * extensions and servers have an answer, and each server is connected or has failed; a hook of a file is asked about when
 * it is first about to run.
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
/** The runtimes of this process that a signal closes. */
const following = new Set<LoadedRuntime>();

class LoadedRuntime implements Runtime {
  readonly gate: TrustGate;
  readonly extensions: Manifests;
  readonly hooks: ShellHooks;
  readonly mcp: McpServers;
  readonly store: SessionStore;
  private readonly host: RelayHost;
  private readonly logger: Logger;
  private readonly place: { readonly appName: string; readonly workspaceDir: string };
  /** Of the agents that were made, but for those that are closed. */
  private readonly plugins = new Set<AgentPlugins>();
  private latestPlugins: AgentPlugins | undefined = undefined;
  private readonly reloads = new JoinedWork(() => this.reloadAll());
  private closing: Promise<void> | undefined = undefined;
  private readonly closed = createDeferred<never>();

  constructor(private readonly options: RuntimeOptions) {
    validateRuntimeOptions(options);
    const { cwd = process.cwd(), config = {}, compat = [], approve, approveTimeoutMs, allow, limits } = options;
    const given = { appName: options.appName, userDir: options.userDir };
    const { appName, userDir, workspaceDir } = resolveManifestOptions({ ...given, workspaceDir: cwd });
    this.place = { appName, workspaceDir };
    this.logger = options.logger ?? consoleLogger;
    const asking = { approve, approveTimeoutMs, allow, limits, logger: this.logger };
    this.gate = options.gate ?? createTrustGate({ ...this.place, ...asking, stateDir: userDir });
    const shared = { ...this.place, gate: this.gate };
    this.hooks = shellHooks({ ...hookSourcesOf(options), ...shared, userDir, redact: (text) => this.redact(text) });
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
        `${workspaceDir} is the home folder or holds it, so it is no workspace: only the user's own items load.`,
      );
    }
    try {
      await this.extensions.load(this.host);
    } catch (error) {
      await this.close();
      throw error;
    }
    if (this.options.closeOnSignals) follow(this);
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
    return this.extensions.redactValues({
      extensions: this.extensions.status(),
      hooks: this.hooks.status(),
      servers: this.mcp.status(),
      plugins: this.latestPlugins?.status(),
    });
  }

  async reload(): Promise<RuntimeReload> {
    if (this.closing !== undefined) throw new RuntimeClosedError();
    // Somebody may be asked for long, and nobody waits for that after the end.
    return Promise.race([this.reloads.run(), this.closed.promise]);
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async end(): Promise<void> {
    unfollow(this);
    this.closed.promise.catch(() => {});
    this.closed.reject(new RuntimeClosedError());
    this.host.close();
    await this.extensions.close?.();
  }

  private redact(text: string): string {
    return this.extensions.redactValues(text);
  }

  /** Hooks first: what they guard comes after them. */
  private async reloadAll(): Promise<RuntimeReload> {
    const { extensions, mcp } = this;
    const known = new Set(this.hooks.status().diagnostics);
    const hooks = this.options.hooks === false ? [] : [await this.hooks.reload()];
    const servers = await mcp.reload();
    const packages = await extensions.reload();
    const plugins = await Promise.all([...this.plugins].map((own) => own.reload()));
    const problems = new Set(plugins.flatMap((reloaded) => reloaded.problems));
    return extensions.redactValues({
      extensions: packages.extensions,
      hooks: joinChanges([...hooks, packages.hooks]),
      servers: serverChanges(servers, packages.servers),
      plugins: pluginChanges(plugins),
      diagnostics: [
        ...this.hooks.status().diagnostics.flatMap((one) => (known.has(one) ? [] : diagnosticOf('hooks', one))),
        ...extensions.status().diagnostics.map((one) => diagnosticOf('extensions', one)),
        ...serverDiagnostics(servers.problems, mcp.status()),
        ...[...problems].map((message) => diagnosticOf('plugins', { level: 'error', message })),
      ],
    });
  }

  /** Closes the agents, and then the runtime. */
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

function follow(runtime: LoadedRuntime): void {
  // First in line: a `once` handler of the host's is off the list by the time that it runs.
  if (following.size === 0) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  following.add(runtime);
}

function unfollow(runtime: LoadedRuntime): void {
  if (following.delete(runtime) && following.size === 0) unlisten();
}

function unlisten(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Closes every runtime, and lets the signal do what it would have done, where nobody else has taken it. */
function onSignal(signal: NodeJS.Signals): void {
  const isTaken = isHandled(signal, onSignal);
  const closing = [...following].map((runtime) => runtime.endWithAgents());
  following.clear();
  // A second signal does not wait. Off the list only now: who ends the process at once where it is alone shall see this.
  setImmediate(() => following.size === 0 && unlisten());
  void Promise.allSettled(closing).then(() => {
    if (!isTaken && !isHandled(signal, onSignal)) process.kill(process.pid, signal);
  });
}
