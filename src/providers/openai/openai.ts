import type { Model } from '../../model/model.js';
import { validateConnection } from '../shared/connection.js';
import { type OpenAIOptions, openaiRules } from './options.js';

export { ProviderError } from '../shared/error.js';
export type { OpenAIApi } from './advice.js';
export type { OpenAIClient } from './client.js';
export type { OpenAIOptions } from './options.js';
export { type CustomTool, type CustomToolDefinition, customTool } from './responses/custom-tool.js';

/**
 * Creates a model for OpenAI's API. Uses the Responses API with OpenAI and Azure OpenAI. Uses the chat completions API
 * with other servers, such as Ollama, vLLM, LM Studio, llama.cpp, OpenRouter and DeepSeek.
 * Streams if the run has a listener.
 *
 * @example
 * const cloud = openai('gpt-5.2');
 * const local = openai('llama3.2', { baseURL: 'http://localhost:11434/v1' });
 */
export function openai(modelId: string, options: OpenAIOptions = {}): Model {
  validateConnection(modelId, options, openaiRules);
  let model: Model | undefined;
  return {
    id: modelId,
    provider: 'openai',
    async generate(request) {
      // Loaded at the first call, because a program starts faster without it.
      const { openaiModel } = await import('./model.js');
      model ??= openaiModel(modelId, options);
      return model.generate(request);
    },
  };
}
