import { isObject, type JsonSchema, type JsonValue } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import { untilAborted } from '../../internal/stop.js';
import { describeIssues } from '../../tools/standard-schema.js';
import { problemOfUrl } from '../config/server-url.js';
import { failureText } from '../failure-text.js';
import type { McpElicitation, McpElicitationAnswer } from '../options.js';
import { boundedCheck } from '../schema/bounded-check.js';
import type { ConnectionOptions, McpParams } from './options.js';

const MAX_TEXT = 10_000;
/** Questions of one connection that wait for an answer at the same time. */
const MOST_QUESTIONS = 10;
/** The JSON-RPC error code for invalid parameters. */
const INVALID_PARAMS = -32_602;
const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];
/** Types of the fields of a form. */
const FIELD_TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'array'];

/** Passes the questions of one connection to the user. */
export class Questions {
  private open = 0;
  /** The problems that were logged, since a server may ask again and again. */
  private readonly reported = new Set<string>();

  constructor(private readonly options: Pick<ConnectionOptions, 'definition' | 'settings' | 'log' | 'hold'>) {}

  /**
   * Asks the user, with time limits paused. Rejects with an error for the server if the question is invalid.
   *
   * Resolves with `cancel` if the question is too long, too many questions are open, the host gives no valid answer, or
   * the server withdraws the question.
   */
  async ask(params: McpParams, signal: AbortSignal): Promise<McpElicitationAnswer> {
    const { definition, settings, hold } = this.options;
    const { problem, ...question } = questionOf(params);
    if (problem !== undefined) {
      this.report(problem);
      throw new AnswerError(INVALID_PARAMS, `The question is invalid: ${problem}.`);
    }
    // The host may pass the URL to the operating system, which would also open files and start programs.
    if (question.url !== undefined && problemOfUrl(question.url) !== undefined) return { action: 'decline' };
    const { length } = question.url ?? JSON.stringify(question.schema);
    const { schemaLength } = settings.limits;
    const isLong = length > schemaLength;
    if (isLong || this.open === MOST_QUESTIONS) {
      this.report(
        isLong ? `its form or URL has more than ${schemaLength} characters` : `${MOST_QUESTIONS} others wait`,
      );
      return { action: 'cancel' };
    }
    this.open += 1;
    try {
      return await hold.during(() => this.answer({ ...question, server: definition.name, signal }));
    } finally {
      this.open -= 1;
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

/** The server gets this error with its code. */
export class AnswerError extends RangeError {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

type Question = Pick<McpElicitation, 'message' | 'schema' | 'url'>;

/** Reads a question. The protocol allows forms with a list of simple fields, and visits of a page. */
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
