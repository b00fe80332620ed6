import type { Logger } from '../internal/logger.js';
import { type Chain, compileChain } from '../lifecycle/chain.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { type RegisteredLifecycle, registerLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { ToolSource } from '../tools/tool.js';
import { ToolCatalog } from '../tools/tool-catalog.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import { callModel } from './run/turn/model-call.js';
import { callTool } from './run/turn/tool-call.js';

/** The lifecycles of an agent, and the hook chain and tool catalog that are compiled when the list changes. */
export class LifecycleRegistry {
  chain: Chain;
  catalog: ToolCatalog;
  /** The lifecycles whose `onInit` has not completed. */
  private uninitialised: readonly RegisteredLifecycle[];
  private registered: readonly RegisteredLifecycle[];
  private count = 0;

  constructor(
    lifecycles: readonly AgentLifecycle<never>[],
    private readonly tools: ToolSource<never>,
    private readonly logger: Logger,
  ) {
    this.registered = lifecycles.map((lifecycle) => this.resolve(lifecycle));
    this.uninitialised = this.registered.filter(({ lifecycle }) => lifecycle.onInit !== undefined);
    this.chain = this.compile();
    assertDistinct([tools, ...this.lifecycleTools()].flatMap(toolsOf));
    this.catalog = this.collect();
  }

  /** Adds a lifecycle, or replaces another one. Throws without a change if the lifecycle or its tools are invalid. */
  add(lifecycle: AgentLifecycle<never>, replaced?: RegisteredLifecycle): RegisteredLifecycle {
    const entry = this.resolve(lifecycle);
    if (lifecycle.tools !== undefined) {
      assertDistinct([...this.catalog.current().tools, ...toolsOf(lifecycle.tools)]);
    }
    this.registered = this.placed(entry, replaced);
    this.catalog = this.collect();
    this.chain = this.compile();
    if (lifecycle.onInit !== undefined) this.uninitialised = [...this.uninitialised, entry];
    return entry;
  }

  /** Removes a lifecycle and disables its hooks at once. Returns false if it was removed before. */
  remove(entry: RegisteredLifecycle): boolean {
    if (entry.status.inert) return false;
    entry.status.inert = true;
    this.registered = this.registered.filter((other) => other !== entry);
    this.initialised(entry);
    this.catalog = this.collect();
    this.chain = this.compile();
    return true;
  }

  get isInitialised(): boolean {
    return this.uninitialised.length === 0;
  }

  /** The first lifecycle, in chain order, whose `onInit` has not completed. */
  get firstNew(): RegisteredLifecycle | undefined {
    return [...this.uninitialised].sort((a, b) => b.priority - a.priority)[0];
  }

  initialised(entry: RegisteredLifecycle): void {
    this.uninitialised = this.uninitialised.filter((other) => other !== entry);
  }

  /** Returns the tools of the lifecycles. */
  lifecycleTools(): readonly ToolSource<never>[] {
    return this.registered.map(({ lifecycle }) => lifecycle.tools).filter((tools) => tools !== undefined);
  }

  /** Inserts a lifecycle into the list. A replaced lifecycle is not disabled, because active runs still use it. */
  private placed(
    entry: RegisteredLifecycle,
    replaced: RegisteredLifecycle | undefined,
  ): readonly RegisteredLifecycle[] {
    const index = replaced === undefined ? -1 : this.registered.indexOf(replaced);
    if (replaced === undefined || index < 0) return [...this.registered, entry];
    this.initialised(replaced);
    return this.registered.with(index, entry);
  }

  private resolve(lifecycle: AgentLifecycle<never>): RegisteredLifecycle {
    this.count += 1;
    return registerLifecycle(lifecycle, this.count);
  }

  private compile(): Chain {
    return compileChain(this.registered, callModel, callTool);
  }

  private collect(): ToolCatalog {
    return new ToolCatalog([this.tools, ...this.lifecycleTools()], this.logger);
  }
}
