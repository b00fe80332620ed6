import type { ModelPart, ModelRequest } from '../../model/model.js';
import { interrupted, ProviderError } from '../shared/error.js';
import type { WatchedRequest } from '../shared/idle.js';
import { isObject, textOr, type WireObject } from '../shared/wire.js';
import { toFailure, toStreamFailure } from './failure.js';
import { type AiSdkModel, familyOf } from './model.js';
import { finishOf, usageOf } from './response.js';

/**
 * Reads a stream to its end, and returns the whole result as one object. Reports each delta when it arrives. Rejects if
 * the stream fails, contains an error, or ends without a finish reason.
 */
export async function readStream(stream: unknown, model: AiSdkModel, request: WatchedRequest): Promise<WireObject> {
  const answer = new StreamedResult(familyOf(model.provider), request);
  const parts = partsOf(stream, familyOf(model.provider), request.signal);
  for await (const part of parts) {
    if (!isObject(part)) continue;
    // A raw part may be only a keep-alive message.
    if (part.type !== 'raw') request.idle.hearMore();
    answer.add(part);
  }
  return answer.whole();
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Yields the parts of a stream, and cancels the stream at the end. Errors of the stream become typed errors, but errors
 * of the consumer stay as they are.
 */
async function* partsOf(stream: unknown, provider: string, signal: AbortSignal | undefined): AsyncIterable<unknown> {
  const reader = readerOf(stream, provider);
  // Cancelling a closed or failed stream rejects. This is ignored.
  const cancel = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    // A listener added after the abort is never called.
    signal?.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw toFailure(provider, error);
      });
      if (done) return;
      yield value;
    }
  } finally {
    cancel();
  }
}

function readerOf(stream: unknown, provider: string): Reader {
  if (isObject(stream) && typeof stream.getReader === 'function') return stream.getReader() as Reader;
  throw new ProviderError(
    provider,
    'The `stream` of the model must be a ReadableStream, but it has no `getReader` method.',
    { cause: stream },
  );
}

class StreamedResult {
  private readonly content: WireObject[] = [];
  private readonly blocks = new Map<string, Block>();
  private results = 0;
  private readonly toolNames = new Map<unknown, string>();
  private warnings: unknown = undefined;
  private response: WireObject = {};
  private finish: WireObject | undefined = undefined;

  constructor(
    private readonly provider: string,
    private readonly request: ModelRequest,
  ) {}

  add(part: WireObject): void {
    const [kind = '', step] = splitType(part.type);
    if (step !== undefined) this.addToBlock(part, kind, step);
    else if (part.type === 'tool-input-start') this.toolNames.set(part.id, textOr(part.toolName));
    else if (part.type === 'tool-input-delta') this.push(this.inputDelta(part));
    else if (part.type === 'error') throw toStreamFailure(this.provider, part.error);
    else if (part.type === 'stream-start') this.warnings = part.warnings;
    else if (part.type === 'response-metadata') this.response = { ...this.response, ...part };
    else if (part.type === 'finish') this.finish = part;
    // A complete part is handled like a part of a complete response.
    else this.addWhole(part);
  }

  whole(): WireObject {
    if (!this.finish || isCut(this.finish, this.provider)) {
      throw interrupted(this.provider);
    }
    const { usage, finishReason, providerMetadata } = this.finish;
    const { content, warnings, response } = this;
    return { content, warnings, response, usage, finishReason, providerMetadata };
  }

  private addWhole(part: WireObject): void {
    this.content.push(part);
    if (part.type === 'tool-result') this.results += 1;
  }

  /**
   * Adds a delta to the text or reasoning block with its id. Deltas of several blocks may alternate; the blocks keep
   * the order in which they began. A text that continues after a tool result becomes a new block.
   */
  private addToBlock(part: WireObject, kind: string, step: string): void {
    const key = `${kind} ${part.id}`;
    let block = this.blocks.get(key);
    const isEnded = step === 'delta' && block !== undefined && block.results !== this.results;
    if (step === 'start' || !block || isEnded) {
      block = { type: kind, text: '', results: this.results, providerMetadata: {} };
      this.blocks.set(key, block);
      this.content.push(block as WireObject & Block);
    }
    block.providerMetadata = merged(block.providerMetadata, part.providerMetadata);
    const text = step === 'delta' ? textOr(part.delta) : '';
    block.text += text;
    if (text !== '') this.push({ type: kind === 'text' ? 'text-delta' : 'reasoning-delta', text });
  }

  private inputDelta({ id, delta }: WireObject): ModelPart {
    return { type: 'tool-input-delta', id: textOr(id), name: this.toolNames.get(id) ?? '', text: textOr(delta) };
  }

  private push(part: ModelPart): void {
    if (part.text !== '') this.request.onPart?.(part);
  }
}

interface Block {
  readonly type: string;
  /** The number of tool results that came before this block. */
  readonly results: number;
  text: string;
  providerMetadata: WireObject;
}

function splitType(type: unknown): readonly (string | undefined)[] {
  return /^(text|reasoning)-(start|delta|end)$/.exec(textOr(type))?.slice(1) ?? [];
}

/**
 * Returns the combined metadata of a block. All its parts count, because an id may come with the first delta and a
 * signature with the last one.
 */
function merged(known: WireObject, more: unknown): WireObject {
  const all: Record<string, unknown> = { ...known };
  for (const [name, fields] of Object.entries(isObject(more) ? more : {})) {
    const before = all[name];
    all[name] = isObject(before) && isObject(fields) ? { ...before, ...fields } : fields;
  }
  return all;
}

/**
 * Matches the providers that report token counts with each chunk and always send a finish reason at the end. For them,
 * a missing finish reason means a lost connection.
 */
const COUNTS_ALONG = /^(google|xai|perplexity)\b/;

/**
 * True if the connection was lost. The AI SDK provider then still sends a `finish` part, but without a finish reason or
 * token counts.
 */
function isCut({ finishReason, usage }: WireObject, provider: string): boolean {
  const { finishReason: reason, raw } = finishOf(finishReason);
  return reason === 'other' && raw === '' && (COUNTS_ALONG.test(provider) || usageOf(usage).outputTokens === 0);
}
