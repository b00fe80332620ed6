import { SCENARIOS } from '../trial/scenarios.js';
import type { Bench } from './bench.js';
import { LATE, within } from './time-limit.js';

/** Opens a session, makes two runs in it, and closes it. */
export async function checkSession({ trial, giveUp, limitMs }: Bench): Promise<void> {
  const session = await within(trial.agent.session(), limitMs);
  if (session === LATE) return giveUp(`the session did not open within ${limitMs} ms`);
  const { ending } = await trial.run({ ...SCENARIOS.tools(), name: 'the first run of a session', session });
  // A suspended run needs a decision before the next run.
  if (ending !== 'suspended') {
    await trial.run({ ...SCENARIOS.answer(), name: 'the second run of a session', session });
  }
  if ((await within(session.close(), limitMs)) === LATE) giveUp(`the session did not close within ${limitMs} ms`);
}
