// A hook plugin: prints what tools there are, and each call that passes. It changes nothing.
// #region plugin
import type { Plugin } from 'keelson/plugins';

const plugin: Plugin = {
  name: 'audit-logger',
  hooks: {
    onInit({ toolRegistry }) {
      console.log(`[audit] Tools: ${toolRegistry.list().join(', ')}`);
    },
    beforeToolExecute(name, input) {
      console.log(`[audit] tool=${name} input=${JSON.stringify(input)}`);
      return { name, input };
    },
    afterToolExecute(name, _input, result) {
      console.log(`[audit] tool=${name} error=${result.isError ?? false}`);
      return result;
    },
  },
};

export default plugin;
// #endregion
