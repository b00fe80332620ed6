import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';

// The compiler reads all of src, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const root = fileURLToPath(new URL('../../', import.meta.url));
const claims = `${root}test/support/lifecycle/claims.ts`;

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, types: [] }, root);
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles the claims in strict mode and returns the errors. `replaced` overrides the source of some files. */
function complaints(changed: Readonly<Record<string, (text: string) => string>> = {}): string[] {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version) => {
    const change = changed[path.replace(root, '')];
    if (change !== undefined) return ts.createSourceFile(path, change(readFileSync(path, 'utf8')), version);
    if (!parsed.has(path)) parsed.set(path, parse(path, version));
    return parsed.get(path);
  };
  const program = ts.createProgram([claims], options, host);
  return program.getSemanticDiagnostics(program.getSourceFile(claims)).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

/** Replaces a string that must be present. */
function planted(text: string | RegExp, replacement: string): (source: string) => string {
  return (source) => {
    expect(source).toMatch(text);
    return source.replace(text, replacement);
  };
}

// covers: S4-FR1.1, S4-FR1.AC1, S4-FR1.AC3, S4-FR2.1, S4-FR2.AC, S4-TC3
test('the compiler confirms the claims about the types of lifecycles', () => {
  expect(complaints()).toEqual([]);
  expect(readFileSync(claims, 'utf8').match(/@ts-expect-error/g)?.length).toBeGreaterThan(20);
});

test('the compiler refutes the claims if the context is not checked, or a hook is missing', () => {
  const unchecked = planted(
    /readonly beforeModel\?:\s*\| \(\((.*?)\) => (.*)\)\s*\| undefined;/,
    'beforeModel?($1): $2;',
  );
  const missing = planted('readonly afterModel?:', 'readonly afterModels?:');

  expect(complaints({ 'src/lifecycle/lifecycle.ts': unchecked })).not.toEqual([]);
  expect(complaints({ 'src/lifecycle/lifecycle.ts': missing })).not.toEqual([]);
});
