import { describeError } from '../../../errors.js';
import { consoleLogger, type Logger } from '../../../internal/logger.js';
import type { ToolSpec } from '../../../model/model.js';
import type { WireObject } from '../wire.js';

/** The rules of a provider for tools. */
export interface ToolRules {
  readonly provider: string;
  /** Matches the tool names that the provider accepts. Default: every name. */
  readonly name?: RegExp | undefined;
  /** Largest number of tools in a request. Default: no limit. */
  readonly most?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** The tools that a warning has named, by logger. */
const warned = new WeakMap<Logger, Set<string>>();

/**
 * Converts the tools of a request to the form of a provider. Leaves out each tool that the provider would refuse the
 * whole request for, and logs one warning for each such tool.
 */
export function acceptedTools(
  tools: readonly ToolSpec[],
  rules: ToolRules,
  toWire: (tool: ToolSpec) => WireObject,
): readonly WireObject[] {
  const accepted = tools.flatMap((tool) => {
    const found = convert(tool, rules, toWire);
    if (typeof found !== 'string') return [found];
    warnOnce(rules, `Tool ${JSON.stringify(tool.name)} is left out of requests to ${rules.provider}: ${found}`);
    return [];
  });
  const { most = accepted.length } = rules;
  if (accepted.length <= most) return accepted;
  const names = tools.map(({ name }) => name).slice(-(accepted.length - most));
  warnOnce(
    rules,
    `${rules.provider} accepts ${most} tools in a request, got ${accepted.length}. Left out: ${names.join(', ')}. Offer fewer tools, or add \`toolSearch()\` of keelson/lifecycles.`,
  );
  return accepted.slice(0, most);
}

/** Returns the tool in the form of the provider, or the reason why the provider would refuse the tool. */
function convert(tool: ToolSpec, { name }: ToolRules, toWire: (tool: ToolSpec) => WireObject): WireObject | string {
  if (name?.test(tool.name) === false) return `its name must match ${name.source}. Rename the tool.`;
  try {
    return toWire(tool);
  } catch (error) {
    return `its schema cannot be sent: ${describeError(error)}`;
  }
}

function warnOnce({ logger = consoleLogger }: ToolRules, text: string): void {
  const texts = warned.get(logger) ?? new Set();
  warned.set(logger, texts);
  if (texts.has(text)) return;
  texts.add(text);
  logger.warn(text);
}
