import type { ModelPart } from '../../model/model.js';
import { interrupted, invalidAnswer, unreadableBody } from '../shared/error.js';
import { toProviderError } from '../shared/failure.js';
import { isObject, objectsIn, parseJson, present, textOr, type WireObject } from '../shared/wire.js';

type Push = (part: ModelPart) => void;

type Block = Record<string, unknown>;

/**
 * Assembles the events of a stream into one message. Reports each delta when it arrives. The input of a tool call stays
 * a JSON string.
 *
 * Also accepts a complete message instead of deltas. Skips unknown events.
 */
export class StreamedMessage {
  /** The content blocks, in the order in which they began. */
  private readonly blocks: Block[] = [];
  private readonly byIndex = new Map<unknown, Block>();
  private message: WireObject | undefined = undefined;
  private ending: WireObject = {};
  private usage: WireObject = {};
  private unread: WireObject | undefined = undefined;

  constructor(private readonly push: Push) {}

  /** Adds an event of the stream. Throws if the event is an error or not a JSON object. */
  take(event: unknown): void {
    const data = typeof event === 'string' ? parseJson(event) : event;
    if (!isObject(data)) throw unreadableBody('anthropic', event);
    this.add(data);
  }

  /** Returns the assembled message. Throws if the stream has ended before the message was complete. */
  whole(): WireObject {
    if (!textOr(this.ending.stop_reason)) {
      throw interrupted('anthropic', this.unread);
    }
    return { ...this.message, ...this.ending, usage: this.usage, content: this.blocks };
  }

  private add(event: WireObject): void {
    const { type, message, delta, content_block: block, index } = event;
    if (type === 'error' || (isObject(event.error) && type === undefined)) {
      throw toProviderError('anthropic', { error: event.error ?? event });
    }
    if (type === 'message') this.addWhole(event);
    else if (type === 'message_start' && isObject(message)) this.start(message);
    else if (type === 'content_block_start' && isObject(block)) this.addBlock(index, block);
    else if (type === 'content_block_delta' && isObject(delta)) this.addDelta(this.byIndex.get(index), delta);
    else if (type === 'message_delta') this.end(event);
    else if (type !== 'ping') this.unread = event;
  }

  /** Starts the message. Throws if the stream already contains a message, because its deltas were already reported. */
  private start(message: WireObject): void {
    if (this.message !== undefined) {
      const problem = 'its stream begins a second message before the first one has ended';
      throw invalidAnswer('anthropic', problem, { retryable: true, cause: message });
    }
    this.begin(message);
  }

  /**
   * Takes over the content of the first event, which is usually empty. After code execution, it may already contain the
   * whole answer.
   */
  private begin(message: WireObject): void {
    this.message = message;
    this.usage = isObject(message.usage) ? message.usage : {};
    const blocks = objectsIn(message.content);
    for (const [index, block] of blocks.entries()) this.addBlock(index, block);
    if (blocks.length > 0) this.end({ delta: { stop_reason: message.stop_reason } });
  }

  /**
   * Takes over the end of the message and its token counts. The last event has the final counts, but an earlier count
   * stays if the last event omits it or reports 0.
   *
   * If there are `iterations`, for example after a compaction on the server, a count of 0 is final. The first event
   * then has the counts before the compaction.
   */
  private end({ type, delta, usage, ...beside }: WireObject): void {
    this.ending = { ...this.ending, ...present(beside), ...(isObject(delta) && present(delta)) };
    if (!isObject(usage)) return;
    const isWhole = Array.isArray(usage.iterations);
    const counts = Object.entries(present(usage)).filter(
      ([name, count]) => isWhole || count !== 0 || !this.usage[name],
    );
    this.usage = { ...this.usage, ...Object.fromEntries(counts) };
  }

  private addWhole(message: WireObject): void {
    this.begin(message);
    this.end({ delta: { stop_reason: message.stop_reason } });
  }

  /** Adds a content block. If a server uses the same index for two blocks, later deltas belong to the newer block. */
  private addBlock(index: unknown, begun: WireObject): void {
    const block: Block = { ...begun };
    if (Array.isArray(begun.citations)) block.citations = [...begun.citations];
    this.blocks.push(block);
    this.byIndex.set(index, block);
    if (block.type === 'text') this.show(block, 'text', block.text);
    if (block.type === 'thinking') this.show(block, 'thinking', block.thinking);
  }

  private addDelta(block: Block | undefined, delta: WireObject): void {
    if (!block) return;
    if (delta.type === 'text_delta') this.grow(block, 'text', delta.text);
    else if (delta.type === 'thinking_delta') this.grow(block, 'thinking', delta.thinking);
    else if (delta.type === 'input_json_delta') this.grow(block, 'input', delta.partial_json);
    else if (delta.type === 'signature_delta') block.signature = textOr(block.signature) + textOr(delta.signature);
    else if (delta.type === 'citations_delta') addCitation(block, delta.citation);
    else if (!KNOWN_BLOCK.test(textOr(block.type))) growOther(block, delta);
  }

  /**
   * Appends a delta to a field of a block. If no delta comes, the field keeps the content of the block's first event.
   */
  private grow(block: Block, field: GrowingField, piece: unknown): void {
    if (textOr(piece) === '') return;
    block[field] = textOr(block[field]) + textOr(piece);
    this.show(block, field, piece);
  }

  private show({ id, name }: Block, field: GrowingField, piece: unknown): void {
    const text = textOr(piece);
    if (text === '') return;
    if (field === 'input') this.push({ type: 'tool-input-delta', id: textOr(id), name: textOr(name), text });
    else this.push({ type: field === 'text' ? 'text-delta' : 'reasoning-delta', text });
  }
}

const KNOWN_BLOCK = /^text$|thinking$|tool_use$|tool_result$/;

/** Appends a citation to the existing array. Copying the array for each citation would take quadratic time. */
function addCitation(block: Block, citation: unknown): void {
  if (Array.isArray(block.citations)) block.citations.push(citation);
  else block.citations = [citation];
}

/** Adds a delta to a block of an unknown type. Strings are appended, and other values replace earlier ones. */
function growOther(block: Block, { type, ...fields }: WireObject): void {
  for (const [name, value] of Object.entries(present(fields))) {
    block[name] = typeof value === 'string' ? textOr(block[name]) + value : value;
  }
}

type GrowingField = 'text' | 'thinking' | 'input';
