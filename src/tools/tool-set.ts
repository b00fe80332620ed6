import { ToolConflictError } from '../errors.js';
import type { LiveToolSet, Tool } from './tool.js';

/** A live tool set that is changed by calls. */
export interface ToolSet extends LiveToolSet {
  /** Adds tools; a run sees them from its next turn on. Throws ToolConflictError where a name is taken, and adds none. */
  add(...tools: readonly Tool[]): void;
  /** Removes the tool with this name; whether there was one. */
  remove(name: string): boolean;
}

/** Makes a tool set that can change while the agent lives. */
export function createToolSet(tools: readonly Tool[] = []): ToolSet {
  let list: readonly Tool[] = [];
  const set = {
    revision: 0,
    list: () => list,
    add(...added: readonly Tool[]) {
      const next = [...list, ...added];
      assertDistinct(next);
      list = next;
      set.revision += 1;
    },
    remove(name: string) {
      const next = list.filter((tool) => tool.name !== name);
      if (next.length === list.length) return false;
      list = next;
      set.revision += 1;
      return true;
    },
  };
  set.add(...tools);
  return set;
}

/** Throws where two tools share a name. */
export function assertDistinct(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new ToolConflictError(name);
    names.add(name);
  }
}
