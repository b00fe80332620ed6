import type { ModelPart } from '../../../../model/model.js';
import { interrupted } from '../../../shared/error.js';
import { DONE } from '../../../shared/event-reader.js';
import { toProviderError } from '../../../shared/failure.js';
import { isObject, objectsIn, textOr, type WireObject } from '../../../shared/wire.js';
import { PARAGRAPH } from '../paragraph.js';
import { responseIn } from './response.js';

/** The types of events that only repeat data of other events, and can be skipped. */
export const REPEATING_EVENTS: ReadonlySet<string> = new Set([
  'response.in_progress',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.done',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.done',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.done',
  'response.reasoning_text.done',
  'response.refusal.done',
  'response.image_generation_call.partial_image',
]);

/**
 * Assembles the events of a stream into one response. Reports each delta when it arrives. Also accepts a complete
 * response instead of events.
 */
export class StreamedResponse {
  /** The latest version of each output item, by its index. */
  private readonly items: WireObject[] = [];
  /** The response in the last event of the stream. Some servers leave out its output items. */
  private response: WireObject | undefined = undefined;
  private unread: WireObject | undefined = undefined;
  private hasSummary = false;
  /**
   * The index of the last message that had text: under true for commentary, under false for any other text. Shows when
   * a new message begins.
   */
  private readonly lastIndexes = new Map<boolean, unknown>();

  constructor(private readonly push: (part: ModelPart) => void) {}

  /** Adds an event of the stream. Throws if the event is an error or not a JSON object. */
  take(event: unknown): void {
    if (event === DONE) return;
    const data = typeof event === 'string' ? responseIn(event) : event;
    for (const each of objectsIn(Array.isArray(data) ? data : [data])) this.add(each);
  }

  /** Returns the assembled response. Throws if the stream has ended before the response was complete. */
  whole(): WireObject {
    const { response, items } = this;
    if (response === undefined) throw interrupted('openai', this.unread);
    const output = objectsIn(response.output);
    const assembled = items.filter((item) => item !== undefined);
    return { ...response, output: output.length >= assembled.length ? output : assembled };
  }

  private add(event: WireObject): void {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.pushSpoken(event);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.pushInput(event);
      case 'response.reasoning_summary_text.delta':
        this.hasSummary = true;
        return this.pushText('reasoning-delta', event.delta);
      case 'response.reasoning_text.delta':
        return this.hasSummary ? undefined : this.pushText('reasoning-delta', event.delta);
      case 'response.reasoning_summary_part.added':
        // Separates the summaries of one item in its text, as in the response.
        return Number(event.summary_index) > 0 ? this.pushText('reasoning-delta', '\n\n') : undefined;
      case 'response.output_item.added':
      case 'response.output_item.done':
        return this.setItem(event);
      default:
        return this.addOther(event);
    }
  }

  private addOther(event: WireObject): void {
    const { type, response, error } = event;
    if (type === 'error' || (type === undefined && error)) throw errorOf(event);
    if (type === 'response.failed' && isObject(response)) {
      throw toProviderError('openai', { error: response.error ?? 'The server stopped its answer without a reason.' });
    }
    if (type === undefined || event.object === 'response') this.response = responseIn(event);
    else if (isEnd(type) && isObject(response)) this.response = response;
    else if (!textOr(type).startsWith('response.')) this.unread = event;
  }

  private setItem({ output_index: index, item }: WireObject): void {
    const at = typeof index === 'number' && index >= 0 ? index : this.items.length;
    if (isObject(item)) this.items[at] = item;
  }

  /** Reports a text delta. The text of a further message begins a new paragraph, as in the assembled response. */
  private pushSpoken({ output_index: index, delta }: WireObject): void {
    const isCommentary = this.items[index as number]?.phase === 'commentary';
    const before = this.lastIndexes.get(isCommentary);
    if (before !== undefined && before !== index) this.pushText('text-delta', PARAGRAPH);
    if (textOr(delta) !== '') this.lastIndexes.set(isCommentary, index);
    this.pushText('text-delta', delta);
  }

  private pushText(type: 'text-delta' | 'reasoning-delta', delta: unknown): void {
    if (typeof delta === 'string' && delta !== '') this.push({ type, text: delta });
  }

  private pushInput({ output_index: index, delta }: WireObject): void {
    const item = this.items[index as number] ?? {};
    const text = textOr(delta);
    if (text !== '') this.push({ type: 'tool-input-delta', id: textOr(item.call_id), name: textOr(item.name), text });
  }
}

function isEnd(type: unknown): boolean {
  return type === 'response.completed' || type === 'response.incomplete' || type === 'response.cancelled';
}

/**
 * Returns the error that an event contains. The API puts the fields of the error into the event itself; some servers
 * put them into its field `error`.
 */
function errorOf({ error, code, message, param }: WireObject): unknown {
  return toProviderError('openai', { error: error ?? { code, message, param } });
}
