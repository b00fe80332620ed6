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

/** Sets when and how a conversation is compacted. Set either `maxTokens` or `maxMessages`. */
export interface CompactionOptions {
  /**
   * Compacts the messages when they have more tokens than this. Set it well below the model's context window. The count
   * is the usage of the last response plus an estimate of the messages after it. The estimate is a quarter of the
   * characters, plus 1,000 tokens for each image or file. Without a previous response, all messages are estimated.
   */
  readonly maxTokens?: number | undefined;
  /** Compacts the messages when there are more than this number. Excludes `maxTokens`. */
  readonly maxMessages?: number | undefined;
  /** The number of last messages that stay unchanged, within half of the limit. Default: 10. */
  readonly keep?: number | undefined;
  /** The model that writes the summary, for example a cheaper one. Default: the run's model. */
  readonly model?: Model | undefined;
  /** Returns the summary of the messages that are removed. Replaces the call of a model. */
  readonly summarize?: ((messages: readonly Message[], run: RunContext) => Awaitable<string>) | undefined;
}

/**
 * Makes a lifecycle that compacts long conversations. Before a model call that would exceed the limit, a summary
 * replaces all but the last messages, for the rest of the run and of its session. System messages and the last user
 * message stay unchanged. A tool call stays together with its results. Instructions do not change. `result.messages`
 * still holds all messages that the run added.
 *
 * The summary is one model call outside of the run: hooks do not see it, and the run's usage does not include its
 * tokens. If the summary fails, is empty, is cut off or is longer than the messages, a warning is logged and the
 * messages stay.
 *
 * Priority 15: after hooks that change or add messages, so that their changes are summarised; before shell hooks.
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

/**
 * The ratio of the measured size to the estimate of `weigh`, from 1 to 4. A language may explain a factor of up to 4;
 * the remainder is instructions and tools.
 */
function scaleOf(messages: readonly Message[], size: number, weigh: CutRule['weigh']): number {
  return Math.min(Math.max(size / weightOf(messages, weigh), 1), 4);
}

function weightOf(messages: readonly Message[], weigh: CutRule['weigh']): number {
  return messages.reduce((sum, message) => sum + weigh(message), 0);
}

/** Returns the summary, or undefined if it failed or is empty. Only an abort of the run is rethrown. */
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
    const found = maxTokens === undefined ? 'neither' : 'both';
    throw new OptionInvalidError(
      'maxTokens',
      `exactly one of \`maxTokens\` and \`maxMessages\` must be set, got ${found}`,
    );
  }
  if (model !== undefined && summarize !== undefined) {
    throw new OptionInvalidError('model', '`model` and `summarize` must not both be set, got both: remove one of them');
  }
  const isByTokens = maxTokens !== undefined;
  const byModel = (messages: readonly Message[], run: RunContext) => summariseBy(model ?? run.model, messages, run);
  const rule: CutRule = { limit, keep, weigh: isByTokens ? tokensIn : () => 1 };
  return { rule, isByTokens, summarize: summarize ?? byModel };
}
