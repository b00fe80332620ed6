import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ElicitRequest, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchema } from '../../../internal/json.js';
import type { Logger } from '../../../internal/logger.js';
import { safeText } from '../../../internal/safe-text.js';
import { problemOfUrl } from '../../config/server-url.js';
import type { McpElicitation, McpElicitationAnswer } from '../../elicitation.js';
import { McpUnavailableError } from '../../error.js';
import { failureText } from '../../failure-text.js';
import type { McpLimits, McpRoot } from '../../options.js';
import type { ConnectionOptions } from '../connection.js';
import { untilAborted } from '../request-time.js';
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
  if (settings.roots) {
    client.setRequestHandler(sdk.ListRootsRequestSchema, async () => ({
      roots: (await readRoots(options)).map(({ uri, name }) => ({ uri, name })),
    }));
  }
  if (settings.elicit) answerQuestions(client, sdk, options);
}

/** Returns the current roots. The error that the server receives does not contain the host's own error. */
async function readRoots({ definition, settings, log }: ConnectionOptions): Promise<readonly McpRoot[]> {
  const { roots = [] } = settings;
  try {
    return typeof roots === 'function' ? await roots() : roots;
  } catch (error) {
    log.write('error', `its request for the roots failed: ${failureText(error)}`, error);
    throw new McpUnavailableError(definition.name, 'the host could not provide its roots.');
  }
}

/** Questions of one connection that wait for an answer at the same time. */
const MOST_QUESTIONS = 10;

/** Passes questions of the server to the user. Answers a question above the limits with `cancel`. */
function answerQuestions(client: Client, sdk: McpSdk, options: ConnectionOptions): void {
  const { definition, settings, log } = options;
  let open = 0;
  let isReported = false;
  client.setRequestHandler(sdk.ElicitRequestSchema, async ({ params }, { signal }) => {
    // The host may pass the URL to the operating system, which would also open files and start programs.
    if (params.mode === 'url' && problemOfUrl(params.url) !== undefined) return { action: 'decline' };
    const problem = open < MOST_QUESTIONS ? problemOfForm(params, settings.limits) : `${MOST_QUESTIONS} others wait`;
    if (problem !== undefined) {
      if (!isReported) log.write('warn', `its question is not asked, because ${problem}`);
      isReported = true;
      return { action: 'cancel' };
    }
    open += 1;
    try {
      const { action, content } = await askUser(elicitationOf(definition.name, params, signal), options);
      return { action, content: content ? ({ ...content } as Record<string, string>) : undefined };
    } finally {
      open -= 1;
    }
  });
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * Passes a question of a server to the user, with time limits paused. Returns `cancel` if the host fails to answer, or as
 * soon as the server withdraws the question.
 */
function askUser(request: McpElicitation, { settings, log, hold }: ConnectionOptions): Promise<McpElicitationAnswer> {
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

function problemOfForm(params: ElicitRequest['params'], { schemaLength }: McpLimits): string | undefined {
  const form = params.mode === 'url' ? params.url : params.requestedSchema;
  const { length } = JSON.stringify(form);
  return length > schemaLength ? `its form or URL has ${length} characters, at most ${schemaLength}` : undefined;
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

function elicitationOf(server: string, params: ElicitRequest['params'], signal: AbortSignal): McpElicitation {
  const message = safeText(params.message, { maxLength: MAX_TEXT });
  if (params.mode === 'url') return { server, message, url: params.url, signal };
  return { server, message, schema: params.requestedSchema as JsonSchema, signal };
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
