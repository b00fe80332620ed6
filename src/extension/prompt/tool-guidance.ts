import type { ToolSpec } from '../../model/model.js';
import type { ToolConfig } from '../definition.js';
import type { ExtensionRun } from '../run.js';

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

/** The text that tells the model how to choose among the offered tools; empty if there is nothing to say. */
export function guidanceFor(run: ExtensionRun, offered: readonly ToolSpec[]): readonly string[] {
  const configs = configsOf(run);
  if (configs.length === 0) return [];
  const names = new Set(offered.map(({ name }) => name));
  const { preferred, avoided } = choicesOf(run);
  const listed = (tools: Iterable<string>) => [...tools].filter((name) => names.has(name));
  const orders = configs.map(({ toolOrder = [] }) => listed(toolOrder)).filter((order) => order.length > 1);
  const lines = [
    ...line('Preferred where they serve', listed(preferred).join(', ')),
    ...line('To be avoided unless nothing else serves', listed(avoided).join(', ')),
    ...orders.flatMap((order) => line('Suggested order where several are needed', order.join(', then '))),
  ];
  return lines.length === 0 ? [] : [['Guidance on tools:', ...lines].join('\n')];
}

function line(label: string, text: string): string[] {
  return text === '' ? [] : [`- ${label}: ${text}`];
}

/** Each tool stands where the first extension that names it puts it. */
function choicesOf(run: ExtensionRun): { preferred: Set<string>; avoided: Set<string> } {
  const preferred = new Set<string>();
  const avoided = new Set<string>();
  for (const { preferredTools = [], avoidedTools = [] } of configsOf(run)) {
    for (const name of preferredTools) if (!avoided.has(name)) preferred.add(name);
    for (const name of avoidedTools) if (!preferred.has(name)) avoided.add(name);
  }
  return { preferred, avoided };
}

/** By priority and id, so that the request is the same whatever the order of registration. */
function configsOf({ registrations }: ExtensionRun): readonly ToolConfig[] {
  return registrations
    .flatMap(({ removed, extension }) => (removed ? [] : [extension]))
    .sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
    .flatMap(({ toolConfig }) => toolConfig ?? []);
}
