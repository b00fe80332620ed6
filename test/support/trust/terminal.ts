import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Two streams that say that they are a terminal, and what was written to one of them. */
export function terminal(isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let shown = '';
  output.on('data', (chunk) => {
    shown += chunk;
  });
  /** Waits until the text is shown, so many times. */
  const seen = async (text: string, times = 1) => {
    for (let tries = 0; tries < 300 && shown.split(text).length <= times; tries++) await sleep(10);
    return shown;
  };
  return { input, output, seen, shown: () => shown };
}
