import { describeError } from '../../../errors.js';
import { consoleLogger, type Logger } from '../../../internal/logger.js';
import type { ToolSpec } from '../../../model/model.js';
import type { WireObject } from '../wire.js';

/** The rules of a provider for the tools in a request. */
export interface ToolRules {
  readonly provider: string;
  /** Matches the tool names that the provider accepts. Default: every name. */
  readonly name?: RegExp | undefined;
  /** The largest number of tools in a request. Default: no limit. */
  readonly most?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** The texts that were already logged as warnings, by logger, so that each is logged once. */
const warned = new WeakMap<Logger, Set<string>>();

/**
 * Converts the tools of a request to the form of a provider. Leaves out each tool for which the provider would refuse
 * the whole request, and logs a warning once.
 */
export function acceptedTools(
  tools: readonly ToolSpec[],
  rules: ToolRules,
  toWire: (tool: ToolSpec) => WireObject,
): readonly WireObject[] {
  const accepted = tools.flatMap((tool) => {
    const wire = convert(tool, rules, toWire);
    if (typeof wire !== 'string') return [{ name: tool.name, wire }];
    const text = `Tool ${JSON.stringify(tool.name)} is left out of requests to ${rules.provider}: ${wire}`;
    if (isNew(rules, text)) loggerOf(rules).warn(text);
    return [];
  });
  const most = Math.max(rules.most ?? accepted.length, 0);
  warnOfRest(
    accepted.slice(most).map(({ name }) => name),
    accepted.length,
    rules,
  );
  return accepted.slice(0, most).map(({ wire }) => wire);
}

/** Logs a warning about tools above the limit of the provider. Leaves out tools that an earlier warning has named. */
function warnOfRest(rest: readonly string[], total: number, rules: ToolRules): void {
  const { provider, most } = rules;
  const fresh = rest.filter((name) => isNew(rules, `${provider} ${name}`));
  if (fresh.length === 0) return;
  loggerOf(rules).warn(
    `${provider} accepts ${most} tools in a request, got ${total}. Left out: ${fresh.join(', ')}. Offer fewer tools, or add \`toolSearch()\` of keelson/lifecycles.`,
  );
}

/** Converts a tool. Returns the reason as a string if the provider would refuse the tool. */
function convert(tool: ToolSpec, { name }: ToolRules, toWire: (tool: ToolSpec) => WireObject): WireObject | string {
  if (name?.test(tool.name) === false) return `its name must match ${name.source}. Rename the tool.`;
  try {
    return toWire(tool);
  } catch (error) {
    return `its schema cannot be sent: ${describeError(error)}`;
  }
}

function isNew(rules: ToolRules, text: string): boolean {
  const logger = loggerOf(rules);
  const texts = warned.get(logger) ?? new Set();
  warned.set(logger, texts);
  return texts.size < texts.add(text).size;
}

function loggerOf({ logger = consoleLogger }: ToolRules): Logger {
  return logger;
}
