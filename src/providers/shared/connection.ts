import { OptionInvalidError } from '../../errors.js';
import { anything, fullText, required, whole } from '../../internal/options/rules.js';
import { type OptionRules, validateOption, validateOptions } from '../../internal/options/validate.js';

/** The rules of the options that providers share. */
export const connectionRules = {
  client: anything,
  apiKey: {
    expected: 'a string, or a function that gives one',
    accepts: (value: unknown) => typeof value === 'string' || typeof value === 'function',
  },
  baseURL: {
    expected: 'a URL such as http://localhost:11434/v1',
    accepts: (value: unknown) => typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value),
  },
  headers: anything,
  maxRetries: whole(0),
};

/** Throws an OptionInvalidError for a model without an id, and for an option that is unknown or invalid. */
export function validateConnection(modelId: string, options: object, rules: OptionRules): void {
  validateOption('modelId', modelId, required(fullText));
  validateOptions(options, rules);
}

/** How to reach a provider. */
export interface Connection<Client> {
  readonly client?: Client | undefined;
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  readonly baseURL?: string | undefined;
}

/** Returns a function that gives the client: the one that came, or one that is made at the first call and kept. */
export function clientSource<Client>(
  connection: Connection<Client>,
  make: (connection: Connection<Client>) => Promise<Client>,
): () => Promise<Client> {
  const { client, apiKey, baseURL } = connection;
  if (client && (apiKey !== undefined || baseURL !== undefined)) {
    throw new OptionInvalidError('client', '`client` has its own apiKey and baseURL: give the one, or the others');
  }
  let made: Promise<Client> | undefined;
  return () => {
    if (client) return Promise.resolve(client);
    made ??= make(connection);
    return made;
  };
}
