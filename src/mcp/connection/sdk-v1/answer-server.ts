import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from '../../../internal/logger.js';
import { safeText } from '../../../internal/safe-text.js';
import { McpUnavailableError } from '../../error.js';
import { failureText } from '../../failure-text.js';
import type { McpRoot } from '../../options.js';
import type { ConnectionOptions } from '../connection.js';
import { Questions } from '../questions.js';
import type { McpSdk } from './load-sdk.js';

const MAX_TEXT = 10_000;

/** Returns the capabilities that the client declares to the server. */
export function capabilitiesOf({ settings: { elicit, roots } }: ConnectionOptions) {
  return {
    elicitation: elicit && { form: { applyDefaults: true }, url: {} },
    roots: roots && { listChanged: true },
  };
}

/** Makes the client answer requests from its server, and log the server's messages. */
export function answerServer(client: Client, sdk: McpSdk, options: ConnectionOptions): void {
  const { settings, log, onToolsChanged } = options;
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);
  const countLine = countPerMinute(() => settings.system.clock.now());
  client.setNotificationHandler(sdk.LoggingMessageNotificationSchema, ({ params }) => {
    const count = countLine();
    if (count <= MOST_LINES) log.write(LEVELS[params.level], logText(params));
    else if (count === MOST_LINES + 1)
      log.write('warn', `it wrote more than ${MOST_LINES} log messages within a minute; the rest is left out`);
  });
  if (!settings.elicit && !settings.roots) return;
  const questions = new Questions(options);
  // The SDK's own handlers refuse odd questions with another code, and without a line in the log.
  client.fallbackRequestHandler = async ({ method, params = {} }, { signal }) => {
    if (method === 'elicitation/create' && settings.elicit) return { ...(await questions.ask(params, signal)) };
    if (method === 'roots/list' && settings.roots) return { roots: await readRoots(options) };
    throw new sdk.McpError(sdk.ErrorCode.MethodNotFound, 'Method not found');
  };
}

/** Returns the current roots. The error that the server receives does not contain the host's own error. */
async function readRoots({ definition, settings, log }: ConnectionOptions): Promise<readonly McpRoot[]> {
  const { roots = [] } = settings;
  try {
    const found = typeof roots === 'function' ? await roots() : roots;
    return found.map(({ uri, name }) => ({ uri, name }));
  } catch (error) {
    log.write('error', `its request for the roots failed: ${failureText(error)}`, error);
    throw new McpUnavailableError(definition.name, 'the host could not provide its roots.');
  }
}

/** Log messages of one server within a minute that are logged. */
const MOST_LINES = 1_000;
const MINUTE_MS = 60_000;

/** Returns a function that counts its calls within the current minute. */
function countPerMinute(now: () => number): () => number {
  let began = Number.NEGATIVE_INFINITY;
  let count = 0;
  return () => {
    if (now() - began >= MINUTE_MS) [began, count] = [now(), 0];
    count += 1;
    return count;
  };
}

const LEVELS: Readonly<Record<LoggingLevel, keyof Logger>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

function logText({ logger, data }: { logger?: string | undefined; data?: unknown }): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return safeText(logger === undefined ? text : `${logger}: ${text}`, { maxLength: MAX_TEXT });
}
