import { KeelsonError, PackageMissingError, TimeoutExceededError } from '../../errors.js';
import type { AllowedDecision, DeniedDecision } from '../../trust/decision.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import { decide, verify } from '../config/launch.js';
import type { McpSettings } from '../config/settings.js';
import { McpConnectError, McpUnauthorizedError, McpUnavailableError } from '../error.js';
import type { McpEvent } from '../event.js';
import { Deadline, type PausableClock } from '../transport/pausable-clock.js';
import { untilAborted, withOwnSignal } from '../transport/request-time.js';
import { Backoff } from './backoff.js';
import type { Connection } from './connection.js';
import { failureText } from './failure-text.js';
import type { Established } from './handshake.js';
import type { LogLimiter } from './log-limiter.js';
import type { McpServerState } from './status.js';

/** What a link needs of its server. */
export interface LinkOwner {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  readonly emit: (event: McpEvent) => void;
  readonly hold: PausableClock;
  open(trusted: TrustedLaunch | undefined, signal: AbortSignal): Promise<Established>;
  /** What the program that is being started has to say for itself. */
  stderr(): string;
  onUp(established: Established): void;
  onDown(): void;
  /** Closes what came too late. */
  discard(established: Established): void;
}

/** A connection that was used, or held so long, was a good one: its loss is a first one. */
const GOOD_MS = 5_000;

/** The one connection to a server: made once for all who want it, and made again where it is lost. */
export class ConnectionManager {
  state: McpServerState = 'idle';
  lastError: string | undefined = undefined;
  reconnects = 0;
  /** What is connected to now. */
  established: Established | undefined = undefined;
  private establishedAt = 0;
  private wasConnected = false;
  private decision: AllowedDecision | undefined = undefined;
  private attempt: Promise<void> | undefined = undefined;
  private opening: AbortController | undefined = undefined;
  private readonly closing = new AbortController();
  private readonly backoff: Backoff;

  constructor(private readonly owner: LinkOwner) {
    this.backoff = new Backoff(owner.settings.reconnect, owner.settings.system.clock);
    if (owner.definition.disabled) this.state = 'disabled';
  }

  /** Connects, once for all callers. Resolves also where it fails: the state says what came of it. */
  connect(): Promise<void> {
    if (this.established || this.state === 'closed' || this.state === 'disabled') return Promise.resolve();
    this.backoff.cancel();
    // Whoever has to approve it may take their time: nobody who closes it waits for that.
    this.attempt ??= withOwnSignal(this.closing.signal, (own) => untilAborted(own, this.tryOnce()))
      .catch(() => {})
      .finally(() => {
        this.attempt = undefined;
      });
    return this.attempt;
  }

  /** The connection; where there is none, after the next attempt. Rejects with a McpUnavailableError. */
  async connected(): Promise<Connection> {
    if (!this.established) await (this.attempt ?? this.backoff.next ?? this.connect());
    if (this.established) return this.established.connection;
    throw new McpUnavailableError(this.owner.definition.name, this.lastError ?? `it is ${this.state}.`);
  }

  /** The server is asked for something: a loss from now on is a first one, or whoever asks often would be without it. */
  used(): void {
    this.backoff.reset();
  }

  /** A connection is over. Of one that is not ours any more nothing is to be done. */
  lost(connection: Connection, reason: string): void {
    if (this.established?.connection !== connection) return;
    const { definition, log, emit, settings } = this.owner;
    this.drop();
    this.lastError = failureText(reason);
    if (settings.system.clock.now() - this.establishedAt >= GOOD_MS) this.backoff.reset();
    log.write('warn', `disconnected, its tools are gone: ${this.lastError}`);
    this.connectLater();
    emit({ type: 'connection-end', server: definition.name, message: this.lastError });
  }

  /** Ends what there is, and whatever is being opened. Nothing comes back after it. */
  close(): Connection | undefined {
    const connection = this.established?.connection;
    this.state = 'closed';
    this.backoff.cancel();
    this.opening?.abort(new McpUnavailableError(this.owner.definition.name, 'it was closed.'));
    this.closing.abort();
    this.drop();
    return connection;
  }

  private drop(): void {
    if (!this.established) return;
    this.established = undefined;
    this.owner.onDown();
  }

  /** Runs up to the start of the server without a pause, where nobody is to be asked: the time counts from the call. */
  private async tryOnce(): Promise<void> {
    this.state = this.wasConnected ? 'reconnecting' : 'connecting';
    try {
      const isOwn = this.owner.definition.origin.scope === 'builtin';
      const verified = isOwn ? { launch: undefined } : await this.passGate();
      if (verified === undefined || this.isClosed()) return;
      const established = await this.openInTime(verified.launch);
      if (this.isClosed()) this.owner.discard(established);
      else this.up(established);
    } catch (error) {
      if (!this.isClosed()) this.failed(error);
    }
  }

  private isClosed(): boolean {
    return this.state === 'closed';
  }

  private async openInTime(trusted: TrustedLaunch | undefined): Promise<Established> {
    const { definition, settings } = this.owner;
    const opening = new AbortController();
    this.opening = opening;
    const { connectMs } = settings.timeouts;
    const expire = () =>
      opening.abort(new TimeoutExceededError(`connection to MCP server "${definition.name}"`, connectMs));
    const deadline = new Deadline(connectMs, expire, this.owner.hold);
    const opened = this.owner.open(trusted, opening.signal);
    opened.then((late) => opening.signal.aborted && this.owner.discard(late)).catch(() => {});
    try {
      return await untilAborted(opening.signal, opened);
    } finally {
      deadline.clear();
      this.opening = undefined;
    }
  }

  /** Asks the gate, and then whether what it let pass is still the same. Undefined where it does not let pass. */
  private async passGate(): Promise<{ readonly launch: TrustedLaunch | undefined } | undefined> {
    const { definition, settings } = this.owner;
    if (this.decision === undefined) this.state = 'pending';
    const decision = this.decision ?? (await decide(definition, settings));
    if (decision?.allowed === false) return this.refused(decision);
    const verified = await verify(decision, settings);
    if (verified?.allowed === false) return this.refused(verified);
    this.decision = decision;
    this.state = this.wasConnected ? 'reconnecting' : 'connecting';
    return { launch: verified?.launch };
  }

  private refused({ reason, message }: DeniedDecision): undefined {
    this.decision = undefined;
    this.failed(new McpConnectError(this.owner.definition.name, message, { retryable: false }));
    if (reason === 'declined') this.state = 'denied';
    else if (['no-approver', 'approver-failed', 'changed'].includes(reason)) this.state = 'pending';
  }

  private up(established: Established): void {
    const { definition, log, emit, settings } = this.owner;
    const { ending } = established.connection.transport;
    if (ending !== undefined) throw new McpConnectError(definition.name, ending);
    const again = this.wasConnected;
    this.established = established;
    this.establishedAt = settings.system.clock.now();
    this.wasConnected = true;
    this.state = 'connected';
    this.lastError = undefined;
    if (again) this.reconnects += 1;
    this.owner.onUp(established);
    log.write('info', again ? 'connected again' : 'connected');
    emit({ type: 'connection-start', server: definition.name, again });
  }

  private failed(error: unknown): void {
    const { definition, log, emit } = this.owner;
    const said = error instanceof TimeoutExceededError ? this.owner.stderr() : '';
    this.lastError = failureText(said === '' ? error : `${failureText(error)} So far ${said}`);
    // Not the error itself: the server's own words are in its cause, as they came.
    log.write('error', this.lastError, error instanceof KeelsonError ? { code: error.code } : undefined);
    if (this.wasConnected && isPassing(error)) this.connectLater();
    else this.state = 'unavailable';
    emit({ type: 'connection-error', server: definition.name, message: this.lastError });
  }

  private connectLater(): void {
    if (this.isClosed()) return;
    this.state = 'reconnecting';
    if (this.backoff.schedule(() => this.connect())) return;
    this.state = 'unavailable';
    this.owner.log.write('error', `it is given up: ${this.lastError}`);
  }
}

/** Whether the same may work later. */
function isPassing(error: unknown): boolean {
  if (error instanceof McpConnectError) return error.retryable;
  return !(error instanceof McpUnauthorizedError || error instanceof PackageMissingError);
}
