import type { Part, Thread, ThreadAct, Wrap, WrapAct } from './case.js';

/** The end of a predicted run. */
export type Ending =
  | { readonly kind: 'text'; readonly text: string; readonly isOwn: boolean }
  | { readonly kind: 'reject'; readonly by: string; readonly point: string }
  | { readonly kind: 'failed'; readonly by: string; readonly point: string }
  | { readonly kind: 'model' }
  | { readonly kind: 'limit' }
  | { readonly kind: 'suspended'; readonly text: string };

/** Thrown in the oracle when a run fails. */
export class End {
  constructor(readonly ending: Ending) {}
}
class HookThrow {}
export class ModelFailed {}
export class Suspended {}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}
export interface Response {
  readonly texts: readonly string[];
  readonly calls: readonly Call[];
  readonly cut: boolean;
}

interface ThreadSite<T> {
  readonly part: Part;
  readonly point: Thread;
  readonly change: (value: T, act: ThreadAct) => T;
  /** True if a returned value is ignored. */
  readonly takesNoValue?: boolean;
  /** Called after a hook of the lifecycle, also if the hook failed. */
  readonly reached?: (() => void) | undefined;
}

interface WrapSite {
  readonly point: Wrap;
  readonly innermost: (given: unknown) => unknown;
}

/** Predicts the effects of the hooks of one run. */
export class HookOracle {
  readonly log: string[] = [];
  readonly decisions: string[] = [];
  /** Added messages that are not yet in the history. */
  readonly joins: string[] = [];
  ended: Ending | undefined;
  private readonly parts: readonly Part[];
  /** The number of calls of each hook, in this run and all previous runs. */
  private readonly fired: Map<string, number>;

  constructor(parts: readonly Part[], fired: Map<string, number>) {
    this.parts = parts;
    this.fired = fired;
  }

  /** Predicts a hook that gets a value and returns a value. */
  thread<T>({ part, point, change, takesNoValue = false, reached = () => {} }: ThreadSite<T>, value: T): T {
    const act = this.act(part, point) as ThreadAct | undefined;
    if (act === undefined) return value;
    this.log.push(`${part.name}.${point}`);
    const by = part.name;
    const failed = () => {
      if (part.onFailure === 'throw') throw new End({ kind: 'failed', by, point });
      this.decide(part.onFailure === 'block' ? 'block' : 'pass', by, point);
      if (part.onFailure === 'block') throw new End({ kind: 'reject', by, point });
      reached();
      return value;
    };
    switch (act) {
      case 'throws':
      case 'hangs':
      case 'is wrong':
        return failed();
      case 'suspends':
        if (point !== 'afterModel') return failed();
        this.decide('suspend', by, point);
        throw new End({ kind: 'suspended', text: '' });
      case 'approves':
      case 'rejects':
      case 'responds':
        if (point === 'afterAgent') return failed();
        reached();
        this.decide(act.slice(0, -1), by, point);
        if (act === 'rejects') throw new End({ kind: 'reject', by, point });
        if (act === 'responds') throw new End({ kind: 'text', text: by, isOwn: true });
        return value;
      case 'ends well':
      case 'ends badly':
        if (point === 'afterAgent') return failed();
        reached();
        this.end(act);
        return this.checkEnded() as never;
      case 'adds':
        if (point === 'afterAgent') return failed();
        this.joins.push(`user: ${by} adds`);
        reached();
        return value;
      case 'changes':
      case 'compacts':
        reached();
        if (takesNoValue) return value;
        this.decide('modify', by, point);
        return change(value, act);
      default:
        if (act === 'continues' && point === 'afterAgent') return failed();
        reached();
        return value;
    }
  }

  /** Predicts a wrap hook around the inner hooks and the call. */
  wrapped(site: WrapSite, given: unknown, at = 0): unknown {
    const { point, innermost } = site;
    const part = this.parts[at];
    if (part === undefined) return innermost(given);
    const act = this.act(part, point, given) as WrapAct | undefined;
    let last: { value: unknown } | undefined;
    const next = (changed = given) => {
      const value = this.wrapped(site, changed, at + 1);
      last = { value };
      return value;
    };
    if (act === undefined) return next();
    this.log.push(`${part.name}.${point}>`);
    try {
      return this.wrapAct({ part, point, act }, given, next);
    } catch (thrown) {
      if (!(thrown instanceof HookThrow)) throw thrown;
      const by = part.name;
      if (part.onFailure === 'throw') throw new End({ kind: 'failed', by, point });
      this.decide(part.onFailure === 'block' ? 'block' : 'pass', by, point);
      if (part.onFailure === 'continue') return last === undefined ? next() : last.value;
      if (point === 'wrapToolCall') return '!';
      throw new End({ kind: 'reject', by, point });
    }
  }

  private wrapAct(
    { part, point, act }: { readonly part: Part; readonly point: Wrap; readonly act: WrapAct },
    given: unknown,
    next: (changed?: unknown) => unknown,
  ): unknown {
    const isTool = point === 'wrapToolCall';
    const own = isTool ? `=${part.name}` : { texts: [part.name], calls: [], cut: false };
    switch (act) {
      case 'hands on':
        return next();
      case 'calls twice':
        next();
        return next();
      case 'changes what goes in':
        this.decide('modify', part.name, point);
        return next(isTool ? { ...(given as Call), input: part.name } : `${given}${part.name}`);
      case 'changes what comes out': {
        next();
        this.decide('modify', part.name, point);
        return own;
      }
      case 'answers itself':
        this.decide('respond', part.name, point);
        return own;
      case 'denies':
        if (!isTool) throw new HookThrow();
        this.decide('block', part.name, point);
        return '!';
      case 'recovers':
      case 'replaces a failure':
        try {
          return next();
        } catch (thrown) {
          if (!(thrown instanceof ModelFailed)) throw thrown;
          if (act === 'recovers') return next();
          this.decide('respond', part.name, point);
          return own;
        }
      case 'adds':
        if (this.ended === undefined) this.joins.push(`user: ${part.name} adds`);
        return next();
      case 'throws before':
      case 'hangs before':
      case 'is wrong':
        throw new HookThrow();
      case 'throws after':
      case 'hangs after':
        next();
        throw new HookThrow();
      case 'suspends':
        if (!isTool) throw new HookThrow();
        this.decide('suspend', part.name, point);
        throw new Suspended();
      case 'ends well':
      case 'ends badly':
        this.end(act);
        return next();
    }
  }

  private end(act: 'ends well' | 'ends badly'): void {
    if (this.ended !== undefined) return;
    const good = act === 'ends well';
    this.decide(good ? 'respond' : 'reject', 'run.end', 'end');
    this.ended = good ? { kind: 'text', text: 'ended', isOwn: true } : { kind: 'reject', by: 'run.end', point: 'end' };
  }

  checkEnded(): void {
    if (this.ended !== undefined) throw new End(this.ended);
  }

  decide(type: string, by: string, point: string): void {
    this.decisions.push(`${type} by ${by} at ${point}`);
    this.log.push(`decision ${type} by ${by} at ${point}`);
  }

  private act(part: Part, point: Thread | Wrap, given?: unknown): ThreadAct | WrapAct | undefined {
    const acts = part.acts[point];
    if (acts === undefined) return undefined;
    if (point === 'wrapToolCall') return acts[placeOf((given as Call).id) % acts.length];
    const key = `${part.name} ${point}`;
    const count = this.fired.get(key) ?? 0;
    this.fired.set(key, count + 1);
    return acts[count % acts.length];
  }
}

/** Selects the action of a wrap hook by its call, because the calls of a turn may run in parallel. */
export function placeOf(id: string): number {
  const [call = 0, place = 0] = id.slice(1).split('.').map(Number);
  return call + place;
}
