import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import { McpUnavailableError } from '../error.js';
import { failureText } from '../failure-text.js';
import type { McpRoot } from '../options.js';
import type { ConnectionOptions, McpParams } from './options.js';
import { AnswerError, Questions } from './questions.js';

const MAX_TEXT = 10_000;
/** The JSON-RPC error code for an unknown method. */
const METHOD_NOT_FOUND = -32_601;

/** Returns the capabilities that the client declares to the server. */
export function capabilitiesOf({ settings: { elicit, roots } }: Pick<ConnectionOptions, 'settings'>) {
  return {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(roots && { roots: { listChanged: true } }),
  };
}

/** Answers the requests of one server, and logs its messages. */
export class AnswerServer {
  private readonly questions: Questions;
  private lines = 0;
  private minuteBegan = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ConnectionOptions) {
    this.questions = new Questions(options);
  }

  /** Handles a notification. */
  notified(method: string, params: McpParams = {}): void {
    if (method === 'notifications/tools/list_changed') this.options.onToolsChanged();
    if (method === 'notifications/message') this.log(params);
  }

  /** Answers a request. Rejects with an error for the server. */
  async asked(method: string, params: McpParams = {}, signal: AbortSignal): Promise<{ [name: string]: unknown }> {
    const { elicit, roots } = this.options.settings;
    // The SDK's own handlers refuse odd questions with another code, and without a line in the log.
    if (method === 'elicitation/create' && elicit) return { ...(await this.questions.ask(params, signal)) };
    if (method === 'roots/list' && roots) return { roots: await this.readRoots() };
    throw new AnswerError(METHOD_NOT_FOUND, 'Method not found');
  }

  /** Returns the current roots. The error that the server receives does not contain the host's own error. */
  private async readRoots(): Promise<readonly McpRoot[]> {
    const { definition, settings, log } = this.options;
    const { roots = [] } = settings;
    try {
      const found = typeof roots === 'function' ? await roots() : roots;
      return found.map(({ uri, name }) => ({ uri, name }));
    } catch (error) {
      log.write('error', `its request for the roots failed: ${failureText(error)}`, error);
      throw new McpUnavailableError(definition.name, 'the host could not provide its roots.');
    }
  }

  private log(params: McpParams): void {
    const { log, settings } = this.options;
    const now = settings.system.clock.now();
    if (now - this.minuteBegan >= MINUTE_MS) [this.minuteBegan, this.lines] = [now, 0];
    this.lines += 1;
    const level = LEVELS.get(params.level) ?? 'info';
    if (this.lines <= MOST_LINES) log.write(level, logText(params));
    else if (this.lines === MOST_LINES + 1)
      log.write('warn', `it wrote more than ${MOST_LINES} log messages within a minute; the rest is left out`);
  }
}

/** Log messages of one server within a minute that are logged. */
const MOST_LINES = 1_000;
const MINUTE_MS = 60_000;

const LEVELS: ReadonlyMap<unknown, keyof Logger> = new Map([
  ['debug', 'debug'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['alert', 'error'],
  ['emergency', 'error'],
]);

function logText({ logger, data }: McpParams): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return safeText(typeof logger === 'string' ? `${logger}: ${text}` : text, { maxLength: MAX_TEXT });
}
