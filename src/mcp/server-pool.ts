import { OptionInvalidError } from '../errors.js';
import type { Changes } from '../internal/changes.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { invalidOption } from '../internal/options/validate.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import type { McpServerOrigin } from './config/definition.js';
import { type FoundServers, findServers } from './config/found-servers.js';
import { readServer } from './config/server-map.js';
import { resolveSettings } from './config/settings.js';
import { McpClosedError, McpUnavailableError } from './error.js';
import type { McpServersOptions } from './options.js';
import type { McpServer } from './server/mcp-server.js';
import { type PutOutcome, ServerMembers } from './server/members.js';
import type { McpServerStatus } from './server/status.js';
import type { McpToolSet } from './tools/tool-set.js';

/** What a reading of the configuration files changed, by the names of servers. */
export interface McpReload extends Changes {
  /** The files that could not be read. Their servers stay as they were. */
  readonly problems: readonly string[];
}

/** The servers of a loader, from its options and from configuration files. */
export class ServerPool {
  logger: Logger;
  private readonly members: ServerMembers;
  /** By the name of a server: the file that names it. */
  private files: ReadonlyMap<string, string> = new Map();
  private filesRead: Promise<unknown> | undefined = undefined;
  private isClosed = false;

  constructor(private readonly options: McpServersOptions) {
    // Checks the options first.
    const settings = resolveSettings(options);
    this.logger = options.system?.logger ?? consoleLogger;
    this.members = new ServerMembers(settings, () => this.logger);
    // Every key of `servers` is the name of a server, also a key such as `mcpServers`.
    for (const [name, config] of Object.entries(options.servers ?? {})) {
      this.members.enter(readServer(name, config, { scope: 'builtin' }));
    }
  }

  get tools(): McpToolSet {
    return this.members.tools;
  }

  /** For an agent. Throws where it is closed: the agent would be without the tools that it was given. */
  async load(host: LoaderHost, lifecycle: AgentLifecycle): Promise<void> {
    if (this.isClosed)
      throw new OptionInvalidError(
        'loaders',
        '`loaders` must contain open MCP servers, got closed ones: call `mcpServers` again',
      );
    if (this.options.system?.logger === undefined) this.logger = host.logger;
    host.use(lifecycle);
    await this.connect();
  }

  /** Connects to all servers in parallel. Resolves when each server is connected or has failed. */
  async connect(): Promise<void> {
    if (this.isClosed) return;
    const connected = this.connectKnown();
    this.filesRead ??= this.readFiles();
    await this.filesRead;
    await Promise.all([connected, this.connectKnown()]);
  }

  /** Adds one server and connects to it. Throws if another server has the name. */
  async add(name: string, config: unknown, origin: McpServerOrigin): Promise<McpServerStatus> {
    if (this.isClosed) throw new McpUnavailableError(name, 'the loader is closed.');
    if (this.members.has(name))
      throw invalidOption('name', 'another name than those of the servers that are there', name);
    await this.members.put(readServer(name, config, origin));
    return this.members.statusOf(name);
  }

  async set(name: string, config: unknown, origin: McpServerOrigin): Promise<PutOutcome> {
    if (this.isClosed) throw new McpUnavailableError(name, 'the loader is closed.');
    return this.members.put(readServer(name, config, origin));
  }

  remove(name: string, graceful: boolean): Promise<boolean> {
    return this.members.remove(name, graceful);
  }

  /** Reads the files again, after a reading that is under way. */
  async reload(): Promise<McpReload> {
    if (this.isClosed) throw new McpClosedError();
    const reading = Promise.resolve(this.filesRead).then(() => this.readFiles());
    this.filesRead = reading;
    return reading;
  }

  find(name: string): McpServer {
    return this.members.find(name);
  }

  status(): readonly McpServerStatus[] {
    return this.members.statuses();
  }

  announceRoots(): void {
    for (const server of this.members.servers()) server.announceRoots();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.members.close();
  }

  private async connectKnown(): Promise<void> {
    await Promise.all(this.members.servers().map(({ link }) => link.state === 'idle' && link.connect()));
  }

  private async readFiles(): Promise<McpReload> {
    const { members } = this;
    const found = await findServers(this.options);
    const problems = found.flatMap((file) => ('problem' in file ? [file.problem] : []));
    for (const problem of problems) this.logger.error(problem);
    const before = this.files;
    this.files = this.claimNames(found);
    const gone = [...before.keys()].filter((name) => !this.files.has(name));
    const wanted = found.flatMap((file) =>
      'problem' in file ? [] : file.entries.filter((entry) => this.files.get(entry.name) === file.path),
    );
    const known = members.names.filter((name) => ![...gone, ...wanted.map((entry) => entry.name)].includes(name));
    const removed = gone.map((name) => members.remove(name, true));
    const put = wanted.map(async (entry) => ({ name: entry.name, outcome: await members.put(entry) }));
    const outcomes = await Promise.all(put);
    await Promise.all(removed);
    const withOutcome = (wantedOutcome: PutOutcome) =>
      outcomes.flatMap(({ name, outcome }) => (outcome === wantedOutcome ? [name] : []));
    const unchanged = [...known, ...withOutcome('unchanged')];
    return { added: withOutcome('added'), removed: gone, changed: withOutcome('changed'), unchanged, problems };
  }

  /** Gives each name to the first file that has it, unless the name belongs to a server of no file. */
  private claimNames(found: readonly FoundServers[]): ReadonlyMap<string, string> {
    const claimed = new Map<string, string>();
    for (const file of found) {
      const { path } = file;
      // A file that cannot be read keeps its servers.
      const kept = [...this.files].flatMap(([name, source]) => (source === path ? [name] : []));
      for (const name of 'problem' in file ? kept : file.entries.map((entry) => entry.name)) {
        const isTaken = claimed.has(name) || (this.members.has(name) && !this.files.has(name));
        if (!isTaken) claimed.set(name, path);
        else {
          this.logger.error(
            `MCP server ${JSON.stringify(name)} of ${path} is left out: there is one of that name already.`,
          );
        }
      }
    }
    return claimed;
  }
}
