import { type Clock, systemClock } from '../../internal/clock.js';
import type { Logger } from '../../internal/logger.js';
import type { ApprovalRequest, Approver } from '../decision.js';

/** How the user is asked. */
export interface Asking {
  readonly approve: Approver;
  readonly timeoutMs: number;
  readonly clock?: Clock | undefined;
  readonly logger: Logger;
}

/** What came of a question. Only `true` is a yes; whatever fails, or takes too long, is none. */
export type Answer = 'yes' | 'no' | 'failed';

/** Asks once, and settles in time whatever the approver does. */
export async function ask(request: ApprovalRequest, asking: Asking): Promise<Answer> {
  const { approve, timeoutMs, clock = systemClock, logger } = asking;
  const controller = new AbortController();
  let timer: unknown;
  const late = new Promise<Answer>((resolve) => {
    timer = clock.setTimeout(() => {
      logger.warn(
        `Nobody answered within ${timeoutMs} ms whether ${JSON.stringify(request.item.name)} may run: it does not.`,
      );
      resolve('failed');
    }, timeoutMs);
  });
  const answered = Promise.resolve()
    .then(() => approve(request, { signal: controller.signal }))
    .then((answer: unknown): Answer => {
      if (typeof answer === 'boolean') return answer ? 'yes' : 'no';
      logger.warn(`The approver gave no boolean for ${JSON.stringify(request.item.name)}: it does not run.`);
      return 'failed';
    })
    .catch((error: unknown): Answer => {
      logger.error(`The approver failed for ${JSON.stringify(request.item.name)}: it does not run.`, error);
      return 'failed';
    });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clock.clearTimeout(timer);
    controller.abort();
  }
}
