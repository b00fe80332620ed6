/**
 * Returns a registry with the configured number of extensions, or no loader if the number is absent.
 * @param {typeof import('keelson/extension').ExtensionRegistry | undefined} ExtensionRegistry
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 * @returns {import('keelson').LifecycleLoader[]}
 */
export function loadersOf(ExtensionRegistry, work, counts) {
  if (ExtensionRegistry === undefined) return [];
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const registry = new ExtensionRegistry({ logger });
  for (let index = 0; index < (work.extensions ?? 0); index++) {
    const id = `extension-${index}`;
    if (work.extensionKind === 'additions') {
      registry.register({ id, promptAdditions: [{ position: 'user_suffix', content: id }] });
    } else if (work.extensionKind === 'inputs') {
      registry.register({ id, onInputMessages: () => void counts.hooks++ });
    } else {
      registry.register({ id, onLlmOutput: () => void counts.hooks++ });
    }
  }
  return [registry];
}

/**
 * Returns the number of extension callbacks called in one run.
 * @param {import('./script.mjs').Work} work
 */
export function extensionCallsOf({ extensions = 0, extensionKind, turns }) {
  if (extensionKind === 'inputs') return extensions;
  return extensionKind === 'callbacks' ? extensions * (turns + 1) : 0;
}
