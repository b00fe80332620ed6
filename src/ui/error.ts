import { KeelsonError } from '../errors.js';

/** A request of a page that is refused. Nothing has run, and nothing has been stored. */
export abstract class UIRequestError extends KeelsonError {
  /** The HTTP status code of the answer. */
  abstract readonly status: 400 | 409 | 413;
}

/** The body of the request is not JSON of the expected form. */
export class UIBodyInvalidError extends UIRequestError {
  readonly code = 'ERR_UI_BODY_INVALID';
  readonly status = 400;
}

/** The body of the request is larger than `maxBodyBytes`. */
export class UIBodyTooLargeError extends UIRequestError {
  readonly code = 'ERR_UI_BODY_TOO_LARGE';
  readonly status = 413;

  constructor(maxBodyBytes: number) {
    super(`The body must have at most ${maxBodyBytes} bytes (\`maxBodyBytes\`). Send a smaller body.`);
  }
}

/** The request contains a message of the assistant that this chat did not send. */
export class UIHistoryUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_HISTORY_UNKNOWN';
  readonly status = 409;
}

/** The request decides on a tool call that does not wait for a decision, or contains a result of a tool call. */
export class UICallUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_CALL_UNKNOWN';
  readonly status = 409;
}

/** The request regenerates or edits a message that the session does not contain. */
export class UIMessageUnknownError extends UIRequestError {
  readonly code = 'ERR_UI_MESSAGE_UNKNOWN';
  readonly status = 409;
}
