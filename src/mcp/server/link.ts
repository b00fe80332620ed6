import { KeelsonError, PackageMissingError } from '../../errors.js';
import type { DeniedDecision } from '../../trust/decision.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import type { Connection } from '../connection/connection.js';
import type { Endings } from '../connection/endings.js';
import { type Established, openConnection } from '../connection/open-connection.js';
import { untilAborted, withOwnSignal } from '../connection/request-time.js';
import { McpConnectError, McpUnauthorizedError, McpUnavailableError } from '../error.js';
import type { McpEvent } from '../event.js';
import { failureText } from '../failure-text.js';
import type { LogLimiter } from '../log-limiter.js';
import type { PausableClock } from '../transport/pausable-clock.js';
import { Admission } from './admission.js';
import { Backoff } from './backoff.js';
import type { McpServerState } from './status.js';

/** The server that is connected to. */
export interface LinkOptions {
  readonly definition: McpServerDefinition;
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  readonly hold: PausableClock;
  readonly endings: Endings;
  readonly emit: (event: McpEvent) => void;
  readonly onChange: (change: LinkChange) => void;
}

/** A change that concerns the tools of the server. */
export type LinkChange =
  | { readonly type: 'up'; readonly established: Established }
  | { readonly type: 'down' }
  | { readonly type: 'tools-changed' };

/** A connection that was used, or held so long, was a good one: its loss is a first one. */
const GOOD_MS = 5_000;

/** The one connection to a server: made once for all who want it, and made again when it is lost. */
export class Link {
  state: McpServerState;
  /** Why the last attempt failed, or the connection was lost. */
  failure: unknown = undefined;
  /** How often it was connected to. */
  connections = 0;
  established: Established | undefined = undefined;
  private establishedAt = 0;
  private attempt: Promise<void> | undefined = undefined;
  private readonly closing = new AbortController();
  private readonly admission: Admission;
  private readonly backoff: Backoff;

  constructor(private readonly options: LinkOptions) {
    const { definition, settings } = options;
    this.state = definition.disabled ? 'disabled' : 'idle';
    this.admission = new Admission(definition, settings);
    this.backoff = new Backoff(settings.reconnect, settings.system.clock);
  }

  get lastError(): string | undefined {
    return this.failure === undefined ? undefined : failureText(this.failure);
  }

  /** Connects, once for all callers. Resolves also when it fails: the state says so. */
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

  /** Returns the connection, after the next attempt if there is none. Rejects with a McpUnavailableError. */
  async connected(): Promise<Connection> {
    if (!this.established) await (this.attempt ?? this.backoff.next ?? this.connect());
    if (this.established) return this.established.connection;
    throw new McpUnavailableError(this.options.definition.name, this.lastError ?? `it is ${this.state}.`);
  }

  /** The server is asked for something: a loss from now on is a first one, or whoever asks often would be without it. */
  used(): void {
    this.backoff.reset();
  }

  /** A connection is over. Nothing is done about one that was replaced. */
  lost(connection: Connection, reason: string): void {
    if (this.established?.connection !== connection) return;
    const { definition, log, emit, settings } = this.options;
    this.drop();
    this.failure = reason;
    const message = failureText(reason);
    if (settings.system.clock.now() - this.establishedAt >= GOOD_MS) this.backoff.reset();
    log.write('warn', `disconnected, its tools are gone: ${message}`);
    this.connectLater();
    emit({ type: 'connection-end', server: definition.name, message });
  }

  /** Ends the connection and the attempt at one. Nothing comes back after it. */
  close(): void {
    this.state = 'closed';
    this.backoff.cancel();
    this.closing.abort(new McpUnavailableError(this.options.definition.name, 'it was closed.'));
    if (this.established) this.options.endings.add(this.established.connection.close());
    this.drop();
  }

  private drop(): void {
    if (!this.established) return;
    this.established = undefined;
    this.options.onChange({ type: 'down' });
  }

  /** Runs up to the start of the server without a pause, unless the gate is asked: the time counts from the call. */
  private async tryOnce(): Promise<void> {
    this.state = stateOfAttempt(this.connections);
    try {
      const launch = this.options.definition.origin.scope === 'builtin' ? undefined : await this.passGate();
      if (launch === REFUSED || this.closing.signal.aborted) return;
      const established = await openConnection({
        ...{ ...this.options, trusted: launch, signal: this.closing.signal },
        onEvent: (event) => {
          if (event.type === 'end') this.lost(event.connection, event.reason);
          else this.options.onChange(event);
        },
      });
      this.up(established);
    } catch (error) {
      if (!this.closing.signal.aborted) this.failed(error);
    }
  }

  private async passGate(): Promise<TrustedLaunch | undefined | typeof REFUSED> {
    if (this.admission.isOpen) this.state = 'pending';
    const admitted = await this.admission.admit();
    if (!admitted.allowed) {
      if (!this.closing.signal.aborted) this.refused(admitted);
      return REFUSED;
    }
    if (!this.closing.signal.aborted) this.state = stateOfAttempt(this.connections);
    return admitted.launch;
  }

  private refused({ reason, message }: DeniedDecision): void {
    this.failed(new McpConnectError(this.options.definition.name, message, { retryable: false }));
    if (reason === 'declined') this.state = 'denied';
    else if (['no-approver', 'approver-failed', 'changed'].includes(reason)) this.state = 'pending';
  }

  private up(established: Established): void {
    const { definition, log, emit, settings, onChange } = this.options;
    const { ending } = established.connection;
    if (ending !== undefined) throw new McpConnectError(definition.name, ending);
    const again = this.connections > 0;
    this.established = established;
    this.establishedAt = settings.system.clock.now();
    this.connections += 1;
    this.state = 'connected';
    this.failure = undefined;
    onChange({ type: 'up', established });
    log.write('info', again ? 'connected again' : 'connected');
    emit({ type: 'connection-start', server: definition.name, again });
  }

  private failed(error: unknown): void {
    const { definition, log, emit } = this.options;
    this.failure = error;
    const message = failureText(error);
    // Not the error itself: the server's own words are in its cause, as they came.
    log.write('error', message, error instanceof KeelsonError ? { code: error.code } : undefined);
    if (this.connections > 0 && isPassing(error)) this.connectLater();
    else this.state = 'unavailable';
    emit({ type: 'connection-error', server: definition.name, message });
  }

  private connectLater(): void {
    if (this.closing.signal.aborted) return;
    this.state = 'reconnecting';
    if (this.backoff.schedule(() => this.connect())) return;
    this.state = 'unavailable';
    this.options.log.write('error', `it is given up: ${this.lastError}`);
  }
}

function stateOfAttempt(connections: number): McpServerState {
  return connections > 0 ? 'reconnecting' : 'connecting';
}

/** The gate said no. */
const REFUSED = Symbol('refused');

/** The same may work later. */
function isPassing(error: unknown): boolean {
  if (error instanceof McpConnectError) return error.retryable;
  return !(error instanceof McpUnauthorizedError || error instanceof PackageMissingError);
}
