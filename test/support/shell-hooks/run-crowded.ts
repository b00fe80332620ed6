import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CrowdedOrder } from './crowded-host.js';

const host = fileURLToPath(new URL('./crowded-host.ts', import.meta.url));

/** A guard that refuses every call with the reason "no". */
export const refusal = { command: 'sh', args: ['-c', 'echo no >&2; exit 2'], exitCodes: true };
/** The error result of a call that `refusal` refused. */
export const REFUSED = 'The call was blocked by hook "guard": no';

/** Runs an agent in a process with 256 file descriptors. */
export async function runCrowded(order: CrowdedOrder) {
  const command = [process.execPath, '--import', 'tsx', host, JSON.stringify(order)];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', ...command]);
  return JSON.parse(stdout) as { ran: number; results: number; reasons: readonly string[] };
}
