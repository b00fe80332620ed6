import { TimeoutExceededError } from '../../errors.js';
import { withinTime } from '../../internal/clock.js';
import { logFailure } from '../../internal/logger.js';
import { mapConcurrent } from '../../internal/map-concurrent.js';
import { invalidOption, validateOptions } from '../../internal/options/validate.js';
import { callHostHook } from '../../lifecycle/host-hooks.js';
import type { RegisteredLifecycle } from '../../lifecycle/registered-lifecycle.js';
import { type SessionOptions, sessionRules } from '../agent-options.js';
import type { LifecycleRegistry } from '../lifecycle-registry.js';
import type { LoaderRunner } from '../loader-runner.js';
import type { AgentSession, SessionHost } from './agent-session.js';

/** The members of an agent that open and close its sessions. */
interface SessionsHost extends SessionHost {
  readonly registry: LifecycleRegistry;
  readonly loading: LoaderRunner;
}

/** Opens and closes the sessions of an agent, and calls `onSessionStart` and `onSessionEnd`. */
export class AgentSessions {
  readonly open = new Set<AgentSession>();

  constructor(private readonly host: SessionsHost) {}

  /** Opens a session within the time limit of a run. Closes a session that opens after the limit. */
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

  /**
   * Loads a session and calls `onSessionStart`. Imports the code on first use, because many programs have no session.
   */
  private async prepare(options: SessionOptions): Promise<AgentSession> {
    const { life, loading } = this.host;
    life.assertOpen();
    if (typeof options === 'string') throw invalidOption('options', 'an object such as `{ id }`', options);
    validateOptions(options, sessionRules);
    const { AgentSession } = await import('./agent-session.js');
    const session = new AgentSession(this.host, { ...options });
    await session.stored.load();
    // A lifecycle that was added during the load needs its `onInit` before `onSessionStart`.
    while (!loading.isDone) await loading.ready();
    await life.track(this.callStartHooks(session));
    this.open.add(session);
    return session;
  }

  /** Closes the open sessions, a few at a time. If all were closed at once, each could exceed its time limit. */
  async close(): Promise<void> {
    await mapConcurrent(this.open.values(), (session) =>
      this.host.loading.end(`Session "${session.id}"`, () => session.close()),
    );
  }

  /**
   * Calls `onSessionStart` of each lifecycle. If a hook fails or the agent is closed meanwhile, calls `onSessionEnd` of
   * the lifecycles whose `onSessionStart` has returned, and rejects.
   */
  private async callStartHooks(session: AgentSession): Promise<void> {
    const { defaults, life, registry } = this.host;
    const started: RegisteredLifecycle[] = [];
    const end = (entries: readonly RegisteredLifecycle[]) =>
      this.end(session, entries).catch((failed) => logFailure(defaults, failed.message, failed));
    const hook = { ...defaults, point: 'onSessionStart', input: session, stop: life.stop } as const;
    try {
      for (const entry of registry.config.chain.entries) {
        life.assertOpen();
        // A hook that settles too late may have acquired something, which its `onSessionEnd` has to release.
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

  /** Calls every `onSessionEnd`, even after a failure. Then throws the first error. */
  async end(session: AgentSession, entries = this.host.registry.config.chain.entries): Promise<void> {
    this.open.delete(session);
    const failures: unknown[] = [];
    for (const entry of entries) {
      const call = callHostHook(entry, { ...this.host.defaults, point: 'onSessionEnd', input: session });
      await call.catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
