// A plugin that adds a tool. A factory creates it from the options of its entry. It runs `kubectl` from PATH.
// #region plugin
import { execFile } from 'node:child_process';
import type { Plugin } from 'keelson/plugins';

export default function kubectl(options?: Record<string, unknown>): Plugin {
  const namespace = typeof options?.namespace === 'string' ? options.namespace : 'default';
  return {
    name: 'kubectl',
    tools: [
      {
        name: 'kubectl_get',
        description: `Runs kubectl get in the namespace ${namespace}.`,
        inputSchema: { type: 'object', properties: { resource: { type: 'string' } }, required: ['resource'] },
        execute: ({ resource }) =>
          new Promise((resolve) => {
            execFile('kubectl', ['get', String(resource), '-n', namespace], (error, stdout) => {
              resolve({ content: stdout, isError: error !== null });
            });
          }),
      },
    ],
  };
}
// #endregion
