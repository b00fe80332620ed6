import { OptionInvalidError } from '../../errors.js';

/** The key of a provider, and the names that a user passes it by. */
export interface KeyUse {
  /** The factory of the model, such as `openai`. */
  readonly factory: string;
  /** The class of the official client, such as `OpenAI`. */
  readonly client: string;
  /** The environment variable that the official client reads. */
  readonly variable: string;
  readonly hasKey: boolean;
  /** True if `baseURL` leads to another server than the provider's. */
  readonly isOtherServer: boolean;
}

/**
 * Throws an `OptionInvalidError` if a page would show a key to its visitors, or if a key is needed and there is no
 * environment to read one from.
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

/** The test of the official clients, which refuse to work in a page. */
function isPage(): boolean {
  const { window, navigator } = globalThis as Surroundings;
  return window?.document !== undefined && navigator !== undefined;
}

/** Returns the environment variables. Empty in a browser. */
export function environment(): { readonly [name: string]: string | undefined } {
  const { process } = globalThis as Surroundings;
  return process?.env ?? {};
}

function hasEnvironment(): boolean {
  const { process, Deno } = globalThis as Surroundings;
  return process?.env !== undefined || Deno !== undefined;
}
