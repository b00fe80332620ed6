import { isTexts } from '../../internal/json.js';
import { boolean, fullText, group, listOf } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { freezeData } from '../../internal/plain-data.js';
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
 * Returns a problem for each member that is given in camelCase and in snake_case. With `known`, also returns a problem
 * for each tool name that is not in `known`. The names in a `lazy` config are not checked.
 */
export function toolConfigProblems(config: object, known: ReadonlySet<string> | undefined): string[] {
  const doubled = doubledNames(config, rules, 'toolConfig.');
  if (known === undefined) return doubled;
  const unknown = guidedTools(config).flatMap(([list, names]) =>
    names
      .filter((name) => !known.has(name))
      .map(
        (name) =>
          `\`toolConfig.${list}\` names the unknown tool "${name}"; add it to the registry's \`tools\`, or set \`lazy\``,
      ),
  );
  return [...doubled, ...unknown];
}

/** Returns each array of tool names with its key as written. Returns an empty array for a `lazy` config. */
export function guidedTools(config: ToolConfig): [list: string, names: readonly string[]][] {
  return config.lazy ? [] : Object.entries(config).filter(([, value]) => isTexts(value));
}
