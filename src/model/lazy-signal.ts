import type { Message } from './message.js';
import type { Model, ModelPart, ModelRequest, ModelSettings, ToolChoice, ToolSpec } from './model.js';

/** Has a stop whose abort signal is created when it is read. */
export interface SignalSource {
  readonly stop: { readonly signal: AbortSignal };
}

/** The fields of a request without its signal. `Run` is the view of the run that hooks get. */
export interface RequestFields<Run> extends Omit<ModelRequest, 'signal'> {
  readonly model: Model;
  readonly run: Run;
}

/** A request whose signal is created when it is read. Creating a signal takes as long as a turn without hooks. */
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

  /** Returns undefined if the request is another object, such as a copy. */
  static sourceOf(request: object): SignalSource | undefined {
    return #source in request ? (request as LazyRequest<unknown>).#source : undefined;
  }
}

/** Makes the signal a property of the request itself, so that `{ ...request }` has it. Does not create the signal. */
export function ownSignal(request: ModelRequest): void {
  Object.defineProperty(request, 'signal', OWN_SIGNAL);
}

/** One shared getter: objects with a getter of their own each need a hidden class of their own. */
const OWN_SIGNAL = {
  get(this: object) {
    return LazyRequest.sourceOf(this)?.stop.signal;
  },
  enumerable: true,
  configurable: true,
};

/** Returns a copy of the request with other messages. Does not create the signal, as `{ ...request }` may do. */
export function withMessages<Request extends ModelRequest>(request: Request, messages: readonly Message[]): Request {
  const source = LazyRequest.sourceOf(request);
  return source === undefined ? { ...request, messages } : Object.assign(copyOf(request, source), { messages });
}

/** Returns `copy` with the signal of `request`, if `copy` has no `signal` property. `signal: undefined` is one. */
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

/** Compares the signals of two requests. Does not create a signal that both would create. */
export function hasSameSignal(a: ModelRequest, b: ModelRequest): boolean {
  const source = LazyRequest.sourceOf(a);
  return (source !== undefined && source === LazyRequest.sourceOf(b)) || a.signal === b.signal;
}
