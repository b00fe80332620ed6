import { whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Message } from '../model/message.js';
import { charsIn, shortenResults } from '../model/shorten.js';

/** Options of {@link truncateToolResults}. */
export interface TruncateOptions {
  /**
   * The maximum length of the text in one result, in UTF-16 units, not counting the note on the omission. Default:
   * 30,000.
   */
  readonly maxChars?: number | undefined;
}

const rules = { maxChars: whole(1) } satisfies OptionTable<TruncateOptions>;

/**
 * Makes a lifecycle that shortens long text in the tool results that the model reads. The beginning and the end stay,
 * with a note on the number of omitted characters between them.
 *
 * Images, files and `structured` do not change. The record of a session keeps the whole results, so people see them.
 *
 * Priority 96: before hooks that read the messages for the model.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [truncateToolResults({ maxChars: 10_000 })] });
 */
export function truncateToolResults(options: TruncateOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const { maxChars = 30_000 } = options;
  /**
   * Maps each message to its shortened form, so that each message is shortened only once. A shortened message maps to
   * itself.
   */
  const known = new WeakMap<Message, Message>();
  const shown = (message: Message): Message => {
    const found = known.get(message);
    if (found !== undefined) return found;
    const short = isLong(message, maxChars) ? shortenResults(message, maxChars) : message;
    known.set(message, short).set(short, short);
    return short;
  };
  return {
    name: 'truncate-tool-results',
    priority: 96,
    beforeModel(messages) {
      return messages.some((message) => shown(message) !== message) ? messages.map(shown) : undefined;
    },
  };
}

function isLong(message: Message, maxChars: number): boolean {
  return message.role === 'tool' && message.content.some(({ content }) => charsIn(content) > maxChars);
}
