import { fileURLToPath } from 'node:url';

/** The program and the style of the trace page. */
export interface PageSource {
  readonly script: string;
  readonly style: string;
}

/**
 * Returns the program and the style of the trace page, bundled. The build replaces this function by one that returns the
 * strings: bundlers would leave out files beside the code.
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
