import fc from 'fast-check';
import type { Awaitable } from '../../../src/internal/promise.js';
import { entryBytes } from '../../../src/state/state-key.js';
import type {
  StateChange,
  StateEntry,
  StatePolicy,
  StateScope,
  StateStats,
  StateStore,
} from '../../../src/state/state-store.js';

interface Row {
  readonly extension: string;
  readonly session: string;
  readonly key: string;
  readonly value: string;
  /** The time of expiry; Infinity if the value expires with its session. */
  readonly end: number;
}

/** A simple reference implementation of a state store: one array, with the least recently used value first. */
export class PlainStateStore implements StateStore {
  now = 0;
  private rows: Row[] = [];
  private readonly ends = new Map<string, number>();

  get(scope: StateScope, key: string, policy: StatePolicy): string | undefined {
    const found = this.live().find((row) => row.key === key && isIn(row, scope));
    if (found === undefined) return undefined;
    this.use(scope, found, policy);
    return found.value;
  }

  set(scope: StateScope, { key, value, ifValue }: StateEntry, policy: StatePolicy): StateChange {
    const before = this.stats(scope.session).bytes;
    const current = this.live().find((row) => row.key === key && isIn(row, scope))?.value ?? null;
    if (ifValue !== undefined && current !== ifValue) {
      return { stored: false, conflict: true, evicted: [], bytesBefore: before, bytesAfter: before };
    }
    const size = entryBytes(key, value);
    const rest = this.live().filter((row) => !(row.key === key && isIn(row, scope)));
    const mine = rest.filter((row) => isIn(row, scope));
    const evicted: Row[] = [];
    const left = () => rest.filter((row) => !evicted.includes(row));
    const fits = () =>
      bytesOf(left().filter((row) => isIn(row, scope))) + size <= policy.extensionBytes &&
      bytesOf(left().filter(({ session }) => session === scope.session)) + size <= policy.sessionBytes;
    while (!fits()) {
      const next = mine.shift();
      if (next === undefined) return { stored: false, evicted: [], bytesBefore: before, bytesAfter: before };
      evicted.push(next);
    }
    this.rows = left();
    this.use(scope, { ...scope, key, value, end: 0 }, policy);
    return {
      stored: true,
      evicted: evicted.map((row) => ({ key: row.key, bytes: entryBytes(row.key, row.value) })),
      bytesBefore: before,
      bytesAfter: this.stats(scope.session).bytes,
    };
  }

  clear(scope: StateScope, key?: string): number {
    return this.drop((row) => isIn(row, scope) && (key === undefined || row.key === key));
  }

  clearExtension(extension: string): number {
    return this.drop((row) => row.extension === extension);
  }

  clearSession(session: string): number {
    return this.drop((row) => row.session === session);
  }

  touch(session: string, policy: StatePolicy): void {
    if (this.live().some((row) => row.session === session)) this.ends.set(session, this.now + policy.sessionTtlMs);
  }

  stats(session: string): StateStats {
    const rows = this.live().filter((row) => row.session === session);
    const extensions = [...new Set(rows.map(({ extension }) => extension))];
    return {
      bytes: bytesOf(rows),
      extensions: Object.fromEntries(
        extensions.map((extension) => [extension, bytesOf(rows.filter((row) => row.extension === extension))]),
      ),
    };
  }

  private use(scope: StateScope, row: Row, { ttlMs, sessionTtlMs }: StatePolicy): void {
    this.rows = this.rows.filter((other) => other !== row);
    this.rows.push({ ...row, end: ttlMs >= sessionTtlMs ? Number.POSITIVE_INFINITY : this.now + ttlMs });
    this.ends.set(scope.session, this.now + sessionTtlMs);
  }

  private drop(isGone: (row: Row) => boolean): number {
    const before = this.live().length;
    this.rows = this.rows.filter((row) => !isGone(row));
    return before - this.rows.length;
  }

  private live(): Row[] {
    this.rows = this.rows.filter(({ end, session }) => Math.min(end, this.ends.get(session) ?? 0) > this.now);
    return this.rows;
  }
}

function isIn(row: Row, { extension, session }: StateScope): boolean {
  return row.extension === extension && row.session === session;
}

function bytesOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { key, value }) => sum + entryBytes(key, value), 0);
}

type Call = (store: StateStore) => Awaitable<unknown>;

/** A call of the store, a period of time, or a reopening of the store. */
export type Step =
  | { readonly kind: 'call'; readonly call: Call; readonly text: string }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'reopen' };

const name = fc.constantFrom('a', 'b', '__proto__');
const key = fc.constantFrom('1', '2', '3', 'constructor');
const scope = fc.record({ extension: name, session: name });
const policy = fc.record({
  ttlMs: fc.integer({ min: 1, max: 12 }),
  sessionTtlMs: fc.integer({ min: 1, max: 12 }),
  extensionBytes: fc.integer({ min: 1, max: 12 }),
  sessionBytes: fc.integer({ min: 1, max: 20 }),
});
const value = fc.string({ unit: 'binary', maxLength: 6 });

function call(text: string, arbitrary: fc.Arbitrary<Call>): fc.Arbitrary<Step> {
  return arbitrary.map((it) => ({ kind: 'call', call: it, text }));
}

export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: call(
        'set',
        fc.tuple(scope, fc.record({ key, value }), policy).map((args) => (store) => store.set(...args)),
      ),
    },
    {
      weight: 4,
      arbitrary: call(
        'get',
        fc.tuple(scope, key, policy).map((args) => (store) => store.get(...args)),
      ),
    },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }).map((ms): Step => ({ kind: 'pass', ms })) },
    call(
      'clear',
      fc.tuple(scope, fc.option(key, { nil: undefined })).map((args) => (store) => store.clear(...args)),
    ),
    call(
      'clearExtension',
      name.map((extension) => (store) => store.clearExtension(extension)),
    ),
    call(
      'clearSession',
      name.map((session) => (store) => store.clearSession(session)),
    ),
    call(
      'touch',
      fc.tuple(name, policy).map((args) => (store) => store.touch(...args)),
    ),
    call(
      'stats',
      name.map((session) => (store) => store.stats(session)),
    ),
    fc.constant<Step>({ kind: 'reopen' }),
  ),
  { maxLength: 60 },
);

/** Opens the tested store, also again with its data, and lets time pass for it. */
export interface ModelSubject {
  open(): StateStore;
  pass(ms: number): Awaitable<void>;
}

/** Runs the steps. Returns the results of the tested store and those of the reference store. */
export async function outcomesOf(steps: readonly Step[], subject: ModelSubject): Promise<[unknown[], unknown[]]> {
  const plain = new PlainStateStore();
  let store = subject.open();
  const outcomes: [unknown[], unknown[]] = [[], []];
  for (const step of steps) {
    if (step.kind === 'reopen') store = subject.open();
    if (step.kind === 'pass') {
      await subject.pass(step.ms);
      plain.now += step.ms;
    }
    if (step.kind !== 'call') continue;
    outcomes[0].push([step.text, await step.call(store)]);
    outcomes[1].push([step.text, await step.call(plain)]);
  }
  return outcomes;
}
