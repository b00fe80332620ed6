import { OptionInvalidError } from '../../errors.js';
import type { Model } from '../../model/model.js';
import { environment } from '../shared/browser.js';
import { clientModel } from '../shared/client.js';
import { StructuredOutput } from '../shared/output/output-mode.js';
import type { OpenAIApi } from './advice.js';
import { prepareCompletion } from './chat/protocol.js';
import { type OpenAIClient, serverAt } from './client.js';
import { isChatOnly } from './model-names.js';
import type { OpenAIOptions } from './options.js';
import { outputModeAt } from './output-modes.js';
import { makeClient } from './own-client.js';
import { prepareResponse } from './responses/protocol.js';

/** Creates a model for a server with OpenAI's API. The options must already be validated. */
export function openaiModel(modelId: string, options: OpenAIOptions): Model {
  const isOwnClient = options.client === undefined;
  const model = clientModel<OpenAIClient>(modelId, options, {
    provider: 'openai',
    requestIdHeader: 'x-request-id',
    makeClient,
    prepare(client, request) {
      const server = serverAt(client.baseURL);
      const { logger } = options;
      const { responses } = client;
      if (apiOf(client, modelId, options) === 'responses' && responses !== undefined) {
        const { tools = [], previousResponseId = false } = options;
        return prepareResponse(
          { client: responses, model: modelId, isOwnClient, tools, previousResponseId, logger },
          request,
        );
      }
      const usual = server === 'openai' ? 'max_completion_tokens' : 'max_tokens';
      const { maxTokensField = usual } = options;
      return prepareCompletion({ client, model: modelId, isOwnClient, server, maxTokensField, logger }, request);
    },
  });
  const structured = new StructuredOutput(options.outputMode ?? outputModeAt(urlOf(options), modelId));
  return { ...model, generate: (request) => structured.ask(request, model.generate) };
}

function urlOf({ client, baseURL }: OpenAIOptions): string | undefined {
  return client === undefined ? (baseURL ?? (environment().OPENAI_BASE_URL?.trim() || undefined)) : client.baseURL;
}

function apiOf({ baseURL, responses }: OpenAIClient, modelId: string, { api, tools }: OpenAIOptions): OpenAIApi {
  const isServed = serverAt(baseURL) === 'openai' && responses !== undefined && !isChatOnly(modelId);
  const chosen = api ?? (isServed ? 'responses' : 'chat');
  if (chosen === 'responses' && responses === undefined) {
    throw new OptionInvalidError(
      'client',
      "`client` must have `responses` for `api: 'responses'`, got a client without it",
    );
  }
  if (chosen === 'chat' && tools?.length) {
    throw new OptionInvalidError(
      'tools',
      "`tools` must be used with the Responses API, got the chat completions API: set `api: 'responses'`",
    );
  }
  return chosen;
}
