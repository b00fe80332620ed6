export default {
  target: 'node',
  entry: './server.mjs',
  output: { path: `${import.meta.dirname}/out`, filename: 'server.cjs', chunkFilename: '[id].cjs' },
};
