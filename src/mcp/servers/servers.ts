import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../internal/logger.js';
import type { LiveToolSet } from '../../tools/tool.js';
import type { McpServerEntry, McpServerOrigin } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { McpUnavailableError } from '../error.js';
import { McpServer } from '../server/server.js';
import { EXPECTED, type McpServerStatus, statusOf } from '../server/status.js';
import { failureText, ServerLog } from '../server-log.js';
import type { McpTool } from '../tools/mcp-tool.js';
import { toolPrefix } from '../tools/name.js';
import { compareEntries, NameClaims, reportLeftOut } from './claims.js';

type Member = McpServer | Extract<McpServerEntry, { readonly problem: string }>;

export type PutOutcome = 'added' | 'changed' | 'unchanged' | 'left-out';

interface Removal {
  readonly graceful: boolean;
  readonly origin?: McpServerOrigin | undefined;
}

/** The servers of a loader by name, in the order in which they were added, and their tools. */
export class Servers {
  readonly tools: McpToolSet;
  readonly claims = new NameClaims();
  private readonly byName = new Map<string, Member>();
  /** Servers that were removed but have not ended yet. */
  private readonly leaving = new Set<McpServer>();
  isClosed = false;

  constructor(
    private readonly settings: McpSettings,
    private readonly logger: () => Logger,
  ) {
    this.tools = new McpToolSet(() => this.byName.keys());
  }

  /** Returns the current server of each name. A changed server is another object. */
  snapshot(): ReadonlyMap<string, unknown> {
    return new Map(this.byName);
  }

  list(): readonly McpServer[] {
    return [...this.byName.values()].filter((member) => member instanceof McpServer);
  }

  find(name: string): McpServer {
    const member = this.byName.get(name);
    if (member instanceof McpServer) return member;
    const known = [...this.byName.keys()].join(', ') || 'none';
    const problem = member?.problem ?? `no server has this name; configured servers: ${known}.`;
    throw new McpUnavailableError(name, problem);
  }

  statuses(): readonly McpServerStatus[] {
    return [...this.byName.values()].map((member) =>
      member instanceof McpServer
        ? member.status()
        : statusOf(member, { state: 'invalid', lastError: member.problem, ignoredFields: member.ignored ?? [] }),
    );
  }

  /**
   * True if a run lacks the tools of a server, because the server is invalid, has failed, is not approved yet or is not
   * connected yet.
   */
  get isMissing(): boolean {
    for (const member of this.byName.values())
      if (!(member instanceof McpServer) || !EXPECTED.has(member.link.state)) return true;
    return false;
  }

  get namesRevision(): number {
    return this.claims.revision + (this.isClosed ? 1 : 0);
  }

  /** Returns the server that has a name. A closed loader has no names. */
  holder(name: string): McpServerEntry | undefined {
    return this.isClosed ? undefined : this.claims.holder(name);
  }

  /** Adds a server without connecting to it, and without a log line about its problems. */
  enter(entry: McpServerEntry): void {
    this.claims.put(entry);
    this.byName.set(entry.name, this.memberOf(entry));
  }

  /** Also connects to the server, if it gets its name. A displaced server ends gracefully, as in `remove`. */
  async put(entry: McpServerEntry): Promise<PutOutcome> {
    const { name } = entry;
    const former = this.claims.holder(name);
    this.claims.put(entry);
    const holder = this.claims.holder(name);
    if (holder !== undefined && holder !== entry) {
      reportLeftOut(entry, holder, this.logger);
      return 'left-out';
    }
    if (former !== undefined && compareEntries(former, entry) !== 0) reportLeftOut(former, entry, this.logger);
    return this.settle(entry);
  }

  /** With `graceful`, the server ends after its pending requests, and `remove` does not wait for them. */
  async remove(name: string, { graceful, origin }: Removal): Promise<boolean> {
    const holder = this.claims.holder(name);
    const gone = this.claims.remove(name, origin);
    if (gone === undefined || gone !== holder) return gone !== undefined;
    const member = this.byName.get(name);
    this.byName.delete(name);
    const next = this.claims.holder(name);
    // Connecting may wait for a person, so `remove` does not wait for it.
    if (next !== undefined && !this.isClosed) void this.install(next)?.connect();
    this.collect();
    await this.end(member, graceful);
    return true;
  }

  async connectIdle(): Promise<void> {
    const idle = this.list().filter(({ link }) => link.state === 'idle');
    await Promise.all(idle.map((server) => server.connect()));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.list(), ...this.leaving].map((server) => server.close()));
  }

  /** Makes an entry the server of its name and connects, unless another entry has got the name in the meantime. */
  private async settle(entry: McpServerEntry): Promise<PutOutcome> {
    const { name } = entry;
    for (;;) {
      const before = this.byName.get(name);
      const isSame = before !== undefined && (await isUnchanged(before, entry));
      if (this.isClosed || this.claims.holder(name) !== entry) return 'unchanged';
      if (this.byName.get(name) !== before) continue;
      if (!isSame) {
        const server = this.install(entry);
        this.collect();
        await this.end(before, true);
        // Another server may have got the name in the meantime.
        if (this.byName.get(name) === server) await server?.connect();
        return before === undefined ? 'added' : 'changed';
      }
      // A changed list of ignored fields needs no new connection.
      if (before instanceof McpServer) before.ignored = entry.ignored ?? [];
      else if ('problem' in entry) this.byName.set(name, entry);
      if (before instanceof McpServer) await before.connect();
      return 'unchanged';
    }
  }

  /** Returns undefined for an invalid entry. */
  private install(entry: McpServerEntry): McpServer | undefined {
    reportProblems(entry, this.logger);
    const member = this.memberOf(entry);
    this.byName.set(entry.name, member);
    return member instanceof McpServer ? member : undefined;
  }

  private async end(server: Member | undefined, graceful: boolean): Promise<void> {
    if (!(server instanceof McpServer)) return;
    const isLater = graceful && server.isBusy;
    this.leaving.add(server);
    const ended = (isLater ? server.idle() : Promise.resolve())
      .then(() => server.close())
      .finally(() => this.leaving.delete(server));
    if (!isLater) await ended;
  }

  private collect(): void {
    this.tools.replace(this.list().flatMap(({ tools }) => tools));
  }

  private memberOf(entry: McpServerEntry): Member {
    if ('problem' in entry) return entry;
    const { settings, logger } = this;
    return new McpServer(entry.definition, {
      settings,
      log: new ServerLog(entry.name, logger),
      emit: (event) => {
        try {
          settings.onEvent?.(event);
        } catch (error) {
          logger().error(`onEvent of an MCP loader failed: ${failureText(error)}`, error);
        }
      },
      ignored: entry.ignored ?? [],
      onTools: () => this.collect(),
    });
  }
}

export function reportProblems(entry: McpServerEntry, logger: () => Logger): void {
  const log = new ServerLog(entry.name, logger);
  for (const note of entry.notes) log.write('warn', note);
  if ('problem' in entry) log.write('warn', `its configuration cannot be used: ${entry.problem}`);
}

async function isUnchanged(before: Member, entry: McpServerEntry): Promise<boolean> {
  if (!(before instanceof McpServer)) return 'problem' in entry && entry.problem === before.problem;
  if ('problem' in entry || !isDeepStrictEqual(before.definition, entry.definition)) return false;
  return before.link.approval.isCurrent();
}

/** The tools of all servers by their full names, and by those short names that only one server has. */
class McpToolSet implements LiveToolSet {
  revision = 0;
  private tools: readonly McpTool[] = [];
  private byName: ReadonlyMap<string, McpTool> = new Map();
  private aliases: ReadonlyMap<string, McpTool | undefined> = new Map();

  constructor(private readonly servers: () => Iterable<string>) {}

  prefixes(): readonly string[] {
    return [...this.servers()].map(toolPrefix);
  }

  list(): readonly McpTool[] {
    return this.tools;
  }

  find(name: string): McpTool | undefined {
    return this.byName.get(name) ?? this.aliases.get(name);
  }

  replace(tools: readonly McpTool[]): void {
    const aliases = new Map<string, McpTool | undefined>();
    for (const tool of tools) {
      const { mcpTool: alias } = tool.metadata;
      // A short name must not look like a full name. Otherwise a server could give its tool the full name of another
      // server's tool, and receive the calls while the other server is disconnected.
      if (alias.startsWith('mcp__')) continue;
      aliases.set(alias, aliases.has(alias) ? undefined : tool);
    }
    this.tools = tools;
    this.byName = new Map(tools.map((tool) => [tool.name, tool]));
    this.aliases = aliases;
    this.revision += 1;
  }
}
