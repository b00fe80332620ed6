import { copyFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    concepts: 'src/concepts/concepts.ts',
    extension: 'src/extension/extension.ts',
    file: 'src/stores/file.ts',
    manifest: 'src/manifest/manifest.ts',
    mcp: 'src/mcp/mcp.ts',
    openai: 'src/providers/openai.ts',
    otel: 'src/telemetry/otel.ts',
    plugins: 'src/plugins/plugins.ts',
    redis: 'src/stores/redis.ts',
    runtime: 'src/runtime.ts',
    'shell-hooks': 'src/shell-hooks/shell-hooks.ts',
    testing: 'src/testing/testing.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // Also for CommonJS: without shared chunks each entry would have its own copy of every error class.
  splitting: true,
  external: [/^node:/],
  dts: true,
  clean: true,
  // For editors, beside the code that checks the same.
  onSuccess: () => copyFile('docs/manifest.schema.json', 'dist/manifest.schema.json'),
});
