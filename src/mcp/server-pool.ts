import { resolve } from 'node:path';
import { OptionInvalidError } from '../errors.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { invalidOption } from '../internal/options/validate.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import { readConfigFile } from './config/config-file.js';
import type { McpServerDefinition, McpServerEntry, McpServerOrigin } from './config/definition.js';
import { readServer } from './config/server-map.js';
import { type McpSettings, resolveSettings } from './config/settings.js';
import { Endings } from './connection/endings.js';
import { McpUnavailableError } from './error.js';
import type { McpEvent } from './event.js';
import { failureText } from './failure-text.js';
import type { McpServersOptions } from './options.js';
import { McpServer } from './server/mcp-server.js';
import type { McpServerStatus } from './server/status.js';
import { ServerLog } from './server-log.js';
import { McpToolSet } from './tools/tool-set.js';

const WORKSPACE_FILE = '.mcp.json';

type InvalidEntry = Extract<McpServerEntry, { readonly problem: string }>;
type Member = McpServer | InvalidEntry;

/** The servers of a loader by name, in the order in which they were added. */
export class ServerPool {
  readonly tools: McpToolSet;
  logger: Logger;
  private readonly settings: McpSettings;
  private readonly members = new Map<string, Member>();
  private filesRead: Promise<void> | undefined = undefined;
  /** Tracks the cleanup of removed servers. */
  private readonly endings = new Endings((error) => this.logger.error(failureText(error)));
  private isClosed = false;

  constructor(private readonly options: McpServersOptions) {
    this.settings = resolveSettings(options);
    this.logger = options.system?.logger ?? consoleLogger;
    this.tools = new McpToolSet(({ name, metadata }) => {
      this.logger.error(
        `Tool ${JSON.stringify(metadata.mcpTool)} of MCP server "${metadata.mcpServer}" is left out: another tool has the name ${name}.`,
      );
    });
    // Every key of `servers` is the name of a server, also a key such as `mcpServers`.
    for (const [name, config] of Object.entries(options.servers ?? {})) {
      this.enter(readServer(name, config, { scope: 'builtin' }));
    }
  }

  /** Called by an agent. Throws if the pool is closed, since the agent would silently have no tools of the servers. */
  async load(host: LoaderHost, lifecycle: AgentLifecycle): Promise<void> {
    if (this.isClosed)
      throw new OptionInvalidError('loaders', '`loaders` must not contain closed MCP servers; call `mcpServers` again');
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
    if (this.isClosed) throw new McpUnavailableError(name, 'its loader is closed; call `mcpServers` again.');
    if (this.members.has(name)) throw invalidOption('name', 'a name that no other server has', name);
    const member = this.enter(readServer(name, config, origin));
    if (member instanceof McpServer) await member.link.connect();
    return statusOf(member);
  }

  /** Removes a server: its tools are removed at once, pending calls fail, and its process ends. */
  async remove(name: string): Promise<boolean> {
    const member = this.members.get(name);
    if (member === undefined) return false;
    this.members.delete(name);
    this.collect();
    if (member instanceof McpServer) {
      const ended = member.close();
      this.endings.add(ended);
      await ended;
    }
    return true;
  }

  find(name: string): McpServer {
    const member = this.members.get(name);
    if (member === undefined)
      throw new McpUnavailableError(name, 'no server has this name; `status()` lists all servers.');
    if (member instanceof McpServer) return member;
    throw new McpUnavailableError(name, member.problem);
  }

  status(): readonly McpServerStatus[] {
    return [...this.members.values()].map(statusOf);
  }

  announceRoots(): void {
    for (const server of this.servers()) server.announceRoots();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const server of this.servers()) this.endings.add(server.close());
    await this.endings.settled();
  }

  private servers(): McpServer[] {
    return [...this.members.values()].filter((member) => member instanceof McpServer);
  }

  private async connectKnown(): Promise<void> {
    await Promise.all(this.servers().map(({ link }) => link.state === 'idle' && link.connect()));
  }

  private async readFiles(): Promise<void> {
    const { configFiles = [], workspaceDir } = this.options;
    for (const path of configFiles) await this.readFile(path, 'builtin');
    if (workspaceDir !== undefined) await this.readFile(resolve(workspaceDir, WORKSPACE_FILE), 'workspace');
  }

  private async readFile(path: string, scope: McpServerOrigin['scope']): Promise<void> {
    try {
      for (const entry of await readConfigFile(path, { scope })) this.enterFound(entry, path);
    } catch (error) {
      // Logs only the message, since the error of a parser would quote the file.
      this.logger.error(failureText(error));
    }
  }

  private enterFound(entry: McpServerEntry, path: string): void {
    if (this.isClosed) return;
    if (this.members.has(entry.name)) {
      this.logger.error(
        `MCP server ${JSON.stringify(entry.name)} of ${path} is left out: another server has this name.`,
      );
    } else this.enter(entry);
  }

  private enter(entry: McpServerEntry): Member {
    const { name, notes } = entry;
    const log = new ServerLog(name, () => this.logger);
    for (const note of notes) log.write('warn', note);
    const member = 'problem' in entry ? entry : this.serverOf(entry.definition, log);
    if ('problem' in entry) log.write('error', `its configuration cannot be used: ${entry.problem}`);
    this.members.set(name, member);
    return member;
  }

  private collect(): void {
    this.tools.replace(this.servers().flatMap(({ tools }) => tools));
  }

  private serverOf(definition: McpServerDefinition, log: ServerLog): McpServer {
    const { settings } = this;
    const emit = (event: McpEvent) => {
      try {
        settings.onEvent?.(event);
      } catch (error) {
        this.logger.error(`\`onEvent\` of an MCP loader failed: ${failureText(error)}`, error);
      }
    };
    return new McpServer(definition, { settings, log, emit, onTools: () => this.collect() });
  }
}

function statusOf(member: Member): McpServerStatus {
  if (member instanceof McpServer) return member.status();
  const { name, problem, origin } = member;
  const never = { transport: undefined, protocolVersion: undefined, instructions: undefined };
  const none = { reconnects: 0, tools: [], toolCount: 0, reads: [] };
  return { ...never, ...none, name, state: 'invalid', lastError: problem, scope: origin.scope, source: origin.source };
}
