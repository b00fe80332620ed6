import type { JsonObject, JsonValue } from '../../../internal/json.js';
import { createDeferred } from '../../../internal/promise.js';
import { type ContractCase, casesOf } from '../contract-case.js';
import { expectThat } from '../expect-that.js';

/** The function that stores a step of a durable run, as `defineStep` of `keelson/durable` makes it. */
interface ContractStep {
  (
    name: string,
    run: () => Promise<JsonValue>,
    info: { readonly key: string; readonly kind: 'tool' },
  ): Promise<JsonValue>;
  readonly id: string;
  /** Returns the names of the stored steps that this attempt has not repeated yet. */
  readonly unread?: (() => readonly string[] | PromiseLike<readonly string[]>) | undefined;
}

/** One attempt to run a program. After a crash, the engine makes another one. */
interface StepAttempt {
  readonly step: ContractStep;
  /** Ends this attempt, as a crash of the process does. The engine then starts the program again. */
  crash(): Promise<never>;
}

/** A program that the engine starts again after each crash. */
export type StepProgram = (attempt: StepAttempt) => Promise<JsonValue>;

/**
 * Runs programs on the durable engine whose step is tested.
 *
 * @example
 * const options: StepContractOptions = {
 *   async execute(id, program) {
 *     const crash = () => Promise.reject(new RangeError('crash'));
 *     for (let journal: MemoryStep['journal'] = []; ; ) {
 *       const step = memoryStep({ id, journal });
 *       try {
 *         return await program({ step, crash });
 *       } catch (error) {
 *         if (!(error instanceof RangeError)) throw error;
 *         journal = step.journal;
 *       }
 *     }
 *   },
 * };
 */
export interface StepContractOptions {
  /** Runs a program as an execution with this id. Resolves with the value that its last attempt returned. */
  execute(id: string, program: StepProgram): Promise<JsonValue>;
}

/**
 * Returns the tests that the step of every durable engine must pass. A test rejects with a StoreContractError that names the
 * expected and the found value.
 *
 * @example
 * for (const { name, run } of stepContract(runsMyEngine)) test(name, run);
 */
export function stepContract({ execute }: StepContractOptions): ContractCase[] {
  return casesOf({ open: () => undefined }, () => ({ execute }), [cases]);
}

type Subject = Pick<StepContractOptions, 'execute'>;

let executions = 0;
const newId = () => `contract-${Date.now()}-${++executions}`;

/** Runs a step whose work adds its name to `works`. */
function perform({ step }: StepAttempt, name: string, works: string[]): Promise<JsonValue> {
  const work = async () => {
    works.push(name);
    return { name, count: works.length };
  };
  return step(name, work, { key: `${step.id}:${name}`, kind: 'tool' });
}

const VALUES: JsonObject = {
  text: 'Grüße, \u0000 and 🚢',
  ...JSON.parse('{ "__proto__": { "constructor": "x" } }'),
  large: 'x'.repeat(200_000),
  list: [null, true, 1.5, [], {}],
};

const cases = {
  async 'a step gives the value of its work'({ execute }: Subject) {
    // Returns a string, because the engine may change other values when it stores the result of a program.
    const given = await execute(newId(), async ({ step }) =>
      JSON.stringify(await step('values', async () => VALUES, { key: `${step.id}:values`, kind: 'tool' })),
    );
    expectThat(given).equals(JSON.stringify(VALUES));
  },

  async 'the id is the same in each attempt, and another one for each execution'({ execute }: Subject) {
    const ids: string[] = [];
    const once = (id: string) =>
      execute(id, async (attempt) => {
        ids.push(attempt.step.id);
        return ids.length % 2 === 1 ? attempt.crash() : null;
      });
    await once(newId());
    await once(newId());
    expectThat([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).equals([true, true, false]);
  },

  async 'after a crash, a stored step gives its value and does not run again'({ execute }: Subject) {
    const works: string[] = [];
    const values: JsonValue[] = [];
    await execute(newId(), async (attempt) => {
      values.push(await perform(attempt, 'first', works));
      return values.length === 1 ? attempt.crash() : null;
    });
    expectThat([works, values[1]]).equals([['first'], values[0]]);
  },

  async 'after a crash, a step that was not stored runs again'({ execute }: Subject) {
    const works: string[] = [];
    await execute(newId(), async (attempt) => {
      await perform(attempt, 'first', works);
      const isFirst = !works.includes('second');
      const began = createDeferred<null>();
      const work = async () => {
        works.push('second');
        began.resolve(null);
        return isFirst ? new Promise<never>(() => {}) : 'done';
      };
      const second = attempt.step('second', work, { key: `${attempt.step.id}:second`, kind: 'tool' });
      if (!isFirst) return second;
      // An engine may reject a step that it has lost.
      second.catch(() => {});
      await began.promise;
      return attempt.crash();
    });
    expectThat(works).equals(['first', 'second', 'second']);
  },

  async 'steps that begin together run at the same time'({ execute }: Subject) {
    const other = createDeferred<JsonValue>();
    const given = await execute(newId(), ({ step }) => {
      const both = [
        step('waits', () => other.promise, { key: `${step.id}:waits`, kind: 'tool' }),
        step(
          'helps',
          async () => {
            other.resolve('helped');
            return 'helps';
          },
          { key: `${step.id}:helps`, kind: 'tool' },
        ),
      ];
      return Promise.all(both);
    });
    expectThat(given).equals(['helped', 'helps']);
  },

  async 'after a crash, each of several steps gives its own value'({ execute }: Subject) {
    const works: string[] = [];
    const names = ['a', 'b', 'c'];
    const values: JsonValue[] = [];
    await execute(newId(), async (attempt) => {
      values.push(await Promise.all(names.map((name) => perform(attempt, name, works))));
      return values.length === 1 ? attempt.crash() : null;
    });
    expectThat([[...works].sort(), values[1]]).equals([names, values[0]]);
  },

  async 'unread names the stored steps that the attempt has not asked for'({ execute }: Subject) {
    const works: string[] = [];
    const unread: JsonValue[] = [];
    await execute(newId(), async (attempt) => {
      const { step } = attempt;
      const isFirst = works.length === 0;
      if (step.unread === undefined) return null;
      if (!isFirst) unread.push([...(await step.unread())]);
      await perform(attempt, 'first', works);
      if (!isFirst) unread.push([...(await step.unread())]);
      await perform(attempt, 'second', works);
      if (isFirst) return attempt.crash();
      unread.push([...(await step.unread())]);
      return null;
    });
    if (unread.length > 0) expectThat(unread).equals([['first', 'second'], ['second'], []]);
  },
};
