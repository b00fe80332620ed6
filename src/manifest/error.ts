import { KeelsonError } from '../errors.js';

/** There is no extension of that name. */
export class ExtensionPackageUnknownError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_UNKNOWN';
  readonly extension: string;

  constructor(extension: string, known: readonly string[]) {
    super(
      `There is no extension "${extension}". There ${known.length === 0 ? 'are none' : `are ${known.join(', ')}`}.`,
    );
    this.extension = extension;
  }
}

/** Which extensions are on could not be stored. */
export class ExtensionPackageStateError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_STATE';
}
