import { workerSource } from '../src/mcp/schema/worker-source.js';

/** Matches the path of the module that `workerModule` replaces. */
export const WORKER_SOURCE = /[\\/]worker-source\.ts$/;

/** Returns a module with the program of the worker thread as a string, since a bundle has no file beside it. */
export async function workerModule(): Promise<string> {
  return `export const workerSource = () => ${JSON.stringify(await workerSource())};`;
}
