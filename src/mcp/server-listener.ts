import type { Logger } from '../internal/logger.js';
import type { ConnectionListener } from './connection.js';
import type { McpElicitationAnswer } from './elicitation.js';
import { failureText } from './failure-text.js';
import type { LogLimiter } from './log-limiter.js';
import type { McpSettings } from './mcp-settings.js';
import { plainText } from './plain-text.js';

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
    elicit: elicit && ((request) => options.hold(() => answer(async () => elicit(request), log))),
    roots: roots && (async () => (typeof roots === 'function' ? roots() : roots)),
    onLog: (level: keyof Logger, text: string) => said.write(level, text),
    onProblem: (error) => said.write(levelOf(error), plainText(failureText(error), MAX_PROBLEM)),
    onToolsChanged,
  };
}

/** Whoever fails to ask has not been told anything. */
async function answer(ask: () => Promise<McpElicitationAnswer>, log: LogLimiter): Promise<McpElicitationAnswer> {
  try {
    return await ask();
  } catch (error) {
    log.write('error', `its question was not answered: ${failureText(error)}`, error);
    return { action: 'cancel' };
  }
}

/** Progress that comes after the answer is nothing to worry about. */
function levelOf(error: Error): keyof Logger {
  return error.message.startsWith('Received a progress notification') ? 'debug' : 'warn';
}
