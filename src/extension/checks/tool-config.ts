import { isTexts } from '../../internal/json.js';
import { boolean, fullText, group, listOf } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { freezeData } from '../../internal/plain-data.js';
import type { ToolConfig, ToolConfigLiteral } from '../definition.js';

const LISTS = { preferred_tools: 'preferredTools', avoided_tools: 'avoidedTools', tool_order: 'toolOrder' } as const;

const names = listOf(fullText);

/** Rules for tool guidance, with camelCase and snake_case keys. */
export const toolConfigRule = group({
  preferredTools: names,
  avoidedTools: names,
  toolOrder: names,
  preferred_tools: names,
  avoided_tools: names,
  tool_order: names,
  lazy: boolean,
} satisfies OptionTable<ToolConfig & ToolConfigLiteral>);

/** A problem for each tool that nobody knows, unless the guidance is lazy. */
export function unknownTools(config: ToolConfig | ToolConfigLiteral = {}, known: ReadonlySet<string>): string[] {
  if (config.lazy) return [];
  return Object.entries(config).flatMap(([key, value]) => {
    const unknown = isTexts(value) ? value.filter((name) => !known.has(name)) : [];
    return unknown.map(
      (name) =>
        `\`toolConfig.${key}\` names the unknown tool "${name}"; name it in the registry's \`tools\`, or set \`lazy\``,
    );
  });
}

/** A copy of tool guidance with the keys of TypeScript. If a list is there in both forms, the later one counts. */
export function normaliseToolConfig(config: ToolConfig | ToolConfigLiteral): ToolConfig {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return freezeData(
    Object.fromEntries(entries.map(([key, value]) => [LISTS[key as keyof typeof LISTS] ?? key, value])),
  );
}
