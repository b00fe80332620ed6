/** A server-sent event with JSON data. */
export interface ReadSSE {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Reads the server-sent events of a response. */
export async function readSSE(response: Response): Promise<ReadSSE[]> {
  const events: ReadSSE[] = [];
  for await (const event of sseOf(response)) events.push(event);
  return events;
}

/** Yields the server-sent events of a response as they arrive. Leaves out comments, and an event that is cut off. */
export async function* sseOf(response: Response): AsyncGenerator<ReadSSE, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    const blocks = `${text}${decoder.decode(chunk, { stream: true })}`.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) if (!block.startsWith(':')) yield eventOf(block);
  }
}

/** Reads the events of a response, which are in the list as soon as they have arrived. */
export function readEvents(response: Response): { readonly events: readonly ReadSSE[]; readonly ended: Promise<void> } {
  const events: ReadSSE[] = [];
  const read = async () => {
    for await (const event of sseOf(response)) events.push(event);
  };
  const ended = read();
  // The process of the response may be killed.
  ended.catch(() => {});
  return { events, ended };
}

function eventOf(block: string): ReadSSE {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
}
