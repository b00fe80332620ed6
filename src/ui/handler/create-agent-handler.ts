import type { Agent } from '../../agent/agent.js';
import type { ChatHandler } from './chat-handler.js';
import { type AgentHandlerOptions, resolveHandlerOptions } from './handler-options.js';

/** A function that answers the web requests of a chat. Never rejects, because each error becomes a response. */
export type AgentHandler = (request: Request) => Promise<Response>;

/**
 * Returns a handler that serves an agent over HTTP, on every server with web `Request` and `Response` objects. The last
 * segment of the path is the route.
 *
 * A `POST` to any path without a route sends a message and responds with the answer. `POST …/stop` stops the answer,
 * and `POST …/decide` sends decisions. `GET …/<id>/stream` follows the running answer. `GET
 * …/history?id=&before=&limit=` reads messages. `POST …/send` sends a message to the running answer; `POST …/edit` and
 * `POST …/cancel` change the message while it waits.
 *
 * Takes only the last user message, or decisions, from the body. Everything else comes from the session. A run
 * continues when its client disconnects, unless `onDisconnect` is `abort`. Throws an OptionInvalidError if an option is
 * invalid or missing.
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
    // Loaded on the first request, so that a server starts faster.
    const { ChatHandler } = await import('./chat-handler.js');
    handler ??= new ChatHandler(agent as unknown as Agent<never>, config);
    return handler.handle(request, others[0]);
  };
}
