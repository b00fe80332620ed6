import type { ServerLog } from '../server-log.js';
import { bounded } from './request-error.js';

/** Notifications of the progress of one request that are passed on. */
const MOST_NOTIFICATIONS = 10_000;

/** Limits the progress of one request: cuts long messages, and leaves out notifications above the limit. */
export function boundedProgress(
  onProgress: (progress: unknown) => void,
  log: ServerLog,
): (progress: { readonly message?: string | undefined }) => void {
  let count = 0;
  return (progress) => {
    count += 1;
    const { message } = progress;
    if (count <= MOST_NOTIFICATIONS) {
      onProgress(message === undefined ? progress : { ...progress, message: bounded(message) });
    } else if (count === MOST_NOTIFICATIONS + 1) {
      log.write(
        'warn',
        `it reported the progress of one request more than ${MOST_NOTIFICATIONS} times; the rest is left out`,
      );
    }
  };
}
