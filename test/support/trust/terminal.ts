import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Creates an input and an output stream that claim to be a terminal, with functions that read the output. */
export function terminal(isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let shown = '';
  output.on('data', (chunk) => {
    shown += chunk;
  });
  /** Waits until the output contains the string `times` times. */
  const seen = async (text: string, times = 1) => {
    for (let tries = 0; tries < 300 && shown.split(text).length <= times; tries++) await sleep(10);
    return shown;
  };
  // Inherited, so that the object can be passed as options.
  const reading: { seen: typeof seen; shown(): string } = { seen, shown: () => shown };
  return Object.assign(Object.create(reading) as typeof reading, { input, output });
}
