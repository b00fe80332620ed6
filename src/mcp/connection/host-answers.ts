import type { McpElicitation, McpElicitationAnswer } from '../elicitation.js';
import { McpUnavailableError } from '../error.js';
import { failureText } from '../failure-text.js';
import type { McpRoot } from '../options.js';
import type { ConnectionOptions } from './connection.js';
import { untilAborted } from './request-time.js';

type QuestionContext = Pick<ConnectionOptions, 'definition' | 'settings' | 'log' | 'hold'>;

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * Passes a question of a server to the user, with time limits paused. Returns `cancel` if the host fails to answer, or as
 * soon as the server withdraws the question.
 */
export function askUser(
  request: McpElicitation,
  { settings, log, hold }: QuestionContext,
): Promise<McpElicitationAnswer> {
  return hold.during(async () => {
    const ask = async () => settings.elicit?.(request);
    try {
      const answer = await untilAborted(request.signal, ask());
      if (answer && ACTIONS.includes(answer.action)) return answer;
      log.write(
        'error',
        'its question was not answered: `elicit` must return the action "accept", "decline" or "cancel".',
      );
    } catch (error) {
      if (!request.signal.aborted) log.write('error', `its question was not answered: ${failureText(error)}`, error);
    }
    return { action: 'cancel' };
  });
}

/** Returns the current roots. The error that the server receives does not contain the host's own error. */
export async function readRoots({ definition, settings, log }: QuestionContext): Promise<readonly McpRoot[]> {
  const { roots = [] } = settings;
  try {
    return typeof roots === 'function' ? await roots() : roots;
  } catch (error) {
    log.write('error', `its request for the roots failed: ${failureText(error)}`, error);
    throw new McpUnavailableError(definition.name, 'the host could not provide its roots.');
  }
}
