import { namesText } from '../../internal/names-text.js';
import { dialectOf, namedEventOf } from '../dialects/list.js';
import type { HookDiagnostic } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import type { ToolNames } from './hook-event-context.js';

/** A diagnostic about all hook files with one problem. */
export interface UnnamedTools extends Pick<HookDiagnostic, 'level' | 'message'> {
  readonly sources: readonly (string | undefined)[];
}

/**
 * Finds the hooks that name tools of another program, for which `names` has no entry. Returns one diagnostic for each
 * problem, with all its hook files.
 */
export function unnamedTools(hooks: readonly ShellHook[], names: ToolNames = {}): readonly UnnamedTools[] {
  const found = new Map<string, { level: HookDiagnostic['level']; places: Map<string | undefined, string> }>();
  for (const hook of hooks) {
    const asked = dialectOf(hook.dialect).hasForeignTools ? namedTools(hook) : undefined;
    const isFound = [...found.values()].some(({ places }) => places.has(hook.source));
    if (asked === undefined || names[hook.dialect] || isFound) continue;
    const { places } = found.get(asked.problem) ?? { places: new Map() };
    places.set(hook.source, hook.source ?? hook.name);
    found.set(asked.problem, { level: asked.level, places });
  }
  return [...found].map(([problem, { level, places }]) => {
    const message = `${namesText([...places.values()])}: ${problem} Map your tools to these names in \`toolNames\`.`;
    return { level, message, sources: [...places.keys()] };
  });
}

/** Returns a problem if a hook names tools of another program; undefined otherwise. */
function namedTools(hook: ShellHook): { level: HookDiagnostic['level']; problem: string } | undefined {
  const { dialect, matcher = '*' } = hook;
  const { tools } = namedEventOf(hook) ?? {};
  if (tools === 'mcp') return undefined;
  if (tools !== undefined) {
    return { level: 'error', problem: `its hooks at ${hook.dialectEvent} are for the ${dialect} tool ${tools}.` };
  }
  const isNamed = hook.event.endsWith('_tool') && !/^(?:\*|\.\*|mcp_.*|MCP:.*|)$/.test(matcher.trim());
  return isNamed ? { level: 'warning', problem: `its matchers name tools of ${dialect}.` } : undefined;
}
