import type { ModelPart } from '../../../model/model.js';
import { interrupted } from '../../shared/error.js';
import { DONE } from '../../shared/event-reader.js';
import { isObject, objectsIn, textOr, type WireObject } from '../../shared/wire.js';
import { callsIn, choiceIn, completionIn, throwErrorIn, transcriptIn, usageIn } from './completion.js';
import { ReasoningFragments } from './reasoning.js';
import { extraContentOf, isThought, splitThought } from './thoughts.js';
import { CallFragments } from './tool-calls.js';

/**
 * Assembles the events of a stream into one completion. Reports each delta when it arrives. Also accepts a complete
 * answer instead of deltas.
 */
export class StreamedAnswer {
  /** True after the server has sent `[DONE]`, which ends a stream. */
  private isDone = false;
  private readonly calls = new CallFragments();
  private readonly reasoning = new ReasoningFragments();
  private readonly images: WireObject[] = [];
  private readonly annotations: WireObject[] = [];
  private readonly tokens: WireObject[] = [];
  private head: WireObject = {};
  private sources: WireObject = {};
  private usage: unknown = undefined;
  private finishReason = '';
  private content = '';
  private refusal = '';
  private extraContent: unknown = undefined;
  private unread: WireObject | undefined = undefined;
  private isThinking = false;
  private hasDeltas = false;
  private isEnded = false;

  constructor(private readonly push: (part: ModelPart) => void) {}

  /** Adds an event of the stream. Throws if the event is an error or not a JSON object. */
  take(event: unknown): void {
    if (event === DONE) this.isDone = true;
    else if (typeof event === 'string') this.add(completionIn(event));
    // Google wraps an error in an array.
    else if (Array.isArray(event)) for (const each of objectsIn(event)) this.add(each);
    else if (isObject(event)) this.add(event);
  }

  private add(chunk: WireObject): void {
    const choice = choiceIn(chunk);
    throwErrorIn(chunk, choice);
    if (!Array.isArray(chunk.choices)) this.unread = chunk;
    if (!this.head.id) this.head = { id: chunk.id, model: chunk.model };
    if (chunk.citations || chunk.search_results) this.sources = chunk;
    if (isObject(choice?.logprobs)) append(this.tokens, choice.logprobs.content);
    // Some servers send a running total with each chunk, so the last count is used.
    this.usage = usageIn(chunk, choice) ?? this.usage;
    this.finishReason = textOr(choice?.finish_reason) || this.finishReason;
    this.hasDeltas ||= isObject(choice?.delta);
    // Some servers send `message` instead of `delta`. A message after deltas repeats their text.
    const piece = this.hasDeltas ? choice?.delta : choice?.message;
    if (isObject(piece)) this.addDelta(piece);
    this.isEnded ||= this.finishReason !== '' || (!this.hasDeltas && isObject(piece));
  }

  /** Returns the assembled completion. Throws if the stream has ended before the answer was complete. */
  whole(): WireObject {
    // Some servers, such as Spark, send no finish reason or `null`, and only `[DONE]`.
    if (!this.isEnded && !(this.isDone && this.hasDeltas && this.unread === undefined)) {
      throw interrupted('openai', this.unread);
    }
    const message = {
      content: this.content,
      refusal: this.refusal,
      images: this.images,
      annotations: this.annotations,
      extra_content: this.extraContent,
      tool_calls: this.calls.list(),
      ...this.reasoning.fields(this.content),
    };
    const logprobs = this.tokens.length > 0 ? { content: this.tokens } : null;
    const { citations, search_results } = this.sources;
    const choices = [{ message, logprobs, finish_reason: this.finishReason }];
    return { ...this.head, citations, search_results, usage: this.usage, choices };
  }

  private addDelta(delta: WireObject): void {
    const later = this.isThinking ? 'after' : 'delta';
    const position = this.hasDeltas ? later : 'whole';
    const reasoning = this.reasoning.add(delta, position);
    const text = splitThought(delta, position).text || transcriptIn(delta);
    const refusal = textOr(delta.refusal);
    this.content += text;
    this.refusal += refusal;
    this.extraContent = extraContentOf(delta) ?? this.extraContent;
    this.isThinking = isThought(delta) || (this.isThinking && text === '');
    append(this.images, delta.images);
    append(this.annotations, delta.annotations);
    if (reasoning !== '') this.push({ type: 'reasoning-delta', text: reasoning });
    if (text !== '') this.push({ type: 'text-delta', text });
    if (refusal !== '') this.push({ type: 'text-delta', text: refusal });
    for (const fragment of callsIn(delta)) this.push(this.calls.add(fragment));
  }
}

function append(list: WireObject[], more: unknown): void {
  for (const item of objectsIn(more)) list.push(item);
}
