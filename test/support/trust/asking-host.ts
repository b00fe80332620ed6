import { createInterface } from 'node:readline/promises';
import { terminalAsk } from 'keelson/trust';

/** A host program that asks about two calls at once, and then reads a line with its own prompt. */
const ask = terminalAsk();
const run = { signal: new AbortController().signal };
const answers = await Promise.all(
  ['pay', 'erase'].map((name) => ask({ name, input: { amount: 40 }, run }, `"${name}" needs approval.`)),
);
console.log(`answers: ${JSON.stringify(answers)}`);
const lines = createInterface({ input: process.stdin, output: process.stdout });
console.log(`line: ${await lines.question('next> ')}`);
lines.close();
