import { TimeoutExceededError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { logFailure } from '../internal/logger.js';
import { mapConcurrent } from '../internal/map-concurrent.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { UserMessage } from '../model/message.js';
import type { SessionInfo } from '../tools/tool.js';
import type { AgentLife } from './agent-life.js';
import { type AgentDefaults, type AnyRunOptions, resolveSessionStore, type SessionOptions } from './agent-options.js';
import type { LifecycleRegistry } from './lifecycle-registry.js';
import type { LoaderRunner } from './loader-runner.js';
import type { Attached } from './run/run.js';
import type { RunResult } from './run-result.js';
import { AgentSession } from './session.js';

/** The members of an agent that its sessions use. */
export interface SessionsHost {
  readonly defaults: AgentDefaults;
  readonly life: AgentLife;
  readonly registry: LifecycleRegistry;
  readonly loading: LoaderRunner;
  launch(input: string | UserMessage, options: AnyRunOptions, attached: Attached): Promise<RunResult<unknown>>;
}

/** Opens and closes the sessions of an agent, and calls `onSessionStart` and `onSessionEnd`. */
export class AgentSessions {
  private readonly open = new Set<SessionInfo>();

  constructor(private readonly host: SessionsHost) {}

  get count(): number {
    return this.open.size;
  }

  /** Opens a session within the time limit of a run. A session that opens too late is closed again. */
  async start(options: SessionOptions): Promise<AgentSession> {
    const { timeouts, clock } = this.host.defaults;
    const opening = this.prepare(options);
    if (timeouts.runMs === undefined) return opening;
    const late = new TimeoutExceededError('opening of a session', timeouts.runMs);
    try {
      return await withinTime(opening, late, clock);
    } catch (error) {
      if (error === late) opening.then((session) => session.close()).catch(() => {});
      throw error;
    }
  }

  /** Loads a session and calls `onSessionStart`. */
  private async prepare(options: SessionOptions): Promise<AgentSession> {
    const { defaults, life, loading, registry } = this.host;
    life.assertOpen();
    const store = resolveSessionStore(options, defaults.store);
    const { owner, title, data } = options;
    const session = new AgentSession(options.id ?? defaults.ids.next('session'), {
      store,
      details: { owner, title, data },
      life,
      timeouts: defaults.timeouts,
      clock: defaults.clock,
      keepsStopped: options.onAbort !== 'discard',
      launch: (input, runOptions, attached) => this.host.launch(input, runOptions, attached),
      ended: (ended) => life.track(this.callEndHooks(ended, registry.chain.entries)),
    });
    await session.load();
    // Checked after the load, so that a lifecycle added in the meantime has had its `onInit` before `onSessionStart`.
    while (!loading.isDone) {
      life.assertOpen();
      await life.track(loading.ready());
    }
    await life.track(this.callStartHooks(session));
    this.open.add(session);
    return session;
  }

  /** Closes the open sessions, a few at a time. Closing all at once could make every session exceed its time limit. */
  async close(): Promise<void> {
    await mapConcurrent(this.open.values() as IterableIterator<AgentSession>, (session) =>
      this.host.loading.end(`Session "${session.id}"`, () => session.close()),
    );
  }

  /**
   * Calls `onSessionStart` of each lifecycle. If a hook fails or the agent is closed, the session is not opened, and
   * each lifecycle that was called gets `onSessionEnd`.
   */
  private async callStartHooks(session: SessionInfo): Promise<void> {
    const { defaults, life, registry } = this.host;
    const started: RegisteredLifecycle[] = [];
    const end = (entries: readonly RegisteredLifecycle[]) =>
      this.callEndHooks(session, entries).catch((failed) => logFailure(defaults, failed.message, failed));
    const hook = { ...defaults, point: 'onSessionStart', input: session, stop: life.stop } as const;
    try {
      for (const entry of registry.chain.entries) {
        life.assertOpen();
        // A hook that settles too late may have opened something, which its `onSessionEnd` has to close.
        const endLate = () => (started.includes(entry) ? undefined : end([entry]));
        const onAbandon = (pending: Promise<void>) => void pending.then(endLate, () => {});
        await callHostHook(entry, { ...hook, onAbandon });
        started.push(entry);
      }
      life.assertOpen();
    } catch (error) {
      await end(started);
      throw error;
    }
  }

  /** Calls every `onSessionEnd`, also after a failure. Then throws the first error. */
  private async callEndHooks(session: SessionInfo, entries: readonly RegisteredLifecycle[]): Promise<void> {
    this.open.delete(session);
    const failures: unknown[] = [];
    for (const entry of entries) {
      const call = callHostHook(entry, { ...this.host.defaults, point: 'onSessionEnd', input: session });
      await call.catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
