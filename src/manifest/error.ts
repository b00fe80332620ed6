import { KeelsonError } from '../errors.js';

/** The extension package is unknown. */
export class ExtensionPackageUnknownError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_UNKNOWN';
  readonly extension: string;

  constructor(extension: string, known: readonly string[]) {
    super(`Unknown extension "${extension}". Known extensions: ${known.length === 0 ? 'none' : known.join(', ')}.`);
    this.extension = extension;
  }
}

/** The choice to enable or disable an extension package cannot be stored. */
export class ExtensionPackageStateError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_STATE';
}
