import { compileChain } from '../lifecycle/chain.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { type RegisteredLifecycle, registerLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { ToolSource } from '../tools/tool.js';
import { ToolCatalog } from '../tools/tool-catalog.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import type { RunConfig } from './run/run-config.js';
import { callModel } from './run/turn/model-call.js';
import { callTool } from './run/turn/tool-call.js';

/** The lifecycles of an agent. Compiles the run configuration again when a lifecycle is added or removed. */
export class LifecycleRegistry {
  /** The configuration of a run without options. */
  config: RunConfig;
  private registered: readonly RegisteredLifecycle[];
  /** The lifecycles whose `onInit` has not completed. */
  readonly uninitialised: Set<RegisteredLifecycle>;
  /** Maps each function that `use` returned to its lifecycle. */
  private readonly used = new WeakMap<() => void, RegisteredLifecycle>();
  private count = 0;

  constructor(
    lifecycles: readonly AgentLifecycle<never>[],
    private readonly tools: ToolSource<never>,
    private readonly base: Omit<RunConfig, 'chain' | 'catalog'>,
  ) {
    this.registered = lifecycles.map((lifecycle) => this.resolve(lifecycle));
    this.uninitialised = new Set(this.registered.filter(({ lifecycle }) => lifecycle.onInit !== undefined));
    assertDistinct(this.withTools(tools).flatMap(toolsOf));
    this.config = this.compile();
  }

  /**
   * Adds a lifecycle, or replaces one. Throws without a change if the agent is closed, or if the lifecycle or its tools
   * are invalid.
   *
   * Returns a function that removes the lifecycle and disables its hooks at once. A replaced lifecycle is not disabled,
   * because active runs still use it.
   */
  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void {
    this.base.life.assertOpen();
    const entry = this.resolve(lifecycle);
    if (lifecycle.tools !== undefined) {
      assertDistinct([...this.config.catalog.current().tools, ...toolsOf(lifecycle.tools)]);
    }
    const old = replaced && this.used.get(replaced);
    const index = old === undefined ? -1 : this.registered.indexOf(old);
    this.registered = index < 0 ? [...this.registered, entry] : this.registered.with(index, entry);
    if (old !== undefined) this.uninitialised.delete(old);
    if (lifecycle.onInit !== undefined) this.uninitialised.add(entry);
    this.config = this.compile();
    const dispose = () => this.remove(entry);
    this.used.set(dispose, entry);
    return dispose;
  }

  /** The first lifecycle, in chain order, whose `onInit` has not completed. */
  get firstNew(): RegisteredLifecycle | undefined {
    return [...this.uninitialised].sort((a, b) => b.priority - a.priority)[0];
  }

  /** Returns a catalog of `tools` and the tools of the lifecycles. Throws ToolConflictError if two names are the same. */
  catalogOf(tools: ToolSource<never>): ToolCatalog {
    const sources = this.withTools(tools);
    assertDistinct(sources.flatMap(toolsOf));
    return new ToolCatalog(sources, this.base.logger);
  }

  private remove(entry: RegisteredLifecycle): void {
    if (entry.status.inert) return;
    entry.status.inert = true;
    this.registered = this.registered.filter((other) => other !== entry);
    this.uninitialised.delete(entry);
    this.config = this.compile();
  }

  private resolve(lifecycle: AgentLifecycle<never>): RegisteredLifecycle {
    this.count += 1;
    return registerLifecycle(lifecycle, this.count);
  }

  private withTools(tools: ToolSource<never>): readonly ToolSource<never>[] {
    return [tools, ...this.registered.map(({ lifecycle }) => lifecycle.tools).filter((source) => source !== undefined)];
  }

  private compile(): RunConfig {
    const chain = compileChain(this.registered, callModel, callTool);
    const catalog = new ToolCatalog(this.withTools(this.tools), this.base.logger);
    return { ...this.base, chain, catalog };
  }
}
