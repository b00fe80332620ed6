import { setTimeout } from 'node:timers/promises';
import { type Message, type Model, type ModelRequest, type ModelResponse, textOf } from 'keelson';

const ARRIVALS = `## Arrivals tomorrow

Three ships come in. **Aurora** needs high water, so she goes first:

| Ship | From | Draught | Berth | Time |
|---|---|--:|--:|--:|
| Aurora | Bergen | 9.4 m | 3 | 06:10 |
| Nordlys | Tromsø | 6.1 m | 1 | 07:45 |
| Selma | Kiel | 4.8 m | 2 | 09:00 |

The same order in code:

\`\`\`js
// The deepest ships take the high water.
export function plan(ships) {
  return ships
    .filter(({ berth }) => berth !== undefined)
    .sort((a, b) => b.draught - a.draught || a.time.localeCompare(b.time));
}
\`\`\`

1. Call the pilot at 05:30.
2. Keep \`berth 3\` free until 08:00.
`;

/** Answers to questions that need no tool. */
const FACTS: readonly (readonly [RegExp, string])[] = [
  [
    /deep is the harbour/i,
    'The harbour is **11 m** deep at low water, and 12.6 m at high water. Berths 1 and 2 are less deep.',
  ],
  [
    /deep is berth 3/i,
    'Berth 3 is **9.8 m** deep at low water, and 11.4 m at high water. Ships of up to 9.4 m may use it.',
  ],
  [/and in bergen/i, 'In Bergen it rains, at **11 °C**.'],
  [/no, wait/i, 'I have paid nothing.'],
  [/too much/i, 'It is the usual fee for a day.'],
  [/on watch/i, 'Ingrid is on watch until 18:00, and then Lars.'],
];

/**
 * A model without a key. It answers by the words of the question, and shows each feature of the page. It waits for `wordMs`
 * milliseconds between two words.
 */
export function scriptedAnswers({ wordMs }: { readonly wordMs: number }): Model {
  const failed = new Set<number>();

  async function answer(request: ModelRequest): Promise<ModelResponse> {
    const { messages } = request;
    const user = messages.findLast(({ role }) => role === 'user');
    const asked = user === undefined ? '' : textOf(user);
    if (asked.startsWith('<conversation>')) return say(request, summaryOf(asked));
    const result = messages.at(-1);
    if (result?.role === 'tool') return say(request, reportOf(request, asked, textOf(result)));
    const [, helper, task] = /^Ask the (pilot|lookout)[:,]? (.*)/i.exec(asked) ?? [];
    if (helper !== undefined) return callTool(request, helper, { prompt: task });
    if (ENTRY.test(asked)) {
      if (canCall(request, 'pilot')) return callTool(request, 'pilot', { prompt: asked });
      return callTool(request, 'lookout', { prompt: 'What is the weather in Oslo?' });
    }
    if (/weather/i.test(asked)) return callTool(request, 'weather', { city: cityIn(asked) });
    if (/pay/i.test(asked)) {
      return callTool(request, 'pay', { euro: Number(/\d+/.exec(asked)?.[0] ?? 40), to: 'the harbour' });
    }
    if (asked.startsWith('The background work')) return say(request, asked.replace(/^.*?: /, 'The inspection says: '));
    if (/inspect/i.test(asked)) return callTool(request, 'inspect', {});
    if (/window/i.test(asked)) return callTool(request, 'screen', {});
    if (/tide gauge/i.test(asked)) throw Object.assign(new TypeError('refused'), { status: 400 });
    if (/fail/i.test(asked) && !failed.has(messages.length)) return fail(request);
    if (/letter/i.test(asked)) return say(request, 'Dear harbour master, the ship arrives at noon.');
    if (/story/i.test(asked)) return say(request, storyOf(Number(/of (\d+)/.exec(asked)?.[1] ?? 200)));
    if (/arrivals/i.test(asked)) return say(request, ARRIVALS, 'Three ships are announced. One of them is deep.');
    const [, fact] = FACTS.find(([question]) => question.test(asked)) ?? [];
    return say(request, filesIn(user) ?? fact ?? `You said: ${asked}`);
  }

  async function fail(request: ModelRequest): Promise<never> {
    failed.add(request.messages.length);
    await say(request, 'This answer breaks off');
    throw Object.assign(new TypeError('overloaded'), { status: 529, retryAfterMs: wordMs * 100 });
  }

  async function say(request: ModelRequest, text: string, reasoning = ''): Promise<ModelResponse> {
    const { onPart, signal } = request;
    const parts = [
      { type: 'reasoning', text: reasoning },
      { type: 'text', text },
    ] as const;
    for (const { type, text } of parts) {
      for (const word of text.split(/(?<=\s)/).filter(Boolean)) {
        await setTimeout(wordMs, undefined, { signal });
        onPart?.({ type: `${type}-delta`, text: word });
      }
    }
    const content = parts.filter((part) => part.text !== '');
    return { content, finishReason: 'stop', usage: usageOf(request, text) };
  }

  async function callTool(request: ModelRequest, name: string, input: object): Promise<ModelResponse> {
    const { onPart, signal, messages } = request;
    const id = `call_${messages.length}`;
    const json = JSON.stringify(input);
    for (const text of json.match(/.{1,4}/g) ?? []) {
      await setTimeout(wordMs * 2, undefined, { signal });
      onPart?.({ type: 'tool-input-delta', id, name, text });
    }
    const content = [{ type: 'tool-call', id, name, input }] as const;
    return { content, finishReason: 'tool-calls', usage: usageOf(request, json) };
  }

  return { id: 'script', generate: answer };
}

const ENTRY = /can the aurora come in/i;

function canCall({ tools }: ModelRequest, name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

/** Says in a sentence what a tool has returned. */
function reportOf(request: ModelRequest, asked: string, result: string): string {
  if (ENTRY.test(asked)) {
    const start = canCall(request, 'pilot')
      ? 'Yes, the **Aurora** can come in today.'
      : 'The water is deep enough for her.';
    return `${start} ${result}`;
  }
  const [, sky, temperature] = /"sky":"(\w+)","temperature":"([^"]+)"/.exec(result) ?? [];
  if (sky !== undefined) return `The sky over ${cityIn(asked)} is ${sky}, at **${temperature}**.`;
  if (result.includes('continues in the background')) return 'The inspection has begun. I will tell you its result.';
  const [, width, height] = /"width":(\d+),"height":(\d+)/.exec(result) ?? [];
  return width === undefined ? result : `Your window is ${width} × ${height} pixels large.`;
}

function cityIn(question: string): string {
  return /in (\w+)/.exec(question)?.[1] ?? 'Oslo';
}

function filesIn(message: Message | undefined): string | undefined {
  if (message?.role !== 'user' || typeof message.content === 'string') return undefined;
  const seen = message.content.flatMap((part) => {
    if (part.type === 'image') return [`a picture of type ${part.mediaType}`];
    return part.type === 'file' ? [`the file ${part.filename}`] : [];
  });
  return seen.length > 0 ? `I see ${seen.join(' and ')}.` : undefined;
}

function storyOf(ships: number): string {
  return Array.from({ length: ships }, (_, index) => `Ship ${index + 1} left the harbour. `).join('');
}

/** The summary that `compaction` asks the model for. */
function summaryOf(transcript: string): string {
  const questions = [...transcript.matchAll(/^user: (.*)$/gm)].map(([, question]) => question);
  return `The person said: ${questions.join(', ')}.`;
}

function withoutFiles(key: string, value: unknown): unknown {
  return key === 'image' || key === 'data' ? undefined : value;
}

/** Four characters are about a token. All messages before the last one come from a cache. */
function usageOf({ messages }: ModelRequest, text: string) {
  const inputTokens = tokensIn(messages);
  const cachedInputTokens = tokensIn(messages.slice(0, -1));
  const outputTokens = Math.ceil(text.length / 4);
  return { inputTokens, cachedInputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function tokensIn(messages: readonly Message[]): number {
  return Math.ceil(JSON.stringify(messages, withoutFiles).length / 4);
}
