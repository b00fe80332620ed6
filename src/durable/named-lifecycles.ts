import type { AgentLifecycle, LifecycleLoader } from '../lifecycle/lifecycle.js';
import { HOOKS } from '../lifecycle/registered-lifecycle.js';
import { DurableSetupError } from './error.js';
import type { ResolvedOptions } from './options.js';

type AnyLifecycle = AgentLifecycle<never>;

const MEMBERS = [...HOOKS, 'name', 'priority', 'onFailure', 'timeoutMs', 'holdStream', 'tools'] as const;

/**
 * Finds the lifecycles that the options `hooks` and `outside` name. Makes the wrap hooks of the lifecycles in `outside`
 * run around the steps.
 */
export class NamedLifecycles {
  private readonly missing: Set<string>;
  private readonly known: string[] = [];
  /**
   * The name of a lifecycle in `outside` that a loader has added too late, so that its wrap hooks would run inside the
   * steps.
   */
  private misplaced: string | undefined = undefined;

  constructor(private readonly options: Pick<ResolvedOptions, 'hooks' | 'outside'>) {
    this.missing = new Set([...options.hooks, ...options.outside]);
    this.missing.delete('limits');
  }

  /**
   * Splits the lifecycles of an agent in two: those whose wrap hooks run around the steps, and those whose wrap hooks
   * run inside.
   */
  arrange(lifecycles: readonly AnyLifecycle[]) {
    const outside: AnyLifecycle[] = [];
    const inside: AnyLifecycle[] = [];
    for (const lifecycle of lifecycles) (this.isOutside(lifecycle) ? outside : inside).push(this.placed(lifecycle));
    return { outside, inside };
  }

  /** Returns a loader whose lifecycles are checked against the options `hooks` and `outside` too. */
  loader(loader: LifecycleLoader): LifecycleLoader {
    const { name, optional } = loader;
    return {
      name,
      optional,
      load: (host) =>
        loader.load({
          agent: host.agent,
          logger: host.logger,
          get signal() {
            return host.signal;
          },
          tools: () => host.tools(),
          toolPrefixes: () => host.toolPrefixes(),
          generate: (request) => host.generate(request),
          closeAgent: () => host.closeAgent(),
          use: (lifecycle, replaced) => {
            if (this.isOutside(lifecycle) && hasWraps(lifecycle)) this.misplaced = nameOf(lifecycle);
            return host.use(this.placed(lifecycle), replaced);
          },
        }),
      ...(loader.close && { close: () => loader.close?.() }),
      ...(loader.status && { status: () => loader.status?.() }),
    };
  }

  /**
   * Throws DurableSetupError if an option names a lifecycle that the agent does not have. Also throws if wrap hooks of
   * a lifecycle in `outside` would run inside the steps.
   */
  assertPlaced(): void {
    const { misplaced } = this;
    if (misplaced !== undefined) {
      throw new DurableSetupError(
        `\`outside\` names "${misplaced}", but a loader adds this lifecycle, so its wrap hooks run inside the durable steps. ` +
          'Pass the lifecycle in the `lifecycle` option of the agent, or pass `outside` without its name.',
      );
    }
    const [name] = this.missing;
    if (name === undefined) return;
    const option = this.options.hooks.includes(name) ? 'hooks' : 'outside';
    const known =
      this.known.length === 0 ? 'The agent has no named lifecycle.' : `Its lifecycles are: ${this.known.join(', ')}.`;
    throw new DurableSetupError(`\`${option}\` names "${name}", but the agent has no lifecycle of this name. ${known}`);
  }

  private isOutside(lifecycle: AnyLifecycle): boolean {
    return this.options.outside.includes(nameOf(lifecycle) ?? '');
  }

  private placed(lifecycle: AnyLifecycle): AnyLifecycle {
    const name = nameOf(lifecycle);
    if (name === undefined) return lifecycle;
    this.known.push(name);
    this.missing.delete(name);
    // The priority is above all others, so that the wrap hooks run around the steps.
    return this.isOutside(lifecycle) ? { ...membersOf(lifecycle), name, priority: 100 } : lifecycle;
  }
}

function hasWraps({ wrapModelCall, wrapToolCall }: AnyLifecycle): boolean {
  return wrapModelCall !== undefined || wrapToolCall !== undefined;
}

/** Returns the name of a lifecycle. If it has none, returns the name of its class. */
export function nameOf(lifecycle: AnyLifecycle): string | undefined {
  const name = lifecycle?.name ?? lifecycle?.constructor?.name;
  return name === 'Object' || typeof name !== 'string' ? undefined : name;
}

/** Copies the members of a lifecycle into a plain object. Copied methods keep the lifecycle as `this`. */
export function membersOf(lifecycle: AnyLifecycle): AnyLifecycle {
  const members: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const value: unknown = lifecycle[member];
    if (value !== undefined) members[member] = typeof value === 'function' ? value.bind(lifecycle) : value;
  }
  return members;
}
