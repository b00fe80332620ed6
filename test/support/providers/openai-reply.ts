import type { Reply } from './openai-server.js';

/** One answer of a scripted model. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason?: string;
}

const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

/** Returns the reply to a request, as OpenAI sends it: a stream if requested, else a complete completion. */
export function replyWith(answer: ScriptedAnswer, body: { readonly stream?: boolean } = {}): Reply {
  return body.stream ? { chunks: chunksOf(answer) } : { json: completionOf(answer) };
}

/** Returns a complete chat completion. */
export function completionOf(answer: ScriptedAnswer): Record<string, unknown> {
  const thought = answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning };
  const message = { role: 'assistant', content: answer.text ?? null, refusal: null, ...thought, ...callsOf(answer) };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReasonOf(answer) };
  return { ...head('chat.completion'), choices: [choice], usage: USAGE };
}

/** Returns the chunks of a streamed completion: text word by word, the arguments of each call in two fragments. */
export function chunksOf(answer: ScriptedAnswer): readonly unknown[] {
  const thoughts = wordsOf(answer.reasoning).map((word) => chunk({ reasoning_content: word }));
  const calls = (answer.toolCalls ?? []).flatMap((call, index) => {
    const half = Math.ceil(call.arguments.length / 2);
    const first = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    const rest = [call.arguments.slice(0, half), call.arguments.slice(half)];
    return [first, ...rest.map((text) => ({ index, function: { arguments: text } }))];
  });
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...thoughts,
    ...wordsOf(answer.text).map((word) => chunk({ content: word })),
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, finishReasonOf(answer)),
    { ...head('chat.completion.chunk'), choices: [], usage: USAGE },
  ];
}

/** Returns one chunk of a stream. */
export function chunk(delta: object, finishReason: string | null = null): Record<string, unknown> {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return { ...head('chat.completion.chunk'), choices: [choice], usage: null };
}

/** Splits a string into words, each with its leading space. */
export function wordsOf(text = ''): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function head(object: string): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object,
    created: 1_750_000_000,
    model: 'gpt-5-mini-2025-08-07',
    system_fingerprint: 'fp_1',
  };
}

function callsOf({ toolCalls }: ScriptedAnswer): object {
  if (!toolCalls) return {};
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  return { tool_calls: calls };
}

function finishReasonOf({ finishReason, toolCalls }: ScriptedAnswer): string {
  return finishReason ?? (toolCalls ? 'tool_calls' : 'stop');
}
