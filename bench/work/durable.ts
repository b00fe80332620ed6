import type { Message, ModelResponse } from '../../src/index.js';

/** Model calls of a run, each but the last with one tool call. */
export const TURNS = 20;
/** The steps of a run: one at the start, one for each model call, one for each tool call. */
export const STEPS = 2 * TURNS;

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

/** The response of the fake model. */
export function responseOf(turn: number): ModelResponse {
  if (turn === TURNS) return { content: [{ type: 'text', text: 'ok' }], finishReason: 'stop', usage };
  const content = [{ type: 'tool-call', id: `call_${turn}`, name: 'look', input: {} }] as const;
  return { content, finishReason: 'tool-calls', usage };
}

/** Calls a step of an engine. */
type RunStep = <T>(name: string, action: () => Promise<T>) => PromiseLike<T>;

/** A minimal durable agent: a loop with the steps of the engine. Stores the values that `durable` stores. */
export async function runByHand(run: RunStep): Promise<void> {
  const messages: Message[] = [{ role: 'user', content: 'go' }];
  await run('start', async () => ({ at: Date.now(), value: null }));
  for (let turn = 1; ; turn += 1) {
    const model = async () => ({ at: Date.now(), value: responseOf(turn), effects: { usage } });
    const { content } = (await run(`model ${turn}`, model)).value;
    messages.push({ role: 'assistant', content });
    const calls = content.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) return;
    for (const { id, name } of calls) {
      const tool = async () => ({ at: Date.now(), value: { result: { content: 'far' } } });
      const { result } = (await run(`tool ${name} ${id}`, tool)).value;
      messages.push({ role: 'tool', content: [{ type: 'tool-result', id, name, ...result }] });
    }
  }
}
