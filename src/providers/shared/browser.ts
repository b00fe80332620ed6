import { OptionInvalidError } from '../../errors.js';

/** The API key of a provider, and the names of the ways to pass it. */
export interface KeyUse {
  /** The name of the model's factory, such as `openai`. */
  readonly factory: string;
  /** The name of the official client's class, such as `OpenAI`. */
  readonly client: string;
  /** The environment variable that the official client reads. */
  readonly variable: string;
  readonly hasKey: boolean;
  /** True if `baseURL` is not the provider's own server. */
  readonly isOtherServer: boolean;
}

/**
 * Throws an `OptionInvalidError` if a web page would show its visitors a key, or if no key was passed and the
 * environment cannot be read.
 */
export function checkKey(use: KeyUse): void {
  const { hasKey, isOtherServer } = use;
  if (isPage()) {
    if (isOtherServer && !hasKey) return;
    throw keyError(
      use,
      `must not be sent from a browser, where every visitor can read it, got ${hasKey ? 'a key' : 'undefined'}`,
    );
  }
  if (hasKey || isOtherServer || hasEnvironment()) return;
  throw keyError(use, `must be a string, got undefined: there is no environment here that could hold ${use.variable}`);
}

function keyError({ factory, client }: KeyUse, problem: string): OptionInvalidError {
  const proxy = 'Pass `baseURL` of a server of yours that adds the key, and no `apiKey`';
  const own = `\`client: new ${client}({ apiKey, dangerouslyAllowBrowser: true })\` if the key may be seen`;
  return new OptionInvalidError('apiKey', `\`apiKey\` of ${factory}() ${problem}. ${proxy}, or ${own}.`);
}

interface Surroundings {
  readonly window?: { readonly document?: unknown };
  readonly navigator?: unknown;
  readonly process?: { readonly env?: { readonly [name: string]: string | undefined } };
  readonly Deno?: unknown;
}

/** True in a web page. Uses the check of the official clients, which refuse to run in a page. */
function isPage(): boolean {
  const { window, navigator } = globalThis as Surroundings;
  return window?.document !== undefined && navigator !== undefined;
}

/** Returns the environment variables. Returns an empty object in a browser. */
export function environment(): { readonly [name: string]: string | undefined } {
  const { process } = globalThis as Surroundings;
  return process?.env ?? {};
}

function hasEnvironment(): boolean {
  const { process, Deno } = globalThis as Surroundings;
  return process?.env !== undefined || Deno !== undefined;
}
