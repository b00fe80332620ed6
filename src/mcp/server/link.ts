import { KeelsonError, PackageMissingError } from '../../errors.js';
import type { DeniedDecision } from '../../trust/decision.js';
import type { Connection } from '../connection/connection.js';
import { McpConnectError, McpUnauthorizedError, McpUnavailableError } from '../error.js';
import { failureText } from '../server-log.js';
import { ServerApproval } from './approval.js';
import { Attempts } from './attempts.js';
import type { ServerContext } from './context.js';
import { type Established, openConnection } from './open-connection.js';
import { type ServerStep, stateAfter } from './states.js';
import type { McpConnectStep, McpServerState } from './status.js';
import type { ServerTools } from './tool-list.js';

/** If a connection lasted at least this many milliseconds, the count of failures restarts at 0. */
const GOOD_MS = 5_000;

/** Manages the single connection to a server. All callers share one attempt, and a lost connection is restored. */
export class Link {
  state: McpServerState;
  failure: unknown = undefined;
  step: McpConnectStep | undefined = undefined;
  connections = 0;
  established: Established | undefined = undefined;
  readonly approval: ServerApproval;
  readonly attempts: Attempts;

  constructor(
    private readonly context: ServerContext,
    private readonly offered: ServerTools,
  ) {
    const { definition, settings } = context;
    this.state = definition.disabled ? 'disabled' : 'idle';
    this.approval = new ServerApproval(definition, settings);
    this.attempts = new Attempts(settings.reconnect, settings.system.clock);
  }

  get lastError(): string | undefined {
    return this.failure === undefined ? undefined : failureText(this.failure);
  }

  /** Connects, with one attempt for all callers. Also resolves if the attempt fails; `state` has the outcome. */
  connect(): Promise<void> {
    if (this.established || this.state === 'closed' || this.state === 'disabled') return Promise.resolve();
    this.attempts.cancel();
    // The attempt may wait for a user's approval. `close` does not wait for the attempt.
    return this.attempts.running ?? this.attempts.run(() => this.tryOnce());
  }

  /** Connects if no attempt was made yet. Otherwise waits for the attempt that runs, if there is one. */
  settled(): Promise<void> {
    return this.state === 'idle' ? this.connect() : (this.attempts.running ?? Promise.resolve());
  }

  /** If an attempt is already running, waits for that attempt instead. */
  async restart(): Promise<void> {
    const { established } = this;
    if (established) {
      const { definition, endings, log, emit } = this.context;
      this.attempts.failures = 0;
      this.drop();
      const closed = established.connection.close();
      endings.add(closed);
      void this.attempts.run(() => closed.then(() => (this.attempts.closing.stopped ? undefined : this.tryOnce())));
      log.write('info', 'restarting');
      emit({ type: 'connection-end', server: definition.name, message: 'it is restarted' });
    }
    await this.connect();
    this.assertConnected();
  }

  /**
   * Returns the connection. Without one, waits for the next attempt; rejects with a McpUnavailableError if that fails.
   */
  async connected(): Promise<Connection> {
    if (!this.established) await (this.attempts.next ?? this.connect());
    return this.assertConnected().connection;
  }

  /** Handles the end of a connection. Ignores a connection that was already replaced. */
  lost(connection: Connection, reason: string): void {
    if (this.established?.connection !== connection) return;
    const { definition, settings, log, emit } = this.context;
    this.drop();
    this.failure = reason;
    const message = failureText(reason);
    if (settings.system.clock.now() - this.attempts.connectedAt >= GOOD_MS) this.attempts.failures = 0;
    log.write('warn', `disconnected, its tools were removed: ${message}`);
    this.connectLater();
    emit({ type: 'connection-end', server: definition.name, message });
  }

  /** Ends the connection or the current attempt. The server is not connected again. */
  close(): void {
    this.enter('close');
    this.attempts.cancel();
    this.attempts.closing.stop(new McpUnavailableError(this.context.definition.name, 'it was closed.'));
    if (this.established) this.context.endings.add(this.established.connection.close());
    this.drop();
  }

  private enter(step: ServerStep): void {
    this.state = stateAfter(this.state, step);
  }

  private assertConnected(): Established {
    if (this.established) return this.established;
    throw new McpUnavailableError(this.context.definition.name, this.lastError ?? `it is ${this.state}.`);
  }

  private drop(): void {
    if (!this.established) return;
    this.established = undefined;
    this.enter('lose');
    this.offered.withdraw();
  }

  /**
   * Makes one attempt to connect. Starts the server synchronously unless the trust gate is asked, so that the time
   * limit counts from this call.
   */
  private async tryOnce(): Promise<void> {
    const { approval } = this;
    const { closing } = this.attempts;
    try {
      this.enter(approval.isNeeded && !approval.isKept ? 'ask' : this.attempt);
      const verified = approval.isNeeded ? await approval.verify() : undefined;
      if (closing.stopped) return;
      if (verified?.allowed === false) {
        const { reason, message } = verified;
        const error = new McpConnectError(this.context.definition.name, message, { retryable: false });
        return this.failed(error, REFUSED[reason] ?? 'fail');
      }
      this.enter(this.attempt);
      let opened: Connection | undefined;
      const established = await openConnection({
        ...this.context,
        trusted: verified?.launch,
        signal: closing.signal,
        onEnd: (reason) => opened && this.lost(opened, reason),
        onToolsChanged: () => this.offered.rereads.changed(),
        onStep: (step) => {
          this.step = step;
        },
      });
      opened = established.connection;
      this.up(established);
    } catch (error) {
      if (!closing.stopped) this.failed(error, isPassing(error) ? undefined : 'fail');
    } finally {
      this.step = undefined;
    }
  }

  private get attempt(): ServerStep {
    return this.connections > 0 ? 'retry' : 'try';
  }

  private up(established: Established): void {
    const { definition, settings, log, emit } = this.context;
    const { ending } = established.connection;
    if (ending !== undefined) throw new McpConnectError(definition.name, ending);
    const again = this.connections > 0;
    this.established = established;
    this.attempts.connectedAt = settings.system.clock.now();
    this.connections += 1;
    this.enter('connect');
    this.failure = undefined;
    this.offered.begin(established);
    log.write('info', again ? 'connected again' : 'connected');
    emit({ type: 'connection-start', server: definition.name, again });
  }

  /** Handles a failed attempt. With a `step`, the server takes this step. Without one, another attempt is scheduled. */
  private failed(error: unknown, step: ServerStep | undefined): void {
    const { definition, log, emit } = this.context;
    const before = this.lastError;
    this.failure = error;
    const message = failureText(error);
    // A server that was never connected is logged as an error. A lost server, or a server without an approval, is
    // logged as a warning.
    const level = this.connections > 0 || this.state === 'pending' || step === 'withhold' ? 'warn' : 'error';
    // A repeated failure is logged once. Logs only the message and the code, since the cause contains unfiltered text
    // from the server.
    const details = error instanceof KeelsonError ? { code: error.code } : undefined;
    log.write(message === before ? 'debug' : level, message, details);
    if (step === undefined) this.connectLater();
    else this.enter(step);
    emit({ type: 'connection-error', server: definition.name, message });
  }

  private connectLater(): void {
    if (this.attempts.closing.stopped) return;
    const isScheduled = this.attempts.schedule(() => this.connect());
    this.enter(isScheduled && this.connections > 0 ? 'retry' : 'fail');
    if (isScheduled || (this.connections === 0 && this.context.settings.reconnect.maxRetries === 0)) return;
    this.context.log.write('warn', `no further attempt is made to connect: ${this.lastError}`);
  }
}

/** The step that the server takes after a denial, by the reason of the denial. Any other denial is a failed attempt. */
const REFUSED: Partial<Record<DeniedDecision['reason'], ServerStep>> = {
  declined: 'decline',
  'no-approver': 'withhold',
  'approver-failed': 'withhold',
  changed: 'withhold',
};

function isPassing(error: unknown): boolean {
  if (error instanceof McpConnectError) return error.retryable;
  return !(error instanceof McpUnauthorizedError || error instanceof PackageMissingError);
}
