import { type BaseEvent, HttpAgent, type Message } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { expect } from 'vitest';

/** The events and messages of one run, as the client of AG-UI has accepted them. */
export interface AgUIRun {
  readonly events: readonly BaseEvent[];
  readonly messages: readonly Message[];
}

/** Runs AG-UI's own client against a function that answers requests. The client verifies the order of the events. */
export function agUIClient(respond: (request: Request) => Response | Promise<Response>, messages: Message[] = []) {
  const client = new HttpAgent({
    url: 'http://localhost/agent',
    threadId: 't1',
    initialMessages: messages,
    fetch: async (url, init) => respond(new Request(url, init)),
  });
  const run = async (parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<AgUIRun> => {
    const events: BaseEvent[] = [];
    await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
    return { events, messages: client.messages };
  };
  return { client, run };
}

/** Reads the events of a response, and validates each event with the schema of AG-UI. */
export async function readAgUIEvents(response: Response): Promise<BaseEvent[]> {
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  return lines.map((line) => {
    const event = JSON.parse(line.replace(/^data: /, ''));
    const { success, error } = EventSchema.safeParse(event);
    if (!success) return expect.fail(`${JSON.stringify(event)}: ${error.message}`);
    return event;
  });
}
