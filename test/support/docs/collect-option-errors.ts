import { afterAll } from 'vitest';
import { isHelpfulOptionMessage } from './option-messages.js';

/** The messages of the option errors that the tests of the current file have made. */
export const messages = new Set<string>();
// Option errors extend the class that is `globalThis.Error` while src/errors.ts is loaded.
const RealError = globalThis.Error;
globalThis.Error = new Proxy(RealError, {
  construct(target, args, newTarget) {
    if (newTarget.name === 'OptionInvalidError') messages.add(String(args[0]));
    return Reflect.construct(target, args, newTarget);
  },
});
await import('../../../src/errors.js');
globalThis.Error = RealError;

afterAll(() => {
  const poor = [...messages].filter((message) => !isHelpfulOptionMessage(message));
  if (poor.length > 0) throw new RealError(`option errors without option, expectation or value:\n${poor.join('\n')}`);
});
