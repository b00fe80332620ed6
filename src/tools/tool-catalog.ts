import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import type { LiveToolSet, Tool, ToolSource } from './tool.js';
import { toolsOf } from './tool-set.js';

/**
 * The key under which a handoff tool holds its target agent. A registered symbol, so that other copies of the library
 * find it.
 */
export const HANDOFF = Symbol.for('keelson.handoff');

/** The tools of one turn, with a lookup by name. */
export class ToolSnapshot {
  private byName: Map<string, Tool> | undefined = undefined;
  private handoffs: boolean | undefined = undefined;

  constructor(readonly tools: readonly Tool[]) {}

  /** True if a tool hands the conversation over to another agent. */
  get hasHandoffs(): boolean {
    this.handoffs ??= this.tools.some((tool) => HANDOFF in tool);
    return this.handoffs;
  }

  find(name: string): Tool | undefined {
    const { tools } = this;
    if (tools.length > 8) return this.lookUp(name);
    for (let i = 0; i < tools.length; i++) if (tools[i]?.name === name) return tools[i];
    return undefined;
  }

  private lookUp(name: string): Tool | undefined {
    this.byName ??= new Map(this.tools.map((tool) => [tool.name, tool]));
    return this.byName.get(name);
  }
}

/** Merges the tools of several sources. Merges again only after the revision of a live source has changed. */
export class ToolCatalog {
  private readonly live: readonly LiveToolSet<never>[];
  private revisions: readonly number[];
  private snapshot: ToolSnapshot;

  constructor(
    private readonly sources: readonly ToolSource<never>[],
    private readonly logger: Logger,
  ) {
    this.live = sources.filter((source): source is LiveToolSet<never> => !Array.isArray(source));
    this.revisions = this.live.map((source) => source.revision);
    this.snapshot = this.collect();
  }

  /** Returns the current tools. */
  current(): ToolSnapshot {
    if (this.live.length > 0) this.refresh();
    return this.snapshot;
  }

  /** Returns a catalog with further tools after the tools of this catalog. */
  with(tools: readonly Tool[]): ToolCatalog {
    return new ToolCatalog([...this.sources, tools], this.logger);
  }

  /** Returns the beginnings of tool names that live sources may add later. */
  prefixes(): readonly string[] {
    return this.live.flatMap((source) => source.prefixes?.() ?? []);
  }

  private refresh(): void {
    if (this.live.every((source, i) => source.revision === this.revisions[i])) return;
    this.revisions = this.live.map((source) => source.revision);
    this.snapshot = this.collect();
  }

  /**
   * Collects the tools of all sources. If two tools have the same name, the first one stays, and the other is logged as
   * an error.
   */
  private collect(): ToolSnapshot {
    const tools = new Map<string, Tool>();
    for (const tool of this.sources.flatMap((source) => this.toolsIn(source))) {
      if (tools.has(tool.name))
        this.logger.error(`Tool "${tool.name}" is left out, because another tool has the same name.`, tool.origin);
      else tools.set(tool.name, tool);
    }
    return new ToolSnapshot([...tools.values()]);
  }

  /**
   * Returns the tools of a source. If a live source throws, logs the error and returns no tools until the revision of
   * the source changes.
   */
  private toolsIn(source: ToolSource<never>): readonly Tool[] {
    try {
      // The compiler has checked that the tool's `Context` is that of the agent.
      return toolsOf(source) as readonly Tool<never>[] as readonly Tool[];
    } catch (error) {
      this.logger.error(`A live tool set could not be read: ${describeError(error)}`, error);
      return [];
    }
  }
}
