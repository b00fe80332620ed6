import { misfitOf } from '../../agent/run/resume/continuation.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { editProblem } from '../../tools/edit-check.js';
import { isEdit, kindOf, resolveEdits } from '../../tools/edited-approval.js';
import { UIBodyInvalidError, UICallUnknownError, UIDecisionMissingError } from '../error.js';
import { shownIn } from '../history/shown.js';
import { showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';

type Decisions = Extract<UIRequest, { readonly type: 'decisions' }>;

/**
 * Returns the decisions of a request on the calls that wait, with the results of the calls that the page has run. Rejects with
 * a UIDecisionMissingError if a call has neither, and with a UICallUnknownError if a decision or a result belongs to no call
 * that waits for it. Rejects with a UIBodyInvalidError if new arguments do not fit their tool.
 */
export async function checkDecisions(
  { record, agent }: Pick<StoredSession, 'record' | 'agent'>,
  { decisions, results = {} }: Decisions,
): Promise<Readonly<Record<string, UIDecision>>> {
  const calls = record.openTurn?.open ?? [];
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
  const all: Readonly<Record<string, UIDecision>> = { ...Object.fromEntries(given), ...resolveEdits(decisions, calls) };
  for (const [id, decision] of Object.entries(all)) {
    const asked = open.find((call) => call.id === id);
    if (asked === undefined) throw new UICallUnknownError(`${showValue(id)} ${NOT_WAITING}`);
    const call = calls.find((one) => one.id === id);
    const kind = call === undefined ? 'answer' : kindOf({ ...call, needs: asked.needs });
    const misfit = misfitOf(decision, kind);
    if (misfit !== undefined) throw new UICallUnknownError(`The decision on ${showValue(id)} ${misfit}`);
    if (call === undefined || !isEdit(decision)) continue;
    const problem = await editProblem({ id, name: call.name, kind, tool: agent.findTool(call.name) }, decision);
    if (problem !== undefined) throw new UIBodyInvalidError(`The decision on ${showValue(id)} ${problem}`);
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
