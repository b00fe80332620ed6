import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { withMessages } from '../../model/lazy-signal.js';
import type { Message, UserMessage } from '../../model/message.js';
import type { AdditionPosition, PromptAddition } from '../definition.js';
import type { ExtensionRun } from '../run.js';
import { isMet } from './addition-condition.js';
import { guidanceFor } from './tool-guidance.js';

/**
 * Returns the request with the prompt additions and tool guidance of every extension. In each position, additions are
 * sorted by extension id, then in the order of declaration. Empty lines separate them.
 */
export async function assemblePrompt(run: ExtensionRun, request: ModelCallRequest): Promise<ModelCallRequest> {
  const met = await metAdditions(run, request.messages);
  const at = (position: AdditionPosition) =>
    met.filter((it) => it.position === position && it.content !== '').map(({ content }) => content);
  const messages = inUser(request.messages, at('user_prefix'), at('user_suffix'));
  const guidance = run.plan.guidance.length > 0 ? guidanceFor(run, request.tools) : [];
  const assembled = inSystem(messages, at('system_prefix'), [...at('system_suffix'), ...guidance]);
  return assembled === request.messages ? request : withMessages(request, assembled);
}

/** Returns the additions whose conditions are met, without those of unregistered extensions. */
async function metAdditions(run: ExtensionRun, messages: readonly Message[]): Promise<PromptAddition[]> {
  const met: PromptAddition[] = [];
  for (const registration of run.plan.additions) {
    for (const addition of registration.extension.promptAdditions) {
      const { condition } = addition;
      if (registration.removed) continue;
      if (condition === undefined || (await isMet(run, { registration, condition, messages }))) met.push(addition);
    }
  }
  return met;
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
