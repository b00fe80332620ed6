export default {
  ssr: { noExternal: true },
  build: { ssr: 'server.mjs', outDir: 'out', rollupOptions: { output: { entryFileNames: 'server.mjs' } } },
};
