import type { ToolSpec } from '../../model/model.js';
import { lazyProblems } from '../checks/tool-config.js';
import type { ToolConfig } from '../definition.js';
import type { ExtensionRun } from '../run.js';

/**
 * Returns the offered tools with preferred tools first and avoided tools last. All other tools keep their order. If two
 * extensions disagree on a tool, the higher priority decides, then the lower id.
 */
export function sortTools<T extends ToolSpec>(run: ExtensionRun, tools: readonly T[]): readonly T[] {
  const { preferred, avoided } = choicesOf(run);
  const ranks = new Map([...preferred].map((name, index) => [name, index - preferred.size]));
  for (const name of avoided) ranks.set(name, 1);
  const rank = ({ name }: ToolSpec) => ranks.get(name) ?? 0;
  return [...tools].sort((a, b) => rank(a) - rank(b));
}

/**
 * Logs a warning if a `lazy` `toolConfig` names unknown tools: once per extension, at the first model call. `register`
 * has checked the names of every other `toolConfig`.
 */
export function checkLazyNames({ plan, run, logger, settings }: ExtensionRun): void {
  for (const registration of plan.guidance) {
    const { id, toolConfig = {} } = registration.extension;
    if (!toolConfig.lazy || registration.checked) continue;
    registration.checked = true;
    const { tools, prefixes } = settings.knownTools();
    const problems = lazyProblems(toolConfig, { tools: [...tools, ...run.tools], prefixes });
    if (problems.length === 0) continue;
    const message = `The \`toolConfig\` of extension "${id}" names unknown tools: ${problems.join('; ')}.`;
    logger.warn(`${message} Correct the names, or add the tools.`, { extensionId: id });
  }
}

/** Returns the guidance on the offered tools for the system message, or an empty array. */
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

/** Collects the preferred and the avoided tools. If extensions disagree on a tool, the first one decides. */
function choicesOf(run: ExtensionRun): { preferred: Set<string>; avoided: Set<string> } {
  const preferred = new Set<string>();
  const avoided = new Set<string>();
  for (const { preferredTools = [], avoidedTools = [] } of configsOf(run)) {
    for (const name of preferredTools) if (!avoided.has(name)) preferred.add(name);
    for (const name of avoidedTools) if (!preferred.has(name)) avoided.add(name);
  }
  return { preferred, avoided };
}

function configsOf({ plan }: ExtensionRun): readonly ToolConfig[] {
  return plan.guidance.flatMap(({ removed, extension }) => (removed ? [] : (extension.toolConfig ?? [])));
}
