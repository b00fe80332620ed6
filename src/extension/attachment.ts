import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import { GuidanceCheck, type GuidanceCheckOptions } from './checks/guidance-check.js';

/** An agent that uses the one lifecycle of a registry. */
export class Attachment {
  private dispose: (() => void) | undefined = undefined;
  private readonly guidance: GuidanceCheck;

  constructor(
    readonly host: LoaderHost,
    options: GuidanceCheckOptions,
  ) {
    this.guidance = new GuidanceCheck(host, options);
  }

  /** True once the agent was closed: nothing is fastened to it any more. */
  get ended(): boolean {
    return this.host.signal.aborted;
  }

  /** Replaces the lifecycle. Runs that are going on keep theirs. */
  update(lifecycle: AgentLifecycle | undefined): void {
    const checked = this.guidance.addTo(lifecycle);
    if (checked === undefined) this.dispose?.();
    this.dispose = checked === undefined ? undefined : this.host.use(checked, this.dispose);
  }
}
