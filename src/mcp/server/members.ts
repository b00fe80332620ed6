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
import { compareOrigins, NameClaims, originOf, shownOrigin } from './claims.js';
import { connectPatiently } from './first-wait.js';
import { McpServer } from './mcp-server.js';
import type { McpServerStatus } from './status.js';

type InvalidEntry = Extract<McpServerEntry, { readonly problem: string }>;
type ValidEntry = Exclude<McpServerEntry, InvalidEntry>;
type Member = McpServer | InvalidEntry;

/** The outcome of `put`. `left-out`: a server with precedence has the name. */
export type PutOutcome = 'added' | 'changed' | 'unchanged' | 'left-out';

/** Limits which server `remove` removes, and when the server ends. */
export interface Removal {
  readonly graceful: boolean;
  readonly origin?: McpServerOrigin | undefined;
}

/** The servers of a loader by name, in the order in which they were added, and their tools. */
export class ServerMembers {
  readonly tools: McpToolSet;
  readonly claims = new NameClaims();
  private readonly byName = new Map<string, Member>();
  /** Removed servers that have not ended yet. */
  private readonly leaving = new Set<McpServer>();
  private readonly endings = new Endings((error) => this.logger().error(failureText(error)));
  private isClosed = false;
  /** Entries whose warnings have not been logged. */
  private readonly unreported: McpServerEntry[] = [];
  /** True once an agent has the loader. The hooks of the loader then convert arguments. */
  isLoaded = false;

  constructor(
    private readonly settings: McpSettings,
    private readonly logger: () => Logger,
  ) {
    this.tools = new McpToolSet(({ name, metadata }) => {
      this.logger().warn(
        `Tool ${JSON.stringify(metadata.mcpTool)} of MCP server "${metadata.mcpServer}" is skipped: another tool has the name ${name}.`,
      );
    });
  }

  /** Returns the current server of each name. A changed server is another object. */
  snapshot(): ReadonlyMap<string, unknown> {
    return new Map(this.byName);
  }

  /** True if the server would get its name, and no server of the same origin has that name. */
  isFree(entry: McpServerEntry): boolean {
    const holder = this.claims.holder(entry.name);
    return holder === undefined || compareOrigins(entry, holder) < 0;
  }

  get checkArguments(): CheckArguments {
    return this.settings.checkArguments ?? (this.isLoaded ? 'coerce' : 'strict');
  }

  servers(): readonly McpServer[] {
    return [...this.byName.values()].filter((member) => member instanceof McpServer);
  }

  find(name: string): McpServer {
    const member = this.member(name);
    if (member instanceof McpServer) return member;
    throw new McpUnavailableError(name, member.problem);
  }

  statusOf(name: string): McpServerStatus {
    return statusOf(this.member(name));
  }

  statuses(): readonly McpServerStatus[] {
    return [...this.byName.values()].map(statusOf);
  }

  /** Adds a server without connecting to it. Its warnings wait for `connectIdle`, because the logger may be the agent's. */
  enter(entry: McpServerEntry): void {
    this.claims.put(entry);
    this.place(entry);
    this.unreported.push(entry);
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
      this.reportLeftOut(entry, holder);
      return 'left-out';
    }
    if (former !== undefined && compareOrigins(former, entry) !== 0) this.reportLeftOut(former, entry);
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
    if (member !== undefined) await this.end(member, graceful);
    return true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const server of [...this.servers(), ...this.leaving]) this.endings.add(server.close());
    await this.endings.settled();
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
        if (before !== undefined) await this.end(before, true);
      }
      await this.connect(name);
      if (isSame) return 'unchanged';
      return before === undefined ? 'added' : 'changed';
    }
  }

  private install(entry: McpServerEntry): void {
    this.report(entry);
    this.place(entry);
  }

  private place(entry: McpServerEntry): void {
    this.byName.set(entry.name, 'problem' in entry ? entry : this.serverOf(entry, this.logOf(entry)));
  }

  private report(entry: McpServerEntry): void {
    const log = this.logOf(entry);
    for (const note of entry.notes) log.write('warn', note);
    if ('problem' in entry) log.write('warn', `its configuration cannot be used: ${entry.problem}`);
  }

  private logOf({ name }: McpServerEntry): ServerLog {
    return new ServerLog(name, () => this.logger());
  }

  /** Connects to a server of the list, and waits for it as `waitForServers` says. */
  private async connect(name: string): Promise<void> {
    const member = this.byName.get(name);
    if (member instanceof McpServer) await connectPatiently(member, this.settings);
  }

  /** Connects to each server without a connection, and waits for it as `waitForServers` says. */
  async connectIdle(): Promise<void> {
    for (const entry of this.unreported.splice(0)) this.report(entry);
    const idle = this.servers().filter(({ link }) => link.state === 'idle');
    await Promise.all(idle.map((server) => connectPatiently(server, this.settings)));
  }

  /** Resolves when a server is connected or its attempt has failed. */
  async settled(name: string): Promise<void> {
    const member = this.byName.get(name);
    if (member instanceof McpServer) await member.link.settled();
  }

  /** Logs that a server is left out, because another server has its name. */
  reportLeftOut(loser: McpServerEntry, holder: McpServerEntry): void {
    const log = this.logOf(loser);
    const [own, others] = [originOf(loser), originOf(holder)].map(shownOrigin);
    log.write('warn', `the server of ${own} is left out: a server of ${others} has this name. Rename one of them.`);
  }

  private async end(member: Member, graceful: boolean): Promise<void> {
    if (!(member instanceof McpServer)) return;
    const isLater = graceful && member.isBusy;
    this.leaving.add(member);
    const ended = (isLater ? member.idle().then(() => member.close()) : member.close()).finally(() =>
      this.leaving.delete(member),
    );
    this.endings.add(ended);
    if (!isLater) await ended;
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

  private serverOf({ definition, ignored = [] }: ValidEntry, log: ServerLog): McpServer {
    const { settings } = this;
    const emit = (event: McpEvent) => {
      try {
        settings.onEvent?.(event);
      } catch (error) {
        this.logger().error(`onEvent of an MCP loader failed: ${failureText(error)}`, error);
      }
    };
    return new McpServer(definition, {
      ...{ settings, log, emit, ignored },
      onTools: () => this.collect(),
      // For an agent with the loader, its hooks convert. Nothing converts a call after an approval.
      checkArguments: () => (this.isLoaded && this.checkArguments === 'coerce' ? 'strict' : this.checkArguments),
    });
  }
}

async function isUnchanged(before: Member, entry: McpServerEntry): Promise<boolean> {
  if (!(before instanceof McpServer)) return 'problem' in entry && entry.problem === before.problem;
  if ('problem' in entry || !isDeepStrictEqual(before.definition, entry.definition)) return false;
  return before.link.isApproved();
}

function statusOf(member: Member): McpServerStatus {
  if (member instanceof McpServer) return member.status();
  const { name, problem, origin, ignored: ignoredFields = [] } = member;
  const never = { step: undefined, transport: undefined, protocolVersion: undefined, instructions: undefined };
  const none = { reconnects: 0, tools: [], toolCount: 0, reads: [] };
  const { scope, source, extension } = origin;
  return { ...never, ...none, name, state: 'invalid', lastError: problem, scope, source, extension, ignoredFields };
}
