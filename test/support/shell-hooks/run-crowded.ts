import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from '../process/bundle.js';
import type { CrowdedOrder } from './crowded-host.js';

/** A guard that refuses every call with the reason "no". */
export const refusal = { command: 'sh', args: ['-c', 'echo no >&2; exit 2'], exitCodes: true };
/** The error result of a call that `refusal` refused. */
export const REFUSED = 'The call was blocked by hook "guard": no';

/** Returns a function that runs an agent in a process with 256 file descriptors. Called outside of the tests of a file. */
export async function crowdedRunner() {
  const host = await bundle(fileURLToPath(new URL('./crowded-host.ts', import.meta.url)));
  return async (order: CrowdedOrder) => {
    const command = [process.execPath, host, JSON.stringify(order)];
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', ...command]);
    return JSON.parse(stdout) as { ran: number; results: number; reasons: readonly string[] };
  };
}
