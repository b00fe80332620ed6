import { OptionInvalidError } from '../../errors.js';
import type { Changes } from '../../internal/changes.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import { invalidOption } from '../../internal/options/validate.js';
import type { AgentLifecycle, LoaderHost } from '../../lifecycle/lifecycle.js';
import type { Tool } from '../../tools/tool.js';
import { findServers } from '../config/config-file.js';
import type { McpServerEntry, McpServerOrigin } from '../config/definition.js';
import { readServer } from '../config/server-map.js';
import { resolveSettings } from '../config/settings.js';
import { McpClosedError, McpUnavailableError } from '../error.js';
import type { McpServersOptions } from '../options.js';
import type { McpServerStatus } from '../server/status.js';
import { coerceArguments } from '../tools/coerce.js';
import { originOf } from './claims.js';
import { type PutOutcome, reportProblems, Servers } from './servers.js';

/** The result of `reload`: the names of servers by kind of change. */
export interface McpReload extends Changes {
  /** A message for each file that could not be read. The servers of such a file are unchanged. */
  readonly problems: readonly string[];
}

/** The servers of a loader, from its options and from configuration files. */
export class Loader {
  logger: Logger;
  readonly servers: Servers;
  /**
   * Servers of the options whose problems are not logged yet. The logger may come from the agent, which is not known
   * before `load`.
   */
  private readonly unreported: McpServerEntry[] = [];
  private filesRead: Promise<unknown> | undefined = undefined;
  /** True once an agent has the loader. The hooks of the loader then convert arguments. */
  private isLoaded = false;

  constructor(private readonly options: McpServersOptions) {
    const settings = resolveSettings(options);
    this.logger = options.system?.logger ?? consoleLogger;
    // Nothing converts a call after an approval.
    const checkArguments = () => (this.converts ? 'off' : settings.checkArguments());
    this.servers = new Servers({ ...settings, checkArguments }, () => this.logger);
    // Every key of `servers` is the name of a server, also a key such as `mcpServers`.
    for (const [name, config] of Object.entries(options.servers ?? {})) {
      const entry = readServer(name, config, { scope: 'builtin' });
      this.servers.enter(entry);
      this.unreported.push(entry);
    }
  }

  private get converts(): boolean {
    return this.isLoaded && (this.options.checkArguments ?? 'coerce') === 'coerce';
  }

  /** Connects the servers for an agent. Throws if the loader is closed, because the agent would get no tools. */
  async load(host: LoaderHost, lifecycles: readonly AgentLifecycle[]): Promise<void> {
    const advice = '`loaders` must contain open MCP servers, got closed ones: call `mcpServers` again';
    if (this.servers.isClosed) throw new OptionInvalidError('loaders', advice);
    if (this.options.system?.logger === undefined) this.logger = host.logger;
    this.isLoaded = true;
    for (const lifecycle of lifecycles) host.use(lifecycle);
    await this.begin();
  }

  async connect(): Promise<void> {
    await this.begin();
    await Promise.all(this.servers.list().map(({ link }) => link.settled()));
  }

  private async begin(): Promise<void> {
    if (this.servers.isClosed) return;
    for (const entry of this.unreported.splice(0)) reportProblems(entry, () => this.logger);
    const connected = this.servers.connectIdle();
    this.filesRead ??= this.readFiles();
    await this.filesRead;
    await Promise.all([connected, this.servers.connectIdle()]);
  }

  async add(name: string, config: unknown, origin: McpServerOrigin): Promise<McpServerStatus> {
    if (this.servers.isClosed) throw new McpUnavailableError(name, 'the loader is closed.');
    const entry = readServer(name, config, origin);
    if (!this.servers.claims.isFree(entry))
      throw invalidOption('name', 'a name that no server of the same or a higher precedence has', name);
    await this.servers.put(entry);
    const server = this.servers.list().find(({ definition }) => definition.name === name);
    await server?.link.settled();
    const status = this.servers.statuses().find((one) => one.name === name);
    if (status === undefined) throw new McpUnavailableError(name, 'it was removed.');
    return status;
  }

  async set(name: string, config: unknown, origin: McpServerOrigin): Promise<PutOutcome> {
    if (this.servers.isClosed) throw new McpUnavailableError(name, 'the loader is closed.');
    return this.servers.put(readServer(name, config, origin));
  }

  /** Reads the configuration files again, after any read that is still running. */
  async reload(): Promise<McpReload> {
    if (this.servers.isClosed) throw new McpClosedError();
    const reading = Promise.resolve(this.filesRead).then(() => this.readFiles());
    this.filesRead = reading;
    return reading;
  }

  /** Converts the arguments of a call, if `checkArguments` asks for that and the tool belongs to this loader. */
  coerce({ name, inputSchema }: Tool, input: unknown): unknown {
    const isOwn = this.converts && this.servers.tools.find(name)?.inputSchema === inputSchema;
    return isOwn ? coerceArguments(inputSchema, input) : input;
  }

  announceRoots(): void {
    for (const { link } of this.servers.list()) void link.established?.connection.announceRoots();
  }

  close(): Promise<void> {
    return this.servers.close();
  }

  private async readFiles(): Promise<McpReload> {
    const { servers } = this;
    const found = await findServers(this.options);
    const problems = found.flatMap((file) => ('problem' in file ? [file.problem] : []));
    for (const problem of problems) this.logger.error(problem);
    const before = servers.snapshot();
    // A file that cannot be read keeps its servers.
    const read = found.flatMap((file) => ('problem' in file ? [] : [file]));
    const removed = read.flatMap(({ path, entries }) => this.removeMissing(path, entries));
    const put = read.flatMap(({ entries }) => entries.map((entry) => servers.put(entry)));
    await Promise.all([...removed, ...put]);
    return { ...changesOf(before, servers.snapshot()), problems };
  }

  private removeMissing(path: string, entries: readonly McpServerEntry[]): readonly Promise<unknown>[] {
    const gone = this.servers.claims.ofFile(path).filter(({ name }) => !entries.some((entry) => entry.name === name));
    return gone.map((entry) => this.servers.remove(entry.name, { graceful: true, origin: originOf(entry) }));
  }
}

function changesOf(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Changes {
  const names = [...after.keys()];
  return {
    added: names.filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
    unchanged: names.filter((name) => before.has(name) && before.get(name) === after.get(name)),
  };
}
