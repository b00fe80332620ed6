import { OptionInvalidError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { ModelRequest, ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';

interface Relayed {
  lifecycle: AgentLifecycle<never>;
  /** What takes it out of each agent. */
  readonly removals: Map<LoaderHost, () => void>;
}

/** A host for loaders before there is an agent, and for any number of agents: each gets what was loaded, as it changes. */
export class RelayHost implements LoaderHost {
  readonly agent = 'runtime';
  private readonly relayed = new Map<() => void, Relayed>();
  private readonly hosts = new Set<LoaderHost>();
  private readonly controller = new AbortController();

  constructor(readonly logger: Logger) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The tools of all agents. */
  tools(): readonly Tool[] {
    return [...this.hosts].flatMap((host) => host.tools());
  }

  /** Calls the model of the agent that was made first. */
  generate(request: ModelRequest): Promise<ModelResponse> {
    const [host] = this.hosts;
    if (host) return host.generate(request);
    return Promise.reject(
      new OptionInvalidError(
        'model',
        '`model` must be the model of an agent, got none: make an agent with these loaders first',
      ),
    );
  }

  readonly use = (lifecycle: AgentLifecycle<never>, before?: () => void): (() => void) => {
    const known = before === undefined ? undefined : this.relayed.get(before);
    if (before !== undefined && known !== undefined) {
      known.lifecycle = lifecycle;
      for (const [host, remove] of known.removals) {
        if (isOpen(host)) known.removals.set(host, host.use(lifecycle, remove));
      }
      return before;
    }
    const entry: Relayed = { lifecycle, removals: new Map() };
    for (const host of this.hosts) if (isOpen(host)) entry.removals.set(host, host.use(lifecycle));
    const remove = () => {
      this.relayed.delete(remove);
      for (const take of entry.removals.values()) take();
    };
    this.relayed.set(remove, entry);
    return remove;
  };

  /** Closes all agents. */
  async closeAgent(): Promise<void> {
    await Promise.all([...this.hosts].map((host) => host.closeAgent()));
  }

  /** A loader that gives one more agent what was loaded. */
  loader(status: () => unknown): LifecycleLoader {
    let own: LoaderHost | undefined;
    return {
      name: 'runtime',
      status,
      load: (host) => {
        own = host;
        this.hosts.add(host);
        for (const { lifecycle, removals } of this.relayed.values()) removals.set(host, host.use(lifecycle));
      },
      close: () => {
        if (own !== undefined) this.detach(own);
      },
    };
  }

  /** Takes everything out of all agents. */
  close(): void {
    this.controller.abort();
    this.hosts.clear();
    for (const remove of [...this.relayed.keys()]) remove();
  }

  private detach(host: LoaderHost): void {
    this.hosts.delete(host);
    for (const { removals } of this.relayed.values()) removals.delete(host);
  }
}

/** An agent that is closing takes nothing more, and may not keep the others from it. */
function isOpen({ signal }: LoaderHost): boolean {
  return !signal.aborted;
}
