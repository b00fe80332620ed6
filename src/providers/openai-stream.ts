import type { ModelPart } from '../model/model.js';
import {
  callsIn,
  choiceIn,
  completionIn,
  contentText,
  reasoningIn,
  throwErrorIn,
  usageIn,
} from './openai-completion.js';
import { thinkingContent } from './openai-content.js';
import { CallFragments } from './openai-tool-calls.js';
import { ProviderError } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { isObject, objectsIn, textOr, type WireObject } from './wire.js';

/**
 * Reads a stream to its end, pushing each delta as it comes, and gives the completion that the server would have sent
 * whole. One that came whole after all is understood too. Rejects where the stream fails, carries an error, or ends before the server said why it ended.
 */
export async function readStream(chunks: Chunks, push: (part: ModelPart) => void): Promise<WireObject> {
  const answer = new StreamedAnswer(push);
  for await (const chunk of received(chunks)) {
    if (isObject(chunk)) answer.add(chunk);
    else if (typeof chunk === 'string') answer.add(completionIn(chunk));
  }
  return answer.whole();
}

type Chunks = AsyncIterable<unknown> | Iterable<unknown>;

/** A generator, so that only what the client throws is translated, and not what a listener throws. */
async function* received(chunks: Chunks): AsyncIterable<unknown> {
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
  private extraContent: unknown = undefined;
  private reasoning: ReturnType<typeof reasoningIn> = undefined;
  private hasDeltas = false;
  private isEnded = false;

  constructor(push: (part: ModelPart) => void) {
    this.push = push;
  }

  add(chunk: WireObject): void {
    const choice = choiceIn(chunk);
    throwErrorIn(chunk, choice);
    if (!this.head.id) this.head = { id: chunk.id, model: chunk.model };
    // Some servers send a running count with each chunk: the last one is the whole.
    this.usage = usageIn(chunk, choice) ?? this.usage;
    this.finishReason = textOr(choice?.finish_reason) || this.finishReason;
    this.hasDeltas ||= isObject(choice?.delta);
    // A server may send messages in place of deltas. A message beside deltas says all of it again.
    const piece = this.hasDeltas ? choice?.delta : choice?.message;
    if (isObject(piece)) this.addDelta(piece);
    this.isEnded ||= this.finishReason !== '' || (!this.hasDeltas && isObject(piece));
  }

  whole(): WireObject {
    if (!this.isEnded) {
      const problem = 'The stream ended before the answer did: the connection was cut, or the server gave up.';
      throw new ProviderError('openai', problem, { retryable: true });
    }
    const message = {
      content: this.content,
      refusal: this.refusal,
      reasoning_details: this.details,
      extra_content: this.extraContent,
      tool_calls: this.calls.list(),
      ...this.wholeReasoning(),
    };
    return { ...this.head, usage: this.usage, choices: [{ message, finish_reason: this.finishReason }] };
  }

  private addDelta(delta: WireObject): void {
    this.addReasoning(delta);
    const text = contentText(delta.content);
    const refusal = textOr(delta.refusal);
    this.content += text;
    this.refusal += refusal;
    this.extraContent = delta.extra_content ?? this.extraContent;
    if (text !== '') this.push({ type: 'text-delta', text });
    if (refusal !== '') this.push({ type: 'text-delta', text: refusal });
    for (const fragment of callsIn(delta)) {
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

  private wholeReasoning(): WireObject {
    if (!this.reasoning) return {};
    const { field, text } = this.reasoning;
    return { [field]: field === 'content' ? thinkingContent(text, this.content) : text };
  }
}

/** OpenRouter cuts a detail into fragments of one index; what goes back has to be the whole. */
function addDetail(details: WireObject[], detail: WireObject): void {
  const last = details.at(-1);
  if (last === undefined || beginsDetail(detail, last)) {
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

/** A signature ends what it signs. */
function beginsDetail(detail: WireObject, last: WireObject): boolean {
  const isElsewhere = last.type !== detail.type || last.index !== detail.index;
  return isElsewhere || 'data' in detail || Boolean(last.signature && detail.text);
}
