import { misfitOf } from '../../agent/run/resume/continuation.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import { BETWEEN, type Waiting } from '../../model/waiting.js';
import { type SessionRecord, waitingOf } from '../../state/record/session-record.js';
import { editProblem } from '../../tools/edit-check.js';
import { isEdit, kindOf, resolveEdit } from '../../tools/edited-approval.js';
import { toolOf } from '../../tools/tool-set.js';
import { UIBodyInvalidError, UICallUnknownError, UIDecisionMissingError } from '../error.js';
import { shownIn } from '../history/shown.js';
import { showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';

type Decisions = Extract<UIRequest, { readonly type: 'decisions' }>;
type OpenSession = Pick<StoredSession, 'record' | 'agent'>;

/**
 * Checks the decisions of a request and the results of calls that the page has run, and returns both. Calls without a
 * decision keep waiting. The approval of a call also approves the waiting calls of its nested runs.
 *
 * Rejects with a UIDecisionMissingError if the request decides on nothing that waits. Rejects with a UICallUnknownError
 * if a call does not wait for its decision or result. Rejects with a UIBodyInvalidError if new arguments do not match
 * the schema of their tool.
 */
export async function checkDecisions(
  { record, agent }: OpenSession,
  { decisions, results = {} }: Decisions,
): Promise<Readonly<Record<string, UIDecision>>> {
  const waiting = waitingOf(record);
  const waits = new Map(waiting.map((one) => [one.id, one]));
  const needsResult = (id: string) => waits.get(id)?.question?.needs === 'result';
  const known = knownResults(record);
  const forged = Object.keys(results).find((id) => !known.has(id) && !needsResult(id));
  if (forged !== undefined) {
    throw new UICallUnknownError(
      `The tool call ${showValue(forged)} does not wait for a result from the page. Load the history again.`,
    );
  }
  const given = Object.entries(results).filter(([id]) => needsResult(id));
  const all: Record<string, UIDecision> = { ...Object.fromEntries(given), ...decisionsInside(decisions, waiting) };
  for (const [id, decision] of Object.entries(all)) {
    const asked = waits.get(id);
    if (asked !== undefined) all[id] = await checked(agent, asked, decision);
    else if (!isGivenUp(id, all, waiting)) throw new UICallUnknownError(`${showValue(id)} ${NOT_WAITING}`);
  }
  if (waiting.length === 0) throw new UICallUnknownError('No tool call waits for a result. Load the history again.');
  if (Object.keys(all).length === 0) throw new UIDecisionMissingError([...waits.keys()]);
  return all;
}

const NOT_WAITING = 'must be the id of a tool call or an answer that waits for a decision. Load the history again.';

/**
 * If a call is approved whose nested runs wait, replaces its approval by approvals of everything that waits in them.
 */
function decisionsInside(decisions: Decisions['decisions'], waiting: readonly Waiting[]): Record<string, UIDecision> {
  const entries = Object.entries(decisions).flatMap(([id, decision]): [string, UIDecision][] => {
    const inside = decision === 'approve' ? waiting.filter((one) => one.id !== id && outermost(one) === id) : [];
    if (inside.length === 0) return [[id, decision]];
    const asked = inside.filter((one) => one.question?.needs === undefined && !Object.hasOwn(decisions, one.id));
    return asked.map((one) => [one.id, decision]);
  });
  return Object.fromEntries(entries);
}

/** Returns true if the request denies a call whose nested runs wait, and decides on nothing in these runs. */
function isGivenUp(id: string, all: Readonly<Record<string, UIDecision>>, waiting: readonly Waiting[]): boolean {
  const decision = all[id];
  const isDenial = decision === 'deny' || (typeof decision === 'object' && 'deny' in decision);
  const isDecided = Object.keys(all).some((one) => one.startsWith(id + BETWEEN));
  return isDenial && !isDecided && waiting.some((one) => outermost(one) === id);
}

/** Checks one decision and returns it. Returns `approve` for an edit that does not change the arguments. */
async function checked(agent: OpenSession['agent'], asked: Waiting, given: UIDecision): Promise<UIDecision> {
  const { id, call, question } = asked;
  const decision = call !== undefined && isEdit(given) ? resolveEdit(call, given) : given;
  const kind = call === undefined ? 'answer' : kindOf({ ...call, needs: question?.needs });
  const misfit = misfitOf(decision, kind);
  if (misfit !== undefined) throw new UICallUnknownError(`The decision on ${showValue(id)} ${misfit}`);
  if (call === undefined || !isEdit(decision)) return decision;
  const tool = toolOf(asked, (name) => agent.findTool(name));
  const problem = await editProblem({ id, name: call.name, kind, tool }, decision);
  if (problem !== undefined) throw new UIBodyInvalidError(`The decision on ${showValue(id)} ${problem}`);
  return decision;
}

/** Returns the id of the outermost tool call that encloses a waiting call, or else its own id. */
function outermost({ id, callers: [caller] }: Waiting): string {
  return caller?.id ?? id;
}

/**
 * Returns the ids of the tool calls in the latest answer that already have a result. A page may send their results
 * again.
 */
function knownResults(record: SessionRecord): ReadonlySet<string> {
  const answer = shownIn(record).at(-1);
  return new Set(answer?.type === 'answer' ? answer.steps.flatMap((step) => [...step.results.keys()]) : []);
}
