import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import type { Points } from './extension-lifecycle.js';

/** An agent that a registry is fastened to, by one lifecycle that has the hooks which are needed. */
export class Attachment {
  /** Whether the agent was closed. */
  ended = false;
  private key = '';
  private dispose: (() => void) | undefined = undefined;

  constructor(
    readonly host: LoaderHost,
    private readonly create: (points: Points) => AgentLifecycle | undefined,
  ) {}

  /** The agent was closed: nothing is fastened to it any more. */
  end(): void {
    this.ended = true;
  }

  /** Puts another lifecycle in the place of the one that is there, where other hooks are needed. */
  update(points: Points): void {
    const key = JSON.stringify(points);
    if (key === this.key) return;
    this.key = key;
    const lifecycle = this.create(points);
    if (lifecycle === undefined) this.dispose?.();
    this.dispose = lifecycle === undefined ? undefined : this.host.use(lifecycle, this.dispose);
  }
}
