import { whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { shortenContent } from './shorten.js';

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
    async wrapToolCall(call, next) {
      const result = await next(call);
      const content = shortenContent(result.content, maxChars);
      return content === result.content ? result : { ...result, content };
    },
  };
}
