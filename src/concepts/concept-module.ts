import { augment, type ConceptRecord } from './augmentation.js';
import { type ConceptOptions, resolveConceptOptions } from './concept-options.js';

/** What the handler is told of a call. */
export interface ToolExecuteInput {
  /** The tool's name. */
  readonly tool: string;
  readonly sessionID: string;
  /** The id of this one call. */
  readonly callID: string;
}

/** What the handler may change: what is done to `args` is what the tool gets. */
export interface ToolExecuteOutput {
  args: Record<string, unknown>;
}

/** The handler for the moment before a tool runs. */
export type ToolExecuteBefore = (input: ToolExecuteInput, output: ToolExecuteOutput) => Promise<void>;

/** What is needed of opencode's client. */
export interface ConceptClient {
  readonly app: {
    /** Writes one line of the log. */
    log(options: { readonly body: ConceptRecord & { readonly service: string } }): unknown;
  };
}

/** An opencode plugin module, as far as this one goes. */
export type ConceptModule = (context: {
  readonly client: ConceptClient;
}) => Promise<{ readonly 'tool.execute.before': ToolExecuteBefore }>;

/**
 * Makes the same augmentation as a module for opencode: `export const Concepts = conceptModule()`. It changes the
 * arguments in place, logs through `client.app.log`, and never throws.
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
          apply(augmented) {
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
