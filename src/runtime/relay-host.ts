import { OptionInvalidError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import { forAgent } from '../lifecycle/per-agent.js';
import type { ModelRequest, ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';

interface Relayed {
  lifecycle: AgentLifecycle<never>;
  /** For each agent, the function that removes the lifecycle from that agent. */
  readonly removals: Map<LoaderHost, () => void>;
}

/**
 * The `LoaderHost` of a runtime's loaders. Loaders can load before any agent exists. Each agent gets every lifecycle
 * that the loaders add, replace or remove.
 */
export class RelayHost implements LoaderHost {
  readonly agent = 'runtime';
  private readonly relayed = new Map<() => void, Relayed>();
  private readonly hosts = new Set<LoaderHost>();
  /** Never aborted. An aborted hook decides nothing, but the guards of a closed runtime still refuse. */
  readonly signal: AbortSignal = new AbortController().signal;

  constructor(readonly logger: Logger) {}

  tools(): readonly Tool[] {
    return [...this.hosts].flatMap((host) => host.tools());
  }

  toolPrefixes(): readonly string[] {
    return [...this.hosts].flatMap((host) => host.toolPrefixes());
  }

  /** Calls the model of the oldest open agent. Rejects with an OptionInvalidError if no agent exists. */
  generate(request: ModelRequest): Promise<ModelResponse> {
    const [host] = this.hosts;
    if (host) return host.generate(request);
    return Promise.reject(
      new OptionInvalidError(
        'model',
        '`model` must be the model of an agent, got none: create an agent with `agentOptions()` first',
      ),
    );
  }

  readonly use = (lifecycle: AgentLifecycle<never>, before?: () => void): (() => void) => {
    const known = before === undefined ? undefined : this.relayed.get(before);
    if (before !== undefined && known !== undefined) {
      known.lifecycle = lifecycle;
      for (const [host, remove] of known.removals) {
        if (isOpen(host)) known.removals.set(host, host.use(forAgent(lifecycle, host), remove));
      }
      return before;
    }
    const entry: Relayed = { lifecycle, removals: new Map() };
    for (const host of this.hosts) if (isOpen(host)) entry.removals.set(host, host.use(forAgent(lifecycle, host)));
    const remove = () => {
      this.relayed.delete(remove);
      for (const removeFromAgent of entry.removals.values()) removeFromAgent();
    };
    this.relayed.set(remove, entry);
    return remove;
  };

  async closeAgent(): Promise<void> {
    await Promise.all([...this.hosts].map((host) => host.closeAgent()));
  }

  /** Creates a loader that connects one more agent to this host. */
  loader(status: () => unknown): LifecycleLoader {
    let own: LoaderHost | undefined;
    return {
      name: 'runtime',
      status,
      load: (host) => {
        own = host;
        this.hosts.add(host);
        for (const { lifecycle, removals } of this.relayed.values()) {
          removals.set(host, host.use(forAgent(lifecycle, host)));
        }
      },
      close: () => {
        if (own === undefined) return;
        this.hosts.delete(own);
        for (const { removals } of this.relayed.values()) removals.delete(own);
      },
    };
  }

  /** Removes the lifecycles of the loaders from each agent, except the ones that `stays` selects. */
  close(stays: (lifecycle: AgentLifecycle<never>) => boolean): void {
    for (const [remove, { lifecycle }] of [...this.relayed]) if (!stays(lifecycle)) remove();
  }
}

/**
 * False for an agent that is closing. Such an agent accepts no lifecycles: it would throw, and the remaining agents
 * would not get the change.
 */
function isOpen({ signal }: LoaderHost): boolean {
  return !signal.aborted;
}
