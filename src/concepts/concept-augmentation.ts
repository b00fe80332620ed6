import { ToolInvalidError } from '../errors.js';
import { fullText, numberRule } from '../internal/options/rules.js';
import type { OptionTable } from '../internal/options/validate.js';
import type { AgentLifecycle, ToolCallRequest } from '../lifecycle/lifecycle.js';
import { describeIssues } from '../tools/standard-schema.js';
import { augment } from './augmentation.js';
import { type ConceptOptions, conceptRules, resolveConceptOptions } from './concept-options.js';
import type { Augmented } from './context-block.js';

/** Options of the lifecycle. */
export interface ConceptAugmentationOptions extends ConceptOptions {
  /** Default `concepts`. */
  readonly name?: string | undefined;
  /** Default 45: inside of what is registered without a priority, outside of shell gates. */
  readonly priority?: number | undefined;
}

const rules = {
  ...conceptRules,
  name: fullText,
  priority: numberRule('a number from 0 to 100', 0, 100),
} satisfies OptionTable<ConceptAugmentationOptions>;

/**
 * Makes a lifecycle that gives each tool call what is known of the concepts that its arguments link to as `[[name]]`.
 * It never fails a call: what goes wrong is logged, and the tool gets its arguments as they were.
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
          apply: async (augmented) => {
            const taken = await withContext(call, augmented);
            changed = taken ?? call;
            return taken !== undefined;
          },
        },
        { ...settings, clock: settings.clock ?? run.clock },
      );
      return next(changed);
    },
  };
}

/** The call with the context; nothing where its tool takes no property besides. Throws where it would not take the longer text. */
async function withContext(call: ToolCallRequest, augmented: Augmented): Promise<ToolCallRequest | undefined> {
  if ('key' in augmented) {
    const added = { [augmented.key]: augmented.context };
    const checked = await call.tool?.check({ ...(call.input as object), ...added });
    // What is wrong with the arguments by themselves, a hook further in may put right.
    const isForbidden = checked?.issues !== undefined && (await call.tool?.check(call.input))?.issues === undefined;
    return isForbidden ? undefined : { ...call, additions: { ...call.additions, ...added } };
  }
  const input = { ...(call.input as object), [augmented.field]: augmented.text };
  const checked = await call.tool?.check(input);
  if (checked?.issues === undefined) return { ...call, input };
  const problem = `\`${augmented.field}\` does not take the context: ${describeIssues(checked.issues)}`;
  throw new ToolInvalidError(call.name, problem);
}
