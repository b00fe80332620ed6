import { afterAll } from 'vitest';
import { isHelpfulOptionMessage } from './option-messages.js';

const MESSAGES = Symbol.for('keelson.option-messages');
// Global, because the test files of a worker share one load of src/errors.ts.
const worker = globalThis as { [MESSAGES]?: Set<string> };
worker[MESSAGES] ??= await collectMessages();

/** The messages of the option errors that the tests of the current file have made. */
export const messages = worker[MESSAGES];

afterAll(() => {
  const poor = [...messages].filter((message) => !isHelpfulOptionMessage(message));
  messages.clear();
  if (poor.length > 0) throw new Error(`option errors without option, expectation or value:\n${poor.join('\n')}`);
});

/** Loads src/errors.ts with a class `Error` that collects messages. Option errors extend the global class of that time. */
async function collectMessages(): Promise<Set<string>> {
  const collected = new Set<string>();
  const RealError = globalThis.Error;
  globalThis.Error = new Proxy(RealError, {
    construct(target, args, newTarget) {
      if (newTarget.name === 'OptionInvalidError') collected.add(String(args[0]));
      return Reflect.construct(target, args, newTarget);
    },
  });
  await import('../../../src/errors.js');
  globalThis.Error = RealError;
  return collected;
}
