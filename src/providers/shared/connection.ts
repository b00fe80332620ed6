import { OptionInvalidError } from '../../errors.js';
import { anything, fullText, oneOf, required, whole } from '../../internal/options/rules.js';
import { type OptionRules, validateOption, validateOptions } from '../../internal/options/validate.js';

/** The options for the connection to a provider's server. */
export interface Connection<Client> {
  readonly client?: Client | undefined;
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  readonly baseURL?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxRetries?: number | undefined;
}

export const outputMode = oneOf('native', 'tool', 'after-tools');

/** The rules that the connection options must meet. */
export const connectionRules = {
  client: anything,
  apiKey: {
    expected: 'a string, or a function that returns a promise of a string',
    accepts: (value: unknown) => typeof value === 'string' || typeof value === 'function',
  },
  baseURL: {
    expected: 'a URL such as http://localhost:11434/v1',
    accepts: (value: unknown) => typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value),
  },
  headers: anything,
  maxRetries: whole(0),
};

/** Throws an OptionInvalidError if the model id is empty, or an option is unknown or invalid. */
export function validateConnection(modelId: string, options: Connection<unknown>, rules: OptionRules): void {
  validateOption('modelId', modelId, required(fullText));
  validateOptions(options, rules);
  if (options.client && (options.apiKey !== undefined || options.baseURL !== undefined)) {
    throw new OptionInvalidError(
      'client',
      '`client` must not be combined with `apiKey` or `baseURL`, got both: remove `client`, or set them on the client',
    );
  }
}
