import type { JsonSchema } from '../../../internal/json.js';
import type { Logger } from '../../../internal/logger.js';
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../../model/model.js';
import { acceptedTools } from '../../shared/tools/accepted-tools.js';
import { toolParameters, withoutDialect } from '../../shared/tools/tool-parameters.js';
import { defined, type WireObject, wellFormed } from '../../shared/wire.js';
import type { Server } from '../client.js';
import { isStrictSchema, OPENAI_TOOLS, parametersFor } from '../schema.js';
import { withCacheMarks } from './cache-marks.js';
import { withinLimits } from './limits.js';
import { toWireMessages } from './messages.js';

/** The properties in which servers of the chat completions API differ. */
export interface Dialect {
  readonly model: string;
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  /**
   * The kind of server. `openai` includes Azure: it supports strict schemas, and limits the length of call ids.
   * `mistral` refuses unknown fields.
   */
  readonly server: Server;
  /** Receives a warning for each tool that is left out because the server would refuse it. Default: the console. */
  readonly logger?: Logger | undefined;
}

/**
 * Returns the body of a request. Fields of `settings.providerOptions.openai` override all other fields except `stream`;
 * the value `undefined` removes a field.
 */
export function toWireRequest(request: ModelRequest, dialect: Dialect): WireObject {
  const { messages, tools, toolChoice, output, settings = {}, onPart } = request;
  const wire = withinLimits(wellFormed(toWireMessages(messages, dialect.model)), dialect.model, dialect.server);
  const { promptCache } = settings;
  const accepted = wireTools(tools, dialect);
  return defined({
    model: dialect.model,
    messages: promptCache === undefined ? wire : withCacheMarks(wire, dialect, promptCache.ttl),
    tools: accepted.length > 0 ? accepted : undefined,
    tool_choice: accepted.length > 0 ? wireToolChoice(toolChoice) : undefined,
    ...wireSettings(settings, dialect),
    response_format: output && responseFormat(output.schema, dialect),
    // Mistral reports usage without this option.
    stream_options: onPart && dialect.server !== 'mistral' ? { include_usage: true } : undefined,
    ...settings.providerOptions?.openai,
    stream: onPart ? true : undefined,
  });
}

function wireTools(tools: readonly ToolSpec[], { model, server, logger }: Dialect): readonly WireObject[] {
  const rules = server === 'openai' ? OPENAI_TOOLS : {};
  return acceptedTools(tools, { ...rules, provider: 'OpenAI', logger }, (tool) => wireTool(tool, model));
}

function wireTool({ name, description, inputSchema }: ToolSpec, model: string): WireObject {
  const parameters = parametersFor(model, toolParameters(inputSchema));
  return { type: 'function', function: wellFormed({ name, description, parameters }) };
}

function wireToolChoice(choice: ToolChoice | undefined): WireObject | string | undefined {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.tool } } : choice;
}

function wireSettings(settings: ModelSettings, dialect: Dialect): WireObject {
  return {
    temperature: settings.temperature,
    top_p: settings.topP,
    [dialect.maxTokensField]: settings.maxOutputTokens,
    stop: settings.stopSequences?.length ? settings.stopSequences : undefined,
    [dialect.server === 'mistral' ? 'random_seed' : 'seed']: settings.seed,
    presence_penalty: settings.presencePenalty,
    frequency_penalty: settings.frequencyPenalty,
    reasoning_effort: settings.reasoningEffort,
  };
}

function responseFormat(given: JsonSchema, dialect: Dialect): WireObject {
  const schema = wellFormed(withoutDialect(given));
  const strict = dialect.server === 'openai' && isStrictSchema(schema) ? true : undefined;
  return { type: 'json_schema', json_schema: defined({ name: 'output', schema, strict }) };
}
