import type { ModelPart, ModelRequest } from '../../model/model.js';
import { interrupted, ProviderError } from '../shared/error.js';
import { isObject, textOr, type WireObject } from '../shared/wire.js';
import { toFailure, toStreamFailure } from './failure.js';
import type { AiSdkModel } from './model.js';
import { familyOf } from './request.js';
import { finishOf, usageOf } from './response.js';

/**
 * Reads a stream to its end, pushing each delta as it comes, and gives the result that the model would have given whole.
 * Rejects where the stream fails, carries an error, or ends without the reason why.
 */
export async function readStream(stream: unknown, model: AiSdkModel, request: ModelRequest): Promise<WireObject> {
  const answer = new StreamedResult(familyOf(model.provider), request);
  const parts = partsOf(stream, familyOf(model.provider), request.signal);
  for await (const part of parts) if (isObject(part)) answer.add(part);
  return answer.whole();
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

/** Also a generator, so that only what the stream throws is translated. However it ends, the stream is let go. */
async function* partsOf(stream: unknown, provider: string, signal: AbortSignal | undefined): AsyncIterable<unknown> {
  const reader = readerOf(stream, provider);
  // A stream that was closed, or has failed, cannot be cancelled, and need not.
  const cancel = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    // One that came after the abort hears of it no more.
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
  throw new ProviderError(provider, 'The model gave no stream: what it gave has no `getReader`.', { cause: stream });
}

class StreamedResult {
  private readonly content: WireObject[] = [];
  private readonly blocks = new Map<string, Block>();
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
    // Whole parts are read, or passed over, as those of a whole answer.
    else this.content.push(part);
  }

  whole(): WireObject {
    if (!this.finish || isCut(this.finish, this.provider)) {
      throw interrupted(this.provider);
    }
    const { usage, finishReason, providerMetadata } = this.finish;
    const { content, warnings, response } = this;
    return { content, warnings, response, usage, finishReason, providerMetadata };
  }

  /** Blocks may come interleaved. They stand in the order in which they began. */
  private addToBlock(part: WireObject, kind: string, step: string): void {
    const key = `${kind} ${part.id}`;
    let block = this.blocks.get(key);
    if (step === 'start' || !block) {
      block = { type: kind, text: '', providerMetadata: {} };
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
  text: string;
  providerMetadata: WireObject;
}

function splitType(type: unknown): readonly (string | undefined)[] {
  return /^(text|reasoning)-(start|delta|end)$/.exec(textOr(type))?.slice(1) ?? [];
}

/** A signature comes with the last delta, say, and an id with the first. */
function merged(known: WireObject, more: unknown): WireObject {
  const all: Record<string, unknown> = { ...known };
  for (const [name, fields] of Object.entries(isObject(more) ? more : {})) {
    const before = all[name];
    all[name] = isObject(before) && isObject(fields) ? { ...before, ...fields } : fields;
  }
  return all;
}

/** They say with each piece what all cost so far, and at the end always why it ended. */
const COUNTS_ALONG = /^(google|xai|perplexity)\b/;

/**
 * Providers close every stream with a finish, also one that was cut: then neither why it ended nor what it cost is known.
 */
function isCut({ finishReason, usage }: WireObject, provider: string): boolean {
  const { finishReason: reason, word } = finishOf(finishReason);
  return reason === 'other' && word === '' && (COUNTS_ALONG.test(provider) || usageOf(usage).outputTokens === 0);
}
