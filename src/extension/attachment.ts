import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import { GuidanceCheck, type GuidanceCheckOptions } from './checks/guidance-check.js';

/** The connection between a registry and one agent, which uses the registry's lifecycle. */
export class Attachment {
  private dispose: (() => void) | undefined = undefined;
  private readonly guidance: GuidanceCheck;

  constructor(
    readonly host: LoaderHost,
    options: GuidanceCheckOptions,
  ) {
    this.guidance = new GuidanceCheck(host, options);
  }

  /** True once the agent was closed. */
  get ended(): boolean {
    return this.host.signal.aborted;
  }

  /** Replaces the agent's lifecycle, or removes it. Current runs keep the lifecycle that they started with. */
  update(lifecycle: AgentLifecycle | undefined): void {
    const checked = this.guidance.addTo(lifecycle);
    if (checked === undefined) this.dispose?.();
    this.dispose = checked === undefined ? undefined : this.host.use(checked, this.dispose);
  }
}
