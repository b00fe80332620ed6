import { expect, test } from 'vitest';
import { OptionInvalidError } from '../../../src/errors.js';
import {
  boolean,
  group,
  listOf,
  mapOf,
  oneOf,
  required,
  text,
  whole,
  withMethods,
} from '../../../src/internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../../src/internal/options/validate.js';

interface SampleOptions {
  readonly name: string;
  readonly retries?: number | undefined;
  readonly mode?: 'fast' | 'safe' | undefined;
  readonly limits?: { readonly bytes?: number | undefined; readonly files?: number | undefined } | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly perTool?: Readonly<Record<string, number>> | undefined;
  readonly store?: object | undefined;
  readonly strict?: boolean | undefined;
}

const rules = {
  name: required(text),
  retries: whole(0),
  mode: oneOf('fast', 'safe'),
  limits: group({ bytes: whole(1), files: whole(1) }),
  tags: listOf(text),
  perTool: mapOf(whole(0)),
  store: withMethods('load', 'save'),
  strict: boolean,
} satisfies OptionTable<SampleOptions>;

function errorOf(options: unknown): OptionInvalidError {
  try {
    validateOptions(options as object, rules);
  } catch (error) {
    if (error instanceof OptionInvalidError) return error;
    throw error;
  }
  return expect.unreachable('the options are valid');
}

test.each<[unknown, string, string]>([
  [{}, 'name', '`name` must be a string, got undefined'],
  [{ name: null }, 'name', '`name` must be a string, got null'],
  [{ name: 'a', retries: '5' }, 'retries', '`retries` must be a whole number of 0 or more, got "5"'],
  [{ name: 'a', mode: 'slow' }, 'mode', "`mode` must be 'fast' or 'safe', got \"slow\""],
  [{ name: 'a', limits: { bytes: 0 } }, 'limits.bytes', '`limits.bytes` must be a whole number of 1 or more, got 0'],
  [{ name: 'a', limits: { byte: 1 } }, 'limits.byte', 'unknown option `limits.byte`; did you mean `bytes`?'],
  [{ name: 'a', tags: ['x', 5] }, 'tags[1]', '`tags[1]` must be a string, got 5'],
  // A hole in an array is a missing item.
  [{ name: 'a', tags: new Array(1) }, 'tags[0]', '`tags[0]` must be a string, got undefined'],
  [{ name: 'a', perTool: { search: -1 } }, 'perTool.search', 'must be a whole number of 0 or more, got -1'],
  [{ name: 'a', store: { load() {} } }, 'store.save', '`store.save` must be a function, got undefined'],
  [{ name: 'a', store: 5 }, 'store', '`store` must be an object with the methods load, save, got 5'],
  [{ name: 'a', retry: 1 }, 'retry', 'unknown option `retry`; did you mean `retries`?'],
  [{ name: 'a', Mode: 'fast' }, 'Mode', 'unknown option `Mode`; did you mean `mode`?'],
  [{ name: 'a', zzz: 1 }, 'zzz', 'unknown option `zzz`; known are name, retries, mode, limits'],
  [{ name: 'a', constructor: 1 }, 'constructor', 'unknown option `constructor`; known are name'],
  [JSON.parse('{ "name": "a", "__proto__": 1 }'), '__proto__', 'unknown option `__proto__`; known are name'],
  [null, 'options', '`options` must be an object, got null'],
  [[], 'options', '`options` must be an object, got an array'],
  [() => {}, 'options', '`options` must be an object, got a function'],
])('%o is refused with the path `%s` and a message', (options, option, message) => {
  const error = errorOf(options);

  expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option });
  expect(error.message).toContain(message);
});

test('undefined counts as a missing option, also in class instances and for inherited members', () => {
  class Store {
    load() {}
    save() {}
  }

  expect(() => validateOptions({ name: 'a', retries: undefined, store: new Store() }, rules)).not.toThrow();
  expect(() => validateOptions(Object.create({ name: 'a' }), rules)).not.toThrow();
  expect(() => validateOptions(Object.create({ name: 'a', retries: -1 }), rules)).toThrow('`retries`');
});

test('a value in a message is shortened and made safe to show', () => {
  const { message } = errorOf({ name: 'a', mode: `\u202e${'x'.repeat(500)}\n` });

  expect(message).toContain('got "\\u{202e}xxx');
  expect(message.length).toBeLessThan(160);
});
