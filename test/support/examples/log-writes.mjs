// Loaded before a script: appends each string that the script writes to standard output to the file `WRITES_FILE`, as a
// line of JSON. A pipe may join what a script writes in pieces, so its reader cannot tell.
import { appendFileSync } from 'node:fs';

const { WRITES_FILE: file = '' } = process.env;

process.stdout.write = new Proxy(process.stdout.write, {
  apply(write, stream, given) {
    appendFileSync(file, `${JSON.stringify(String(given[0]))}\n`);
    return Reflect.apply(write, stream, given);
  },
});
