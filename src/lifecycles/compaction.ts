import { OptionInvalidError } from '../errors.js';
import { callable, model, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { report } from '../lifecycle/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { Message } from '../model/message.js';
import type { Model } from '../model/model.js';
import { type Cut, type CutRule, cutConversation } from './conversation-cut.js';
import { summariseBy, summaryMessage } from './summary.js';
import { createTokenMeter, tokensIn } from './token-meter.js';

/** When a conversation is compacted, and how. Give `maxTokens` or `maxMessages`. */
export interface CompactionOptions {
  /**
   * Tokens in the messages from which on they are compacted; well below the model's context window. Counted as the last
   * response of the run or session says, and what came after it, or where nothing is known, as a quarter of the characters, with
   * 1,000 for each picture or file.
   */
  readonly maxTokens?: number | undefined;
  /** The number of messages from which on they are compacted, in place of `maxTokens`. */
  readonly maxMessages?: number | undefined;
  /** How many of the last messages stay as they are, as long as they make up no more than half of the limit. Default: 10. */
  readonly keep?: number | undefined;
  /** Writes the default summary, such as a cheaper one. Default: the run's model. */
  readonly model?: Model | undefined;
  /** Writes the summary, in place of a model, of the messages that come before those that stay. */
  readonly summarize?: ((messages: readonly Message[], run: RunContext) => Awaitable<string>) | undefined;
}

/**
 * Makes a lifecycle that keeps a long conversation within bounds: before a model call that would go beyond the limit, a
 * summary takes the place of all but the last messages, for the rest of the run and of its session. System messages and
 * the last message of the user stay word for word, a tool call stays with its results, and instructions are not touched.
 * `result.messages` keeps what the run added.
 *
 * The summary is one call of the model beside the run, which no hook sees and whose tokens are not in the run's usage.
 * Where it fails, is empty, was cut off or makes the list longer, that is logged and the run goes on with what it has.
 *
 * Priority 15: after the hooks that rewrite or add messages, so that it summarises what they left, before shell gates.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [compaction({ maxTokens: 100_000 })] });
 */
export function compaction(options: CompactionOptions): AgentLifecycle {
  const { rule, summarize, isByTokens } = resolveCompactionOptions(options);
  const meter = isByTokens ? createTokenMeter() : undefined;
  const compact = async (messages: readonly Message[], run: RunContext, size: number) => {
    const cut = cutConversation(messages, { ...rule, limit: rule.limit / scaleOf(messages, size, rule.weigh) });
    if (cut === undefined) return undefined;
    report(run, { type: 'compaction-start', messages: messages.length });
    const compacted = await compactTo(cut, messages, run);
    report(run, { type: 'compaction-end', messages: compacted?.length });
    return compacted;
  };
  const compactTo = async (cut: Cut, messages: readonly Message[], run: RunContext) => {
    const summary = await tryToSummarise(() => summarize(cut.head, run), run);
    if (summary === undefined) return undefined;
    const compacted = [...cut.kept, summaryMessage(summary), ...cut.tail];
    if (weightOf(compacted, rule.weigh) <= weightOf(messages, rule.weigh)) return compacted;
    run.logger.warn(
      'The summary of the conversation is longer than what it would replace; the conversation stays as it is.',
    );
    return undefined;
  };
  return {
    name: 'compaction',
    priority: 15,
    onFailure: 'continue',
    beforeModel(messages, run) {
      const size = meter?.sizeOf(messages, run) ?? messages.length;
      return size > rule.limit ? compact(messages, run, size) : undefined;
    },
    afterModel: meter && ((response, run) => meter.learn(response.usage, run)),
  };
}

/** How much more the messages are than `weigh` says, as far as a language may explain it: the rest is instructions and tools. */
function scaleOf(messages: readonly Message[], size: number, weigh: CutRule['weigh']): number {
  return Math.min(Math.max(size / weightOf(messages, weigh), 1), 4);
}

function weightOf(messages: readonly Message[], weigh: CutRule['weigh']): number {
  return messages.reduce((sum, message) => sum + weigh(message), 0);
}

/** A failed summary costs nothing but itself: history that cannot be summarised stays. */
async function tryToSummarise(summarise: () => Awaitable<string>, run: RunContext): Promise<string | undefined> {
  try {
    const summary: unknown = await summarise();
    if (typeof summary === 'string' && summary.trim() !== '') return summary.trim();
    run.logger.warn('The summary of the conversation is empty; the conversation stays as it is.');
  } catch (error) {
    run.signal.throwIfAborted();
    run.logger.warn('The conversation could not be summarised; it stays as it is.', error);
  }
  return undefined;
}

const rules = {
  maxTokens: whole(1),
  maxMessages: whole(1),
  keep: whole(1),
  model,
  summarize: callable,
} satisfies OptionTable<CompactionOptions>;

function resolveCompactionOptions(options: CompactionOptions) {
  validateOptions(options, rules);
  const { maxTokens, maxMessages, keep = 10, model, summarize } = options;
  const limit = maxTokens ?? maxMessages;
  if (limit === undefined || (maxTokens !== undefined && maxMessages !== undefined)) {
    throw new OptionInvalidError('maxTokens', '`maxTokens` or `maxMessages` must be given, and not both');
  }
  if (model !== undefined && summarize !== undefined) {
    throw new OptionInvalidError('model', '`model` and `summarize` exclude each other: give one of them');
  }
  const isByTokens = maxTokens !== undefined;
  const byModel = (messages: readonly Message[], run: RunContext) => summariseBy(model ?? run.model, messages, run);
  const rule: CutRule = { limit, keep, weigh: isByTokens ? tokensIn : () => 1 };
  return { rule, isByTokens, summarize: summarize ?? byModel };
}
