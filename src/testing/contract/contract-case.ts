import type { Awaitable } from '../../internal/promise.js';

/** One test of a contract. Pass `name` and `run` to the test function of your test runner. */
export interface ContractCase {
  readonly name: string;
  /** Resolves if the store fulfils the case. Rejects with a StoreContractError if it does not. */
  run(): Promise<void>;
}

/** Tests by name. */
export type CaseTable<Given> = Readonly<Record<string, (given: Given) => Promise<void>>>;

/** The store to test, and how the test moves its clock. */
export interface ContractSubject<Store> {
  /** Returns an empty store. Each case calls it once. */
  open(): Awaitable<Store>;
  /** Moves the clock of the store. Default: the test really waits. */
  pass?(ms: number): Awaitable<unknown>;
  /** Runs after each case, even if the case failed. */
  close?(store: Store): Awaitable<unknown>;
}

const LONG = 'x'.repeat(300);

/** Strings that collide or fail if a store joins, escapes, matches or uses them as paths or properties incorrectly. */
export const ODD_STRINGS: readonly string[] = [
  ...['__proto__', 'constructor', 'a', 'A', 'a:b', 'a b', 'a/b', '../up', '.', 'con', '*', '[a]', '{a}', '%', ' '],
  ...['ü 🎉', '\0', 'a\0b', 'a\nb', '\ud800', '\ud801', LONG, `${LONG}y`, `${LONG}z`],
];

/** Moves the clock of a store with `pass`, or really waits if the store has no such function. */
export async function passTime({ pass }: Pick<ContractSubject<unknown>, 'pass'>, ms: number): Promise<void> {
  if (pass === undefined) await new Promise<void>((resolve) => void setTimeout(resolve, ms));
  else await pass(ms);
}

/** Combines tables of tests into a list of cases. Each case opens a store, gives it to its test, and closes it. */
export function casesOf<Store, Given>(
  { open, close }: ContractSubject<Store>,
  give: (store: Store) => Given,
  tables: readonly CaseTable<Given>[],
): ContractCase[] {
  const runCase = async (test: CaseTable<Given>[string]) => {
    const store = await open();
    try {
      await test(give(store));
    } finally {
      await close?.(store);
    }
  };
  const tests = tables.flatMap((table) => Object.entries(table));
  return tests.map(([name, test]) => ({ name, run: () => runCase(test) }));
}
