import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Without `paths`, so that an example imports the built library, as the program of a user does. */
const TSX_TSCONFIG_PATH = fileURLToPath(new URL('../../fixtures/examples/tsconfig.json', import.meta.url));

/** The exit code and output of a process. */
export interface ScriptOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Arguments and environment variables of the process, and a callback for each chunk of its standard output. */
export interface RunScriptOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onOutput?: (chunk: string) => void;
}

/** Runs a TypeScript file of this repository as a process with pipes. Without `env` it has no key and no Ollama. */
export function runScript(
  file: string,
  { args = [], env = {}, onOutput }: RunScriptOptions = {},
): Promise<ScriptOutcome> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, ...rest } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: root,
    env: { ...rest, NODE_ENV: '', OLLAMA_HOST: '127.0.0.1:9', TSX_TSCONFIG_PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    onOutput?.(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
