import { augment, type ConceptRecord } from './augmentation.js';
import { type ConceptOptions, resolveConceptOptions } from './concept-options.js';

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

/** An opencode plugin module with one hook. */
export type ConceptModule = (context: {
  readonly client: ConceptClient;
}) => Promise<{ readonly 'tool.execute.before': ToolExecuteBefore }>;

/**
 * Creates an opencode plugin module with the same augmentation as `conceptAugmentation`.
 * Mutates the arguments in place, logs through `client.app.log`, and never throws.
 *
 * @example
 * export const Concepts = conceptModule({ profile: 'safe' });
 */
export function conceptModule(options: ConceptOptions = {}): ConceptModule {
  const settings = resolveConceptOptions(options);
  return async ({ client }) => ({
    'tool.execute.before': ({ tool, sessionID }, output) => {
      const { args } = output;
      const log = (record: ConceptRecord) => client.app.log({ body: { service: settings.label, ...record } });
      return augment(
        {
          ...{ tool, args, sessionID, log },
          apply([augmented]) {
            if (augmented === undefined) return false;
            if ('field' in augmented) args[augmented.field] = augmented.text;
            else args[augmented.key] = augmented.context;
            return true;
          },
        },
        settings,
      );
    },
  });
}
