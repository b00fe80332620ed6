import type { Logger } from '../internal/logger.js';
import { type Chain, compileChain } from '../lifecycle/chain.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { type RegisteredLifecycle, registerLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { ToolSource } from '../tools/tool.js';
import { ToolCatalog } from '../tools/tool-catalog.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import { callModel } from './run/calls/model-call.js';
import { callTool } from './run/calls/tool-call.js';

/** The lifecycles of an agent in registration order, and what is compiled from them when the list changes. */
export class LifecycleRegistry {
  chain: Chain;
  catalog: ToolCatalog;
  /** Those whose `onInit` has not been called. */
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

  /** Adds a lifecycle, or puts it in the place of another. Throws, and adds nothing, where it or its tools are not valid. */
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

  /** Takes a lifecycle out, and makes its callbacks inert at once. Whether it was there. */
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

  /** The next part to initialise, in the order of the chain. */
  nextUninitialised(): RegisteredLifecycle | undefined {
    return [...this.uninitialised].sort((a, b) => b.priority - a.priority)[0];
  }

  initialised(entry: RegisteredLifecycle): void {
    this.uninitialised = this.uninitialised.filter((other) => other !== entry);
  }

  /** The tools that the lifecycles bring along. */
  lifecycleTools(): readonly ToolSource<never>[] {
    return this.registered.map(({ lifecycle }) => lifecycle.tools).filter((tools) => tools !== undefined);
  }

  /** What was replaced is gone from the list, but not inert: a run that is going on still has it. */
  private placed(
    entry: RegisteredLifecycle,
    replaced: RegisteredLifecycle | undefined,
  ): readonly RegisteredLifecycle[] {
    const at = replaced === undefined ? -1 : this.registered.indexOf(replaced);
    if (replaced === undefined || at < 0) return [...this.registered, entry];
    this.initialised(replaced);
    return this.registered.with(at, entry);
  }

  private resolve(lifecycle: AgentLifecycle<never>): RegisteredLifecycle {
    this.count += 1;
    return registerLifecycle(lifecycle, this.count);
  }

  private compile(): Chain {
    return compileChain(this.registered, { callModel, callTool });
  }

  private collect(): ToolCatalog {
    return new ToolCatalog([this.tools, ...this.lifecycleTools()], this.logger);
  }
}
