import { misfitOf } from '../../agent/run/resume/continuation.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { UICallUnknownError, UIDecisionMissingError } from '../error.js';
import { shownIn } from '../history/shown.js';
import { showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';

type Decisions = Extract<UIRequest, { readonly type: 'decisions' }>;

/**
 * Returns the decisions of a request on the calls that wait, with the results of the calls that the page has run. Throws a
 * UIDecisionMissingError if a call has neither. Throws a UICallUnknownError if a decision or a result belongs to no call that
 * waits for it.
 */
export function checkDecisions(
  record: SessionRecord,
  { decisions, results = {} }: Decisions,
): Readonly<Record<string, UIDecision>> {
  const open = record.pending?.calls ?? [];
  const needsResult = (id: string) => open.some((call) => call.id === id && call.needs === 'result');
  const known = knownResults(record);
  const forged = Object.keys(results).find((id) => !known.has(id) && !needsResult(id));
  if (forged !== undefined) {
    throw new UICallUnknownError(
      `The tool call ${showValue(forged)} does not wait for a result of the page. Load the history again.`,
    );
  }
  const given = Object.entries(results).filter(([id]) => needsResult(id));
  const all = { ...Object.fromEntries(given), ...decisions };
  for (const [id, decision] of Object.entries(all)) {
    if (!open.some((call) => call.id === id)) throw new UICallUnknownError(`${showValue(id)} ${NOT_WAITING}`);
    const misfit = misfitOf(decision, needsResult(id));
    if (misfit !== undefined) throw new UICallUnknownError(`The decision on ${showValue(id)} ${misfit}`);
  }
  if (open.length === 0) throw new UICallUnknownError('No tool call waits for a result. Load the history again.');
  const missing = open.filter(({ id }) => !Object.hasOwn(all, id));
  if (missing.length > 0) throw new UIDecisionMissingError(missing.map(({ id }) => id));
  return all;
}

const NOT_WAITING = 'must be the id of a tool call or an answer that waits for a decision. Load the history again.';

/** Returns the ids of the calls of the latest answer that have a result. */
function knownResults(record: SessionRecord): ReadonlySet<string> {
  const answer = shownIn(record).at(-1);
  return new Set(answer?.type === 'answer' ? answer.steps.flatMap((step) => [...step.results.keys()]) : []);
}
