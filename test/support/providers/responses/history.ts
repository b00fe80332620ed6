import { readFileSync } from 'node:fs';
import { Agent, defineTool, toolResult } from 'keelson';
import { customTool, openai } from 'keelson/openai';
import type { ResumeDecision } from '../../../../src/agent/run/resume/continuation.js';
import type { ContentPart } from '../../../../src/model/message.js';
import { type RequestBody, startOpenAIServer } from '../openai-server.js';
import { type ResponseItem, responseOf } from '../responses-reply.js';

/** A first response, the results of its calls, and the second request. */
export interface History {
  readonly name: string;
  readonly model?: string;
  /** Tools that OpenAI defines. */
  readonly tools?: readonly { readonly type: string; readonly name?: string }[];
  /** Provider options of the requests. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly output: readonly ResponseItem[];
  /** The reason why the first response is incomplete. */
  readonly incomplete?: string;
  /** The results of the agent's tools, by name. */
  readonly results?: Readonly<Record<string, GivenResult>>;
  /** The decision on each approval request. */
  readonly decision?: ResumeDecision;
  /** The body of the second request. */
  readonly sent: Readonly<Record<string, unknown>>;
}

type GivenResult =
  | string
  | { readonly json?: object; readonly error?: string; readonly content?: readonly ContentPart[] };

/** Reads the histories. Their items follow the examples in OpenAI's public documentation. */
export function readHistories(): readonly History[] {
  return JSON.parse(readFileSync(new URL('../../../fixtures/responses/histories.json', import.meta.url), 'utf8'));
}

/** Plays the first response of a history to an agent, and returns the body of the second request. */
export async function secondBody(history: Omit<History, 'sent'>, streams: boolean): Promise<RequestBody> {
  const { output, incomplete, decision, options, model: id = 'gpt-5.4', tools: defined = [] } = history;
  const reply = [
    { type: 'message', id: 'msg_end', role: 'assistant', content: [{ type: 'output_text', text: 'End.' }] },
  ];
  await using server = await startOpenAIServer((body, index) =>
    responseOf(index === 0 ? output : reply, {
      stream: body.stream === true,
      ...(index === 0 && incomplete !== undefined && { incomplete }),
    }),
  );
  const model = openai(id, { baseURL: server.baseURL, apiKey: 'k', api: 'responses', tools: defined, maxRetries: 0 });
  const settings = options && { providerOptions: { openai: options } };
  const agent = new Agent({ model, tools: toolsOf(history), ...(settings && { settings }) });
  const session = await agent.session();
  const run = (input: string, more = {}) => (streams ? session.stream(input, more).result : session.run(input, more));
  const { pending } = await run('When is high tide?');
  if (decision !== undefined) await run('', { resume: Object.fromEntries(pending.map((call) => [call.id, decision])) });
  else if (server.requests.length === 1) await run('Go on.');
  const body = server.requests[1]?.body;
  if (body === undefined) throw new TypeError(`The history "${history.name}" has no second request.`);
  return body;
}

function toolsOf({ results = {}, tools = [] }: Omit<History, 'sent'>) {
  return Object.entries(results).map(([name, result]) => {
    const execute = () => given(result);
    const description = `Runs ${name}.`;
    if (tools.some((tool) => tool.type === 'custom' && tool.name === name)) {
      return customTool({ name, description, execute });
    }
    return defineTool({ name, description, input: { type: 'object' }, execute });
  });
}

function given(result: GivenResult) {
  if (typeof result === 'string') return result;
  if (result.error !== undefined) return toolResult({ content: result.error, isError: true });
  return toolResult(
    result.content === undefined ? { content: JSON.stringify(result.json) } : { content: result.content },
  );
}
