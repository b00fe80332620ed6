import type { Awaitable } from '../../internal/promise.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { Message, UserMessage } from '../../model/message.js';
import type { AdditionPosition, PromptAddition } from '../definition.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isMet } from './addition-condition.js';
import { guidanceFor } from './tool-guidance.js';

interface OwnedAddition {
  readonly registration: Registration;
  readonly addition: PromptAddition;
}

/**
 * Returns the request with the prompt additions and tool guidance of every extension. In each position, additions are
 * sorted by extension id, then in the order of declaration. Empty lines separate them.
 */
export function assemblePrompt(run: ExtensionRun, request: ModelCallRequest): Awaitable<ModelCallRequest> {
  const additions = additionsOf(run);
  if (additions.every(isUnconditional)) return withAdditions(run, request, additions);
  return metAdditions(run, additions, request.messages).then((met) => withAdditions(run, request, met));
}

function additionsOf({ plan }: ExtensionRun): OwnedAddition[] {
  const additions: OwnedAddition[] = [];
  for (const registration of plan.additions) {
    if (registration.removed) continue;
    for (const addition of registration.extension.promptAdditions) additions.push({ registration, addition });
  }
  return additions;
}

function isUnconditional({ addition }: OwnedAddition): boolean {
  return addition.condition === undefined;
}

async function metAdditions(
  run: ExtensionRun,
  additions: readonly OwnedAddition[],
  messages: readonly Message[],
): Promise<OwnedAddition[]> {
  const met: OwnedAddition[] = [];
  for (const owned of additions) {
    const { registration, addition } = owned;
    const { condition } = addition;
    if (condition === undefined || (await isMet(run, { registration, condition, messages }))) met.push(owned);
  }
  return met;
}

function withAdditions(
  run: ExtensionRun,
  request: ModelCallRequest,
  additions: readonly OwnedAddition[],
): ModelCallRequest {
  const at: Record<AdditionPosition, string[]> = {
    system_prefix: [],
    system_suffix: [],
    user_prefix: [],
    user_suffix: [],
  };
  for (const { addition } of additions) if (addition.content !== '') at[addition.position].push(addition.content);
  const messages = inUser(request.messages, at.user_prefix, at.user_suffix);
  if (run.plan.guidance.length > 0) at.system_suffix.push(...guidanceFor(run, request.tools));
  const assembled = inSystem(messages, at.system_prefix, at.system_suffix);
  return assembled === request.messages ? request : { ...request, messages: assembled };
}

type Texts = readonly string[];

/** Puts strings before and after the leading system message. Creates the message if it is missing. */
function inSystem(messages: readonly Message[], prefix: Texts, suffix: Texts): readonly Message[] {
  if (prefix.length + suffix.length === 0) return messages;
  const [first] = messages;
  const content = joined([...prefix, first?.role === 'system' ? first.content : '', ...suffix]);
  return [{ role: 'system', content }, ...messages.slice(first?.role === 'system' ? 1 : 0)];
}

/** Puts strings before and after the last user message. Returns the messages unchanged if they have no user message. */
function inUser(messages: readonly Message[], prefix: Texts, suffix: Texts): readonly Message[] {
  const at = messages.findLastIndex((message) => message.role === 'user');
  if (at < 0 || prefix.length + suffix.length === 0) return messages;
  const { content } = messages[at] as UserMessage;
  if (typeof content === 'string') {
    return messages.with(at, { role: 'user', content: joined([...prefix, content, ...suffix]) });
  }
  return messages.with(at, { role: 'user', content: [...textPart(prefix), ...content, ...textPart(suffix)] });
}

function textPart(texts: readonly string[]) {
  return texts.length === 0 ? [] : [{ type: 'text' as const, text: joined(texts) }];
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}
