// #region config
import type { PluginConfig } from 'keelson/plugins';

export default {
  plugins: [
    { path: './audit-logger.ts' },
    { path: './kubectl-tool.ts', options: { namespace: 'prod' } },
    { path: './experimental.ts', enabled: false },
  ],
} satisfies PluginConfig;
// #endregion
