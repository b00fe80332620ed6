import { readdirSync } from 'node:fs';
import { parse } from 'node:path';

export default {
  target: 'node',
  entry: Object.fromEntries(readdirSync('entries').map((file) => [parse(file).name, `./entries/${file}`])),
  output: { path: `${import.meta.dirname}/out`, filename: '[name].cjs', chunkFilename: '[id].cjs' },
};
