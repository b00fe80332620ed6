import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../internal/logger.js';
import type { McpServerEntry, McpServerOrigin } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { Endings } from '../connection/endings.js';
import { McpUnavailableError } from '../error.js';
import type { McpEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import { ServerLog } from '../server-log.js';
import type { CheckArguments } from '../tools/mcp-tool.js';
import { McpToolSet } from '../tools/tool-set.js';
import { compareOrigins, NameClaims, reportLeftOut } from './claims.js';
import { McpServer } from './mcp-server.js';
import type { McpServerStatus } from './status.js';

type InvalidEntry = Extract<McpServerEntry, { readonly problem: string }>;
type Member = McpServer | InvalidEntry;

/** The outcome of `put`. `left-out`: a server with precedence has the name. */
export type PutOutcome = 'added' | 'changed' | 'unchanged' | 'left-out';

/** Limits which server `remove` removes, and when the server ends. */
interface Removal {
  readonly graceful: boolean;
  readonly origin?: McpServerOrigin | undefined;
}

/** The servers of a loader by name, in the order in which they were added, and their tools. */
export class ServerMembers {
  readonly tools: McpToolSet;
  readonly claims = new NameClaims();
  private readonly byName = new Map<string, Member>();
  private readonly leaving: LeavingServers;
  private isClosed = false;

  constructor(
    private readonly settings: McpSettings,
    private readonly logger: () => Logger,
    private readonly checkArguments: () => CheckArguments,
  ) {
    this.leaving = new LeavingServers((error) => logger().error(failureText(error)));
    const servers = () => this.byName.keys();
    this.tools = new McpToolSet(servers, ({ name, metadata }) => {
      logger().warn(
        `Tool ${JSON.stringify(metadata.mcpTool)} of MCP server "${metadata.mcpServer}" is skipped: another tool has the name ${name}.`,
      );
    });
  }

  /** Returns the current server of each name. A changed server is another object. */
  snapshot(): ReadonlyMap<string, unknown> {
    return new Map(this.byName);
  }

  servers(): readonly McpServer[] {
    return [...this.byName.values()].filter((member) => member instanceof McpServer);
  }

  find(name: string): McpServer {
    const member = this.member(name);
    if (member instanceof McpServer) return member;
    throw new McpUnavailableError(name, member.problem);
  }

  /** Returns the status of a server when it is connected or its attempt has failed. */
  async settledStatus(name: string): Promise<McpServerStatus> {
    const member = this.byName.get(name);
    if (member instanceof McpServer) await member.link.settled();
    return statusOf(this.member(name));
  }

  statuses(): readonly McpServerStatus[] {
    return [...this.byName.values()].map(statusOf);
  }

  /** Adds a server without connecting to it, and without a log line about its problems. */
  enter(entry: McpServerEntry): void {
    this.claims.put(entry);
    this.byName.set(entry.name, this.memberOf(entry));
  }

  /**
   * Adds or replaces a server, and connects to it if it gets its name. An unchanged server keeps its connection. A
   * changed or displaced server ends gracefully, as in `remove`.
   */
  async put(entry: McpServerEntry): Promise<PutOutcome> {
    const { name } = entry;
    const former = this.claims.holder(name);
    this.claims.put(entry);
    const holder = this.claims.holder(name);
    if (holder !== undefined && holder !== entry) {
      reportLeftOut(entry, holder, this.logger);
      return 'left-out';
    }
    if (former !== undefined && compareOrigins(former, entry) !== 0) reportLeftOut(former, entry, this.logger);
    return this.settle(entry);
  }

  /**
   * Removes a server and its tools. With `graceful`, the server ends after its pending requests, and `remove` does not
   * wait for them. A server that was left out because of the removed one gets the name and connects.
   */
  async remove(name: string, { graceful, origin }: Removal): Promise<boolean> {
    const holder = this.claims.holder(name);
    const gone = this.claims.remove(name, origin);
    if (gone === undefined || gone !== holder) return gone !== undefined;
    const member = this.byName.get(name);
    this.byName.delete(name);
    const next = this.claims.holder(name);
    if (next !== undefined && !this.isClosed) {
      this.install(next);
      // Connecting may wait for a person, so `remove` does not wait for it.
      void this.connect(name);
    }
    this.collect();
    if (member instanceof McpServer) await this.leaving.end(member, graceful);
    return true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.leaving.close(this.servers());
  }

  /** Makes an entry the server of its name and connects, unless another entry has got the name in the meantime. */
  private async settle(entry: McpServerEntry): Promise<PutOutcome> {
    const { name } = entry;
    for (;;) {
      const before = this.byName.get(name);
      const isSame = before !== undefined && (await isUnchanged(before, entry));
      if (this.isClosed || this.claims.holder(name) !== entry) return 'unchanged';
      if (this.byName.get(name) !== before) continue;
      if (isSame) {
        // A changed list of ignored fields needs no new connection.
        if (before instanceof McpServer) before.ignored = entry.ignored ?? [];
        else if ('problem' in entry) this.byName.set(name, entry);
      } else {
        this.install(entry);
        this.collect();
        if (before instanceof McpServer) await this.leaving.end(before, true);
      }
      await this.connect(name);
      if (isSame) return 'unchanged';
      return before === undefined ? 'added' : 'changed';
    }
  }

  private install(entry: McpServerEntry): void {
    reportProblems(entry, this.logger);
    this.byName.set(entry.name, this.memberOf(entry));
  }

  /** Connects to a server of the list, and waits for it as `waitForServers` says. */
  private async connect(name: string): Promise<void> {
    const member = this.byName.get(name);
    if (member instanceof McpServer) await member.connect();
  }

  /** Connects to each server without a connection, and waits for it as `waitForServers` says. */
  async connectIdle(): Promise<void> {
    const idle = this.servers().filter(({ link }) => link.state === 'idle');
    await Promise.all(idle.map((server) => server.connect()));
  }

  private member(name: string): Member {
    const member = this.byName.get(name);
    if (member !== undefined) return member;
    const known = [...this.byName.keys()].join(', ') || 'none';
    throw new McpUnavailableError(name, `no server has this name; configured servers: ${known}.`);
  }

  private collect(): void {
    this.tools.replace(this.servers().flatMap(({ tools }) => tools));
  }

  private memberOf(entry: McpServerEntry): Member {
    if ('problem' in entry) return entry;
    const { settings, logger, checkArguments } = this;
    const emit = (event: McpEvent) => {
      try {
        settings.onEvent?.(event);
      } catch (error) {
        logger().error(`onEvent of an MCP loader failed: ${failureText(error)}`, error);
      }
    };
    return new McpServer(entry.definition, {
      settings,
      log: new ServerLog(entry.name, logger),
      emit,
      ignored: entry.ignored ?? [],
      onTools: () => this.collect(),
      checkArguments,
    });
  }
}

/** Servers that were removed, and that have not ended yet. */
class LeavingServers {
  private readonly servers = new Set<McpServer>();
  private readonly endings: Endings;

  constructor(onError: (error: unknown) => void) {
    this.endings = new Endings(onError);
  }

  /** Ends a server. With `graceful`, ends it after its pending requests, and does not wait for them. */
  async end(server: McpServer, graceful: boolean): Promise<void> {
    const isLater = graceful && server.isBusy;
    this.servers.add(server);
    const ended = (isLater ? server.idle().then(() => server.close()) : server.close()).finally(() =>
      this.servers.delete(server),
    );
    this.endings.add(ended);
    if (!isLater) await ended;
  }

  /** Ends the given servers and those that are leaving. Resolves when all have ended. */
  async close(servers: readonly McpServer[]): Promise<void> {
    for (const server of [...servers, ...this.servers]) this.endings.add(server.close());
    await this.endings.settled();
  }
}

/** Logs the problems with the configuration of a server. */
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

function statusOf(member: Member): McpServerStatus {
  if (member instanceof McpServer) return member.status();
  const { name, problem, origin, ignored: ignoredFields = [] } = member;
  const { scope, source, extension } = origin;
  return {
    name,
    state: 'invalid',
    step: undefined,
    lastError: problem,
    scope,
    source,
    extension,
    reconnects: 0,
    transport: undefined,
    protocolVersion: undefined,
    instructions: undefined,
    tools: [],
    toolCount: 0,
    reads: [],
    ignoredFields,
  };
}
