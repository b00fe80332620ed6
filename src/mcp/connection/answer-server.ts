import { isObject, type JsonSchema, type JsonValue } from '../../internal/json.js';
import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import { untilAborted } from '../../internal/stop.js';
import { describeIssues } from '../../tools/standard-schema.js';
import { problemOfUrl } from '../config/server-url.js';
import { McpUnavailableError } from '../error.js';
import type { McpElicitation, McpElicitationAnswer, McpRoot } from '../options.js';
import { boundedCheck } from '../schema/bounded-check.js';
import { failureText } from '../server-log.js';
import type { ConnectionOptions, McpParams } from './sdk.js';

const MAX_TEXT = 10_000;
const METHOD_NOT_FOUND = -32_601;
/** The largest number of questions of one connection that may wait for an answer at the same time. */
const MOST_QUESTIONS = 10;
const INVALID_PARAMS = -32_602;
const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];
const FIELD_TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'array'];

/** Returns what a server is told in the handshake: the name of the application, and the requests that it answers. */
export function identityOf({ settings: { clientInfo, elicit, roots } }: Pick<ConnectionOptions, 'settings'>) {
  const { name, version, title } = clientInfo;
  const info = title === undefined ? { name, version } : { name, version, title };
  const capabilities = {
    ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(roots && { roots: { listChanged: true } }),
  };
  return { info, capabilities };
}

/** Answers the requests of one server, and logs its messages. */
export class AnswerServer {
  private openQuestions = 0;
  /** The problems that were logged. Each is logged once, since a server may ask again and again. */
  private readonly reported = new Set<string>();

  constructor(private readonly options: ConnectionOptions) {}

  notified(method: string, params: McpParams = {}): void {
    if (method === 'notifications/tools/list_changed') this.options.onToolsChanged();
    if (method === 'notifications/message') this.options.log.write(LEVELS.get(params.level) ?? 'info', logText(params));
  }

  /** Answers a request of the server. Rejects with the error that the server gets. */
  async asked(method: string, params: McpParams = {}, signal: AbortSignal): Promise<{ [name: string]: unknown }> {
    const { elicit, roots } = this.options.settings;
    // The SDK's own handlers refuse odd questions with another code, and without a line in the log.
    if (method === 'elicitation/create' && elicit) return { ...(await this.ask(params, signal)) };
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

  /**
   * Asks the user, with time limits paused. Rejects with an error for the server if the question is invalid.
   *
   * Resolves with `cancel` if the question is too long, too many questions are open, the host gives no valid answer, or
   * the server withdraws the question.
   */
  private async ask(params: McpParams, signal: AbortSignal): Promise<McpElicitationAnswer> {
    const { definition, settings, hold } = this.options;
    const { problem, ...question } = questionOf(params);
    if (problem !== undefined) {
      this.report(problem);
      throw new AnswerError(INVALID_PARAMS, `The question is invalid: ${problem}.`);
    }
    // The host may pass the URL to the operating system, which would also open files and start programs.
    if (question.url !== undefined && problemOfUrl(question.url) !== undefined) return { action: 'decline' };
    const { schemaLength } = settings.limits;
    const isLong = (question.url ?? JSON.stringify(question.schema)).length > schemaLength;
    if (isLong || this.openQuestions === MOST_QUESTIONS) {
      const long = `its form or URL has more than ${schemaLength} characters`;
      this.report(isLong ? long : `${MOST_QUESTIONS} others wait`);
      return { action: 'cancel' };
    }
    this.openQuestions += 1;
    try {
      return await hold.during(() => this.answer({ ...question, server: definition.name, signal }));
    } finally {
      this.openQuestions -= 1;
    }
  }

  private report(problem: string): void {
    if (!this.reported.has(problem)) this.options.log.write('warn', `its question is not asked, because ${problem}`);
    this.reported.add(problem);
  }

  private async answer(request: McpElicitation): Promise<McpElicitationAnswer> {
    const { settings, log } = this.options;
    const { signal } = request;
    try {
      const answer = await untilAborted(signal, Promise.resolve(settings.elicit?.(request)));
      const checked = await checkedAnswer(answer, request);
      if (typeof checked !== 'string') return checked;
      log.write('error', `its question was not answered: ${checked}`);
    } catch (error) {
      if (!signal.aborted) log.write('error', `its question was not answered: ${failureText(error)}`, error);
    }
    return { action: 'cancel' };
  }
}

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

/** An error with which a request of the server is answered. The server gets its message and its code. */
export class AnswerError extends RangeError {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

type Question = Pick<McpElicitation, 'message' | 'schema' | 'url'>;

/** Reads a question of the server: a form with simple fields, or a request to visit a page. */
function questionOf(params: McpParams): Question & { readonly problem?: string } {
  const { message, mode = 'form', requestedSchema: schema, url } = params;
  const text = typeof message === 'string' ? safeText(message, { maxLength: MAX_TEXT }) : '';
  const invalid = (problem: string) => ({ message: text, problem });
  if (typeof message !== 'string') return invalid('its `message` must be a string');
  if (mode === 'url') return typeof url === 'string' ? { message: text, url } : invalid('its `url` must be a string');
  if (mode !== 'form') return invalid(`its \`mode\` must be "form" or "url", got ${shown(mode)}`);
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties))
    return invalid('its `requestedSchema` must have the type "object" and `properties`');
  const odd = Object.entries(schema.properties).find(([, field]) => !isObject(field) || !isFieldType(field));
  if (odd !== undefined) return invalid(`its field ${shown(odd[0])} must be a string, number, boolean or choice`);
  return { message: text, schema };
}

function isFieldType({ type, enum: values, oneOf }: Readonly<Record<string, unknown>>): boolean {
  return FIELD_TYPES.includes(type) || (type === undefined && Array.isArray(values ?? oneOf));
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 100);
}

/** Returns the answer for the server, with the defaults of the form, or the problem with the answer of the host. */
async function checkedAnswer(
  answer: McpElicitationAnswer | undefined,
  { schema, signal }: McpElicitation,
): Promise<McpElicitationAnswer | string> {
  if (!answer || !ACTIONS.includes(answer.action))
    return '`elicit` must return the action "accept", "decline" or "cancel".';
  if (answer.action !== 'accept' || schema === undefined) return { action: answer.action };
  const content = { ...defaultsOf(schema), ...answer.content };
  const { issues } = await boundedCheck(schema)(content, signal);
  if (issues === undefined) return { action: 'accept', content };
  return `the content of \`elicit\` does not match the form: ${describeIssues(issues)}`;
}

function defaultsOf({ properties }: JsonSchema): Readonly<Record<string, JsonValue>> {
  const fields = Object.entries(properties as Readonly<Record<string, { readonly default?: JsonValue }>>);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );
}
