import type { Message } from './message.js';
import type { ModelRequest } from './model.js';

/** Has a stop whose abort signal is created when it is read. */
export interface SignalSource {
  readonly stop: { readonly signal: AbortSignal };
}

const SOURCE = Symbol('keelson.signalSource');

interface LazyRequest {
  readonly [SOURCE]: SignalSource;
}

/** One shared getter: objects with a getter of their own each need a hidden class of their own. */
const LAZY = {
  get(this: LazyRequest) {
    return this[SOURCE].stop.signal;
  },
  enumerable: true,
  configurable: true,
};

/** Gives a new request a signal that is created when it is read. Creating one takes as long as a turn without hooks. */
export function addLazySignal<Request extends ModelRequest>(request: Request, source: SignalSource): Request {
  Object.defineProperty(request, SOURCE, { value: source });
  return Object.defineProperty(request, 'signal', LAZY);
}

/** Returns a copy of the request with other messages. Does not create the signal, as `{ ...request }` does. */
export function withMessages<Request extends ModelRequest>(request: Request, messages: readonly Message[]): Request {
  const source = sourceOf(request);
  if (source === undefined) return { ...request, messages };
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(request)) {
    if (key !== 'signal') copy[key] = key === 'messages' ? messages : request[key as keyof Request];
  }
  return addLazySignal(copy as unknown as Request, source);
}

/** Compares the signals of two requests. Does not create a signal that both would create. */
export function hasSameSignal(a: ModelRequest, b: ModelRequest): boolean {
  const source = sourceOf(a);
  return (source !== undefined && source === sourceOf(b)) || a.signal === b.signal;
}

function sourceOf(request: ModelRequest): SignalSource | undefined {
  return (request as Partial<LazyRequest>)[SOURCE];
}
