import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { KeelsonError } from '../errors.js';

/** The largest trace that is read, in bytes. `trace()` writes at most 64 MiB by default. */
const MAX_BYTES = 134_217_728;

/** Thrown for a trace that is larger than 128 MiB. */
class TraceTooLargeError extends KeelsonError {
  readonly code = 'ERR_TRACE_TOO_LARGE';

  constructor(path: string, bytes: number) {
    super(
      `The trace ${JSON.stringify(path)} must have at most ${MAX_BYTES} bytes, got ${bytes}. Shorten it, or lower the option \`maxFileBytes\` of \`trace()\`.`,
    );
  }
}

/** Reads a trace file. With `isListed`, rejects for a symbolic link. Throws a TraceTooLargeError. */
export async function readTraceFile(path: string, isListed = false): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | (isListed ? constants.O_NOFOLLOW : 0));
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new TraceTooLargeError(path, size);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
