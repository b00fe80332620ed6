// A hook plugin that logs the tools and each tool call. It changes no call.
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
