import { isTexts } from '../../internal/json.js';
import { boolean, fullText, group, listOf } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { freezeData } from '../../internal/plain-data.js';
import { type KnownTools, unknownToolNames } from '../../tools/unknown-tool-names.js';
import type { ToolConfig, ToolConfigLiteral } from '../definition.js';
import { doubledNames, inBothSpellings, inCamelCase } from './spelling.js';

const names = listOf(fullText);
const rules = {
  preferredTools: names,
  avoidedTools: names,
  toolOrder: names,
  lazy: boolean,
} satisfies OptionTable<ToolConfig>;

/** The rule for a `toolConfig`, with camelCase and snake_case keys. */
export const toolConfigRule = group(inBothSpellings(rules));

/** Returns a frozen copy of a checked `toolConfig` with camelCase keys. */
export function normaliseToolConfig(config: ToolConfig | ToolConfigLiteral): ToolConfig {
  return freezeData(inCamelCase(config, rules));
}

/**
 * Returns a problem for each member that is given in camelCase and in snake_case, and for each unknown tool name. The
 * names in a `lazy` config are checked at the first model call.
 */
export function toolConfigProblems(config: ToolConfig, known: KnownTools): string[] {
  const doubled = doubledNames(config, rules, 'toolConfig.');
  if (config.lazy) return doubled;
  const unknown = guidedTools(config).flatMap(([list, names]) =>
    unknownToolNames(names, known).map(
      (problem) => `\`toolConfig.${list}\`: ${problem}; add it to the registry's \`tools\`, or set \`lazy\``,
    ),
  );
  return [...doubled, ...unknown];
}

/** Returns a problem for each unknown tool that a `lazy` config names. */
export function lazyProblems(config: ToolConfig, known: KnownTools): readonly string[] {
  return unknownToolNames([...new Set(guidedTools(config).flatMap(([, names]) => names))], known);
}

function guidedTools(config: ToolConfig): [list: string, names: readonly string[]][] {
  return Object.entries(config).filter(([, value]) => isTexts(value));
}
