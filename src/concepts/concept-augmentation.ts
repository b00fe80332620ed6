import { fullText, numberRule } from '../internal/options/rules.js';
import type { OptionTable } from '../internal/options/validate.js';
import type { AgentLifecycle, ToolCallRequest } from '../lifecycle/lifecycle.js';
import { acceptedPlace } from './accepted-place.js';
import { augment } from './augmentation.js';
import { type ConceptOptions, conceptRules, resolveConceptOptions } from './concept-options.js';
import type { Augmented } from './context-block.js';

/** Options of {@link conceptAugmentation}. */
export interface ConceptAugmentationOptions extends ConceptOptions {
  /** The lifecycle's name. Default `concepts`. */
  readonly name?: string | undefined;
  /**
   * The lifecycle's priority. Its hooks run inside those of a lifecycle with a higher priority. Default 45: inside
   * lifecycles without a priority, outside shell hooks.
   */
  readonly priority?: number | undefined;
}

const rules = {
  ...conceptRules,
  name: fullText,
  priority: numberRule('a number from 0 to 100', 0, 100),
} satisfies OptionTable<ConceptAugmentationOptions>;

/**
 * Creates a lifecycle that adds context to tool calls whose arguments link to concepts as `[[name]]`.
 * Never fails a call: a failure is logged, and the tool gets its arguments unchanged.
 *
 * @example
 * const concepts = conceptAugmentation({ buildContext: ({ conceptName }) => notes.get(conceptName) });
 * const agent = new Agent({ model, tools, lifecycle: [concepts] });
 */
export function conceptAugmentation(options: ConceptAugmentationOptions = {}): AgentLifecycle {
  const settings = resolveConceptOptions(options, rules);
  const { name = 'concepts', priority = 45 } = options;
  return {
    name,
    priority,
    onFailure: 'continue',
    async wrapToolCall(call, next) {
      const { run } = call;
      let changed = call;
      await augment(
        {
          tool: call.name,
          args: call.input,
          sessionID: run.session?.id ?? run.id,
          annotations: call.tool?.annotations,
          signal: call.signal ?? run.signal,
          log: ({ level, message, extra }) => run.logger[level](message, extra),
          apply: async (places) => {
            const augmentedCall = await withContext(call, places);
            changed = augmentedCall ?? call;
            return augmentedCall !== undefined;
          },
        },
        { ...settings, clock: settings.clock ?? run.clock },
      );
      return next(changed);
    },
  };
}

/** Returns the call with the context at the first place that the tool accepts, or undefined if it accepts none. */
async function withContext(call: ToolCallRequest, places: readonly Augmented[]): Promise<ToolCallRequest | undefined> {
  const input = call.input as Readonly<Record<string, unknown>>;
  const place = await acceptedPlace({ tool: call.tool, input }, places);
  if (place === undefined) return undefined;
  if ('field' in place) return { ...call, input: { ...input, [place.field]: place.text } };
  return { ...call, additions: { ...call.additions, [place.key]: place.context } };
}
