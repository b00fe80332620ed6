import type { Awaitable } from '../../internal/promise.js';

/** One test of a contract. Pass `name` and `run` to the test function of your test runner. */
export interface ContractCase {
  readonly name: string;
  /** Resolves if the store fulfils the case. Rejects with a StoreContractError if it does not. */
  run(): Promise<void>;
}

/** Tests by name. Each receives the store under test. */
export type CaseTable<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** A store to test, with its clock. */
export interface ContractSubject<Store> {
  /** Returns an empty store. Each case calls it once. */
  open(): Awaitable<Store>;
  /** Moves the clock of the store. Default: waits. */
  pass?(ms: number): Awaitable<unknown>;
  /** Runs after each case, also after a failed one. */
  close?(store: Store): Awaitable<unknown>;
}

/** Returns a subject whose `pass` is always a function. */
export function withPass<Store, Subject extends ContractSubject<Store>>(subject: Subject) {
  const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  return { ...subject, pass: async (ms: number) => void (await (subject.pass ?? wait)(ms)) };
}

/** Combines tables of tests into a list of cases. A case closes the stores that it has opened. */
export function casesOf<Store, Subject extends ContractSubject<Store>>(
  subject: Subject,
  tables: readonly CaseTable<Subject>[],
): ContractCase[] {
  const tests = tables.flatMap((table) => Object.entries(table));
  return tests.map(([name, test]) => ({ name, run: () => runCase(subject, test) }));
}

async function runCase<Store, Subject extends ContractSubject<Store>>(
  subject: Subject,
  test: (subject: Subject) => Promise<void>,
): Promise<void> {
  const opened: Store[] = [];
  const open = async () => {
    const store = await subject.open();
    opened.push(store);
    return store;
  };
  try {
    await test({ ...subject, open });
  } finally {
    for (const store of opened) await subject.close?.(store);
  }
}
