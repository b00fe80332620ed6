import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import resolve from '@rollup/plugin-node-resolve';

export default {
  input: 'server.mjs',
  output: { dir: 'out', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  plugins: [resolve({ preferBuiltins: true, exportConditions: ['node'] }), commonjs(), json()],
};
