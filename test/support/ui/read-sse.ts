/** A server-sent event with JSON data. */
export interface ReadSSE {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** Reads the server-sent events of a response. */
export async function readSSE(response: Response): Promise<ReadSSE[]> {
  const blocks = (await response.text()).split('\n\n').filter((block) => block !== '');
  return blocks.map((block) => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    return { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
  });
}
