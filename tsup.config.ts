import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    openai: 'src/providers/openai.ts',
    testing: 'src/testing/testing.ts',
  },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // Also for CommonJS: without shared chunks each entry would have its own copy of every error class.
  splitting: true,
  dts: true,
  clean: true,
});
