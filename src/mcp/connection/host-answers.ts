import type { McpElicitation, McpElicitationAnswer } from '../elicitation.js';
import { McpUnavailableError } from '../error.js';
import { failureText } from '../failure-text.js';
import type { McpRoot } from '../options.js';
import type { ConnectionOptions } from './connection.js';
import { untilAborted } from './request-time.js';

type Asked = Pick<ConnectionOptions, 'definition' | 'settings' | 'log' | 'hold'>;

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * Asks the user for a server, with time limits paused. Answers with `cancel` if the host fails. A question that was taken
 * back holds up nobody, answered or not.
 */
export function askUser(request: McpElicitation, { settings, log, hold }: Asked): Promise<McpElicitationAnswer> {
  return hold.during(async () => {
    const ask = async () => settings.elicit?.(request);
    try {
      const given = await untilAborted(request.signal, ask());
      if (given && ACTIONS.includes(given.action)) return given;
      log.write('error', 'its question was not answered: `elicit` gave none of accept, decline and cancel.');
    } catch (error) {
      if (!request.signal.aborted) log.write('error', `its question was not answered: ${failureText(error)}`, error);
    }
    return { action: 'cancel' };
  });
}

/** Reads the roots as they are now. The error that a server gets does not say why the host failed. */
export async function readRoots({ definition, settings, log }: Asked): Promise<readonly McpRoot[]> {
  const { roots = [] } = settings;
  try {
    return typeof roots === 'function' ? await roots() : roots;
  } catch (error) {
    log.write('error', `it was told no roots: ${failureText(error)}`, error);
    throw new McpUnavailableError(definition.name, 'the roots are not known now.');
  }
}
