import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import type { AgentHandler } from 'keelson/ui';

/** The state that `useChat` of React keeps, without React. */
export class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[] = [];

  pushMessage(message: UIMessage): void {
    this.messages = [...this.messages, message];
  }

  popMessage(): void {
    this.messages = this.messages.slice(0, -1);
  }

  replaceMessage(index: number, message: UIMessage): void {
    this.messages = this.messages.with(index, message);
  }

  snapshot<T>(value: T): T {
    return structuredClone(value);
  }
}

/** The chat of `useChat`, with its transport connected to a handler. */
export class ChatClient extends AbstractChat<UIMessage> {
  /** The errors that the chat has reported. */
  readonly errors: Error[];
  /** The last request body that the chat has sent. */
  readonly bodies: string[];

  constructor(handler: AgentHandler, id = 'chat', init: ChatInit<UIMessage> = {}) {
    const errors: Error[] = [];
    const bodies: string[] = [];
    const send: typeof fetch = (url, init) => {
      bodies.push(String(init?.body));
      return handler(new Request(url, init));
    };
    super({
      id,
      state: new PlainState(),
      transport: new DefaultChatTransport({ api: 'http://localhost/api/chat', fetch: send }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onError: (error) => errors.push(error),
      ...init,
    });
    this.errors = errors;
    this.bodies = bodies;
  }
}

/** Sends JSON to a route of a handler. A string is sent as it is. */
export function post(handler: AgentHandler, route: string, body: unknown): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
  return handler(new Request(`http://localhost/api/chat${route}`, init));
}

/** The history of a chat as the handler returns it. */
export interface LoadedHistory {
  readonly messages: UIMessage[];
  /** The messages that wait to join the conversation. */
  readonly waiting?: readonly UIMessage[];
  /** The background works that have not ended. */
  readonly background?: readonly unknown[];
  readonly pending: readonly unknown[];
  /** Selects the page before. */
  readonly before?: string;
  readonly running: boolean;
}

/** Loads the history of a chat, or a page of it. */
export async function loadHistory(handler: AgentHandler, id = 'chat', page = {}): Promise<LoadedHistory> {
  const response = await handler(
    new Request(`http://localhost/api/chat/history?${new URLSearchParams({ id, ...page })}`),
  );
  return (await response.json()) as LoadedHistory;
}
