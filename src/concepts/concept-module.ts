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

/** An opencode plugin module. It has the hook `event` only with `keepFor: 'run'`. */
export type ConceptModule = (context: { readonly client: ConceptClient }) => Promise<{
  readonly 'tool.execute.before': ToolExecuteBefore;
  /** Forgets the lookups of a session when opencode reports `session.idle`. */
  readonly event?: (input: { readonly event: { readonly type: string; readonly properties: object } }) => Promise<void>;
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
  const kept = settings.keepFor === 'run' ? new KeptContexts() : undefined;
  return async ({ client }) => {
    const hooks = { 'tool.execute.before': beforeTool(client, settings, kept) };
    if (kept === undefined) return hooks;
    return {
      ...hooks,
      async event({ event }) {
        if (event.type === 'session.idle') kept.forget((event.properties as { sessionID?: string }).sessionID);
      },
    };
  };
}

function beforeTool(
  client: ConceptClient,
  settings: ConceptSettings,
  kept: KeptContexts | undefined,
): ToolExecuteBefore {
  return ({ tool: name, sessionID }, output) => {
    const { args } = output;
    const tool = calledTool(output);
    const call: AugmentableCall = {
      tool: name,
      args,
      sessionID,
      log: (record) => client.app.log({ body: { service: settings.label, ...record } }),
      annotations: tool?.annotations,
      known: kept?.of(sessionID),
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

/** The number of sessions for which contexts are kept if the host reports no session as idle. */
const MOST_SESSIONS = 100;

/** The contexts of earlier lookups in each session. opencode ends a run by reporting its session as idle. */
class KeptContexts {
  private readonly bySession = new Map<string, Map<string, string>>();

  of(session: string): Map<string, string> {
    const contexts = this.bySession.get(session) ?? new Map<string, string>();
    this.bySession.delete(session);
    this.bySession.set(session, contexts);
    const [oldest] = this.bySession.keys();
    if (this.bySession.size > MOST_SESSIONS) this.forget(oldest);
    return contexts;
  }

  forget(session: string | undefined): void {
    if (session !== undefined) this.bySession.delete(session);
  }
}
