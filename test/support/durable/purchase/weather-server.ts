import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryServers } from '../../mcp/memory-servers.js';

/** An MCP server over HTTP. */
export interface WeatherServer {
  readonly url: string;
  /** The number of calls of its tool. */
  calls(): number;
  close(): void;
}

/** Starts an MCP server with the tool `drop` in this process, which no test kills. */
export async function startWeather(): Promise<WeatherServer> {
  const answer = memoryServers();
  let calls = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/' } = request;
    const body = Buffer.concat(chunks).toString();
    if (body.includes('"tools/call"')) calls += 1;
    const { status, headers, ...answered } = await answer(url, { method, body }).then(async (found) => ({
      status: found.status,
      headers: Object.fromEntries(found.headers),
      text: await found.text(),
    }));
    response.writeHead(status, headers).end(answered.text);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/weather`,
    calls: () => calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
