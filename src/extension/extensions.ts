import type { ExtensionInput } from './definition.js';
import type { ExtensionRegistryOptions } from './options.js';
import { ExtensionRegistry } from './registry.js';

/**
 * Returns a loader of callback extensions: an {@link ExtensionRegistry} with the definitions registered in their order.
 * `register` adds more later. Throws ExtensionInvalidError if a definition is invalid.
 *
 * @example
 * const shout = defineExtension({ id: 'shout', onPlainText: (text) => text.toUpperCase() });
 * const agent = new Agent({ model, loaders: [extensions([shout])] });
 */
export function extensions(
  definitions: readonly ExtensionInput[],
  options: ExtensionRegistryOptions = {},
): ExtensionRegistry {
  const registry = new ExtensionRegistry(options);
  for (const definition of definitions) registry.register(definition);
  return registry;
}
