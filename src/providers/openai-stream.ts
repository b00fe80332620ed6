import type { ModelPart } from '../model/model.js';
import { contentText, reasoningIn } from './openai-response.js';
import { CallFragments } from './openai-tool-calls.js';
import { ProviderError } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { isObject, objectsIn, textOr, type WireObject } from './wire.js';

/**
 * Reads a stream to its end, pushing each delta as it comes, and gives the completion that the server would have sent
 * whole. Rejects where the stream fails, carries an error, or ends before the server said why it ended.
 */
export async function readStream(chunks: AsyncIterable<unknown>, push: (part: ModelPart) => void): Promise<WireObject> {
  const answer = new StreamedAnswer(push);
  for await (const chunk of received(chunks)) if (isObject(chunk)) answer.add(chunk);
  return answer.whole();
}

/** A generator, so that only what the client throws is translated, and not what a listener throws. */
async function* received(chunks: AsyncIterable<unknown>): AsyncIterable<unknown> {
  try {
    yield* chunks;
  } catch (error) {
    throw toProviderError('openai', error);
  }
}

class StreamedAnswer {
  private readonly push: (part: ModelPart) => void;
  private readonly calls = new CallFragments();
  private readonly details: WireObject[] = [];
  private head: WireObject = {};
  private usage: unknown = undefined;
  private finishReason = '';
  private content = '';
  private refusal = '';
  private reasoning: ReturnType<typeof reasoningIn> = undefined;

  constructor(push: (part: ModelPart) => void) {
    this.push = push;
  }

  add(chunk: WireObject): void {
    const choice = objectsIn(chunk.choices).find(({ index }) => (index ?? 0) === 0) ?? {};
    const error = chunk.error ?? choice.error;
    if (error) throw toProviderError('openai', { error });
    if (!this.head.id) this.head = { id: chunk.id, model: chunk.model };
    // Some servers send a running count with each chunk: the last one is the whole.
    this.usage = [chunk.usage, choice.usage].find(isObject) ?? this.usage;
    this.finishReason = textOr(choice.finish_reason) || this.finishReason;
    if (isObject(choice.delta)) this.addDelta(choice.delta);
  }

  whole(): WireObject {
    if (this.finishReason === '') {
      const problem = 'The stream ended before the answer did: the connection was cut, or the server gave up.';
      throw new ProviderError('openai', problem, { retryable: true });
    }
    const message = {
      content: this.content,
      refusal: this.refusal,
      reasoning_details: this.details,
      tool_calls: this.calls.list(),
      ...(this.reasoning && { [this.reasoning.field]: this.reasoning.text }),
    };
    return { ...this.head, usage: this.usage, choices: [{ message, finish_reason: this.finishReason }] };
  }

  private addDelta(delta: WireObject): void {
    this.addReasoning(delta);
    const text = contentText(delta.content);
    const refusal = textOr(delta.refusal);
    this.content += text;
    this.refusal += refusal;
    if (text !== '') this.push({ type: 'text-delta', text });
    if (refusal !== '') this.push({ type: 'text-delta', text: refusal });
    for (const fragment of objectsIn(delta.tool_calls)) {
      this.push({ type: 'tool-call-delta', text: this.calls.add(fragment) });
    }
  }

  private addReasoning(delta: WireObject): void {
    for (const detail of objectsIn(delta.reasoning_details)) addDetail(this.details, detail);
    const found = reasoningIn(delta);
    if (!found) return;
    const before = this.reasoning;
    this.reasoning = before?.text ? { field: before.field, text: before.text + found.text } : found;
    if (found.text !== '') this.push({ type: 'reasoning-delta', text: found.text });
  }
}

/** OpenRouter cuts a detail into fragments of one index; what goes back has to be the whole. */
function addDetail(details: WireObject[], detail: WireObject): void {
  const last = details.at(-1);
  if (last === undefined || last.type !== detail.type || last.index !== detail.index || 'data' in detail) {
    details.push(detail);
    return;
  }
  const known = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined);
  const whole: Record<string, unknown> = { ...last, ...Object.fromEntries(known) };
  for (const name of ['text', 'summary']) {
    if (name in last || name in detail) whole[name] = textOr(last[name]) + textOr(detail[name]);
  }
  details[details.length - 1] = whole;
}
