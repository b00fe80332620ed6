import type { ToolSpec } from '../../model/model.js';
import type { ToolConfig } from '../definition.js';
import type { ExtensionRun } from '../run.js';

interface OwnedConfig {
  readonly id: string;
  readonly priority: number;
  readonly config: ToolConfig;
}

/**
 * The offered tools with those that extensions prefer first and those that they would avoid last; the others keep their
 * order. None is left out. On a tool that is in both lists the extension of higher priority decides, then the lower id.
 */
export function sortTools<T extends ToolSpec>(run: ExtensionRun, tools: readonly T[]): readonly T[] {
  const { preferred, avoided } = choicesOf(run);
  const ranks = new Map([...preferred].map((name, index) => [name, index - preferred.size]));
  for (const name of avoided) ranks.set(name, 1);
  const rank = ({ name }: ToolSpec) => ranks.get(name) ?? 0;
  return [...tools].sort((a, b) => rank(a) - rank(b));
}

/** What the model is told about the choice of the offered tools; undefined where nothing is to be said. */
export function guidanceFor(run: ExtensionRun, offered: readonly ToolSpec[]): string | undefined {
  const configs = configsOf(run);
  if (configs.length === 0) return undefined;
  const names = new Set(offered.map(({ name }) => name));
  const { preferred, avoided } = choicesOf(run);
  const listed = (tools: Iterable<string>) => [...tools].filter((name) => names.has(name));
  const orders = configs.map(({ config }) => listed(config.toolOrder ?? [])).filter((order) => order.length > 1);
  const lines = [
    ...line('Preferred where they serve', listed(preferred).join(', ')),
    ...line('To be avoided unless nothing else serves', listed(avoided).join(', ')),
    ...orders.flatMap((order) => line('Suggested order where several are needed', order.join(', then '))),
  ];
  return lines.length === 0 ? undefined : ['Guidance on tools:', ...lines].join('\n');
}

function line(label: string, text: string): string[] {
  return text === '' ? [] : [`- ${label}: ${text}`];
}

/** Each tool stands where the first extension that names it puts it. */
function choicesOf(run: ExtensionRun): { preferred: Set<string>; avoided: Set<string> } {
  const preferred = new Set<string>();
  const avoided = new Set<string>();
  for (const { config } of configsOf(run)) {
    for (const name of config.preferredTools ?? []) if (!avoided.has(name)) preferred.add(name);
    for (const name of config.avoidedTools ?? []) if (!preferred.has(name)) avoided.add(name);
  }
  return { preferred, avoided };
}

/** The same whatever the order of registration, so that the request is. */
function configsOf({ registrations }: ExtensionRun): OwnedConfig[] {
  return registrations
    .flatMap(({ removed, extension: { id, priority, toolConfig } }) =>
      removed || toolConfig === undefined ? [] : [{ id, priority, config: toolConfig }],
    )
    .sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
}
