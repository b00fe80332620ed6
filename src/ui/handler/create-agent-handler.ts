import type { Agent } from '../../agent/agent.js';
import type { ChatHandler } from './chat-handler.js';
import { type AgentHandlerOptions, resolveHandlerOptions } from './handler-options.js';

/** Answers web requests of a chat. Never rejects. */
export type AgentHandler = (request: Request) => Promise<Response>;

/**
 * Returns a handler that puts an agent behind HTTP, on every server with web requests. The last segment of the path is
 * the route: `POST …/stop`, `POST …/decide`, `GET …/history?id=&before=&limit=`, `GET …/<id>/stream`, which follows the
 * running answer, and `POST` to any other path, which sends a message and responds with the answer. `POST …/send` sends a
 * message to the running answer, and `POST …/edit` and `POST …/cancel` change it while it waits. Takes only the last user message, or decisions, from
 * the body; everything else comes from the session. A run continues when its client disconnects, unless
 * `onDisconnect` is `abort`. Throws an OptionInvalidError without `authorize`.
 *
 * @example
 * const users = new Map([['Bearer key-of-ada', 'ada']]);
 * const handler = createAgentHandler(agent, {
 *   authorize: (request) => users.get(request.headers.get('authorization') ?? ''),
 *   session: (chatId, user) => `${user}/${chatId}`,
 * });
 * const response = await handler(new Request('http://localhost/chat/history?id=harbour'));
 */
export function createAgentHandler<Context = unknown, Identity = unknown>(
  agent: Agent<Context>,
  options: AgentHandlerOptions<Context, Identity>,
): AgentHandler {
  const config = resolveHandlerOptions(options);
  let handler: ChatHandler | undefined;
  return async (request, ...others: readonly unknown[]) => {
    // Loaded at the first request, because a server starts faster without it.
    const { ChatHandler } = await import('./chat-handler.js');
    handler ??= new ChatHandler(agent as unknown as Agent<never>, config);
    return handler.handle(request, others[0]);
  };
}
