import { calledTool } from '../tools/called-tool.js';
import { acceptedPlace } from './accepted-place.js';
import { type AugmentableCall, augment, type ConceptRecord } from './augmentation.js';
import { type ConceptOptions, type ConceptSettings, resolveConceptOptions } from './concept-options.js';

/** The input of the `tool.execute.before` handler. */
export interface ToolExecuteInput {
  /** The tool's name. */
  readonly tool: string;
  readonly sessionID: string;
  /** The id of the call. */
  readonly callID: string;
}

/** The output of the handler. The tool gets `args` with the handler's changes. */
export interface ToolExecuteOutput {
  args: Record<string, unknown>;
}

/** The handler that opencode calls before a tool runs. */
export type ToolExecuteBefore = (input: ToolExecuteInput, output: ToolExecuteOutput) => Promise<void>;

/** The part of opencode's client that the module uses. */
export interface ConceptClient {
  readonly app: {
    /** Writes a log record. */
    log(options: { readonly body: ConceptRecord & { readonly service: string } }): unknown;
  };
}

/** An opencode plugin module. */
export type ConceptModule = (context: { readonly client: ConceptClient }) => Promise<{
  readonly 'tool.execute.before': ToolExecuteBefore;
}>;

/**
 * Creates an opencode plugin module with the same augmentation as `conceptAugmentation`.
 * Mutates the arguments in place, logs through `client.app.log`, and never throws.
 *
 * @example
 * export const Concepts = conceptModule({ profile: 'safe' });
 */
export function conceptModule(options: ConceptOptions = {}): ConceptModule {
  const settings = resolveConceptOptions(options);
  return async ({ client }) => ({ 'tool.execute.before': beforeTool(client, settings) });
}

function beforeTool(client: ConceptClient, settings: ConceptSettings): ToolExecuteBefore {
  return ({ tool: name, sessionID }, output) => {
    const { args } = output;
    const tool = calledTool(output);
    const call: AugmentableCall = {
      tool: name,
      args,
      sessionID,
      log: (record) => client.app.log({ body: { service: settings.label, ...record } }),
      annotations: tool?.annotations,
      async apply(places) {
        const augmented = await acceptedPlace({ tool, input: args }, places);
        if (augmented === undefined) return false;
        if ('field' in augmented) args[augmented.field] = augmented.text;
        else args[augmented.key] = augmented.context;
        return true;
      },
    };
    return augment(call, settings);
  };
}
