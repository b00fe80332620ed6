import { fileURLToPath } from 'node:url';

/** The script and the style sheet of the trace page. */
export interface PageSource {
  readonly script: string;
  readonly style: string;
}

/**
 * Returns the bundled script and style sheet of the trace page. The build replaces this function by one that returns
 * the strings, because bundlers leave out files that code reads.
 */
export async function pageSource(): Promise<PageSource> {
  const { build } = await import('esbuild');
  const bundle = async (name: string) => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`../../page/${name}`, import.meta.url))],
      ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', charset: 'utf8' },
    });
    return outputFiles.map(({ text }) => text.trim()).join('');
  };
  const [script, style] = await Promise.all([bundle('page.ts'), bundle('page.css')]);
  return { script, style };
}
