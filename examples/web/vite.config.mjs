import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  plugins: [react()],
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // React changes seldom, so browsers keep it.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'react', test: /node_modules.(react|react-dom|scheduler)\b/ }] } },
    },
  },
});
