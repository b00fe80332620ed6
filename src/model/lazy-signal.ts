import type { Message } from './message.js';
import type { Model, ModelPart, ModelRequest, ModelSettings, ToolChoice, ToolSpec } from './model.js';

/** A source of an abort signal, which creates the signal on first access. */
export interface SignalSource {
  readonly stop: { readonly signal: AbortSignal };
}

/** The fields of a request without its signal. `Run` is the type of the run that hooks receive. */
export interface RequestFields<Run> extends Omit<ModelRequest, 'signal'> {
  readonly model: Model;
  readonly run: Run;
}

/** A request that creates its signal on first access. Creating a signal takes as long as a turn without hooks. */
export class LazyRequest<Run> implements RequestFields<Run> {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice | undefined;
  readonly output: ModelRequest['output'];
  readonly settings: ModelSettings | undefined;
  readonly idleMs: number | undefined;
  readonly onPart: ((part: ModelPart) => void) | undefined;
  readonly model: Model;
  readonly run: Run;
  readonly #source: SignalSource;

  constructor(fields: RequestFields<Run>, source: SignalSource) {
    this.messages = fields.messages;
    this.tools = fields.tools;
    this.toolChoice = fields.toolChoice;
    this.output = fields.output;
    this.settings = fields.settings;
    this.idleMs = fields.idleMs;
    this.onPart = fields.onPart;
    this.model = fields.model;
    this.run = fields.run;
    this.#source = source;
  }

  get signal(): AbortSignal {
    return this.#source.stop.signal;
  }

  /**
   * Returns the source of the signal. Returns undefined if the object is not a LazyRequest, such as a copy made by
   * spread.
   */
  static sourceOf(request: object): SignalSource | undefined {
    return #source in request ? (request as LazyRequest<unknown>).#source : undefined;
  }
}

/**
 * Makes the signal a property of the request itself, so that `{ ...request }` includes it. Does not create the signal.
 */
export function ownSignal(request: ModelRequest): void {
  Object.defineProperty(request, 'signal', OWN_SIGNAL);
}

/**
 * The getter that all requests share. If each request had its own getter, the JavaScript engine would need a hidden
 * class per request.
 */
const OWN_SIGNAL = {
  get(this: object) {
    return LazyRequest.sourceOf(this)?.stop.signal;
  },
  enumerable: true,
  configurable: true,
};

/** Returns a copy of the request with other messages. Unlike `{ ...request }`, never creates the signal. */
export function withMessages<Request extends ModelRequest>(request: Request, messages: readonly Message[]): Request {
  const source = LazyRequest.sourceOf(request);
  return source === undefined ? { ...request, messages } : Object.assign(copyOf(request, source), { messages });
}

/**
 * Returns `copy` with the signal of `request`, because a spread may not copy the signal. If `copy` has a `signal`
 * property, even an undefined one, returns `copy`.
 */
export function keepSignal<Request extends ModelRequest>(copy: Request, request: Request): Request {
  const source = LazyRequest.sourceOf(request);
  return source === undefined || 'signal' in copy ? copy : copyOf(copy, source);
}

function copyOf<Request extends ModelRequest>(request: Request, source: SignalSource): Request {
  const copy = new LazyRequest(request as unknown as RequestFields<unknown>, source) as unknown as Request;
  for (const key of Reflect.ownKeys(request) as (keyof Request)[]) {
    if (key === 'signal') ownSignal(copy);
    else copy[key] = request[key];
  }
  return copy;
}

/** Compares the signals of two requests. Does not create a signal if both requests have the same source. */
export function hasSameSignal(a: ModelRequest, b: ModelRequest): boolean {
  const source = LazyRequest.sourceOf(a);
  return (source !== undefined && source === LazyRequest.sourceOf(b)) || a.signal === b.signal;
}
