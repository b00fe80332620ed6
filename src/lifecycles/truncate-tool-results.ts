import { whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Message } from '../model/message.js';
import { charsIn, shortenResults } from '../model/shorten.js';

/** Limits the length of tool results. */
export interface TruncateOptions {
  /** The maximum of UTF-16 units of text in one result, without the note on the omission. Default: 30,000. */
  readonly maxChars?: number | undefined;
}

const rules = { maxChars: whole(1) } satisfies OptionTable<TruncateOptions>;

/**
 * Makes a lifecycle that shortens long text in the tool results that the model reads. The beginning and the end stay, and a
 * note between them says how many characters are omitted. Images, files and `structured` do not change. The record of a
 * session, and so the person, has the whole results.
 *
 * Priority 96: before hooks that read the messages as the model gets them.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [truncateToolResults({ maxChars: 10_000 })] });
 */
export function truncateToolResults(options: TruncateOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const { maxChars = 30_000 } = options;
  /** The message that the model reads, for each message. A shortened message is not shortened again. */
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
