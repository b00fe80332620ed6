import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import type { McpSettings } from '../config/settings.js';
import type { McpElicitation, McpElicitationAnswer } from '../elicitation.js';
import { McpUnavailableError } from '../error.js';
import type { McpRoot } from '../options.js';
import { untilAborted } from '../transport/request-time.js';
import type { ConnectionListener } from './connection.js';
import { failureText } from './failure-text.js';
import type { LogLimiter } from './log-limiter.js';

/** What a listener does its work with. */
export interface ListenerOptions {
  readonly server: string;
  readonly settings: McpSettings;
  readonly log: LogLimiter;
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onToolsChanged: () => void;
}

const MAX_PROBLEM = 300;

/** What every connection to a server tells and asks, but for its end. */
export function createListener(options: ListenerOptions): Omit<ConnectionListener, 'onEnd'> {
  const { server, settings, log, onToolsChanged } = options;
  const { elicit, roots } = settings;
  const said = log.apart();
  return {
    server,
    elicit: elicit && ((request) => options.hold(() => answer({ request, elicit, log }))),
    roots: roots && (() => readRoots(async () => (typeof roots === 'function' ? roots() : roots), options)),
    onLog: (level: keyof Logger, text: string) => said.write(level, text),
    onProblem: (error) => said.write(levelOf(error), safeText(failureText(error), { maxLength: MAX_PROBLEM })),
    onToolsChanged,
  };
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

interface Question {
  readonly request: McpElicitation;
  readonly elicit: NonNullable<McpSettings['elicit']>;
  readonly log: LogLimiter;
}

/** Whoever fails to ask has not been told anything. A question that was taken back holds up nobody, answered or not. */
async function answer({ request, elicit, log }: Question): Promise<McpElicitationAnswer> {
  const ask = async () => elicit(request);
  try {
    const given = await untilAborted(request.signal, ask());
    if (ACTIONS.includes(given?.action)) return given;
    log.write('error', 'its question was not answered: `elicit` gave none of accept, decline and cancel.');
  } catch (error) {
    if (!request.signal.aborted) log.write('error', `its question was not answered: ${failureText(error)}`, error);
  }
  return { action: 'cancel' };
}

/** What went wrong here is nothing for the server to read. */
async function readRoots(
  read: () => Promise<readonly McpRoot[]>,
  { server, log }: ListenerOptions,
): Promise<readonly McpRoot[]> {
  try {
    return await read();
  } catch (error) {
    log.write('error', `it was told no roots: ${failureText(error)}`, error);
    throw new McpUnavailableError(server, 'the roots are not known now.');
  }
}

/** Progress after the answer is nothing to worry about, nor an answer to what was given up. */
function levelOf({ message }: Error): keyof Logger {
  return /^Received a (?:progress notification|response for an unknown)/.test(message) ? 'debug' : 'warn';
}
