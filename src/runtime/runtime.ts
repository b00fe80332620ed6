import { isObject } from '../internal/json.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { boolean, fullText, object, sessionStore } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { LifecycleLoader } from '../lifecycle/lifecycle.js';
import { type ManifestOptions, type Manifests, type ManifestsStatus, manifests } from '../manifest/manifest.js';
import { resolveManifestOptions, sharedRules } from '../manifest/options.js';
import { type McpServerStatus, type McpServers, type McpServersOptions, mcpServers } from '../mcp/mcp.js';
import { type PluginsOptions, plugins } from '../plugins/plugins.js';
import { isHandled } from '../process/host-exit.js';
import {
  type ShellHooks,
  type ShellHooksOptions,
  type ShellHooksStatus,
  shellHooks,
} from '../shell-hooks/shell-hooks.js';
import type { SessionStore } from '../state/session-store.js';
import { FileSessionStore } from '../stores/file/file.js';
import type { Approver } from '../trust/decision.js';
import { createTrustGate, type TrustGate } from '../trust/gate.js';
import { RelayHost } from './relay-host.js';

/** What `loadRuntime` takes. All of it is optional. */
export interface RuntimeOptions {
  /** Names the folders, files and variables of the application. Default `keelson`. */
  readonly appName?: string | undefined;
  /**
   * The folder that is worked in. Default: the current one. Nothing in it is trusted by itself, so the user's folder may
   * not lie in there.
   */
  readonly cwd?: string | undefined;
  /** Asks the user about what comes from that folder. Without it nothing of it is used that was not approved before. */
  readonly approve?: Approver | undefined;
  /** How long a question stands, in milliseconds; then the answer is no. Default five minutes. */
  readonly approveTimeoutMs?: number | undefined;
  /** Digests that are allowed without a question, for where there is nobody to ask. */
  readonly allow?: readonly string[] | undefined;
  /** The user's folder, absolute. Default `~/.<appName>`. */
  readonly userDir?: string | undefined;
  /** Other programs whose extensions and hooks are read as they are. Default: none. */
  readonly compat?: ManifestOptions['compat'];
  /** The application's own configuration: `hooks` (with `timeout`), `mcpServers`, and `extensions` with settings. */
  readonly config?: RuntimeConfig | undefined;
  /** More of each part; `false` leaves plugins out. */
  readonly manifests?: Omit<ManifestOptions, Shared | 'userDir' | 'config' | 'compat' | 'logger' | 'mcp'> | undefined;
  readonly hooks?: Omit<ShellHooksOptions, Shared | 'redact' | 'userDir'> | undefined;
  readonly mcp?: Omit<McpServersOptions, Shared | 'servers'> | undefined;
  readonly plugins?: Omit<PluginsOptions, Shared> | false | undefined;
  /** Where sessions live. Default: files in `sessions` of the user's folder. */
  readonly store?: SessionStore | undefined;
  /** Whether SIGINT and SIGTERM close the runtime and its agents before they end the process. Default false. */
  readonly closeOnSignals?: boolean | undefined;
  readonly logger?: Logger | undefined;
}

/** What all parts of a runtime have in common. */
type Shared = 'workspaceDir' | 'appName' | 'gate' | 'approve' | 'approveTimeoutMs' | 'allow' | 'hooks';

/** The configuration of an application, as far as a runtime reads it. */
export interface RuntimeConfig {
  readonly hooks?: ShellHooksOptions['hooks'];
  readonly mcpServers?: McpServersOptions['servers'];
  readonly extensions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  readonly [key: string]: unknown;
}

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

const rules = {
  ...sharedRules,
  cwd: fullText,
  config: object,
  manifests: object,
  hooks: object,
  mcp: object,
  plugins: { expected: 'an object or false', accepts: (value) => value === false || isObject(value) },
  store: sessionStore,
  closeOnSignals: boolean,
} satisfies OptionTable<RuntimeOptions>;
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
  private latestPlugins: LifecycleLoader | undefined = undefined;
  private closing: Promise<void> | undefined = undefined;

  constructor(private readonly options: RuntimeOptions) {
    validateOptions(options, rules);
    const { cwd = process.cwd(), config = {}, compat = [], approve, approveTimeoutMs, allow } = options;
    const given = { appName: options.appName, userDir: options.userDir, compat };
    const { appName, userDir, workspaceDir } = resolveManifestOptions({ ...given, workspaceDir: cwd });
    this.place = { appName, workspaceDir };
    this.logger = options.logger ?? consoleLogger;
    const asking = { approve, approveTimeoutMs, allow, logger: this.logger };
    this.gate = createTrustGate({ ...this.place, ...asking, stateDir: userDir });
    const shared = { ...this.place, gate: this.gate };
    const redact = (text: string): string => this.extensions.redactValues(text);
    const ownHooks = config.hooks && { hooks: config.hooks };
    const found = { discover: ['native', ...compat] as const, ...options.hooks };
    this.hooks = shellHooks({ ...found, ...ownHooks, ...shared, userDir, redact });
    this.mcp = mcpServers({ ...options.mcp, workspaceDir, gate: this.gate, servers: config.mcpServers ?? {} });
    const parts = { hooks: this.hooks, mcp: this.mcp, config, userDir, logger: this.logger };
    this.extensions = manifests({ ...options.manifests, ...shared, ...parts, compat });
    this.store = options.store ?? new FileSessionStore({ folder: `${userDir}/sessions` });
    this.host = new RelayHost(this.extensions.redactingLogger(this.logger));
  }

  async load(): Promise<void> {
    try {
      await this.extensions.load(this.host);
    } catch (error) {
      await this.close();
      throw error;
    }
    if (this.options.closeOnSignals) follow(this);
  }

  agentOptions() {
    const loaders = [this.host.loader(() => this.status())];
    if (this.options.plugins !== false) {
      this.latestPlugins = plugins({ optional: true, ...this.options.plugins, ...this.place, gate: this.gate });
      loaders.push(this.latestPlugins);
    }
    return { loaders, store: this.store, logger: this.host.logger };
  }

  status(): RuntimeStatus {
    return this.extensions.redactValues({
      extensions: this.extensions.status(),
      hooks: this.hooks.status(),
      servers: this.mcp.status(),
      plugins: this.latestPlugins?.status?.(),
    });
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
    this.host.close();
    await this.extensions.close?.();
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
