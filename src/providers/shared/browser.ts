import { OptionInvalidError } from '../../errors.js';

/** The API key of a provider, with the names that an error message about the key must mention. */
export interface KeyUse {
  /** The name of the function that creates the model, such as `openai`. */
  readonly factory: string;
  /** The class of the provider's official client, such as `OpenAI`. */
  readonly client: string;
  /** The environment variable that the official client reads. */
  readonly variable: string;
  readonly hasKey: boolean;
  /** True if requests go to another server than the provider's own. */
  readonly isOtherServer: boolean;
}

/**
 * Throws an `OptionInvalidError` if visitors of a web page could read the API key. Also throws if no key was passed and
 * the environment cannot be read.
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

/** True if the code runs in a web page. Uses the same check as the official clients, which refuse to run there. */
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
