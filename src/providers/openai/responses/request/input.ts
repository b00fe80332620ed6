import type {
  AssistantMessage,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
} from '../../../../model/message.js';
import { acceptedName, CallIds, RESPONSES_IDS } from '../../../shared/call-ids.js';
import { base64Of, fileOf } from '../../../shared/file-data.js';
import { defined, isObject, textOr, type WireObject, wellFormed } from '../../../shared/wire.js';
import { kindOf, type SentCall } from '../call-kinds.js';
import { isFrom, itemOf, openaiOf } from '../metadata.js';
import { PARAGRAPH } from '../paragraph.js';
import { userContent } from './content.js';

const LONGEST_NAME = 64;

/** The model that receives a request, and whether its server stores responses. */
export interface InputTarget {
  readonly model: string;
  readonly systemRole: 'developer' | 'system';
  /** True if the server stores responses. If not, only encrypted reasoning can be sent back. */
  readonly isStored: boolean;
}

/** Converts messages to input items. Each output item of an earlier response is sent back in its original place. */
export function toInput(messages: readonly Message[], target: InputTarget): readonly WireObject[] {
  const builder = new InputBuilder(target);
  return messages.flatMap((message) => builder.itemsOf(message));
}

class InputBuilder {
  private readonly ids = new CallIds(RESPONSES_IDS);
  /** The latest tool call for each call id. */
  private readonly calls = new Map<string, SentCall>();

  constructor(private readonly target: InputTarget) {}

  itemsOf(message: Message): readonly WireObject[] {
    if (message.role === 'assistant') return this.assistantItems(message);
    if (message.role === 'tool') return this.resultItems(message);
    if (message.role === 'user') {
      const content = userContent(message.content);
      return content.length > 0 ? [{ role: 'user', content }] : [];
    }
    if (message.content.trim() === '') return [];
    return [{ role: this.target.systemRole, content: wellFormed(message.content) }];
  }

  /**
   * Converts an assistant message. Drops reasoning at the end of a response, because the API refuses reasoning that no
   * other item follows.
   */
  private assistantItems({ content }: AssistantMessage): readonly WireObject[] {
    const items: WireObject[] = [];
    let latest: TextPart | undefined;
    for (const part of content) {
      if (part.type === 'text') {
        addText(items, part, latest);
        latest = part;
        continue;
      }
      latest = undefined;
      items.push(...this.partItems(part));
    }
    const end = items.findLastIndex(({ type }) => type !== 'reasoning');
    return items.slice(0, end + 1);
  }

  private partItems(part: Exclude<AssistantMessage['content'][number], TextPart>): readonly WireObject[] {
    const item = itemOf(part);
    if (part.type === 'tool-call' && !part.providerExecuted) return [this.call(part, item)];
    if (item === undefined) return [];
    if (part.type === 'file') return [{ ...item, result: base64Of(fileOf(part)) }];
    if (part.type !== 'reasoning') return [item];
    if (!isFrom(part, this.target.model)) return [];
    return item.type === 'reasoning' ? this.reasoning(part, item) : [item];
  }

  private reasoning(part: ReasoningPart, item: WireObject): readonly WireObject[] {
    if (!this.target.isStored && textOr(item.encrypted_content) === '') return [];
    return [{ ...item, summary: summaryOf(part, item) }];
  }

  private call(part: ToolCallPart, item: WireObject = { type: 'function_call' }): WireObject {
    const named = { ...part, name: acceptedName(part.name, LONGEST_NAME) };
    const call = { part: named, callId: this.ids.ofCall(part.id, isFrom(part, this.target.model)), kept: item };
    this.calls.set(part.id, call);
    return kindOf(item).call(call);
  }

  private resultItems({ content }: ToolMessage): readonly WireObject[] {
    return content.flatMap((result) => {
      const call = this.calls.get(result.id);
      return call === undefined ? [] : kindOf(call.kept).output(result, call);
    });
  }
}

/** Adds a text to the message item that it belongs to, or begins another message item. Drops blank text. */
function addText(items: WireObject[], part: TextPart, latest: TextPart | undefined): void {
  if (part.text.trim() === '') return;
  const { id, phase } = itemOf(part) ?? {};
  const last = items.at(-1);
  const isContinued = latest !== undefined && isObject(last) && last.role === 'assistant';
  const spoken = wellFormed(part.text);
  const isSecond = items.some(({ role }) => role === 'assistant');
  if (isContinued && id !== undefined && itemOf(latest)?.id === id) {
    items[items.length - 1] = { ...last, content: textOr(last.content) + spoken };
  } else {
    const content = isSecond && spoken.startsWith(PARAGRAPH) ? spoken.slice(PARAGRAPH.length) : spoken;
    items.push(defined({ role: 'assistant', content, phase: textOr(phase) || undefined }));
  }
}

/** Returns the summary of a reasoning item. Uses the text of the part, because a lifecycle may have changed it. */
function summaryOf(part: ReasoningPart, item: WireObject): readonly WireObject[] {
  const { summary } = openaiOf(part);
  const texts = Array.isArray(summary) ? summary.map(textOr) : [];
  const isShown = Array.isArray(item.content) && item.content.length > 0;
  if (part.text === '' || (isShown && texts.length === 0)) return [];
  const unchanged = texts.length > 0 && texts.join('\n\n') === part.text;
  return (unchanged ? texts : [part.text]).map((text) => ({ type: 'summary_text', text: wellFormed(text) }));
}
