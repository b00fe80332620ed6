import { OptionInvalidError } from '../../errors.js';
import { callable, model, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { Awaitable } from '../../internal/promise.js';
import { hookRunOf, report } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message } from '../../model/message.js';
import type { Model } from '../../model/model.js';
import { ModelError } from '../../model/run-error.js';
import { summaryMessage } from '../../model/summary-message.js';
import { type Cut, type CutRule, cutConversation } from './conversation-cut.js';
import { fittingShare } from './overflow.js';
import { type Shortening, shorteningFor } from './shorten-results.js';
import { summariseBy } from './summary.js';
import { createTokenMeter, tokensIn } from './token-meter.js';

/** Sets when and how a conversation is compacted. Set either `maxTokens` or `maxMessages`. */
export interface CompactionOptions {
  /**
   * Compacts the messages when they have more tokens than this. Set it well below the model's context window.
   *
   * The number of tokens is the usage of the last response plus an estimate of the messages after it. The estimate is a
   * quarter of the characters, plus 1,000 tokens for each image or file. Without a previous response, all messages are
   * estimated.
   */
  readonly maxTokens?: number | undefined;
  /** Compacts the messages when there are more than this number. Cannot be combined with `maxTokens`. */
  readonly maxMessages?: number | undefined;
  /** The number of last messages that stay unchanged, if they need at most half of the limit. Default: 10. */
  readonly keep?: number | undefined;
  /** The model that writes the summary, for example a cheaper one. Default: the run's model. */
  readonly model?: Model | undefined;
  /** Returns the summary of the messages to remove. Set it to write the summary without a model. */
  readonly summarize?: ((messages: readonly Message[], run: RunContext) => Awaitable<string>) | undefined;
}

/**
 * Makes a lifecycle that compacts long conversations. Before a model call that would exceed the limit, a summary
 * replaces all but the last messages, for the rest of the run and its session. The record of the session keeps every
 * message.
 *
 * System messages and the last user message stay. A tool call stays together with its results. Instructions do not
 * change.
 *
 * If the provider refuses a model call because the conversation exceeds the context window (`context-overflow`), the
 * conversation is compacted to fit, and the call is repeated once. If the last turn alone is too long, its longest tool
 * results are shortened, with a note on the omitted characters.
 *
 * The summary is a model call outside the turns: `wrapModelCall` hooks see it, and the run's usage includes its tokens.
 * If the summary fails, is empty, is cut off or is longer than the messages, a warning is logged and the messages stay.
 * With `maxMessages`, the length is the number of messages, so the size of the summary is not limited.
 *
 * Priority 15: after hooks that change or add messages, so that the summary includes their changes, and before shell
 * hooks.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [compaction({ maxTokens: 100_000 })] });
 */
export function compaction(options: CompactionOptions): AgentLifecycle {
  const { rule, summarize, isByTokens } = resolveCompactionOptions(options ?? {});
  const meter = isByTokens ? createTokenMeter() : undefined;
  const { compact, compactOverflow } = createCompactor({ rule, isByTokens, summarize });
  return {
    name: 'compaction',
    priority: 15,
    onFailure: 'continue',
    beforeModel(messages, run) {
      const size = meter?.sizeOf(messages, run) ?? messages.length;
      return size > rule.limit ? compact(messages, run, size) : undefined;
    },
    async wrapModelCall(request, next) {
      try {
        return await next(request);
      } catch (error) {
        const isOverflow = error instanceof ModelError && error.kind === 'context-overflow';
        const messages = isOverflow ? await compactOverflow(request, error) : undefined;
        if (messages === undefined) throw error;
        return next({ ...request, messages });
      }
    },
    afterModel: meter && ((response, run) => meter.learn(response.usage, run)),
  };
}

function createCompactor({ rule, isByTokens, summarize }: ResolvedOptions) {
  const summaryOf = async (cut: Cut, messages: readonly Message[], { run, measure, maxTokens }: Task) => {
    const text = await tryToSummarise(() => summarize(cut.head, run, maxTokens), run);
    if (text === undefined) return undefined;
    if (weightOf(replacedBy(cut, text), measure) <= weightOf(messages, measure)) return text;
    run.logger.warn(
      'The summary of the conversation is longer than the messages that it would replace, so the conversation stays as it is.',
    );
    return undefined;
  };
  const compact = (messages: readonly Message[], run: RunContext, size: number) => {
    const { measure } = rule;
    const cut = cutConversation(messages, { ...rule, limit: rule.limit / scaleOf(messages, size, measure) });
    return (
      cut &&
      reported(messages, run, async () =>
        summarized(run, { cut, messages, text: await summaryOf(cut, messages, { run, measure }) }),
      )
    );
  };
  /**
   * Compacts the messages after a `context-overflow`, so that they fit into the context window. Counts estimated
   * tokens, even with `maxMessages`.
   */
  const compactOverflow = ({ messages, run }: ModelCallRequest, error: ModelError) => {
    const share = weightOf(messages, tokensIn) * fittingShare(error) * MARGIN;
    const maxTokens = isByTokens ? Math.min(share, rule.limit) : share;
    const cut = cutConversation(messages, { limit: maxTokens, keep: rule.keep, measure: tokensIn });
    if (cut === undefined && shorteningFor(messages, maxTokens) === undefined) return undefined;
    return reported(messages, run, async () => {
      const text = cut && (await summaryOf(cut, messages, { run, measure: tokensIn, maxTokens }));
      const left = cut && text ? replacedBy(cut, text) : messages;
      return summarized(run, { cut, messages, text, shorten: shorteningFor(left, maxTokens) });
    });
  };
  return { compact, compactOverflow };
}

/** The result of a compaction. */
interface Outcome {
  readonly messages: readonly Message[];
  readonly cut: Cut | undefined;
  /** The summary. Undefined if no summary could be made. */
  readonly text: string | undefined;
  readonly shorten?: readonly Shortening[] | undefined;
}

/**
 * Applies the summary and the shortened results to the run. Returns the messages for the model, or undefined if nothing
 * changed.
 */
function summarized(run: RunContext, { cut, messages, text, shorten = [] }: Outcome): Compacted {
  const isCut = cut !== undefined && text !== undefined;
  if (!isCut && shorten.length === 0) return undefined;
  const own = run.messages;
  // A hook may have sent other messages than the messages of the run. Then the change applies to this call only.
  const extra = messages.length - own.length;
  const isOwn = messages.at(-1) === own.at(-1) && (extra === 0 || (extra === 1 && messages[0]?.role === 'system'));
  const given = isOwn ? own : messages.slice(Math.max(0, extra));
  const rest = isCut ? { text, from: cut.tail[0], keep: cut.kept } : { text: '', from: given[0], keep: [] };
  run.summarize({ ...rest, shorten, messages: given });
  return [...messages.slice(0, isOwn ? extra : 0), ...run.messages];
}

function replacedBy({ kept, tail }: Cut, text: string): readonly Message[] {
  return [...kept, summaryMessage(text), ...tail];
}

type Compacted = readonly Message[] | undefined;

/** Reports the start and the end of a compaction. Returns undefined if a shell hook prevents the compaction. */
async function reported(messages: readonly Message[], run: RunContext, act: () => Promise<Compacted>) {
  const pending = hookRunOf(run)?.onMoment?.({ kind: 'compaction' });
  if (pending !== undefined && (await pending) !== undefined) return undefined;
  report(run, { type: 'compaction-start', messages: messages.length });
  const compacted = await act();
  report(run, { type: 'compaction-end', messages: compacted?.length });
  if (compacted !== undefined) void hookRunOf(run)?.onMoment?.({ kind: 'compacted' });
  return compacted;
}

/** The share of the context window that a compacted conversation may fill, since token counts are estimates. */
const MARGIN = 0.8;

type Summarize = (messages: readonly Message[], run: RunContext, maxTokens?: number) => Awaitable<string>;

/** One compaction. `maxTokens` limits each model request for the summary. */
interface Task {
  readonly run: RunContext;
  readonly measure: CutRule['measure'];
  readonly maxTokens?: number | undefined;
}

/**
 * Returns how many times larger the measured size is than the estimate, from 1 to 4. Text of some languages has up to
 * four times as many tokens. A larger factor comes from instructions and tools, which a summary cannot shorten.
 */
function scaleOf(messages: readonly Message[], size: number, measure: CutRule['measure']): number {
  return Math.min(Math.max(size / weightOf(messages, measure), 1), 4);
}

function weightOf(messages: readonly Message[], measure: CutRule['measure']): number {
  return messages.reduce((sum, message) => sum + measure(message), 0);
}

/** Returns the summary. Returns undefined if it failed or is empty. Rethrows only an abort of the run. */
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

interface ResolvedOptions {
  readonly rule: CutRule;
  readonly isByTokens: boolean;
  readonly summarize: Summarize;
}

function resolveCompactionOptions(options: CompactionOptions): ResolvedOptions {
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
  const byModel = (messages: readonly Message[], run: RunContext, maxTokens?: number) =>
    summariseBy(model ?? run.model, messages, { run, maxTokens });
  const rule: CutRule = { limit, keep, measure: isByTokens ? tokensIn : () => 1 };
  return { rule, isByTokens, summarize: summarize ?? byModel };
}
