import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';

/** An agent that uses the one lifecycle of a registry. */
export class Attachment {
  private dispose: (() => void) | undefined = undefined;

  constructor(readonly host: LoaderHost) {}

  /** True once the agent was closed: nothing is fastened to it any more. */
  get ended(): boolean {
    return this.host.signal.aborted;
  }

  /** Replaces the lifecycle. Runs that are going on keep theirs. */
  update(lifecycle: AgentLifecycle | undefined): void {
    if (lifecycle === undefined) this.dispose?.();
    this.dispose = lifecycle === undefined ? undefined : this.host.use(lifecycle, this.dispose);
  }
}
