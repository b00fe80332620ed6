import type { FinishReason } from '../../model/model.js';

/**
 * Attribute names of the GenAI semantic conventions, from open-telemetry/semantic-conventions-genai at commit 004902b
 * (2026, over the general conventions 1.42).
 * Their status is Development: a later version may rename them.
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
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
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
  /** The rest are Keelson's own: the conventions have no such attributes. */
  runId: 'keelson.run.id',
  runPath: 'keelson.run.path',
  runStatus: 'keelson.run.status',
  callStatus: 'keelson.tool.call.status',
  decision: 'keelson.decision.type',
  decisionBy: 'keelson.decision.by',
  decisionPoint: 'keelson.decision.point',
  decisionTurn: 'keelson.decision.turn',
  decisionReason: 'keelson.decision.reason',
} as const;

/** The name of the span event of a decision. */
export const DECISION = 'keelson.decision';

/** Values of `gen_ai.operation.name`. */
export const OPERATION = { agent: 'invoke_agent', chat: 'chat', tool: 'execute_tool' } as const;

/** Finish reasons that have a different name in the conventions. */
export const FINISH_REASON: Partial<Readonly<Record<FinishReason, string>>> = {
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
};

/** A histogram with the bucket boundaries that the conventions recommend. */
export interface HistogramSpec {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly boundaries: readonly number[];
}

const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

export const TOKEN_USAGE: HistogramSpec = {
  name: 'gen_ai.client.token.usage',
  unit: '{token}',
  description: 'Number of input and output tokens used.',
  boundaries: Array.from({ length: 14 }, (_, exponent) => 4 ** exponent),
};

export const MODEL_DURATION: HistogramSpec = {
  name: 'gen_ai.client.operation.duration',
  unit: 's',
  description: 'Duration of a model call.',
  boundaries: CALL_SECONDS,
};

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
