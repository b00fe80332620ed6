import { describeError } from '../../../errors.js';
import { checkAgain } from '../../../tools/received-args.js';
import { describeIssues, type StandardIssue, type StandardResult } from '../../../tools/standard-schema.js';
import { type InvalidOutput, OutputInvalidError } from '../../run-result.js';
import type { Run } from '../run.js';
import type { OutputCheck } from '../run-config.js';
import { readAnswer } from './read-answer.js';

type Check = OutputCheck['check'];

/** At most this many values of one answer are checked. */
const MOST_VALUES = 20;

const NOT_JSON: StandardIssue = { message: 'it is not JSON' };
const AMBIGUOUS: StandardIssue = { message: 'it has several JSON values that fit' };

/**
 * Checks the answer against the output schema. If a hook or tool has added a message meanwhile, discards the answer, so
 * that the next turn answers the message.
 *
 * If no turn is left, keeps the answer and logs a warning.
 */
export async function review(run: Run, answer: string): Promise<void> {
  run.output = await checkOutput(run, answer);
  if (run.answer === undefined || run.conversation.queue === undefined) return;
  const { maxTurns, logger } = run.config;
  run.conversation.addQueued();
  if (run.context.turn < maxTurns) {
    run.answer = undefined;
  } else {
    logger.warn(
      `A message was added after the last of ${maxTurns} turns, so it stays unanswered. Raise \`maxTurns\` to answer it.`,
    );
    await run.save();
  }
}

/**
 * Returns the checked value of an answer.
 *
 * After the first mismatch, discards the answer and tells the model in a user message what is wrong. Throws
 * OutputInvalidError after the second mismatch.
 *
 * Does not ask again after an answer that was refused, was cut off or came from a hook.
 */
export async function checkOutput(run: Run, answer: string): Promise<unknown> {
  const { output, maxTurns } = run.config;
  if (output === undefined) return answer;
  const { end, conversation } = run;
  const checked = await end.race(checkText(output, answer));
  end.throwIfAborted();
  if (checked.issues === undefined) return checked.value;
  const { issues } = checked;
  const finishReason = end.verdict === undefined ? run.response?.finishReason : undefined;
  const isFinal = end.verdict !== undefined || finishReason === 'content-filter' || finishReason === 'length';
  if (isFinal || run.repaired || run.context.turn >= maxTurns) {
    throw end.own(invalidOutput({ text: answer, issues, finishReason }));
  }
  run.repaired = true;
  run.answer = undefined;
  conversation.addQueued();
  const content = `The answer does not match what was asked for: ${describeIssues(issues)}\nAnswer again, with JSON alone.`;
  conversation.push({ role: 'user', content });
  return undefined;
}

/** Returns the checked value of a stored answer. Throws an OutputInvalidError if the answer does not match. */
export async function checkedValue(answer: string, output: OutputCheck): Promise<unknown> {
  const { issues, ...checked } = await checkText(output, answer);
  if (issues !== undefined) throw invalidOutput({ text: answer, issues, finishReason: undefined });
  return (checked as { readonly value: unknown }).value;
}

function invalidOutput(output: InvalidOutput): OutputInvalidError {
  const { issues, finishReason } = output;
  const why = finishReason === 'length' ? 'was cut off' : finishReason === 'content-filter' && 'was refused';
  const cause = why ? `${why} (finish reason "${finishReason}") and ` : '';
  const described = describeIssues(issues.map(withoutAnswer));
  return new OutputInvalidError(`The answer ${cause}does not match the output schema: ${described}`, output);
}

/** Removes the message of an issue: it can quote the answer, which must not get into logs. */
function withoutAnswer(issue: StandardIssue): StandardIssue {
  return issue === NOT_JSON || issue === AMBIGUOUS ? issue : { message: 'invalid (see `issues`)', path: issue.path };
}

/** Checks the JSON values in an answer. Returns the only value that fits. */
async function checkText({ check }: OutputCheck, answer: string): Promise<StandardResult<unknown>> {
  const { values, isBroken } = readAnswer(answer);
  if (isBroken || values.length === 0) return { issues: [NOT_JSON] };
  let last: StandardResult<unknown> | undefined;
  const fitting = new Map<string, StandardResult<unknown>>();
  for (const value of values.slice(0, MOST_VALUES)) {
    last = await checkValue(check, value);
    if (last.issues === undefined) fitting.set(JSON.stringify(value), last);
  }
  const [only = last, ...others] = fitting.values();
  const isClear = others.length === 0 && values.length <= MOST_VALUES;
  return only === undefined || !isClear ? { issues: [AMBIGUOUS] } : only;
}

async function checkValue(check: Check, value: unknown): Promise<StandardResult<unknown>> {
  try {
    const { issues, ...checked } = await check(value);
    return issues === undefined ? (checked as StandardResult<unknown>) : await checkAgain(check, value, issues);
  } catch (error) {
    return { issues: [{ message: `the check failed (${describeError(error)})` } satisfies StandardIssue] };
  }
}
