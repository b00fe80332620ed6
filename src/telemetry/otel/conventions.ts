import type { FinishReason } from '../../model/model.js';

/**
 * Attribute names of the GenAI semantic conventions 0.1.0, from open-telemetry/semantic-conventions-genai. The
 * conventions are not stable, so a later version may rename attributes. After a rename, Keelson still sets the old
 * names for one minor version.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  model: 'gen_ai.request.model',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  maxTokens: 'gen_ai.request.max_tokens',
  stopSequences: 'gen_ai.request.stop_sequences',
  seed: 'gen_ai.request.seed',
  presencePenalty: 'gen_ai.request.presence_penalty',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  reasoningLevel: 'gen_ai.request.reasoning.level',
  stream: 'gen_ai.request.stream',
  outputType: 'gen_ai.output.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  /** The name of `cacheWriteTokens` before version 0.1.0 of the conventions. Still set for existing dashboards. */
  oldCacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  /** The attribute for the type of tokens (`input`, `output`) in {@link OLD_TOKEN_USAGE}. */
  tokenType: 'gen_ai.token.type',
  modality: 'gen_ai.token.modality',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  instructions: 'gen_ai.system_instructions',
  toolDefinitions: 'gen_ai.tool.definitions',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  errorType: 'error.type',
  /** From here on, the attributes are Keelson's own, because the conventions have no names for them. */
  runId: 'keelson.run.id',
  runPath: 'keelson.run.path',
  runStatus: 'keelson.run.status',
  failedBy: 'keelson.failure.by',
  failedPoint: 'keelson.failure.point',
  modelFailure: 'keelson.model.failure',
  largestSource: 'keelson.context.largest_source',
  server: 'keelson.server.name',
  serverState: 'keelson.server.state',
  missCause: 'keelson.cache_miss.cause',
  missPart: 'keelson.cache_miss.part',
  missBy: 'keelson.cache_miss.by',
  callStatus: 'keelson.tool.call.status',
  decision: 'keelson.decision.type',
  decisionBy: 'keelson.decision.by',
  decisionPoint: 'keelson.decision.point',
  decisionTurn: 'keelson.decision.turn',
  decisionReason: 'keelson.decision.reason',
} as const;

/** The name of the span event for a decision of a lifecycle. */
export const DECISION = 'keelson.decision';

/** The name of the span event for an MCP server that is not connected. */
export const SERVER_ERROR = 'keelson.server_error';
export const CACHE_MISS = 'keelson.cache_miss';

/** Values of the attribute `gen_ai.operation.name`. */
export const OPERATION = { agent: 'invoke_agent', chat: 'chat', tool: 'execute_tool' } as const;

/** Maps finish reasons to their names in the conventions, if these differ. */
export const FINISH_REASON: Partial<Readonly<Record<FinishReason, string>>> = {
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
};

/** A histogram, with the bucket boundaries that the conventions recommend. */
export interface HistogramSpec {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly boundaries: readonly number[];
}

const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

const TOKENS = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

/** The histograms of tokens per model call. */
export const OPERATION_TOKENS = {
  input: {
    name: 'gen_ai.client.inference.operation.input_tokens',
    unit: '{token}',
    description: 'Number of input tokens used by a model call.',
    boundaries: TOKENS,
  },
  output: {
    name: 'gen_ai.client.inference.operation.output_tokens',
    unit: '{token}',
    description: 'Number of output tokens used by a model call.',
    boundaries: TOKENS,
  },
} satisfies Record<string, HistogramSpec>;

/** Names of the counters of all tokens used. */
export const USED_TOKENS = {
  input: 'gen_ai.client.inference.usage.input_tokens',
  output: 'gen_ai.client.inference.usage.output_tokens',
  cached: 'gen_ai.client.inference.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.client.inference.usage.cache_write.input_tokens',
  reasoning: 'gen_ai.client.inference.usage.reasoning.output_tokens',
} as const;

/**
 * The histogram of tokens under its name before version 0.1.0 of the conventions. Still recorded for existing
 * dashboards.
 */
export const OLD_TOKEN_USAGE: HistogramSpec = {
  name: 'gen_ai.client.token.usage',
  unit: '{token}',
  description: 'Number of input and output tokens used.',
  boundaries: TOKENS,
};

export const MODEL_DURATION: HistogramSpec = {
  name: 'gen_ai.client.inference.duration',
  unit: 's',
  description: 'Duration of a model call.',
  boundaries: CALL_SECONDS,
};

/**
 * The duration of a model call under its name before version 0.1.0 of the conventions. Still recorded for existing
 * dashboards.
 */
export const OLD_MODEL_DURATION: HistogramSpec = { ...MODEL_DURATION, name: 'gen_ai.client.operation.duration' };

export const AGENT_DURATION: HistogramSpec = {
  name: 'gen_ai.invoke_agent.duration',
  unit: 's',
  description: 'Duration of a run.',
  boundaries: Array.from({ length: 13 }, (_, exponent) => 2 ** exponent / 10),
};

export const TOOL_DURATION: HistogramSpec = {
  name: 'gen_ai.execute_tool.duration',
  unit: 's',
  description: 'Duration of a tool call.',
  boundaries: CALL_SECONDS,
};
