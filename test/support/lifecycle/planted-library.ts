import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { AgentClass } from './hook-contract.js';

/** A change of the source of one file of `src`. */
export interface Plant {
  /** The file path relative to `src`. */
  readonly file: string;
  readonly change: (text: string) => string;
}

const src = fileURLToPath(new URL('../../../src/', import.meta.url));

/** Builds the library with changes in some files and returns its `Agent`. Fails if a change has no effect. */
export async function plantedAgent(plants: readonly Plant[]): Promise<AgentClass> {
  const { outputFiles } = await build({
    entryPoints: [`${src}agent/agent.ts`],
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['zod'],
    write: false,
    logLevel: 'silent',
    plugins: [planting(plants)],
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const library: { Agent: AgentClass } = await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`);
  return library.Agent;
}

function planting(plants: readonly Plant[]): Plugin {
  return {
    name: 'planting',
    setup({ onLoad }) {
      for (const { file, change } of plants) {
        const path = `${src}${file}`;
        onLoad({ filter: new RegExp(`${file.replaceAll('.', '\\.')}$`) }, () => {
          const text = readFileSync(path, 'utf8');
          const contents = change(text);
          if (contents === text)
            return { errors: [{ text: `the change had no effect in ${file}: the expected source text is missing` }] };
          return { contents, loader: 'ts' };
        });
      }
    },
  };
}
