import type { JsonSchema } from '../../../internal/json.js';
import type { AssistantMessage, Message, UserMessage } from '../../../model/message.js';
import type { Model, ModelPart, ModelRequest, ModelResponse } from '../../../model/model.js';
import { addUsage } from '../../../model/usage.js';
import { ProviderError } from '../error.js';
import { withoutDialect } from '../tools/tool-parameters.js';
import { parseJson } from '../wire.js';
import { offerAnswer, readAnswerCall } from './answer-tool.js';
import { hasObjectRoot, inObject, Unwrapping, unwrapped } from './object-root.js';

/**
 * How a model is asked for structured output. With `native`, every request contains the schema. With `tool`, the model
 * answers by calling a tool whose arguments have the schema.
 *
 * With `after-tools`, the model first answers freely, as long as the request has tools. Then a second request without
 * tools asks for the answer in the schema.
 */
export type OutputMode = 'native' | 'tool' | 'after-tools';

type Send = Model['generate'];

/**
 * Asks a model for structured output in a mode that the provider accepts. After a refusal, uses the next mode for all
 * further calls.
 */
export class StructuredOutput {
  /**
   * The mode in use. `words` puts the schema into the instructions, for a provider that accepts neither schemas nor
   * tools.
   */
  private mode: OutputMode | 'words';

  constructor(mode: OutputMode) {
    this.mode = mode;
  }

  /**
   * Makes a model call. If the provider refuses the mode, tries the next one. A request without a schema is sent
   * unchanged.
   */
  async ask(request: ModelRequest, send: Send): Promise<ModelResponse> {
    const { output } = request;
    if (output === undefined) return send(request);
    for (;;) {
      const { mode } = this;
      try {
        return await this.askIn(mode, { request, schema: output.schema, send });
      } catch (error) {
        const next = modeAfter(error, mode, request.tools.length > 0);
        if (next === undefined) throw error;
        this.mode = next;
      }
    }
  }

  private askIn(mode: OutputMode | 'words', call: Call): Promise<ModelResponse> {
    if (mode === 'words') return askInWords(call);
    if (hasObjectRoot(call.schema)) return ASKING[mode](call);
    return askInObject(call, ASKING[mode]);
  }
}

/** A model call, and the schema that its answer must have. */
interface Call {
  readonly request: ModelRequest;
  readonly schema: JsonSchema;
  readonly send: Send;
}

type Ask = (call: Call) => Promise<ModelResponse>;

const ASKING: Readonly<Record<OutputMode, Ask>> = {
  native: askNatively,
  tool: askByTool,
  'after-tools': askAfterTools,
};

/** Matches the error messages of providers that do not accept a schema, or not together with tools. */
const REFUSED =
  /response_?format|response_schema|response mime type|json[ _](?:schema|mode|object)|structured[ _]output|output_(?:config|format)|text\.format|grammar/i;

/**
 * Returns the mode to try after a refused request. Returns undefined if the refusal has nothing to do with the mode.
 */
function modeAfter(error: unknown, mode: OutputMode | 'words', hasTools: boolean): OutputMode | 'words' | undefined {
  if (!(error instanceof ProviderError) || (error.status !== 400 && error.status !== 422)) return undefined;
  const { message } = error;
  if (mode === 'tool') return /\btools?\b|tool_choice|function/i.test(message) ? 'words' : undefined;
  // The application has to correct an invalid schema, so this error is not hidden.
  if (mode === 'words' || !REFUSED.test(message) || /invalid schema/i.test(message)) return undefined;
  return mode === 'native' && hasTools ? 'after-tools' : 'tool';
}

function askNatively({ request, schema, send }: Call): Promise<ModelResponse> {
  return send(changed(request, { output: { schema } }));
}

async function askByTool({ request, schema, send }: Call): Promise<ModelResponse> {
  const { name, tools, toolChoice } = offerAnswer(request, schema);
  const held = new HeldText(request);
  const onPart = (part: ModelPart) => {
    if (part.type === 'tool-input-delta' && part.name === name)
      request.onPart?.({ type: 'text-delta', text: part.text });
    else held.take(part);
  };
  const response = await send(
    changed(request, { tools, toolChoice, output: undefined, onPart: request.onPart && onPart }),
  );
  const answer = readAnswerCall(response, name);
  if (answer === response) held.show();
  return answer;
}

async function askAfterTools({ request, schema, send }: Call): Promise<ModelResponse> {
  const { tools, toolChoice, messages, onPart } = request;
  if (tools.length === 0 || toolChoice === 'none') return askNatively({ request, schema, send });
  const held = new HeldText(request);
  const first = await send(changed(request, { output: undefined, onPart: onPart && ((part) => held.take(part)) }));
  if (!isAnswer(first)) {
    held.show();
    return first;
  }
  const assistant: AssistantMessage = { role: 'assistant', content: first.content };
  const asked: UserMessage = { role: 'user', content: `Give this answer again, in another form. ${inWords(schema)}` };
  const formed = { messages: [...messages, assistant, asked], tools: [], toolChoice: undefined };
  return joined(first, await askNatively({ request: changed(request, formed), schema, send }));
}

/** True for a complete final answer whose text is not JSON, so that it must be asked for again in the schema. */
function isAnswer({ content, finishReason }: ModelResponse): boolean {
  if (finishReason === 'length' || finishReason === 'content-filter') return false;
  if (content.some((part) => part.type === 'tool-call' && !part.providerExecuted)) return false;
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text.trim() !== '' && parseJson(text) === undefined;
}

function joined(first: ModelResponse, second: ModelResponse): ModelResponse {
  const usage = { ...first.usage };
  addUsage(usage, second.usage);
  const { inputTokens, outputTokens, contextTokens = inputTokens + outputTokens } = second.usage;
  return { ...second, usage: { ...usage, contextTokens } };
}

function askInWords({ request, schema, send }: Call): Promise<ModelResponse> {
  const [first, ...rest] = request.messages;
  const words = inWords(schema);
  const messages: readonly Message[] =
    first?.role === 'system'
      ? [{ role: 'system', content: `${first.content}\n\n${words}` }, ...rest]
      : [{ role: 'system', content: words }, ...request.messages];
  return send(changed(request, { messages, output: undefined }));
}

/**
 * Returns instructions that contain the schema, for a model that cannot be given a schema otherwise. The answer is
 * still checked against it.
 */
export function inWords(schema: JsonSchema): string {
  return `Answer with JSON alone, without a word before or after it, that matches this JSON Schema:\n${JSON.stringify(withoutDialect(schema))}`;
}

/**
 * Asks for an object that contains the answer, because the schema of the answer is not a plain object. Returns the
 * response and the deltas with the answer alone.
 */
async function askInObject({ request, schema, send }: Call, ask: Ask): Promise<ModelResponse> {
  const unwrapping = new Unwrapping();
  const onPart = (part: ModelPart) => {
    const text = part.type === 'text-delta' ? unwrapping.take(part.text) : part.text;
    if (text !== '' || part.text === '') request.onPart?.({ ...part, text });
  };
  const wrapped = changed(request, { onPart: request.onPart && onPart });
  const response = await ask({ request: wrapped, schema: inObject(schema), send });
  const content = response.content.map((part) =>
    part.type === 'text' ? { ...part, text: unwrapped(part.text) } : part,
  );
  return { ...response, content };
}

/**
 * Holds back the text of a response until its end, because only the end shows whether the text is the final answer.
 * Passes on all other parts at once.
 */
class HeldText {
  private text = '';

  constructor(private readonly request: ModelRequest) {}

  take(part: ModelPart): void {
    if (part.type === 'text-delta') this.text += part.text;
    else this.request.onPart?.(part);
  }

  show(): void {
    if (this.text !== '') this.request.onPart?.({ type: 'text-delta', text: this.text });
  }
}

/**
 * Returns a copy of a request with changes. Copies `signal` by name, because a spread does not copy a getter of the
 * prototype.
 */
function changed(request: ModelRequest, changes: Partial<ModelRequest>): ModelRequest {
  return { ...request, signal: request.signal, ...changes };
}
