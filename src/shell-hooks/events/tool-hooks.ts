import { createHash } from 'node:crypto';
import { safeText } from '../../internal/safe-text.js';
import type { SuspendAction } from '../../lifecycle/hook-action.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { ToolCallNext, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { deniedCall } from '../../model/denial.js';
import type { Message, SystemMessage } from '../../model/message.js';
import { isEdit } from '../../tools/edited-approval.js';
import { receivedArgs } from '../../tools/received-args.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import { jsonText } from '../hook/plain-json.js';
import { hookMessage, modelText } from '../hook/text.js';
import { callData, rewriteInput, rewriteResult, shownResult } from '../run/input.js';
import type { HookEventResult } from '../run/outcome.js';
import { rejectionOf } from './agent-hooks.js';
import type { HookParts } from './run-state.js';

/** Runs the `before_tool` hooks, and then the tool. A hook may replace the result or suspend the call. */
export async function beforeTool(
  call: ToolCallRequest,
  next: ToolCallNext,
  parts: HookParts,
): Promise<ToolResult | SuspendAction> {
  const { run, id, name } = call;
  const args = receivedArgs(call.tool, call.input);
  const outcome = await parts.runner.runEvent({
    event: 'before_tool',
    ...parts.runs.of(run).context,
    tool: name,
    args,
    value: call.input,
    describe: (input) => ({ data: callData({ id, name, args: receivedArgs(call.tool, input) }) }),
    rewrite: rewriteInput,
  });
  addTexts(run, outcome, parts);
  if (outcome.stop !== undefined) endRun(run, outcome);
  if (outcome.cancelled) return blocked(outcome);
  const isRewritten = outcome.value !== call.input;
  const judged = isRewritten ? { ...call, input: outcome.value, invalidInput: undefined } : call;
  const needsApproval = outcome.ask !== undefined || call.approved === true;
  if (!needsApproval || isApproved(judged, isRewritten)) return next(judged);
  const question = askAbout(judged, isRewritten, outcome);
  const refusal = await hookRunOf(run)?.onMoment?.({ kind: 'approval', call: judged, reason: question.reason });
  return refusal === undefined ? question : errorResult(deniedCall(refusal));
}

/**
 * Returns true if a person approved the call with exactly these arguments. If hooks had changed them, a note in the
 * history records the arguments that the person saw. Without a note, an approval is for the arguments that the model or
 * the person wrote.
 */
function isApproved(call: ToolCallRequest, isRewritten: boolean): boolean {
  const note = isEditedByPerson(call) ? undefined : askedNotes(call).at(-1);
  return note === undefined ? call.approved === true && !isRewritten : note.content === askedNote(call).content;
}

function isEditedByPerson({ id, run }: ToolCallRequest): boolean {
  const decisions = hookRunOf(run)?.conversation.resuming?.calls?.decisions;
  return isEdit(Object.entries(decisions ?? {}).find(([call]) => call === id)?.[1]);
}

/** Suspends the call. The prompt shows the arguments that the model wrote, so the reason includes the changed ones. */
function askAbout(call: ToolCallRequest, isRewritten: boolean, { ask }: HookEventResult): SuspendAction {
  const reason = ask?.reason ?? 'The call was approved with other arguments.';
  if (isRewritten || askedNotes(call).length > 0) call.run.add(askedNote(call));
  const changed = isRewritten ? ` The hooks changed its arguments to ${jsonText(call.input)}` : '';
  return { type: 'suspend', reason: safeText(reason) + safeText(changed), by: ask?.by };
}

/** Returns the messages that record earlier questions about the call, in a run that continues after a question. */
function askedNotes(call: ToolCallRequest): readonly Message[] {
  const later = hookRunOf(call.run)?.conversation.resuming?.calls?.later ?? [];
  return later.filter(({ role, content }) => role === 'system' && String(content).startsWith(noteStart(call)));
}

/**
 * Returns the message that records the arguments of a question. It is part of the history, so another process can
 * resume the run.
 */
function askedNote(call: ToolCallRequest): SystemMessage {
  const args = canonicalJson([call.name, JSON.parse(jsonText(call.input))]);
  const digest = createHash('sha256').update(args).digest('hex');
  return { role: 'system', content: `${noteStart(call)} (${digest}).\n</hook-message>` };
}

/** The start of such a message. A message of a hook begins differently, because its `source` begins with `hook:`. */
function noteStart({ id }: ToolCallRequest): string {
  return `<hook-message source="keelson">\nA person was asked about call ${JSON.stringify(modelText(id))} with the arguments after the hooks`;
}

/** Returns the error result of a call that a hook cancels. */
export function blocked({ cancelledBy, reason = '' }: HookEventResult): ToolResult {
  return errorResult(`The call was blocked by hook "${modelText(cancelledBy ?? '')}": ${modelText(reason)}`);
}

/** Adds hook messages after the tool results of the turn. If the run has ended, the messages wait for the next run. */
export function addTexts(run: RunContext, { modelTexts }: HookEventResult, { pending }: HookParts): void {
  for (const text of modelTexts) {
    try {
      run.add(hookMessage(text.hook, text.text));
    } catch {
      pending.keep(run.session?.id, [text]);
    }
  }
}

/** Ends the run if a hook cancelled. */
export function endRun(run: RunContext, outcome: HookEventResult): void {
  const rejection = rejectionOf(outcome);
  try {
    if (rejection !== undefined) run.end(rejection);
  } catch {
    // The run has already ended.
  }
}

/**
 * Runs the `after_tool` hooks for a call whose tool ran. A cancellation withholds the result and ends the run.
 */
export async function afterTool(call: ToolCallRequest, next: ToolCallNext, parts: HookParts): Promise<ToolResult> {
  const { run, id } = call;
  const calls = hookRunOf(run)?.end.calls;
  const result = await next(call);
  const record = parts.runs.of(run).takeReached(id);
  // The tool did not run if a hook refused the call, or if the tool is unknown or the arguments are invalid.
  if (record === undefined || calls?.ran?.has(id) === false) return result;
  const isError = result.isError === true;
  const { name } = record;
  const args = receivedArgs(
    run.tools.find((tool) => tool.name === name),
    record.args,
  );
  const outcome = await parts.runner.runEvent({
    event: 'after_tool',
    ...parts.runs.of(run).context,
    tool: name,
    args,
    isError,
    value: result,
    describe: (value) => ({ data: { ...callData({ id, name, args }), result: shownResult(value) }, result: value }),
    rewrite: rewriteResult,
  });
  if (!outcome.cancelled) {
    addTexts(run, outcome, parts);
    return outcome.value;
  }
  parts.pending.keep(run.session?.id, outcome.modelTexts);
  endRun(run, outcome);
  return withheld(outcome);
}

/** Returns the error result that replaces a result which a hook withholds. */
export function withheld({ cancelledBy = '', reason = '' }: HookEventResult): ToolResult {
  return errorResult(`The result was withheld by hook "${modelText(cancelledBy)}": ${modelText(reason)}`);
}
