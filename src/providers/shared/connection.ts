import { OptionInvalidError, validateNames } from '../../errors.js';

/** Throws where a model has no id, or an option is unknown or has a value that it cannot have. */
export function checkOptions(
  modelId: string,
  options: { readonly maxRetries?: number | undefined },
  keys: readonly string[],
): void {
  if (typeof modelId !== 'string' || modelId === '') throw new OptionInvalidError('modelId', 'it names no model.');
  validateNames(options, keys);
  const { maxRetries } = options;
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && maxRetries >= 0)) {
    throw new OptionInvalidError('maxRetries', `${maxRetries} is no number of tries. Give 0 or more.`);
  }
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
    throw new OptionInvalidError('client', 'it brings its own apiKey and baseURL. Give the one, or the others.');
  }
  if (baseURL !== undefined && !(/^https?:/i.test(baseURL) && URL.canParse(baseURL))) {
    throw new OptionInvalidError('baseURL', `"${baseURL}" is no URL. It looks like http://localhost:11434/v1`);
  }
  let made: Promise<Client> | undefined;
  return () => {
    if (client) return Promise.resolve(client);
    made ??= make(connection);
    return made;
  };
}
