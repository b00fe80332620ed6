import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import { jsonText } from './plain-json.js';

/**
 * Returns the items that a hook gave back. An unchanged item is the original object, with its bytes and its sensitive
 * fields. `shown` returns an item as the hook read it.
 */
export function restored<Item>(
  before: readonly Item[],
  given: readonly Item[],
  shown: (value: unknown) => unknown,
): readonly Item[] {
  const left = before.map((item) => ({ item, text: comparable(shown(item)) }));
  return given.map((item) => {
    const text = comparable(item);
    const at = left.findIndex((other) => other.text === text);
    return left.splice(0, at + 1).at(-1)?.item ?? item;
  });
}

/** Returns the JSON of a value, independent of the order of its keys. */
function comparable(value: unknown): string {
  return canonicalJson(JSON.parse(jsonText(value)));
}
