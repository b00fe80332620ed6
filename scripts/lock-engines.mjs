// Removes `engines` from packages of the lock file that only tests import, and that declare Node 22 but run on Node 20.
// Run this script after `npm install`, so that `npm ci` on Node 20 prints no warnings.
import { readFileSync, writeFileSync } from 'node:fs';

/** `ai` reads the streams of `keelson/ui` in tests. Version 6, which declares Node 18, does not know `reset-step`. */
const TESTED_ON_NODE_20 = /(^|node_modules\/)(ai|@ai-sdk\/gateway)(\/node_modules\/@ai-sdk\/provider(-utils)?)?$/;

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const [path, entry] of Object.entries(lock.packages)) if (TESTED_ON_NODE_20.test(path)) delete entry.engines;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
