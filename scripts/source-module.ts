import { pageSource } from '../src/cli/page/page-source.js';
import { workerSource } from '../src/mcp/schema/worker-source.js';

/** Matches the paths of the modules that `sourceModule` replaces. */
export const SOURCE = /[\\/](page|worker)-source\.ts$/;

/** Returns a module with a program as a string, since a bundle has no file beside it. */
export async function sourceModule(path: string): Promise<string> {
  return path.includes('page-source')
    ? `export const pageSource = () => (${JSON.stringify(await pageSource())});`
    : `export const workerSource = () => ${JSON.stringify(await workerSource())};`;
}
