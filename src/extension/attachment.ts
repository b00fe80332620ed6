import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';

/** An agent that a registry is fastened to, by one lifecycle that has the hooks which are needed. */
export class Attachment {
  /** Whether the agent was closed: nothing is fastened to it any more. */
  ended: boolean;
  private dispose: (() => void) | undefined = undefined;

  constructor(readonly host: LoaderHost) {
    this.ended = host.signal.aborted;
    host.signal.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Puts another lifecycle in the place of the one that is there. Runs that are going on keep theirs. */
  update(lifecycle: AgentLifecycle | undefined): void {
    if (lifecycle === undefined) this.dispose?.();
    this.dispose = lifecycle === undefined ? undefined : this.host.use(lifecycle, this.dispose);
  }

  private end(): void {
    this.ended = true;
  }
}
