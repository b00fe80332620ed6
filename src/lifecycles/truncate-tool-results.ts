import { whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { ContentPart } from '../model/message.js';
import type { ToolResult } from '../tools/tool.js';
import { shorten } from './shorten.js';

/** Limits the length of tool results. */
export interface TruncateOptions {
  /** The maximum of UTF-16 units of text in one result, without the note on the omission. Default: 30,000. */
  readonly maxChars?: number | undefined;
}

const rules = { maxChars: whole(1) } satisfies OptionTable<TruncateOptions>;

/**
 * Makes a lifecycle that shortens long text in tool results. The beginning and the end stay, and a note between them
 * says how many characters are omitted. Images, files and `structured` do not change.
 *
 * Priority 96: outside of hooks that redact results, because a redactor would not recognise half of a secret.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [truncateToolResults({ maxChars: 10_000 })] });
 */
export function truncateToolResults(options: TruncateOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const { maxChars = 30_000 } = options;
  return {
    name: 'truncate-tool-results',
    priority: 96,
    wrapToolCall: async (call, next) => truncated(await next(call), maxChars),
  };
}

function truncated(result: ToolResult, maxChars: number): ToolResult {
  const { content } = result;
  if (typeof content === 'string') {
    return content.length <= maxChars ? result : { ...result, content: shorten(content, maxChars) };
  }
  const length = content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
  if (length <= maxChars) return result;
  // Each text part is shortened in proportion to its length.
  const cut = (part: ContentPart): ContentPart =>
    part.type === 'text'
      ? { ...part, text: shorten(part.text, Math.floor((maxChars * part.text.length) / length)) }
      : part;
  return { ...result, content: content.map(cut) };
}
