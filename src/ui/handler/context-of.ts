import { UIInputUnusedError } from '../error.js';
import type { PageInput } from '../request.js';
import type { HandlerConfig } from './handler-options.js';

/** A request whose run needs a context. */
export interface ContextRequest {
  readonly request: Request;
  readonly identity: unknown;
  readonly page: PageInput | undefined;
}

/** Returns the context of a run. Throws a UIInputUnusedError if the page sent input for it and the handler has no `context`. */
export async function contextOf(
  config: HandlerConfig,
  { request, identity, page = {} }: ContextRequest,
): Promise<unknown> {
  if (config.context !== undefined) return config.context(identity, request, page);
  const sent = Object.entries(page).flatMap(([name, value]) => (isEmpty(value) ? [] : [`\`${name}\``]));
  if (sent.length === 0) return undefined;
  throw new UIInputUnusedError(
    `${sent.join(' and ')} of the request must be empty, because this handler has no \`context\` function. Pass one to ` +
      '`createAgentHandler`: its third argument is what the page sent.',
  );
}

/** Clients of AG-UI send `[]` and `{}` if they have nothing to send. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null;
}
