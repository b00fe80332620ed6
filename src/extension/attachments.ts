import type { Logger } from '../internal/logger.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import type { KnownTools } from '../tools/unknown-tool-names.js';

interface Attachment {
  readonly host: LoaderHost;
  /** Removes the lifecycle from the agent. Undefined if the agent has no lifecycle of the registry. */
  dispose: (() => void) | undefined;
}

/** The agents that use a registry. */
export class Attachments {
  /** Weak references, so that a long-lived registry does not keep unused agents in memory. */
  private readonly references = new Set<WeakRef<Attachment>>();

  add(host: LoaderHost, lifecycle: AgentLifecycle | undefined): void {
    const attachment: Attachment = { host, dispose: undefined };
    // The signal of the agent keeps the attachment in memory for as long as the agent.
    const release = () => {
      attachment.dispose = undefined;
    };
    host.signal.addEventListener('abort', release, { once: true });
    // Removes the references to agents that were closed or collected.
    this.open();
    this.references.add(new WeakRef(attachment));
    replace(attachment, lifecycle);
  }

  /** Gives the open agents the lifecycle that `create` returns. Does not call `create` without an open agent. */
  update(create: () => AgentLifecycle | undefined): void {
    const open = this.open();
    if (open.length === 0) return;
    const lifecycle = create();
    for (const attachment of open) replace(attachment, lifecycle);
  }

  /** The logger of the first open agent. */
  get logger(): Logger | undefined {
    return this.open()[0]?.host.logger;
  }

  /** Returns the tools of the open agents, and the name prefixes of tools that may be added later. */
  known(): KnownTools {
    const hosts = this.open().map(({ host }) => host);
    return {
      tools: hosts.flatMap((host) => host.tools()),
      prefixes: hosts.flatMap((host) => host.toolPrefixes()),
    };
  }

  /** Returns the attachments of open agents, and forgets all others. */
  private open(): readonly Attachment[] {
    return [...this.references].flatMap((reference) => {
      const attachment = reference.deref();
      if (attachment !== undefined && !attachment.host.signal.aborted) return [attachment];
      this.references.delete(reference);
      return [];
    });
  }
}

/** Replaces the agent's lifecycle, or removes it. Current runs keep the lifecycle that they started with. */
function replace(attachment: Attachment, lifecycle: AgentLifecycle | undefined): void {
  if (lifecycle === undefined) attachment.dispose?.();
  attachment.dispose = lifecycle === undefined ? undefined : attachment.host.use(lifecycle, attachment.dispose);
}
